/** The advisory lock of the process that migrates. Other processes that start wait for it, until their transaction ends. */
import type { SqlClient } from "effect/sql"

/** Arbitrary key, so that other applications' locks do not collide with it. */
const migrationLock = 7_305_801_943n

/** Until the transaction ends. */
export const lockMigrations = (sql: SqlClient.SqlClient) => sql`SELECT pg_advisory_xact_lock(${migrationLock})`
