/** Maps a public error to a message that says what to do, and to an exit code. */
import type { PublicError } from "../../api/shapes/PublicError.ts"
import type { CommandFailed } from "../terminal/CommandFailed.ts"
import type { CredentialsShape } from "../state/Credentials.ts"
import { exitOfError, fail } from "../terminal/exits.ts"
import { cliWording } from "./cliWording.ts"

const guard = "Show or change the limits with `rungate spend-guard`."
const find = "Search the catalog with `rungate discover 'what you need'`."
const advices: Readonly<Record<string, string>> = {
  insufficient_balance: "Add funds with `rungate wallet topup 25.00`.",
  budget_exceeded: guard,
  cost_limit_exceeded: guard,
  capability_not_found: find,
  endpoint_not_found: find,
  provider_not_found: find
}
/** The message in the words of the CLI, followed by advice unless it names a command already. */
export const sentenceFor = (code: string, message: string): string => {
  const said = cliWording(message)
  const advice = advices[code]
  return advice === undefined || said.includes("rungate ") ? said : `${said}${/[.!?]$/.test(said) ? "" : "."} ${advice}`
}

/** The API answers invalid_request for an unknown id in a path. The CLI has a separate exit code for it. */
const exitOf = ({ code, details = [] }: PublicError["error"]) =>
  details.some((one) => one.path.startsWith("path.") && one.message.startsWith("is not "))
    ? "not_found"
    : // The run costs more than --max-cost. The flag itself was validated before.
      (code === "provider_not_available" || code === "invalid_request") &&
        details.length > 0 &&
        details.every(({ path }) => path === "routing.max_cost")
      ? "money"
      : exitOfError(code)

/** Errors whose message includes the request_id, for the operator. */
const quotingIt = ["internal_error", "service_unavailable"]

export const failureFor = (
  { url, key, source, missing }: Pick<CredentialsShape, "url" | "key" | "source" | "missing">,
  { error, request_id }: PublicError
): CommandFailed => {
  const { code, message, details = [] } = error
  if (code === "unauthorized" && key === null) return fail("auth", missing)
  if (code === "unauthorized") {
    const where = source === "environment" ? "the key in RUNGATE_API_KEY" : "what you signed in with"
    return fail("auth", `${url} rejected ${where}: ${cliWording(message)}`)
  }
  // The message repeats the first detail, unless it only refers to the details.
  const untold = message.includes("see details") ? details : details.slice(1)
  const more = untold.map((one) => `\n  ${cliWording(`${one.path}: ${one.message}`)}`)
  const quoted = quotingIt.includes(code) && request_id !== undefined ? ` Its request_id is ${request_id}.` : ""
  return fail(exitOf(error), `${sentenceFor(code, message)}${quoted}${more.join("")}`)
}
