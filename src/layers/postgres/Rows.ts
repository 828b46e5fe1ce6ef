/**
 * Rows of statements: checked when they come, and passed as columns when they go.
 *
 * `rowsOf({ lane: Schema.Int })(sql`…`)` checks that rows have the columns and types that the code expects. A row that differs is a
 * programming error, so the check dies. Its message names the column and never its value, which may be personal data. Declare the fields
 * once per module: building a check costs more than running it. Where a statement has one column, `oneNumber` or `textValues` reads it without
 * its name.
 *
 * `FROM ${tableOf("n", runs, { run_id: texts, hold: bigints })}` passes rows as a table: each column is one typed array parameter. The element
 * type is explicit, so an empty column or a column of nulls prepares the same statement as any other. Strings are made storable here: no text
 * of a provider, a caller or a payment processor can fail a statement.
 */
import { Effect, Result, Schema } from "effect"
import { Statement as Sql } from "effect/sql"
import { PgTypes } from "@effect/sql-pg"
import { storableJson, storableText } from "../../schema/json/StorableText.ts"

type Fields = Schema.Struct.Fields
type RowOf<F extends Fields> = Schema.Struct<F>["Type"]

const typeOf = (value: unknown): string =>
  value === undefined
    ? "no value"
    : value === null
      ? "null"
      : value instanceof Object
        ? value.constructor.name
        : typeof value

const columnOf = (row: object, name: string): unknown => Reflect.get(row, name)

/** The first column that differs, as a sentence. */
const mismatch = (fields: Fields, rows: ReadonlyArray<object>): Error => {
  for (const row of rows)
    for (const [name, field] of Object.entries(fields)) {
      const value = columnOf(row, name)
      if (!Schema.is(Schema.toType(field))(value))
        return new Error(`The database returned an unexpected row: the column "${name}" holds ${typeOf(value)}.`)
    }
  return new Error("The database returned an unexpected row.")
}

const checked =
  <F extends Fields>(fields: F, fit: (rows: ReadonlyArray<object>) => rows is ReadonlyArray<RowOf<F>>) =>
  <E, R>(statement: Effect.Effect<ReadonlyArray<object>, E, R>): Effect.Effect<ReadonlyArray<RowOf<F>>, E, R> =>
    Effect.flatMap(statement, (rows) => (fit(rows) ? Effect.succeed(rows) : Effect.die(mismatch(fields, rows))))

/** Checks every column of every row: about 0.07 µs a column. */
export const rowsOf = <const F extends Fields>(fields: F) => {
  const isRows = Schema.is(Schema.Array(Schema.Struct(fields)))
  return checked(fields, (rows): rows is ReadonlyArray<RowOf<F>> => isRows(rows))
}

/**
 * The check for statements in the path of every run, which return hundreds of wide rows. It checks every column of the first row.
 * On the other rows it only checks that no required column is null: Postgres gives a column the same type in all rows. It does not
 * notice a wrong type of a column that is null in the first row, nor a wrong literal after the first row.
 */
export const batchRowsOf = <const F extends Fields>(fields: F) => {
  const isRow = Schema.is(Schema.Struct(fields))
  const required = Object.keys(fields).filter((name) => {
    const field = fields[name]
    return field !== undefined && !Schema.is(Schema.toType(field))(null)
  })
  return checked(fields, (rows): rows is ReadonlyArray<RowOf<F>> => {
    if (rows.length > 0 && !isRow(rows[0])) return false
    for (const row of rows) for (const name of required) if ((columnOf(row, name) ?? null) === null) return false
    return true
  })
}

/** The row of a statement that always returns one row, such as a sum or a count. Dies when there is none. */
export const oneRowOf = <const F extends Fields>(fields: F) => {
  const rows = rowsOf(fields)
  return <E, R>(statement: Effect.Effect<ReadonlyArray<object>, E, R>): Effect.Effect<RowOf<F>, E, R> =>
    Effect.flatMap(rows(statement), ([row]) =>
      row === undefined
        ? Effect.die(new Error(`A statement returned no row; one with ${Object.keys(fields).join(", ")} was expected.`))
        : Effect.succeed(row)
    )
}

type Statement<E, R> = Effect.Effect<ReadonlyArray<object>, E, R>

/** The first column of each row, for statements that select one. */
export const valuesOf = <const S extends Schema.Constraint>(schema: S) => {
  const isValues = Schema.is(Schema.Array(schema))
  return <E, R>(statement: Statement<E, R>): Effect.Effect<ReadonlyArray<S["Type"]>, E, R> =>
    Effect.flatMap(statement, (rows) => {
      const [name = ""] = Object.keys(rows[0] ?? {})
      const values = rows.map((row) => columnOf(row, name))
      return isValues(values) ? Effect.succeed(values) : Effect.die(mismatch({ [name]: schema }, rows))
    })
}
export const textValues = valuesOf(Schema.String)

/** The first column of a statement that always returns one row, such as a count. Dies when there is none. */
export const oneOf = <const S extends Schema.Constraint>(schema: S) => {
  const values = valuesOf(schema)
  return <E, R>(statement: Statement<E, R>): Effect.Effect<S["Type"], E, R> =>
    Effect.flatMap(values(statement), ([value]) =>
      value === undefined
        ? Effect.die(new Error("A statement returned no row; one with a value was expected."))
        : Effect.succeed(value)
    )
}
export const oneText = oneOf(Schema.String)
export const oneFlag = oneOf(Schema.Boolean)
export const oneNumber = oneOf(Schema.Number)
export const oneBigint = oneOf(Schema.BigInt)

/** For a store whose callers can do nothing about a failing database: a failure dies. `first` is null without a row, and `one` dies. */
export const storedAs = <const F extends Fields>(fields: F) => {
  const [rows, row] = [rowsOf(fields), oneRowOf(fields)]
  const all = <E, R>(statement: Statement<E, R>) => Effect.orDie(rows(statement))
  const one = <E, R>(statement: Statement<E, R>) => Effect.orDie(row(statement))
  const first = <E, R>(statement: Statement<E, R>) =>
    Effect.map(all(statement), ([row]): RowOf<F> | null => row ?? null)
  return { all, first, one }
}

/** Whether a statement returned any row, such as those that it changed. A failure dies. */
export const hasRows = <E, R>(statement: Statement<E, R>) =>
  Effect.map(Effect.orDie(statement), (rows) => rows.length > 0)

/** A statement whose rows say nothing. A failure dies. */
export const done = <E, R>(statement: Statement<E, R>) => Effect.asVoid(Effect.orDie(statement))

const column = (values: ReadonlyArray<unknown>, element: number) => Result.getOrThrow(PgTypes.array(values, element))

const storable = (change: (text: string) => string) => (value: string | null) => (value === null ? null : change(value))

export const texts = (values: ReadonlyArray<string | null>) =>
  column(values.map(storable(storableText)), PgTypes.OID.text)
/** JSON texts written by this service. A provider's own payload goes into `texts`, which keeps it byte for byte. */
export const jsons = (values: ReadonlyArray<string | null>) =>
  column(values.map(storable(storableJson)), PgTypes.OID.text)
export const bigints = (values: ReadonlyArray<bigint | null>) => column(values, PgTypes.OID.int8)
export const byteas = (values: ReadonlyArray<Uint8Array | null>) => column(values, PgTypes.OID.bytea)
export const booleans = (values: ReadonlyArray<boolean | null>) => column(values, PgTypes.OID.bool)
/** Whole numbers that a double has exactly. */
export const ints = (values: ReadonlyArray<number | null>) =>
  bigints(values.map((value) => (value === null ? null : BigInt(value))))
export const dates = (values: ReadonlyArray<string | null>) => column(values, PgTypes.OID.date)
/** Also without hyphens, which only PostgreSQL reads. */
export const uuids = (values: ReadonlyArray<string | null>) =>
  Sql.fragment([Sql.parameter(texts(values)), Sql.literal("::uuid[]")])

/** How each column is encoded, by the name that it has in the rows and in the statement. */
type Columns<Row> = { readonly [name in keyof Row]?: (values: ReadonlyArray<Row[name]>) => unknown }
const opening = Sql.literal("unnest(")
const comma = Sql.literal(", ")

/** Members of rows as the columns of a table, and behind them those that are computed. */
export const tableOf = <Row extends object>(
  alias: string,
  rows: ReadonlyArray<Row>,
  members: Columns<Row>,
  computed: Readonly<Record<string, unknown>> = {}
): Sql.Fragment => {
  const names: Array<string> = []
  const segments: Array<Sql.Segment> = []
  const add = (name: string, value: unknown) => {
    segments.push(names.length === 0 ? opening : comma)
    names.push(name)
    if (Sql.isFragment(value)) segments.push(...value.segments)
    else segments.push(Sql.parameter(value))
  }
  for (const name in members) add(name, members[name]?.(rows.map((row) => row[name])))
  for (const name in computed) add(name, computed[name])
  segments.push(Sql.literal(`) AS ${alias}(${names.join(", ")})`))
  return Sql.fragment(segments)
}
