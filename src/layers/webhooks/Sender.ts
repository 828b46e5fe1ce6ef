/**
 * Sends one webhook: signs it by the Standard Webhooks specification, posts it, and returns the answer.
 *
 * It connects to public addresses only. The address is checked after the name was looked up and before the connection is made, so a name
 * that changes its address in between reaches nothing private. Redirects are not followed.
 */
import { lookup as lookUp } from "node:dns"
import { request as requestHttp } from "node:http"
import { request as requestHttps } from "node:https"
import { Clock, Context, Effect, Layer } from "effect"
import { Settings } from "../platform/Settings.ts"
import { storableText } from "../../schema/json/StorableText.ts"
import { type SignedWebhook, webhookHeaders } from "../../schema/webhooks/Signature.ts"
import { limitRawAnswer } from "./RawAnswerLimit.ts"
import { isPublicAddress, webhookUrl } from "./WebhookUrl.ts"

export interface OutgoingWebhook extends SignedWebhook {
  readonly url: string
}

export interface WebhookAnswer {
  readonly at: Date
  readonly duration_ms: number
  /** Null if there was no answer. */
  readonly status: number | null
  /** The beginning of the answer's body, or why there was none. */
  readonly answer: string
}

/** What receivers of webhooks are commonly given. Those that need longer should store the event and answer at once. */
export const AnswerMillisMax = Context.Reference("rungate/layers/webhooks/AnswerMillisMax", {
  defaultValue: () => 15_000
})
const answerBytesMax = 2_048
/** What those bytes may take on the connection: each may be a part of its own. */
const rawBytesMax = 32 * answerBytesMax

/** The `code` of the error of a connection to a private address. */
export const privateAddressCode = "PRIVATE_ADDRESS"
const privateAddress = () =>
  Object.assign(new Error("the host has a private address, and webhooks are sent to public addresses only"), {
    code: privateAddressCode
  })

type LookedUp = (
  error: Error | null,
  address: string | Array<{ address: string; family: number }>,
  family?: number
) => void

/** All addresses of a host name. */
export type FindAddresses = (
  hostname: string,
  callback: (error: Error | null, addresses: Array<{ address: string; family: number }>) => void
) => void

/** Tests let a name have the addresses that they choose. */
export const HostAddresses = Context.Reference<FindAddresses>("rungate/layers/webhooks/HostAddresses", {
  defaultValue: () => (hostname, callback) => lookUp(hostname, { all: true }, callback)
})

/** Looks a name up for a connection. Without `allowPrivate` it refuses a name if any of its addresses is private. */
export const lookupOf =
  (find: FindAddresses, allowPrivate: boolean) =>
  (hostname: string, options: { readonly all?: boolean | undefined }, callback: LookedUp) =>
    find(hostname, (error, addresses) => {
      if (error !== null) return callback(error, "")
      const [first] = addresses
      if (first === undefined) return callback(new Error("the host has no address"), "")
      if (!allowPrivate && !addresses.every(({ address }) => isPublicAddress(address)))
        return callback(privateAddress(), "")
      return options.all === true ? callback(null, addresses) : callback(null, first.address, first.family)
    })

interface Received {
  readonly status: number | null
  readonly answer: string
}

const unsigned =
  "not sent: the service can't decrypt the endpoint's secret. Rotate the secret, and give the new one to the receiver"
const failed = (answer: string): Received => ({ status: null, answer })

export class WebhookSender extends Context.Service<
  WebhookSender,
  {
    /** Never fails: what went wrong is in the answer. */
    readonly send: (webhook: OutgoingWebhook) => Effect.Effect<WebhookAnswer>
  }
>()("rungate/layers/webhooks/Sender") {
  static readonly layer = Layer.effect(
    WebhookSender,
    Effect.gen(function* () {
      const { webhookAllowPrivate } = yield* Settings
      const answerMillisMax = yield* AnswerMillisMax
      const lookup = lookupOf(yield* HostAddresses, webhookAllowPrivate)

      const post = (webhook: OutgoingWebhook, at: Date) =>
        Effect.callback<Received>((resume) => {
          const checked = webhookUrl(webhook.url, webhookAllowPrivate)
          if (checked._tag === "Refused") return resume(Effect.succeed(failed(`the URL ${checked.message}`)))
          if (webhook.secrets.length === 0) return resume(Effect.succeed(failed(unsigned)))
          const url = new URL(checked.url)
          const options = {
            method: "POST",
            headers: { ...webhookHeaders(webhook, at), "content-length": String(Buffer.byteLength(webhook.body)) },
            // A connection is made for each webhook: a kept one would not be checked again.
            agent: false as const,
            lookup
          }
          const request = (url.protocol === "https:" ? requestHttps : requestHttp)(url, options, (response) => {
            const chunks: Array<Buffer> = []
            let bytes = 0
            const done = () => {
              const text = Buffer.concat(chunks).subarray(0, answerBytesMax).toString("utf8")
              resume(Effect.succeed({ status: response.statusCode ?? null, answer: storableText(text) }))
              request.destroy()
            }
            response.on("data", (chunk: Buffer) => {
              chunks.push(chunk)
              bytes += chunk.length
              if (bytes >= answerBytesMax) done()
            })
            response.on("end", done)
            response.on("error", done)
          })
          limitRawAnswer(request, rawBytesMax)
          request.on("error", (error) => resume(Effect.succeed(failed(storableText(error.message).slice(0, 300)))))
          request.end(webhook.body)
          return Effect.sync(() => request.destroy())
        }).pipe(
          Effect.timeoutOrElse({
            duration: `${answerMillisMax} millis`,
            orElse: () => Effect.succeed(failed(`no answer within ${answerMillisMax / 1000} s`))
          })
        )

      return WebhookSender.of({
        send: Effect.fnUntraced(function* (webhook) {
          const began = yield* Clock.currentTimeMillis
          const at = new Date(began)
          const received = yield* post(webhook, at)
          return { at, duration_ms: (yield* Clock.currentTimeMillis) - began, ...received }
        })
      })
    })
  )
}
