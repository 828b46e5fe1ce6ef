/** `rungate api <METHOD> <path>`: any request of the API, with your credential. What comes is printed as it came. */
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Client, type Method } from "../answers/Client.ts"
import { Credentials } from "../state/Credentials.ts"
import { fail } from "../terminal/exits.ts"
import { inputFlags, jsonOf, stdinArgument, textOf } from "../runs/input.ts"
import { allPages } from "../answers/pages.ts"
import { Screen } from "../terminal/Screen.ts"
import { failureOf, printed } from "../answers/show.ts"
import { harmless } from "../terminal/text.ts"

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const
const methodOf = (text: string): Method | undefined => methods.find((method) => method === text.toUpperCase())

/** Longer than the longest that a request may ask to wait. */
const answerSeconds = 150

/** Always a path of this service: the credential goes nowhere else. */
const pathOf = Effect.fnUntraced(function* (given: string) {
  const { url } = yield* Credentials
  const path = given.startsWith(`${url}/`) ? given.slice(url.length) : given
  if (/^[a-z][a-z0-9+.-]*:/i.test(path)) return yield* fail("usage", `${given} is not at ${url}; give the path alone.`)
  return path.startsWith("/") ? path : `/v1/${path}`
})

const headerOf = Effect.fnUntraced(function* (line: string) {
  const [, name = "", value = ""] = /^([\w-]+):\s*(.*)$/.exec(line) ?? []
  if (name === "") return yield* fail("usage", `A header is written 'Name: value', not '${line}'.`)
  if (name.toLowerCase() === "authorization") {
    return yield* fail("usage", "A secret is no argument: every process can read it. Set RUNGATE_API_KEY.")
  }
  return [name.toLowerCase(), value] as const
})

const boolean = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))

export const api = Command.make(
  "api",
  {
    method: Argument.String("method").pipe(Argument.withDescription("GET, POST, PUT, PATCH or DELETE")),
    path: Argument.String("path").pipe(Argument.withDescription("such as /v1/wallet; wallet alone means the same")),
    stdin: stdinArgument,
    ...inputFlags,
    header: Flag.String("header").pipe(
      Flag.withAlias("H"),
      Flag.withDescription("a header, 'Name: value'; any number"),
      Flag.between(0, 50)
    ),
    include: boolean("include", "print status and headers before the body"),
    paginate: boolean("paginate", "all pages of a list, as one"),
    session: boolean("session", "as the signed-in user, not with the key")
  },
  Effect.fnUntraced(function* ({ method, path, header, include, paginate, session, ...given }) {
    const { send } = yield* Client
    const credentials = yield* Credentials
    const screen = yield* Screen
    const verb = methodOf(method)
    if (verb === undefined) return yield* fail("usage", `${method} is none of ${methods.join(", ")}.`)
    const text = yield* textOf(given)
    if (paginate && (verb !== "GET" || include))
      return yield* fail("usage", "--paginate is for GET, without --include.")
    if (verb === "GET" && text !== null) return yield* fail("usage", "GET takes no body; put it into the path's query.")
    const ask = {
      ...(text === null ? {} : { text: yield* jsonOf(text, "The body") }),
      ...(session ? { token: yield* credentials.session } : {}),
      headers: Object.fromEntries(yield* Effect.forEach(header, headerOf)),
      seconds: answerSeconds
    }
    const target = yield* pathOf(path)
    const answer = yield* paginate ? allPages(target, (one) => send(verb, one, ask)) : send(verb, target, ask)
    if (include) {
      const head = Object.entries(answer.headers).map(([name, value]) => harmless(`${name}: ${value}`))
      yield* screen.out(`HTTP ${answer.status}\n${head.join("\n")}\n\n`)
    }
    yield* screen.out(printed(answer.text))
    const failure = yield* failureOf(answer)
    if (failure !== null) return yield* failure
  })
).pipe(
  Command.withDescription("Send any request of the API and print the answer as it came"),
  Command.withExamples([
    { command: "rungate api GET /v1/wallet", description: "Read" },
    { command: `rungate api POST discover -i '{"query":"find an email"}' --include`, description: "With a body" },
    { command: "rungate api GET '/v1/runs?status=failed' --paginate", description: "A whole list" }
  ])
)
