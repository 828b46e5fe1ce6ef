/**
 * Calls operations of the operator's API for a command, and prints their lists.
 *
 * The operations are answered in this process (InProcess.ts), which is loaded on demand, so that other commands start fast.
 */
import { Console, Effect, type Schema } from "effect"
import type { Cells } from "../cli/answers/draw.ts"
import type { RungateClient } from "../client/Rungate.ts"
import type { OperatorGroup } from "./InProcess.ts"
import { nounTable, print } from "./output.ts"

/** An error of the API becomes the command's error, with commands in the place of requests. */
export const ask = <G extends OperatorGroup, A, R>(
  group: G,
  use: (operations: RungateClient[G]) => Effect.Effect<A, unknown, R>
) =>
  Effect.flatMap(
    Effect.promise(() => import("./InProcess.ts")),
    ({ inProcess }) => inProcess(group, use)
  )

/** The filters that are set. */
export const setOnly = <K extends string>(
  filters: Readonly<Record<K, string | null>>
): { readonly [name in K]?: string } => {
  const query: { [name in K]?: string } = {}
  for (const name in filters) {
    const value = filters[name]
    if (value !== null) query[name] = value
  }
  return query
}

/** The largest page of the API. */
const pageMost = 200

export interface Page {
  readonly limit: number
  readonly cursor?: string
}
interface Answer<Row> {
  readonly items: ReadonlyArray<Row>
  readonly next_cursor: string | null
}

/** The first page with as many items as `limit` allows, from more pages when one is not enough. */
const pagesOf = Effect.fnUntraced(function* <Row, A extends Answer<Row>>(
  limit: number,
  read: (page: Page) => Effect.Effect<A, unknown>
) {
  const first = yield* read({ limit: Math.min(limit, pageMost) })
  const items = [...first.items]
  let cursor = first.next_cursor
  while (cursor !== null && items.length < limit) {
    const page = yield* read({ limit: Math.min(limit - items.length, pageMost), cursor })
    items.push(...page.items)
    cursor = page.next_cursor
  }
  return { ...first, items, next_cursor: cursor }
})

interface Printed<Row, A> {
  readonly noun: Schema.Codec<unknown, Row>
  readonly cells?: Cells<Row>
  /** Printed when nothing is listed. */
  readonly none?: string
  /** Lines after the table. */
  readonly foot?: (answer: A) => ReadonlyArray<string>
  /** How to see the rest, when there is more. */
  readonly more: string
  /** What to do with what is listed. */
  readonly next?: string
}

/** Prints the first `limit` items of a list, and says whether there are more. */
export const list = <G extends OperatorGroup, Row, A extends Answer<Row>>(
  group: G,
  { limit, json }: { readonly limit: number; readonly json: boolean },
  read: (operations: RungateClient[G], page: Page) => Effect.Effect<A & Answer<Row>, unknown>,
  { noun, cells, none, foot = () => [], more, next }: Printed<Row, A>
) =>
  Effect.gen(function* () {
    const answer = yield* ask(group, (operations) => pagesOf(limit, (page) => read(operations, page)))
    const { next_cursor, ...shown } = answer
    if (json) return yield* print({ ...shown, more: next_cursor !== null })
    if (shown.items.length === 0 && none !== undefined) return yield* Console.log(none)
    yield* Console.log([...nounTable(noun, shown.items, cells), ...foot(answer)].join("\n"))
    if (next_cursor !== null) yield* Console.error(`${more} (now ${limit}).`)
    if (next !== undefined) yield* Console.error(next)
  })
