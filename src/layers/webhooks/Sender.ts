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
import { Webhook } from "standardwebhooks"
import { Settings } from "../platform/Settings.ts"
import { storableText } from "../../schema/json/StorableText.ts"
import { isPublicAddress, webhookUrl } from "./WebhookUrl.ts"

export interface OutgoingWebhook {
  readonly url: string
  /** The same for each attempt and for each replay. */
  readonly event_id: string
  readonly body: string
  /** The first is the current one. Each signs, so that a receiver may verify with any of them. */
  readonly secrets: ReadonlyArray<string>
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
const answerMillisMax = 15_000
const answerBytesMax = 2_048

const privateAddress = "the host has a private address, and webhooks are sent to public addresses only"

type LookedUp = (
  error: Error | null,
  address: string | Array<{ address: string; family: number }>,
  family?: number
) => void

/** Looks a name up and refuses it if any of its addresses is private. */
const publicLookup = (hostname: string, options: { readonly all?: boolean | undefined }, callback: LookedUp) =>
  lookUp(hostname, { all: true }, (error, addresses) => {
    if (error !== null) return callback(error, "")
    const [first] = addresses
    if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address)))
      return callback(new Error(privateAddress), "")
    return options.all === true ? callback(null, addresses) : callback(null, first.address, first.family)
  })

const headersOf = ({ event_id, body, secrets }: OutgoingWebhook, at: Date) => ({
  "content-type": "application/json",
  "content-length": String(Buffer.byteLength(body)),
  "user-agent": "Rungate-Webhooks/1",
  "webhook-id": event_id,
  "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
  "webhook-signature": secrets.map((secret) => new Webhook(secret).sign(event_id, at, body)).join(" ")
})

interface Received {
  readonly status: number | null
  readonly answer: string
}

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

      const post = (webhook: OutgoingWebhook, at: Date) =>
        Effect.callback<Received>((resume) => {
          const checked = webhookUrl(webhook.url, webhookAllowPrivate)
          if (checked._tag === "Refused") return resume(Effect.succeed(failed(`the URL ${checked.message}`)))
          const url = new URL(checked.url)
          const options = {
            method: "POST",
            headers: headersOf(webhook, at),
            // A connection is made for each webhook: a kept one would not be checked again.
            agent: false as const,
            ...(webhookAllowPrivate ? {} : { lookup: publicLookup })
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
