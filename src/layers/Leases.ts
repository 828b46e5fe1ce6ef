/**
 * Who may execute which run: leases in Postgres, on the database's clock.
 *
 * A worker is alive while it renews its row in time; one that was late is dead for good and must start over under a new id,
 * so a process that was frozen can't come back and act on what others took over. Every write of an executing worker
 * carries its lease token.
 */
import { Context, Effect, Exit, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { oneLine } from "./Batch.ts"
import { texts } from "./Columns.ts"
import { decodePlan, type Plan } from "../schema/Plan.ts"
import { Attempt } from "../schema/Run.ts"
import { storableJson } from "../schema/StorableText.ts"

export interface LeasedRun {
  readonly org_id: string
  readonly run_id: string
  readonly lease_token: string
  readonly capability: string | null
  readonly plan: Plan
  /** JSON text. */
  readonly input: string
  /** Attempts so far; the last may be the one that is about to be made. */
  readonly attempts: ReadonlyArray<Attempt>
  /** A job at the provider that its last attempt started and nobody has seen the end of. */
  readonly job: Job | null
}

/** `state` is the adapter's own; `resumed` counts the workers that went on with it after another one died. */
export const Job = Schema.Struct({ state: Schema.Json, resumed: Schema.Int })
export type Job = typeof Job.Type

/** As stored; decoded once when it is leased. */
interface StoredRun extends Omit<LeasedRun, "plan" | "attempts" | "job"> {
  readonly plan: unknown
  readonly attempts: unknown
  readonly job: unknown
}

const decodeAttempts = Schema.decodeUnknownSync(Schema.Array(Attempt))
const decodeJob = Schema.decodeUnknownSync(Schema.NullOr(Job))
const leased = <R extends StoredRun>(row: R) => ({
  ...row,
  plan: decodePlan(row.plan),
  attempts: decodeAttempts(row.attempts),
  job: decodeJob(row.job)
})
/** One row that can't be read must not keep the others of its statement from being executed. */
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

export interface LostRun extends LeasedRun {
  readonly side_effect: boolean
  /** Reports of its end that could not be applied. */
  readonly dead_letters: number
}

export class Leases extends Context.Service<
  Leases,
  {
    readonly register: (worker_id: string, leaseSeconds: number) => Effect.Effect<void>
    /** False when the worker was late: others may have taken its runs. */
    readonly renew: (worker_id: string, leaseSeconds: number) => Effect.Effect<boolean>
    /** Ends a worker's lease at once, so that others take over what it still holds. */
    readonly retire: (worker_id: string) => Effect.Effect<void>
    /** Moves up to `limit` queued runs to `running`, oldest first. `token` makes the lease token of a run. */
    readonly claim: (worker_id: string, limit: number) => Effect.Effect<ReadonlyArray<LeasedRun>>
    /** Records the attempts, the last of which is about to be made. False when the lease is lost. */
    readonly attempt: (run_id: string, lease_token: string, attempts: string) => Effect.Effect<boolean>
    /**
     * Takes over runs whose worker is dead, and this worker's own that it does not execute: their lease was committed and the
     * answer lost, or their execution broke off. Never a run whose end is in the mail: what was delivered counts.
     */
    readonly takeOver: (
      worker_id: string,
      executing: ReadonlyArray<string>,
      limit: number
    ) => Effect.Effect<ReadonlyArray<LostRun>>
    /** Stores what the last attempt started at the provider. False when the lease is lost. */
    readonly keepJob: (run_id: string, lease_token: string, job: Job) => Effect.Effect<boolean>
    /** Puts a run that may be tried again back into the queue. */
    readonly requeue: (
      run: { run_id: string; lease_token: string },
      attempts: string,
      job: Job | null
    ) => Effect.Effect<void>
    readonly oldestQueuedSeconds: Effect.Effect<number | null>
  }
>()("rungate/layers/Leases") {
  static readonly layer = Layer.effect(
    Leases,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const register = (worker_id: string, seconds: number) => sql`
        INSERT INTO workers (worker_id, expires_at) VALUES (${worker_id}, now() + make_interval(secs => ${seconds}))`

      const renew = Effect.fnUntraced(function* (worker_id: string, seconds: number) {
        const rows = yield* sql`
          UPDATE workers SET expires_at = now() + make_interval(secs => ${seconds})
          WHERE worker_id = ${worker_id} AND expires_at > now() RETURNING 1 AS renewed`
        return rows.length === 1
      })

      const retire = (worker_id: string) => sql`UPDATE workers SET expires_at = now() WHERE worker_id = ${worker_id}`

      const claim = (worker_id: string, limit: number) => sql<StoredRun>`
        WITH mine AS (
          SELECT run_id FROM open_runs WHERE state = 'queued' ORDER BY since LIMIT ${limit} FOR UPDATE SKIP LOCKED
        ), leased AS (
          UPDATE open_runs o SET state = 'running', worker_id = ${worker_id}, lease_token = gen_random_uuid()::text, since = now()
          FROM mine WHERE o.run_id = mine.run_id RETURNING o.run_id, o.org_id, o.lease_token, o.attempts, o.job
        )
        SELECT r.org_id, r.run_id, l.lease_token, r.capability, r.plan, r.input::text AS input, l.attempts, l.job
        FROM leased l JOIN runs r ON r.org_id = l.org_id AND r.run_id = l.run_id`

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

      const takeOver = (worker_id: string, executing: ReadonlyArray<string>, limit: number) => sql<
        StoredRun & Pick<LostRun, "side_effect" | "dead_letters">
      >`
        WITH lost AS (
          SELECT o.run_id FROM open_runs o
          WHERE o.state = 'running'
            AND CASE WHEN o.worker_id = ${worker_id}
                THEN o.since < now() - interval '5 seconds' AND o.run_id <> ALL(${texts(executing)})
                ELSE NOT EXISTS (SELECT FROM workers w WHERE w.worker_id = o.worker_id AND w.expires_at > now()) END
            AND NOT EXISTS (SELECT FROM mailbox m WHERE m.run_id = o.run_id AND m.tag = 'Settle' AND m.parked IS NULL)
          LIMIT ${limit} FOR UPDATE SKIP LOCKED
        ), taken AS (
          UPDATE open_runs o SET worker_id = ${worker_id}, lease_token = gen_random_uuid()::text, since = now()
          FROM lost WHERE o.run_id = lost.run_id RETURNING o.*
        )
        SELECT r.org_id, r.run_id, t.lease_token, t.side_effect, t.attempts, t.job, r.capability, r.plan, r.input::text AS input,
          (SELECT count(*)::int FROM mailbox m WHERE m.run_id = t.run_id AND m.tag = 'Settle' AND m.parked IS NOT NULL) AS dead_letters
        FROM taken t JOIN runs r ON r.org_id = t.org_id AND r.run_id = t.run_id`

      const requeue = (run: { run_id: string; lease_token: string }, attempts: string, job: string | null) => sql`
        UPDATE open_runs SET state = 'queued', worker_id = NULL, lease_token = NULL, attempts = ${attempts}::text::json,
          job = ${job}::text::json, since = now()
        WHERE run_id = ${run.run_id} AND lease_token = ${run.lease_token}`

      const oldest = sql<{ age: number | null }>`
        SELECT extract(epoch FROM now() - min(since))::float8 AS age FROM open_runs WHERE state = 'queued'`

      return Leases.of({
        register: (worker_id, seconds) => Effect.asVoid(Effect.orDie(register(worker_id, seconds))),
        renew: (worker_id, seconds) => Effect.orDie(renew(worker_id, seconds)),
        retire: (worker_id) => Effect.asVoid(Effect.orDie(retire(worker_id))),
        claim: (worker_id, limit) => Effect.orDie(Effect.flatMap(claim(worker_id, limit), readable)),
        attempt: (run_id, token, attempts) => Effect.orDie(attempt(run_id, token, storableJson(attempts))),
        takeOver: (worker_id, executing, limit) =>
          Effect.orDie(Effect.flatMap(takeOver(worker_id, executing, limit), readable)),
        keepJob: (run_id, token, job) => Effect.orDie(keepJob(run_id, token, JSON.stringify(job))),
        requeue: (run, attempts, job) =>
          Effect.asVoid(Effect.orDie(requeue(run, storableJson(attempts), job === null ? null : JSON.stringify(job)))),
        oldestQueuedSeconds: oldest.pipe(
          Effect.map((rows) => rows[0]?.age ?? null),
          Effect.orDie
        )
      })
    })
  )
}
