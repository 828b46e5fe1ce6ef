/**
 * Copies all rows of one database of this release into another that was migrated and is otherwise new.
 *
 * All of it is one transaction of the target. Triggers and foreign keys don't act meanwhile: they were satisfied when the rows were written.
 */
import { Client } from "pg"
import { queueSchemaOf } from "../../QueueSchema.ts"
import {
  type ColumnRow,
  columnsText,
  type CopiedTable,
  insertText,
  lineText,
  rowsAtOnce,
  tablesIn
} from "../../rowTexts.ts"

const migrations = "effect_sql_migrations"

type Row = Readonly<Record<string, unknown>>
const text = (row: Row | undefined, column: string) => String(row?.[column] ?? "")

const tablesOf = async (client: Client): Promise<ReadonlyArray<CopiedTable>> => {
  const { rows } = await client.query<ColumnRow>(columnsText)
  return tablesIn(rows.filter(({ table_name }) => table_name !== migrations))
}

const copyTable = async (source: Client, target: Client, table: CopiedTable): Promise<number> => {
  await source.query(`DECLARE copied NO SCROLL CURSOR FOR SELECT ${lineText(table.columns)} AS line FROM ${table.name}`)
  let copied = 0
  for (;;) {
    const { rows } = await source.query(`FETCH ${rowsAtOnce} FROM copied`)
    if (rows.length === 0) break
    await target.query(insertText(table), [`[${rows.map((row: Row) => text(row, "line")).join(",")}]`])
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
