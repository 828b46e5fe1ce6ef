/** The answer that carries a problem, and the address and title of its type (RFC 9457). The pages behind them are in http/pages/Problems.ts. */
import { HttpServerResponse } from "effect/http"
import { type ErrorCode, type Problem, statusOf } from "../../schema/Errors.ts"

/** The boundary adds the id of the request. */
export const problemAnswer = (body: Problem, headers: Record<string, string> = {}) =>
  HttpServerResponse.jsonUnsafe(body, { status: statusOf[body.error.code], headers })

export const problemsPath = "/problems"

/** A path without the service's address: a problem type is the same thing at every address of the service. */
export const problemType = (code: ErrorCode) => `${problemsPath}/${code}`

/** `invalid_request` as "Invalid request". */
export const problemTitle = (code: ErrorCode) => {
  const words = code.replaceAll("_", " ")
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`
}
