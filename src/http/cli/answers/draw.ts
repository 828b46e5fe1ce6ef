/** How the answer of a row looks at a terminal. Programs get the body unchanged. */
import { Effect, Schema } from "effect"
import { facts, type Column, table } from "../terminal/table.ts"
import { agoOf } from "../terminal/values.ts"
import { filled, type Show, type Shown } from "./row.ts"
import { decoded, failureOf, formatOf, type Lines, show, showList } from "./show.ts"

/** Reads a body by its schema, as it stands on the wire: amounts and times are texts. Null if a newer service wrote it otherwise. */
export const wire = <A, I>(schema: Schema.Codec<A, I>, text: string): I | null =>
  decoded(Schema.toEncoded(schema), text)

/** A field as a column, or a column that is made of several fields. */
export type Columns<A> = ReadonlyArray<Column<A> | (keyof A & string)>

const columnOf = <A>(column: Column<A> | (keyof A & string)): Column<A> =>
  typeof column !== "string"
    ? column
    : {
        title: column.toUpperCase().replaceAll("_", " "),
        of: (row) => {
          const value: unknown = row[column]
          return typeof value === "number" || value === null ? value : String(value)
        }
      }

/** The lines of a table with bold titles. */
export const tableLines = <A>(rows: ReadonlyArray<A>, columns: Columns<A>, { screen }: Pick<Shown, "screen">): Lines =>
  table(rows, columns.map(columnOf), screen.width, (line) => screen.paint("bold", line))

/** Names and values of one thing. */
export const factLines = (pairs: Parameters<typeof facts>[0], { screen }: Pick<Shown, "screen">): Lines =>
  facts(pairs, screen.width, (name) => screen.paint("dim", name))

/** The time since a moment, such as "5 min ago". */
export type Ago = (iso: string | null) => string

/** A table of the items of a list. `empty` is shown if there are none. */
export const listed =
  <A, I>(item: Schema.Codec<A, I>, empty: string, columns: Columns<I> | ((ago: Ago) => Columns<I>)): Show =>
  (answer, shown) => {
    const ago: Ago = (iso) => (iso === null ? "never" : `${agoOf(new Date(iso).getTime(), shown.now)} ago`)
    const page = Schema.Struct({ items: Schema.Array(item), next_cursor: Schema.NullOr(Schema.String) })
    return showList(answer, shown, (text) => {
      const read = wire(page, text)
      if (read === null) return Effect.succeed(null)
      if (read.items.length === 0) return Effect.succeed([empty])
      const rows = tableLines(read.items, typeof columns === "function" ? columns(ago) : columns, shown)
      const more = `More: --cursor ${read.next_cursor}, or --all`
      return Effect.succeed(read.next_cursor === null ? rows : [...rows, shown.screen.paint("dim", more)])
    })
  }

/** The lines of one thing. */
export const drawn =
  <A, I>(schema: Schema.Codec<A, I>, draw: (one: I, shown: Shown) => Lines): Show =>
  (answer, shown) =>
    show(answer, shown, (text) => {
      const one = wire(schema, text)
      return Effect.succeed(one === null ? null : draw(one, shown))
    })

/** Names and values of one thing. */
export const detailed = <A, I>(schema: Schema.Codec<A, I>, pairs: (one: I) => Parameters<typeof facts>[0]): Show =>
  drawn(schema, (one, shown) => factLines(pairs(one), shown))

/** One sentence on stderr. `{name}` in it is the field of this name. */
export const said =
  (sentence: string | ((text: string, shown: Shown) => string)): Show =>
  (answer, shown) =>
    Effect.gen(function* () {
      if (formatOf(shown.screen, shown) === "json")
        return yield* show(answer, { json: true }, () => Effect.succeed(null))
      const failure = yield* failureOf(answer)
      if (failure !== null) return yield* failure
      yield* shown.screen.say(
        typeof sentence === "string" ? filled(sentence, shown.fields) : sentence(answer.text, shown)
      )
    })
