/** Maps a public error to a message that says what to do, and to an exit code. */
import type { RunError } from "../../../schema/runs/Run.ts"
import { discover } from "../../../schema/Steps.ts"
import type { PublicError } from "../../api/shapes/PublicError.ts"
import type { CommandFailed } from "../terminal/CommandFailed.ts"
import type { CredentialsShape } from "../state/Credentials.ts"
import { exitOfError, fail } from "../terminal/exits.ts"
import { inCommands } from "./commands.ts"

const unknownNames = ["capability_not_found", "endpoint_not_found", "provider_not_found"]

/** The message with commands in the place of requests. One about an unknown name says how to find others. */
export const sentenceFor = ({ code, message, commands = [] }: RunError): string => {
  const shown = inCommands(message, commands)
  if (commands.length > 0 || !unknownNames.includes(code)) return shown
  return `${shown}${/[.!?]$/.test(shown) ? "" : "."} Search the catalog with \`${discover.cli}\`.`
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
  const { code, message, details = [], commands = [] } = error
  if (code === "unauthorized" && key === null) return fail("auth", missing)
  if (code === "unauthorized") {
    const where = source === "environment" ? "the key in RUNGATE_API_KEY" : "what you signed in with"
    return fail("auth", `${url} rejected ${where}: ${inCommands(message, commands)}`)
  }
  // The message repeats the first detail, unless it only refers to the details.
  const untold = message.includes("see details") ? details : details.slice(1)
  const more = untold.map((one) => `\n  ${inCommands(`${one.path}: ${one.message}`, commands)}`)
  const quoted = quotingIt.includes(code) && request_id !== undefined ? ` Its request_id is ${request_id}.` : ""
  return fail(exitOf(error), `${sentenceFor(error)}${quoted}${more.join("")}`)
}
