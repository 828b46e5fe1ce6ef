/**
 * Receives the body of a request within a time limit, and checks its JSON before anything parses it.
 *
 * The request keeps the bytes, so the handler reads them without waiting. A body that arrives too late is answered with 408, and its
 * connection is closed.
 */
import { Context, Effect } from "effect"
import { HttpServerError, type HttpServerRequest } from "effect/http"
import { problem, type ProblemOf } from "../../schema/Errors.ts"
import { containersMax, depthMax, flawedField, jsonFlaw, unstorableIn } from "../../schema/json/JsonScan.ts"

export const bodyBytesMax = 1024 * 1024
/** A megabyte over a slow mobile connection takes about this long; a client that sends a byte per second takes days. */
const bodySecondsMax = 15

/** The time limit in seconds. Tests shorten it. */
export const BodySeconds = Context.Reference("rungate/http/middleware/BodySeconds", {
  defaultValue: () => bodySecondsMax
})

export type BodyProblem = ProblemOf<"invalid_request" | "request_timeout" | "payload_too_large">

export const tooLarge = problem("payload_too_large", "The request body is larger than 1 MiB. Send less in one request.")
const late = (seconds: number) =>
  problem(
    "request_timeout",
    `The request body did not arrive within ${seconds} seconds. Nothing was done; send the request again.`
  )
const unreadable = problem("invalid_request", "The request body could not be read. Send it again.")

/** The error for a body that the client sent wrongly. Null for any other defect. */
export const bodyProblem = (defect: unknown): BodyProblem | null => {
  if (!HttpServerError.isHttpServerError(defect) || defect.reason._tag !== "RequestParseError") return null
  return defect.reason.reason === "BodyTooLarge" ? tooLarge : unreadable
}

/** Reads a body with a Content-Length, which the boundary has compared with the limit already. */
export const readBody = (source: Request, seconds: number): Effect.Effect<ArrayBuffer, BodyProblem> =>
  Effect.callback((resume) => {
    const timer = setTimeout(() => resume(Effect.fail(late(seconds))), seconds * 1000)
    source.arrayBuffer().then(
      (buffer) => {
        clearTimeout(timer)
        resume(Effect.succeed(buffer))
      },
      () => {
        clearTimeout(timer)
        resume(Effect.fail(unreadable))
      }
    )
    return Effect.sync(() => clearTimeout(timer))
  })

/**
 * Receives the body, or fails with 408 if it takes too long.
 *
 * The bytes are stored where Effect's `request.text` looks for them. The time limit is a timer, because a second fiber with `Effect.timeout`
 * would add a twentieth to the time of every request.
 */
export const receiveBody = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<ArrayBuffer, BodyProblem> =>
  Effect.withFiber((fiber) => {
    const seconds = fiber.getRef(BodySeconds)
    const { source, headers } = request
    if (headers["content-length"] !== undefined && source instanceof Request) {
      return Effect.map(readBody(source, seconds), (buffer) => {
        Object.assign(request, { arrayBufferEffect: Effect.succeed(buffer) })
        return buffer
      })
    }
    // Effect counts the bytes of a body without Content-Length.
    return request.arrayBuffer.pipe(
      Effect.mapError((error) => bodyProblem(error) ?? unreadable),
      Effect.timeoutOrElse({ duration: `${seconds} seconds`, orElse: () => Effect.fail(late(seconds)) })
    )
  })

const refused = (path: string, message: string) =>
  problem("invalid_request", `${path === "" ? "The request body" : path} ${message}.`, [{ path, message }])

/** The error for JSON that must not be parsed, found by a scan of its bytes. Null if it may be parsed. */
export const jsonProblem = (bytes: Uint8Array): ProblemOf<"invalid_request"> | null => {
  const flaw = jsonFlaw(bytes)
  if (flaw === null) return null
  if (flaw === "too_deep") return refused(flawedField(bytes), `is nested deeper than ${depthMax} levels`)
  if (flaw === "too_many") return refused(flawedField(bytes), `has more than ${containersMax} objects and arrays`)
  return refused(
    unstorablePath(bytes),
    "has a string with a NUL character or half a surrogate pair, which can't be stored"
  )
}

/** Parses the text to name the field. The text may not be JSON at all. */
const unstorablePath = (bytes: Uint8Array): string => {
  try {
    return unstorableIn(JSON.parse(new TextDecoder().decode(bytes))) ?? ""
  } catch {
    return ""
  }
}
