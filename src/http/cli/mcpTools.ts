/**
 * How the nine tools are carried out: over HTTP by the user's own settings, like every other command.
 *
 * `run` and what reads runs stand in mcpRun.ts, because they wait and pay. What is here asks once and changes nothing.
 */
import { Effect, Schema, Semaphore } from "effect"
import { memberText } from "../../schema/JsonText.ts"
import { type Answer, Client } from "../client/Client.ts"
import type { CommandFailed } from "../client/CommandFailed.ts"
import type { Readable } from "../mcp/Register.ts"
import type { Answered } from "../mcp/Tool.ts"
import * as Tools from "../mcp/Tools.ts"
import { Credentials } from "./Credentials.ts"
import type { Journal } from "./Journal.ts"
import { answered, refusal, refusalIn, unanswered, withMembers } from "./mcpAnswers.ts"
import { cancelRunTool, getRunTool, runTool } from "./mcpRun.ts"
import type { Screen } from "./Screen.ts"
import { decoded, pageOf } from "./show.ts"

type Surroundings = Client | Credentials | Journal | Screen

/** More would only wait in the service; a call that waits here has not been sent, and a host may still take it back. */
const runsAtOnce = 16
/** What a host reads by its address it shows to a person, or cuts itself. */
const resourceCharsMax = 8 * 1024 * 1024

/** What one request answers, as a tool's answer. */
const asked = Effect.fnUntraced(function* (
  name: string,
  asking: Effect.Effect<Answer, CommandFailed, Client>,
  charsMax?: number
) {
  const credentials = yield* Credentials
  return yield* asking.pipe(
    Effect.map((answer) => refusalIn(name, answer, credentials) ?? answered(name, answer.text, charsMax)),
    Effect.catch((error) => Effect.succeed(unanswered(name, error)))
  )
})

const send = (...given: Parameters<(typeof Client)["Service"]["send"]>) => Client.use((client) => client.send(...given))

const pathOf = (path: string, query: Readonly<Record<string, string | number | undefined>>): string => {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  return `${path}?${new URLSearchParams(given)}`
}

type HistoryArguments = Parameters<Parameters<typeof Tools.history.carriedOut>[0]>[0]
const historyTool = ({ q, subjects, kind, limit = Tools.limitDefault }: HistoryArguments) => {
  if ((q === undefined) === (subjects === undefined)) {
    const message = "Give either q, one subject, or subjects."
    return Effect.succeed(refusal("history", { code: "invalid_request", message }))
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

const toolsFor = (
  carry: <Given>(
    carryOut: (given: Given) => Effect.Effect<Answered, never, Surroundings>
  ) => (given: Given) => Effect.Effect<Answered>,
  turns: Semaphore.Semaphore,
  oneByOne: Semaphore.Semaphore
) => [
  Tools.discover.carriedOut(carry((body) => asked("discover", send("POST", "/v1/discover", { body })))),
  Tools.inspect.carriedOut(carry((body) => asked("inspect", send("POST", "/v1/inspect", { body })))),
  Tools.run.carriedOut(carry((given) => turns.withPermits(1)(runTool(given, oneByOne)))),
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

/** As many as the service gives at once; there are fewer capabilities than that. */
const capabilitiesMost = 200
const Slug = Schema.Struct({ capability: Schema.String })

const slugs = Effect.gen(function* () {
  const answer = yield* Effect.option(send("GET", pathOf("/v1/catalog/capabilities", { limit: capabilitiesMost })))
  if (answer._tag === "None" || answer.value.status !== 200) return []
  return pageOf(answer.value.text).items.flatMap((item) => decoded(Slug, item)?.capability ?? [])
})

/** The whole run, however long. */
const wholeRun = (run_id: string) =>
  asked("get_run", send("GET", `/v1/runs/${encodeURIComponent(run_id)}`), resourceCharsMax)

/** Tools and resources, as this process carries them out. */
export const carriedOut = Effect.gen(function* () {
  const surroundings = yield* Effect.context<Surroundings>()
  const turns = yield* Semaphore.make(runsAtOnce)
  const oneByOne = yield* Semaphore.make(1)
  const tools = toolsFor((carryOut) => (given) => Effect.provideContext(carryOut(given), surroundings), turns, oneByOne)
  const here = <A>(effect: Effect.Effect<A, never, Surroundings>) => Effect.provideContext(effect, surroundings)
  const resources: ReadonlyArray<Readable> = [
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
  return { tools, resources }
})
