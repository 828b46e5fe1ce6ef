/**
 * Receives a request's body: within a time, and checked before anything parses it.
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

/** So that a test need not wait as long. */
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

/** The client's mistake when a body could not be read; null for a defect of ours. */
export const bodyProblem = (defect: unknown): BodyProblem | null => {
  if (!HttpServerError.isHttpServerError(defect) || defect.reason._tag !== "RequestParseError") return null
  return defect.reason.reason === "BodyTooLarge" ? tooLarge : unreadable
}

/** Reads a body that says its length: the boundary has judged that already. */
const read = (source: Request, seconds: number): Effect.Effect<ArrayBuffer, BodyProblem> =>
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
 * The body, or 408 when it takes too long.
 *
 * What is read is put where the library keeps it, so that the handler's `request.text` finds it: a second fiber with a timeout around
 * the library's own read would cost every request a twentieth of its time.
 */
export const receiveBody = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<ArrayBuffer, BodyProblem> =>
  Effect.withFiber((fiber) => {
    const seconds = fiber.getRef(BodySeconds)
    const { source, headers } = request
    if (headers["content-length"] !== undefined && source instanceof Request) {
      return Effect.map(read(source, seconds), (buffer) => {
        Object.assign(request, { arrayBufferEffect: Effect.succeed(buffer) })
        return buffer
      })
    }
    // The library counts the bytes of a body that does not say its length.
    return request.arrayBuffer.pipe(
      Effect.mapError((error) => bodyProblem(error) ?? unreadable),
      Effect.timeoutOrElse({ duration: `${seconds} seconds`, orElse: () => Effect.fail(late(seconds)) })
    )
  })

const refused = (path: string, message: string) =>
  problem("invalid_request", `${path === "" ? "The request body" : path} ${message}.`, [{ path, message }])

/** What is wrong with a JSON text, found without parsing it; null when it may be parsed. */
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

/** The text has to be parsed to name the field; it may be no JSON at all. */
const unstorablePath = (bytes: Uint8Array): string => {
  try {
    return unstorableIn(JSON.parse(new TextDecoder().decode(bytes))) ?? ""
  } catch {
    return ""
  }
}
