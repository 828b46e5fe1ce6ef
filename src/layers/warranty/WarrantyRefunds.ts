/**
 * Decides refunds of the outcome warranty: one transaction reads what all organizations were charged and refunded, decides, and stores the
 * refund together with the command that books it in the wallet's turn.
 *
 * The row of warranty_fund is locked meanwhile, so refunds are decided one after the other. A crash leaves either nothing or the whole
 * decision, and a repetition finds it.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { MicroUsd } from "../../schema/money/Money.ts"
import { isWithinShare } from "../../schema/wallet/Warranty.ts"
import { crashPoint } from "../platform/CrashPoint.ts"
import { Settings } from "../platform/Settings.ts"
import { oneNumber, oneRowOf, rowsOf } from "../postgres/Rows.ts"

export interface WarrantyRefund {
  readonly org_id: string
  readonly run_id: string
  readonly amount: MicroUsd
  /** The run whose message bounced, as its provider says. Null: an operator decided. */
  readonly send_run: string | null
  /** How it was decided, for the organization. */
  readonly note: string
  /** The command that books it: its id and JSON text. */
  readonly command_id: string
  readonly payload: string
}

export type Decided =
  /** `lane` is the lane of the wallet, which the caller wakes. */
  | { readonly _tag: "Refunded"; readonly lane: number }
  /** It is refunded, or an operator refused it while the provider was asked. */
  | { readonly _tag: "Already" }
  /** The refunds of 30 days would exceed the operator's share, or the organization's part of it. */
  | { readonly _tag: "Limited" }

const fundRow = oneRowOf({
  revenue: Schema.BigInt,
  refunded: Schema.BigInt,
  own_revenue: Schema.BigInt,
  own_refunded: Schema.BigInt,
  already: Schema.Boolean
})
const amountRows = rowsOf({ amount: Schema.BigInt })

export class WarrantyRefunds extends Context.Service<
  WarrantyRefunds,
  {
    readonly decide: (refund: WarrantyRefund) => Effect.Effect<Decided>
    /** What was refunded for a run. Null if nothing was. */
    readonly find: (org_id: string, run_id: string) => Effect.Effect<MicroUsd | null>
  }
>()("rungate/layers/warranty/WarrantyRefunds") {
  static readonly layer = Layer.effect(
    WarrantyRefunds,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { warrantyShareBps } = yield* Settings

      const store = ({ org_id, run_id, amount, send_run, note, command_id, payload }: WarrantyRefund) =>
        Effect.gen(function* () {
          yield* sql`
            INSERT INTO warranty_refunds (run_id, org_id, amount, send_run, share_bps)
            VALUES (${run_id}, ${org_id}, ${amount}, ${send_run}, ${warrantyShareBps})`
          yield* sql`
            INSERT INTO warranty_disputes AS d (run_id, org_id, reason, evidence, state, note, decided_at)
            VALUES (${run_id}, ${org_id}, 'bounced', ${send_run}, 'refunded', ${note}, now())
            ON CONFLICT (run_id) DO UPDATE SET state = 'refunded', note = excluded.note, decided_at = now()`
          return yield* oneNumber(sql`
            INSERT INTO mailbox (lane, command_id, org_id, tag, payload)
            SELECT lane, ${command_id}, org_id, 'Credit', ${payload}::json FROM wallets WHERE org_id = ${org_id} RETURNING lane`)
        })

      const decide = Effect.fn("WarrantyRefunds.decide")(function* (refund: WarrantyRefund) {
        yield* crashPoint("warranty.before")
        const decided = yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`SELECT FROM warranty_fund FOR UPDATE`
            // A provider's word does not change the decision of an operator, who may be refusing the dispute now.
            yield* sql`SELECT FROM warranty_disputes WHERE run_id = ${refund.run_id} FOR UPDATE`
            const { already, revenue, refunded, own_revenue, own_refunded } = yield* fundRow(sql`
              SELECT warranty_revenue() AS revenue, warranty_refunded() AS refunded,
                     warranty_revenue_of(${refund.org_id}) AS own_revenue, warranty_refunded_of(${refund.org_id}) AS own_refunded,
                     EXISTS (SELECT FROM warranty_refunds WHERE run_id = ${refund.run_id}) OR (${refund.send_run}::text IS NOT NULL
                       AND EXISTS (SELECT FROM warranty_disputes WHERE run_id = ${refund.run_id} AND state = 'refused')) AS already`)
            if (already) return { _tag: "Already" } satisfies Decided
            const own = { revenue: MicroUsd(own_revenue), refunded: MicroUsd(own_refunded) }
            const fund = { share_bps: warrantyShareBps, revenue: MicroUsd(revenue), refunded: MicroUsd(refunded), own }
            if (!isWithinShare(fund, refund.amount)) return { _tag: "Limited" } satisfies Decided
            const lane = yield* store(refund)
            yield* crashPoint("warranty.stored")
            return { _tag: "Refunded", lane } satisfies Decided
          })
        )
        yield* crashPoint("warranty.after")
        return decided
      }, Effect.orDie)

      const find = (org_id: string, run_id: string) =>
        amountRows(sql`SELECT amount FROM warranty_refunds WHERE org_id = ${org_id} AND run_id = ${run_id}`)

      return WarrantyRefunds.of({
        decide,
        find: (org_id, run_id) =>
          Effect.orDie(Effect.map(find(org_id, run_id), ([row]) => (row === undefined ? null : MicroUsd(row.amount))))
      })
    })
  )
}
