/**
 * Reasons why the outcome of a call is unknown: the request was sent, and no answer says what it did.
 *
 * For a call that only reads, this is an ordinary failure. A call that acts is never repeated afterwards.
 */
import { Schema } from "effect"

/** The attempt's outcome and the run's error code. */
export const outcomeUnknown = "outcome_unknown"

/**
 * `worker_lost`: the process that made the call died. `no_answer`: the time was up or the connection broke after the request had left.
 * `unreadable_answer`: the provider answered with success, and the rest can't be read. `server_error`: it answered with a 5xx, which
 * does not say how far it had got.
 */
export const doubts = ["worker_lost", "no_answer", "unreadable_answer", "server_error"] as const
export const Doubt = Schema.Literals(doubts)
export type Doubt = (typeof doubts)[number]

export const doubtSentences: Readonly<Record<Doubt, string>> = {
  worker_lost: "the process that made the call died before it saw the answer",
  no_answer: "the request was sent and no answer came back",
  unreadable_answer: "the provider answered with success, and the answer can't be read",
  server_error: "the provider answered with a server error, which does not say whether it acted"
}

/** What was found out later about such a call. */
export const findings = ["delivered", "not_delivered"] as const
export type Finding = (typeof findings)[number]

/** What a look-up at the provider found, and how it shows. */
export interface Found {
  readonly _tag: "Found"
  readonly finding: Finding
  readonly note: string
}

/** How a question to a provider ended, as far as it tells whether the provider may have acted. */
export type Heard = "unsent" | "no_answer" | "refused" | "server_error" | "unreadable" | "read"

/** Not implemented, and a version of HTTP that the server does not speak: it says that it can't do this at all. */
const incapable = [501, 505]

/**
 * A 4xx refuses the request. Any other 5xx may come from a gateway whose upstream went on, or from a server that failed after it had
 * acted, so it settles nothing.
 */
export const heardOf = (status: number): Heard =>
  status >= 200 && status < 300 ? "read" : status >= 500 && !incapable.includes(status) ? "server_error" : "refused"

/** What one attempt has asked so far: an attempt may be several questions, of which some only read. */
export interface Trail {
  /** A question that acts has left, and was not refused. */
  readonly acted: boolean
  /** `acted` before the last question. */
  readonly before: boolean
  /** The last question acts. */
  readonly acting: boolean
  /** Null when nothing was asked yet. */
  readonly heard: Heard | null
}

/** `resumed`: an earlier execution of this attempt has started something. */
export const trailOf = (resumed: boolean): Trail => ({ acted: resumed, before: resumed, acting: false, heard: null })

export const asking = ({ acted }: Trail, acting: boolean): Trail => ({
  acted: acted || acting,
  before: acted,
  acting,
  heard: "no_answer"
})

export const hearing = (trail: Trail, heard: Heard): Trail => {
  const undone = trail.acting && (heard === "refused" || heard === "unsent")
  return { ...trail, heard, acted: undone ? trail.before : trail.acted }
}

/**
 * Why nobody knows what a failed attempt has done; null when it did nothing. `reason` is how the adapter read the failure: a provider
 * that says in words of its own that it failed, or that it is too busy, has answered.
 */
export const doubtOf = ({ acted, acting, heard }: Trail, reason: string): Doubt | null => {
  if (!acted) return null
  const explained = reason === "provider_error" || reason === "provider_rejected"
  const unclear = reason === "invalid_response" || reason === "provider_timeout"
  switch (heard) {
    case null:
    case "unsent":
    case "no_answer":
      return "no_answer"
    case "unreadable":
      return "unreadable_answer"
    case "server_error":
      return acting && !explained && !unclear ? null : "server_error"
    case "read":
    case "refused":
      if (reason === "invalid_response") return "unreadable_answer"
      // A job that was started goes on, whatever keeps us from asking for it.
      return reason === "provider_timeout" || (!acting && !explained) ? "no_answer" : null
  }
}
