/**
 * The payment part of a turn: the rows that payment commands need, and the writes that join the turn's one statement.
 *
 * A turn without payment commands reads and writes nothing here. Only a wallet's turn changes these rows, so the wallet's version
 * fences them too.
 */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { bigints, booleans, ints, rowsOf, tableOf, textValues, texts } from "../postgres/Rows.ts"
import { writeFailedTopUps } from "../events/Inbox.ts"
import type { AutoTopup } from "../../schema/wallet/AutoTopup.ts"
import { MicroUsd } from "../../schema/money/Money.ts"
import { standings } from "../../schema/wallet/PaymentFact.ts"
import type { DepositBonus, Outcome, Payment, Reversal } from "../../schema/wallet/Payment.ts"

/** An automatic top-up charge that the turn starts. */
export interface NewCharge {
  readonly payment_id: string
  readonly org_id: string
  readonly amount: bigint
}

export interface PaymentEffects {
  readonly payments: ReadonlyArray<Payment>
  readonly reversals: ReadonlyArray<Reversal>
  readonly bonuses: ReadonlyArray<DepositBonus>
  readonly autos: ReadonlyArray<AutoTopup & { readonly org_id: string }>
  readonly charges: ReadonlyArray<NewCharge>
  readonly events: ReadonlyArray<{
    readonly event_id: string
    readonly payment_id: string
    readonly org_id: string
    readonly fact: string
    readonly outcome: Outcome
  }>
  /** Payment methods that a payment saved for later charges. */
  readonly methods: ReadonlyArray<{
    readonly org_id: string
    readonly customer: string
    readonly payment_intent: string
  }>
}

export interface PaymentView {
  /** Keyed by payment id. */
  readonly payments: ReadonlyMap<string, Payment>
  readonly reversals: ReadonlyArray<Reversal>
  /** Keyed by the referred organization. */
  readonly bonuses: ReadonlyMap<string, DepositBonus>
  /** Events of this turn's commands that an earlier turn applied. */
  readonly seen: ReadonlySet<string>
  /** Cards of these commands and payments that have already earned a welcome bonus. */
  readonly cards: ReadonlySet<string>
}

export const noPayments: PaymentView = {
  payments: new Map(),
  reversals: [],
  bonuses: new Map(),
  seen: new Set(),
  cards: new Set()
}

/** The ids that the turn's payment commands name. */
interface Subjects {
  readonly orgs: ReadonlyArray<string>
  readonly payment_ids: ReadonlyArray<string>
  readonly event_ids: ReadonlyArray<string>
  readonly cards: ReadonlyArray<string>
}

export const isEmpty = (effects: PaymentEffects): boolean =>
  effects.autos.length + effects.events.length + effects.charges.length === 0

/** A wallet's automatic top-up as one JSON column of a command's row: `[enabled, threshold, amount, state, …]`; null without one. */
export const autoColumn = (sql: SqlClient.SqlClient) => sql`
  CASE WHEN m.is_first THEN (
    SELECT json_build_array(a.enabled, a.threshold::text, a.amount::text, a.state, a.failures, a.last_error,
             ((extract(epoch FROM a.retry_at) * 1000000)::bigint)::text, a.day::text, a.day_total::text)
    FROM auto_topups a WHERE a.org_id = m.org_id) END AS auto`

const Micros = Schema.String.check(Schema.isPattern(/^-?\d{1,19}$/))
const AutoRow = Schema.Tuple([
  Schema.Boolean,
  Micros,
  Micros,
  Schema.Literals(["idle", "charging", "waiting"]),
  Schema.Int,
  Schema.NullOr(Schema.String),
  Schema.NullOr(Micros),
  Schema.String,
  Micros
])
const decodeAutoRow = Schema.decodeUnknownSync(AutoRow)

export const autoOf = (column: unknown): AutoTopup | null => {
  if (column === null || column === undefined) return null
  const [enabled, threshold, amount, state, failures, last_error, retry, day, day_total] = decodeAutoRow(column)
  return {
    enabled,
    threshold: MicroUsd(BigInt(threshold)),
    amount: MicroUsd(BigInt(amount)),
    state,
    failures,
    last_error,
    retry_micros: retry === null ? null : BigInt(retry),
    day,
    day_total: MicroUsd(BigInt(day_total))
  }
}

const paymentRows = rowsOf({
  payment_id: Schema.String,
  org_id: Schema.String,
  kind: Schema.Literals(["checkout", "auto", "simulated"]),
  amount: Schema.BigInt,
  state: Schema.Literals(["open", "paid", "failed", "expired"]),
  session_id: Schema.NullOr(Schema.String),
  payment_intent: Schema.NullOr(Schema.String),
  card: Schema.NullOr(Schema.String),
  clawed_back: Schema.BigInt,
  failure: Schema.NullOr(Schema.String)
})
const reversalRows = rowsOf({
  reversal_id: Schema.String,
  payment_id: Schema.String,
  payment_intent: Schema.NullOr(Schema.String),
  kind: Schema.Literals(["refund", "dispute"]),
  amount: Schema.BigInt,
  standing: Schema.Literals(standings)
})
const bonusRows = rowsOf({
  referred_org: Schema.String,
  referral_id: Schema.String,
  deposit_min: Schema.BigInt,
  deposit_bonus: Schema.BigInt,
  state: Schema.Literals(["pending", "granted", "revoked"]),
  payment_id: Schema.NullOr(Schema.String),
  card: Schema.NullOr(Schema.String),
  changes: Schema.Number
})

/** Reads the rows that the turn's payment commands need. */
export const readPayments = (sql: SqlClient.SqlClient, { orgs, payment_ids, event_ids, cards }: Subjects) =>
  Effect.gen(function* () {
    const payments = yield* paymentRows(sql`
      SELECT payment_id, org_id, kind, amount, state, session_id, payment_intent, card, clawed_back, failure FROM payments
      WHERE payment_id = ANY(${texts(payment_ids)})`)
    const reversals = yield* reversalRows(sql`
      SELECT reversal_id, payment_id, payment_intent, kind, amount, standing FROM payment_reversals
      WHERE payment_id = ANY(${texts(payment_ids)}) ORDER BY reversal_id`)
    // An organization with an unverified e-mail address earns no bonus.
    const bonuses = yield* bonusRows(sql`
      SELECT referred_org, referral_id, deposit_min, deposit_bonus, bonus_state AS state, bonus_payment_id AS payment_id,
             bonus_card AS card, bonus_changes AS changes
      FROM referrals WHERE referred_org = ANY(${texts(orgs)})
        AND (bonus_state <> 'pending' OR NOT EXISTS (SELECT FROM users u WHERE u.org_id = referred_org AND u.pending))`)
    const usedCards = yield* textValues(sql`
      SELECT bonus_card AS card FROM referrals
      WHERE bonus_card = ANY(${texts([...cards, ...payments.flatMap(({ card }) => card ?? [])])})`)
    const seen = yield* textValues(sql`
      SELECT event_id FROM payment_events WHERE event_id = ANY(${texts(event_ids)})`)
    const view: PaymentView = {
      payments: new Map(
        payments.map((row) => [
          row.payment_id,
          { ...row, amount: MicroUsd(row.amount), clawed_back: MicroUsd(row.clawed_back) }
        ])
      ),
      reversals: reversals.map((row) => ({ ...row, amount: MicroUsd(row.amount) })),
      bonuses: new Map(
        bonuses.map(({ referred_org, ...row }) => [
          referred_org,
          { ...row, deposit_min: MicroUsd(row.deposit_min), deposit_bonus: MicroUsd(row.deposit_bonus) }
        ])
      ),
      seen: new Set(seen),
      cards: new Set(usedCards)
    }
    return view
  })

/** The payment part of the statement that writes a turn. `dailyMax` limits the automatic charges of one day. */
export const writePayments = (sql: SqlClient.SqlClient, effects: PaymentEffects, dailyMax: bigint) => {
  const { payments, reversals, bonuses, autos, charges, events, methods } = effects
  return sql`, paid_in AS (
    UPDATE payments p SET state = n.state, session_id = n.session_id, payment_intent = n.payment_intent, card = n.card, clawed_back = n.clawed_back,
           failure = n.failure, ended_at = CASE WHEN n.state = 'open' THEN NULL ELSE coalesce(p.ended_at, now()) END
    FROM ${tableOf("n", payments, { payment_id: texts, state: texts, session_id: texts, payment_intent: texts, card: texts, clawed_back: bigints, failure: texts })}
    WHERE p.payment_id = n.payment_id
    RETURNING 1
  ), reversed AS (
    INSERT INTO payment_reversals AS r (reversal_id, payment_id, payment_intent, kind, amount, standing)
    SELECT * FROM ${tableOf("n", reversals, { reversal_id: texts, payment_id: texts, payment_intent: texts, kind: texts, amount: bigints, standing: texts })}
    ON CONFLICT (reversal_id) DO UPDATE SET amount = excluded.amount, standing = excluded.standing
  ), referred AS (
    UPDATE referrals r SET bonus_state = n.state, bonus_payment_id = n.payment_id, bonus_card = n.card, bonus_changes = n.changes
    FROM ${tableOf("n", bonuses, { referral_id: texts, state: texts, payment_id: texts, card: texts, changes: ints })}
    WHERE r.referral_id = n.referral_id
  ), automatic AS (
    INSERT INTO auto_topups AS a (org_id, enabled, threshold, amount, state, failures, last_error, retry_at, day, day_total, day_max)
    SELECT org_id, enabled, threshold, amount, state, failures, last_error,
           'epoch'::timestamptz + retry_micros * interval '1 microsecond', day::date, day_total, greatest(day_total, ${dailyMax}::bigint)
    FROM ${tableOf("n", autos, { org_id: texts, enabled: booleans, threshold: bigints, amount: bigints, state: texts, failures: ints, last_error: texts, retry_micros: bigints, day: texts, day_total: bigints })}
    ON CONFLICT (org_id) DO UPDATE SET enabled = excluded.enabled, threshold = excluded.threshold, amount = excluded.amount,
      state = excluded.state, failures = excluded.failures, last_error = excluded.last_error, retry_at = excluded.retry_at,
      day = excluded.day, day_total = excluded.day_total,
      -- Only a new charge is checked against today's maximum: neither a lower maximum nor a late success may invalidate earlier charges.
      day_max = CASE WHEN a.org_id = ANY(${texts(charges.map((c) => c.org_id))}) THEN ${dailyMax}::bigint
                     ELSE greatest(a.day_max, excluded.day_total) END
  ), charging AS (
    INSERT INTO payments (payment_id, org_id, kind, amount, customer, payment_method)
    SELECT n.payment_id, n.org_id, 'auto', n.amount, m.customer, m.payment_method
    FROM ${tableOf("n", charges, { payment_id: texts, org_id: texts, amount: bigints })}
    -- This part does not see the card that the part "saved" stores: PaymentWorker looks up a card saved in this turn.
    LEFT JOIN payment_methods m ON m.org_id = n.org_id AND m.org_id <> ALL(${texts(methods.map((m) => m.org_id))})
    -- Postgres may run these parts in any order, and a wallet may have one open charge: this condition runs paid_in first.
    WHERE (SELECT count(*) FROM paid_in) >= 0
  ), happened AS (
    INSERT INTO payment_events (event_id, payment_id, org_id, fact, outcome)
    SELECT * FROM ${tableOf("n", events, { event_id: texts, payment_id: texts, org_id: texts, fact: texts, outcome: texts })}
  ), saved AS (
    INSERT INTO payment_methods AS m (org_id, customer, payment_intent)
    SELECT * FROM ${tableOf("n", methods, { org_id: texts, customer: texts, payment_intent: texts })}
    ON CONFLICT (org_id) DO UPDATE SET customer = excluded.customer, payment_intent = excluded.payment_intent, payment_method = NULL, label = NULL
  )${writeFailedTopUps(sql, payments)}`
}
