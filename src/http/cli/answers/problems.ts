/** A public error as a sentence that says what to do, and the exit code it means. */
import type { PublicError } from "../../api/shapes/PublicError.ts"
import type { CommandFailed } from "../terminal/CommandFailed.ts"
import type { CredentialsShape } from "../state/Credentials.ts"
import { exitOfError, fail } from "../terminal/exits.ts"
import { cliWording } from "./cliWording.ts"

const guard = "`rungate spend-guard` shows the limits and sets them."
const find = "`rungate discover 'what you need'` finds what there is."
const advices: Readonly<Record<string, string>> = {
  insufficient_balance: "`rungate wallet topup 25.00` pays in.",
  budget_exceeded: guard,
  cost_limit_exceeded: guard,
  capability_not_found: find,
  endpoint_not_found: find,
  provider_not_found: find
}
/** A message of the API for people, and what they can do about it where it does not say. */
export const sentenceFor = (code: string, message: string): string => {
  const said = cliWording(message)
  const advice = advices[code]
  return advice === undefined || said.includes("rungate ") ? said : `${said}${/[.!?]$/.test(said) ? "" : "."} ${advice}`
}

/** The service says invalid_request of an id that is nobody's, and names the place: here that is its own exit code. */
const exitOf = ({ code, details = [] }: PublicError["error"]) =>
  details.some((one) => one.path.startsWith("path.") && one.message.startsWith("is not "))
    ? "not_found"
    : // It costs more than the user allows. Of the cap itself nothing else can be wrong: its flag was read before.
      (code === "provider_not_available" || code === "invalid_request") &&
        details.length > 0 &&
        details.every(({ path }) => path === "routing.max_cost")
      ? "money"
      : exitOfError(code)

/** What happens inside the service is looked up by this. */
const quotingIt = ["internal_error", "service_unavailable"]

export const failureFor = (
  { url, key, source, missing }: Pick<CredentialsShape, "url" | "key" | "source" | "missing">,
  { error, request_id }: PublicError
): CommandFailed => {
  const { code, message, details = [] } = error
  if (code === "unauthorized" && key === null) return fail("auth", missing)
  if (code === "unauthorized") {
    const where = source === "environment" ? "the key in RUNGATE_API_KEY" : "what you signed in with"
    return fail("auth", `${url} refused ${where}: ${cliWording(message)}`)
  }
  // The first one is the message, unless that only points at them.
  const untold = message.includes("see details") ? details : details.slice(1)
  const more = untold.map((one) => `\n  ${cliWording(`${one.path}: ${one.message}`)}`)
  const quoted = quotingIt.includes(code) && request_id !== undefined ? ` Its request_id is ${request_id}.` : ""
  return fail(exitOf(error), `${sentenceFor(code, message)}${quoted}${more.join("")}`)
}
