/**
 * Writes a turn in one statement: wallets, ledger entries, open runs, replies, and how runs ended, with the queue of the history index, the
 * counts of attempts, and the runs that the event log can't find in the ledger.
 *
 * Each part begins with a comma, and is left out when it has no rows: PostgreSQL would prepare its tables for every turn.
 */
import { Clock, Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { MicroUsd } from "../../schema/money/Money.ts"
import { spans, windowStart } from "../../schema/runs/Health.ts"
import { recalledSecondsMax } from "../../schema/wallet/TurnTime.ts"
import { approvalsHeld, writeApprovals } from "../guards/ApprovalTurn.ts"
import { noContactConflict, writeContacts } from "../guards/ContactTurn.ts"
import { freeFits, writeFree } from "../guards/FreeTurn.ts"
import { optOutsAreCurrent, writeRefused } from "../guards/OptOutTurn.ts"
import { askingRuns, triesAreSeen, writeRepeats } from "../guards/RepeatTurn.ts"
import { reuseClaimHeld, writeReuse } from "../guards/ReuseTurn.ts"
import { bigints, booleans, byteas, dates, ints, jsons, tableOf, texts } from "../postgres/Rows.ts"
import { insertRuns, isUsableKey, newRunRows } from "../runs/NewRuns.ts"
import type { NewRun } from "../runs/NewRuns.ts"
import { budgetsAreCurrent, writeBudgets } from "./BudgetTurn.ts"
import { openedLabels, storeNewValues } from "./LabelTurn.ts"
import { type Linked, link } from "./LedgerChain.ts"
import { isEmpty, writePayments } from "./PaymentTurn.ts"
import type {
  AdmittedRun,
  AttemptCount,
  EndedRun,
  RunLoss,
  TurnEffects,
  TurnInput,
  TurnView,
  TurnWallet,
  UnknownOutcome
} from "./Turn.ts"

/** Condition of the turn's statement: a part returned a row for each of these. */
const allOf = (sql: SqlClient.SqlClient, part: "gone" | "finished" | "closed", rows: ReadonlyArray<unknown>) =>
  rows.length === 0 ? sql.literal("") : sql` AND (SELECT count(*) FROM ${sql.literal(part)}) = ${rows.length}::int`

/** The commands that the turn applied. */
const deleteMail = (sql: SqlClient.SqlClient, lane: number, ids: ReadonlyArray<bigint>) =>
  ids.length === 0
    ? sql.literal("")
    : sql`, gone AS (
            DELETE FROM mailbox WHERE lane = ${lane} AND id = ANY(${bigints(ids)}) RETURNING 1
          )`

const writeReplies = (sql: SqlClient.SqlClient, replies: TurnEffects["replies"]) =>
  replies.length === 0
    ? sql.literal("")
    : sql`, replied AS (
            INSERT INTO replies (command_id, reply)
            SELECT command_id, reply::json FROM ${tableOf("n", replies, { command_id: texts, reply: jsons })}
            ON CONFLICT (command_id) DO NOTHING
          )`

const writeEntries = (sql: SqlClient.SqlClient, entries: ReadonlyArray<Linked>, at: Statement.Fragment) =>
  entries.length === 0
    ? sql.literal("")
    : sql`, written AS (
            INSERT INTO ledger (org_id, seq, txn_id, type, amount, balance_after, reserved_after, run_id, reference, note, hash, created_at)
            SELECT n.*, ${at}
            FROM ${tableOf("n", entries, { org_id: texts, seq: bigints, txn_id: texts, type: texts, amount: bigints, balance_after: bigints, reserved_after: bigints, run_id: texts, reference: texts, note: texts, hash: byteas })}
          )`

const writeOpened = (sql: SqlClient.SqlClient, opened: ReadonlyArray<AdmittedRun>, at: Statement.Fragment) => {
  if (opened.length === 0) return sql.literal("")
  const labels = openedLabels(sql, opened)
  return sql`, opened AS (
            INSERT INTO open_runs (run_id, org_id, hold, state, provider, side_effect, worker_id, lease_token, attempts, free_bytes, since${labels.name})
            SELECT run_id, org_id, hold, state, provider, side_effect, worker_id, lease_token, attempts::json, free_bytes, ${at}${labels.value}
            FROM ${tableOf("n", opened, { run_id: texts, org_id: texts, hold: bigints, state: texts, provider: texts, side_effect: booleans, worker_id: texts, lease_token: texts, attempts: jsons, free_bytes: bigints }, labels.columns)}
          )${labels.rows}`
}

const writeClosed = (sql: SqlClient.SqlClient, closed: TurnEffects["closed"]) =>
  closed.length === 0
    ? sql.literal("")
    : sql`, closed AS (
            DELETE FROM open_runs o
            USING ${tableOf("n", closed, { run_id: texts, lease_token: texts })}
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
  if (!ended.some((run) => run.reuse !== undefined)) return { results: none, set: none, columns: {} }
  const sharedIds = new Set(ended.flatMap(({ reuse }) => reuse?.shares ?? []))
  const shared = ended.filter((run) => sharedIds.has(run.run_id))
  return {
    results: sql`,
                     (SELECT x.result::json FROM ${tableOf("x", shared, { run_id: texts, result: texts })}
                      WHERE x.run_id = n.shares),
                     (SELECT s.result FROM runs s WHERE s.org_id = n.org_id AND s.run_id = n.copies)`,
    set: sql.literal("reused_from = n.reused_from, "),
    columns: {
      reused_from: texts(ended.map((r) => r.reuse?.reused_from ?? null)),
      copies: texts(ended.map((r) => r.reuse?.copies ?? null)),
      shares: texts(ended.map((r) => r.reuse?.shares ?? null))
    }
  }
}

/** `ended` are stored runs; `all` are also those that the turn admits and refuses. */
const writeEnded = (
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
            FROM ${tableOf("n", ended, { org_id: texts, run_id: texts, status: texts, charged: bigints, provider_cost: bigints, provider: texts, attempts: jsons, hints: jsons, error_code: texts, error_message: texts, control: texts, result_of: bigints, result: texts }, reused.columns)}
            WHERE r.org_id = n.org_id AND r.run_id = n.run_id AND r.finished_at IS NULL
            RETURNING 1
          )`
  const indexed = sql`, indexed AS (
            INSERT INTO history_queue (org_id, run_ids)
            SELECT org_id, array_agg(run_id) FROM ${tableOf("n", all, { org_id: texts, run_id: texts })}
            GROUP BY org_id
          )`
  const none = sql.literal("")
  return sql`${ended.length === 0 ? none : finished}${all.length === 0 ? none : indexed}`
}

const writeAttempts = (sql: SqlClient.SqlClient, lane: number, attempts: ReadonlyArray<AttemptCount>, now: number) =>
  attempts.length === 0
    ? sql.literal("")
    : sql`, counted AS (
            -- No other part reads these rows, so Postgres writes them after the check below: only one turn of the lane gets here.
            INSERT INTO attempt_windows AS w (span, starts_at, subject, lane, ok, latency_bucket, count)
            SELECT s.span, to_timestamp(s.starts_at), n.subject, ${lane}::smallint, n.ok, n.latency_bucket, n.count
            FROM ${tableOf("n", attempts, { subject: texts, ok: booleans, latency_bucket: ints, count: ints })},
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
const writeUnbooked = (sql: SqlClient.SqlClient, runs: ReturnType<typeof unbookedRuns>) =>
  runs.length === 0
    ? sql.literal("")
    : sql`, unbooked AS (
            INSERT INTO event_inbox (org_id, run_id)
            SELECT n.org_id, n.run_id
            FROM ${tableOf<(typeof runs)[number]>("n", runs, { org_id: texts, run_id: texts }, { over_budget: booleans(runs.map(isOverBudget)) })}
            JOIN event_heads h ON h.org_id = n.org_id AND (h.listened_at IS NOT NULL OR n.over_budget)
          )`

interface KeyUse {
  readonly key_id: string
  readonly org_id: string
  readonly version: bigint
  /** The highest hold among the runs. */
  readonly hold: bigint
}

/** The API keys of runs, each in the version that the runs were checked against. */
const usesOf = (runs: ReadonlyArray<NewRun>): ReadonlyMap<string, KeyUse> => {
  const uses = new Map<string, KeyUse>()
  for (const { key_id, key_version, org_id, hold } of runs) {
    if (key_id === null) continue
    // No key has a negative version, so a run without one is never admitted.
    const version = key_version ?? -1n
    const name = `${key_id} ${version} ${org_id}`
    const use = uses.get(name)
    if (use === undefined || use.hold < hold) uses.set(name, { key_id, org_id, version, hold })
  }
  return uses
}

/**
 * Parts of the turn's statement that insert the admitted runs, each with a leading comma. They are created at the turn's time, as
 * their ledger entries are. A run that was refused is inserted with its end. API keys are locked until the commit: a revocation or change
 * waits for it, so nothing is admitted after it was answered. A key is live only if it has the version that the runs were checked against,
 * and if its `max_cost` covers their holds.
 */
const writeArrived = (
  sql: SqlClient.SqlClient,
  runs: ReadonlyArray<NewRun>,
  endings: ReadonlyMap<string, EndedRun>,
  at: Statement.Fragment
) => {
  const ending = runs.map((run) => endings.get(run.run_id))
  const keyed = runs.filter((run) => run.idempotency_key !== null)
  const claimed = sql`, claimed AS (
            INSERT INTO idempotency_keys (org_id, idempotency_key, run_id)
            SELECT * FROM ${tableOf("n", keyed, { org_id: texts, idempotency_key: texts, run_id: texts })}
          )`
  const keys = [...usesOf(runs).values()]
  const rows = newRunRows(sql, runs, {
    names: "status, error_code, error_message, control",
    values: sql`${texts(ending.map((e) => e?.status ?? null))}, ${texts(ending.map((e) => e?.error_code ?? null))},
              ${texts(ending.map((e) => e?.error_message ?? null))}, ${texts(ending.map((e) => e?.control ?? null))}`
  })
  return sql`, live_keys AS (
            -- A subquery with a limit for each key: otherwise a plan made while there are few keys reads those of all organizations.
            SELECT k.key_id
            FROM ${tableOf("d", keys, { key_id: texts, org_id: texts, version: bigints, hold: bigints })}
            CROSS JOIN LATERAL (SELECT * FROM api_keys k WHERE k.key_id = d.key_id LIMIT 1 FOR SHARE) k
            WHERE k.org_id = d.org_id AND k.version = d.version AND ${sql.literal(isUsableKey)} AND (k.max_cost IS NULL OR k.max_cost >= d.hold)
          )${keyed.length === 0 ? sql.literal("") : claimed}, arrived AS (${insertRuns(sql, rows, {
            names: "status, error_code, error_message, control, created_at, finished_at",
            values: sql`coalesce(status, 'created'), error_code, error_message, control, ${at}, CASE WHEN status IS NOT NULL THEN ${at} END`
          })}
          )`
}

/**
 * Condition for a turn that has read nothing: none of its organizations has too many open runs. The index of `idempotency_keys` refuses keys that
 * other runs have.
 */
const recallCondition = (sql: SqlClient.SqlClient, orgQueue: number) => sql`
                            AND (SELECT coalesce(max(open_runs), 0) FROM paid) * 4 <= ${orgQueue}::int`

/** Condition of the turn's statement: every API key that the admitted runs came with is still live. */
const keysAreLive = (sql: SqlClient.SqlClient, runs: ReadonlyArray<NewRun>) =>
  sql`AND (SELECT count(*) FROM live_keys) = ${usesOf(runs).size}::int`

const writeLosses = (sql: SqlClient.SqlClient, lane: number, losses: ReadonlyArray<RunLoss>) =>
  losses.length === 0
    ? sql.literal("")
    : sql`, lost AS (
            INSERT INTO losses (run_id, org_id, provider, reason, measured, charge, cost)
            SELECT * FROM ${tableOf("n", losses, { run_id: texts, org_id: texts, provider: texts, reason: texts, measured: booleans, charge: bigints, cost: bigints })}
          ), lost_sums AS (
            INSERT INTO loss_sums AS s (provider, reason, lane, runs, loss)
            SELECT coalesce(n.provider, ''), n.reason, ${lane}::smallint, count(*), sum(n.loss)
            FROM ${tableOf("n", losses, { provider: texts, reason: texts }, { loss: bigints(losses.map((l) => l.cost - l.charge)) })}
            GROUP BY 1, 2
            ON CONFLICT (provider, reason, lane) DO UPDATE SET runs = s.runs + excluded.runs, loss = s.loss + excluded.loss
          )`

const writeUnknowns = (sql: SqlClient.SqlClient, unknowns: ReadonlyArray<UnknownOutcome>) =>
  unknowns.length === 0
    ? sql.literal("")
    : sql`, unknown AS (
            INSERT INTO unknown_outcomes (run_id, org_id, provider, why, provider_state, look_after)
            SELECT run_id, org_id, provider, why, provider_state::json, CASE WHEN look THEN now() END
            FROM ${tableOf("n", unknowns, { run_id: texts, org_id: texts, provider: texts, why: texts, provider_state: jsons, look: booleans })}
          )`

/** The change of each organization's count of open runs. */
const openRunsChange = ({ opened, closed }: TurnEffects): ReadonlyMap<string, bigint> => {
  const change = new Map<string, bigint>()
  for (const { org_id } of opened) change.set(org_id, (change.get(org_id) ?? 0n) + 1n)
  for (const { org_id } of closed) change.set(org_id, (change.get(org_id) ?? 0n) - 1n)
  return change
}

/** Condition of the turn's statement: the turn's time is the database's, before or after by no more than that. */
const isTimely = (sql: SqlClient.SqlClient, now_micros: bigint, wasRead: boolean, minutes: number) => sql`
                            AND abs((extract(epoch FROM now()) * 1000000)::bigint - ${now_micros}::bigint)
                                < ${(wasRead ? minutes * 60 : recalledSecondsMax) * 1_000_000}::bigint`

/** What the operator allows. */
export interface TurnLimits {
  readonly autoTopupDailyMax: MicroUsd
  /** Bytes; see `TurnView.free_limit`. */
  readonly freeLimit: bigint
  readonly orgQueue: number
  readonly repeatGuard: number
  /** Minutes between a turn's reading and its writing. */
  readonly minutes: number
}

/**
 * Writes a turn, and returns the wallets as they are then. Every wallet must still have the version that was read, every run that ends must
 * be open under the lease that was read, and every command must still exist. Otherwise `rungate_turn_conflict()` rolls it back.
 */
export const turnWriter = (sql: SqlClient.SqlClient, limits: TurnLimits) => {
  const { autoTopupDailyMax, freeLimit, orgQueue, repeatGuard, minutes } = limits
  const none = sql.literal("")
  return Effect.fnUntraced(function* (
    lane: number,
    input: TurnInput & Pick<TurnView, "budgets" | "contacts" | "opt_outs">,
    arrived: ReadonlyArray<NewRun>,
    effects: TurnEffects,
    wasRead: boolean
  ) {
    const { commands, runs, repeats, now_micros, budgets, contacts, opt_outs } = input
    const { opened, closed, replies, attempts, records } = effects
    // Those of an organization that is being copied stay, for the turn after the move was undone.
    const isTaken = ({ org_id }: { readonly org_id: string }) => input.wallets.get(org_id)?.moving !== "fenced"
    const stored = commands.flatMap((mail) => (mail.id === null || !isTaken(mail) ? [] : [mail.id]))
    const arrivedIds = new Set(arrived.map((run) => run.run_id))
    const isStored = (run: EndedRun) => !arrivedIds.has(run.run_id)
    const ended = arrived.length === 0 ? effects.ended : effects.ended.filter(isStored)
    const refused = new Map(effects.ended.flatMap((run) => (isStored(run) ? [] : [[run.run_id, run] as const])))
    const { entries, heads } = link(input.wallets, effects.entries, now_micros)
    const now = yield* Clock.currentTimeMillis
    const openRuns = openRunsChange(effects)
    const wallets = effects.wallets.map((wallet): TurnWallet => {
      const { org_id } = wallet
      const before = input.wallets.get(org_id)
      if (before === undefined) throw new Error(`The turn changes the wallet of ${org_id}, which it has not read.`)
      return {
        wallet,
        lane,
        version: before.version + 1n,
        head: heads.get(org_id) ?? before.head,
        open_runs: before.open_runs + (openRuns.get(org_id) ?? 0n),
        free_used: before.free_used + (effects.free.stored.get(org_id) ?? 0n),
        ...(before.own_day === undefined ? {} : { own_day: before.own_day })
      }
    })
    const amounts = effects.wallets
    const version = bigints(wallets.map((w) => w.version - 1n))
    const head = byteas(wallets.map((w) => w.head))
    const added = bigints(amounts.map((w) => openRuns.get(w.org_id) ?? 0n))
    const newValues = storeNewValues(sql, budgets, effects.budgets)
    const at = sql`'epoch'::timestamptz + ${now_micros}::bigint * interval '1 microsecond'`
    yield* sql`
          WITH paid AS (
            UPDATE wallets w SET version = w.version + 1, balance = n.balance, reserved = n.reserved, entry_seq = n.entry_seq, head = n.head,
                   spent_day = n.spent_day, spent = n.spent,
                   open_runs = greatest(0, w.open_runs + n.opened), allowances_held = n.allowances_held
            FROM ${tableOf("n", amounts, { org_id: texts, balance: bigints, reserved: bigints, entry_seq: bigints, spent_day: dates, spent: bigints, allowances_held: bigints }, { version, head, opened: added })}
            WHERE w.org_id = n.org_id AND w.version = n.version
            RETURNING w.open_runs
          )${writeEntries(sql, entries, at)}${writeOpened(sql, opened, at)}${writeClosed(sql, closed)}${writeReplies(sql, replies)}${deleteMail(sql, lane, stored)}${writeEnded(sql, lane, ended, effects.ended, at)}${writeAttempts(sql, lane, attempts, now)}${writeUnbooked(sql, unbookedRuns(effects))}${writeLosses(sql, lane, records.losses)}${writeUnknowns(sql, records.unknowns)}${isEmpty(effects.payments) ? none : writePayments(sql, effects.payments, autoTopupDailyMax)}${writeBudgets(sql, budgets, effects.budgets, effects.budget_alerts)}${newValues.rows}${writeRepeats(sql, effects.repeats)}${writeContacts(sql, effects.contacts)}${writeRefused(sql, effects.opted_out)}${writeReuse(sql, lane, effects.reuse, ended)}${writeFree(sql, effects.free)}${writeApprovals(sql, effects.approvals, at)}${arrived.length === 0 ? none : writeArrived(sql, arrived, refused, at)}
          SELECT CASE WHEN (SELECT count(*) FROM paid) = ${wallets.length}::int${allOf(sql, "gone", stored)}${allOf(sql, "finished", ended)}${allOf(sql, "closed", closed)}
                            ${arrived.length === 0 ? none : keysAreLive(sql, arrived)}${budgetsAreCurrent(sql, budgets, effects.budgets)}${newValues.condition}${triesAreSeen(sql, repeatGuard === 0 ? [] : askingRuns(commands, runs), repeats, now_micros)}${noContactConflict(sql, effects.contacts, contacts, now_micros)}${optOutsAreCurrent(sql, opt_outs)}${reuseClaimHeld(sql, effects.reuse)}${freeFits(sql, effects.free, freeLimit)}${approvalsHeld(sql, effects.approvals)}${isTimely(sql, now_micros, wasRead, minutes)}${wasRead ? none : recallCondition(sql, orgQueue)}
                      THEN 1 ELSE rungate_turn_conflict() END AS whole`
    return wallets
  })
}
