/** How the answer of a row looks at a terminal. Programs get the body unchanged. */
import { Effect, Schema } from "effect"
import { columnsOf, type FieldName, type NounColumn } from "../../../schema/Columns.ts"
import { percent, shownOf } from "../../client/Words.ts"
import { facts, type Column, table } from "../terminal/table.ts"
import { agoOf, dollars, durationOf, timeOf, utcOf } from "../terminal/values.ts"
import type { Answer } from "./Client.ts"
import { filled, type Show, type Shown } from "./row.ts"
import { formatOf, type Lines, read, show, succeeded, wire } from "./show.ts"
import { pageOf } from "../../../schema/nouns/Noun.ts"

export type { Shown } from "./row.ts"

/** What a table needs to know of the terminal. */
export interface Paper {
  readonly screen: Pick<Shown["screen"], "width" | "paint">
}

/** The lines of a table with bold titles. */
export const tableLines = <A>(rows: ReadonlyArray<A>, columns: ReadonlyArray<Column<A>>, { screen }: Paper): Lines =>
  table(rows, columns, screen.width, (line) => screen.paint("bold", line))

/** Names and values of one thing. */
export const factLines = (pairs: Parameters<typeof facts>[0], { screen }: Paper): Lines =>
  facts(pairs, screen.width, (name) => screen.paint("dim", name))

/** The same of what people compare or copy, which is never truncated. */
export const wholeFacts = (pairs: Parameters<typeof facts>[0], { screen: { paint } }: Paper): Lines =>
  factLines(pairs, { screen: { paint, width: Number.POSITIVE_INFINITY } })

type Cell<I> = (one: I, now: number) => string | number | null

/** What a command shows of a field in another way, by the field's name. */
export type Cells<I> = { readonly [name in FieldName<I>]?: Cell<I> }

/** The time between now and a moment, such as "5 min ago". */
const fromNow = (iso: string, now: number): string => {
  const at = new Date(iso).getTime()
  return at > now ? `in ${agoOf(now, at)}` : `${agoOf(at, now)} ago`
}

/** A field of a noun as a terminal shows it. A state is the word that flags take. */
const cellOf =
  <I>(column: NounColumn, cells: Cells<I>, moment: (iso: string, now: number) => string): Cell<I> =>
  (one, now) => {
    const { name, kind, none } = column
    const own = new Map(Object.entries<Cell<I> | undefined>(cells)).get(name)
    if (own !== undefined) return own(one, now)
    const value = shownOf(one, column)
    if (value === null) return none
    if (kind === "money") return dollars(String(value))
    if (kind === "time") return moment(String(value), now)
    if (kind === "duration") return durationOf(Number(value))
    if (kind === "share") return percent(Number(value))
    if (kind === "flag") return value === true ? "yes" : "no"
    if (Array.isArray(value)) return value.join(", ")
    return typeof value === "number" ? value : String(value)
  }

/** Long words and texts wrap. Other values are read as a whole. */
const textLeast = 8

/** The columns of a list of a noun. A list that begins with a time is a log, which tells it exactly. */
export const nounColumns = <A, I>(
  noun: Schema.Codec<A, I>,
  cells: Cells<I>,
  now: number,
  moment?: (iso: string) => string
): ReadonlyArray<Column<I>> =>
  columnsOf(noun).list.map((column, index) => {
    const cell = cellOf(column, cells, moment ?? (index === 0 ? timeOf : fromNow))
    const { title, kind, wide } = column
    return {
      title: title.toUpperCase(),
      of: (one) => cell(one, now),
      right: ["money", "count", "duration", "share"].includes(kind),
      ...(kind === "text" || kind === "list" ? { least: textLeast } : {}),
      ...(wide === null ? {} : { dropped: wide })
    }
  })

/** A table of some of a noun. */
export const nounTable = <A, I>(
  noun: Schema.Codec<A, I>,
  rows: ReadonlyArray<I>,
  { now, ...paper }: Paper & Pick<Shown, "now">,
  cells: Cells<I> = {}
): Lines =>
  // What has no width is no terminal, and is read later.
  tableLines(rows, nounColumns(noun, cells, now, Number.isFinite(paper.screen.width) ? undefined : utcOf), paper)

/** What stands beside the table of a list. */
interface Beside {
  /** Lines below it, of the members of the answer that are no items. */
  readonly foot?: (text: string, shown: Shown) => Lines
  /** What to do with what is listed, on stderr. */
  readonly next?: string
  /** The flag that lists more, besides --cursor. */
  readonly more?: string
}

/** A table of the items of a list. `empty` is shown if there are none. How to see the rest is said on stderr, so that a file has rows only. */
export const listed =
  <A, I>(
    noun: Schema.Codec<A, I>,
    empty: string,
    cells: Cells<I> = {},
    { foot = () => [], next, more = "--all" }: Beside = {}
  ): Show =>
  (answer, shown) =>
    Effect.gen(function* () {
      const page = pageOf(noun)
      yield* drawn(page, ({ items }) =>
        items.length === 0 ? [empty] : [...nounTable(noun, items, shown, cells), ...foot(answer.text, shown)]
      )(answer, shown, null)
      // Programs get bytes, which nothing reads again.
      if (formatOf(shown.screen, shown) !== "table") return
      const { items = [], next_cursor = null } = wire(page, answer.text) ?? {}
      if (next_cursor !== null) yield* aside(shown, `More: --cursor ${next_cursor}, or ${more}`)
      if (next !== undefined && items.length > 0) yield* aside(shown, next)
    })

/** A sentence on stderr, where an answer is drawn. */
export const aside = (shown: Shown, sentence: string) =>
  formatOf(shown.screen, shown) === "table" ? shown.screen.say(sentence, "dim") : Effect.void

/** The lines of one thing, or of a list. */
export const drawn =
  <A, I>(schema: Schema.Codec<A, I>, draw: (one: I, shown: Shown) => Lines): Show =>
  (answer, shown) =>
    show(answer, shown, (text) => {
      const one = wire(schema, text)
      return one === null ? null : draw(one, shown)
    })

/** What is said of one, without what it does not have. */
export const nounFacts = <A, I>(noun: Schema.Codec<A, I>, one: I, { now }: Pick<Shown, "now">, cells: Cells<I> = {}) =>
  columnsOf(noun).facts.flatMap((column) => {
    const value = cellOf(column, cells, timeOf)(one, now)
    return value === null || value === "" ? [] : [[column.title.toLowerCase(), value] as const]
  })

/** Names and values of one thing. */
export const detailed = <A, I>(noun: Schema.Codec<A, I>, cells: Cells<I> = {}): Show =>
  drawn(noun, (one, shown) => factLines(nounFacts(noun, one, shown, cells), shown))

/** One sentence on stderr. `{name}` in it is the field of this name. */
export const said =
  (sentence: string | ((text: string, shown: Shown) => string)): Show =>
  (answer, shown) =>
    Effect.gen(function* () {
      if (formatOf(shown.screen, shown) === "json") return yield* show(answer, { json: true }, () => null)
      const { text } = yield* succeeded(answer)
      yield* shown.screen.say(typeof sentence === "string" ? filled(sentence, shown.fields) : sentence(text, shown))
    })

const NewKey = Schema.Struct({ id: Schema.String, api_key: Schema.String })
export const madeKey = (answer: Answer) => read(NewKey, answer)

/**
 * Prints a new key, which the service shows this once, alone to stdout, so that it can be piped. The sentence is on stderr.
 * With `--json` the answer is printed instead.
 */
export const newKey =
  (sentence: string | ((shown: Shown) => string)): Show =>
  (answer, shown) =>
    Effect.gen(function* () {
      const { json, screen } = shown
      if (json) return yield* show(answer, { json }, () => null)
      const { id, api_key } = yield* madeKey(answer)
      yield* screen.out(`${api_key}\n`)
      yield* screen.say(
        `Created ${id}. ${typeof sentence === "string" ? filled(sentence, shown.fields) : sentence(shown)}`
      )
    })
