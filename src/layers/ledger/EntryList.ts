/**
 * Lists an organization's ledger entries, newest first, by filters.
 *
 * Entries of one run are found by their index, and credits, which name no run, in the one partition that has them. The other filters have
 * no index, because one would cost every run: they are applied while entries are read from the newest one.
 */
import { Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { Transaction } from "../../schema/nouns/Wallet.ts"
import { creditTypes, type EntryType } from "../../schema/wallet/Wallet.ts"
import { rowsOf } from "../postgres/Rows.ts"

const { id: txn_id, ...fields } = Transaction.fields
export const EntryRow = Schema.Struct({ seq: Schema.BigInt, txn_id, ...fields })
export type EntryRow = typeof EntryRow.Type
export const entryRows = rowsOf(EntryRow.fields)

export interface EntryFilter {
  readonly type: EntryType | null
  readonly run_id: string | null
  /** Only entries of this time or later. */
  readonly from: Date | null
  /** Only entries before this time. */
  readonly to: Date | null
}
export const allEntries: EntryFilter = { type: null, run_id: null, from: null, to: null }

const credits: ReadonlyArray<EntryType> = ["topup", ...creditTypes]

/** Entries before `before`, when given. */
export const entryList =
  (sql: SqlClient.SqlClient) =>
  (org_id: string, before: bigint | null, limit: number, { type, run_id, from, to }: EntryFilter) => {
    const conditions = [
      sql`org_id = ${org_id}`,
      ...(before === null ? [] : [sql`seq < ${before}`]),
      ...(type === null ? [] : [sql`type = ${type}`]),
      ...(type === null || !credits.includes(type) ? [] : [sql`run_id IS NULL`]),
      ...(run_id === null ? [] : [sql`run_id = ${run_id}`]),
      ...(from === null ? [] : [sql`created_at >= ${from}`]),
      ...(to === null ? [] : [sql`created_at < ${to}`])
    ]
    return entryRows(sql`
      SELECT seq, txn_id, type, amount, balance_after, reference, note, created_at FROM ledger
      WHERE ${sql.and(conditions)} ORDER BY seq DESC LIMIT ${limit}`)
  }
