/**
 * Reads what a receipt is made of: a run with its plan, its ledger entries with the hashes before them, and the request.
 *
 * A final run and its entries never change, so several statements see the same state. Nothing here writes.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { warrantyReference } from "../../schema/wallet/Warranty.ts"
import { runStatus } from "../runs/runStatus.ts"
import { servedBy } from "../usage/servedBy.ts"
import { rowsOf, storedAs, texts } from "../postgres/Rows.ts"
import { OptOutMatch } from "../../schema/guards/OptOut.ts"
import type { ReceiptBudget } from "../../schema/receipts/Receipt.ts"
import { labelAsks } from "../../schema/wallet/LabelBudget.ts"
import { type ChainEntry, firstPrevious, timeOf } from "../../schema/receipts/ChainEntry.ts"
import { usd } from "../../schema/money/Money.ts"
import { type EntryType, entryTypes } from "../../schema/wallet/Wallet.ts"

export const ReceiptRow = Schema.Struct({
  run_id: Schema.String,
  request_id: Schema.String,
  key_id: Schema.NullOr(Schema.String),
  fingerprint: Schema.String,
  kind: Schema.Literals(["capability", "endpoint"]),
  capability: Schema.NullOr(Schema.String),
  endpoint: Schema.NullOr(Schema.String),
  provider: Schema.NullOr(Schema.String),
  /** The state of an open run, or the final status. */
  status: Schema.String,
  hold: Schema.BigInt,
  quoted: Schema.BigInt,
  charged: Schema.NullOr(Schema.BigInt),
  /** JSON texts. */
  plan: Schema.String,
  attempts: Schema.NullOr(Schema.String),
  routing_reason: Schema.String,
  error_code: Schema.NullOr(Schema.String),
  reused_from: Schema.NullOr(Schema.String),
  /** JSON text. Null for a run that needed none. */
  approval: Schema.NullOr(Schema.String),
  opt_out: Schema.NullOr(OptOutMatch),
  /** That of its API key or batch, and then that of the batch's key. */
  budget_ids: Schema.Array(Schema.String),
  /** JSON text. */
  metadata: Schema.NullOr(Schema.String),
  created_at: Schema.Date,
  finished_at: Schema.NullOr(Schema.Date),
  erased_at: Schema.NullOr(Schema.Date)
})
export type ReceiptRow = typeof ReceiptRow.Type & { readonly budgets: ReadonlyArray<ReceiptBudget> }
const countedRows = rowsOf({ budget_id: Schema.String, run_id: Schema.String })
/** The budgets that the run's labels may have. */
const asksOf = (org_id: string, { metadata }: typeof ReceiptRow.Type) =>
  metadata === null ? [] : labelAsks(Object.keys(JSON.parse(metadata)), { org_id, metadata, hold: 1n })
const receiptRows = rowsOf(ReceiptRow.fields)

const requestRows = storedAs({ input: Schema.NullOr(Schema.String), metadata: Schema.NullOr(Schema.String) })

const EntryRow = Schema.Struct({
  seq: Schema.BigInt,
  txn_id: Schema.String,
  type: Schema.String,
  amount: Schema.BigInt,
  balance_after: Schema.BigInt,
  reserved_after: Schema.BigInt,
  run_id: Schema.NullOr(Schema.String),
  reference: Schema.String,
  note: Schema.NullOr(Schema.String),
  created_micros: Schema.BigInt,
  hash: Schema.String,
  previous: Schema.NullOr(Schema.String)
})
const entryRows = storedAs(EntryRow.fields)

const entryType = (text: string): EntryType => entryTypes.find((type) => type === text) ?? "refund"

const entryOf = (row: typeof EntryRow.Type): ChainEntry => ({
  seq: Number(row.seq),
  id: row.txn_id,
  type: entryType(row.type),
  amount: usd(row.amount),
  balance_after: usd(row.balance_after),
  reserved_after: usd(row.reserved_after),
  run_id: row.run_id,
  reference: row.reference,
  note: row.note,
  created_at: timeOf(row.created_micros),
  hash: row.hash,
  previous: row.seq === 1n ? firstPrevious : row.previous
})

export class ReceiptStore extends Context.Service<
  ReceiptStore,
  {
    /** Not those that are unknown, or of another organization. */
    readonly runs: (org_id: string, run_ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<ReceiptRow>>
    /** The input and the labels of a run as JSON texts. Null for an erased run. It may be a megabyte, which a receipt does not need. */
    readonly request: (
      org_id: string,
      run_id: string
    ) => Effect.Effect<{ readonly input: string; readonly metadata: string | null } | null>
    /** The ledger entries of runs, oldest first. */
    readonly entries: (org_id: string, run_ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<ChainEntry>>
    /** The entries of the outcome warranty that refunded runs, oldest first. A run has none until a worker has booked it. */
    readonly refunds: (org_id: string, run_ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<ChainEntry>>
    /** Entries after a number, oldest first. */
    readonly chain: (org_id: string, after: bigint, limit: number) => Effect.Effect<ReadonlyArray<ChainEntry>>
  }
>()("rungate/layers/receipts/ReceiptStore") {
  static readonly layer = Layer.effect(
    ReceiptStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const iso = (column: string) =>
        sql.literal(`to_char(a.${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`)

      const runs = Effect.fnUntraced(function* (org_id: string, run_ids: ReadonlyArray<string>) {
        const rows = yield* receiptRows(sql`
          SELECT r.run_id, r.request_id, r.key_id, r.fingerprint, r.kind, r.capability, r.endpoint, ${sql.literal(servedBy)} AS provider,
                 ${sql.literal(runStatus)} AS status, r.hold, r.quoted, r.charged, r.plan::text AS plan, r.attempts::text AS attempts,
                 r.routing_reason, r.error_code, r.reused_from, (
                   SELECT json_build_object('opt_out_id', x.opt_out_id, 'list', x.list, 'kind', x.kind, 'digest', encode(x.digest, 'hex'),
                     'since', to_char(x.since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
                   FROM opt_out_refusals x WHERE x.run_id = r.run_id AND x.org_id = r.org_id) AS opt_out, array_remove(ARRAY[r.budget_id, (SELECT b.parent_id FROM key_budgets b WHERE b.budget_id = r.budget_id)], NULL) AS budget_ids,
                 r.metadata::text AS metadata, r.created_at, r.finished_at, r.erased_at,
                 (SELECT json_build_object('rule', a.rule_name, 'state', a.state, 'digest', a.digest, 'requested_at', ${iso("requested_at")},
                    'expires_at', ${iso("expires_at")}, 'decided_at', ${iso("decided_at")}, 'decided_by', a.decided_by, 'via', a.via)
                  FROM approvals a WHERE a.org_id = r.org_id AND a.run_id = r.run_id)::text AS approval
          FROM runs r LEFT JOIN open_runs o ON o.run_id = r.run_id
          WHERE r.org_id = ${org_id} AND r.run_id = ANY(${texts(run_ids)})`)
        const asks = rows.flatMap((row) => asksOf(org_id, row))
        const counted =
          asks.length === 0
            ? []
            : yield* countedRows(sql`
          SELECT budget_id, run_id FROM label_budget_runs
          WHERE budget_id = ANY(${texts(asks.map(({ budget_id }) => budget_id))}) AND run_id = ANY(${texts(run_ids)})`)
        const pairs = new Set(counted.map(({ budget_id, run_id }) => `${budget_id} ${run_id}`))
        return rows.map(
          (row): ReceiptRow => ({
            ...row,
            budgets: [
              ...row.budget_ids.map((budget_id) => ({ budget_id, label: null, value: null })),
              ...asksOf(org_id, row).flatMap(({ budget_id, label, value }) =>
                pairs.has(`${budget_id} ${row.run_id}`) ? [{ budget_id, label, value }] : []
              )
            ]
          })
        )
      }, Effect.orDie)

      // An erasure may come between two statements, so this one looks for it too.
      const request = Effect.fnUntraced(function* (org_id: string, run_id: string) {
        const row = yield* requestRows.first(sql`
          SELECT CASE WHEN erased_at IS NULL THEN input::text END AS input, metadata::text AS metadata
          FROM runs WHERE org_id = ${org_id} AND run_id = ${run_id}`)
        return row === null || row.input === null ? null : { input: row.input, metadata: row.metadata }
      })

      const entryColumns =
        sql.literal(`l.seq, l.txn_id, l.type, l.amount, l.balance_after, l.reserved_after, l.run_id, l.reference, l.note,
        (extract(epoch FROM l.created_at) * 1000000)::bigint AS created_micros, encode(l.hash, 'hex') AS hash`)

      // The entry before may be another run's, of another month, or in a month that was dropped behind a checkpoint.
      const withPrevious = (org_id: string) => sql`${entryColumns}, encode(coalesce(
            (SELECT p.hash FROM ledger p WHERE p.org_id = ${org_id} AND p.seq = l.seq - 1),
            (SELECT k.hash FROM ledger_checkpoints k WHERE k.org_id = ${org_id} AND k.seq = l.seq - 1)), 'hex') AS previous`
      const entriesOf = (statement: Statement.Statement<object>) =>
        Effect.map(entryRows.all(statement), (rows) => rows.map(entryOf))

      return ReceiptStore.of({
        runs,
        request,
        entries: (org_id, run_ids) =>
          entriesOf(sql`
            SELECT ${withPrevious(org_id)} FROM ledger l WHERE l.org_id = ${org_id} AND l.run_id = ANY(${texts(run_ids)}) ORDER BY l.seq`),
        refunds: (org_id, run_ids) =>
          entriesOf(sql`
            SELECT ${withPrevious(org_id)} FROM ledger l
            WHERE l.org_id = ${org_id} AND l.run_id IS NULL AND l.type = 'refund' AND l.reference = ANY(${texts(run_ids.map(warrantyReference))}) ORDER BY l.seq`),
        chain: (org_id, after, limit) =>
          entriesOf(sql`
            SELECT c.*, encode(coalesce(c.before, (SELECT p.hash FROM ledger p WHERE c.before IS NULL AND p.org_id = ${org_id} AND p.seq = c.seq - 1),
              (SELECT k.hash FROM ledger_checkpoints k WHERE c.before IS NULL AND k.org_id = ${org_id} AND k.seq = c.seq - 1)), 'hex') AS previous
            FROM (SELECT ${entryColumns}, CASE WHEN lag(l.seq) OVER (ORDER BY l.seq) = l.seq - 1 THEN lag(l.hash) OVER (ORDER BY l.seq) END AS before
                  FROM (SELECT * FROM ledger WHERE org_id = ${org_id} AND seq > ${after} ORDER BY seq LIMIT ${limit}) l) c
            ORDER BY c.seq`)
      })
    })
  )
}
