/** `rungate api <METHOD> <path>`: sends any API request with the user's credential and prints the response unchanged. */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { Client, type Method } from "../answers/Client.ts"
import { Credentials } from "../state/Credentials.ts"
import { bad } from "../terminal/exits.ts"
import { inputFlags, jsonOf, wordsArgument, textOf } from "../runs/input.ts"
import { allPages } from "../answers/pages.ts"
import { Screen } from "../terminal/Screen.ts"
import { printed, succeeded } from "../answers/show.ts"
import { harmless } from "../terminal/text.ts"
import { argument, boolean, withExamples } from "../terminal/flags.ts"

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const
const methodOf = (text: string): Method | undefined => methods.find((method) => method === text.toUpperCase())

/** Longer than the longest wait that a request may ask for. */
const answerSeconds = 150

/** A path of this service. Other hosts are refused, so the credential never leaves it. */
const pathOf = Effect.fnUntraced(function* (given: string) {
  const { url } = yield* Credentials
  const path = given.startsWith(`${url}/`) ? given.slice(url.length) : given
  if (/^[a-z][a-z0-9+.-]*:/i.test(path))
    return yield* bad(`${given} is not an address of ${url}. Give only the path, such as /v1/wallet.`)
  return path.startsWith("/") ? path : `/v1/${path}`
})

const headerOf = Effect.fnUntraced(function* (line: string) {
  const [, name = "", value = ""] = /^([\w-]+):\s*(.*)$/.exec(line) ?? []
  if (name === "") return yield* bad(`Invalid --header '${line}'. Write it as 'Name: value'.`)
  if (name.toLowerCase() === "authorization") {
    return yield* bad(
      "Don't pass the Authorization header: other processes can read arguments. Set RUNGATE_API_KEY instead."
    )
  }
  return [name.toLowerCase(), value] as const
})

export const api = Command.make(
  "api",
  {
    method: argument("method", "GET, POST, PUT, PATCH or DELETE"),
    path: argument("path", "such as /v1/wallet, or wallet for short"),
    words: wordsArgument,
    ...inputFlags,
    header: Flag.String("header").pipe(
      Flag.withAlias("H"),
      Flag.withDescription("header as 'Name: value'; may be repeated"),
      Flag.between(0, 50)
    ),
    include: boolean("include", "print status and headers before the body"),
    paginate: boolean("paginate", "fetch all pages of a list and print one list"),
    session: boolean("session", "use the session of the signed-in user instead of the key")
  },
  Effect.fnUntraced(function* ({ method, path, header, include, paginate, session, ...given }) {
    const { send } = yield* Client
    const credentials = yield* Credentials
    const screen = yield* Screen
    const verb = methodOf(method)
    if (verb === undefined) return yield* bad(`Unknown method ${method}. Use one of ${methods.join(", ")}.`)
    const text = yield* textOf(given)
    if (paginate && (verb !== "GET" || include))
      return yield* bad("--paginate works only with GET and without --include.")
    if (verb === "GET" && text !== null)
      return yield* bad("GET takes no body. Put parameters into the path, such as /v1/runs?status=failed.")
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
    yield* succeeded(answer)
  })
).pipe(
  Command.withDescription("Send any API request and print the response unchanged"),
  withExamples({
    "rungate api GET /v1/wallet": "Read",
    [`rungate api POST discover -i '{"query":"find an email"}' --include`]: "With a body",
    "rungate api GET '/v1/runs?status=failed' --paginate": "A whole list"
  })
)
