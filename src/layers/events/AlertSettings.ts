/** The threshold below which an organization is told of a low balance. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../postgres/Rows.ts"
import { MicroUsd } from "../../schema/money/Money.ts"

const settingRows = rowsOf({ low_balance: Schema.NullOr(Schema.BigInt) })

export class AlertSettings extends Context.Service<
  AlertSettings,
  {
    readonly lowBalance: (org_id: string) => Effect.Effect<MicroUsd | null>
    /** Null: the organization is not told. */
    readonly setLowBalance: (org_id: string, low_balance: MicroUsd | null) => Effect.Effect<void>
    /** Watches the daily limit of the organization from now on. */
    readonly watch: (org_id: string) => Effect.Effect<void>
  }
>()("rungate/layers/events/AlertSettings") {
  static readonly layer = Layer.effect(
    AlertSettings,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const lowBalance = Effect.fnUntraced(function* (org_id: string) {
        const [row] = yield* settingRows(sql`SELECT low_balance FROM event_heads WHERE org_id = ${org_id}`)
        const low = row?.low_balance ?? null
        return low === null ? null : MicroUsd(low)
      })

      const watch = (org_id: string) => sql`
        INSERT INTO event_heads (org_id, ledger_seq, spent_day, spent)
        SELECT org_id, entry_seq, spent_day, spent FROM wallets WHERE org_id = ${org_id}
        ON CONFLICT (org_id) DO NOTHING`

      // With another threshold, an earlier alert says nothing about the new one.
      const setLowBalance = (org_id: string, low_balance: MicroUsd | null) => sql`
        UPDATE event_heads SET low_balance = ${low_balance}, low = false
        WHERE org_id = ${org_id} AND low_balance IS DISTINCT FROM ${low_balance}::bigint`

      return AlertSettings.of({
        lowBalance: (org_id) => Effect.orDie(lowBalance(org_id)),
        setLowBalance: (org_id, low_balance) =>
          Effect.asVoid(Effect.orDie(Effect.andThen(watch(org_id), setLowBalance(org_id, low_balance)))),
        watch: (org_id) => Effect.asVoid(Effect.orDie(watch(org_id)))
      })
    })
  )
}
