/**
 * Stores the deliveries of events to webhook endpoints, and decides which of them are due.
 *
 * Each event becomes one delivery for each endpoint. A process that claims a delivery has a minute to record the answer. After that another
 * process repeats the attempt, so a delivery is attempted at least once, always with the same event id.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { crashPoint } from "../platform/CrashPoint.ts"
import { newId } from "../platform/Ids.ts"
import { Settings } from "../platform/Settings.ts"
import { EventLog } from "../events/EventLog.ts"
import {
  places,
  placesOfEndpoint,
  placesOfFailing,
  placesOfFailingEndpoint,
  placesOfOrganization,
  type Sending,
  slowMillis
} from "../../schema/webhooks/Shares.ts"
import { oneNumber, oneRowOf, rowsOf, tableOf, textValues, texts } from "../postgres/Rows.ts"
import { countFree } from "../usage/freeStorage.ts"
import { PauseMails } from "./PauseMails.ts"
import { openedSecret } from "./Secrets.ts"
import type { WebhookAnswer } from "./Sender.ts"

const DueDelivery = Schema.Struct({
  delivery_id: Schema.String,
  endpoint_id: Schema.String,
  org_id: Schema.String,
  event_id: Schema.String,
  url: Schema.String,
  body: Schema.String,
  attempts: Schema.Int,
  secrets: Schema.Array(Schema.String),
  failing: Schema.Boolean,
  failing_since: Schema.NullOr(Schema.Date)
})
export type DueDelivery = typeof DueDelivery.Type

/** One attempt as the list of deliveries shows it. */
export const Attempted = Schema.Struct({
  at: Schema.String,
  duration_ms: Schema.Finite,
  status: Schema.NullOr(Schema.Int),
  answer: Schema.String
})

export const DeliveryRow = Schema.Struct({
  delivery_id: Schema.String,
  event_id: Schema.String,
  kind: Schema.String,
  happened_at: Schema.Date,
  body: Schema.String,
  status: Schema.Literals(["pending", "delivered", "failed"]),
  attempts: Schema.Int,
  next_attempt_at: Schema.NullOr(Schema.Date),
  answers: Schema.Array(Attempted),
  created_at: Schema.Date,
  delivered_at: Schema.NullOr(Schema.Date)
})
export type DeliveryRow = typeof DeliveryRow.Type

const dueRows = rowsOf(DueDelivery.fields)
const deliveryRows = rowsOf(DeliveryRow.fields)
const followerRows = rowsOf({
  endpoint_id: Schema.String,
  events: Schema.Array(Schema.String),
  position: Schema.BigInt
})
const backlogRow = oneRowOf({ due: Schema.Int, paused: Schema.Int })

/** How long a process may take to send a webhook and record the answer. Longer than the time that a receiver has to answer. */
const claimSeconds = 60
const recordedAs = { Delivered: "delivered", Retry: "retried", Failed: "failed" } as const
const timestampOf = (text: string): string => decodeTimestamp(text).timestamp
const decodeTimestamp = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ timestamp: Schema.String })))
const answersMax = 10
/** What a delivery stores, with its entries in indexes. */
const deliveryBytes = 1_024
/** Of the event that ends a run at no charge. */
const isFree = /"charged":(null|"0\.00")/
/** Slow endpoints that a process remembers. */
const slowMax = 10_000
/** The newest deliveries of an endpoint: more than overlap with an attempt, which takes seconds. */
const overlapMax = 500
const keepDays = 30
/** Deliveries that one statement deletes, so that it ends within the statement timeout. */
const forgetMax = 5_000
const replayMax = 10_000

/** Attempts of this process since its start, by what followed from them. */
export interface Recorded {
  readonly delivered: number
  readonly retried: number
  readonly failed: number
}

export type Outcome =
  | { readonly _tag: "Delivered" }
  | { readonly _tag: "Retry"; readonly inMillis: number }
  | { readonly _tag: "Failed"; readonly pause: "gone" | "failing" | null }

export class WebhookDeliveries extends Context.Service<
  WebhookDeliveries,
  {
    /**
     * Makes deliveries of an organization's next events and moves its endpoints' positions, in one transaction. Returns true if there may
     * be more events.
     */
    readonly fanOut: (org_id: string) => Effect.Effect<boolean>
    /** Organizations whose log has events that their endpoints have not reached. */
    readonly behind: Effect.Effect<ReadonlyArray<string>>
    /** Organizations with endpoints, whose logs are kept. */
    readonly followers: Effect.Effect<ReadonlyArray<string>>
    /**
     * Claims due deliveries for the places that `sending` leaves free in this process, in the order in which organizations get them. It
     * starts with the organization behind `after`, and gives nobody more than the shares of schema/webhooks/Shares.ts.
     */
    readonly claim: (sending: ReadonlyArray<Sending>, after: string) => Effect.Effect<ReadonlyArray<DueDelivery>>
    readonly record: (delivery: DueDelivery, answer: WebhookAnswer, outcome: Outcome) => Effect.Effect<void>
    /** Newest first. */
    readonly list: (
      endpoint_id: string,
      filter: { readonly status: string | null; readonly before: string | null; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<DeliveryRow>>
    /** Makes a delivery due again, with all its attempts before it. Null if the endpoint has no such delivery. */
    readonly replay: (endpoint_id: string, delivery_id: string) => Effect.Effect<DeliveryRow | null>
    /** Makes deliveries of events of a time due again, at most 10,000. Returns how many. */
    readonly replayAll: (
      endpoint_id: string,
      span: { readonly from: Date; readonly to: Date; readonly failedOnly: boolean }
    ) => Effect.Effect<number>
    /** Deletes deliveries of events older than 30 days that have ended, or whose endpoint is paused. Returns how many: call it again until there are none. */
    readonly forget: Effect.Effect<number>
    /** Deliveries that are due and that no process has claimed, and endpoints that the service has paused. */
    readonly backlog: Effect.Effect<{ readonly due: number; readonly paused: number }>
    readonly recorded: () => Recorded
  }
>()("rungate/layers/webhooks/Deliveries") {
  /** Whether an endpoint has events of its log or deliveries ahead. */
  static readonly due = () => `EXISTS (
    SELECT FROM webhook_endpoints endpoint WHERE paused IS NULL AND (
      EXISTS (SELECT FROM event_heads head WHERE head.org_id = endpoint.org_id AND head.position > endpoint.position)
      OR EXISTS (SELECT FROM webhook_deliveries d WHERE d.endpoint_id = endpoint.endpoint_id AND status = 'pending' AND next_attempt_at <= now())))`

  static readonly layer = Layer.effect(
    WebhookDeliveries,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const log = yield* EventLog
      const mails = yield* PauseMails
      /** Endpoints whose last answer was slow. */
      const slow = new Set<string>()
      const recorded = { delivered: 0, retried: 0, failed: 0 }
      const columns = sql.literal(
        "delivery_id, event_id, kind, happened_at, body, status, attempts, next_attempt_at, answers, created_at, delivered_at"
      )
      const settings = yield* Settings
      /** Without the secrets that can't be decrypted. */
      const opened = (delivery: DueDelivery): DueDelivery => {
        const { encryptionKeys } = settings.current()
        const secrets = delivery.secrets.map((stored) => openedSecret(encryptionKeys, delivery.endpoint_id, stored))
        return { ...delivery, secrets: secrets.filter((secret) => secret !== null) }
      }
      const eventsAtOnce = 500
      const claimEnd = sql`now() + make_interval(secs => ${claimSeconds}::int)`

      const fanOut: WebhookDeliveries["Service"]["fanOut"] = (org_id) =>
        Effect.gen(function* () {
          const followers = yield* followerRows(sql`
            SELECT endpoint_id, events, position FROM webhook_endpoints WHERE org_id = ${org_id} AND paused IS NULL
            ORDER BY endpoint_id FOR UPDATE`)
          if (followers.length === 0) return false
          const from = followers.reduce(
            (least, { position }) => (position < least ? position : least),
            followers[0]?.position ?? 0n
          )
          const query = { org_id, after: from, run_id: null, kinds: null, limit: eventsAtOnce }
          const { events, position: reached } = yield* log.after(query)
          if (reached <= from) return false
          const rows = followers.flatMap(({ endpoint_id, events: kinds, position }) =>
            events
              .filter((event) => event.position > position && kinds.includes(event.kind))
              .map(({ id, kind, text }) => ({
                delivery_id: newId("whd"),
                endpoint_id,
                event_id: id,
                kind,
                happened_at: timestampOf(text),
                body: text
              }))
          )
          if (rows.length > 0)
            yield* sql`
              INSERT INTO webhook_deliveries (delivery_id, endpoint_id, event_id, kind, happened_at, body, next_attempt_at)
              SELECT delivery_id, endpoint_id, event_id, kind, happened_at, body, now()
              FROM json_to_recordset(${JSON.stringify(rows)}::json) AS row
                (delivery_id text, endpoint_id text, event_id text, kind text, happened_at timestamptz, body text)
              ON CONFLICT ON CONSTRAINT webhook_once DO NOTHING`
          const free = new Set(events.flatMap(({ run_id, text }) => (isFree.test(text) ? [run_id] : [])))
          const freeIds = new Set(events.flatMap(({ id, run_id }) => (run_id !== null && free.has(run_id) ? [id] : [])))
          const bytes = rows.filter(({ event_id }) => freeIds.has(event_id)).length * deliveryBytes
          if (bytes > 0)
            yield* sql`WITH n AS (SELECT 1)${countFree(sql, sql`(VALUES (${org_id}::text, ${bytes}::bigint))`)} SELECT FROM n`
          yield* sql`
            UPDATE webhook_endpoints SET position = greatest(position, ${String(reached)}::bigint)
            WHERE org_id = ${org_id} AND paused IS NULL`
          yield* crashPoint("webhooks.before_commit")
          return events.length >= eventsAtOnce
        }).pipe(sql.withTransaction, Effect.orDie)

      const claim: WebhookDeliveries["Service"]["claim"] = (sending, after) =>
        dueRows(sql`
          WITH busy AS (
            SELECT * FROM ${tableOf("sending", sending, { org_id: texts, endpoint_id: texts })}
          ), due AS (
            SELECT delivery.delivery_id, endpoint.endpoint_id, endpoint.org_id, failing,
              coalesce(of_org.count, 0) + row_number() OVER (PARTITION BY endpoint.org_id ORDER BY failing, delivery.next_attempt_at)
                AS place
            FROM webhook_endpoints endpoint
            CROSS JOIN LATERAL (SELECT endpoint.failing_since IS NOT NULL OR endpoint.endpoint_id = ANY(${texts([...slow])}) AS failing) health
            LEFT JOIN (SELECT org_id, count(*) FROM busy GROUP BY org_id) of_org USING (org_id)
            LEFT JOIN (SELECT endpoint_id, count(*) FROM busy GROUP BY endpoint_id) own USING (endpoint_id)
            LEFT JOIN webhook_probes probe ON probe.endpoint_id = endpoint.endpoint_id AND probe.until > now() AND failing
            CROSS JOIN LATERAL (
              SELECT delivery_id, next_attempt_at FROM webhook_deliveries
              WHERE endpoint_id = endpoint.endpoint_id AND status = 'pending' AND next_attempt_at <= now()
              ORDER BY next_attempt_at
              LIMIT greatest(0, CASE WHEN failing THEN ${placesOfFailingEndpoint}::int ELSE ${placesOfEndpoint}::int END
                - coalesce(own.count, 0))
            ) delivery
            WHERE endpoint.paused IS NULL AND probe.endpoint_id IS NULL
          ), fair AS (
            SELECT delivery_id, endpoint_id, failing, place, org_id <= ${after} AS round, org_id,
              row_number() OVER (PARTITION BY failing ORDER BY place, org_id <= ${after}, org_id) AS nth
            FROM due WHERE place <= ${placesOfOrganization}::int
          ), chosen AS (
            SELECT delivery_id, endpoint_id, failing, row_number() OVER (ORDER BY place, round, org_id) AS turn FROM fair
            WHERE NOT failing OR nth <= ${placesOfFailing - sending.filter((one) => one.failing).length}::int
            ORDER BY turn LIMIT ${places - sending.length}::int
          ), free AS (
            SELECT delivery_id FROM webhook_deliveries
            WHERE delivery_id = ANY(ARRAY(SELECT delivery_id FROM chosen)) AND status = 'pending' AND next_attempt_at <= now()
            FOR UPDATE SKIP LOCKED
          ), probes AS (
            -- In one order, so that two processes that probe the same endpoints wait for each other in one direction only.
            INSERT INTO webhook_probes AS probe (endpoint_id, delivery_id, until)
            SELECT endpoint_id, delivery_id, ${claimEnd} FROM chosen JOIN free USING (delivery_id) WHERE failing ORDER BY endpoint_id
            ON CONFLICT (endpoint_id) DO UPDATE SET delivery_id = excluded.delivery_id, until = excluded.until
              WHERE probe.until <= now()
            RETURNING delivery_id
          ), claimed AS (
            UPDATE webhook_deliveries delivery SET attempts = delivery.attempts + 1, next_attempt_at = ${claimEnd}
            FROM free JOIN chosen USING (delivery_id), webhook_endpoints endpoint
            WHERE delivery.delivery_id = ANY(ARRAY(SELECT delivery_id FROM free)) AND delivery.delivery_id = free.delivery_id
              AND endpoint.endpoint_id = delivery.endpoint_id
              AND (NOT failing OR delivery.delivery_id IN (SELECT delivery_id FROM probes))
            RETURNING turn, failing, delivery.delivery_id, delivery.endpoint_id, endpoint.org_id, delivery.event_id, endpoint.url,
              delivery.body, delivery.attempts, endpoint.failing_since,
              array_remove(ARRAY[endpoint.secret, CASE WHEN endpoint.previous_until > now() THEN endpoint.previous_secret END], NULL)
                AS secrets
          )
          SELECT * FROM claimed ORDER BY turn`).pipe(
          Effect.map((due) => due.map(opened)),
          Effect.orDie
        )

      /** The endpoint of a delivery, unless it got another URL meanwhile: an answer says something about its own receiver only. */
      const answering = ({ endpoint_id, url }: DueDelivery) => sql`endpoint_id = ${endpoint_id} AND url = ${url}`
      /**
       * Pauses the endpoint and stores the e-mails about it. One that is paused already stays as it is, and so does a failing one that has
       * accepted a webhook meanwhile.
       */
      const pauseEndpoint = Effect.fnUntraced(function* (delivery: DueDelivery, reason: "gone" | "failing", at: Date) {
        const paused = yield* textValues(sql`
          UPDATE webhook_endpoints SET failing_since = coalesce(failing_since, ${at}), paused = ${reason}
          WHERE ${answering(delivery)} AND paused IS NULL AND (${reason} = 'gone' OR failing_since IS NOT NULL) RETURNING org_id`)
        for (const org_id of paused) yield* mails.queue(org_id, { endpoint_id: delivery.endpoint_id, reason })
      })

      const record: WebhookDeliveries["Service"]["record"] = (delivery, { at, ...answered }, outcome) =>
        Effect.gen(function* () {
          const attempt = JSON.stringify({ at: at.toISOString(), ...answered })
          const status = outcome._tag === "Delivered" ? "delivered" : outcome._tag === "Failed" ? "failed" : "pending"
          const delay = outcome._tag === "Retry" ? outcome.inMillis : 0
          // An answer that comes after another process has repeated the attempt changes nothing but an open delivery. If the delivery was claimed
          // again, replayed or is for another URL meanwhile, a failure is only listed: the next attempt is another process's, or a new one.
          const isCurrent = sql`(${status} = 'delivered' OR attempts = ${delivery.attempts} AND EXISTS (SELECT FROM webhook_endpoints WHERE ${answering(delivery)}))`
          yield* sql`
            UPDATE webhook_deliveries SET status = CASE WHEN ${isCurrent} THEN ${status} ELSE status END,
              answers = (SELECT json_agg(one) FROM (
                SELECT one FROM json_array_elements(answers) WITH ORDINALITY AS old (one, at)
                WHERE at > json_array_length(answers) - ${answersMax - 1}::int
                UNION ALL SELECT ${attempt}::json) kept),
              delivered_at = CASE WHEN ${status} = 'delivered' THEN now() END,
              next_attempt_at = CASE WHEN NOT ${isCurrent} THEN next_attempt_at
                WHEN ${status} = 'pending' THEN now() + ${delay}::float * interval '1 millisecond' END
            WHERE delivery_id = ${delivery.delivery_id} AND status = 'pending'`
          if (delivery.failing)
            yield* sql`
              DELETE FROM webhook_probes WHERE endpoint_id = ${delivery.endpoint_id} AND delivery_id = ${delivery.delivery_id}`
          if (outcome._tag === "Failed" && outcome.pause !== null)
            return yield* pauseEndpoint(delivery, outcome.pause, at)
          // Attempts overlap. A success ends failures that began before it, and a failure that began before a success says nothing.
          yield* outcome._tag === "Delivered"
            ? sql`
              UPDATE webhook_endpoints SET failing_since = NULL WHERE ${answering(delivery)} AND failing_since <= ${at}`
            : sql`
              UPDATE webhook_endpoints SET failing_since = ${at}
              WHERE ${answering(delivery)} AND failing_since IS NULL AND NOT EXISTS (
                SELECT FROM (
                  SELECT delivered_at FROM webhook_deliveries WHERE endpoint_id = ${delivery.endpoint_id}
                  ORDER BY delivery_id DESC LIMIT ${overlapMax}::int
                ) newest WHERE delivered_at > ${at})`
        }).pipe(
          sql.withTransaction,
          Effect.orDie,
          Effect.tap(() =>
            Effect.sync(() => {
              slow.delete(delivery.endpoint_id)
              if (answered.duration_ms > slowMillis) slow.add(delivery.endpoint_id)
              for (const oldest of slow) if (slow.size > slowMax) slow.delete(oldest)
              recorded[recordedAs[outcome._tag]] += 1
            })
          )
        )

      const again = sql.literal("status = 'pending', attempts = 0, next_attempt_at = now(), delivered_at = NULL")

      return WebhookDeliveries.of({
        fanOut,
        behind: Effect.orDie(
          textValues(sql`
          SELECT DISTINCT org_id FROM webhook_endpoints endpoint JOIN event_heads head USING (org_id)
          WHERE endpoint.paused IS NULL AND head.position > endpoint.position LIMIT 500`)
        ),
        followers: Effect.orDie(textValues(sql`SELECT DISTINCT org_id FROM webhook_endpoints`)),
        claim,
        record,
        list: (endpoint_id, { status, before, limit }) =>
          Effect.orDie(
            deliveryRows(sql`
              SELECT ${columns} FROM webhook_deliveries
              WHERE endpoint_id = ${endpoint_id} AND (${status}::text IS NULL OR status = ${status})
                AND (${before}::text IS NULL OR delivery_id < ${before})
              ORDER BY delivery_id DESC LIMIT ${limit}::int`)
          ),
        replay: (endpoint_id, delivery_id) =>
          deliveryRows(sql`
            UPDATE webhook_deliveries SET ${again}
            WHERE endpoint_id = ${endpoint_id} AND delivery_id = ${delivery_id} RETURNING ${columns}`).pipe(
            Effect.map(([row]) => row ?? null),
            Effect.orDie
          ),
        replayAll: (endpoint_id, { from, to, failedOnly }) =>
          Effect.orDie(
            oneNumber(sql`
            WITH chosen AS (
              SELECT delivery_id FROM webhook_deliveries
              WHERE endpoint_id = ${endpoint_id} AND happened_at >= ${from} AND happened_at < ${to}
                AND (status = 'failed' OR (NOT ${failedOnly}::boolean AND status = 'delivered'))
              ORDER BY happened_at LIMIT ${replayMax}::int
            ), changed AS (
              UPDATE webhook_deliveries SET ${again} WHERE delivery_id IN (SELECT delivery_id FROM chosen) RETURNING 1
            )
            SELECT count(*)::int FROM changed`)
          ),
        forget: Effect.orDie(
          oneNumber(sql`
          WITH deleted AS (
            DELETE FROM webhook_deliveries WHERE delivery_id = ANY(ARRAY(
              SELECT delivery_id FROM webhook_deliveries
              WHERE happened_at < now() - make_interval(days => ${keepDays}::int)
                AND (status <> 'pending' OR endpoint_id IN (SELECT endpoint_id FROM webhook_endpoints WHERE paused IS NOT NULL))
              LIMIT ${forgetMax}::int
            )) RETURNING 1
          )
          SELECT count(*)::int FROM deleted`)
        ),
        // Deliveries of a paused endpoint wait until it is resumed, 30 days at most.
        backlog: backlogRow(sql`
          SELECT (SELECT count(*)::int FROM webhook_deliveries JOIN webhook_endpoints USING (endpoint_id)
                  WHERE status = 'pending' AND next_attempt_at <= now() AND paused IS NULL) AS due,
            (SELECT count(*)::int FROM webhook_endpoints WHERE paused IN ('gone', 'failing')) AS paused`).pipe(
          Effect.orDie
        ),
        recorded: () => ({ ...recorded })
      })
    })
  )
}
