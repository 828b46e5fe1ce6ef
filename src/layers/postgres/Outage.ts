/**
 * Distinguishes an outage of the database from a programming error. Work that failed in an outage may be retried; after a
 * programming error it may not.
 */
import { Effect, Schema } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { oneRowOf } from "./Rows.ts"

/**
 * SQLSTATE classes that concern the server and not the statement: connection (08), resources such as a full disk (53), shutdown and
 * timeouts (57), system errors such as failed I/O (58). 25006: the server accepts no writes, such as a standby before its promotion.
 */
const outageStates = /^(08|53|57|58|25006)/

const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string" ? error.code : ""

export const isOutage = (defect: unknown): boolean => {
  if (!SqlError.isSqlError(defect)) return false
  const { reason } = defect
  return (
    reason._tag === "ConnectionError" ||
    reason._tag === "StatementTimeoutError" ||
    outageStates.test(codeOf(reason.cause))
  )
}

/** Whether the statement failed because the server's disk is full (SQLSTATE 53100). Reads still work then. */
export const isFullDisk = (defect: unknown): boolean =>
  SqlError.isSqlError(defect) && codeOf(defect.reason.cause) === "53100"

const writableRow = oneRowOf({ in_recovery: Schema.Boolean, read_only: Schema.Boolean })

/** Why the server accepts no writes and what to do, or null. */
export const readOnlyReason = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { in_recovery, read_only } = yield* writableRow(sql`
    SELECT pg_is_in_recovery() AS in_recovery, current_setting('transaction_read_only') = 'on' AS read_only`)
  if (in_recovery) return "it is a standby and accepts no writes: promote it, or point DATABASE_URL at the primary"
  return read_only ? "it accepts no writes, because its default_transaction_read_only is on: turn it off" : null
})
