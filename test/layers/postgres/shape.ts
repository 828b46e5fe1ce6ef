/**
 * What a migration did to a schema that the release before it uses: finds what that release can't work with, and what stops it for long.
 *
 * It compares PostgreSQL's own catalog before and after, so it does not matter how a migration is written. Statements are read only for what
 * leaves no trace in an empty database: changes of rows.
 */
import type { Client } from "pg"

/** Tables that stay small: they may be scanned, rewritten and indexed while they are locked. */
const small = new Set([
  "effect_sql_migrations",
  "schema_compatibility",
  "background_migrations",
  "service_mode",
  "workers",
  "history_progress",
  "history_damage"
])

interface Column {
  readonly type: string
  readonly required: boolean
  readonly filled: boolean
}

interface Table {
  /** Changes when the table is rewritten. */
  readonly file: string
  readonly columns: ReadonlyMap<string, Column>
}

export interface Shape {
  readonly tables: ReadonlyMap<string, Table>
  /** Name, and whether the table is scanned under a lock for it. */
  readonly constraints: ReadonlyMap<string, { readonly table: string; readonly validated: boolean }>
  readonly indexes: ReadonlyMap<string, { readonly table: string; readonly unique: boolean; readonly key: string }>
  readonly functions: ReadonlySet<string>
}

const mine = "relnamespace = current_schema()::regnamespace"

export const shapeOf = async (client: Client): Promise<Shape> => {
  const rows = async (text: string) => (await client.query(text)).rows
  const columns = await rows(`
    SELECT c.relname AS table, c.relfilenode::text || c.relkind::text AS file, a.attname AS name,
      format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull AS required,
      a.atthasdef OR a.attidentity <> '' OR a.attgenerated <> '' AS filled
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relkind IN ('r', 'p') AND c.${mine}`)
  const constraints = await rows(`
    SELECT n.conname AS name, c.relname AS table, n.convalidated AS validated
    FROM pg_constraint n JOIN pg_class c ON c.oid = n.conrelid WHERE n.contype IN ('c', 'f') AND c.${mine}`)
  const indexes = await rows(`
    SELECT i.relname AS name, c.relname AS table, x.indisunique AS unique,
      regexp_replace(pg_get_indexdef(x.indexrelid), '^.*? USING ', '') AS key
    FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid WHERE c.${mine}`)
  const functions = await rows(`
    SELECT p.oid::regprocedure::text || ' returns ' || pg_get_function_result(p.oid) AS name FROM pg_proc p
    WHERE p.pronamespace = current_schema()::regnamespace`)
  return {
    tables: new Map(
      [...Map.groupBy(columns, ({ table }) => table)].map(([table, of]) => [
        table,
        { file: of[0].file, columns: new Map(of.map(({ name, ...column }) => [name, column])) }
      ])
    ),
    constraints: new Map(constraints.map(({ name, table, ...one }) => [`${table}.${name}`, { table, ...one }])),
    indexes: new Map(indexes.map(({ name, ...one }) => [name, one])),
    functions: new Set(functions.map(({ name }) => name))
  }
}

/** What breaks the release before, which reads and writes what it knows. */
const broken = (before: Shape, after: Shape): ReadonlyArray<string> => {
  const found: Array<string> = []
  for (const [name, { columns }] of before.tables) {
    const now = after.tables.get(name)?.columns
    if (now === undefined) {
      found.push(`table ${name} is gone`)
      continue
    }
    for (const [column, { type, required }] of columns) {
      const other = now.get(column)
      if (other === undefined) found.push(`column ${name}.${column} is gone`)
      else if (other.type !== type) found.push(`column ${name}.${column} changes from ${type} to ${other.type}`)
      else if (other.required && !required) found.push(`column ${name}.${column} becomes NOT NULL`)
    }
    for (const [column, { required, filled }] of now)
      if (!columns.has(column) && required && !filled)
        found.push(`new column ${name}.${column} is NOT NULL without a default`)
  }
  const keys = new Set([...after.indexes.values()].map(({ table, unique, key }) => `${table} ${unique} ${key}`))
  for (const [name, { table, unique, key }] of before.indexes)
    if (unique && after.tables.has(table) && !keys.has(`${table} ${unique} ${key}`))
      found.push(`unique index ${name} of ${table} is gone, which ON CONFLICT may need`)
  for (const name of before.functions) if (!after.functions.has(name)) found.push(`function ${name} is gone`)
  return found
}

/** What keeps a big table locked while all of its rows are read or written. */
const slow = (before: Shape, after: Shape): ReadonlyArray<string> => {
  const found: Array<string> = []
  const isBig = (table: string) => before.tables.has(table) && !small.has(table)
  for (const [name, { file }] of before.tables) {
    const now = after.tables.get(name)
    if (now !== undefined && isBig(name) && now.file !== file) found.push(`table ${name} is rewritten`)
  }
  for (const [name, { table }] of after.indexes)
    if (!before.indexes.has(name) && isBig(table)) found.push(`index ${name} of ${table} is built under a lock`)
  for (const [name, { table, validated }] of after.constraints)
    if (validated && isBig(table) && !before.constraints.has(name))
      // A later migration may validate it: reads and writes go on meanwhile.
      found.push(`constraint ${name} reads all rows under a lock: add it NOT VALID`)
  return found
}

/** What changes or moves rows. Rows of tables that the migration made are its own. */
const rewriting = (before: Shape, statements: ReadonlyArray<string>): ReadonlyArray<string> =>
  statements.flatMap((text) => {
    const [, verb, name = ""] =
      /^\s*(UPDATE|DELETE FROM|TRUNCATE(?: TABLE)?|INSERT INTO\s+\S+[^;]*?\bSELECT\b[^;]*?\bFROM)\s+(?:ONLY\s+)?"?(\w+)/i.exec(
        text
      ) ?? []
    if (verb === undefined || !before.tables.has(name) || small.has(name)) return []
    return [`${verb.split(/\s/)[0]?.toUpperCase()} of ${name}: change rows in a background migration`]
  })

export const findings = (before: Shape, after: Shape, statements: ReadonlyArray<string>) => ({
  breaks: broken(before, after),
  slow: [...slow(before, after), ...rewriting(before, statements)]
})
