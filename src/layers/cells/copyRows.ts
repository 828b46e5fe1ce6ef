/**
 * Copies an organization's rows into another database, inside one transaction of each, and proves the copy: a digest of each table, and every
 * reference of a copied row.
 *
 * Triggers and foreign keys don't act in the transaction of the copy (`session_replication_role`): they were satisfied when the rows were written.
 * PostgreSQL's checks and unique indexes do.
 */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { type PartTable, partChecksum } from "../../schema/segments/Checksum.ts"
import { oneBigint, oneRowOf, textValues } from "../postgres/Rows.ts"
import { insertText, lineText, rowsAtOnce } from "../postgres/rowTexts.ts"
import { MoveRefused } from "./MoveRefused.ts"
import type { OwnedTable, Reference } from "./tables.ts"

const digestRow = oneRowOf({ rows: Schema.BigInt, digest: Schema.String })
const decodeLine = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Array(Schema.NullOr(Schema.String))))

type Texts = ReadonlyArray<string | null>
/** By table, the SQL of columns that are other ones in the copy. */
export type Instead = Readonly<Record<string, Readonly<Record<string, string>>>>

const settings = [
  ...["statement_timeout", "idle_in_transaction_session_timeout"].map((name) => [name, "0"]),
  ...["seqscan", "bitmapscan", "hashjoin", "mergejoin"].map((way) => [`enable_${way}`, "on"]),
  ["plan_cache_mode", "force_custom_plan"],
  ["datestyle", "ISO"],
  ["intervalstyle", "postgres"],
  ["bytea_output", "hex"],
  ["extra_float_digits", "1"]
]

/** Both transactions: no limit of time, plans for whole tables, and one way to write values as text. */
export const forCopies = (sql: SqlClient.SqlClient) =>
  sql.unsafe(`SELECT ${settings.map(([name, value]) => `set_config('${name}', '${value}', true)`).join(", ")}`)

/** The rules of triggers don't act on what this transaction writes. PostgreSQL lets only roles do it that were granted it. */
export const withoutTriggers = (sql: SqlClient.SqlClient) =>
  sql`SET LOCAL session_replication_role = replica`.pipe(
    Effect.mapError(
      () =>
        new MoveRefused({
          message:
            "The role of a database may not set session_replication_role, which copies and deletes rows as they are. A superuser of each database grants it once: GRANT SET ON PARAMETER session_replication_role TO <role>"
        })
    )
  )

const isPart = (name: string): name is PartTable => /^history_(blocks|docs|classes)$/.test(name)

/** Segments get numbers of the target. A checksum covers the number of its segment: one that does not fit stays wrong, so that readers find it. */
const renumbered = ({ name, columns }: OwnedTable, numbers: ReadonlyMap<string, string>) => {
  const at = (column: string) => columns.findIndex((one) => one.name === column)
  const [segment, n, bytes, checksum] = [
    at("segment"),
    name === "history_blocks" ? at("block") : at("page"),
    at("bytes"),
    at("checksum")
  ]
  return (values: Texts): Texts => {
    const before = values[segment] ?? ""
    const after = numbers.get(before) ?? before
    if (!isPart(name)) return values.with(segment, after)
    const part = { n: Number(values[n]), bytes: Buffer.from((values[bytes] ?? "").slice(2), "hex") }
    const fits = String(partChecksum(name, BigInt(before), part)) === values[checksum]
    return values.with(segment, after).with(checksum, fits ? String(partChecksum(name, BigInt(after), part)) : null)
  }
}

const segmentsTable = "history_segments"
const ofSegments = ({ name }: OwnedTable) => name === segmentsTable || isPart(name)

/** What is copied as it is: not the numbers that PostgreSQL gives to rows, nor what those numbers decide. */
const kept = (table: OwnedTable, instead: Instead) =>
  table.columns.filter(
    ({ name, identity }) =>
      !identity &&
      instead[table.name]?.[name] === undefined &&
      !(isPart(table.name) && /^(segment|checksum)$/.test(name))
  )

const copyTable = Effect.fnUntraced(function* (
  source: SqlClient.SqlClient,
  target: SqlClient.SqlClient,
  table: OwnedTable,
  instead: Instead,
  numbers: ReadonlyMap<string, string>
) {
  const mapped = ofSegments(table) ? renumbered(table, numbers) : null
  // Rows that PostgreSQL numbers keep their order.
  const order = table.columns.filter(({ identity }) => identity).map(({ name }) => name)
  const sent = mapped === null ? { ...table, columns: table.columns.filter(({ identity }) => !identity) } : table
  yield* source.unsafe(
    `DECLARE copied NO SCROLL CURSOR FOR SELECT ${lineText(sent.columns, instead[table.name])} AS line FROM ${table.name} WHERE ${table.where}${order.length === 0 ? "" : ` ORDER BY ${order.join(", ")}`}`
  )
  for (;;) {
    const copied = yield* textValues(source.unsafe(`FETCH ${rowsAtOnce} FROM copied`))
    if (copied.length === 0) break
    const lines = copied.map((line) => (mapped === null ? line : JSON.stringify(mapped(decodeLine(line)))))
    yield* target.unsafe(insertText(sent), [`[${lines.join(",")}]`])
  }
  yield* source.unsafe("CLOSE copied")
})

/** Numbers of the target's sequence for the organization's segments. */
const newNumbers = Effect.fnUntraced(function* (
  source: SqlClient.SqlClient,
  target: SqlClient.SqlClient,
  where: string
) {
  const old = yield* textValues(
    source.unsafe(`SELECT segment::text AS id FROM ${segmentsTable} WHERE ${where} ORDER BY segment`)
  )
  const fresh = yield* textValues(target`
    SELECT nextval(pg_get_serial_sequence(${segmentsTable}, 'segment'))::text AS id FROM generate_series(1, ${old.length}::int)`)
  return new Map(old.map((id, at) => [id, fresh[at] ?? id]))
})

/** Independent of the order of rows. Each row adds 63 bits of its SHA-256, twice. */
const digestOf = (sql: SqlClient.SqlClient, table: OwnedTable, instead: Instead) => {
  const part = (from: number) =>
    `coalesce(sum((('x' || encode(substr(hash, ${from}, 8), 'hex'))::bit(64)::bigint)::numeric), 0)::text`
  return digestRow(
    sql.unsafe(`
      SELECT count(*) AS rows, ${part(1)} || ' ' || ${part(9)} AS digest
      FROM (SELECT sha256(convert_to(${lineText(kept(table, instead))}, 'UTF8')) AS hash FROM ${table.name} WHERE ${table.where}) r`)
  )
}

export interface CopyOf {
  readonly source: SqlClient.SqlClient
  readonly target: SqlClient.SqlClient
  readonly tables: ReadonlyArray<OwnedTable>
  readonly references: ReadonlyArray<Reference>
  readonly instead: Instead
}

/** Copies the rows of all tables that are copied. Fails unless the target then has the same rows and everything that they refer to. */
export const copyRows = Effect.fnUntraced(function* ({ source, target, tables, references, instead }: CopyOf) {
  const copied = tables.filter((table) => table.copied)
  const segments = copied.find(({ name }) => name === segmentsTable)
  const numbers = segments === undefined ? new Map<string, string>() : yield* newNumbers(source, target, segments.where)
  for (const table of copied) yield* copyTable(source, target, table, instead, numbers)
  let rows = 0n
  for (const table of copied) {
    const [there, here] = yield* Effect.all([digestOf(target, table, instead), digestOf(source, table, instead)])
    if (there.rows !== here.rows || there.digest !== here.digest)
      return yield* new MoveRefused({
        message: `The rows of ${table.name} differ after the copy: ${here.rows} here, ${there.rows} there.`
      })
    rows += here.rows
  }
  for (const { child, child_column, parent, parent_column } of references) {
    const table = copied.find(({ name }) => name === child)
    if (table === undefined) continue
    const count = yield* oneBigint(
      target.unsafe(
        `SELECT count(*) AS count FROM (SELECT ${child_column} AS one FROM ${child} WHERE ${table.where}) c
         WHERE one IS NOT NULL AND NOT EXISTS (SELECT FROM ${parent} p WHERE p.${parent_column} = c.one)`
      )
    )
    if (count > 0n)
      return yield* new MoveRefused({
        message: `${count} rows of ${child} refer to rows of ${parent} that are not in the other cell (${child_column}).`
      })
  }
  return { tables: copied.length, rows }
})
