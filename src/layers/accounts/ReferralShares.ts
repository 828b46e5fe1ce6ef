/**
 * Stores what referrals have earned: up to which ledger entry each referred wallet is counted, and what the referrer was credited.
 *
 * A step counts some entries and may credit the referrer. One compare-and-set statement writes its sums, its record and the command
 * to the referrer's wallet. Several workers may compute the same step, and exactly one writes it.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { MicroUsd } from "../../schema/money/Money.ts"
import { crashPoint } from "../platform/CrashPoint.ts"
import { oneRowOf, storedAs } from "../postgres/Rows.ts"

/** A referral whose referred wallet has entries that are not counted yet. One statement reads wallet and referral. */
export interface MovedReferral {
  readonly referral_id: string
  readonly referrer_org: string
  readonly share_bps: number
  /** Entries of the referred wallet up to this number are counted. */
  readonly accrued_seq: bigint
  readonly net_revenue: MicroUsd
  readonly unpaid: MicroUsd
  readonly credited: MicroUsd
  readonly credits: number
  /** The number of the referred wallet's newest entry, and the balance after it. */
  readonly entry_seq: bigint
  readonly balance: MicroUsd
  /** What the outcome warranty has paid back to the referred wallet for runs before the referral's end. */
  readonly refunded: MicroUsd
}

export interface SettledRun {
  readonly charged: MicroUsd
  readonly provider_cost: MicroUsd | null
}

/** The state after a step. */
export interface ShareStep {
  readonly to_seq: bigint
  readonly net_revenue: MicroUsd
  readonly unpaid: MicroUsd
  readonly credit: {
    readonly n: number
    readonly amount: MicroUsd
    /** The `Credit` command to the referrer's wallet: its id and its payload (JSON text). */
    readonly command_id: string
    readonly payload: string
  } | null
}

const movedRows = storedAs({
  referral_id: Schema.String,
  referrer_org: Schema.String,
  share_bps: Schema.Number,
  accrued_seq: Schema.BigInt,
  net_revenue: Schema.BigInt,
  unpaid: Schema.BigInt,
  credited: Schema.BigInt,
  credits: Schema.Number,
  entry_seq: Schema.BigInt,
  balance: Schema.BigInt,
  refunded: Schema.BigInt
})

const settledRows = storedAs({ charged: Schema.BigInt, provider_cost: Schema.NullOr(Schema.BigInt) })
const stepRow = oneRowOf({ written: Schema.Boolean, lane: Schema.NullOr(Schema.Number) })

export class ReferralShares extends Context.Service<
  ReferralShares,
  {
    /** Referrals with entries that are not counted yet, ordered by id, after the id `after`. */
    readonly moved: (after: string, limit: number) => Effect.Effect<ReadonlyArray<MovedReferral>>
    /** Runs that the referred wallet settled in the entries after `from` up to `to`, before the referral ended. */
    readonly settled: (referral_id: string, from: bigint, to: bigint) => Effect.Effect<ReadonlyArray<SettledRun>>
    /**
     * Writes a step if the referral is still in the state `from`. Returns the lane of the stored command, null if nothing was
     * credited, and `overtaken` if another worker wrote a step first. Then nothing is written.
     */
    readonly step: (from: MovedReferral, step: ShareStep) => Effect.Effect<number | null | "overtaken">
  }
>()("rungate/layers/accounts/ReferralShares") {
  static readonly layer = Layer.effect(
    ReferralShares,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      return ReferralShares.of({
        moved: (after, limit) =>
          Effect.map(
            movedRows.all(sql`
              SELECT r.referral_id, r.referrer_org, r.share_bps, r.accrued_seq, r.net_revenue, r.unpaid, r.credited, r.credits,
                     w.entry_seq, w.balance,
                     (SELECT coalesce(sum(x.amount), 0)::bigint FROM warranty_refunds x WHERE x.org_id = r.referred_org
                        -- A dropped month has no ledger entry of its runs any more.
                        AND time_of_run_id(x.run_id) < r.ends_at AND NOT EXISTS (
                        SELECT FROM ledger l WHERE l.org_id = x.org_id AND l.run_id = x.run_id AND l.type = 'settle' AND l.created_at >= r.ends_at)) AS refunded
              FROM referrals r JOIN wallets w ON w.org_id = r.referred_org
              WHERE r.referral_id > ${after} AND w.entry_seq > r.accrued_seq ORDER BY r.referral_id LIMIT ${limit}`),
            (rows) =>
              rows.map((row) => ({
                ...row,
                net_revenue: MicroUsd(row.net_revenue),
                unpaid: MicroUsd(row.unpaid),
                credited: MicroUsd(row.credited),
                balance: MicroUsd(row.balance),
                refunded: MicroUsd(row.refunded)
              }))
          ),
        // The end is compared in SQL, because JavaScript dates have no microseconds.
        settled: (referral_id, from, to) =>
          Effect.map(
            settledRows.all(sql`
              SELECT -l.amount AS charged, r.provider_cost
              FROM referrals f JOIN ledger l ON l.org_id = f.referred_org
              LEFT JOIN runs r ON r.org_id = l.org_id AND r.run_id = l.run_id
              WHERE f.referral_id = ${referral_id} AND l.seq > ${from} AND l.seq <= ${to}
                AND l.type = 'settle' AND l.created_at < f.ends_at`),
            (rows) =>
              rows.map(({ charged, provider_cost }) => ({
                charged: MicroUsd(charged),
                provider_cost: provider_cost === null ? null : MicroUsd(provider_cost)
              }))
          ),
        step: Effect.fnUntraced(function* (from, { to_seq, net_revenue, unpaid, credit }) {
          const { referral_id, referrer_org } = from
          yield* crashPoint("accrual.before")
          const { written, lane } = yield* stepRow(sql`
            WITH stepped AS (
              UPDATE referrals SET accrued_seq = ${to_seq}, net_revenue = ${net_revenue}, unpaid = ${unpaid},
                     credited = credited + ${credit?.amount ?? 0n}, credits = credits + ${credit === null ? 0 : 1}
              WHERE referral_id = ${referral_id} AND accrued_seq = ${from.accrued_seq} AND credits = ${from.credits}
              RETURNING 1
            ), recorded AS (
              INSERT INTO referral_credits (referral_id, n, amount, net_revenue, to_seq)
              SELECT ${referral_id}, ${credit?.n ?? 0}, ${credit?.amount ?? 0n}, ${net_revenue}, ${to_seq} FROM stepped
              WHERE ${credit !== null}
            ), sent AS (
              INSERT INTO mailbox (lane, command_id, org_id, tag, payload)
              SELECT w.lane, ${credit?.command_id ?? null}, w.org_id, 'Credit', ${credit?.payload ?? null}::json
              FROM stepped, wallets w WHERE w.org_id = ${referrer_org} AND ${credit !== null}
              RETURNING lane
            )
            SELECT EXISTS (SELECT FROM stepped) AS written, (SELECT lane FROM sent) AS lane`)
          yield* crashPoint("accrual.after")
          return written ? lane : ("overtaken" as const)
        }, Effect.orDie)
      })
    })
  )
}
