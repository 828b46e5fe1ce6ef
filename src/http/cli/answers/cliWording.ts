/**
 * What the API says to programs, said to people: its paths become commands that work when pasted, its fields become flags.
 *
 * The body that `--json` prints is never touched. A path that has no command of its own becomes `rungate api …`, so nothing that
 * the service names is out of reach.
 */

/** As a shell reads it as one word. */
const word = (text: string): string => (/^[\w.@:/+%-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

type Body = Readonly<Record<string, unknown>>

const bodyIn = (text: string): Body | null => {
  try {
    const found: unknown = JSON.parse(text)
    return typeof found === "object" && found !== null ? { ...found } : null
  } catch {
    return null
  }
}

const textIn = (body: Body, name: string): string => {
  const found = body[name]
  return typeof found === "string" ? found : ""
}

const ofBody: Readonly<Record<string, (body: Body) => string>> = {
  "/v1/inspect": (body) =>
    "capability" in body
      ? `rungate inspect ${word(textIn(body, "capability"))}`
      : `rungate inspect ${word(textIn(body, "provider"))} ${word(textIn(body, "endpoint"))}`,
  "/v1/run": (body) =>
    `rungate run ${word(textIn(body, "capability"))} -i ${word(JSON.stringify(body["input"] ?? {}))}`,
  "/v1/senders": (body) => `rungate senders add ${word(textIn(body, "domain"))}`,
  "/v1/discover": (body) => `rungate discover ${word(textIn(body, "query"))}`
}

/** Commands without an argument that the sentence does not hold. A placeholder is one quoted word, so it can be pasted too. */
const bare: Readonly<Record<string, string>> = {
  "POST /v1/discover": "rungate discover 'what you need'",
  "POST /v1/wallet/topups/checkout": "rungate wallet topup 25.00",
  "POST /v1/auth/sign-in": "rungate login",
  "POST /v1/auth/sign-up": "rungate login --sign-up",
  "GET /v1/spend-guard": "rungate spend-guard",
  "GET /v1/runs": "rungate runs list",
  "GET /v1/wallet": "rungate wallet",
  "GET /v1/wallet/transactions": "rungate wallet transactions",
  "GET /v1/api-keys": "rungate keys list",
  "POST /v1/senders": "rungate senders add example.com",
  "GET /v1/senders": "rungate senders list"
}

/** `path` with its query. */
const commandOf = (method: string, path: string, json: string): string => {
  const body = json === "" ? null : bodyIn(json)
  const withBody = body === null ? undefined : ofBody[path]?.(body)
  if (withBody !== undefined) return withBody
  const known = bare[`${method} ${path}`]
  if (known !== undefined && body === null) return known
  const [plain = path, query = ""] = path.split("?", 2)
  const parameters = new URLSearchParams(query)
  const run_id = /^\/v1\/runs\/([\w{}]+)$/.exec(plain)?.[1]?.replace(/[{}]/g, "")
  if (method === "GET" && run_id !== undefined)
    return `rungate runs ${parameters.has("wait") ? "wait" : "get"} ${run_id}`
  if (method === "GET" && plain === "/v1/history") return `rungate history ${word(parameters.get("q") ?? "")}`
  return `rungate api ${method} ${word(path)}${body === null ? "" : ` -i ${word(json)}`}`
}

/** What stands in the way of a sentence once its path is a command, and the names of fields that are flags here. */
const wordings: ReadonlyArray<readonly [RegExp, string]> = [
  [/\bwait for GET \/v1\/runs\/\{run_id\}\?wait=\d+/g, "`rungate runs list --status running` shows them"],
  [/\bwait for (?=GET \/v1\/runs\/)/g, "wait with "],
  [/ and use the session token\b/g, ""],
  [/ at \/v1\/spend-guard\b/g, " (see GET /v1/spend-guard)"],
  [/\brouting\.allow_fallback is false\b/g, "--no-fallback was given"],
  [/\brouting\.(?=max_cost|provider|strategy)/g, "--"],
  [/--max_cost\b/g, "--max-cost"],
  [/\bsend input \{\} and put parameters into query\b/g, "give -i '{}' and put parameters into --query"],
  [/\bask with a higher limit\b/g, "ask with a higher --limit"],
  [/^Or: (?=rungate )/, ""]
]

const request = /\b(GET|POST|PUT|PATCH|DELETE) (\/v1\/[\w/.{}%~-]+(?:\?[\w=&%.~+{}!'()*-]*[\w=%}!'()*])?)( \{.*\})?/g

/** The full stop of a sentence is no part of a path. */
const unstopped = (path: string): readonly [string, string] => {
  const plain = path.replace(/\.+$/, "")
  return [plain, path.slice(plain.length)]
}

/** A sentence of the API as one of this command. A command stands in backticks, except where nothing but it follows a colon. */
export const cliWording = (sentence: string): string => {
  const worded = wordings.reduce((text, [from, to]) => text.replace(from, to), sentence)
  return worded.replace(request, (whole, method: string, given: string, json: string | undefined, at: number) => {
    const [path, stop] = unstopped(given)
    const command = commandOf(method, path, (json ?? "").trim())
    const alone = worded.slice(0, at).endsWith(": ") && at + whole.length === worded.length && stop === ""
    return alone ? command : `\`${command}\`${stop}`
  })
}

/** Several sentences, each once: of those that name the same command the shortest, which is easiest to paste. */
export const cliHints = (hints: ReadonlyArray<string>): ReadonlyArray<string> => {
  const shortest = new Map<string, string>()
  for (const hint of hints.map(cliWording)) {
    const command = /rungate .*$/.exec(hint)?.[0] ?? hint
    const before = shortest.get(command)
    if (before === undefined || hint.length < before.length) shortest.set(command, hint)
  }
  return Array.from(shortest.values())
}
