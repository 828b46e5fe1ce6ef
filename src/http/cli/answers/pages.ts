/** Paginated lists: one page unchanged, or several pages as one list. */
import { Effect, type Redacted } from "effect"
import { type Command, Flag } from "effect/cli"
import { type Answer, type Ask, Client } from "./Client.ts"
import { type Operation, requestOf, type RequestOf } from "./operation.ts"
import { bad } from "../terminal/exits.ts"
import { Screen } from "../terminal/Screen.ts"
import { pageOf, succeeded } from "./show.ts"
import { memberText } from "../../../schema/json/JsonText.ts"
import { boolean, optional, text } from "../terminal/flags.ts"

/** The largest page of the API. */
const pageMost = 200

export const all = boolean("all", "fetch all pages")

const limitDefault = 50

const limit = Flag.Int("limit")

/** The flags of a list; `items` names them in the help. As CSV a list has no pages, unless they are asked for. */
export const pageFlags = (items: string, csv = false) => ({
  limit: csv
    ? optional(limit.pipe(Flag.withDescription(`${items} to list; default: 50, with --csv up to 10,000`)))
    : limit.pipe(Flag.withDescription(`${items} to list`), Flag.withDefault(limitDefault)),
  cursor: text("cursor", "next_cursor of the list before")
})

type Page = Command.Command.Config.Infer<ReturnType<typeof pageFlags>> & { readonly all?: boolean }

const withQuery = (path: string, query: Readonly<Record<string, string | number | null>>): string => {
  const [plain = path, queryText] = path.split("?", 2)
  const parameters = new URLSearchParams(queryText)
  for (const [name, value] of Object.entries(query)) if (value !== null) parameters.set(name, String(value))
  return parameters.size === 0 ? plain : `${plain}?${parameters}`
}

/** The members of a page besides its items and cursor, such as `reused` of usage, as JSON that continues an object. */
const othersOf = (text: string): string => {
  const page: unknown = JSON.parse(text)
  const names = typeof page === "object" && page !== null ? Object.keys(page) : []
  return names
    .filter((name) => name !== "items" && name !== "next_cursor")
    .map((name) => `,${JSON.stringify(name)}:${memberText(text, name) ?? "null"}`)
    .join("")
}

/** All items, or the first `most`, in the shape of one page. The first page with an error status is returned instead. */
export const allPages = Effect.fnUntraced(function* (
  path: string,
  read: (path: string) => ReturnType<(typeof Client)["Service"]["send"]>,
  most = Number.POSITIVE_INFINITY
) {
  const items: Array<string> = []
  let cursor: string | null = null
  for (;;) {
    const left = most - items.length
    const answer: Answer = yield* read(withQuery(path, { cursor, limit: left < pageMost ? left : null }))
    if (answer.status >= 400) return answer
    const page = pageOf(answer.text)
    items.push(...page.items)
    // A cursor that repeats ends the list, or the loop would never end.
    const next: string | null = page.next === cursor ? null : page.next
    if (next === null || items.length >= most) {
      const rest = `"next_cursor":${JSON.stringify(next)}${othersOf(answer.text)}`
      return { ...answer, text: `{"items":[${items.join(",")}],${rest}}` }
    }
    cursor = next
  }
})

/** All pages of a list. */
export const readAll = <E extends Operation>(operation: E, request: RequestOf<E>, how: Ask = {}) =>
  Effect.flatMap(Client, ({ send }) =>
    allPages(withQuery(requestOf(operation, request).path, { limit: pageMost }), (path) => send("GET", path, how))
  )

/** GET of a list: as many items as --limit says, or all with --all. `token` replaces the key, for lists that need a session. */
export const readList = Effect.fnUntraced(function* (path: string, given: Page, token?: Redacted.Redacted) {
  const { send } = yield* Client
  const read = (one: string) => send("GET", one, token === undefined ? {} : { token })
  const most = given.all === true ? Number.POSITIVE_INFINITY : (given.limit ?? limitDefault)
  const first = withQuery(path, { limit: Math.min(most, pageMost), cursor: given.cursor })
  return most <= pageMost ? yield* read(first) : yield* allPages(first, read, most)
})

/** Prints a list as the CSV of the API, and says on stderr when rows are left. */
export const showCsv = Effect.fnUntraced(function* (
  path: string,
  page: Page | null,
  other: { readonly json: boolean; readonly jsonl: boolean }
) {
  if (other.json || other.jsonl) return yield* bad("Give only one of --csv, --json and --jsonl.")
  const { send } = yield* Client
  const screen = yield* Screen
  const answer = yield* send(
    "GET",
    page === null ? path : withQuery(path, { limit: page.limit, cursor: page.cursor }),
    { headers: { accept: "text/csv" } }
  )
  yield* screen.out((yield* succeeded(answer)).text)
  const cursor = /[?&]cursor=([^&>]+)[^>]*>; rel="next"/.exec(answer.headers["link"] ?? "")?.[1]
  if (cursor !== undefined)
    yield* screen.warn(`More rows are left. Continue with: --cursor ${decodeURIComponent(cursor)}`)
})
