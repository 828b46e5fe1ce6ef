/**
 * Sends one request to a provider and reads its response. It follows no redirects, because a redirect would carry the account's key to
 * another host. It never fails: a broken connection is part of the answer.
 */
import { Effect } from "effect"
import { endOfStatus, type RequestEnd } from "../../schema/catalog/Doubt.ts"
import type { Failure, Reply } from "../../schema/catalog/Provider.ts"
import type { AuthorizedRequest, ProviderRequest } from "./ProviderRequest.ts"
import { connectionFailure, failedBeforeSending, readReply } from "./ProviderResponse.ts"

/** The runtime repeats these methods when a reused connection breaks. They get a new connection, so that they are sent once. */
const repeatedMethods = new Set(["PUT", "DELETE"])

export interface SendResult {
  readonly reply: Reply | Failure
  readonly end: RequestEnd
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

export const send = (
  request: Fetch,
  { url, headers, redact }: AuthorizedRequest,
  { method, body }: Pick<ProviderRequest, "method" | "body">
) =>
  Effect.promise(async (signal): Promise<SendResult> => {
    const connection = new AbortController()
    let status: number | null = null
    try {
      const response = await request({
        url,
        method,
        headers,
        body,
        signal: AbortSignal.any([signal, connection.signal])
      })
      status = response.status
      const reply = await readReply(response, redact)
      const end = endOfStatus(status)
      return { reply, end: "_tag" in reply && end === "read" ? "unreadable" : end }
    } catch (error) {
      const end = status === null ? (failedBeforeSending(error) ? "unsent" : "no_answer") : endOfStatus(status)
      return { reply: connectionFailure(error), end: end === "read" ? "no_answer" : end }
    } finally {
      // Stops a response that was refused half-way. After a complete response this does nothing.
      connection.abort()
    }
  })
