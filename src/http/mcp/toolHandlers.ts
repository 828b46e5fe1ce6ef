/**
 * The nine tools and two resources with the API behind them, whoever calls.
 *
 * What is here asks once and changes nothing. `run` comes from outside, because how it is remembered differs; what else touches a run
 * stands in Runs.ts.
 */
import { Effect, Option, Schema } from "effect"
import { memberText } from "../../schema/json/JsonText.ts"
import { answered, refusal, refusalIn, unanswered, withMembers } from "./Answers.ts"
import type { Readable } from "./Register.ts"
import { cancelRunTool, getRunTool } from "./Runs.ts"
import { type Answer, type NoAnswer, Service } from "./Service.ts"
import type { Answered, Tool } from "./Tool.ts"
import * as Tools from "./Tools.ts"

/** What a host reads by its address it shows to a person, or cuts itself. */
const resourceCharsMax = 8 * 1024 * 1024

/** What one request answers, as a tool's answer. */
const asked = (name: string, asking: Effect.Effect<Answer, NoAnswer, Service>, charsMax?: number) =>
  asking.pipe(
    Effect.flatMap((answer) =>
      Effect.map(refusalIn(name, answer), (refused) => refused ?? answered(name, answer.text, charsMax))
    ),
    Effect.catch((error) => unanswered(name, error))
  )

const send = (...given: Parameters<(typeof Service)["Service"]["send"]>) =>
  Service.use((service) => service.send(...given))

const pathOf = (path: string, query: Readonly<Record<string, string | number | undefined>>): string => {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  return `${path}?${new URLSearchParams(given)}`
}

type HistoryArguments = Parameters<Parameters<typeof Tools.history.carriedOut>[0]>[0]
const historyTool = ({ q, subjects, kind, limit = Tools.limitDefault }: HistoryArguments) => {
  if ((q === undefined) === (subjects === undefined)) {
    const message = "Give either q, one subject, or subjects."
    return refusal("history", { code: "invalid_request", message })
  }
  return asked(
    "history",
    subjects === undefined
      ? send("GET", pathOf("/v1/history", { q, kind, limit }))
      : send("POST", "/v1/history", { body: { subjects, ...(kind === undefined ? {} : { kind }) } })
  )
}

const walletTool = Effect.fnUntraced(function* ({ transactions = 0 }: { readonly transactions?: number }) {
  const [wallet, spend_guard, entries] = yield* Effect.all(
    [
      asked("wallet", send("GET", "/v1/wallet")),
      asked("wallet", send("GET", "/v1/spend-guard")),
      transactions === 0
        ? Effect.succeed(null)
        : asked("wallet", send("GET", pathOf("/v1/wallet/transactions", { limit: transactions })))
    ],
    { concurrency: 3 }
  )
  const failed = [wallet, spend_guard, entries].find((one) => one?.failed === true)
  if (failed !== undefined && failed !== null) return failed
  const listed = entries === null ? null : memberText(entries.text, "items")
  return answered(
    "wallet",
    withMembers(wallet.text, { spend_guard: spend_guard.text, transactions: listed ?? undefined })
  )
})

/** Gives a call the service as its caller has it. */
export type Here = <A>(effect: Effect.Effect<A, never, Service>) => Effect.Effect<A>

export const toolsFor = (here: Here, run: Tool): ReadonlyArray<Tool> => {
  const carry =
    <Given>(carryOut: (given: Given) => Effect.Effect<Answered, never, Service>) =>
    (given: Given) =>
      here(carryOut(given))
  return [
    Tools.discover.carriedOut(carry((body) => asked("discover", send("POST", "/v1/discover", { body })))),
    Tools.inspect.carriedOut(carry((body) => asked("inspect", send("POST", "/v1/inspect", { body })))),
    run,
    Tools.getRun.carriedOut(carry(getRunTool)),
    Tools.cancelRun.carriedOut(carry(cancelRunTool)),
    Tools.listRuns.carriedOut(
      carry(({ limit = Tools.limitDefault, ...filters }) =>
        asked("list_runs", send("GET", pathOf("/v1/runs", { ...filters, limit })))
      )
    ),
    Tools.history.carriedOut(carry(historyTool)),
    Tools.wallet.carriedOut(carry(walletTool)),
    Tools.listProviders.carriedOut(
      carry(({ limit = Tools.limitDefault, cursor }) =>
        asked("list_providers", send("GET", pathOf("/v1/catalog/providers", { limit, cursor })))
      )
    )
  ]
}

/** As many as the service gives at once; there are fewer capabilities than that. */
const capabilitiesMost = 200
const Slugs = Schema.fromJsonString(
  Schema.Struct({ items: Schema.Array(Schema.Struct({ capability: Schema.String })) })
)
const decodeSlugs = Schema.decodeUnknownOption(Slugs)

const slugs = Effect.gen(function* () {
  const answer = yield* Effect.option(send("GET", pathOf("/v1/catalog/capabilities", { limit: capabilitiesMost })))
  if (answer._tag === "None" || answer.value.status !== 200) return []
  return Option.match(decodeSlugs(answer.value.text), {
    onNone: () => [],
    onSome: ({ items }) => items.map(({ capability }) => capability)
  })
})

/** The whole run, however long. */
const wholeRun = (run_id: string) =>
  asked("get_run", send("GET", `/v1/runs/${encodeURIComponent(run_id)}`), resourceCharsMax)

export const resourcesFor = (here: Here): ReadonlyArray<Readable> => [
  {
    prefix: "rungate://capabilities/",
    parameter: "slug",
    name: "capability",
    title: "A capability",
    description: "What it takes, gives and costs, as inspect answers it.",
    read: (capability) => here(asked("inspect", send("POST", "/v1/inspect", { body: { capability } }))),
    complete: (begun) => here(Effect.map(slugs, (all) => all.filter((slug) => slug.startsWith(begun))))
  },
  {
    prefix: "rungate://runs/",
    parameter: "id",
    name: "run",
    title: "A run",
    description: "A run with its whole result, as get_run reads it.",
    read: (run_id) => here(wholeRun(run_id)),
    complete: () => Effect.succeed([])
  }
]
