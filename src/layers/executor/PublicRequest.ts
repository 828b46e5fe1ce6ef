/**
 * Sends a request to an address that a customer chose. As for webhooks, the host's addresses are checked when the connection is made, so a
 * name that changes its address in between reaches nothing private.
 */
import { type IncomingMessage, request as requestHttp } from "node:http"
import { request as requestHttps } from "node:https"
import type { Readable } from "node:stream"
import { limitRawAnswer } from "../webhooks/RawAnswerLimit.ts"
import type { lookupOf } from "../webhooks/Sender.ts"
import { isPublicAddress } from "../webhooks/WebhookUrl.ts"

export interface PublicRequest {
  readonly url: URL
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | FormData | undefined
  readonly signal: AbortSignal
}

/** The bytes of the body, and the content type that a form needs. */
const encoded = async (body: string | FormData | undefined) => {
  if (body === undefined) return { bytes: null, headers: {} }
  const response = new Response(body)
  const type = response.headers.get("content-type")
  const bytes = Buffer.from(await response.arrayBuffer())
  return { bytes, headers: typeof body === "string" || type === null ? {} : { "content-type": type } }
}

const privateAddress = () => Object.assign(new Error("the address is private"), { code: "PRIVATE_ADDRESS" })

/** What an answer of 2 MiB, the most that is read, may take on the connection, and more than any server takes for it. */
const rawBytesMax = 16 * 1_024 * 1_024

/** An address that is written as a number is not looked up. */
const isNumber = (host: string): boolean => /^\[.*\]$|^[\d.]+$/.test(host)

export const publicRequest =
  (lookup: ReturnType<typeof lookupOf>, allowPrivate: boolean) =>
  async ({ url, method, headers, body, signal }: PublicRequest): Promise<Response> => {
    const { bytes, headers: own } = await encoded(body)
    const host = url.hostname
    if (
      !allowPrivate &&
      (url.protocol !== "https:" || (isNumber(host) && !isPublicAddress(host.replace(/^\[|\]$/g, ""))))
    )
      throw privateAddress()
    return await new Promise((resolve, reject) => {
      const length = bytes === null ? {} : { "content-length": String(bytes.byteLength) }
      const options = {
        method,
        headers: { "accept-encoding": "identity", ...headers, ...own, ...length },
        // A connection is made for each call: a kept one would not be checked again.
        agent: false as const,
        lookup,
        signal
      }
      const request = (url.protocol === "https:" ? requestHttps : requestHttp)(url, options, (answer) => {
        // What throws here, no promise catches: it would end the process.
        try {
          resolve(responseOf(answer))
        } catch (error) {
          answer.destroy()
          reject(error)
        }
      })
      limitRawAnswer(request, rawBytesMax)
      request.on("error", reject)
      request.end(bytes ?? undefined)
    })
  }

/** Throws for a status such as 999, which a server may send and a `Response` may not have. */
const responseOf = (answer: IncomingMessage): Response => {
  const status = answer.statusCode ?? 502
  const fields = Object.entries(answer.headers).flatMap(
    ([name, value]): ReadonlyArray<[string, string]> =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]]
  )
  const empty = [101, 204, 205, 304].includes(status)
  if (empty) answer.resume()
  const stream = empty ? null : new ReadableStream<Uint8Array>(sourceOf(answer))
  return new Response(stream, { status, headers: fields })
}

/** Reads a response as the reader asks for it, and closes the connection when the reader stops. */
const sourceOf = (answer: Readable): UnderlyingDefaultSource<Uint8Array> => {
  const chunks: AsyncIterator<Buffer> = answer[Symbol.asyncIterator]()
  return {
    pull: async (controller) => {
      const { done, value } = await chunks.next()
      if (done === true) controller.close()
      else controller.enqueue(new Uint8Array(value))
    },
    cancel: () => {
      answer.destroy()
    }
  }
}
