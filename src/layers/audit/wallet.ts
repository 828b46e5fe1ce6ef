/** Audits one wallet: the sums per entry type, the balances computed from them, and every violated equation. */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { droppedAmounts, equations, violations } from "./equations.ts"
import { snapshot } from "./snapshot.ts"
import type { WalletAudit as Audited } from "../../schema/nouns/Wallet.ts"
import { rowsOf } from "../postgres/Rows.ts"

/** Everything but the operator's last full audit. */
export type WalletAudit = Omit<Audited, "last_full_check">

const Row = Schema.Struct({
  entries: Schema.BigInt,
  topup: Schema.BigInt,
  bonus: Schema.BigInt,
  refund: Schema.BigInt,
  settle: Schema.BigInt,
  reserve: Schema.BigInt,
  release: Schema.BigInt,
  balance: Schema.BigInt,
  balance_from_ledger: Schema.BigInt,
  reserved: Schema.BigInt,
  reserved_from_ledger: Schema.BigInt,
  seq: Schema.NullOr(Schema.BigInt),
  hash: Schema.NullOr(Schema.String),
  checked_at: Schema.Date
})
type Row = typeof Row.Type
const sumRows = rowsOf(Row.fields)

/** Hides why a command was dead-lettered. The reason can contain internals, so only operators see it. */
export const forOwner = (audited: WalletAudit): WalletAudit => ({
  ...audited,
  violations: audited.violations.map((violation) =>
    violation.equation === equations.deadLetters
      ? { ...violation, detail: "The operator of this service must resolve it" }
      : violation
  )
})

export const auditWallet = (sql: SqlClient.SqlClient, org_id: string) =>
  snapshot(
    sql,
    Effect.gen(function* () {
      const [row] = yield* sumRows(sql`
        SELECT w.balance, w.reserved, l.*, l.topup + l.bonus + l.refund + l.settle AS balance_from_ledger,
               l.settle - l.reserve - l.release AS reserved_from_ledger, n.seq, encode(n.hash, 'hex') AS hash, now() AS checked_at
        FROM wallets w,
          (SELECT coalesce(sum(entries), 0)::bigint AS entries, coalesce(sum(amount) FILTER (WHERE type = 'topup'), 0)::bigint AS topup,
                  coalesce(sum(amount) FILTER (WHERE type = 'bonus'), 0)::bigint AS bonus,
                  coalesce(sum(amount) FILTER (WHERE type = 'refund'), 0)::bigint AS refund,
                  coalesce(sum(amount) FILTER (WHERE type = 'settle'), 0)::bigint AS settle,
                  coalesce(sum(amount) FILTER (WHERE type = 'reserve'), 0)::bigint AS reserve,
                  coalesce(sum(amount) FILTER (WHERE type = 'release'), 0)::bigint AS release
           FROM (SELECT type, amount, 1 AS entries FROM ledger WHERE org_id = ${org_id} UNION ALL
                 SELECT type, amount, entries FROM (${droppedAmounts(sql)}) dropped WHERE org_id = ${org_id}) entries) l
          LEFT JOIN LATERAL (
            (SELECT seq, hash FROM ledger WHERE org_id = ${org_id} ORDER BY seq DESC LIMIT 1) UNION ALL
            (SELECT seq, hash FROM ledger_checkpoints WHERE org_id = ${org_id}) ORDER BY seq DESC LIMIT 1) n ON true
        WHERE w.org_id = ${org_id}`)
      if (row === undefined) return yield* Effect.die(new Error(`${org_id} has no wallet`))
      const { entries, seq, hash, ...figures } = row
      const all = yield* violations(sql, org_id)
      const audited: WalletAudit = {
        ...figures,
        currency: "USD",
        adds_up: all.length === 0,
        entries: Number(entries),
        sums: figures,
        head: seq === null || hash === null ? null : { seq: Number(seq), hash },
        chain_verified: !all.some((one) => one.equation === equations.chain),
        violations: all
      }
      return audited
    })
  )
