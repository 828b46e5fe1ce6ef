/**
 * Raw runs of actors: starts one with the caller's input and the run's hold as its cap, waits for its end, and delivers its items
 * untouched with what the run has cost.
 *
 * The run's id is stored before anything else is asked, so a restart resumes the run and never starts a second one. A run that
 * does not end well is a failure, whatever it wrote.
 */
import { Effect } from "effect"
import { measuredOf } from "../../schema/catalog/Measured.ts"
import * as Money from "../../schema/money/Money.ts"
import { type Call, type Cost, type Failure, failure, type Reply } from "../../schema/catalog/Provider.ts"
import type { RawAnswer, RawCall } from "./Providers.ts"
import {
  askCall,
  hearRun,
  itemsCall,
  pauseMillis,
  type RunStage,
  runTrouble,
  stageCost,
  stageOf,
  startCall,
  stateOf,
  stumbled
} from "../providers/apify/runs.ts"
import { refusal, unreadable } from "../providers/kit/httpErrors.ts"

/** How a question reaches the provider. */
export type Ask = (call: Call) => Effect.Effect<Reply | Failure>

/** Questions about one run; each is held by the server for a while, and the attempt has a deadline of its own. */
const questionsMax = 400
/** Items of one page: small enough that a page of whole web pages is read in one answer. */
const pageItems = 1_000
/** Items of one run; a caller bounds them better by the actor's own input. */
const itemsMax = 20_000
/** A page that could not be read is asked again, smaller: it may have been larger than an answer may be. */
const pageTriesMax = 4
const shrink = 10
/** What a run costs is settled about ten seconds after its end, says the platform's document. */
const settlingMillis = 10_000

/** Answers to a start that blame the caller's own request, or an actor that is gone, and not the marketplace. */
const rejections = new Set([400, 404, 413, 422])

interface Page {
  readonly count: number
  /** The items as the provider printed them, without the brackets. */
  readonly items: string
  /** Items in the whole dataset, when the answer tells. */
  readonly total: number | null
}

const pageOf = (reply: Reply): Page | Failure => {
  const wrong = runTrouble(reply)
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
  /** Why the dataset holds more than this. */
  readonly note: string | null
}

/** All items, page by page, as far as the limits go. */
const readItems = Effect.fnUntraced(function* (ask: Ask, dataset: string, charactersMax: number) {
  const parts: Array<string> = []
  let count = 0
  let characters = 0
  let offset = 0
  let limit = pageItems
  let tries = 0
  const all = (note: string | null): Items => ({ _tag: "Items", data: `[${parts.join(",")}]`, count, note })
  while (true) {
    const reply = yield* ask(itemsCall(dataset, limit, offset))
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
    const cut = `the actor's dataset ${dataset} has ${of} items; the first ${count} are delivered`
    if (characters + page.items.length > charactersMax) return all(cut)
    if (page.items !== "") parts.push(page.items)
    count += page.count
    characters += page.items.length
    // Empty items are left out of a page, so the next one begins after what was asked for, not after what came.
    offset += limit
    const ended = page.total === null ? page.count !== limit : offset >= page.total
    if (ended) return all(null)
    if (offset >= itemsMax)
      return all(`the actor's dataset ${dataset} has ${of} items; the first ${count} are delivered`)
  }
})

const isUncertain = (cost: Cost | null) => cost === null || Number(cost.amount) === 0

/** Right after the end a run can still show no cost. Nothing is charged for a zero, so a zero is asked for once more. */
const settled = Effect.fnUntraced(function* (ask: Ask, stage: RunStage) {
  if (stage.item_price !== null || !isUncertain(stageCost(stage, 0))) return stage
  yield* Effect.sleep(`${settlingMillis} millis`)
  const reply = yield* ask(askCall(stage))
  const heard = "_tag" in reply ? reply : hearRun(reply, stage)
  return heard._tag === "Ended" ? heard.stage : stage
})

const delivered = Effect.fnUntraced(function* (ask: Ask, stage: RunStage, dataset: string, charactersMax: number) {
  const [items, last] = yield* Effect.all([readItems(ask, dataset, charactersMax), settled(ask, stage)], {
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

export interface ActorBounds {
  /** After this the platform ends the run: before the attempt's own deadline, so that nobody pays for what nobody reads. */
  readonly seconds: number
  readonly charactersMax: number
}

export const runActor = (
  ask: Ask,
  { raw, input, input_text, state, keep }: RawCall,
  { seconds, charactersMax }: ActorBounds
): Effect.Effect<RawAnswer> =>
  Effect.gen(function* () {
    let stage = stageOf(state)
    if (stage === null && state !== null)
      return failure("provider_error", "the actor was started, but what was stored of its run can't be read")
    // A cap of zero might count as none.
    if (stage === null && Money.dollars(raw.hold) === Money.zero)
      return failure("provider_error", "an actor is not started without money for it")
    for (let question = 0; question < questionsMax; question++) {
      const call: Call =
        stage === null
          ? {
              ...startCall({ actor: raw.path, input, cap: raw.hold, seconds }),
              text: input_text
            }
          : askCall(stage)
      const reply: Reply | Failure = yield* ask(call)
      if (stage === null && !("_tag" in reply) && rejections.has(reply.status))
        return refusal(reply, "provider_rejected")
      const heard = "_tag" in reply ? stumbled(reply, stage) : hearRun(reply, stage)
      if (heard._tag === "Failure") return heard
      if (stage === null && !(yield* keep(stateOf(heard.stage))))
        return failure("provider_error", "another worker has taken over this run")
      stage = heard.stage
      if (heard._tag === "Ended" && stage.dataset !== null)
        return yield* delivered(ask, stage, stage.dataset, charactersMax)
      yield* Effect.sleep(`${pauseMillis} millis`)
    }
    return failure("provider_timeout", "the actor's run never ended")
  })
