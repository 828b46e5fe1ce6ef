/**
 * Summarizes the history of a subject: which runs contacted it, and what an agent should conclude. Pure.
 *
 * A touch is an outbound run (specification 2.2). A paid lookup whose input named the subject can be reused instead of bought again.
 * A paid lookup whose result named the subject returned it: its result can be read again too.
 */
import { channels } from "../guards/Touches.ts"
import { getRun, runningRuns } from "../Steps.ts"

export { channels, recipientFields, touchCapabilities } from "../guards/Touches.ts"

export const channelOf = (capability: string | null): string | null =>
  capability !== null && Object.hasOwn(channels, capability) ? (channels[capability] ?? null) : null

/** What a hint says of a touch. */
interface Touch {
  readonly run_id: string
  readonly capability: string
  readonly created_at: string
}

/** What a hint says of a lookup. */
interface Reusable extends Omit<Touch, "capability"> {
  readonly capability: string | null
  readonly endpoint: string | null
  readonly charged: string
}

interface Conclusions {
  readonly count: number
  readonly truncated: boolean
  readonly limit: number
  /** Fewer than `limit` are shown, because their inputs fill a page. */
  readonly cut?: boolean
  readonly last_touch: Touch | null
  /** The latest touch that succeeded and went to the subject. A touch that the subject sent, or that only mentions it, does not count. */
  readonly last_contact: Touch | null
  /** The latest touch with an unknown outcome, which may have reached the subject. */
  readonly last_unknown?: Touch | null
  readonly reusable: Reusable | null
  /** The newest shown lookup that returned the subject: its result names it, and its input doesn't. */
  readonly returned_by: Reusable | null
  /** Touches that did not succeed, and unfinished runs. */
  readonly failed_touches: number
  readonly in_flight: number
}

const day = (time: string) => time.slice(0, 10)

const bought = "Already bought: "
/** Whether a hint says that a result was bought. The `reusable` of the contract lists only those whose input named the subject. */
export const isBought = (hint: string): boolean => hint.startsWith(bought)

const again = (one: Reusable, verb: string) => {
  const what = one.capability ?? one.endpoint ?? "a lookup"
  return `${bought}${what}${verb} on ${day(one.created_at)} for $${one.charged}. Read its result with ${getRun(one.run_id).http} instead of paying again.`
}

/** Hints on what an agent should conclude, most important first. */
export const conclude = (summary: Conclusions): ReadonlyArray<string> => {
  const { count, last_touch, last_contact, last_unknown = null, failed_touches, in_flight } = summary
  if (count === 0) {
    return [
      "Nothing on record: no run of this organization names this subject. Only calls made through this service are on record."
    ]
  }
  const hints: Array<string> = []
  const doubt =
    last_unknown === null
      ? []
      : [
          `Outcome unknown: ${last_unknown.capability} on ${day(last_unknown.created_at)} (${last_unknown.run_id}) may have reached this subject. Check before writing again.`
        ]
  if (last_contact === null) hints.push(...doubt)
  if (last_contact !== null) {
    hints.push(
      `Already contacted: ${last_contact.capability} succeeded on ${day(last_contact.created_at)} (${last_contact.run_id}). Read it before writing again.`,
      ...doubt
    )
  } else {
    if (last_touch !== null)
      hints.push(
        `Mentioned but not contacted: ${last_touch.capability} on ${day(last_touch.created_at)} (${last_touch.run_id}) went to somebody else.`
      )
    if (failed_touches > 0 && last_unknown === null)
      hints.push(`Never reached: ${failed_touches} outbound ${failed_touches === 1 ? "run" : "runs"} did not succeed.`)
  }
  if (summary.reusable !== null) hints.push(again(summary.reusable, ""))
  if (summary.returned_by !== null) hints.push(again(summary.returned_by, " returned this subject"))
  if (in_flight > 0) {
    hints.push(
      `${in_flight} ${in_flight === 1 ? "run is" : "runs are"} still under way; ${runningRuns.http} lists ${in_flight === 1 ? "it" : "them"}. Wait for the result instead of paying again.`
    )
  }
  if (summary.truncated)
    hints.push(
      summary.cut === true
        ? `Only the newest ${summary.limit} are shown, because their inputs fill an answer of 8 MiB; ask for a narrower subject.`
        : `Only the newest ${summary.limit} are shown; ask with a higher limit (at most 200) for more.`
    )
  if (hints.length === 0)
    hints.push("On record, but neither contacted nor bought: the subject appears in other runs only.")
  return hints
}
