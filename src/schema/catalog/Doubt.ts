/**
 * Why the outcome of a provider call is unknown: the request was sent, and no response says what it did.
 *
 * For a call that only reads, this is an ordinary failure. A call that acts is never repeated afterwards.
 */
import { Schema } from "effect"

/** The attempt's outcome and the run's error code. */
export const outcomeUnknown = "outcome_unknown"

/**
 * `worker_lost`: the process that made the call died. `no_answer`: a timeout or a lost connection after the request was sent.
 * `unreadable_answer`: the provider reported success, and the response can't be read. `server_error`: the provider answered 5xx, which does
 * not say whether it acted.
 */
export const doubts = ["worker_lost", "no_answer", "unreadable_answer", "server_error"] as const
export const Doubt = Schema.Literals(doubts)
export type Doubt = (typeof doubts)[number]

export const doubtSentences: Readonly<Record<Doubt, string>> = {
  worker_lost: "the process that made the call died before it received the answer",
  no_answer: "the request was sent and no answer came back",
  unreadable_answer: "the provider answered with success, and the answer can't be read",
  server_error: "the provider answered with a server error, which does not say whether it acted"
}

/** What a later look-up found out about such a call. */
export const findings = ["delivered", "not_delivered"] as const
export type Finding = (typeof findings)[number]

/** The result of a look-up at the provider. `note` says how the provider showed it. */
export interface Found {
  readonly _tag: "Found"
  readonly finding: Finding
  readonly note: string
}

/** How a request to a provider ended, as far as it shows whether the provider may have acted. */
export type RequestEnd = "unsent" | "no_answer" | "refused" | "server_error" | "unreadable" | "read"

/** Not Implemented and HTTP Version Not Supported: the server says that it can't do this at all. */
const incapable = [501, 505]
/**
 * Found and See Other may follow a request that was carried out. Request Timeout and Client Closed Request may be a gateway's, whose upstream
 * continued.
 */
const unclear = [302, 303, 408, 499]

/**
 * A 4xx refuses the request, except a 409 to one with an idempotency key (`keyed`): Resend answers so while a copy of the request
 * is being carried out, or after it was. Any other 5xx may come from a gateway whose upstream continued, or from a server that failed after it
 * acted, so the outcome stays unknown.
 */
export const endOfStatus = (status: number, keyed = false): RequestEnd =>
  status >= 200 && status < 300
    ? "read"
    : unclear.includes(status) || (keyed && status === 409) || (status >= 500 && !incapable.includes(status))
      ? "server_error"
      : "refused"

/** The requests of one attempt so far. An attempt may make several requests, and some of them only read. */
export interface Trail {
  /** A request that acts was sent and not refused. */
  readonly acted: boolean
  /** `acted` before the last request. */
  readonly before: boolean
  /** The last request acts. */
  readonly acting: boolean
  /** How the last request ended. Null before the first one. */
  readonly end: RequestEnd | null
}

/** The trail of a new attempt. `resumed` if an earlier execution of it has already started something at the provider. */
export const trailOf = (resumed: boolean): Trail => ({ acted: resumed, before: resumed, acting: false, end: null })

export const withRequest = ({ acted }: Trail, acting: boolean): Trail => ({
  acted: acted || acting,
  before: acted,
  acting,
  end: "no_answer"
})

export const withEnd = (trail: Trail, end: RequestEnd): Trail => {
  const undone = trail.acting && (end === "refused" || end === "unsent")
  return { ...trail, end, acted: undone ? trail.before : trail.acted }
}

/**
 * Why the outcome of a failed attempt is unknown. Null if the attempt did nothing. `reason` is how the adapter read the failure: if the
 * provider itself says that it failed or is too busy, the outcome is known.
 */
export const doubtOf = ({ acted, acting, end }: Trail, reason: string): Doubt | null => {
  if (!acted) return null
  const explained = reason === "provider_error" || reason === "provider_rejected"
  const unclear = reason === "invalid_response" || reason === "provider_timeout"
  switch (end) {
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
      // A job that was started continues, even if reading its state fails.
      return reason === "provider_timeout" || (!acting && !explained) ? "no_answer" : null
  }
}
