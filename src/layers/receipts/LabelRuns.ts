/**
 * The runs of a label's value whose money moved in a period: those that ended in it, and those that the warranty refunded in it.
 *
 * A run has the label if its metadata has it, or if it counted in the value's budget: erasure takes the metadata, and not the count. `as_of` is an
 * entry's number, so pages of one statement see the same runs while others end.
 */
import { Effect, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { makeId } from "../../schema/Ids.ts"
import { valueBudgetId } from "../../schema/wallet/LabelBudget.ts"
import { warrantyReference } from "../../schema/wallet/Warranty.ts"
import { hasRows, oneRowOf, storedAs } from "../postgres/Rows.ts"

/** Totals are computed in one statement, in about a second for so many. */
export const statementRunsMax = 100_000

/** A run that took longer to end is in no statement. Providers and queues take hours at most. */
const openMillisMax = 31 * 86_400_000
/** Clocks of processes and of the database may differ by this much. */
const clockMillisMax = 3_600_000

export interface LabelPeriod {
  readonly org_id: string
  readonly label: string
  readonly value: string
  readonly from: Date
  readonly to: Date
  readonly as_of: bigint
}

/** A run has one entry of each type at most: it reserves, settles and releases. */
const entriesMax = 3

const ids = storedAs({ run_id: Schema.String })
const seqRow = oneRowOf({ entry_seq: Schema.BigInt })
const totalsRow = oneRowOf({
  ...{ runs: Schema.BigInt, entries: Schema.BigInt, digest: Schema.String },
  ...{ held: Schema.BigInt, charged: Schema.BigInt, released: Schema.BigInt, refunded: Schema.BigInt }
})

/** Sorts before all runs of a later millisecond. */
const idOf = (millis: number) => makeId("run", Math.max(0, millis)).slice(0, -16)

export const makeLabelRuns = Effect.map(SqlClient.SqlClient, (sql) => {
  const inPeriod = ({ from, to, as_of }: LabelPeriod) =>
    sql`l.created_at >= ${from} AND l.created_at < ${to} AND l.seq <= ${as_of}`
  const labelled = ({ org_id, label, value }: LabelPeriod) => ({
    byLabel: sql`run_labels s WHERE s.org_id = ${org_id} AND s.label = run_label(${label}, ${value})`,
    byBudget: sql`label_budget_runs s WHERE s.budget_id = ${valueBudgetId(org_id, label, value)}`
  })

  // With a limit the ledger is read by its index, run by run. As a plain join, the planner could read all organizations' entries.
  const ended = (period: LabelPeriod, after = "") => {
    const { byLabel, byBudget } = labelled(period)
    const oldest = idOf(period.from.getTime() - openMillisMax)
    const ends = sql`s.run_id > ${after > oldest ? after : oldest} AND s.run_id < ${idOf(period.to.getTime() + clockMillisMax)}`
    return sql`
      SELECT c.run_id FROM (SELECT s.run_id FROM ${byLabel} AND ${ends} UNION ALL SELECT s.run_id FROM ${byBudget} AND ${ends}) c
      CROSS JOIN LATERAL (SELECT FROM ledger l WHERE l.org_id = ${period.org_id} AND l.run_id = c.run_id AND l.type IN ('settle', 'release')
                          AND ${inPeriod(period)} LIMIT 1) e`
  }
  const refunds = (period: LabelPeriod, after = "") => {
    const { byLabel, byBudget } = labelled(period)
    return sql`
      SELECT x.run_id, l.seq, l.type, l.amount, l.hash FROM warranty_refunds x
      JOIN ledger l ON l.org_id = x.org_id AND l.run_id IS NULL AND l.type = 'refund' AND l.reference = ${warrantyReference("")} || x.run_id
      WHERE x.org_id = ${period.org_id} AND x.run_id > ${after} AND ${inPeriod(period)}
        AND (EXISTS (SELECT FROM ${byLabel} AND s.run_id = x.run_id) OR EXISTS (SELECT FROM ${byBudget} AND s.run_id = x.run_id))`
  }
  const idsOf = (runs: Statement.Statement<object>) =>
    Effect.map(ids.all(runs), (rows) => rows.map(({ run_id }) => run_id))

  const all = (period: LabelPeriod, after = "") => sql`
    SELECT run_id FROM (${ended(period, after)} UNION ALL SELECT run_id FROM (${refunds(period, after)}) r) u
    GROUP BY run_id ORDER BY run_id`

  return {
    /** The number of the organization's newest ledger entry. */
    newest: (org_id: string) =>
      Effect.orDie(
        Effect.map(seqRow(sql`SELECT entry_seq FROM wallets WHERE org_id = ${org_id}`), ({ entry_seq }) => entry_seq)
      ),
    /** Ids after one, in order. */
    ids: (period: LabelPeriod, after: string, limit: number) => idsOf(sql`${all(period, after)} LIMIT ${limit}`),
    /** Those that were refunded. */
    refunded: (period: LabelPeriod) => idsOf(sql`SELECT run_id FROM (${refunds(period)}) r ORDER BY run_id`),
    areTooMany: (period: LabelPeriod) =>
      hasRows(sql`SELECT FROM (${all(period)} OFFSET ${statementRunsMax} LIMIT 1) a`),
    totals: (period: LabelPeriod) =>
      Effect.orDie(
        totalsRow(sql`
          WITH ended AS (SELECT DISTINCT run_id FROM (${ended(period)}) e), lines AS (
            SELECT l.seq, l.type, l.amount, l.hash FROM ended e
            CROSS JOIN LATERAL (SELECT * FROM ledger WHERE org_id = ${period.org_id} AND run_id = e.run_id LIMIT ${entriesMax}) l
            UNION ALL SELECT seq, type, amount, hash FROM (${refunds(period)}) r)
          SELECT (SELECT count(*) FROM ended) AS runs, count(*) AS entries,
                 encode(sha256(coalesce(string_agg(hash, ''::bytea ORDER BY seq), '')), 'hex') AS digest,
                 coalesce(-sum(amount) FILTER (WHERE type = 'reserve'), 0)::bigint AS held,
                 coalesce(-sum(amount) FILTER (WHERE type = 'settle'), 0)::bigint AS charged,
                 coalesce(sum(amount) FILTER (WHERE type = 'release'), 0)::bigint AS released,
                 coalesce(sum(amount) FILTER (WHERE type = 'refund'), 0)::bigint AS refunded
          FROM lines`)
      )
  }
})
