/**
 * The nine tools: few verbs over the whole catalog, not one tool per capability, and always in this order.
 *
 * Names, words, parameters and answers are those of the API contract. Nothing here knows how a tool is carried out (toolHandlers.ts
 * does it) or over which transport.
 */
import { Schema } from "effect"
import { methods } from "../../schema/catalog/Endpoint.ts"
import { Usd } from "../../schema/money/Money.ts"
import { strategies } from "../../schema/runs/Routing.ts"
import { ListedRun, Run, RunStatus } from "../../schema/runs/Run.ts"
import { kinds } from "../../schema/subjects/Form.ts"
import { InspectedCapability, InspectedEndpoint } from "../api/Catalog.ts"
import { CatalogProvider, DiscoverItem, discoverLimitMax, queryLengthMax } from "../api/Discovery.ts"
import { History, HistoryRow, subjectCharsMax, subjectsMax } from "../api/History.ts"
import { waitSecondsMax } from "../api/shapes/Limits.ts"
import { SpendGuard, Transaction, Wallet } from "../api/Wallet.ts"
import { tool } from "./Tool.ts"

/** A page that a model reads to its end; it may ask for up to `limitMax`. */
export const limitDefault = 20
const limitMax = 200
/** Hosts give up after a minute unless told otherwise: half of that leaves room for the answer. */
export const waitSecondsDefault = 30
/** More of a result would crowd out the conversation; the rest is read in pieces. */
export const resultCharsMax = 60_000

const optional = Schema.optionalKey
const named = (description: string, length = 200) =>
  Schema.NonEmptyString.check(Schema.isMaxLength(length)).annotate({ description })
const between = (minimum: number, maximum: number, description: string) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum })).annotate({ description })
const limit = optional(between(1, limitMax, `items on a page, 1 to ${limitMax}; ${limitDefault} when left out`))
const cursor = optional(named("next_cursor of the page before"))
const run_id = named("run_id of a run, run_…", 100)
const page = <S extends Schema.Constraint>(item: S) =>
  Schema.Struct({ items: Schema.Array(item), next_cursor: Schema.NullOr(Schema.String) })

const reading = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }

/** What stands beside a run, so that a model always knows what is left and how to go on. */
const beside = {
  wallet: Schema.NullOr(Wallet).annotate({ description: "after this call; null when it could not be read" }),
  next: optional(
    Schema.String.annotate({
      description: "how to go on: while done is false, where result comes in parts, on an error"
    })
  ),
  result_part: optional(
    Schema.Struct({
      text: Schema.String,
      from: Schema.Int,
      next_from: Schema.NullOr(Schema.Int),
      chars: Schema.Int
    }).annotate({ description: "instead of a long result: a piece of its JSON text" })
  )
}
const ReadRun = Schema.Struct({ ...Run.fields, ...beside }).annotate({ identifier: "ReadRun" })
const SentRun = Schema.Struct({
  ...Run.fields,
  ...beside,
  idempotency_key: Schema.String.annotate({ description: "the same call with this key joins this run, unpaid" })
}).annotate({ identifier: "SentRun" })

export const discover = tool({
  name: "discover",
  title: "Search the catalog",
  description:
    "Find what does a job: capabilities (normalized input and output, several providers behind each; prefer these) and providers' own raw endpoints, best first, with price and health. Start here. Free, needs no key, runs nothing.",
  parameters: Schema.Struct({
    query: named(
      "what the job is, in plain words; short noun phrases work best, such as 'work email of a person'",
      queryLengthMax
    ),
    limit: optional(between(1, discoverLimitMax, `1 to ${discoverLimitMax}; 10 when left out`)),
    kind: optional(
      Schema.Literals(["capability", "endpoint"]).annotate({
        description: "only capabilities, or only raw endpoints; both when left out"
      })
    ),
    provider: optional(named("only this provider, by its slug"))
  }),
  answers: [Schema.Struct({ items: Schema.Array(DiscoverItem), hints: Schema.Array(Schema.String) })],
  annotations: reading
})

export const inspect = tool({
  name: "inspect",
  title: "Inspect a capability or an endpoint",
  description:
    "What a capability (or a provider's raw endpoint) takes, gives and costs, exactly as run enforces it: input schema, an example, offers with prices, billing conditions, health. Inspect before the first run of something: it tells you which input to send and which max_cost to set. Free.",
  parameters: Schema.Struct({
    capability: optional(named("slug of a capability, such as email.find; either this, or provider and endpoint")),
    provider: optional(named("slug of the provider of a raw endpoint")),
    endpoint: optional(named("the provider's own path, verbatim, as discover shows it", 1_000)),
    method: optional(Schema.Literals(methods).annotate({ description: "for a path that takes several" }))
  }),
  answers: [InspectedCapability, InspectedEndpoint],
  annotations: reading
})

/** A key becomes the name of a file, so it has no letter that means something there. */
const IdempotencyKey = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9_-]{8,100}$/u, { message: "expected 8 to 100 letters, digits, _ or -" })
)

const RunParameters = Schema.Struct({
  capability: optional(named("slug of a capability, such as email.find; either this, or provider and endpoint")),
  provider: optional(
    named("slug of the provider whose raw endpoint is called; to choose who serves a capability use routing")
  ),
  endpoint: optional(named("raw only: the provider's own path, verbatim", 1_000)),
  method: optional(Schema.Literals(methods).annotate({ description: "raw only: for a path that takes several" })),
  input: Schema.Union([Schema.JsonObject, Schema.Array(Schema.Json)]).annotate({
    description: "a JSON object that matches input_schema of inspect; for a raw endpoint the provider's own body"
  }),
  path: optional(Schema.JsonObject.annotate({ description: "raw only: values of the endpoint's {placeholders}" })),
  query: optional(Schema.JsonObject.annotate({ description: "raw only: query parameters" })),
  max_cost: Usd.pipe(
    Schema.annotateEncoded({
      description:
        'USD that this run may cost at most, as a decimal string such as "0.05"; inspect shows the prices. Offers above it are left out, fallbacks too.'
    }),
    Schema.annotateKey({
      messageMissingKey: 'is required: the most that the run may cost, in USD, such as "0.05"; inspect shows the price'
    })
  ),
  routing: optional(
    Schema.Struct({
      provider: optional(named("auto, or the slug of a provider to pin; a pinned provider never falls back")),
      strategy: optional(
        Schema.Literals(strategies).annotate({ description: "how providers are ranked; best_value when left out" })
      ),
      allow_fallback: optional(
        Schema.Boolean.annotate({ description: "false tries one provider only; true when left out" })
      )
    }).annotate({ description: "who serves a capability; leave it out to let the service choose" })
  ),
  include_raw: optional(Schema.Boolean.annotate({ description: "add the provider's own answer to the result" })),
  wait_seconds: optional(
    between(
      0,
      waitSecondsMax,
      `how long to wait for the result, 0 to ${waitSecondsMax}; ${waitSecondsDefault} when left out. The run goes on after that.`
    )
  ),
  idempotency_key: optional(
    IdempotencyKey.annotate({
      description: "one is made when left out. Two calls with the same key are one run, paid once."
    })
  )
})
export type RunArguments = typeof RunParameters.Type

const runAs = (repeated: string) =>
  tool({
    name: "run",
    title: "Run, and pay for it",
    description: `Run a capability, or call a provider's raw endpoint, and wait for the result. SPENDS MONEY from the prepaid wallet, at most max_cost (billing.charged says how much); some capabilities act on the outside world (send a message, register a domain). Failures are not charged. After outcome_unknown don't run it again: it may have been carried out; tell your user. Ask history first whether the answer was bought before. If the answer has done: false the run goes on: follow next, don't start it again. ${repeated}`,
    parameters: RunParameters,
    answers: [SentRun],
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true }
  })

export const run = runAs(
  "A call with the same arguments as one whose end was not seen yet joins that run instead of paying twice; to run the same on purpose once more, give an idempotency_key of your own."
)

/** Where nobody but the service remembers what was sent. */
export const forgetfulRun = runAs(
  "Every call is a run of its own, also with the same arguments, unless it has the idempotency_key of an earlier one: give one of your own, and a call whose answer was lost can be made again without paying twice."
)

export const getRun = tool({
  name: "get_run",
  title: "Read a run",
  description:
    "Read a run: status, result, what it was charged, every attempt. With wait_seconds it answers when the run ends or the time is up. Free, also when the run was not: use it to read again what was bought.",
  parameters: Schema.Struct({
    run_id,
    wait_seconds: optional(
      between(0, waitSecondsMax, `how long to wait for the run's end, 0 to ${waitSecondsMax}; 0 when left out`)
    ),
    result_from: optional(
      between(0, Number.MAX_SAFE_INTEGER, "next_from of the part before, for a result that comes in parts")
    )
  }),
  answers: [ReadRun],
  annotations: reading
})

export const cancelRun = tool({
  name: "cancel_run",
  title: "Cancel a run",
  description:
    "Cancel a run that has not started (stoppable: true); its hold is released and nothing is charged. One that is running or finished can't be cancelled: the error names its status.",
  parameters: Schema.Struct({ run_id }),
  answers: [ReadRun],
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false }
})

export const listRuns = tool({
  name: "list_runs",
  title: "List runs",
  description:
    "The organization's runs, newest first, without results (get_run reads one). Finds a run whose id was lost. Free.",
  parameters: Schema.Struct({
    status: optional(RunStatus.annotate({ description: "only runs of this status" })),
    capability: optional(named("only runs of this capability")),
    provider: optional(named("only runs that this provider served")),
    endpoint: optional(named("only runs of this raw endpoint", 1_000)),
    limit,
    cursor
  }),
  answers: [page(ListedRun)],
  annotations: reading
})

export const history = tool({
  name: "history",
  title: "What is already known",
  description:
    "What this organization already knows about an e-mail address, domain, profile, URL, handle, phone number or words: whether it was contacted, and which results were bought and can be read again with get_run instead of being paid for again. Give q for one subject in full, or subjects for a compact row each. Ask before you run or write to somebody. Free.",
  parameters: Schema.Struct({
    q: optional(named("one subject, answered in full; either this, or subjects", subjectCharsMax)),
    subjects: optional(
      Schema.Array(named("a subject", subjectCharsMax))
        .check(Schema.isMinLength(1), Schema.isMaxLength(subjectsMax))
        .annotate({ description: `1 to ${subjectsMax} subjects, answered with one row each` })
    ),
    kind: optional(
      Schema.Literals(kinds).annotate({ description: "read the subject as this; detected when left out" })
    ),
    limit
  }),
  answers: [
    History,
    Schema.Struct({
      items: Schema.Array(HistoryRow),
      seen: Schema.Int,
      unseen: Schema.Int,
      contacted: Schema.Int
    }).annotate({ identifier: "HistoryBatch" })
  ],
  annotations: reading
})

export const wallet = tool({
  name: "wallet",
  title: "Read the wallet",
  description:
    "What may be spent: balance, what running runs hold (reserved), what is left (available), the spend guard's limits, and the latest ledger entries if asked. Paying in is for a person: rungate wallet topup 25.00. Free.",
  parameters: Schema.Struct({
    transactions: optional(between(0, limitMax, `latest ledger entries to show, 0 to ${limitMax}; 0 when left out`))
  }),
  answers: [
    Schema.Struct({
      ...Wallet.fields,
      spend_guard: SpendGuard,
      transactions: optional(Schema.Array(Transaction))
    }).annotate({ identifier: "WalletWithGuard" })
  ],
  annotations: reading
})

export const listProviders = tool({
  name: "list_providers",
  title: "List the providers",
  description:
    "The providers in the catalog, the capabilities that each serves, and how many raw endpoints it has; discover with its slug as provider searches those. Free, needs no key.",
  parameters: Schema.Struct({ limit, cursor }),
  answers: [page(CatalogProvider)],
  annotations: reading
})

/** What a host tells its model about the server as a whole. */
export const instructions = `Rungate runs paid data and outreach jobs. Everything but run is free.
1. discover finds what does the job. 2. history says whether it was bought before. 3. inspect shows the input and the price. 4. run spends money, at most max_cost.
A result with done: false is under way: get_run waits for it. Don't repeat a run to learn how it ended.
Errors come as {"error": {"code", "message", "hints"}}; the hints say what to do. insufficient_balance, budget_exceeded and cost_limit_exceeded need a person: stop and say so.
Where a text names "rungate inspect x", POST /v1/inspect or routing.max_cost, the tool or parameter of that name is meant. "sandbox": true marks simulated data; never present it as real.`
