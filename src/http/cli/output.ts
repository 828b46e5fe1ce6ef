/**
 * How a command says what the service answered: the body on stdout, one sentence on stderr when it is an error, and an exit code.
 *
 * 0 done, 1 failed, 3 no match, 4 not signed in, 5 bad input, 6 money or budget, 7 timed out, 8 still running, 250 not found.
 */
import { Console, Effect } from "effect"
import { type Answer, CommandFailed } from "../client/Client.ts"

const exitCodes: Readonly<Record<string, number>> = {
  no_match: 3,
  unauthorized: 4,
  forbidden: 4,
  invalid_request: 5,
  idempotency_key_reused: 5,
  payload_too_large: 5,
  insufficient_balance: 6,
  cost_limit_exceeded: 6,
  budget_exceeded: 6,
  provider_timeout: 7,
  capability_not_found: 250,
  endpoint_not_found: 250,
  provider_not_found: 250,
  not_found: 250
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const errorOf = (body: unknown): { readonly code: string; readonly message: string } | null => {
  if (typeof body !== "object" || body === null || !("error" in body)) return null
  const { error } = body
  if (typeof error !== "object" || error === null || !("code" in error) || !("message" in error)) return null
  return { code: String(error.code), message: String(error.message) }
}

export const show = Effect.fnUntraced(function* ({ status, text }: Answer) {
  const body = parsed(text)
  yield* Console.log(body === null ? text : JSON.stringify(body, null, 2))
  if (status === 200) return
  if (status === 202) {
    return yield* new CommandFailed({ message: "The run is still executing; poll its poll_url.", exit_code: 8 })
  }
  const error = errorOf(body)
  const advice = error?.code === "unauthorized" ? " Set RUNGATE_API_KEY." : ""
  return yield* new CommandFailed({
    message: error === null ? `HTTP ${status}` : `${error.message}${advice}`,
    exit_code: exitCodes[error?.code ?? ""] ?? 1
  })
})
