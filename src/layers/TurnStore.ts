/**
 * One turn of a lane, as storage sees it: take the mail, lock the wallets, apply what was decided, in one transaction.
 *
 * The mail is deleted by the statement that writes its effects, so a command is applied at most once. Of two turns that were
 * handed the same mail the second waits for the first one's wallets, finds the mail gone, and undoes itself.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { crashPoint } from "./CrashPoint.ts"
import { bigints, booleans, texts } from "./Columns.ts"
import { MicroUsd } from "../schema/Money.ts"
import { isRunStatus, type RunStatus } from "../schema/Run.ts"
import type { Entry, HeldRun, Wallet } from "../schema/Wallet.ts"

export interface Mail {
  readonly id: bigint
  readonly command_id: string | null
  readonly org_id: string
  readonly run_id: string | null
  readonly tag: string
  readonly payload: unknown
  readonly attempts: number
}

export interface TurnRun extends HeldRun {
  readonly org_id: string
  /** Plan and input are read only for runs that start in this turn. */
  readonly plan: unknown
  readonly input: string
  readonly capability: string | null
}

/** Everything a turn may look at. */
export interface TurnView {
  readonly mail: ReadonlyArray<Mail>
  readonly wallets: ReadonlyMap<string, Wallet>
  readonly runs: ReadonlyMap<string, TurnRun>
  /** References of credits among the mail that the ledger already holds. */
  readonly credited: ReadonlyMap<string, string>
  /** The database's UTC day. */
  readonly day: string
}

/** The end of a run. */
export interface Ending {
  readonly org_id: string
  readonly run_id: string
  readonly status: RunStatus
  readonly charged: bigint | null
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
  readonly entries: ReadonlyArray<Entry & { readonly org_id: string; readonly txn_id: string }>
  readonly ended: ReadonlyArray<Ending>
  readonly opened: ReadonlyArray<Opening>
  /** Runs whose hold and lease end, with the lease they were seen under: one that changed hands meanwhile is not closed. */
  readonly closed: ReadonlyArray<{ readonly run_id: string; readonly lease_token: string | null }>
  readonly replies: ReadonlyArray<{ readonly command_id: string; readonly reply: string }>
}

interface WalletRow {
  readonly org_id: string
  readonly balance: bigint
  readonly reserved: bigint
  readonly entry_seq: bigint
  readonly per_run_limit: bigint | null
  readonly daily_limit: bigint | null
  readonly spent_day: string
  readonly spent: bigint
  readonly day: string
}
interface RunRow {
  readonly org_id: string
  readonly run_id: string
  readonly status: string
  readonly hold: bigint
  readonly lease_token: string | null
  readonly plan: unknown
  readonly input: string | null
  readonly capability: string | null
}

const walletOf = (row: WalletRow): Wallet => ({
  org_id: row.org_id,
  balance: MicroUsd(row.balance),
  reserved: MicroUsd(row.reserved),
  entry_seq: row.entry_seq,
  per_run_limit: row.per_run_limit === null ? null : MicroUsd(row.per_run_limit),
  daily_limit: row.daily_limit === null ? null : MicroUsd(row.daily_limit),
  spent_day: row.spent_day,
  spent: MicroUsd(row.spent)
})

const unique = (values: ReadonlyArray<string>) => [...new Set(values)].sort()

/** Another turn applied some of this mail first; the next one sees it fresh. */
export class TurnsMet extends Schema.TaggedError<TurnsMet>()("TurnsMet", {}) {}

export class TurnStore extends Context.Service<
  TurnStore,
  {
    /**
     * Takes up to `max` commands of a lane, oldest first, and applies what `decide` makes of them. Answers what decide
     * answered, or null when the mailbox was empty. Dies when the database refuses; nothing is applied then, nor when two
     * turns met.
     */
    readonly turn: <A>(
      lane: number,
      max: number,
      decide: (view: TurnView) => { readonly effects: TurnEffects; readonly answer: A }
    ) => Effect.Effect<A | null, TurnsMet>
    /** Sets the oldest command aside after it failed alone `parkAfter` times, so that it can't hold up its lane. */
    readonly strike: (lane: number, parkAfter: number, why: string) => Effect.Effect<"kept" | "parked">
  }
>()("rungate/layers/TurnStore") {
  static readonly layer = Layer.effect(
    TurnStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const take = (lane: number, max: number) => sql<Mail>`
        SELECT id, command_id, org_id, run_id, tag, payload, attempts FROM mailbox
        WHERE lane = ${lane} AND parked IS NULL ORDER BY id LIMIT ${max}`

      // A share lock of a foreign key elsewhere must not wait for a turn: NO KEY.
      const lockWallets = (orgs: ReadonlyArray<string>) => sql<WalletRow>`
        SELECT org_id, balance, reserved, entry_seq, per_run_limit, daily_limit, spent_day::text AS spent_day, spent,
               (now() AT TIME ZONE 'UTC')::date::text AS day
        FROM wallets WHERE org_id = ANY(${texts(orgs)}) ORDER BY org_id FOR NO KEY UPDATE`

      const readRuns = (orgs: ReadonlyArray<string>, runs: ReadonlyArray<string>, starting: ReadonlyArray<string>) => sql<RunRow>`
        SELECT r.org_id, r.run_id, coalesce(o.state, r.status) AS status, r.hold, o.lease_token, r.capability,
               CASE WHEN r.run_id = ANY(${texts(starting)}) THEN r.plan END AS plan,
               CASE WHEN r.run_id = ANY(${texts(starting)}) THEN r.input::text END AS input
        FROM unnest(${texts(orgs)}, ${texts(runs)}) AS asked(org_id, run_id)
        JOIN runs r USING (org_id, run_id) LEFT JOIN open_runs o ON o.run_id = r.run_id`

      const readCredits = (mail: ReadonlyArray<Mail>) => {
        const references = mail.flatMap((one) => (one.tag === "Credit" && one.command_id !== null ? [one.command_id] : []))
        if (references.length === 0) return Effect.succeed([])
        return sql<{ reference: string; txn_id: string }>`
          SELECT reference, txn_id FROM ledger
          WHERE run_id IS NULL AND org_id = ANY(${texts(unique(mail.map((one) => one.org_id)))}) AND reference = ANY(${texts(references)})`
      }

      const apply = Effect.fnUntraced(function* (lane: number, mail: ReadonlyArray<Mail>, effects: TurnEffects) {
        const { wallets, entries, ended, opened, closed, replies } = effects
        const [count] = yield* sql<{ mail: bigint; ended: bigint; closed: bigint }>`
          WITH gone AS (
            DELETE FROM mailbox WHERE lane = ${lane} AND id = ANY(${bigints(mail.map((m) => m.id))}) RETURNING 1
          ), paid AS (
            UPDATE wallets w SET balance = n.balance, reserved = n.reserved, entry_seq = n.entry_seq, per_run_limit = n.per_run_limit,
                   daily_limit = n.daily_limit, spent_day = n.spent_day, spent = n.spent
            FROM unnest(${texts(wallets.map((w) => w.org_id))}, ${bigints(wallets.map((w) => w.balance))},
                        ${bigints(wallets.map((w) => w.reserved))}, ${bigints(wallets.map((w) => w.entry_seq))},
                        ${bigints(wallets.map((w) => w.per_run_limit))}, ${bigints(wallets.map((w) => w.daily_limit))},
                        ${texts(wallets.map((w) => w.spent_day))}::date[], ${bigints(wallets.map((w) => w.spent))})
                 AS n(org_id, balance, reserved, entry_seq, per_run_limit, daily_limit, spent_day, spent)
            WHERE w.org_id = n.org_id
          ), written AS (
            INSERT INTO ledger (org_id, seq, txn_id, type, amount, balance_after, reserved_after, run_id, reference, note)
            SELECT * FROM unnest(${texts(entries.map((e) => e.org_id))}, ${bigints(entries.map((e) => e.seq))},
                        ${texts(entries.map((e) => e.txn_id))}, ${texts(entries.map((e) => e.type))},
                        ${bigints(entries.map((e) => e.amount))}, ${bigints(entries.map((e) => e.balance_after))},
                        ${bigints(entries.map((e) => e.reserved_after))}, ${texts(entries.map((e) => e.run_id))},
                        ${texts(entries.map((e) => e.reference))}, ${texts(entries.map((e) => e.note))})
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
            UPDATE runs r SET status = n.status, charged = n.charged, provider = coalesce(n.provider, r.provider),
                   attempts = n.attempts::json, hints = n.hints::json, error_code = n.error_code, error_message = n.error_message,
                   result = (SELECT m.result FROM mailbox m WHERE m.lane = ${lane} AND m.id = n.result_of), finished_at = clock_timestamp()
            FROM unnest(${texts(ended.map((r) => r.org_id))}, ${texts(ended.map((r) => r.run_id))}, ${texts(ended.map((r) => r.status))},
                        ${bigints(ended.map((r) => r.charged))}, ${texts(ended.map((r) => r.provider))},
                        ${texts(ended.map((r) => r.attempts))}, ${texts(ended.map((r) => r.hints))},
                        ${texts(ended.map((r) => r.error_code))}, ${texts(ended.map((r) => r.error_message))},
                        ${bigints(ended.map((r) => r.result_of))})
                 AS n(org_id, run_id, status, charged, provider, attempts, hints, error_code, error_message, result_of)
            WHERE r.org_id = n.org_id AND r.run_id = n.run_id AND r.finished_at IS NULL
            RETURNING 1
          )
          SELECT (SELECT count(*) FROM gone) AS mail, (SELECT count(*) FROM finished) AS ended, (SELECT count(*) FROM closed) AS closed`
        // Somebody else changed what we decided upon: undo everything, and let the next turn see it fresh.
        const whole = count?.mail === BigInt(mail.length) && count.ended === BigInt(ended.length) && count.closed === BigInt(closed.length)
        if (!whole) return yield* new TurnsMet()
      })

      const turn = <A>(
        lane: number,
        max: number,
        decide: (view: TurnView) => { readonly effects: TurnEffects; readonly answer: A }
      ): Effect.Effect<A | null, TurnsMet> =>
        Effect.gen(function* () {
          const mail = yield* take(lane, max)
          if (mail.length === 0) return null
          const rows = yield* lockWallets(unique(mail.map((one) => one.org_id)))
          // Read after the locks: what another turn committed meanwhile is seen.
          const named = mail.filter((one) => one.run_id !== null)
          const runs = yield* readRuns(
            named.map((one) => one.org_id),
            named.map((one) => one.run_id ?? ""),
            named.flatMap((one) => (one.tag === "Reserve" ? [one.run_id ?? ""] : []))
          )
          const credits = yield* readCredits(mail)
          const held = runs.flatMap((row): ReadonlyArray<TurnRun> =>
            isRunStatus(row.status) ? [{ ...row, status: row.status, hold: MicroUsd(row.hold), input: row.input ?? "null" }] : []
          )
          const { effects, answer } = decide({
            mail,
            wallets: new Map(rows.map((row) => [row.org_id, walletOf(row)])),
            runs: new Map(held.map((run) => [run.run_id, run])),
            credited: new Map(credits.map((credit) => [credit.reference, credit.txn_id])),
            day: rows[0]?.day ?? "1970-01-01"
          })
          yield* apply(lane, mail, effects)
          yield* crashPoint("turn.before_commit")
          return answer
        }).pipe(
          sql.withTransaction,
          Effect.tap(() => crashPoint("turn.after_commit")),
          Effect.catchTag("SqlError", Effect.die)
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
