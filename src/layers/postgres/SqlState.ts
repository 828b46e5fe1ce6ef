/** The SQLSTATE of a failed statement: the five characters by which Postgres says what kind of error it is. */

/** Errors wrap each other this deep at most. */
const depthMax = 6

/** Null for a failure that the server did not report, such as a lost connection. */
export const sqlStateOf = (error: unknown): string | null => {
  let cause = error
  for (let depth = 0; depth < depthMax && typeof cause === "object" && cause !== null; depth++) {
    if ("code" in cause && typeof cause.code === "string" && /^[0-9A-Z]{5}$/.test(cause.code)) return cause.code
    cause = "cause" in cause ? cause.cause : "reason" in cause ? cause.reason : null
  }
  return null
}
