/** Lists that go on over several pages: one page as it came, or all of them as one list. */
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { type Answer, Client } from "./Client.ts"
import { pageOf } from "./show.ts"

/** As many as the service gives at once. */
const pageMost = 200

export const all = Flag.Boolean("all").pipe(Flag.withDescription("all pages, as one list"), Flag.withDefault(false))

/** The flags of a list; `items` names them in the help. */
export const pageFlags = (items: string) => ({
  limit: Flag.Int("limit").pipe(Flag.withDescription(`${items} on a page, 1 to 200`), Flag.withDefault(50)),
  cursor: Flag.String("cursor").pipe(
    Flag.withDescription("the next_cursor of the page before"),
    Flag.optional,
    Flag.map(Option.getOrNull)
  ),
  all
})

const withQuery = (path: string, query: Readonly<Record<string, string | null>>): string => {
  const [plain = path, given] = path.split("?", 2)
  const found = new URLSearchParams(given)
  for (const [name, value] of Object.entries(query)) if (value !== null) found.set(name, value)
  return found.size === 0 ? plain : `${plain}?${found}`
}

/** The items of all pages in the shape of one; a page that is no success is the answer. */
export const allPages = Effect.fnUntraced(function* (
  path: string,
  read: (path: string) => ReturnType<(typeof Client)["Service"]["send"]>
) {
  const items: Array<string> = []
  let cursor: string | null = null
  for (;;) {
    const answer: Answer = yield* read(withQuery(path, { cursor }))
    if (answer.status >= 400) return answer
    const page = pageOf(answer.text)
    items.push(...page.items)
    // A service that names the same page again would never end.
    if (page.next === null || page.next === cursor) {
      return { ...answer, text: `{"items":[${items.join(",")}],"next_cursor":null}` }
    }
    cursor = page.next
  }
})

/** GET of a list: a page, or everything. */
export const readList = Effect.fnUntraced(function* (
  path: string,
  given: { readonly limit: number; readonly cursor: string | null; readonly all: boolean }
) {
  const { send } = yield* Client
  const read = (one: string) => send("GET", one)
  return given.all
    ? yield* allPages(withQuery(path, { limit: String(pageMost), cursor: given.cursor }), read)
    : yield* read(withQuery(path, { limit: String(given.limit), cursor: given.cursor }))
})
