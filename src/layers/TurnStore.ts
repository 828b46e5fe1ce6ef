/**
 * One turn of a lane, as storage sees it: read the mail with all it concerns, decide, write it all in one statement.
 *
 * That statement is the fence. It deletes the mail it applies and it requires every wallet to be as it was read, so of two
 * turns that were handed the same lane the second waits on the first one's rows, finds them changed, and is undone as a whole.
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { crashPoint } from "./CrashPoint.ts"
import { bigints, booleans, byteas, texts } from "./Columns.ts"
import { link, type Unlinked } from "./LedgerChain.ts"
import {
  autoColumn,
  autoOf,
  isEmpty,
  noPayments,
  type PaymentEffects,
  type PaymentView,
  readPayments,
  writePayments
} from "./PaymentTurn.ts"
import { Settings } from "./Settings.ts"
import { hasRecords, type TurnRecords, writeRecords } from "./TurnRecords.ts"
import type { AutoTopup } from "../schema/AutoTopup.ts"
import { isRecord } from "../schema/Json.ts"
import { spans, windowStart } from "../schema/Health.ts"
import { MicroUsd } from "../schema/Money.ts"
import { isRunStatus, type RunStatus } from "../schema/Run.ts"
import type { HeldRun, Wallet } from "../schema/Wallet.ts"

export interface Mail {
  readonly id: bigint
  readonly command_id: string | null
  readonly org_id: string
  readonly run_id: string | null
  readonly tag: string
  readonly payload: unknown
}

export interface TurnRun extends HeldRun {
  readonly org_id: string
  /** Plan and input are read only for runs that start in this turn. */
  readonly plan: unknown
  readonly input: string
  readonly capability: string | null
  /** Of a raw run: its endpoint's path and method. */
  readonly endpoint: string | null
  readonly method: string | null
}

/** Everything a turn may look at. */
export interface TurnView {
  readonly mail: ReadonlyArray<Mail>
  readonly wallets: ReadonlyMap<string, Wallet>
  readonly runs: ReadonlyMap<string, TurnRun>
  /** Automatic top-ups of the wallets that have one. */
  readonly autos: ReadonlyMap<string, AutoTopup>
  /** What the payment commands among the mail are about. */
  readonly payments: PaymentView
  /** References of credits among the mail that the ledger already holds. */
  readonly credited: ReadonlyMap<string, string>
  /** The database's UTC day. */
  readonly day: string
  /** The database's time in microseconds since 1970: when the entries of this turn are made. */
  readonly now_micros: bigint
  /** What a day's automatic charges of a wallet may come to. */
  readonly auto_topup_daily_max: MicroUsd
}

/** The end of a run. */
export interface Ending {
  readonly org_id: string
  readonly run_id: string
  /** The lease under which it ended; null when it never started. */
  readonly lease_token: string | null
  readonly status: RunStatus
  readonly charged: bigint | null
  /** What its providers took, in microdollars; null when that is not known or none was called. */
  readonly provider_cost: bigint | null
  readonly provider: string | null
  readonly attempts: string | null
  readonly hints: string | null
  readonly error_code: string | null
  readonly error_message: string | null
  /** The mail whose `result` becomes the run's: it never leaves the database. */
  readonly result_of: bigint | null
}

export interface Opening {
  readonly run_id: string
  readonly org_id: string
  readonly hold: bigint
  readonly state: "queued" | "running"
  readonly side_effect: boolean
  readonly worker_id: string | null
  readonly lease_token: string | null
  readonly attempts: string
}

export interface TurnEffects {
  readonly wallets: ReadonlyArray<Wallet>
  readonly entries: ReadonlyArray<Unlinked>
  readonly ended: ReadonlyArray<Ending>
  readonly opened: ReadonlyArray<Opening>
  /** Runs whose hold and lease end, with the lease they were seen under: one that changed hands meanwhile is not closed. */
  readonly closed: ReadonlyArray<{ readonly run_id: string; readonly lease_token: string | null }>
  readonly replies: ReadonlyArray<{ readonly command_id: string; readonly reply: string }>
  readonly attempts: ReadonlyArray<AttemptCount>
  readonly records: TurnRecords
  readonly payments: PaymentEffects
}

/** Attempts of the runs that end, counted by what they say about a provider; see schema/Health.ts. */
export interface AttemptCount {
  readonly subject: string
  readonly ok: boolean
  readonly latency_bucket: number
  readonly count: number
}

/** One command with what it concerns. A wallet's columns come with the first of its commands only. */
interface TakenRow {
  readonly id: bigint
  readonly command_id: string | null
  readonly org_id: string
  readonly run_id: string | null
  readonly tag: string
  readonly payload: unknown
  readonly day: string
  readonly now_micros: bigint
  readonly version: bigint | null
  readonly balance: bigint
  readonly reserved: bigint
  readonly entry_seq: bigint
  readonly head: Uint8Array | null
  readonly per_run_limit: bigint | null
  readonly daily_limit: bigint | null
  readonly spent_day: string
  readonly spent: bigint
  readonly status: string | null
  readonly hold: bigint
  readonly lease_token: string | null
  readonly capability: string | null
  readonly endpoint: string | null
  readonly method: string | null
  readonly plan: unknown
  readonly input: string | null
  readonly credited: string | null
  readonly auto: unknown
}

const walletOf = (row: TakenRow): Wallet => ({
  org_id: row.org_id,
  balance: MicroUsd(row.balance),
  reserved: MicroUsd(row.reserved),
  entry_seq: row.entry_seq,
  per_run_limit: row.per_run_limit === null ? null : MicroUsd(row.per_run_limit),
  daily_limit: row.daily_limit === null ? null : MicroUsd(row.daily_limit),
  spent_day: row.spent_day,
  spent: MicroUsd(row.spent)
})

/** The view, and of its wallets what only the write needs. */
interface Taken extends Omit<TurnView, "payments" | "auto_topup_daily_max"> {
  readonly versions: ReadonlyMap<string, bigint>
  readonly heads: ReadonlyMap<string, Uint8Array>
}

const viewOf = (rows: ReadonlyArray<TakenRow>): Taken => {
  const wallets = new Map<string, Wallet>()
  const versions = new Map<string, bigint>()
  const heads = new Map<string, Uint8Array>()
  const runs = new Map<string, TurnRun>()
  const credited = new Map<string, string>()
  const autos = new Map<string, AutoTopup>()
  for (const row of rows) {
    const auto = autoOf(row.auto)
    if (auto !== null) autos.set(row.org_id, auto)
    if (row.version !== null) {
      wallets.set(row.org_id, walletOf(row))
      versions.set(row.org_id, row.version)
      if (row.head !== null) heads.set(row.org_id, row.head)
    }
    if (row.command_id !== null && row.credited !== null) credited.set(row.command_id, row.credited)
    if (row.run_id === null || row.status === null || !isRunStatus(row.status) || runs.has(row.run_id)) continue
    const { org_id, run_id, status, lease_token, capability, endpoint, method, plan, input } = row
    runs.set(run_id, {
      org_id,
      run_id,
      status,
      hold: MicroUsd(row.hold),
      lease_token,
      capability,
      endpoint,
      method,
      plan,
      input: input ?? "null"
    })
  }
  const { day = "1970-01-01", now_micros = 0n } = rows[0] ?? {}
  return { mail: rows, wallets, versions, heads, runs, credited, autos, day, now_micros }
}

/** Another turn applied some of this mail first; the next one sees it fresh. */
export class TurnsMet extends Schema.TaggedError<TurnsMet>()("TurnsMet", {}) {}

/** What a statement that found the world changed says. */
const divisionByZero = "22012"
const isDivisionByZero = (error: SqlError.SqlError): boolean => {
  let cause: unknown = error
  for (let depth = 0; depth < 5 && typeof cause === "object" && cause !== null; depth++) {
    if ("code" in cause && cause.code === divisionByZero) return true
    cause = "cause" in cause ? cause.cause : "reason" in cause ? cause.reason : null
  }
  return error.message.includes("division by zero")
}

export class TurnStore extends Context.Service<
  TurnStore,
  {
    /**
     * Takes up to `max` commands of a lane, oldest first, and applies what `decide` makes of them. Answers what decide
     * answered, or null when the mailbox was empty. Dies when the database refuses; nothing is applied then, nor when two
     * turns met.
     */
    readonly turn: <A extends object>(
      lane: number,
      max: number,
      decide: (view: TurnView) => { readonly effects: TurnEffects; readonly answer: A }
    ) => Effect.Effect<(A & { readonly committed_at: Date }) | null, TurnsMet>
    /** Sets the oldest command aside after it failed alone `parkAfter` times, so that it can't hold up its lane. */
    readonly strike: (lane: number, parkAfter: number, why: string) => Effect.Effect<"kept" | "parked">
  }
>()("rungate/layers/TurnStore") {
  static readonly layer = Layer.effect(
    TurnStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const take = (lane: number, max: number) => sql<TakenRow>`
        SELECT m.id, m.command_id, m.org_id, m.run_id, m.tag, m.payload, (now() AT TIME ZONE 'UTC')::date::text AS day,
               (extract(epoch FROM now()) * 1000000)::bigint AS now_micros,
               w.version, w.balance, w.reserved, w.entry_seq, w.head, w.per_run_limit, w.daily_limit, w.spent_day::text AS spent_day, w.spent,
               coalesce(o.state, r.status) AS status, r.hold, o.lease_token, r.capability,
               r.endpoint, CASE WHEN r.endpoint IS NOT NULL THEN coalesce(r.plan->'raw'->>'method', '-') END AS method,
               CASE WHEN m.tag = 'Reserve' THEN r.plan END AS plan, CASE WHEN m.tag = 'Reserve' THEN r.input::text END AS input,
               l.txn_id AS credited, ${autoColumn(sql)}
        FROM (SELECT *, row_number() OVER (PARTITION BY org_id ORDER BY id) = 1 AS is_first
              FROM (SELECT id, command_id, org_id, run_id, tag, payload FROM mailbox
                    WHERE lane = ${lane} AND parked IS NULL ORDER BY id LIMIT ${max}) oldest) m
        LEFT JOIN wallets w ON m.is_first AND w.org_id = m.org_id
        LEFT JOIN runs r ON r.org_id = m.org_id AND r.run_id = m.run_id
        LEFT JOIN open_runs o ON o.run_id = m.run_id
        LEFT JOIN ledger l ON m.tag = 'Credit' AND l.run_id IS NULL AND l.org_id = m.org_id AND l.reference = m.command_id
                           AND l.type = m.payload->>'type'
        ORDER BY m.id`

      /** Read after the mail: what another turn changed in between has changed the wallet's version too, and this turn is undone. */
      const paymentsOf = Effect.fnUntraced(function* (rows: ReadonlyArray<TakenRow>) {
        const paying = rows.filter((row) => row.tag === "Pay")
        if (paying.length === 0) return noPayments
        const named = (key: string) =>
          paying.flatMap(({ payload }) => {
            const value = isRecord(payload) ? payload[key] : undefined
            return typeof value === "string" ? [value] : []
          })
        const orgs = [...new Set(paying.map((row) => row.org_id))]
        return yield* readPayments(sql, orgs, named("payment_id"), named("event_id"))
      })

      /**
       * One statement, one transaction. Every wallet that was looked at must still have the version that was seen, every run
       * that ends be open under the lease that was seen, every command be there: else a division by zero undoes it all.
       */
      const { autoTopupDailyMax } = yield* Settings
      const apply = Effect.fnUntraced(function* (
        lane: number,
        { mail, versions, heads: before, now_micros }: Taken,
        effects: TurnEffects
      ) {
        const { wallets, ended, opened, closed, replies, attempts, records } = effects
        const { entries, heads } = link(before, effects.entries, now_micros)
        const now = yield* Clock.currentTimeMillis
        const [row] = yield* sql<{ committed_at: Date }>`
          WITH gone AS (
            DELETE FROM mailbox WHERE lane = ${lane} AND id = ANY(${bigints(mail.map((m) => m.id))}) RETURNING 1
          ), paid AS (
            UPDATE wallets w SET version = w.version + 1, balance = n.balance, reserved = n.reserved, entry_seq = n.entry_seq, head = n.head,
                   per_run_limit = n.per_run_limit, daily_limit = n.daily_limit, spent_day = n.spent_day, spent = n.spent
            FROM unnest(${texts(wallets.map((w) => w.org_id))}, ${bigints(wallets.map((w) => versions.get(w.org_id) ?? -1n))},
                        ${bigints(wallets.map((w) => w.balance))}, ${bigints(wallets.map((w) => w.reserved))},
                        ${bigints(wallets.map((w) => w.entry_seq))}, ${byteas(wallets.map((w) => heads.get(w.org_id) ?? null))},
                        ${bigints(wallets.map((w) => w.per_run_limit))}, ${bigints(wallets.map((w) => w.daily_limit))}, ${texts(wallets.map((w) => w.spent_day))}::date[],
                        ${bigints(wallets.map((w) => w.spent))})
                 AS n(org_id, version, balance, reserved, entry_seq, head, per_run_limit, daily_limit, spent_day, spent)
            WHERE w.org_id = n.org_id AND w.version = n.version
            RETURNING 1
          ), written AS (
            INSERT INTO ledger (org_id, seq, txn_id, type, amount, balance_after, reserved_after, run_id, reference, note, hash, created_at)
            SELECT n.*, 'epoch'::timestamptz + ${now_micros}::bigint * interval '1 microsecond'
            FROM unnest(${texts(entries.map((e) => e.org_id))}, ${bigints(entries.map((e) => e.seq))},
                        ${texts(entries.map((e) => e.txn_id))}, ${texts(entries.map((e) => e.type))},
                        ${bigints(entries.map((e) => e.amount))}, ${bigints(entries.map((e) => e.balance_after))},
                        ${bigints(entries.map((e) => e.reserved_after))}, ${texts(entries.map((e) => e.run_id))},
                        ${texts(entries.map((e) => e.reference))}, ${texts(entries.map((e) => e.note))},
                        ${byteas(entries.map((e) => e.hash))}) AS n
          ), opened AS (
            INSERT INTO open_runs (run_id, org_id, hold, state, side_effect, worker_id, lease_token, attempts)
            SELECT run_id, org_id, hold, state, side_effect, worker_id, lease_token, attempts::json
            FROM unnest(${texts(opened.map((o) => o.run_id))}, ${texts(opened.map((o) => o.org_id))},
                        ${bigints(opened.map((o) => o.hold))}, ${texts(opened.map((o) => o.state))},
                        ${booleans(opened.map((o) => o.side_effect))}, ${texts(opened.map((o) => o.worker_id))},
                        ${texts(opened.map((o) => o.lease_token))}, ${texts(opened.map((o) => o.attempts))})
                 AS n(run_id, org_id, hold, state, side_effect, worker_id, lease_token, attempts)
          ), closed AS (
            DELETE FROM open_runs o
            USING unnest(${texts(closed.map((c) => c.run_id))}, ${texts(closed.map((c) => c.lease_token))}) AS n(run_id, lease_token)
            WHERE o.run_id = n.run_id AND o.lease_token IS NOT DISTINCT FROM n.lease_token RETURNING 1
          ), replied AS (
            INSERT INTO replies (command_id, reply)
            SELECT command_id, reply::json FROM unnest(${texts(replies.map((r) => r.command_id))}, ${texts(replies.map((r) => r.reply))})
                 AS n(command_id, reply)
            ON CONFLICT (command_id) DO NOTHING
          ), finished AS (
            UPDATE runs r SET status = n.status, charged = n.charged, provider_cost = n.provider_cost, provider = coalesce(n.provider, r.provider),
                   attempts = n.attempts::json, hints = n.hints::json, error_code = n.error_code, error_message = n.error_message,
                   result = (SELECT m.result FROM mailbox m WHERE m.lane = ${lane} AND m.id = n.result_of), finished_at = now()
            FROM unnest(${texts(ended.map((r) => r.org_id))}, ${texts(ended.map((r) => r.run_id))}, ${texts(ended.map((r) => r.status))},
                        ${bigints(ended.map((r) => r.charged))}, ${bigints(ended.map((r) => r.provider_cost))},
                        ${texts(ended.map((r) => r.provider))},
                        ${texts(ended.map((r) => r.attempts))}, ${texts(ended.map((r) => r.hints))},
                        ${texts(ended.map((r) => r.error_code))}, ${texts(ended.map((r) => r.error_message))},
                        ${bigints(ended.map((r) => r.result_of))})
                 AS n(org_id, run_id, status, charged, provider_cost, provider, attempts, hints, error_code, error_message, result_of)
            WHERE r.org_id = n.org_id AND r.run_id = n.run_id AND r.finished_at IS NULL
            RETURNING 1
          ), indexed AS (
            INSERT INTO history_queue (org_id, run_ids)
            SELECT org_id, array_agg(run_id) FROM unnest(${texts(ended.map((r) => r.org_id))}, ${texts(ended.map((r) => r.run_id))}) AS n(org_id, run_id)
            GROUP BY org_id
          ), counted AS (
            -- Nobody reads it, so Postgres writes it after the fence below has held: only the lane's one turn gets here.
            INSERT INTO attempt_windows AS w (span, starts_at, subject, lane, ok, latency_bucket, count)
            SELECT s.span, to_timestamp(s.starts_at), n.subject, ${lane}::smallint, n.ok, n.latency_bucket, n.count
            FROM unnest(${texts(attempts.map((a) => a.subject))}, ${booleans(attempts.map((a) => a.ok))},
                        ${bigints(attempts.map((a) => BigInt(a.latency_bucket)))}, ${bigints(attempts.map((a) => BigInt(a.count)))})
                 AS n(subject, ok, latency_bucket, count),
                 unnest(${texts(spans)}, ${bigints(spans.map((span) => BigInt(windowStart(span, now))))}) AS s(span, starts_at)
            ON CONFLICT (span, starts_at, subject, lane, ok, latency_bucket) DO UPDATE SET count = w.count + excluded.count
          )${hasRecords(records) ? writeRecords(sql, lane, records) : sql.literal("")}${isEmpty(effects.payments) ? sql.literal("") : writePayments(sql, effects.payments, autoTopupDailyMax)}
          SELECT 1 / (CASE WHEN (SELECT count(*) FROM gone) = ${mail.length}::int AND (SELECT count(*) FROM paid) = ${wallets.length}::int
                            AND (SELECT count(*) FROM finished) = ${ended.length}::int AND (SELECT count(*) FROM closed) = ${closed.length}::int
                      THEN 1 ELSE 0 END) AS whole, now() AS committed_at`
        return row?.committed_at ?? new Date(0)
      })

      const turn = Effect.fnUntraced(
        function* <A extends object>(
          lane: number,
          max: number,
          decide: (view: TurnView) => { readonly effects: TurnEffects; readonly answer: A }
        ) {
          const rows = yield* take(lane, max)
          if (rows.length === 0) return null
          const view = viewOf(rows)
          const payments = yield* paymentsOf(rows)
          const { effects, answer } = decide({ ...view, payments, auto_topup_daily_max: autoTopupDailyMax })
          yield* crashPoint("turn.before_commit")
          const committed_at = yield* apply(lane, view, effects)
          yield* crashPoint("turn.after_commit")
          return { ...answer, committed_at }
        },
        Effect.catchTag("SqlError", (error) =>
          isDivisionByZero(error) ? Effect.fail(new TurnsMet()) : Effect.die(error)
        )
      )

      const strike = Effect.fnUntraced(function* (lane: number, parkAfter: number, why: string) {
        const [row] = yield* sql<{ parked: boolean }>`
          UPDATE mailbox SET attempts = attempts + 1, parked = CASE WHEN attempts + 1 >= ${parkAfter} THEN ${why} END
          WHERE lane = ${lane} AND id = (SELECT min(id) FROM mailbox WHERE lane = ${lane} AND parked IS NULL)
          RETURNING parked IS NOT NULL AS parked`
        return row?.parked === true ? ("parked" as const) : ("kept" as const)
      }, Effect.orDie)

      return TurnStore.of({ turn, strike })
    })
  )
}
