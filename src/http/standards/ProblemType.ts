/** Addresses and titles of problem types (RFC 9457). The pages behind them are in http/pages/Problems.ts. */
import type { ErrorCode } from "../../schema/Errors.ts"

export const problemsPath = "/problems"

/** A path without the service's address: a problem type is the same thing at every address of the service. */
export const problemType = (code: ErrorCode) => `${problemsPath}/${code}`

/** `invalid_request` as "Invalid request". */
export const problemTitle = (code: ErrorCode) => {
  const words = code.replaceAll("_", " ")
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`
}
