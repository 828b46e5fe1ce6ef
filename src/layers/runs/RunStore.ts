/**
 * Admits runs in group commits, and reads and lists them.
 *
 * Admission writes the run and the command that reserves its money in one statement. The same statement checks the API key, so a
 * revoked key admits nothing, even if a process has cached it.
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { batchRowsOf, bigints, hasRows, rowsOf, storedAs, tableOf, texts } from "../postgres/Rows.ts"
import { runStatus } from "./runStatus.ts"
import { servedBy } from "../usage/servedBy.ts"
import { batch } from "../postgres/Batch.ts"
import { addressOf, Settings } from "../platform/Settings.ts"
import { freeIsFull, isLimitedKey } from "../usage/freeStorage.ts"
import { freeLimitOf } from "../../schema/wallet/FreeStorage.ts"
import { oldestOf } from "../postgres/partitions/oldestOf.ts"
import { recentRuns } from "../postgres/partitions/recentRuns.ts"
import { ListedRow, RunRow } from "../../schema/nouns/Run.ts"
import { insertRuns, isUsableKey, type NewRun, newRunRows } from "./NewRuns.ts"
import { diesIfMoved } from "../postgres/Elsewhere.ts"
import { type ListFilter, runList } from "./RunList.ts"

export type Admission =
  | { readonly _tag: "Admitted"; readonly lane: number; readonly created_at: Date }
  | { readonly _tag: "Existing"; readonly run_id: string; readonly fingerprint: string; readonly lane: number }
  /** The API key was revoked or has expired. */
  | { readonly _tag: "Revoked" }
  /** The API key was changed since the request was checked. Nothing was stored. */
  | { readonly _tag: "KeyChanged" }
  /** The organization has as many open runs as it may have. Nothing was stored, the idempotency key included. */
  | { readonly _tag: "Full"; readonly most: number }
  /** `storesNothing` is true of it. Nothing was stored, the idempotency key included. */
  | { readonly _tag: "StorageFull"; readonly limit: bigint }
  /** The organization is moving to another cell. Nothing was stored, the idempotency key included. */
  | { readonly _tag: "Moving" }

const runRows = batchRowsOf(RunRow.fields)

const listedRows = batchRowsOf(ListedRow.fields)

/**
 * Columns that are not read as they stand in `r` (runs). The state of an open run is in `o` (open_runs); a run that is neither open nor final
 * waits for the turn that admits it.
 */
const readAs: Readonly<Record<string, string>> = {
  provider: servedBy,
  status: runStatus,
  attempts: "coalesce(r.attempts, o.attempts)::text",
  hints: "r.hints::text",
  metadata: "r.metadata::text",
  // Of a run that waits only. The console's page is put into it where the service's address is known.
  approval: `CASE WHEN o.state = 'waiting' THEN (SELECT json_build_object('rule', a.rule_name, 'role', a.role, 'url', '{address}/approvals?run=' || a.run_id,
    'expires_at', to_char(a.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text FROM approvals a WHERE a.run_id = r.run_id) END`,
  plan: `CASE WHEN r.finished_at IS NULL AND position('"own":[' IN r.plan::text) > 0 THEN r.plan::text END`
}
// Lists read no result, and nobody reads what every organization could spend.
const { result: _result, available: _available, ...columnsOfAll } = RunRow.fields
const columnTexts = Object.keys(columnsOfAll)
  .map((name) => `${readAs[name] ?? `r.${name}`} AS ${name}`)
  .join(", ")

export type Begun = Pick<NewRun, "org_id" | "key_id" | "idempotency_key" | "fingerprint">

const AdmitRow = Schema.Struct({
  run_id: Schema.String,
  inserted: Schema.Boolean,
  /** Whether it was refused because the organization has too many open runs. */
  excess: Schema.Boolean,
  /** Whether it was refused because its API key was changed. */
  outdated: Schema.Boolean,
  /** Whether it was refused because nothing more is stored that may be charged nothing. */
  unstored: Schema.Boolean,
  /** Whether it was refused because its organization is moving to another cell. */
  moving: Schema.Boolean,
  lane: Schema.Number,
  /** The run that has its Idempotency-Key. */
  existing_run_id: Schema.NullOr(Schema.String),
  created_at: Schema.Date
})
type AdmitRow = typeof AdmitRow.Type
const admitRows = batchRowsOf(AdmitRow.fields)

/** Runs in one admission: enough for 128 concurrent clients, few enough for a statement of milliseconds. */
const admissionsMax = 200
/** Runs in one look-up. */
const readsMax = 500

const keyHolderRows = rowsOf({ run_id: Schema.String, fingerprint: Schema.String, created_at: Schema.Date })
const owners = storedAs({ org_id: Schema.String })
const runIds = storedAs({ run_id: Schema.String })

export class RunStore extends Context.Service<
  RunStore,
  {
    readonly admit: (run: NewRun) => Effect.Effect<Admission>
    /** Null for an unknown run and for a run of another organization. */
    readonly find: (org_id: string, run_id: string) => Effect.Effect<RunRow | null>
    /** Whether one of these API keys started the run. */
    readonly isOf: (org_id: string, run_id: string, keys: ReadonlyArray<string>) => Effect.Effect<boolean>
    /** The organization whose run this is. For callers that act for no organization. Null for an unknown run. */
    readonly ownerOf: (run_id: string) => Effect.Effect<string | null>
    readonly list: (filter: ListFilter) => Effect.Effect<ReadonlyArray<ListedRow>>
    /** Id of the run that this Idempotency-Key started with this body. Null when there is none, or when the API key was revoked. */
    readonly begun: (request: Begun) => Effect.Effect<string | null>
  }
>()("rungate/layers/runs/RunStore") {
  static readonly layer = Layer.effect(
    RunStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const settings = yield* Settings
      const { freeDailyMb, orgQueue } = settings
      const freeLimit = freeLimitOf(freeDailyMb)
      const payable = "a.hold > 0 AND a.hold <= w.balance - w.reserved + w.allowances_held"

      // The run that has the Idempotency-Key. It is a subquery, because a plan made while there are few keys would read all keys for a join.
      const keyHolder = sql.literal(
        "SELECT k.run_id FROM idempotency_keys k WHERE k.org_id = g.org_id AND k.idempotency_key = g.idempotency_key"
      )

      const admitAll = Effect.fnUntraced(function* (runs: ReadonlyArray<NewRun>) {
        const counts = new Map<string, bigint>()
        for (const { org_id } of runs) counts.set(org_id, (counts.get(org_id) ?? 0n) + 1n)
        const rows = yield* admitRows(sql`
          WITH asked AS (
            SELECT * FROM ${newRunRows(sql, runs, { names: "key_version", values: sql`${bigints(runs.map((r) => r.key_version))}` })}
          ), usable AS (
            -- Locked until this commits: a revocation or change waits for it, so nothing is admitted after it was answered.
            -- A subquery with a limit for each key: otherwise a plan made while there are few keys reads those of all organizations.
            SELECT k.key_id, k.org_id, k.version, k.max_cost, ${sql.literal(isLimitedKey)} AS limited
            FROM unnest(${texts([...new Set(runs.flatMap((r) => (r.key_id === null ? [] : [r.key_id])))])}) AS d(key_id)
            CROSS JOIN LATERAL (SELECT * FROM api_keys k WHERE k.key_id = d.key_id LIMIT 1 FOR SHARE) k
            WHERE ${sql.literal(isUsableKey)}
          ), room AS MATERIALIZED (
            SELECT * FROM room_for_runs(${texts([...counts.keys()])}, ${bigints([...counts.values()])}, ${BigInt(orgQueue)}::bigint)
          ), good AS (
            SELECT a.*, w.lane, row_number() OVER (PARTITION BY a.org_id ORDER BY a.run_id) > m.room AS excess,
                   u.key_id IS NOT NULL AND (u.version IS DISTINCT FROM a.key_version OR coalesce(u.max_cost < a.hold, false)) AS outdated,
                   ${freeIsFull(sql, "a.org_id", payable, sql.literal("u.limited"), freeLimit)} AS unstored, w.moving > 0 AS moving
            FROM asked a JOIN wallets w USING (org_id) JOIN room m USING (org_id) LEFT JOIN usable u USING (key_id, org_id)
            WHERE a.key_id IS NULL OR u.key_id IS NOT NULL
          ), claimed AS (
            INSERT INTO idempotency_keys (org_id, idempotency_key, run_id)
            SELECT g.org_id, g.idempotency_key, g.run_id FROM good g
            WHERE g.idempotency_key IS NOT NULL AND NOT g.excess AND NOT g.outdated AND NOT g.unstored AND NOT g.moving
            ON CONFLICT DO NOTHING
            RETURNING run_id
          ), inserted AS (${insertRuns(
            sql,
            sql.literal(
              "good WHERE NOT excess AND NOT outdated AND NOT unstored AND NOT moving AND (idempotency_key IS NULL OR run_id IN (SELECT run_id FROM claimed))"
            )
          )}
            ON CONFLICT DO NOTHING
            RETURNING run_id, org_id
          ), mailed AS (
            INSERT INTO mailbox (lane, org_id, run_id, tag)
            SELECT w.lane, i.org_id, i.run_id, 'Reserve' FROM inserted i JOIN wallets w USING (org_id)
            RETURNING run_id, lane
          )
          SELECT run_id, true AS inserted, false AS excess, false AS outdated, false AS unstored, false AS moving, lane, NULL AS existing_run_id, now() AS created_at FROM mailed
          UNION ALL
          SELECT g.run_id, false, g.excess, g.outdated, g.unstored, g.moving, g.lane, (${keyHolder}), now()
          FROM good g WHERE g.run_id NOT IN (SELECT run_id FROM inserted)`)
        const byId = new Map(rows.map((row) => [row.run_id, row]))
        // A run that is missing from the answer came with an API key that was revoked or has expired.
        return runs.map((run) => byId.get(run.run_id) ?? null)
      })

      /**
       * Reads the run that holds the key, which the admission names unless another process committed the key during that statement. An earlier
       * try of ours may also have been committed and its answer lost. Each statement names one run, so that one month is read.
       */
      const holder = Effect.fnUntraced(function* (run: NewRun, lane: number, existing: string | null) {
        const keyed = existing === null && run.idempotency_key !== null
        const since = keyed
          ? yield* runIds.first(
              sql`SELECT run_id FROM idempotency_keys WHERE org_id = ${run.org_id} AND idempotency_key = ${run.idempotency_key}`
            )
          : null
        const run_id = existing ?? since?.run_id ?? run.run_id
        const runs = recentRuns(sql, [{ run_id }], yield* Clock.currentTimeMillis)
        const [stored] = yield* keyHolderRows(
          sql`SELECT run_id, fingerprint, created_at FROM ${runs} WHERE org_id = ${run.org_id} AND run_id = ${run_id}`
        )
        if (stored === undefined)
          return yield* Effect.die(
            new Error(`Run ${run.run_id} was neither admitted nor found under its Idempotency-Key.`)
          )
        const admission: Admission =
          stored.run_id === run.run_id
            ? { _tag: "Admitted", lane, created_at: stored.created_at }
            : { _tag: "Existing", ...stored, lane }
        return admission
      })

      const admitOne = yield* batch({
        name: "admit",
        max: admissionsMax,
        parallel: 1,
        flush: (runs: ReadonlyArray<NewRun>) => admitAll(runs)
      })

      const admit = Effect.fnUntraced(function* (run: NewRun) {
        const row = yield* admitOne(run)
        if (row === null) {
          yield* diesIfMoved(sql, run)
          return { _tag: "Revoked" } satisfies Admission
        }
        if (row.inserted) {
          return { _tag: "Admitted", lane: row.lane, created_at: row.created_at } satisfies Admission
        }
        if (row.existing_run_id !== null) return yield* holder(run, row.lane, row.existing_run_id)
        if (row.moving) return { _tag: "Moving" } satisfies Admission
        if (row.outdated) return { _tag: "KeyChanged" } satisfies Admission
        if (row.excess) return { _tag: "Full", most: orgQueue } satisfies Admission
        if (row.unstored) return { _tag: "StorageFull", limit: freeLimit } satisfies Admission
        return yield* holder(run, row.lane, null)
      })

      const columns = sql.literal(columnTexts.replace("{address}", addressOf(settings).replaceAll("'", "''")))

      const findOne = yield* batch({
        name: "find",
        max: readsMax,
        parallel: 1,
        flush: Effect.fnUntraced(function* (keys: ReadonlyArray<{ org_id: string; run_id: string }>) {
          const runs = recentRuns(sql, keys, yield* Clock.currentTimeMillis)
          const rows = yield* runRows(sql`
            SELECT ${columns}, r.result::text AS result, w.balance - w.reserved AS available
            FROM ${tableOf("asked", keys, { org_id: texts, run_id: texts })}
            -- A subquery: as a condition of a plain join, the planner could read all runs since the oldest one.
            CROSS JOIN LATERAL (
              SELECT * FROM ${runs} r WHERE r.org_id = asked.org_id AND r.run_id = asked.run_id AND r.run_id >= ${oldestOf(keys)} LIMIT 1) r
            LEFT JOIN open_runs o ON o.run_id = r.run_id
            LEFT JOIN wallets w ON w.org_id = asked.org_id`)
          const byId = new Map(rows.map((row) => [`${row.org_id} ${row.run_id}`, row]))
          return keys.map((one) => byId.get(`${one.org_id} ${one.run_id}`) ?? null)
        })
      })

      const list = runList(sql, columns, listedRows)

      return RunStore.of({
        begun: Effect.fnUntraced(function* ({ org_id, key_id, idempotency_key, fingerprint }) {
          if (idempotency_key === null) return null
          const run = yield* runIds.first(sql`
            SELECT r.run_id FROM idempotency_keys k JOIN runs r ON r.org_id = k.org_id AND r.run_id = k.run_id
            WHERE k.org_id = ${org_id} AND k.idempotency_key = ${idempotency_key} AND r.fingerprint = ${fingerprint}
              AND (${key_id}::text IS NULL OR EXISTS (
                SELECT 1 FROM api_keys WHERE org_id = ${org_id} AND key_id = ${key_id} AND revoked_at IS NULL
                  AND (expires_at IS NULL OR expires_at > now())))`)
          return run?.run_id ?? null
        }),
        isOf: (org_id, run_id, keys) =>
          hasRows(
            sql`SELECT FROM runs WHERE org_id = ${org_id} AND run_id = ${run_id} AND key_id = ANY(${texts(keys)})`
          ),
        admit: (run) => Effect.orDie(admit(run)),
        find: (org_id, run_id) => Effect.orDie(findOne({ org_id, run_id })),
        // The ledger has an index by run alone: each run that was admitted has reserved money once.
        ownerOf: (run_id) =>
          Effect.map(
            owners.first(sql`SELECT org_id FROM ledger WHERE run_id = ${run_id} AND type = 'reserve'`),
            (owner) => owner?.org_id ?? null
          ),
        list: (filter) => Effect.orDie(list(filter))
      })
    })
  )
}
