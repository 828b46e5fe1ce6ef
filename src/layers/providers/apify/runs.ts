/**
 * Runs an Apify actor in three steps: start it, poll until it has ended, read its items. Pure. Adapters and raw runs share it.
 * For some actors there is a step before the items: read the record that has what the items lack, such as the token of the next page.
 *
 * The start returns the run's id at once, and the id is stored. So a restarted worker resumes the run and never starts a second one.
 * Apify enforces the cap and the time limit.
 */
import type { Schema } from "effect"
import type { Capability } from "../../../schema/catalog/Capability.ts"
import {
  type Call,
  type Cost,
  type EndpointName,
  type Failure,
  failure,
  offer,
  type OfferDefinition,
  type Outcome,
  type Reply,
  type UnpricedOffer
} from "../../../schema/catalog/Provider.ts"
import { cost, httpErrors, unreadable } from "../kit/outcome.ts"
import { at, isRecord, list, number, segmentOf, text } from "../kit/read.ts"

/** Long poll: Apify answers when the run ends, or after this time. Its maximum is 60. */
const waitSeconds = 30
/** Pause between two polls, because Apify may answer at once. */
export const pauseMillis = 1_000
/** Failed polls in a row before the attempt fails. The run is already paid for, so one failed poll does not end it. */
const missesMax = 5

/** The stored state of a run. */
export interface RunStage {
  readonly run: string
  /** The dataset with the run's items. Null until the run has succeeded. */
  readonly dataset: string | null
  /** The store with the run's record. Null until the run has succeeded, and once the record was read. */
  readonly store: string | null
  /** What an offer kept of the record. */
  readonly extra: Schema.Json
  /** The reported cost in USD. Null until the run has ended. */
  readonly cost: string | null
  /** USD per item. Null unless the actor charges per item. */
  readonly item_price: string | null
  /** Failed polls in a row. */
  readonly misses: number
}

const idOf = (value: unknown, name: string): string | null => {
  const id = text(value, name)
  return id !== null && /^[\w-]{1,64}$/.test(id) ? id : null
}

/** What `stateOf` stored under `extra`. The state is JSON, so this is too. */
const extraOf = (state: Schema.Json): Schema.Json =>
  typeof state === "object" && state !== null && "extra" in state ? state.extra : null

/** Null before the start, and for a state in another format. */
export const stageOf = (state: Schema.Json): RunStage | null => {
  const run = idOf(state, "run")
  if (run === null) return null
  return {
    run,
    dataset: idOf(state, "dataset"),
    store: idOf(state, "store"),
    extra: extraOf(state),
    cost: text(state, "cost"),
    item_price: text(state, "item_price"),
    misses: number(state, "misses") ?? 0
  }
}

export const stateOf = ({ store, extra, ...rest }: RunStage): Schema.Json => ({
  ...rest,
  ...(store === null ? {} : { store }),
  ...(extra === null ? {} : { extra })
})

export interface Start {
  /** `username/actor-name`. */
  readonly actor: string
  readonly input: unknown
  /** The maximum cost of the run in USD, as a decimal string. */
  readonly cap: string
  /** Apify ends the run after this time. */
  readonly seconds: number
  /** Maximum number of items that an actor may charge for, if it charges per item. */
  readonly itemsMax?: number
}

export const startCall = ({ actor, input, cap, seconds, itemsMax }: Start): Call => ({
  method: "POST",
  path: `/acts/${segmentOf(actor.replace("/", "~"))}/runs`,
  query: {
    maxTotalChargeUsd: cap,
    timeout: seconds,
    maxItems: itemsMax,
    // Limits the actor's token to this run's own storages, whatever permissions the actor declares.
    forcePermissionLevel: "LIMITED_PERMISSIONS"
  },
  body: input
})

export const itemsCall = (dataset: string, limit: number, offset = 0): Call => ({
  method: "GET",
  path: `/datasets/${dataset}/items`,
  query: { clean: true, format: "json", limit, offset: offset === 0 ? undefined : offset }
})

/** The record in which an actor keeps its source's whole answer, by the actors' convention. */
export const recordCall = (store: string): Call => ({
  method: "GET",
  path: `/key-value-stores/${store}/records/OUTPUT`
})

export const pollCall = ({ run }: RunStage): Call => ({
  method: "GET",
  path: `/actor-runs/${run}`,
  query: { waitForFinish: waitSeconds }
})

/** The cost of a pay-per-event run. Null if a price is missing, because prices with tiers depend on the account. */
const eventsCost = (run: unknown): number | null => {
  const counts = Object.entries(Object(at(run, "chargedEventCounts")))
  let total: number | null = null
  for (const [name, count] of counts) {
    const price = number(run, "pricingInfo", "pricingPerEvent", "actorChargeEvents", name, "eventPriceUsd")
    if (typeof count !== "number" || count < 0 || price === null || price < 0) return null
    total = (total ?? 0) + count * price
  }
  return total
}

/** The first answer after the end can report too little, so this is the larger of the two reported costs. */
export const runCost = (run: unknown): Cost | null => {
  const usage = cost("USD", run, "usageTotalUsd")
  const events = cost("USD", eventsCost(run))
  if (usage === null || events === null) return usage ?? events
  return Number(events.amount) > Number(usage.amount) ? events : usage
}

const itemPrice = (run: unknown): string | null =>
  text(run, "pricingInfo", "pricingModel") === "PRICE_PER_DATASET_ITEM"
    ? (cost("USD", run, "pricingInfo", "pricePerUnitUsd")?.amount ?? null)
    : null

/** The cost of a run that delivered `items` items. */
export const stageCost = (stage: RunStage, items: number): Cost | null => {
  const reported = stage.cost === null ? null : cost("USD", stage.cost)
  const perItem = stage.item_price === null ? null : cost("USD", items * Number(stage.item_price))
  if (reported === null || perItem === null) return reported ?? perItem
  return Number(perItem.amount) > Number(reported.amount) ? perItem : reported
}

export type RunProgress = Failure | { readonly _tag: "Working" | "Ended"; readonly stage: RunStage }

/** Handles a failed poll: polls again, unless the run is not started yet or `missesMax` polls in a row failed. */
export const pollAgain = (error: Failure, stage: RunStage | null): RunProgress =>
  stage === null || stage.misses >= missesMax
    ? error
    : { _tag: "Working", stage: { ...stage, misses: stage.misses + 1 } }

export const runErrors = httpErrors({
  reasons: { 408: "provider_timeout" },
  // A 402 too, but the account's other runs use its memory, and it has credits.
  reason: (reply) =>
    text(reply.body, "error", "type") === "actor-memory-limit-exceeded" ? "provider_rate_limited" : undefined
})

const isTransient = (status: number) => status === 408 || status === 429 || status >= 500

const working = new Set(["READY", "RUNNING", "TIMING-OUT", "ABORTING"])

/** Reads the answer to a start or a poll. */
export const readRun = (reply: Reply, stage: RunStage | null): RunProgress => {
  const error = runErrors(reply)
  if (error !== undefined) return isTransient(reply.status) ? pollAgain(error, stage) : error
  const run = at(reply.body, "data")
  const id = idOf(run, "id")
  const status = text(run, "status")
  if (id === null || status === null) return unreadable("run")
  const started = { run: id, dataset: null, store: null, extra: null, cost: null, item_price: null, misses: 0 }
  if (working.has(status)) return { _tag: "Working", stage: started }
  const words = text(run, "statusMessage")?.slice(0, 200) ?? ""
  const ended = `the actor's run ended as ${status}${words === "" ? "" : `: ${words}`}`
  if (status === "TIMED-OUT") return failure("provider_timeout", ended)
  if (status === "FAILED" || status === "ABORTED") return failure("provider_error", ended)
  const dataset = idOf(run, "defaultDatasetId")
  if (status !== "SUCCEEDED" || dataset === null) return unreadable("run")
  const costs = { cost: runCost(run)?.amount ?? null, item_price: itemPrice(run) }
  return { _tag: "Ended", stage: { ...started, dataset, store: idOf(run, "defaultKeyValueStoreId"), ...costs } }
}

/** What an offer defines: the actor to run for an input, and how to read its items. */
export interface ActorOffer<I, O> extends Pick<OfferDefinition<I, O>, "price" | "note" | "platforms" | "serves"> {
  /** Every actor that `start` may return. */
  readonly actors: ReadonlyArray<string>
  readonly start: (input: I) => {
    readonly actor: string
    readonly input: unknown
    /** The expected cost in USD by the actor's published prices. */
    readonly price: number
    /** Maximum number of items to read from the run's dataset. */
    readonly itemsMax: number
  }
  /** Read from the run's record before the items: a few values, because they are stored. */
  readonly extra?: (record: unknown) => Schema.Json
  /** `extra` is null if the actor has none, or if the record could not be read. */
  readonly read: (items: ReadonlyArray<unknown>, input: I, cost: Cost | null, extra: Schema.Json) => Outcome<O>
}

/** Time limit of one attempt, pauses included. Apify ends the run before that, so that an abandoned run costs nothing more. */
const attemptMillis = 180_000
const runSeconds = 150
/** USD that the cap exceeds the expected cost by, for events such as the start. */
const capHeadroom = 0.05

const again = (stage: RunStage, afterMillis: number): Outcome<never> => ({
  _tag: "Again",
  state: stateOf(stage),
  afterMillis,
  job: true
})

const readItems = <I, O>(reply: Reply, stage: RunStage, input: I, { read }: ActorOffer<I, O>): Outcome<O> => {
  const error = runErrors(reply)
  if (error !== undefined) {
    const progress = isTransient(reply.status) ? pollAgain(error, stage) : error
    return progress._tag === "Failure" ? progress : again(progress.stage, pauseMillis)
  }
  const items = list(reply.body)?.filter(isRecord)
  return items === undefined ? unreadable("items") : read(items, input, stageCost(stage, items.length), stage.extra)
}

/** The next stage after the record. The run is paid for, so a record that can't be read only loses what it says. */
const readRecord = (reply: Reply, stage: RunStage, extra: (record: unknown) => Schema.Json): Outcome<never> => {
  const error = runErrors(reply)
  if (error !== undefined && isTransient(reply.status)) {
    const progress = pollAgain(error, stage)
    if (progress._tag !== "Failure") return again(progress.stage, pauseMillis)
  }
  const kept = error === undefined ? extra(reply.body) : null
  return again({ ...stage, store: null, extra: kept, misses: 0 }, 0)
}

/** Makes an offer that runs an actor. */
export const actorOffer = <I, O>(capability: Capability<I, O>, actor: ActorOffer<I, NoInfer<O>>): UnpricedOffer => {
  const { actors, start, read: _read, extra, ...terms } = actor
  return offer(capability, {
    ...terms,
    // The path of an actor's raw endpoint is the actor's name.
    wraps: actors.map((path): EndpointName => `POST ${path}`),
    timeoutMillis: attemptMillis,
    request: (runInput) => {
      const { actor, input, price, itemsMax } = start(runInput)
      return startCall({ actor, input, cap: (price + capHeadroom).toFixed(4), seconds: runSeconds, itemsMax })
    },
    next: (state, input) => {
      const stage = stageOf(state)
      if (stage === null) throw new Error("the stored state names no actor's run")
      if (stage.dataset === null) return pollCall(stage)
      return stage.store === null ? itemsCall(stage.dataset, start(input).itemsMax) : recordCall(stage.store)
    },
    response: (reply, input, state) => {
      const stage = stageOf(state)
      if (stage !== null && stage.dataset !== null) {
        return stage.store === null || extra === undefined
          ? readItems(reply, stage, input, actor)
          : readRecord(reply, stage, extra)
      }
      const progress = readRun(reply, stage)
      if (progress._tag === "Failure") return progress
      if (progress._tag === "Working") return again(progress.stage, pauseMillis)
      return again(extra === undefined ? { ...progress.stage, store: null } : progress.stage, 0)
    }
  })
}
