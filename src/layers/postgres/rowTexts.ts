/**
 * The SQL with which rows travel between two databases of this release: values as PostgreSQL writes them in text, so amounts, times and the texts
 * that hashes cover stay what they are.
 */

export interface Column {
  readonly name: string
  readonly type: string
  /** PostgreSQL numbers its rows. */
  readonly identity: boolean
}

export interface CopiedTable {
  readonly name: string
  readonly columns: ReadonlyArray<Column>
}

/** Rows of one statement. A row can have a result of some hundred kilobytes. */
export const rowsAtOnce = 200

/** Columns of tables without partitions, whose rows are read through the partitioned table; without those that the server computes. */
export const columnsText = `
  SELECT format('%I', c.relname) AS table_name, format('%I', a.attname) AS name, format_type(a.atttypid, a.atttypmod) AS type,
         a.attidentity <> '' AS identity
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
  ORDER BY c.relname, a.attnum`

export interface ColumnRow extends Column {
  readonly table_name: string
}

export const tablesIn = (rows: ReadonlyArray<ColumnRow>): ReadonlyArray<CopiedTable> =>
  [...Map.groupBy(rows, ({ table_name }) => table_name)].map(([name, columns]) => ({ name, columns }))

/** A row as a JSON array of texts. `instead` has expressions for columns that are other ones in the copy. */
export const lineText = (columns: ReadonlyArray<Column>, instead: Readonly<Record<string, string>> = {}) =>
  `json_build_array(${columns.map(({ name }) => instead[name] ?? `${name}::text`).join(", ")})::text`

/** Inserts the lines of a JSON array, the only parameter. */
export const insertText = ({ name, columns }: CopiedTable) =>
  `INSERT INTO ${name} (${columns.map((one) => one.name).join(", ")}) OVERRIDING SYSTEM VALUE
   SELECT ${columns.map(({ type }, at) => `(r->>${at})::${type}`).join(", ")} FROM json_array_elements($1::text::json) AS r`
