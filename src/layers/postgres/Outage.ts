/**
 * Tells an outage of the database from a mistake of ours. An outage ends by itself or by an operator, and what it hit may be tried again;
 * a mistake may not.
 */
import { SqlError } from "effect/sql"

/**
 * Classes of SQLSTATE that speak about the server and not about the statement: connection (08), resources such as a full disk (53),
 * shutdown and timeouts (57), input and output of the system (58).
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

/** PostgreSQL had no room for what a statement writes (SQLSTATE 53100). Reading goes on meanwhile. */
export const isFullDisk = (defect: unknown): boolean =>
  SqlError.isSqlError(defect) && codeOf(defect.reason.cause) === "53100"
