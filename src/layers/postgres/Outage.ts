/**
 * Distinguishes an outage of the database from a programming error. Work that failed in an outage may be retried; after a
 * programming error it may not.
 */
import { SqlError } from "effect/sql"

/**
 * SQLSTATE classes that concern the server and not the statement: connection (08), resources such as a full disk (53), shutdown and
 * timeouts (57), system errors such as failed I/O (58).
 */
const outageStates = /^(08|53|57|58)/

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
