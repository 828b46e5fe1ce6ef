/** Finds the SQLSTATE of a failed statement: the five characters that classify an error of Postgres. */

/** Causes are followed to this depth. */
const depthMax = 6

/** Null when the server did not report the failure, such as for a lost connection. */
export const sqlStateOf = (error: unknown): string | null => {
  let cause = error
  for (let depth = 0; depth < depthMax && typeof cause === "object" && cause !== null; depth++) {
    if ("code" in cause && typeof cause.code === "string" && /^[0-9A-Z]{5}$/.test(cause.code)) return cause.code
    cause = "cause" in cause ? cause.cause : "reason" in cause ? cause.reason : null
  }
  return null
}
