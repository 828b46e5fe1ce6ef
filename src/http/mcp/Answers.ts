/**
 * Turns responses of the API into answers of tools: the JSON unchanged, errors with hints that name tools.
 *
 * API errors keep code, message and details. Without a response, the codes are those of the typed client (`unreachable`,
 * `connection_lost`, `unexpected_answer`).
 */
import { Effect } from "effect"
import { publicErrorIn } from "../api/shapes/PublicError.ts"
import { type Answer, type NoAnswer, Service } from "./Service.ts"
import { type Answered, type Refusal, refused } from "./Tool.ts"

/** Hosts truncate longer answers or end the conversation. */
const textCharsMax = 400_000

export const person = "This needs a person. Stop and tell them."
const find = "Search the catalog with the tool discover."
const later = "Nothing was executed. Call the tool again in a minute."

/** Hints that do not depend on the caller. */
const hints: Readonly<Record<string, string>> = {
  forbidden: person,
  capability_not_found: find,
  endpoint_not_found: find,
  provider_not_found: find,
  provider_not_available: "The tool inspect shows which providers are available now; discover finds alternatives.",
  idempotency_key_reused:
    "This idempotency_key belongs to another request. Omit it for a new run, or repeat the original request.",
  rate_limited: later,
  service_unavailable: later,
  internal_error: "Report the request_id to the operator of the service."
}

/** The hints for an error. They may depend on the caller and the tool. */
export const advice = (code: string, name: string): Effect.Effect<ReadonlyArray<string>, never, Service> =>
  Service.useSync((service) => {
    const hint = service.hints[code] ?? hints[code]
    if (hint !== undefined) return [hint]
    if (code === "invalid_request" && name === "run") {
      return ["Nothing was run. Read the input schema with inspect, correct the arguments and call run again."]
    }
    const again = "Correct the arguments and call the tool again."
    if (name === "allowances") {
      if (code === "not_found") return [`Call ${name} with action list to read the ids.`]
      return code === "invalid_request" ? [again] : []
    }
    return code === "invalid_request" ? [`${again} list_runs lists the existing runs.`] : []
  })

export interface ToolError {
  readonly code: string
  readonly message: string
  readonly details?: Refusal["error"]["details"]
  readonly request_id?: string | undefined
  readonly idempotency_key?: string | undefined
  /** Replaces the hint for the code. */
  readonly hint?: string | undefined
}

/** For a run with an unknown outcome. */
export type Unsettled = Pick<ToolError, "idempotency_key" | "hint">

/** For the tool `name`. */
export const refusal = Effect.fnUntraced(function* (name: string, error: ToolError) {
  const { code, message, details, request_id, idempotency_key, hint } = error
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
  const body = publicErrorIn(answer.text)
  if (body === null) {
    const message = `${url} answered HTTP ${answer.status} and no error of Rungate's.`
    return yield* refusal(name, { code: "unexpected_answer", message, ...more })
  }
  const { code, message } = body.error
  // Steps are requests and commands, and a model has neither: `hints` names its tools.
  const details = body.error.details?.filter(({ cli }) => cli === undefined) ?? []
  return yield* refusal(name, {
    code,
    message: code === "unauthorized" ? (missing ?? message) : message,
    ...(details.length === 0 ? {} : { details }),
    request_id: body.request_id,
    ...more
  })
})

/** The refusal when there was no response. */
export const unanswered = (name: string, { code, message }: NoAnswer, more: Unsettled = {}) =>
  refusal(name, { code, message, ...more })

/** Asks, and answers what `shown` makes of the response, or the refusal in it. `lost` is for a lost response. */
export const replied = <R>(
  name: string,
  asking: Effect.Effect<Answer, NoAnswer, Service>,
  shown: (text: string) => Effect.Effect<Answered, never, R>,
  lost: Unsettled = {}
) =>
  asking.pipe(
    Effect.flatMap((answer) =>
      Effect.flatMap(refusalIn(name, answer), (refused) =>
        refused === null ? shown(answer.text) : Effect.succeed(refused)
      )
    ),
    Effect.catch((error) => unanswered(name, error, error.code === "connection_lost" ? lost : {}))
  )

/** Asks, and answers the unchanged response. */
export const reply = (name: string, asking: Effect.Effect<Answer, NoAnswer, Service>, charsMax?: number) =>
  replied(name, asking, (text) => Effect.succeed(answered(name, text, charsMax)))

/** Appends members to the text of a non-empty JSON object. */
export const withMembers = (text: string, members: Readonly<Record<string, string | undefined>>): string => {
  const more = Object.entries(members).flatMap(([name, value]) =>
    value === undefined ? [] : [`${JSON.stringify(name)}:${value}`]
  )
  const head = text.trimEnd().slice(0, -1)
  return more.length === 0 ? text : `${head},${more.join(",")}}`
}

/** The unchanged response, or a refusal when it is too long. */
export const answered = (name: string, text: string, charsMax: number = textCharsMax): Answered =>
  text.length <= charsMax
    ? { text, failed: false }
    : refused({
        error: {
          code: "answer_too_long",
          message: `The answer of ${name} has ${text.length} characters. The limit is ${charsMax}.`,
          hints: ["Use a smaller limit or a narrower request. get_run reads a long result in parts."]
        }
      })
