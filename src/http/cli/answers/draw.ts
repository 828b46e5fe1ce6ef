/** How the answer of a row looks at a terminal. Programs get the body unchanged. */
import { Effect, Schema } from "effect"
import { facts, type Column, table } from "../terminal/table.ts"
import { agoOf } from "../terminal/values.ts"
import type { Answer } from "./Client.ts"
import { filled, type Show, type Shown } from "./row.ts"
import { failureOf, formatOf, type Lines, read, show, showList, wire } from "./show.ts"
import { pageOf } from "../../../schema/nouns/Noun.ts"

export type { Shown } from "./row.ts"

/** A field as it stands, with the title of its name unless another one is given. */
interface FieldColumn<A> extends Omit<Column<A>, "title" | "of"> {
  readonly field: keyof A & string
  readonly title?: string
}

export type Columns<A> = ReadonlyArray<Column<A> | FieldColumn<A> | (keyof A & string)>

const columnOf = <A>(column: Columns<A>[number]): Column<A> => {
  if (typeof column === "string") return columnOf({ field: column })
  if ("of" in column) return column
  const { field, title = field.toUpperCase().replaceAll("_", " ") } = column
  const of = (row: A) => {
    const value: unknown = row[field]
    return typeof value === "number" || value === null ? value : String(value)
  }
  return { ...column, title, of }
}

/** What a table needs to know of the terminal. */
export interface Paper {
  readonly screen: Pick<Shown["screen"], "width" | "paint">
}

/** The lines of a table with bold titles. */
export const tableLines = <A>(rows: ReadonlyArray<A>, columns: Columns<A>, { screen }: Paper): Lines =>
  table(
    rows,
    columns.map((one) => columnOf(one)),
    screen.width,
    (line) => screen.paint("bold", line)
  )

/** Names and values of one thing. */
export const factLines = (pairs: Parameters<typeof facts>[0], { screen }: Paper): Lines =>
  facts(pairs, screen.width, (name) => screen.paint("dim", name))

/** The time since a moment, such as "5 min ago". */
export type Ago = (iso: string | null) => string

export const agoAt =
  ({ now }: Pick<Shown, "now">): Ago =>
  (iso) =>
    iso === null ? "never" : `${agoOf(new Date(iso).getTime(), now)} ago`

/** A table of the items of a list. `empty` is shown if there are none. */
export const listed =
  <A, I>(
    item: Schema.Codec<A, I>,
    empty: string,
    columns: Columns<I> | ((ago: Ago, now: number) => Columns<I>)
  ): Show =>
  (answer, shown) => {
    const ago = agoAt(shown)
    const page = pageOf(item)
    return drawnList(page, ({ items, next_cursor }) => {
      if (items.length === 0) return [empty]
      const rows = tableLines(items, typeof columns === "function" ? columns(ago, shown.now) : columns, shown)
      const more = `More: --cursor ${next_cursor}, or --all`
      return next_cursor === null ? rows : [...rows, shown.screen.paint("dim", more)]
    })(answer, shown, null)
  }

/** The lines of one thing. */
export const drawn =
  <A, I>(schema: Schema.Codec<A, I>, draw: (one: I, shown: Shown) => Lines): Show =>
  (answer, shown) =>
    show(answer, shown, (text) => {
      const one = wire(schema, text)
      return one === null ? null : draw(one, shown)
    })

/** The lines of a list that is no table of its items alone. */
export const drawnList =
  <A, I>(schema: Schema.Codec<A, I>, draw: (page: I, shown: Shown) => Lines): Show =>
  (answer, shown) =>
    showList(answer, shown, (text) => {
      const page = wire(schema, text)
      return page === null ? null : draw(page, shown)
    })

/** Names and values of one thing. */
export const detailed = <A, I>(schema: Schema.Codec<A, I>, pairs: (one: I) => Parameters<typeof facts>[0]): Show =>
  drawn(schema, (one, shown) => factLines(pairs(one), shown))

/** One sentence on stderr. `{name}` in it is the field of this name. */
export const said =
  (sentence: string | ((text: string, shown: Shown) => string)): Show =>
  (answer, shown) =>
    Effect.gen(function* () {
      if (formatOf(shown.screen, shown) === "json") return yield* show(answer, { json: true }, () => null)
      const failure = yield* failureOf(answer)
      if (failure !== null) return yield* failure
      yield* shown.screen.say(
        typeof sentence === "string" ? filled(sentence, shown.fields) : sentence(answer.text, shown)
      )
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
