/** Prints a list as the CSV of the API, and says on stderr when rows are left. */
import { Effect } from "effect"
import { Client } from "./Client.ts"
import { type Page, withQuery } from "./pages.ts"
import { failureOf } from "./show.ts"
import { fail } from "../terminal/exits.ts"
import { Screen } from "../terminal/Screen.ts"

export const showCsv = Effect.fnUntraced(function* (
  path: string,
  page: Page | null,
  other: { readonly json: boolean; readonly jsonl: boolean }
) {
  if (other.json || other.jsonl) return yield* fail("usage", "Give only one of --csv, --json and --jsonl.")
  const { send } = yield* Client
  const screen = yield* Screen
  const answer = yield* send(
    "GET",
    page === null ? path : withQuery(path, { limit: page.limit, cursor: page.cursor }),
    { headers: { accept: "text/csv" } }
  )
  const failure = yield* failureOf(answer)
  if (failure !== null) return yield* failure
  yield* screen.out(answer.text)
  const cursor = /[?&]cursor=([^&>]+)[^>]*>; rel="next"/.exec(answer.headers["link"] ?? "")?.[1]
  if (cursor !== undefined)
    yield* screen.warn(`More rows are left. Continue with: --cursor ${decodeURIComponent(cursor)}`)
})
