/**
 * The handlers of the tools, and the two resources, for every caller.
 *
 * Each handler here sends one request and changes nothing. The caller gives `run`, because it differs; Runs.ts has get_run and
 * cancel_run.
 */
import { Effect, Option, Schema } from "effect"
import { segmentOf } from "../../schema/Ids.ts"
import { metadataPrefix } from "../../schema/runs/Metadata.ts"
import { memberText } from "../../schema/json/JsonText.ts"
import { allowances, allowancesTool } from "./AllowanceTool.ts"
import { runBatch, runBatchTool } from "./BatchTool.ts"
import { answered, refusal, reply, unanswered, withMembers } from "./Answers.ts"
import type { Readable } from "./Register.ts"
import { cancelRunTool, getRunTool, runBody } from "./Runs.ts"
import { send } from "./Service.ts"
import type { Tool } from "./Tool.ts"
import * as Tools from "./Tools.ts"

/** The limit for resources: hosts show them to a person or truncate them. */
const resourceCharsMax = 8 * 1024 * 1024

const pathOf = (path: string, query: Readonly<Record<string, string | number | undefined>>): string => {
  const parameters = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]]
  )
  return `${path}?${new URLSearchParams(parameters)}`
}

type HistoryArguments = Parameters<Parameters<typeof Tools.history.withHandler>[0]>[0]
const historyTool = ({ q, subjects, kind, limit = Tools.limitDefault }: HistoryArguments) => {
  if ((q === undefined) === (subjects === undefined)) {
    const message = "Give either q (one subject) or subjects (a list), not both."
    return refusal("history", { code: "invalid_request", message })
  }
  return reply(
    "history",
    subjects === undefined
      ? send("GET", pathOf("/v1/history", { q, kind, limit }))
      : send("POST", "/v1/history", { body: { subjects, ...(kind === undefined ? {} : { kind }) } })
  )
}

/** Null for a key that reads its own runs only: the spend guard is the organization's. */
const guardTool = send("GET", "/v1/spend-guard").pipe(
  Effect.flatMap((answer) => (answer.status === 403 ? Effect.succeed(null) : reply("wallet", Effect.succeed(answer)))),
  Effect.catch((error) => unanswered("wallet", error))
)

const walletTool = Effect.fnUntraced(function* ({ transactions = 0 }: { readonly transactions?: number }) {
  const [wallet, spend_guard, entries] = yield* Effect.all(
    [
      reply("wallet", send("GET", "/v1/wallet")),
      guardTool,
      transactions === 0
        ? Effect.succeed(null)
        : reply("wallet", send("GET", pathOf("/v1/wallet/transactions", { limit: transactions })))
    ],
    { concurrency: 3 }
  )
  const failed = [wallet, spend_guard, entries].find((one) => one?.failed === true)
  if (failed !== undefined && failed !== null) return failed
  const listed = entries === null ? null : memberText(entries.text, "items")
  return answered(
    "wallet",
    withMembers(wallet.text, { spend_guard: spend_guard?.text, transactions: listed ?? undefined })
  )
})

export const toolsWith = (run: Tool): ReadonlyArray<Tool> => [
  Tools.discover.withHandler((body) => reply("discover", send("POST", "/v1/discover", { body }))),
  Tools.inspect.withHandler((body) => reply("inspect", send("POST", "/v1/inspect", { body }))),
  Tools.quote.withHandler((given) => reply("quote", send("POST", "/v1/quote", { text: runBody(given) }))),
  run,
  runBatch.withHandler(runBatchTool),
  Tools.getRun.withHandler(getRunTool),
  Tools.cancelRun.withHandler(cancelRunTool),
  Tools.listRuns.withHandler(({ limit = Tools.limitDefault, metadata = {}, ...filters }) => {
    const labels = Object.entries(metadata).map(([name, value]) => [`${metadataPrefix}${name}`, value] as const)
    const query = { ...filters, limit, ...Object.fromEntries(labels) }
    return reply("list_runs", send("GET", pathOf("/v1/runs", query)))
  }),
  Tools.history.withHandler(historyTool),
  Tools.wallet.withHandler(walletTool),
  Tools.usage.withHandler(({ limit = Tools.usageLimitDefault, ...given }) =>
    reply("usage", send("GET", pathOf("/v1/usage", { limit, ...given })))
  ),
  allowances.withHandler(allowancesTool),
  Tools.listProviders.withHandler(({ limit = Tools.limitDefault, cursor }) =>
    reply("list_providers", send("GET", pathOf("/v1/catalog/providers", { limit, cursor })))
  )
]

/** The largest page of the API. There are fewer capabilities. */
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

export const resources: ReadonlyArray<Readable> = [
  {
    prefix: "rungate://capabilities/",
    parameter: "slug",
    name: "capability",
    title: "A capability",
    description: "Input, output and price of a capability, as inspect returns them.",
    read: (capability) => reply("inspect", send("POST", "/v1/inspect", { body: { capability } })),
    complete: (begun) => Effect.map(slugs, (all) => all.filter((slug) => slug.startsWith(begun)))
  },
  {
    prefix: "rungate://runs/",
    parameter: "id",
    name: "run",
    title: "A run",
    description: "A run with its full result, as get_run returns it.",
    read: (run_id) => reply("get_run", send("GET", `/v1/runs/${segmentOf(run_id)}`), resourceCharsMax),
    complete: () => Effect.succeed([])
  }
]
