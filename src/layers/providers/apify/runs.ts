/**
 * The run of an actor as a conversation: start it, ask until it has ended, read what it wrote. Pure; adapters and raw runs
 * share it.
 *
 * The start does not wait for the end, so that the run's id is known, and stored, at once: a restart resumes the run and never
 * starts a second one. The cap and the time limit are the platform's to enforce.
 */
import type { Schema } from "effect"
import type { Capability } from "../../../schema/catalog/Capability.ts"
import {
  type Call,
  type Cost,
  type Failure,
  failure,
  type Offer,
  type OfferDefinition,
  offer,
  type Outcome,
  type Reply
} from "../../../schema/catalog/Provider.ts"
import { cost } from "../kit/outcome.ts"
import { at, isRecord, list, number, text } from "../kit/read.ts"
import { httpErrors, unreadable } from "../kit/httpErrors.ts"

/** The server holds the question until the run ends, at most for this long (it takes 60). */
const waitSeconds = 30
/** Between two questions, should the server not hold them. */
export const pauseMillis = 1_000
/** A run that is paid for is not given up because one question about it failed. */
const missesMax = 5

/** How far a run has come; what is stored of it. */
export interface RunStage {
  readonly run: string
  /** Where its items are, once it has ended well. */
  readonly dataset: string | null
  /** In USD, as the ended run reports it. */
  readonly cost: string | null
  /** For actors that are paid per item. */
  readonly item_price: string | null
  /** Questions in a row that had no answer. */
  readonly misses: number
}

const idOf = (value: unknown, name: string): string | null => {
  const found = text(value, name)
  return found !== null && /^[\w-]{1,64}$/.test(found) ? found : null
}

/** Null for the first question, and for a state that is none of ours. */
export const stageOf = (state: Schema.Json): RunStage | null => {
  const run = idOf(state, "run")
  if (run === null) return null
  return {
    run,
    dataset: idOf(state, "dataset"),
    cost: text(state, "cost"),
    item_price: text(state, "item_price"),
    misses: number(state, "misses") ?? 0
  }
}

export const stateOf = (stage: RunStage): Schema.Json => ({ ...stage })

export interface Start {
  /** `username/actor-name`. */
  readonly actor: string
  readonly input: unknown
  /** The most that the run may cost, a decimal string in USD. */
  readonly cap: string
  /** After this the platform ends it. */
  readonly seconds: number
  /** For actors that are paid per item: no more of them are charged. */
  readonly itemsMax?: number
}

export const startCall = ({ actor, input, cap, seconds, itemsMax }: Start): Call => ({
  method: "POST",
  path: `/acts/${encodeURIComponent(actor.replace("/", "~"))}/runs`,
  query: {
    maxTotalChargeUsd: cap,
    timeout: seconds,
    maxItems: itemsMax,
    // Whatever the actor asks for: its token opens this run's own storages, and nothing else of the account.
    forcePermissionLevel: "LIMITED_PERMISSIONS"
  },
  body: input
})

export const itemsCall = (dataset: string, limit: number, offset = 0): Call => ({
  method: "GET",
  path: `/datasets/${dataset}/items`,
  query: { clean: true, format: "json", limit, offset: offset === 0 ? undefined : offset }
})

export const askCall = ({ run }: RunStage): Call => ({
  method: "GET",
  path: `/actor-runs/${run}`,
  query: { waitForFinish: waitSeconds }
})

/** What the events of a pay-per-event run cost; null when a price is not told (tiers depend on the account). */
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

/** The first answer after the end can still show too little, so the larger of two reports counts. */
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

/** What a run that delivered these items has cost. */
export const stageCost = (stage: RunStage, items: number): Cost | null => {
  const reported = stage.cost === null ? null : cost("USD", stage.cost)
  const perItem = stage.item_price === null ? null : cost("USD", items * Number(stage.item_price))
  if (reported === null || perItem === null) return reported ?? perItem
  return Number(perItem.amount) > Number(reported.amount) ? perItem : reported
}

export type Heard = Failure | { readonly _tag: "Working" | "Ended"; readonly stage: RunStage }

/** A question about a run had no answer: asked again, unless there is no run yet or it happens too often. */
export const stumbled = (wrong: Failure, stage: RunStage | null): Heard =>
  stage === null || stage.misses >= missesMax
    ? wrong
    : { _tag: "Working", stage: { ...stage, misses: stage.misses + 1 } }

export const runTrouble = httpErrors({ reasons: { 408: "provider_timeout" } })

const passing = (status: number) => status === 408 || status === 429 || status >= 500

const working = new Set(["READY", "RUNNING", "TIMING-OUT", "ABORTING"])

/** What the answer to a start or to a question about a run means. */
export const hearRun = (reply: Reply, stage: RunStage | null): Heard => {
  const wrong = runTrouble(reply)
  if (wrong !== undefined) return passing(reply.status) ? stumbled(wrong, stage) : wrong
  const run = at(reply.body, "data")
  const id = idOf(run, "id")
  const status = text(run, "status")
  if (id === null || status === null) return unreadable("run")
  const known = { run: id, dataset: null, cost: null, item_price: null, misses: 0 }
  if (working.has(status)) return { _tag: "Working", stage: known }
  const words = text(run, "statusMessage")?.slice(0, 200) ?? ""
  const ended = `the actor's run ended as ${status}${words === "" ? "" : `: ${words}`}`
  if (status === "TIMED-OUT") return failure("provider_timeout", ended)
  if (status === "FAILED" || status === "ABORTED") return failure("provider_error", ended)
  const dataset = idOf(run, "defaultDatasetId")
  if (status !== "SUCCEEDED" || dataset === null) return unreadable("run")
  const costs = { cost: runCost(run)?.amount ?? null, item_price: itemPrice(run) }
  return { _tag: "Ended", stage: { ...known, dataset, ...costs } }
}

/** An adapter's part: which actor to run on this input, and what its items mean. */
export interface ActorOffer<I, O> extends Pick<OfferDefinition<I, O>, "price" | "note" | "platforms" | "serves"> {
  /** Every actor that `ask` may name. */
  readonly actors: ReadonlyArray<string>
  readonly ask: (input: I) => {
    readonly actor: string
    readonly input: unknown
    /** What the run costs by the actor's published prices, in USD. */
    readonly price: number
    /** Items that are read of its dataset. */
    readonly itemsMax: number
  }
  readonly read: (items: ReadonlyArray<unknown>, input: I, cost: Cost | null) => Outcome<O>
}

/** One attempt, pauses included. The platform ends the run before that, so that nobody pays for the rest. */
const attemptMillis = 180_000
const runSeconds = 150
/** Above the published price, for events such as the start; a run that asks for more than this is broken. */
const capHeadroom = 0.05

const again = (stage: RunStage, afterMillis: number): Outcome<never> => ({
  _tag: "Again",
  state: stateOf(stage),
  afterMillis,
  job: true
})

const heardItems = <I, O>(reply: Reply, stage: RunStage, input: I, { read }: ActorOffer<I, O>): Outcome<O> => {
  const wrong = runTrouble(reply)
  if (wrong !== undefined) {
    const heard = passing(reply.status) ? stumbled(wrong, stage) : wrong
    return heard._tag === "Failure" ? heard : again(heard.stage, pauseMillis)
  }
  const items = list(reply.body)?.filter(isRecord)
  return items === undefined ? unreadable("items") : read(items, input, stageCost(stage, items.length))
}

/** An offer that an actor answers. */
export const actorOffer = <I, O>(capability: Capability<I, O>, actor: ActorOffer<I, NoInfer<O>>): Offer => {
  const { actors, ask, read: _read, ...terms } = actor
  return offer(capability, {
    ...terms,
    // An actor's endpoint is named like the actor.
    wraps: actors.map((path) => ({ method: "POST", path })),
    timeoutMillis: attemptMillis,
    request: (asked) => {
      const { actor, input, price, itemsMax } = ask(asked)
      return startCall({ actor, input, cap: (price + capHeadroom).toFixed(4), seconds: runSeconds, itemsMax })
    },
    next: (state, input) => {
      const stage = stageOf(state)
      if (stage === null) throw new Error("the stored state is no run of an actor")
      return stage.dataset === null ? askCall(stage) : itemsCall(stage.dataset, ask(input).itemsMax)
    },
    response: (reply, input, state) => {
      const stage = stageOf(state)
      if (stage !== null && stage.dataset !== null) return heardItems(reply, stage, input, actor)
      const heard = hearRun(reply, stage)
      if (heard._tag === "Failure") return heard
      return again(heard.stage, heard._tag === "Ended" ? 0 : pauseMillis)
    }
  })
}
