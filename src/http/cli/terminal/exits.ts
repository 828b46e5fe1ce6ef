/**
 * The exit codes of all commands. Each code has one meaning; `rungate help exit-codes` prints them.
 *
 * Scripts should read the exit code. The message on stderr is for people and may change.
 */
import { Schema } from "effect"

export const exits = {
  ok: 0,
  failed: 1,
  interrupted: 2,
  no_match: 3,
  auth: 4,
  usage: 5,
  money: 6,
  timed_out: 7,
  pending: 8,
  unknown: 9,
  not_found: 250
} as const

export type Exit = keyof typeof exits

export const meanings: Readonly<Record<Exit, string>> = {
  ok: "Success.",
  failed: "The run, the provider or the service failed.",
  interrupted: "Cancelled. A run that already started continues.",
  no_match: "The run found no match (no_match).",
  auth: "Not signed in, or not allowed.",
  usage: "Invalid input or usage.",
  money: "The wallet, a limit, a guard, --max-cost or --max-total does not allow it. Nothing was spent.",
  timed_out: "The run timed out.",
  pending:
    "The run is still executing or waits for an approval, or the connection was lost before its outcome was known.",
  unknown: "Unknown outcome: the provider may have executed the call. Check before you run it again.",
  not_found: "Not found: no such run, capability, endpoint, provider or path."
}

export const exitNames = Object.keys(meanings).filter((name): name is Exit => name in exits)

/** The error with which a command fails. An empty message means that the command already printed the reason. */
export class CommandFailed extends Schema.TaggedError<CommandFailed>()("CommandFailed", {
  message: Schema.String,
  exit_code: Schema.Int
}) {}

export const fail = (exit: Exit, message: string) => new CommandFailed({ message, exit_code: exits[exit] })
export const bad = (message: string) => fail("usage", message)
export const failedWith = (message: string) => fail("failed", message)

const byErrorCode: Readonly<Record<string, Exit>> = {
  no_match: "no_match",
  unauthorized: "auth",
  forbidden: "auth",
  invalid_request: "usage",
  idempotency_key_reused: "usage",
  payload_too_large: "usage",
  method_not_allowed: "usage",
  insufficient_balance: "money",
  cost_limit_exceeded: "money",
  budget_exceeded: "money",
  wallet_suspended: "money",
  repeat_guard: "money",
  contact_guard: "money",
  approval_denied: "money",
  approval_expired: "money",
  opt_out: "money",
  provider_timeout: "timed_out",
  run_not_finished: "pending",
  outcome_unknown: "unknown",
  capability_not_found: "not_found",
  endpoint_not_found: "not_found",
  provider_not_found: "not_found",
  not_found: "not_found"
}

export const exitOfError = (code: string): Exit => byErrorCode[code] ?? "failed"
