/**
 * The service's answers as a tool's: its JSON as it came, its errors with hints in the words of the tools.
 *
 * What the API calls an error keeps its code, message and details. Where no answer came, the codes are those of the typed client
 * (`unreachable`, `connection_lost`, `unexpected_answer`).
 */
import type { Answer } from "../client/Client.ts"
import type { CommandFailed } from "../client/CommandFailed.ts"
import { type Answered, type Refusal, refused } from "../mcp/Tool.ts"
import type { CredentialsShape } from "./Credentials.ts"
import { exits } from "./exits.ts"
import { publicErrorIn } from "./problems.ts"

/** More is of no use to a model; hosts cut it, or end the conversation. */
const textCharsMax = 400_000

const person = "This needs a person: stop, and tell them."
const guard = `${person} rungate spend-guard shows the limits and sets them; the same run is refused until one changes.`
const find = "The tool discover finds what there is."
const later = "Nothing was done. Call it again in a minute."
const signIn = `${person} They set RUNGATE_API_KEY where this server is configured, or run rungate login, and restart the server. discover and list_providers work without a key.`

const hints: Readonly<Record<string, string>> = {
  unauthorized: signIn,
  forbidden: person,
  insufficient_balance: `${person} rungate wallet topup 25.00 pays in; the tool wallet shows what is left. A lower max_cost holds less.`,
  budget_exceeded: guard,
  cost_limit_exceeded: guard,
  capability_not_found: find,
  endpoint_not_found: find,
  provider_not_found: find,
  provider_not_available: "inspect shows who can serve it now; discover finds another way.",
  idempotency_key_reused:
    "This idempotency_key belongs to another request. Leave it out for a new run, or send what it was first sent with.",
  rate_limited: later,
  service_unavailable: later,
  internal_error: "Report the request_id to the operator of the service.",
  unreachable: `${person} The service must run (npm start) and RUNGATE_URL must be its address.`,
  connection_lost: "Nobody knows how it ended. Call it again: what was done is not done twice.",
  unexpected_answer: `${person} RUNGATE_URL may be the address of something else.`,
  journal_unwritable: person
}

/** What to do about an error, in the words of the tools; it may depend on what was asked. */
export const advice = (code: string, name: string): ReadonlyArray<string> => {
  const known = hints[code]
  if (known !== undefined) return [known]
  if (code === "invalid_request" && name === "run") {
    return ["Nothing was run. inspect shows the input schema; correct the arguments and call run again."]
  }
  return code === "invalid_request"
    ? ["Correct the arguments and call it again. list_runs shows which runs there are."]
    : []
}

export interface Told {
  readonly code: string
  readonly message: string
  readonly details?: Refusal["error"]["details"]
  readonly request_id?: string | undefined
  readonly idempotency_key?: string
}

/** For the tool `name`. */
export const refusal = (name: string, { code, message, details, request_id, idempotency_key }: Told): Answered =>
  refused({
    error: { code, message, ...(details === undefined ? {} : { details }), hints: advice(code, name) },
    ...(request_id === undefined ? {} : { request_id }),
    ...(idempotency_key === undefined ? {} : { idempotency_key })
  })

/** An answer that is an error; null for one that is none. A run's own answer is none, however it ended. */
export const refusalIn = (
  name: string,
  answer: Answer,
  { key, missing, url }: Pick<CredentialsShape, "key" | "missing" | "url">
): Answered | null => {
  if (answer.status < 400) return null
  const found = publicErrorIn(answer.text)
  if (found === null) {
    return refusal(name, {
      code: "unexpected_answer",
      message: `${url} answered HTTP ${answer.status} and no error of Rungate's.`
    })
  }
  const { code, message, details } = found.error
  return refusal(name, {
    code,
    message: code === "unauthorized" && key === null ? missing : message,
    ...(details === undefined ? {} : { details }),
    request_id: found.request_id
  })
}

/** No answer came. */
export const unanswered = (name: string, { message, exit_code }: CommandFailed, idempotency_key?: string): Answered =>
  refusal(name, {
    code: exit_code === exits.pending ? "connection_lost" : "unreachable",
    message,
    ...(idempotency_key === undefined ? {} : { idempotency_key })
  })

/** The text of a JSON object that has members, with more behind them. */
export const withMembers = (text: string, members: Readonly<Record<string, string | undefined>>): string => {
  const more = Object.entries(members).flatMap(([name, value]) =>
    value === undefined ? [] : [`${JSON.stringify(name)}:${value}`]
  )
  const head = text.trimEnd().slice(0, -1)
  return more.length === 0 ? text : `${head},${more.join(",")}}`
}

/** An answer as it came, unless it is more than anybody reads. */
export const answered = (name: string, text: string, charsMax: number = textCharsMax): Answered =>
  text.length <= charsMax
    ? { text, failed: false }
    : refused({
        error: {
          code: "answer_too_long",
          message: `The answer of ${name} has ${text.length} characters; ${charsMax} is the most.`,
          hints: ["Ask for less: a smaller limit, or a narrower question. get_run reads a long result in pieces."]
        }
      })
