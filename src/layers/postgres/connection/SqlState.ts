/** What Postgres says about a failed statement: its SQLSTATE, five characters that classify the error, and the constraint that refused it. */

/** Causes are followed to this depth. */
const depthMax = 6

const causeField = (error: unknown, field: (cause: object) => unknown, form: RegExp): string | null => {
  let cause = error
  for (let depth = 0; depth < depthMax && typeof cause === "object" && cause !== null; depth++) {
    const value = field(cause)
    if (typeof value === "string" && form.test(value)) return value
    cause = "cause" in cause ? cause.cause : "reason" in cause ? cause.reason : null
  }
  return null
}

/** Null when the server did not report the failure, such as for a lost connection. */
export const sqlStateOf = (error: unknown): string | null =>
  causeField(error, (cause) => ("code" in cause ? cause.code : null), /^[0-9A-Z]{5}$/)

/** The name of the constraint, or of the trigger that names itself as one. Null if no constraint refused the statement. */
export const constraintOf = (error: unknown): string | null =>
  causeField(error, (cause) => ("constraint" in cause ? cause.constraint : null), /./)
