/**
 * Sends one request to a provider and reads its response. It follows no redirects, because a redirect would carry the account's key to
 * another host. It never fails: a broken connection is part of the answer.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { Effect } from "effect"
import { endOfStatus, type RequestEnd } from "../../schema/catalog/Doubt.ts"
import type { Failure, Reply } from "../../schema/catalog/Provider.ts"
import type { AuthorizedRequest, ProviderRequest } from "./ProviderRequest.ts"
import { smallAnswerBytes } from "./AnswerBudget.ts"
import { connectionFailure, failedBeforeSending, type ReplyReader, replyReader } from "./ProviderResponse.ts"

/** The runtime repeats these methods when a reused connection breaks. They get a new connection, so that they are sent once. */
const repeatedMethods = new Set(["PUT", "DELETE"])

export interface SendResult {
  readonly reply: Reply | Failure
  readonly end: RequestEnd
  /** What the reply needs in memory. */
  readonly bytes: number
}

export type Fetch = (request: {
  readonly url: URL
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | FormData | undefined
  readonly signal: AbortSignal
}) => Promise<Response>

export const ordinaryFetch: Fetch = ({ url, body, method, ...rest }) =>
  fetch(url, {
    method,
    ...rest,
    ...(body === undefined ? {} : { body }),
    // A redirect would carry the account's key to another host.
    redirect: "manual",
    keepalive: !repeatedMethods.has(method)
  })

/** How the response is read. */
export interface Receiving {
  readonly bytesMax: number
  /** Reads the rest of a large response, after it has waited for room. */
  readonly room: (read: Effect.Effect<SendResult>) => Effect.Effect<SendResult>
  /** How many milliseconds the response waits before it is parsed, which takes so many. */
  readonly turn: (millis: number) => number
}

export const send = (
  request: Fetch,
  { url, headers, redact }: AuthorizedRequest,
  { method, body }: Pick<ProviderRequest, "method" | "body">,
  { bytesMax, room, turn }: Receiving
): Effect.Effect<SendResult> =>
  Effect.suspend(() => {
    const connection = new AbortController()
    const keyed = Object.keys(headers).some((name) => name.toLowerCase() === "idempotency-key")
    let status: number | null = null
    let reader: ReplyReader | null = null
    /** A part of the work. Null if the rest of the response is read later. */
    const part = (work: (signal: AbortSignal) => Promise<Reply | Failure | null>) =>
      Effect.promise(async (signal): Promise<SendResult | null> => {
        try {
          const reply = await work(signal)
          if (reply === null) return null
          const failed = "_tag" in reply
          const end = endOfStatus(status ?? 0, keyed)
          return {
            reply,
            end: failed && end === "read" ? "unreadable" : end,
            bytes: failed ? 0 : (reader?.size() ?? 0)
          }
        } catch (error) {
          const end =
            status === null ? (failedBeforeSending(error) ? "unsent" : "no_answer") : endOfStatus(status, keyed)
          return { reply: connectionFailure(error), end: end === "read" ? "no_answer" : end, bytes: 0 }
        }
      })
    const first = part(async (signal) => {
      const response = await request({
        url,
        method,
        headers,
        body,
        signal: AbortSignal.any([signal, connection.signal])
      })
      status = response.status
      reader = replyReader(response, redact, bytesMax, async (millis) => {
        const wait = turn(millis)
        if (wait > 0) await sleep(wait, undefined, { signal: connection.signal })
      })
      return await reader.read(smallAnswerBytes)
    })
    const rest = Effect.flatMap(
      part(() => reader?.read(bytesMax) ?? Promise.reject(new Error("the response was not begun"))),
      (result) =>
        result === null ? Effect.die(new Error("a response paused above its limit")) : Effect.succeed(result)
    )
    return Effect.flatMap(first, (result) => (result === null ? room(rest) : Effect.succeed(result))).pipe(
      // Stops a response that was refused or left half-way. After a complete response this does nothing.
      Effect.ensuring(Effect.sync(() => connection.abort()))
    )
  })
