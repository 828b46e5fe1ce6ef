/**
 * The exit codes: one meaning each, for every command; `rungate help exit-codes` prints them.
 *
 * What a script needs to know is in the code; the sentence on stderr is for people.
 */
import { CommandFailed } from "./CommandFailed.ts"

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
  ok: "done",
  failed: "the run, the provider or the service failed",
  interrupted: "interrupted, or answered no; a run that was started goes on",
  no_match: "the run found nothing (no_match)",
  auth: "not signed in, or not allowed",
  usage: "bad input or usage",
  money: "the wallet, the spend guard or --max-cost does not allow it; nothing was spent",
  timed_out: "the run timed out",
  pending: "the run is still under way, or nobody knows yet: the connection was lost",
  unknown: "nobody knows whether the call was carried out; check before you run it again",
  not_found: "there is no such run, capability, endpoint, provider or path"
}

export const fail = (exit: Exit, message: string) => new CommandFailed({ message, exit_code: exits[exit] })

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
  provider_timeout: "timed_out",
  outcome_unknown: "unknown",
  capability_not_found: "not_found",
  endpoint_not_found: "not_found",
  provider_not_found: "not_found",
  not_found: "not_found"
}

export const exitOfError = (code: string): Exit => byErrorCode[code] ?? "failed"
