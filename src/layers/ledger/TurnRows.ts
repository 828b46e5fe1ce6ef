/**
 * The parts of a turn's statement that write its rows: ledger entries, open runs, replies, and how runs ended, with the queue of the history
 * index, the counts of attempts, and the runs that the event log can't find in the ledger.
 *
 * Each begins with a comma, and is left out when it has no rows: PostgreSQL would prepare its tables for every turn.
 */
import type { SqlClient, Statement } from "effect/sql"
import { bigints, booleans, byteas, jsons, texts } from "../postgres/Columns.ts"
import type { Linked } from "./LedgerChain.ts"
import type { AdmittedRun, AttemptCount, EndedRun, TurnEffects } from "./TurnStore.ts"
import { spans, windowStart } from "../../schema/runs/Health.ts"

/** Condition of the turn's statement: a part returned a row for each of these. */
export const allOf = (sql: SqlClient.SqlClient, part: "gone" | "finished" | "closed", rows: ReadonlyArray<unknown>) =>
  rows.length === 0 ? sql.literal("") : sql` AND (SELECT count(*) FROM ${sql.literal(part)}) = ${rows.length}::int`

/** The commands that the turn applied. */
export const deleteMail = (sql: SqlClient.SqlClient, lane: number, ids: ReadonlyArray<bigint>) =>
  ids.length === 0
    ? sql.literal("")
    : sql`, gone AS (
            DELETE FROM mailbox WHERE lane = ${lane} AND id = ANY(${bigints(ids)}) RETURNING 1
          )`

export const writeReplies = (sql: SqlClient.SqlClient, replies: TurnEffects["replies"]) =>
  replies.length === 0
    ? sql.literal("")
    : sql`, replied AS (
            INSERT INTO replies (command_id, reply)
            SELECT command_id, reply::json FROM unnest(${texts(replies.map((r) => r.command_id))}, ${jsons(replies.map((r) => r.reply))})
                 AS n(command_id, reply)
            ON CONFLICT (command_id) DO NOTHING
          )`

export const writeEntries = (sql: SqlClient.SqlClient, entries: ReadonlyArray<Linked>, at: Statement.Fragment) =>
  entries.length === 0
    ? sql.literal("")
    : sql`, written AS (
            INSERT INTO ledger (org_id, seq, txn_id, type, amount, balance_after, reserved_after, run_id, reference, note, hash, created_at)
            SELECT n.*, ${at}
            FROM unnest(${texts(entries.map((e) => e.org_id))}, ${bigints(entries.map((e) => e.seq))},
                        ${texts(entries.map((e) => e.txn_id))}, ${texts(entries.map((e) => e.type))},
                        ${bigints(entries.map((e) => e.amount))}, ${bigints(entries.map((e) => e.balance_after))},
                        ${bigints(entries.map((e) => e.reserved_after))}, ${texts(entries.map((e) => e.run_id))},
                        ${texts(entries.map((e) => e.reference))}, ${texts(entries.map((e) => e.note))},
                        ${byteas(entries.map((e) => e.hash))}) AS n
          )`

export const writeOpened = (sql: SqlClient.SqlClient, opened: ReadonlyArray<AdmittedRun>, at: Statement.Fragment) =>
  opened.length === 0
    ? sql.literal("")
    : sql`, opened AS (
            INSERT INTO open_runs (run_id, org_id, hold, state, provider, side_effect, worker_id, lease_token, attempts, free_bytes, since)
            SELECT run_id, org_id, hold, state, provider, side_effect, worker_id, lease_token, attempts::json, free_bytes, ${at}
            FROM unnest(${texts(opened.map((o) => o.run_id))}, ${texts(opened.map((o) => o.org_id))},
                        ${bigints(opened.map((o) => o.hold))}, ${texts(opened.map((o) => o.state))}, ${texts(opened.map((o) => o.provider))},
                        ${booleans(opened.map((o) => o.side_effect))}, ${texts(opened.map((o) => o.worker_id))},
                        ${texts(opened.map((o) => o.lease_token))}, ${jsons(opened.map((o) => o.attempts))}, ${bigints(opened.map((o) => o.free_bytes))})
                 AS n(run_id, org_id, hold, state, provider, side_effect, worker_id, lease_token, attempts, free_bytes)
          )`

export const writeClosed = (sql: SqlClient.SqlClient, closed: TurnEffects["closed"]) =>
  closed.length === 0
    ? sql.literal("")
    : sql`, closed AS (
            DELETE FROM open_runs o
            USING unnest(${texts(closed.map((c) => c.run_id))}, ${texts(closed.map((c) => c.lease_token))}) AS n(run_id, lease_token)
            WHERE o.run_id = n.run_id AND o.lease_token IS NOT DISTINCT FROM n.lease_token
              -- A run without a lease is cancelled, and none whose provider was called since it was read.
              AND (n.lease_token IS NOT NULL OR json_array_length(o.attempts) = 0) RETURNING 1
          )`

/**
 * Parts for runs that ended with another run's result: that of a stored run is copied inside the database, and that of a run which ends in
 * this turn too is sent once. A turn without such runs has the same statement as before.
 */
const reuseParts = (sql: SqlClient.SqlClient, ended: ReadonlyArray<EndedRun>) => {
  const none = sql.literal("")
  if (!ended.some((run) => run.reuse !== undefined)) return { results: none, set: none, columns: none, names: none }
  const sharedIds = new Set(ended.flatMap(({ reuse }) => reuse?.shares ?? []))
  const shared = ended.filter((run) => sharedIds.has(run.run_id))
  return {
    results: sql`,
                     (SELECT x.result::json FROM unnest(${texts(shared.map((r) => r.run_id))}, ${texts(shared.map((r) => r.result))}) AS x(run_id, result)
                      WHERE x.run_id = n.shares),
                     (SELECT s.result FROM runs s WHERE s.org_id = n.org_id AND s.run_id = n.copies)`,
    set: sql.literal("reused_from = n.reused_from, "),
    columns: sql`, ${texts(ended.map((r) => r.reuse?.reused_from ?? null))}, ${texts(ended.map((r) => r.reuse?.copies ?? null))},
                        ${texts(ended.map((r) => r.reuse?.shares ?? null))}`,
    names: sql.literal(", reused_from, copies, shares")
  }
}

/** `ended` are stored runs; `all` are also those that the turn admits and refuses. */
export const writeEnded = (
  sql: SqlClient.SqlClient,
  lane: number,
  ended: ReadonlyArray<EndedRun>,
  all: ReadonlyArray<EndedRun>,
  at: Statement.Fragment
) => {
  const reused = reuseParts(sql, ended)
  const finished = sql`, finished AS (
            UPDATE runs_recent r SET status = n.status, charged = n.charged, provider_cost = n.provider_cost, provider = coalesce(n.provider, r.provider),
                   attempts = n.attempts::json, hints = n.hints::json, error_code = n.error_code, error_message = n.error_message, control = n.control,
                   result = coalesce(n.result::json, (SELECT m.result FROM mailbox m WHERE m.lane = ${lane} AND m.id = n.result_of)${reused.results}),
                   ${reused.set}finished_at = ${at}
            FROM unnest(${texts(ended.map((r) => r.org_id))}, ${texts(ended.map((r) => r.run_id))}, ${texts(ended.map((r) => r.status))},
                        ${bigints(ended.map((r) => r.charged))}, ${bigints(ended.map((r) => r.provider_cost))},
                        ${texts(ended.map((r) => r.provider))},
                        ${jsons(ended.map((r) => r.attempts))}, ${jsons(ended.map((r) => r.hints))},
                        ${texts(ended.map((r) => r.error_code))}, ${texts(ended.map((r) => r.error_message))}, ${texts(ended.map((r) => r.control))},
                        ${bigints(ended.map((r) => r.result_of))}, ${texts(ended.map((r) => r.result))}${reused.columns})
                 AS n(org_id, run_id, status, charged, provider_cost, provider, attempts, hints, error_code, error_message, control, result_of, result${reused.names})
            WHERE r.org_id = n.org_id AND r.run_id = n.run_id AND r.finished_at IS NULL
            RETURNING 1
          )`
  const indexed = sql`, indexed AS (
            INSERT INTO history_queue (org_id, run_ids)
            SELECT org_id, array_agg(run_id) FROM unnest(${texts(all.map((r) => r.org_id))}, ${texts(all.map((r) => r.run_id))}) AS n(org_id, run_id)
            GROUP BY org_id
          )`
  const none = sql.literal("")
  return sql`${ended.length === 0 ? none : finished}${all.length === 0 ? none : indexed}`
}

export const writeAttempts = (
  sql: SqlClient.SqlClient,
  lane: number,
  attempts: ReadonlyArray<AttemptCount>,
  now: number
) =>
  attempts.length === 0
    ? sql.literal("")
    : sql`, counted AS (
            -- No other part reads these rows, so Postgres writes them after the check below: only one turn of the lane gets here.
            INSERT INTO attempt_windows AS w (span, starts_at, subject, lane, ok, latency_bucket, count)
            SELECT s.span, to_timestamp(s.starts_at), n.subject, ${lane}::smallint, n.ok, n.latency_bucket, n.count
            FROM unnest(${texts(attempts.map((a) => a.subject))}, ${booleans(attempts.map((a) => a.ok))},
                        ${bigints(attempts.map((a) => BigInt(a.latency_bucket)))}, ${bigints(attempts.map((a) => BigInt(a.count)))})
                 AS n(subject, ok, latency_bucket, count),
                 unnest(${texts(spans)}, ${bigints(spans.map((span) => BigInt(windowStart(span, now))))}) AS s(span, starts_at)
            ON CONFLICT (span, starts_at, subject, lane, ok, latency_bucket) DO UPDATE SET count = w.count + excluded.count
          )`

const isOverBudget = (run: object): boolean => "error_code" in run && run.error_code === "budget_exceeded"

/** Runs that the turn opened or ended without a ledger entry: they are free, or were refused. */
export const unbookedRuns = ({ entries, opened, ended }: Pick<TurnEffects, "entries" | "opened" | "ended">) => {
  const booked = new Set(entries.map(({ run_id }) => run_id))
  return [...opened, ...ended].filter(({ run_id }) => !booked.has(run_id))
}

/** Lists these runs for the event logs that somebody listens to, and those that a budget refused for alerts too; see EventWriter. */
export const writeUnbooked = (sql: SqlClient.SqlClient, runs: ReturnType<typeof unbookedRuns>) =>
  runs.length === 0
    ? sql.literal("")
    : sql`, unbooked AS (
            INSERT INTO event_inbox (org_id, run_id)
            SELECT n.org_id, n.run_id
            FROM unnest(${texts(runs.map((r) => r.org_id))}, ${texts(runs.map((r) => r.run_id))}, ${booleans(runs.map(isOverBudget))})
                 AS n(org_id, run_id, over_budget)
            JOIN event_heads h ON h.org_id = n.org_id AND (h.listened_at IS NOT NULL OR n.over_budget)
          )`
