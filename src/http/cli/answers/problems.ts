/** Maps a public error to a message that says what to do, and to an exit code. */
import type { CommandHint } from "../../../schema/Hints.ts"
import type { RunError } from "../../../schema/runs/Run.ts"
import { discover, raiseBudget, spendGuard, topUp } from "../../../schema/Steps.ts"
import type { Detail } from "../../../schema/Errors.ts"
import type { PublicError } from "../../api/shapes/PublicError.ts"
import type { CredentialsShape } from "../state/Credentials.ts"
import { type CommandFailed, exitOfError, fail } from "../terminal/exits.ts"
import { inCommands } from "./commands.ts"

const unknownNames = ["capability_not_found", "endpoint_not_found", "provider_not_found"]

/** The requests that errors of runs name. A run's error has no details. */
const runSteps: Readonly<Record<string, ReadonlyArray<CommandHint>>> = {
  insufficient_balance: [topUp],
  budget_exceeded: [spendGuard, raiseBudget],
  cost_limit_exceeded: [spendGuard]
}

/** The message with commands in the place of requests. One about an unknown name says how to find others. */
export const sentenceFor = (
  { code, message }: RunError,
  steps: ReadonlyArray<CommandHint> = runSteps[code] ?? []
): string => {
  const shown = inCommands(message, steps)
  if (steps.length > 0 || !unknownNames.includes(code)) return shown
  return `${shown}${/[.!?]$/.test(shown) ? "" : "."} Search the catalog with \`${discover.cli}\`.`
}

/** The API answers invalid_request for an unknown id in a path. The CLI has a separate exit code for it. */
const exitOf = (code: string, faults: ReadonlyArray<Detail>) =>
  faults.some((one) => one.path.startsWith("path.") && one.message.startsWith("is not "))
    ? "not_found"
    : // The run costs more than --max-cost or --max-total. The flags themselves were validated before.
      (code === "provider_not_available" || code === "invalid_request") &&
        faults.length > 0 &&
        faults.every(({ path }) => path === "routing.max_cost" || path === "routing.max_total")
      ? "money"
      : exitOfError(code)

/** Errors whose message includes the request_id, for the operator. */
const quotingIt = ["internal_error", "service_unavailable"]

export const failureFor = (
  { url, key, source, missing }: Pick<CredentialsShape, "url" | "key" | "source" | "missing">,
  { error, request_id }: PublicError
): CommandFailed => {
  const { code, message, details = [] } = error
  const faults = details.filter(({ cli }) => cli === undefined)
  const steps = details.flatMap(({ http, cli }) => (http === undefined || cli === undefined ? [] : [{ http, cli }]))
  if (code === "unauthorized" && key === null) return fail("auth", missing)
  if (code === "unauthorized") {
    const where = source === "environment" ? "the key in RUNGATE_API_KEY" : "what you signed in with"
    return fail("auth", `${url} rejected ${where}: ${inCommands(message, steps)}`)
  }
  // The message repeats the first fault, unless it only refers to the details.
  const untold = message.includes("see details") ? faults : faults.slice(1)
  const more = untold.map((one) => `\n  ${inCommands(`${one.path}: ${one.message}`, steps)}`)
  const quoted = quotingIt.includes(code) && request_id !== undefined ? ` Its request_id is ${request_id}.` : ""
  return fail(exitOf(code, faults), `${sentenceFor(error, steps)}${quoted}${more.join("")}`)
}
