/**
 * Audits the books: recomputes every balance from the stored rows and lists each violated equation (titles.ts names them).
 *
 * It reads one repeatable-read snapshot, so it can run while the service is busy. Customers can audit their own wallet at any time.
 * The operator audits all wallets. The result of the last full audit is stored, and every customer can read it.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Violation, violations } from "./equations.ts"
import { platformViolations, readSheet } from "./sheet.ts"
import { snapshot } from "./snapshot.ts"
import { costBoundCache } from "../platform/costBoundCache.ts"
import { usageViolations } from "./usage.ts"
import { auditWallet, type WalletAudit } from "./wallet.ts"
import { oneRowOf, rowsOf, storedAs } from "../postgres/Rows.ts"
import { BooksCheck, type Sheet } from "../../schema/nouns/operator/Books.ts"

export interface AuditReport {
  readonly wallets: number
  readonly entries: number
  readonly runs: number
  readonly sheet: Sheet
  readonly violations: ReadonlyArray<Violation>
  readonly checked_at: Date
}

export const LastCheck = Schema.Struct({
  checked_at: Schema.Date,
  adds_up: Schema.Boolean
})
export type LastCheck = typeof LastCheck.Type
const lastCheckRows = rowsOf(LastCheck.fields)

const checkRows = storedAs(BooksCheck.fields)
const checkRow = oneRowOf(BooksCheck.fields)

const countRow = oneRowOf({
  wallets: Schema.BigInt,
  entries: Schema.BigInt,
  runs: Schema.BigInt,
  checked_at: Schema.Date
})

export class Audit extends Context.Service<
  Audit,
  {
    /** Audits all wallets. */
    readonly run: Effect.Effect<AuditReport>
    /** Stores the result of a full audit. */
    readonly record: (report: AuditReport) => Effect.Effect<BooksCheck>
    /** The result that was stored last. */
    readonly last: Effect.Effect<LastCheck | null>
    /** Results that were stored, newest first. */
    readonly checks: (limit: number) => Effect.Effect<ReadonlyArray<BooksCheck>>
    /** Audits one wallet as it was at `checked_at`. The answer of a slow audit is cached (platform/costBoundCache.ts). */
    readonly wallet: (org_id: string) => Effect.Effect<WalletAudit>
  }
>()("rungate/layers/audit/Audit") {
  static readonly layer = Layer.effect(
    Audit,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      return Audit.of({
        run: snapshot(
          sql,
          Effect.gen(function* () {
            const ofWallets = yield* violations(sql, null)
            const sheet = yield* readSheet(sql)
            const ofPlatform = yield* platformViolations(sql, sheet)
            const ofUsage = yield* usageViolations(sql)
            const count = yield* countRow(sql`
              SELECT (SELECT count(*) FROM wallets) AS wallets, (SELECT count(*) FROM ledger) AS entries,
                     (SELECT count(*) FROM runs) AS runs, now() AS checked_at`)
            return {
              wallets: Number(count.wallets),
              entries: Number(count.entries),
              runs: Number(count.runs),
              sheet,
              violations: [...ofWallets, ...ofPlatform, ...ofUsage],
              checked_at: count.checked_at
            }
          })
        ).pipe(Effect.orDie),
        record: Effect.fnUntraced(function* ({ checked_at, wallets, entries, runs, violations }) {
          const row = { checked_at, wallets, entries, runs, violations: violations.length }
          return yield* checkRow(
            sql`INSERT INTO audit_checks ${sql.insert(row)} RETURNING checked_at, wallets, entries, runs, violations`
          )
        }, Effect.orDie),
        last: lastCheckRows(sql`
          SELECT checked_at, violations = 0 AS adds_up FROM audit_checks ORDER BY id DESC LIMIT 1`).pipe(
          Effect.map((rows) => rows[0] ?? null),
          Effect.orDie
        ),
        checks: (limit) =>
          checkRows.all(sql`
            SELECT checked_at, wallets, entries, runs, violations FROM audit_checks ORDER BY id DESC LIMIT ${limit}`),
        wallet: yield* costBoundCache((org_id) => Effect.orDie(auditWallet(sql, org_id)))
      })
    })
  )
}
