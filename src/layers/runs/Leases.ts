/**
 * Leases of runs, stored in Postgres and timed by the database's clock.
 *
 * A worker is alive while it renews its row in time. A late worker is dead for good and must register again under a new id, so a
 * frozen process can't resume runs that others took over. Every write of an executing worker carries its lease token.
 */
import { Context, Effect, Exit, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { oneLine } from "../postgres/Batch.ts"
import { booleans, done, hasRows, ints, rowsOf, storedAs, tableOf, texts } from "../postgres/Rows.ts"
import { decodePlan, type Plan } from "../../schema/runs/Plan.ts"
import { Attempt } from "../../schema/runs/Run.ts"
import { storableJson } from "../../schema/json/StorableText.ts"

/** A run in status `running`, whose lease this process holds. */
export interface LeasedRun {
  readonly org_id: string
  readonly run_id: string
  readonly lease_token: string
  readonly capability: string | null
  /** A raw run's endpoint path; null for a capability run. */
  readonly endpoint: string | null
  /** The budget of its API key, which the run counts against. */
  readonly budget_id: string | null
  /** Null for a session. */
  readonly key_id: string | null
  /** Digest of target and input. Null for a run of a release that stored none. */
  readonly input_hash: string | null
  /** The budgets of labels that it counts in. */
  readonly label_budgets?: ReadonlyArray<string> | null
  /** In microdollars. */
  readonly hold: bigint
  readonly plan: Plan
  /** JSON text. */
  readonly input: string
  /** Attempts so far. The last one may have been recorded but not made. */
  readonly attempts: ReadonlyArray<Attempt>
  /** A job at the provider that the last attempt started and whose end is unknown. */
  readonly job: Job | null
}

/** `state` belongs to the adapter. `resumed` counts how often another worker took the job over. */
export const Job = Schema.Struct({ state: Schema.Json, resumed: Schema.Int })
export type Job = typeof Job.Type

/** The stored row; its JSON columns are decoded when the run is leased. */
const StoredRun = Schema.Struct({
  org_id: Schema.String,
  run_id: Schema.String,
  lease_token: Schema.String,
  capability: Schema.NullOr(Schema.String),
  endpoint: Schema.NullOr(Schema.String),
  budget_id: Schema.NullOr(Schema.String),
  key_id: Schema.NullOr(Schema.String),
  input_hash: Schema.NullOr(Schema.String),
  label_budgets: Schema.NullOr(Schema.Array(Schema.String)),
  hold: Schema.BigInt,
  plan: Schema.Unknown,
  input: Schema.String,
  attempts: Schema.Unknown,
  job: Schema.Unknown
})
type StoredRun = typeof StoredRun.Type
const claimedRows = rowsOf({ ...StoredRun.fields, asks: Schema.String, free: Schema.Boolean })
const lostRows = rowsOf({
  ...StoredRun.fields,
  side_effect: Schema.Boolean,
  dead_letters: Schema.Number,
  sends_run_id: Schema.Boolean
})

const decodeAttempts = Schema.decodeUnknownSync(Schema.Array(Attempt))
const decodeJob = Schema.decodeUnknownSync(Schema.NullOr(Job))
const leased = <R extends StoredRun>(row: R) => ({
  ...row,
  plan: decodePlan(row.plan),
  attempts: decodeAttempts(row.attempts),
  job: decodeJob(row.job)
})
/** Skips and logs rows that can't be decoded, so that they do not block the other rows of the statement. */
const readable = <R extends StoredRun>(rows: ReadonlyArray<R>) =>
  Effect.gen(function* () {
    const runs: Array<ReturnType<typeof leased<R>>> = []
    for (const row of rows) {
      const run = yield* Effect.exit(Effect.sync(() => leased(row)))
      if (Exit.isSuccess(run)) runs.push(run.value)
      else yield* Effect.logError(`${row.run_id}: its stored plan can't be read: ${oneLine(run.cause)}`)
    }
    return runs
  })

/** A run whose worker is dead. Its lease now belongs to this process, which retries or ends it. */
export interface LostRun extends LeasedRun {
  readonly side_effect: boolean
  /** Dead-lettered reports of the run's end. */
  readonly dead_letters: number
  /** Whether the dead worker sent the run id with its provider calls. Workers of older versions don't. */
  readonly sends_run_id: boolean
}

/** Queued runs of one organization whose first provider is the same. */
export const Waiting = Schema.Struct({
  org_id: Schema.String,
  provider: Schema.String,
  /** Whether they hold no money. */
  free: Schema.Boolean,
  /** Time at which the oldest was queued, in milliseconds since 1970. */
  since: Schema.Number
})
export type Waiting = typeof Waiting.Type
const waitingRows = storedAs(Waiting.fields)
const renewed = storedAs({ alive: Schema.Number })

export interface ClaimedRun extends LeasedRun {
  /** The provider that it was queued for. */
  readonly asks: string
  readonly free: boolean
}

export interface Requeued {
  readonly run_id: string
  readonly lease_token: string
  /** The provider to call next; omitted: the same as before. */
  readonly asks?: string
}

/** Whether the worker of the run `o` is alive. */
const isAlive = "EXISTS (SELECT FROM workers w WHERE w.worker_id = o.worker_id AND w.expires_at > now())"

export class Leases extends Context.Service<
  Leases,
  {
    readonly register: (worker_id: string, leaseSeconds: number) => Effect.Effect<void>
    /** Returns how many workers are alive, or 0 when this one was late: others may have taken its runs. */
    readonly renew: (worker_id: string, leaseSeconds: number) => Effect.Effect<number>
    /** Ends a worker's lease at once, so that others take over its runs. */
    readonly retire: (worker_id: string) => Effect.Effect<void>
    /**
     * Groups of queued runs by organization and first provider: of organizations after `after`, in the order of their ids, at most
     * `limit` groups.
     */
    readonly waiting: (after: string, limit: number) => Effect.Effect<ReadonlyArray<Waiting>>
    /** Moves up to `runs` queued runs of each group to `running`, oldest first. Skips runs that another process is claiming. */
    readonly claim: (
      worker_id: string,
      groups: ReadonlyArray<Omit<Waiting, "since"> & { readonly runs: number }>
    ) => Effect.Effect<ReadonlyArray<ClaimedRun>>
    /** Records the attempts before the last one is made. False when the lease is lost. */
    readonly attempt: (run_id: string, lease_token: string, attempts: string) => Effect.Effect<boolean>
    /**
     * Takes over runs of dead workers, and this worker's own runs that it does not execute: the answer of their claim was lost, or
     * their execution broke off. Never takes over a run whose end is already enqueued.
     */
    readonly takeOver: (
      worker_id: string,
      executing: ReadonlyArray<string>,
      limit: number
    ) => Effect.Effect<ReadonlyArray<LostRun>>
    /** Stores the job that the last attempt started at the provider. False when the lease is lost. */
    readonly keepJob: (run_id: string, lease_token: string, job: Job) => Effect.Effect<boolean>
    /** Puts a run back into the queue for another attempt. */
    readonly requeue: (run: Requeued, attempts: string, job: Job | null) => Effect.Effect<void>
    readonly anyQueued: Effect.Effect<boolean>
    /** Corrects wrong counts of open runs, such as those left by two versions that ran side by side. */
    readonly recount: Effect.Effect<void>
  }
>()("rungate/layers/runs/Leases") {
  /** Whether a run may be lost: its worker's lease has ended, or it began some time ago and its own worker may know nothing of it. */
  static readonly lostDue = () => `EXISTS (
    SELECT FROM open_runs o WHERE state = 'running' AND (since < now() - interval '5 seconds' OR NOT ${isAlive}))`
  static readonly queuedDue = () => "EXISTS (SELECT FROM open_runs WHERE state = 'queued')"

  static readonly layer = Layer.effect(
    Leases,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const claim = (worker_id: string, groups: Parameters<Leases["Service"]["claim"]>[1]) =>
        claimedRows(sql`
          WITH claimable AS (
            SELECT q.run_id
            FROM ${tableOf("g", groups, { org_id: texts, provider: texts, free: booleans, runs: ints })}
            CROSS JOIN LATERAL (
              SELECT o.run_id FROM open_runs o
              WHERE o.state = 'queued' AND o.org_id = g.org_id AND o.provider = g.provider AND o.free = g.free
              ORDER BY o.since LIMIT g.runs FOR UPDATE SKIP LOCKED) q
          ), leased AS (
            UPDATE open_runs o SET state = 'running', worker_id = ${worker_id}, lease_token = gen_random_uuid()::text, since = now()
            FROM claimable c WHERE o.run_id = c.run_id RETURNING o.run_id, o.org_id, o.provider, o.free, o.lease_token, o.attempts, o.job, o.label_budgets
          )
          SELECT r.org_id, r.run_id, l.provider AS asks, l.free, l.lease_token, r.capability, r.endpoint, r.budget_id, r.key_id, r.input_hash, r.hold, r.plan, r.input::text AS input, l.attempts, l.job, l.label_budgets
          FROM leased l JOIN runs_recent r ON r.org_id = l.org_id AND r.run_id = l.run_id`)

      const attempt = Effect.fnUntraced(function* (run_id: string, lease_token: string, attempts: string) {
        const rows = yield* sql`
          UPDATE open_runs SET attempts = ${attempts}::text::json, job = NULL WHERE run_id = ${run_id} AND lease_token = ${lease_token}
          RETURNING 1 AS kept`
        return rows.length === 1
      })

      const keepJob = Effect.fnUntraced(function* (run_id: string, lease_token: string, job: string) {
        const rows = yield* sql`
          UPDATE open_runs SET job = ${job}::text::json WHERE run_id = ${run_id} AND lease_token = ${lease_token}
          RETURNING 1 AS kept`
        return rows.length === 1
      })

      const takeOver = (worker_id: string, executing: ReadonlyArray<string>, limit: number) =>
        lostRows(sql`
          WITH lost AS (
            SELECT o.run_id, o.worker_id FROM open_runs o
            WHERE o.state = 'running'
              AND CASE WHEN o.worker_id = ${worker_id}
                  THEN o.since < now() - interval '5 seconds' AND o.run_id <> ALL(${texts(executing)})
                  ELSE NOT ${sql.literal(isAlive)} END
              AND NOT EXISTS (SELECT FROM mailbox m WHERE m.run_id = o.run_id AND m.tag = 'Settle' AND m.parked IS NULL)
            LIMIT ${limit} FOR UPDATE SKIP LOCKED
          ), taken AS (
            UPDATE open_runs o SET worker_id = ${worker_id}, lease_token = gen_random_uuid()::text, since = now()
            FROM lost WHERE o.run_id = lost.run_id RETURNING o.*, lost.worker_id AS lost_by
          )
          SELECT r.org_id, r.run_id, t.lease_token, t.side_effect, t.attempts, t.job, t.label_budgets, r.capability, r.endpoint, r.budget_id, r.key_id, r.input_hash, r.hold, r.plan, r.input::text AS input,
            (SELECT count(*)::int FROM mailbox m WHERE m.run_id = t.run_id AND m.tag = 'Settle' AND m.parked IS NOT NULL) AS dead_letters,
            coalesce((SELECT w.sends_run_id FROM workers w WHERE w.worker_id = t.lost_by), false) AS sends_run_id
          FROM taken t JOIN runs_recent r ON r.org_id = t.org_id AND r.run_id = t.run_id`)

      const requeue = (run: Requeued, attempts: string, job: string | null) => sql`
        UPDATE open_runs SET state = 'queued', worker_id = NULL, lease_token = NULL, attempts = ${attempts}::text::json,
          job = ${job}::text::json, since = now(), provider = coalesce(${run.asks ?? null}::text, provider)
        WHERE run_id = ${run.run_id} AND lease_token = ${run.lease_token}`

      return Leases.of({
        register: (worker_id, seconds) =>
          done(sql`
            INSERT INTO workers (worker_id, expires_at, sends_run_id)
            VALUES (${worker_id}, now() + make_interval(secs => ${seconds}), true)`),
        renew: (worker_id, seconds) =>
          Effect.map(
            renewed.first(sql`
              UPDATE workers SET expires_at = now() + make_interval(secs => ${seconds})
              WHERE worker_id = ${worker_id} AND expires_at > now()
              RETURNING (SELECT count(*)::int FROM workers WHERE expires_at > now()) AS alive`),
            (row) => row?.alive ?? 0
          ),
        retire: (worker_id) => done(sql`UPDATE workers SET expires_at = now() WHERE worker_id = ${worker_id}`),
        // One index look-up per group, independent of the number of queued runs.
        waiting: (after, limit) =>
          waitingRows.all(sql`
            WITH RECURSIVE groups AS (
              (SELECT org_id, provider, free, since FROM open_runs WHERE state = 'queued' AND org_id > ${after}
               ORDER BY org_id, provider, free, since LIMIT 1)
              UNION ALL
              SELECT n.* FROM groups g CROSS JOIN LATERAL (
                SELECT org_id, provider, free, since FROM open_runs
                WHERE state = 'queued' AND (org_id, provider, free) > (g.org_id, g.provider, g.free)
                ORDER BY org_id, provider, free, since LIMIT 1) n
            )
            SELECT org_id, provider, free, extract(epoch FROM since)::float8 * 1000 AS since FROM groups LIMIT ${limit}`),
        claim: (worker_id, groups) => Effect.orDie(Effect.flatMap(claim(worker_id, groups), readable)),
        attempt: (run_id, token, attempts) => Effect.orDie(attempt(run_id, token, storableJson(attempts))),
        takeOver: (worker_id, executing, limit) =>
          Effect.orDie(Effect.flatMap(takeOver(worker_id, executing, limit), readable)),
        keepJob: (run_id, token, job) => Effect.orDie(keepJob(run_id, token, JSON.stringify(job))),
        requeue: (run, attempts, job) =>
          Effect.asVoid(Effect.orDie(requeue(run, storableJson(attempts), job === null ? null : JSON.stringify(job)))),
        // The new version makes a concurrent turn that has read the wallet roll back and read it again.
        recount: done(sql`
          WITH counted AS MATERIALIZED (SELECT org_id, count(*) AS runs FROM open_runs GROUP BY org_id),
               active AS (SELECT org_id FROM counted UNION SELECT org_id FROM wallets WHERE open_runs > 0),
               wrong AS (
                 SELECT w.org_id, w.version, coalesce(c.runs, 0) AS runs
                 FROM active s JOIN wallets w ON w.org_id = s.org_id LEFT JOIN counted c ON c.org_id = s.org_id
                 WHERE w.open_runs <> coalesce(c.runs, 0))
          UPDATE wallets w SET open_runs = n.runs, version = w.version + 1
          FROM wrong n WHERE w.org_id = n.org_id AND w.version = n.version`),
        anyQueued: hasRows(sql`SELECT 1 AS queued FROM open_runs WHERE state = 'queued' LIMIT 1`)
      })
    })
  )
}
