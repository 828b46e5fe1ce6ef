/**
 * Raw runs of marketplace actors (Apify). Starts the actor with the caller's input and the hold as its cost cap, polls until it
 * ends, and returns its items unchanged with the run's cost.
 *
 * The marketplace's run id is stored before the first poll, so a restart resumes the run and never starts a second one. A run
 * that does not succeed is a failure, even if it wrote items.
 */
import { Effect } from "effect"
import { measuredOf } from "../../schema/catalog/Measured.ts"
import * as Money from "../../schema/money/Money.ts"
import { type Call, type Cost, type Failure, failure, type Reply } from "../../schema/catalog/Provider.ts"
import type { RawAnswer, RawCall } from "./Providers.ts"
import {
  pollCall,
  readRun,
  itemsCall,
  pauseMillis,
  type RunStage,
  runErrors,
  stageCost,
  stageOf,
  startCall,
  stateOf,
  pollAgain
} from "../providers/apify/runs.ts"
import { refusal, unreadable } from "../providers/kit/outcome.ts"

/** Sends one call to the marketplace. */
export type SendCall = (call: Call) => Effect.Effect<Reply | Failure>

/** Polls of one run. The marketplace holds each one open for a while, and the attempt has its own deadline. */
const pollsMax = 400
/** Items per page: few enough that a page of whole web pages fits into one response. */
const pageItems = 1_000
/** Items per run. Callers should set a lower limit in the marketplace actor's input. */
const itemsMax = 20_000
/** A page that can't be read is requested again with fewer items, because it may exceed the response limit. */
const pageTriesMax = 4
const shrink = 10
/** The marketplace's documentation says that a run's cost is final about ten seconds after its end. */
const settlingMillis = 10_000

/** Statuses of a start that the caller's request caused, or a marketplace actor that was deleted. */
const rejections = new Set([400, 404, 413, 422])

interface Page {
  readonly count: number
  /** The items as the provider printed them, without the brackets. */
  readonly items: string
  /** Items in the whole dataset; null when the response does not say. */
  readonly total: number | null
}

const pageOf = (reply: Reply): Page | Failure => {
  const wrong = runErrors(reply)
  if (wrong !== undefined) return wrong
  if (!Array.isArray(reply.body)) return unreadable("items")
  const total = /^\d{1,12}$/.exec(reply.headers["x-apify-pagination-total"] ?? "")
  return {
    count: reply.body.length,
    items: reply.text.trim().slice(1, -1).trim(),
    total: total === null ? null : Number(total[0])
  }
}

interface Items {
  readonly _tag: "Items"
  readonly data: string
  readonly count: number
  /** Says that items were left out; null when all are here. */
  readonly note: string | null
}

/** Reads the items page by page, up to the limits. */
const readItems = Effect.fnUntraced(function* (send: SendCall, dataset: string, charactersMax: number) {
  const parts: Array<string> = []
  let count = 0
  let characters = 0
  let offset = 0
  let limit = pageItems
  let tries = 0
  const all = (note: string | null): Items => ({ _tag: "Items", data: `[${parts.join(",")}]`, count, note })
  while (true) {
    const reply = yield* send(itemsCall(dataset, limit, offset))
    const page = "_tag" in reply ? reply : pageOf(reply)
    if ("_tag" in page) {
      tries += 1
      if (tries === pageTriesMax) return page
      limit = Math.max(1, Math.floor(limit / shrink))
      yield* Effect.sleep(`${pauseMillis} millis`)
      continue
    }
    tries = 0
    const of = page.total === null ? "more" : String(page.total)
    const cut = () =>
      `the marketplace actor's dataset ${dataset} has ${of} items; only the first ${count} are delivered; set a lower limit in its input`
    if (characters + page.items.length > charactersMax) return all(cut())
    if (page.items !== "") parts.push(page.items)
    count += page.count
    characters += page.items.length
    // Pages leave empty items out, so the next offset follows from the limit and not from the items received.
    offset += limit
    const ended = page.total === null ? page.count !== limit : offset >= page.total
    if (ended) return all(null)
    if (offset >= itemsMax) return all(cut())
  }
})

const isUncertain = (cost: Cost | null) => cost === null || Number(cost.amount) === 0

/** Right after its end a run may still report a cost of zero, so a zero is read once more. */
const withFinalCost = Effect.fnUntraced(function* (send: SendCall, stage: RunStage) {
  if (stage.item_price !== null || !isUncertain(stageCost(stage, 0))) return stage
  yield* Effect.sleep(`${settlingMillis} millis`)
  const reply = yield* send(pollCall(stage))
  const result = "_tag" in reply ? reply : readRun(reply, stage)
  return result._tag === "Ended" ? result.stage : stage
})

const deliver = Effect.fnUntraced(function* (send: SendCall, stage: RunStage, dataset: string, charactersMax: number) {
  const [items, last] = yield* Effect.all([readItems(send, dataset, charactersMax), withFinalCost(send, stage)], {
    concurrency: 2
  })
  if (items._tag === "Failure") return items
  const answer: RawAnswer = {
    _tag: "Delivered",
    data: items.data,
    measured: measuredOf(stageCost(last, items.count), null),
    ...(items.note === null ? {} : { note: items.note })
  }
  return answer
})

export interface MarketplaceActorLimits {
  /** The marketplace stops the run after this. It is shorter than the attempt's deadline, so that finished items are read. */
  readonly seconds: number
  readonly charactersMax: number
}

export const callMarketplaceActor = (
  send: SendCall,
  { raw, input, input_text, state, keep }: RawCall,
  { seconds, charactersMax }: MarketplaceActorLimits
): Effect.Effect<RawAnswer> =>
  Effect.gen(function* () {
    let stage = stageOf(state)
    if (stage === null && state !== null)
      return failure(
        "provider_error",
        "the marketplace actor was started, but the stored state of its run can't be read"
      )
    // The marketplace might read a cap of zero as no cap.
    if (stage === null && Money.dollars(raw.hold) === Money.zero)
      return failure("provider_error", "a marketplace actor is not started with a hold of $0")
    for (let poll = 0; poll < pollsMax; poll++) {
      const call: Call =
        stage === null
          ? {
              ...startCall({ actor: raw.path, input, cap: raw.hold, seconds }),
              text: input_text
            }
          : pollCall(stage)
      const reply: Reply | Failure = yield* send(call)
      if (stage === null && !("_tag" in reply) && rejections.has(reply.status))
        return refusal(reply, "provider_rejected")
      const result = "_tag" in reply ? pollAgain(reply, stage) : readRun(reply, stage)
      if (result._tag === "Failure") return result
      if (stage === null && !(yield* keep(stateOf(result.stage))))
        return failure("provider_error", "another worker has taken over this run")
      stage = result.stage
      if (result._tag === "Ended" && stage.dataset !== null)
        return yield* deliver(send, stage, stage.dataset, charactersMax)
      yield* Effect.sleep(`${pauseMillis} millis`)
    }
    return failure("provider_timeout", "the marketplace actor's run did not end in time; give it less work per run")
  })
