/**
 * Stores payments before the processor is called, finds them by the processor's ids, and claims open ones that are due for a check.
 *
 * It changes no balance. Only a wallet's turn marks a payment as paid, failed or clawed back.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { done, hasRows, oneNumber, oneRowOf, rowsOf, storedAs, textValues, texts } from "../postgres/Rows.ts"
import type { EventSubject, SavedMethod } from "./Payments.ts"
import type { MicroUsd } from "../../schema/money/Money.ts"
import { Payment } from "../../schema/nouns/operator/Payment.ts"
import { AutoTopup } from "../../schema/nouns/Wallet.ts"

export interface NewPayment {
  readonly payment_id: string
  readonly org_id: string
  readonly kind: "checkout" | "simulated"
  readonly amount: MicroUsd
  readonly session_id: string | null
}

/** An open payment that is due: a charge to make, or a checkout whose state to check. */
export const OpenPayment = Schema.Struct({
  payment_id: Schema.String,
  org_id: Schema.String,
  kind: Schema.Literals(["checkout", "auto", "simulated"]),
  amount: Schema.BigInt,
  session_id: Schema.NullOr(Schema.String),
  customer: Schema.NullOr(Schema.String),
  payment_method: Schema.NullOr(Schema.String),
  created_at: Schema.Date,
  age_seconds: Schema.Number,
  /** How often the payment was checked, this time included. */
  looks: Schema.Number
})
export type OpenPayment = typeof OpenPayment.Type
const openPaymentRows = storedAs(OpenPayment.fields)

const paymentRows = storedAs(Payment.fields)

export const MethodRow = Schema.Struct({
  customer: Schema.String,
  payment_intent: Schema.String,
  payment_method: Schema.NullOr(Schema.String)
})
export type MethodRow = typeof MethodRow.Type
const methodRows = rowsOf(MethodRow.fields)

const autoTopupRows = rowsOf(AutoTopup.fields)

/** Checkouts that an organization may open per hour. Each is an object in the operator's account at the processor. */
const checkoutsPerHour = 30
/** Usually a webhook reports a paid checkout first. The first check comes after this time, and the interval doubles with each check. */
const firstCheckSeconds = 60
const checkSecondsMax = 3_600

const paymentIdRows = storedAs({ payment_id: Schema.String, org_id: Schema.String })
const chargeMethodRow = oneRowOf({ customer: Schema.String, payment_method: Schema.String })
const cursorRows = rowsOf({ read_to: Schema.Date })

const isDue = "state = 'open' AND look_at <= now()"
const isToRetry = "state = 'waiting' AND retry_at <= now()"

export class PaymentStore extends Context.Service<
  PaymentStore,
  {
    /** Stores a payment. Returns false, and stores nothing, if the organization has opened `checkoutsPerHour` in the last hour. */
    readonly open: (payment: NewPayment) => Effect.Effect<boolean>
    /** Stores the id of the session that the processor created for a payment. */
    readonly attach: (payment_id: string, session_id: string) => Effect.Effect<void>
    /** Finds payments by our id or by the processor's ids of sessions, charges, refunds and disputes. Several if the ids disagree. */
    readonly findByIds: (
      about: EventSubject,
      reversal_ids: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<{ readonly payment_id: string; readonly org_id: string }>>
    /** True if the organization was referred and its welcome bonus waits for a deposit. */
    readonly awaitsBonus: (org_id: string) => Effect.Effect<boolean>
    /** Newest first. */
    readonly latest: (org_id: string, limit: number) => Effect.Effect<ReadonlyArray<Payment>>
    readonly method: (org_id: string) => Effect.Effect<MethodRow | null>
    /** Stores the details of the payment method that a payment saved, unless a later payment saved another one. */
    readonly keepMethod: (org_id: string, payment_intent: string, method: SavedMethod) => Effect.Effect<void>
    readonly autoTopup: (org_id: string) => Effect.Effect<AutoTopup | null>
    /**
     * Claims open payments that are due for a check. No other process gets a charge for `claimSeconds`, and no other process gets a
     * checkout until its next check.
     */
    readonly due: (claimSeconds: number, limit: number) => Effect.Effect<ReadonlyArray<OpenPayment>>
    /** Makes a payment due for a check again after `seconds`. */
    readonly checkAgain: (payment_id: string, seconds: number) => Effect.Effect<void>
    /** Fixes the payment method of an automatic charge. Returns the fixed one, which is the first that was stored. */
    readonly fixMethod: (
      payment_id: string,
      method: SavedMethod
    ) => Effect.Effect<{ customer: string; payment_method: string }>
    /** Organizations whose automatic top-up may be retried now. */
    readonly autoTopupsDue: (limit: number) => Effect.Effect<ReadonlyArray<string>>
    /** The database's time, in seconds since 1970. */
    readonly nowSeconds: Effect.Effect<number>
    /**
     * Returns the time up to which the processor's events have been read, to read on from there. Null if another process began to
     * read less than `everySeconds` ago. The first call returns the current time, because no payment is older.
     */
    readonly beginReading: (processor: string, everySeconds: number) => Effect.Effect<Date | null>
    /** Stores the time up to which the processor's events have been read. */
    /** Does nothing if the cursor was set back since the reading began at `from`. */
    readonly keepReadTo: (processor: string, from: Date, time: Date) => Effect.Effect<void>
    /** The events among `event_ids` that no turn has applied yet. */
    readonly unseen: (event_ids: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>>
  }
>()("rungate/layers/payments/PaymentStore") {
  /** Whether a charge, an open checkout or a delayed top-up is due. */
  static readonly due = () =>
    `EXISTS (SELECT FROM payments WHERE ${isDue}) OR EXISTS (SELECT FROM auto_topups WHERE ${isToRetry})`

  static readonly layer = Layer.effect(
    PaymentStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      return PaymentStore.of({
        open: Effect.fnUntraced(
          function* ({ payment_id, org_id, kind, amount, session_id }) {
            // Locks the organization's row, so that concurrent requests can't exceed the limit together.
            yield* sql`SELECT 1 FROM orgs WHERE org_id = ${org_id} FOR NO KEY UPDATE`
            const rows = yield* sql`
              INSERT INTO payments (payment_id, org_id, kind, amount, session_id, look_at)
              SELECT ${payment_id}, ${org_id}, ${kind}, ${amount}, ${session_id}, now() + make_interval(secs => ${firstCheckSeconds})
              WHERE ${kind} = 'simulated' OR (SELECT count(*) FROM payments WHERE org_id = ${org_id} AND kind = 'checkout'
                                                AND created_at > now() - interval '1 hour') < ${checkoutsPerHour}
              RETURNING 1 AS opened`
            return rows.length === 1
          },
          sql.withTransaction,
          Effect.orDie
        ),
        attach: (payment_id, session_id) =>
          done(sql`
            UPDATE payments SET session_id = ${session_id} WHERE payment_id = ${payment_id} AND session_id IS NULL`),
        findByIds: ({ payment_id, session_id, payment_intent }, reversal_ids) =>
          paymentIdRows.all(sql`
            SELECT payment_id, org_id FROM payments WHERE payment_id = ${payment_id}
            UNION SELECT payment_id, org_id FROM payments WHERE session_id = ${session_id}
            UNION SELECT payment_id, org_id FROM payments WHERE payment_intent = ${payment_intent}
            UNION SELECT p.payment_id, p.org_id FROM payment_reversals r JOIN payments p USING (payment_id)
              WHERE r.reversal_id = ANY(${texts(reversal_ids)})`),
        awaitsBonus: (org_id) =>
          hasRows(sql`SELECT 1 AS waits FROM referrals WHERE referred_org = ${org_id} AND bonus_state = 'pending'`),
        latest: (org_id, limit) =>
          paymentRows.all(sql`
            SELECT payment_id, kind, amount, state, session_id, payment_intent, clawed_back, failure, created_at, ended_at FROM payments
            WHERE org_id = ${org_id} ORDER BY payment_id DESC LIMIT ${limit}`),
        method: Effect.fnUntraced(function* (org_id) {
          const [row] = yield* methodRows(sql`
            SELECT customer, payment_intent, payment_method FROM payment_methods WHERE org_id = ${org_id}`)
          return row ?? null
        }, Effect.orDie),
        keepMethod: (org_id, payment_intent, { payment_method, label }) =>
          done(sql`
            UPDATE payment_methods SET payment_method = ${payment_method}, label = ${label}
            WHERE org_id = ${org_id} AND payment_intent = ${payment_intent}`),
        autoTopup: Effect.fnUntraced(function* (org_id) {
          const [row] = yield* autoTopupRows(sql`
            SELECT enabled, threshold, amount, last_error FROM auto_topups WHERE org_id = ${org_id}`)
          return row ?? null
        }, Effect.orDie),
        due: (claimSeconds, limit) =>
          openPaymentRows.all(sql`
            WITH claimed AS (
              SELECT payment_id FROM payments WHERE ${sql.literal(isDue)} ORDER BY look_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
            )
            UPDATE payments p SET looks = looks + 1, look_at = now() + make_interval(secs => CASE WHEN kind = 'auto' THEN ${claimSeconds}::float8
              ELSE least(${checkSecondsMax}::float8, ${firstCheckSeconds}::float8 * 2 ^ least(looks, 10)) END)
            FROM claimed WHERE p.payment_id = claimed.payment_id
            RETURNING p.payment_id, p.org_id, p.kind, p.amount, p.session_id, p.customer, p.payment_method, p.created_at, p.looks,
                      extract(epoch FROM now() - p.created_at)::float8 AS age_seconds`),
        checkAgain: (payment_id, seconds) =>
          done(sql`
            UPDATE payments SET look_at = now() + make_interval(secs => ${seconds}) WHERE payment_id = ${payment_id} AND state = 'open'`),
        fixMethod: Effect.fnUntraced(function* (payment_id, { customer, payment_method }) {
          return yield* chargeMethodRow(sql`
            UPDATE payments SET customer = CASE WHEN payment_method IS NULL THEN ${customer} ELSE customer END,
                   payment_method = coalesce(payment_method, ${payment_method})
            WHERE payment_id = ${payment_id} RETURNING customer, payment_method`)
        }, Effect.orDie),
        autoTopupsDue: (limit) =>
          Effect.orDie(
            textValues(sql`
              SELECT org_id FROM auto_topups a WHERE ${sql.literal(isToRetry)}
                AND NOT EXISTS (SELECT FROM wallets w WHERE w.org_id = a.org_id AND w.moving = 2) ORDER BY retry_at LIMIT ${limit}`)
          ),
        nowSeconds: Effect.orDie(oneNumber(sql`SELECT extract(epoch FROM now())::float8 AS now`)),
        beginReading: Effect.fnUntraced(function* (processor, everySeconds) {
          const [row] = yield* cursorRows(sql`
            INSERT INTO processor_cursors AS c (processor, read_to, begun_at) VALUES (${processor}, now(), now())
            ON CONFLICT (processor) DO UPDATE SET begun_at = now() WHERE c.begun_at < now() - make_interval(secs => ${everySeconds})
            RETURNING read_to`)
          return row?.read_to ?? null
        }, Effect.orDie),
        unseen: Effect.fnUntraced(function* (event_ids) {
          const rows = yield* textValues(sql`
            SELECT n.event_id FROM unnest(${texts(event_ids)}) AS n(event_id)
            WHERE NOT EXISTS (SELECT FROM payment_events e WHERE e.event_id = n.event_id)`)
          return new Set(rows)
        }, Effect.orDie),
        keepReadTo: (processor, from, time) =>
          done(sql`
            UPDATE processor_cursors SET read_to = greatest(read_to, ${time}) WHERE processor = ${processor} AND read_to >= ${from}`)
      })
    })
  )
}
