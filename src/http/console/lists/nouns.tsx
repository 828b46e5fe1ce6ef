/**
 * Columns and facts of the service's nouns, as the nouns say them.
 *
 * A page gives the cells in which it does more than show a value, such as a link or a bar.
 */
import type { ReactNode } from "react"
import { nounColumns as tables } from "../../client/nounColumns.ts" with { type: "macro" }
import type { Nouns } from "../../client/nounColumns.ts"
import { type FieldName, type NounColumn, percent, shownOf } from "../../client/Words.ts"
import { duration } from "../data/time.ts"
import { Id, Money, State, Time } from "../parts/Values.tsx"
import type { Column } from "../parts/Table.tsx"
import { type Fact, Facts } from "./Facts.tsx"

const nouns = tables()

type Row<N extends keyof Nouns> = Nouns[N]["Encoded"]
type Cell<A> = (one: A) => ReactNode
type Cells<A> = { readonly [name in FieldName<A>]?: Cell<A> }

/** The word for a value of a state; the value where there is none. */
export const wordOf = (noun: keyof Nouns, name: string, value: string): string =>
  nouns[noun]?.words[name]?.[value] ?? value

const shown = (noun: keyof Nouns, { name, title, kind }: NounColumn, value: unknown): ReactNode => {
  const text = String(value)
  if (kind === "money") return <Money amount={text} />
  if (kind === "time") return <Time at={text} />
  if (kind === "id") return <Id id={text} what={`the ${title.toLowerCase()}`} />
  if (kind === "code") return <code className="block min-w-40 font-mono wrap-anywhere">{text}</code>
  if (kind === "state") return <State state={text} word={wordOf(noun, name, text)} />
  if (kind === "duration") return duration(Number(value))
  if (kind === "share") return percent(Number(value))
  if (kind === "count") return Number(value).toLocaleString("en")
  if (kind === "flag") return value === true ? "yes" : "no"
  if (Array.isArray(value)) return value.join(", ")
  return <span className="break-words">{text}</span>
}

/** What a page shows of a field. Null for what the noun does not have and has no word for. */
const cellOf = <N extends keyof Nouns>(noun: N, column: NounColumn, cells: Cells<Row<N>>): Cell<Row<N>> => {
  const own = new Map(Object.entries<Cell<Row<N>> | undefined>(cells)).get(column.name)
  if (own !== undefined) return own
  return (one) => {
    const value = shownOf(one, column)
    return value === null ? column.none : shown(noun, column, value)
  }
}

const isRight = ({ kind }: NounColumn, isLast: boolean) =>
  ["money", "count", "duration", "share"].includes(kind) || (kind === "time" && isLast)

/** The columns of a list. `actions` are buttons in a last column, for a person who may do something with a row. */
export const columnsOf = <N extends keyof Nouns>(
  noun: N,
  cells: Cells<Row<N>> & { readonly actions?: Cell<Row<N>> | false } = {}
): ReadonlyArray<Column<Row<N>>> => {
  const { actions = false } = cells
  const list = nouns[noun]?.list.filter(({ terminal }) => !terminal) ?? []
  const columns = list.map((column, index) => ({
    title: column.title,
    cell: cellOf(noun, column, cells),
    ...(isRight(column, index === list.length - 1) ? { align: "right" as const } : {}),
    wide: column.wide !== null
  }))
  return actions === false ? columns : [...columns, { title: "Actions", cell: actions, align: "right" }]
}

interface FactsProps<N extends keyof Nouns> {
  readonly noun: N
  readonly one: Row<N>
  readonly only?: ReadonlyArray<FieldName<Row<N>>>
  readonly cells?: Cells<Row<N>>
}

/** What is said of one, or some of that. */
export const NounFacts = <N extends keyof Nouns>({ noun, one, only, cells = {} }: FactsProps<N>) => {
  const columns = nouns[noun]?.facts.filter(({ name }) => only === undefined || only.some((one) => one === name)) ?? []
  const facts = columns.map((column): Fact => {
    const fact = cellOf(noun, column, cells)(one)
    return fact === null ? null : [column.title, fact]
  })
  return <Facts facts={facts} />
}
