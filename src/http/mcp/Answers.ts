/**
 * The service's answers as a tool's: its JSON as it came, its errors with hints in the words of the tools.
 *
 * What the API calls an error keeps its code, message and details. Where no answer came, the codes are those of the typed client
 * (`unreachable`, `connection_lost`, `unexpected_answer`).
 */
import { Effect } from "effect"
import { publicErrorIn } from "../api/shapes/PublicError.ts"
import { type Answer, type NoAnswer, Service } from "./Service.ts"
import { type Answered, type Refusal, refused } from "./Tool.ts"

/** More is of no use to a model; hosts cut it, or end the conversation. */
const textCharsMax = 400_000

export const person = "This needs a person: stop, and tell them."
const find = "The tool discover finds what there is."
const later = "Nothing was done. Call it again in a minute."

/** Those that are the same for everybody. */
const hints: Readonly<Record<string, string>> = {
  forbidden: person,
  capability_not_found: find,
  endpoint_not_found: find,
  provider_not_found: find,
  provider_not_available: "inspect shows who can serve it now; discover finds another way.",
  idempotency_key_reused:
    "This idempotency_key belongs to another request. Leave it out for a new run, or send what it was first sent with.",
  rate_limited: later,
  service_unavailable: later,
  internal_error: "Report the request_id to the operator of the service."
}

/** What to do about an error, in the words of the tools; it may depend on who asked, and what. */
export const advice = (code: string, name: string): Effect.Effect<ReadonlyArray<string>, never, Service> =>
  Service.useSync((service) => {
    const known = service.hints[code] ?? hints[code]
    if (known !== undefined) return [known]
    if (code === "invalid_request" && name === "run") {
      return ["Nothing was run. inspect shows the input schema; correct the arguments and call run again."]
    }
    return code === "invalid_request"
      ? ["Correct the arguments and call it again. list_runs shows which runs there are."]
      : []
  })

export interface Told {
  readonly code: string
  readonly message: string
  readonly details?: Refusal["error"]["details"]
  readonly request_id?: string | undefined
  readonly idempotency_key?: string | undefined
  /** Instead of what is said of the code. */
  readonly hint?: string | undefined
}

/** Of a run whose end nobody knows. */
export type Unsettled = Pick<Told, "idempotency_key" | "hint">

/** For the tool `name`. */
export const refusal = Effect.fnUntraced(function* (name: string, told: Told) {
  const { code, message, details, request_id, idempotency_key, hint } = told
  return refused({
    error: {
      code,
      message,
      ...(details === undefined ? {} : { details }),
      hints: hint === undefined ? yield* advice(code, name) : [hint]
    },
    ...(request_id === undefined ? {} : { request_id }),
    ...(idempotency_key === undefined ? {} : { idempotency_key })
  })
})

/** An answer that is an error; null for one that is none. A run's own answer is none, however it ended. */
export const refusalIn = Effect.fnUntraced(function* (name: string, answer: Answer, more: Unsettled = {}) {
  if (answer.status < 400) return null
  const { url, missing } = yield* Service
  const found = publicErrorIn(answer.text)
  if (found === null) {
    const message = `${url} answered HTTP ${answer.status} and no error of Rungate's.`
    return yield* refusal(name, { code: "unexpected_answer", message, ...more })
  }
  const { code, message, details } = found.error
  return yield* refusal(name, {
    code,
    message: code === "unauthorized" ? (missing ?? message) : message,
    ...(details === undefined ? {} : { details }),
    request_id: found.request_id,
    ...more
  })
})

/** No answer came. */
export const unanswered = (name: string, { code, message }: NoAnswer, more: Unsettled = {}) =>
  refusal(name, { code, message, ...more })

/** The text of a JSON object that has members, with more behind them. */
export const withMembers = (text: string, members: Readonly<Record<string, string | undefined>>): string => {
  const more = Object.entries(members).flatMap(([name, value]) =>
    value === undefined ? [] : [`${JSON.stringify(name)}:${value}`]
  )
  const head = text.trimEnd().slice(0, -1)
  return more.length === 0 ? text : `${head},${more.join(",")}}`
}

/** An answer as it came, unless it is more than anybody reads. */
export const answered = (name: string, text: string, charsMax: number = textCharsMax): Answered =>
  text.length <= charsMax
    ? { text, failed: false }
    : refused({
        error: {
          code: "answer_too_long",
          message: `The answer of ${name} has ${text.length} characters; ${charsMax} is the most.`,
          hints: ["Ask for less: a smaller limit, or a narrower question. get_run reads a long result in pieces."]
        }
      })
