/**
 * How people read a noun: the fields of its lists and of one of it, in their order, with titles, and words for states.
 *
 * Commands and pages read it. Each has one form for each kind of value, and another one only where it does more, such as a link or a bar.
 */
import { type Schema, SchemaAST } from "effect"

export type Kind =
  | "text"
  | "code"
  | "id"
  | "money"
  | "time"
  | "duration"
  | "share"
  | "count"
  | "flag"
  | "state"
  | "list"

/** A field of the JSON, or one of an object in it, such as `rows.total`. */
export type FieldName<A> = {
  [K in keyof A & string]-?: NonNullable<A[K]> extends ReadonlyArray<unknown>
    ? K
    : NonNullable<A[K]> extends object
      ? string extends keyof NonNullable<A[K]>
        ? K
        : K | `${K}.${keyof NonNullable<A[K]> & string}`
      : K
}[keyof A & string]

interface Reading<Name extends string> {
  readonly list?: ReadonlyArray<Name>
  /** Columns that a page says in another way, such as an id in a link. */
  readonly terminal?: ReadonlyArray<Name>
  /** Columns that are left out where there is little room, the first one first. */
  readonly wide?: ReadonlyArray<Name>
  /** Of one. What has no value is left out, unless there is a word for that. */
  readonly facts?: ReadonlyArray<Name>
  /** Where the name of the field is no title. */
  readonly titles?: { readonly [name in Name]?: string }
  /** The field that is shown in the place of one that is null. */
  readonly instead?: { readonly [name in Name]?: Name }
  /** Words in place of null. */
  readonly none?: { readonly [name in Name]?: string }
  /** Where the type and the name of the field don't say it. */
  readonly kinds?: { readonly [name in Name]?: Kind }
  /** Words for the values of a state. */
  readonly words?: { readonly [name in Name]?: Readonly<Record<string, string>> }
}

export interface NounColumn {
  readonly name: string
  readonly title: string
  readonly kind: Kind
  readonly instead: string | null
  readonly none: string | null
  /** From 1: the lowest is left out first. Null for a column that always stays. */
  readonly wide: number | null
  readonly terminal: boolean
}

export interface NounColumns {
  readonly list: ReadonlyArray<NounColumn>
  readonly facts: ReadonlyArray<NounColumn>
  readonly words: Readonly<Record<string, Readonly<Record<string, string>> | undefined>>
}

const key = "~rungate/columns"

export const withColumns =
  <S extends Schema.Top>(reading: Reading<FieldName<NoInfer<S["Encoded"]>>>) =>
  (schema: S): S["Rebuild"] => {
    const annotations: Record<string, unknown> = { [key]: reading }
    return schema.annotate(annotations)
  }

/** The alternatives of a type, without null. */
export const typesIn = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> =>
  SchemaAST.isUnion(ast) ? ast.types.flatMap(typesIn) : SchemaAST.isNull(ast) ? [] : [ast]

const typesAt = (ast: SchemaAST.AST, [name, ...inner]: ReadonlyArray<string>): ReadonlyArray<SchemaAST.AST> =>
  name === undefined
    ? typesIn(ast)
    : typesIn(ast)
        .flatMap((type) => (SchemaAST.isObjects(type) ? type.propertySignatures : []))
        .flatMap((property) => (property.name === name ? typesAt(property.type, inner) : []))

const kindOf = (name: string, types: ReadonlyArray<SchemaAST.AST>): Kind => {
  if (/(^|_)id$/.test(name)) return "id"
  if (name.endsWith("_ms")) return "duration"
  if (types.length > 0 && types.every(SchemaAST.isLiteral)) return "state"
  const [type] = types
  if (type === undefined) throw new Error(`A column reads ${name}, which is no field of its noun.`)
  if (SchemaAST.isNumber(SchemaAST.toEncoded(type))) return "count"
  if (SchemaAST.isBigInt(type)) return "money"
  if (SchemaAST.isDeclaration(type)) return "time"
  if (SchemaAST.isBoolean(type)) return "flag"
  return SchemaAST.isArrays(type) ? "list" : "text"
}

/** Such as "Last used" of `last_used_at`. */
const titleOf = (name: string): string => {
  const words = (name.split(".").at(-1) ?? name).replace(/_(at|id|ms)$/, "").replaceAll("_", " ")
  return words.charAt(0).toUpperCase() + words.slice(1)
}

export const columnsOf = ({ ast }: { readonly ast: SchemaAST.AST }): NounColumns => {
  const reading = SchemaAST.resolveAt<Reading<string>>(key)(ast) ?? {}
  const columnOf = (name: string): NounColumn => {
    const place = reading.wide?.indexOf(name) ?? -1
    return {
      name,
      title: reading.titles?.[name] ?? titleOf(name),
      kind: reading.kinds?.[name] ?? kindOf(name, typesAt(ast, name.split("."))),
      instead: reading.instead?.[name] ?? null,
      none: reading.none?.[name] ?? null,
      wide: place < 0 ? null : place + 1,
      terminal: reading.terminal?.includes(name) ?? false
    }
  }
  const { list = [], facts = [], words = {} } = reading
  return { list: list.map(columnOf), facts: facts.map(columnOf), words }
}
