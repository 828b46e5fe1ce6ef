/**
 * Locks for changes of the index. Changes of one organization wait for each other; different organizations are indexed at the same time.
 *
 * Organizations share a fixed number of locks, so that a transaction over a thousand organizations doesn't fill Postgres' lock table. All locks
 * last until the transaction ends.
 */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { bigints } from "../../postgres/Rows.ts"
import { rowsAs } from "./Rows.ts"

/**
 * Id of the advisory lock on the whole index. This one and the 64 after it must be unique in an installation. Changes of one organization share it. A change of all
 * segments, and releases that had only this lock, hold it alone.
 */
export const segmentsLock = 7_411_008

const groups = 64
/** Organizations in the same group wait for each other. From 1 to 64: what a group adds to the id of the lock on all. */
export const lockGroupOf = (org_id: string): number => 1 + (Bun.hash.xxHash32(org_id) % groups)

const sharedRows = rowsAs("the shared lock of segments", Schema.Struct({ free: Schema.Boolean }))
const groupRows = rowsAs("free lock groups", Schema.Struct({ group_no: Schema.Int }))

export const historyLocks = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  /** In ascending order, so that two transactions can't wait for each other. */
  const groupsOf = (org_ids: ReadonlyArray<string>) =>
    bigints([...new Set(org_ids.map(lockGroupOf))].sort((a, b) => a - b).map(BigInt))

  /** Waits until no other process changes these organizations' segments. Take it once, with all organizations of the transaction. */
  const lock = Effect.fnUntraced(function* (org_ids: ReadonlyArray<string>) {
    yield* sql`SELECT pg_advisory_xact_lock_shared(hashtext(current_schema()), ${segmentsLock})`
    yield* sql`SELECT pg_advisory_xact_lock(hashtext(current_schema()), ${segmentsLock}::int + n::int) FROM unnest(${groupsOf(org_ids)}) AS n`
  })

  /** Waits until no other process changes any segment. */
  const lockAll = sql`SELECT pg_advisory_xact_lock(hashtext(current_schema()), ${segmentsLock})`

  /**
   * Returns those organizations that no other process changes, locked, and turns synchronous commit off for the transaction. Only for
   * transactions that move runs: after a crash the runs are either in the new place or still in the old one.
   */
  const lockFree = Effect.fnUntraced(function* (org_ids: ReadonlyArray<string>) {
    const [shared] = yield* sharedRows(sql`
      SELECT pg_try_advisory_xact_lock_shared(hashtext(current_schema()), ${segmentsLock}) AS free, set_config('synchronous_commit', 'off', true)`)
    if (shared?.free !== true || org_ids.length === 0) return []
    const rows = yield* groupRows(sql`
      SELECT n::int AS group_no FROM unnest(${groupsOf(org_ids)}) AS n WHERE pg_try_advisory_xact_lock(hashtext(current_schema()), ${segmentsLock}::int + n::int)`)
    const free = new Set(rows.map((row) => row.group_no))
    return org_ids.filter((org_id) => free.has(lockGroupOf(org_id)))
  })

  return { lock, lockAll, lockFree }
})
