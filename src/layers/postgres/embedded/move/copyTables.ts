/**
 * Copies all rows of one database of this release into another that was migrated and is otherwise new.
 *
 * All of it is one transaction of the target. Values travel as PostgreSQL writes them in text, so amounts, times and the texts that hashes
 * cover stay what they are. Triggers and foreign keys don't act meanwhile: they were satisfied when the rows were written.
 */
import { Client } from "pg"
import { queueSchemaOf } from "../../QueueSchema.ts"

/** Rows of one statement. A row can have a result of some hundred kilobytes. */
const rowsMax = 200
const migrations = "effect_sql_migrations"

type Row = Readonly<Record<string, unknown>>
const text = (row: Row | undefined, column: string) => String(row?.[column] ?? "")

interface Table {
  readonly name: string
  readonly columns: ReadonlyArray<{ readonly name: string; readonly type: string }>
}

/** Tables without partitions, whose rows are read through the partitioned table; without columns that the server computes. */
const tablesOf = async (client: Client): Promise<ReadonlyArray<Table>> => {
  const { rows } = await client.query(`
    SELECT format('%I', c.relname) AS name, format('%I', a.attname) AS column, format_type(a.atttypid, a.atttypmod) AS type
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> '${migrations}'
      AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
    ORDER BY c.relname, a.attnum`)
  const tables = new Map<string, Array<{ name: string; type: string }>>()
  for (const row of rows) {
    const columns = tables.get(text(row, "name")) ?? []
    columns.push({ name: text(row, "column"), type: text(row, "type") })
    tables.set(text(row, "name"), columns)
  }
  return [...tables].map(([name, columns]) => ({ name, columns }))
}

const copyTable = async (source: Client, target: Client, { name, columns }: Table): Promise<number> => {
  const values = columns.map((one) => `${one.name}::text`).join(", ")
  const names = columns.map((one) => one.name).join(", ")
  const casts = columns.map(({ type }, at) => `(r->>${at})::${type}`).join(", ")
  await source.query(
    `DECLARE copied NO SCROLL CURSOR FOR SELECT json_build_array(${values})::text AS line FROM ${name}`
  )
  let copied = 0
  for (;;) {
    const { rows } = await source.query(`FETCH ${rowsMax} FROM copied`)
    if (rows.length === 0) break
    const lines = `[${rows.map((row: Row) => text(row, "line")).join(",")}]`
    await target.query(
      `INSERT INTO ${name} (${names}) OVERRIDING SYSTEM VALUE SELECT ${casts} FROM json_array_elements($1::json) AS r`,
      [lines]
    )
    copied += rows.length
  }
  await source.query("CLOSE copied")
  return copied
}

/** New numbers continue after the copied ones. Those of BullMQ's jobs start anew. */
const copySequences = async (source: Client, target: Client) => {
  const own = await target.query("SELECT sequencename AS name FROM pg_sequences WHERE schemaname = current_schema()")
  const { rows } = await source.query(
    "SELECT format('%I', sequencename) AS name, last_value::text AS last FROM pg_sequences WHERE schemaname = current_schema() AND last_value IS NOT NULL AND sequencename = ANY($1)",
    [own.rows.map((row: Row) => text(row, "name"))]
  )
  for (const row of rows)
    await target.query("SELECT setval($1::text::regclass, $2::text::bigint)", [text(row, "name"), text(row, "last")])
}

const connected = async (url: string, schema: string | null) => {
  const options = schema === null ? {} : { options: `-c search_path=${schema}` }
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000, ...options })
  client.on("error", () => {})
  await client.connect()
  return client
}

/** Whether a database has no table yet where Rungate's tables go. Fails if it can't be reached. */
export const isEmpty = async (url: string, schema: string | null): Promise<boolean> => {
  const client = await connected(url, schema)
  try {
    const own = schema ?? text((await client.query("SELECT current_schema()::text AS name")).rows[0], "name")
    const { rows } = await client.query("SELECT count(*)::int AS tables FROM pg_tables WHERE schemaname = ANY($1)", [
      [own, queueSchemaOf(own)]
    ])
    return text(rows[0], "tables") === "0"
  } finally {
    await client.end()
  }
}

export interface Copied {
  readonly tables: number
  readonly rows: number
}

/** Both databases have the schema of this release. Nobody else uses them. Fails, and leaves the target without rows, if one table differs. */
export const copyTables = async (from: string, to: string, schema: string | null): Promise<Copied> => {
  const source = await connected(from, schema)
  const target = await connected(to, schema).catch(async (error: unknown) => {
    await source.end()
    throw error
  })
  try {
    await source.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    await target.query("BEGIN")
    await target.query("SET LOCAL session_replication_role = replica")
    await target.query("SET LOCAL statement_timeout = 0")
    // The source may have BullMQ's tables in the same schema. Their jobs are made anew.
    const tables = await tablesOf(target)
    await target.query(`TRUNCATE ${tables.map(({ name }) => name).join(", ")}`)
    let rows = 0
    for (const table of tables) {
      const copied = await copyTable(source, target, table)
      const counted = await target.query(`SELECT count(*)::text AS rows FROM ${table.name}`)
      if (text(counted.rows[0], "rows") !== String(copied))
        throw new Error(`the table ${table.name} was not copied as a whole`)
      rows += copied
    }
    await copySequences(source, target)
    await target.query("COMMIT")
    await target.query("ANALYZE")
    return { tables: tables.length, rows }
  } finally {
    await Promise.all([source.end(), target.end()])
  }
}
