/** Webhook endpoints: people create and change them, and see and replay what was delivered. */
import { Clock, Effect, Schema } from "effect"
import { EventFeed } from "../../actors/events/EventFeed.ts"
import { EventLog } from "../../layers/events/EventLog.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { Signals, webhooksDue } from "../../layers/queues/Signals.ts"
import { type DeliveryRow, WebhookDeliveries } from "../../layers/webhooks/Deliveries.ts"
import { endpointsMax, WebhookEndpoints } from "../../layers/webhooks/Endpoints.ts"
import { withoutNulls } from "../../schema/defined.ts"
import { refused } from "../../schema/Errors.ts"
import { looksLike } from "../../schema/Ids.ts"
import { fromOf, toOf } from "../../schema/Period.ts"
import { NewWebhookEndpoint, WebhookDelivery, WebhookEndpoint } from "../../schema/nouns/Webhook.ts"
import { listWebhooks } from "../../schema/Steps.ts"
import { webhookUrl } from "../../layers/webhooks/WebhookUrl.ts"
import { group } from "./group.ts"
import type { WebhookEndpointChange, WebhookEndpointRequest } from "../api/Webhooks.ts"
import { pageOf } from "./ListPage.ts"
import { organizationNoun } from "./OrganizationNoun.ts"
import { makeAsCaller } from "../middleware/Bearer.ts"
import { CurrentCaller } from "../api/shapes/Common.ts"

const graceSecondsDefault = 86_400

export const webhookView = Schema.encodeSync(WebhookEndpoint)
const newEndpointJson = Schema.encodeSync(NewWebhookEndpoint)
const deliveryJson = Schema.encodeSync(WebhookDelivery)

const deliveryView = (row: DeliveryRow) =>
  deliveryJson({ ...row, id: row.delivery_id, type: row.kind, request: { body: row.body } })

const { unknown, one, removal } = organizationNoun("whe", "webhook endpoint", "endpoint_id", listWebhooks)
const unknownDelivery = (delivery_id: string) =>
  refused("path.delivery_id", "is not a delivery of this endpoint", `This endpoint has no delivery "${delivery_id}".`)

/** The handlers and the configuration of an organization use this. */
export const makeWebhookWrites = Effect.gen(function* () {
  const endpoints = yield* WebhookEndpoints
  const log = yield* EventLog
  const feed = yield* EventFeed
  const { webhookAllowPrivate } = yield* Settings

  const checkedUrl = (text: string) => {
    const checked = webhookUrl(text, webhookAllowPrivate)
    return checked._tag === "Refused" ? refused("url", checked.message) : Effect.succeed(checked.url)
  }

  const create = Effect.fnUntraced(function* (payload: typeof WebhookEndpointRequest.Type) {
    const { org_id } = yield* CurrentCaller
    const url = yield* checkedUrl(payload.url)
    yield* feed.listen(org_id)
    const position = (yield* log.heads([org_id])).get(org_id) ?? 0n
    const created = yield* endpoints.create(org_id, { url, events: [...new Set(payload.events)], position })
    if (created !== null) return created
    return yield* refused(
      "url",
      `can't be added: an organization has at most ${endpointsMax} webhook endpoints; remove one first`
    )
  })

  const change = Effect.fnUntraced(function* (endpoint_id: string, payload: typeof WebhookEndpointChange.Type) {
    const { org_id } = yield* CurrentCaller
    const { url, events, status } = withoutNulls(payload)
    return yield* endpoints.change(org_id, endpoint_id, {
      url: url === undefined ? url : yield* checkedUrl(url),
      events: events === undefined ? events : [...new Set(events)],
      paused: status === undefined ? status : status === "paused"
    })
  })

  return { checkedUrl, create, change }
})

export const WebhooksHandlers = group(
  "webhooks",
  Effect.fnUntraced(function* (handlers) {
    const endpoints = yield* WebhookEndpoints
    const deliveries = yield* WebhookDeliveries
    const signals = yield* Signals
    const asCaller = yield* makeAsCaller
    const writes = yield* makeWebhookWrites

    const endpointOf = one(endpoints.find)
    const notPaused = ({ status }: WebhookEndpoint) =>
      status === "active"
        ? Effect.void
        : refused("path.endpoint_id", "is paused: set its status to active before you replay events")

    return handlers.handleAll({
      list: Effect.fnUntraced(function* () {
        const { org_id } = yield* CurrentCaller
        return { items: (yield* endpoints.list(org_id)).map((row) => webhookView(row)), next_cursor: null }
      }),
      create: Effect.fnUntraced(function* ({ payload }) {
        const { row, secret } = yield* asCaller(writes.create(payload))
        return newEndpointJson({ ...row, secret })
      }),
      get: ({ params: { endpoint_id } }) => Effect.map(endpointOf(endpoint_id), (row) => webhookView(row)),
      change: Effect.fnUntraced(function* ({ params: { endpoint_id }, payload }) {
        yield* endpointOf(endpoint_id)
        const changed = yield* asCaller(writes.change(endpoint_id, payload))
        yield* signals.publish([webhooksDue])
        return changed === null ? yield* unknown(endpoint_id) : webhookView(changed)
      }),
      remove: removal(asCaller, endpoints.remove),
      rotate: Effect.fnUntraced(function* ({ params: { endpoint_id }, payload }) {
        const { org_id } = yield* CurrentCaller
        yield* endpointOf(endpoint_id)
        const rotated = yield* asCaller(
          endpoints.rotate(org_id, endpoint_id, payload.grace_seconds ?? graceSecondsDefault)
        )
        if (rotated === null) return yield* unknown(endpoint_id)
        return newEndpointJson({ ...rotated.row, secret: rotated.secret })
      }),
      deliveries: Effect.fnUntraced(function* ({ params: { endpoint_id }, query }) {
        yield* endpointOf(endpoint_id)
        const status = query.status ?? null
        const read = (before: string | null, limit: number) => deliveries.list(endpoint_id, { status, before, limit })
        return yield* pageOf("whd", query, read, deliveryView)
      }),
      replay: Effect.fnUntraced(function* ({ params: { endpoint_id, delivery_id } }) {
        yield* notPaused(yield* endpointOf(endpoint_id))
        const row = looksLike("whd", delivery_id) ? yield* deliveries.replay(endpoint_id, delivery_id) : null
        yield* signals.publish([webhooksDue])
        return row === null ? yield* unknownDelivery(delivery_id) : deliveryView(row)
      }),
      replayAll: Effect.fnUntraced(function* ({ params: { endpoint_id }, payload }) {
        yield* notPaused(yield* endpointOf(endpoint_id))
        const from = fromOf(payload.from)
        const to = toOf(payload.to ?? new Date(yield* Clock.currentTimeMillis).toISOString())
        const replayed = yield* deliveries.replayAll(endpoint_id, { from, to, failedOnly: payload.status !== "all" })
        yield* signals.publish([webhooksDue])
        return { replayed }
      })
    })
  })
)
