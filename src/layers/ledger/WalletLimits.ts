/**
 * Changes what limits the runs of a wallet: the limit of a run, of a day, and the time zone whose days count.
 *
 * It locks the wallet as a turn does, and gives it a new version, so that a turn which has read it rolls back. The rules are `changedLimits`.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { MicroUsd } from "../../schema/money/Money.ts"
import { Zones } from "../../schema/money/TimeZone.ts"
import { changedLimits, type LimitsChange, type WalletLimits as Limits } from "../../schema/wallet/Wallet.ts"
import { oneRowOf } from "../postgres/Rows.ts"
import { todayOf } from "../postgres/SpendDay.ts"

const limitsRow = oneRowOf({
  per_run_limit: Schema.NullOr(Schema.BigInt),
  daily_limit: Schema.NullOr(Schema.BigInt),
  time_zones: Schema.NullOr(Zones),
  day: Schema.String,
  now_micros: Schema.BigInt
})
const amountOf = (amount: bigint | null) => (amount === null ? null : MicroUsd(amount))

export class WalletLimits extends Context.Service<
  WalletLimits,
  {
    /**
     * Locks what a configuration holds until the transaction ends: the wallet, which no turn changes then, and keys and webhook endpoints, which
     * nobody else creates or changes. The wallet is first, because a turn holds it when it locks keys. Members are behind keys, and the
     * organization is last, as in a change of a role.
     */
    readonly lock: (org_id: string) => Effect.Effect<void>
    readonly change: (
      org_id: string,
      change: LimitsChange
    ) => Effect.Effect<"LooseningRefused" | "ZoneKept" | "Changed">
  }
>()("rungate/layers/ledger/WalletLimits") {
  static readonly layer = Layer.effect(
    WalletLimits,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const locked = (org_id: string) =>
        limitsRow(sql`
          SELECT per_run_limit, daily_limit, time_zones, ${sql.literal(todayOf("wallets", "t.now"))}::text AS day,
                 (extract(epoch FROM t.now) * 1000000)::bigint AS now_micros
          FROM wallets CROSS JOIN (SELECT clock_timestamp() AS now) t WHERE org_id = ${org_id} FOR UPDATE OF wallets`)

      const lock = Effect.fnUntraced(function* (org_id: string) {
        yield* locked(org_id)
        yield* sql`SELECT 1 FROM api_keys WHERE org_id = ${org_id} AND revoked_at IS NULL ORDER BY key_id FOR SHARE`
        yield* sql`SELECT 1 FROM webhook_endpoints WHERE org_id = ${org_id} ORDER BY endpoint_id FOR SHARE`
        yield* sql`SELECT 1 FROM members WHERE org_id = ${org_id} ORDER BY user_id FOR SHARE`
        yield* sql`SELECT 1 FROM orgs WHERE org_id = ${org_id} FOR UPDATE`
      })

      const change = Effect.fnUntraced(function* (org_id: string, wanted: LimitsChange) {
        const { day, now_micros, time_zones, ...row } = yield* locked(org_id)
        const before: Limits = {
          per_run_limit: amountOf(row.per_run_limit),
          daily_limit: amountOf(row.daily_limit),
          ...(time_zones === null ? {} : { time_zones })
        }
        const after = changedLimits(before, wanted, day, now_micros)
        if (typeof after === "string") return after
        const zones = after.time_zones === undefined ? null : JSON.stringify(after.time_zones)
        yield* sql`
          UPDATE wallets SET version = version + 1, per_run_limit = ${after.per_run_limit}, daily_limit = ${after.daily_limit},
                 time_zones = ${zones}::text::jsonb
          WHERE org_id = ${org_id}`
        return "Changed" as const
      }, sql.withTransaction)

      return WalletLimits.of({
        lock: (org_id) => Effect.orDie(lock(org_id)),
        change: (org_id, wanted) => Effect.orDie(change(org_id, wanted))
      })
    })
  )
}
