/**
 * Receives the body of a request within a time limit, and checks its JSON before anything parses it.
 *
 * The request keeps the bytes, so the handler reads them without waiting. A body that arrives too late is answered with 408, and its
 * connection is closed.
 */
import { Context, Effect } from "effect"
import { HttpServerError, type HttpServerRequest } from "effect/http"
import { problem, type ProblemOf } from "../../schema/Errors.ts"
import { bytesPerRequest } from "./Limits.ts"
import { containersMax, depthMax, flawedField, jsonFlaw, unstorableIn } from "../../schema/json/JsonScan.ts"
import { parsedOrText } from "../../schema/json/Json.ts"

export const bodyBytesMax = 1024 * 1024
/** 10,000 runs of 800 bytes. */
export const batchBytesMax = 8 * bodyBytesMax

/** The limits of a body. Those of a batch and of an import are higher, because they are many rows in one request. */
export interface BodyLimits {
  readonly bytes: number
  /** Objects and arrays. */
  readonly containers: number
  /** A body counts as one request of the rate limit per started amount of these bytes. */
  readonly bytesPerRequest: number
  /** How many times longer than others it may take to arrive. */
  readonly patience: number
}

const ordinary: BodyLimits = { bytes: bodyBytesMax, containers: containersMax, bytesPerRequest, patience: 1 }
const ofBatch: BodyLimits = {
  bytes: batchBytesMax,
  containers: 4 * containersMax,
  bytesPerRequest: bodyBytesMax / 4,
  patience: 4
}

/** `url` has the path and the query. */
export const bodyLimits = (url: string): BodyLimits =>
  /^\/v1\/(batches|(operator\/)?opt-outs\/import)($|\?)/.test(url) ? ofBatch : ordinary
/** A megabyte over a slow mobile connection takes about this long; a client that sends a byte per second takes days. */
const bodySecondsMax = 15

/** The time limit in seconds. Tests shorten it. */
export const BodySeconds = Context.Reference("rungate/http/middleware/BodySeconds", {
  defaultValue: () => bodySecondsMax
})

export type BodyProblem = ProblemOf<"invalid_request" | "request_timeout" | "payload_too_large">

export const tooLarge = problem(
  "payload_too_large",
  "The request body is larger than 1 MiB, or than 8 MiB for POST /v1/batches and imports. Send less in one request."
)
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
    const { source, headers, url } = request
    const seconds = fiber.getRef(BodySeconds) * bodyLimits(url).patience
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
export const jsonProblem = (bytes: Uint8Array, most = containersMax): ProblemOf<"invalid_request"> | null => {
  const flaw = jsonFlaw(bytes, most)
  if (flaw === null) return null
  if (flaw === "too_deep") return refused(flawedField(bytes, most), `is nested deeper than ${depthMax} levels`)
  if (flaw === "too_many") return refused(flawedField(bytes, most), `has more than ${most} objects and arrays`)
  // Parsed to name the field. The text may not be JSON at all.
  const path = unstorableIn(parsedOrText(new TextDecoder().decode(bytes))) ?? ""
  return refused(path, "has a string with a NUL character or half a surrogate pair, which can't be stored")
}
