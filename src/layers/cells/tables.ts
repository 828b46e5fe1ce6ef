/**
 * Which rows are an organization's, by the catalog of the database: those of tables with its id, and those that refer to such rows. So a new table
 * needs no line here. `test/slow/reliability/cells-tables.test.ts` lists the tables that no organization has rows in.
 *
 * People may be in several organizations. Their rows go along if the other cell has none of them, and stay if another organization here needs them.
 */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { rowsOf } from "../postgres/Rows.ts"
import { columnsText, type CopiedTable, tablesIn } from "../postgres/rowTexts.ts"

/** Rows about an organization that are this cell's own: they stay. */
const ofCell = new Set(["cell_moves", "moved_tokens", "history_progress"])
/** Rows that mean nothing in another cell: commands of turns here, looks of its operators, and damage that a reader there finds again. */
const notCopied = new Set(["mailbox", "operator_impersonations", "history_damage"])
/** Parts of segments of history refer to them without a constraint. */
const segments = "history_segments"

export interface Reference {
  readonly child: string
  readonly child_column: string
  readonly parent: string
  readonly parent_column: string
}

export interface OwnedTable extends CopiedTable {
  /** The condition for its rows. */
  readonly where: string
  readonly copied: boolean
}

const columnRows = rowsOf({
  table_name: Schema.String,
  name: Schema.String,
  type: Schema.String,
  identity: Schema.Boolean
})
const referenceRows = rowsOf({
  child: Schema.String,
  child_column: Schema.String,
  parent: Schema.String,
  parent_column: Schema.String
})

export const readCatalog = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const tables = tablesIn(yield* columnRows(sql.unsafe(columnsText)))
  const references = yield* referenceRows(sql`
    SELECT c.conrelid::regclass::text AS child, a.attname AS child_column, c.confrelid::regclass::text AS parent, p.attname AS parent_column
    FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
    JOIN pg_attribute p ON p.attrelid = c.confrelid AND p.attnum = c.confkey[1]
    WHERE c.contype = 'f' AND c.connamespace = current_schema()::regnamespace ORDER BY 1, 2`)
  return { tables, references }
})
export type Catalog = Effect.Success<ReturnType<typeof readCatalog>>

const hasColumn = ({ columns }: CopiedTable, name: string) => columns.some((one) => one.name === name)
const hasOrganization = (table: CopiedTable) => table.name !== "users" && hasColumn(table, "org_id")

/** Ids have no character that SQL would read otherwise. */
export const listOf = (ids: ReadonlyArray<string>) => `'{${ids.join(",")}}'::text[]`

/** The tables with the organization's rows, parents before children. `users` are those of the people that are meant. */
export const tablesOf = (
  { tables, references }: Catalog,
  org_id: string,
  users: ReadonlyArray<string>
): ReadonlyArray<OwnedTable> => {
  const owned = new Map<string, OwnedTable>()
  const own = (table: CopiedTable, where: string) =>
    owned.set(table.name, { ...table, where, copied: !notCopied.has(table.name) })
  const whereOf = (table: CopiedTable): string | null => {
    if (table.name === "users") return `user_id = ANY(${listOf(users)})`
    if (hasOrganization(table)) return `org_id = '${org_id}'`
    const parents = [
      ...references.filter(({ child }) => child === table.name),
      ...(hasColumn(table, "segment")
        ? [{ child_column: "segment", parent: segments, parent_column: "segment" } as const]
        : [])
    ]
    const conditions = parents.flatMap(({ child_column, parent, parent_column }) => {
      const table = owned.get(parent)
      return table === undefined
        ? []
        : [`${child_column} IN (SELECT ${parent_column} FROM ${parent} WHERE ${table.where})`]
    })
    return conditions.length === 0 ? null : conditions.join(" OR ")
  }
  for (let before = -1; before !== owned.size; ) {
    before = owned.size
    for (const table of tables) {
      const where = owned.has(table.name) || ofCell.has(table.name) ? null : whereOf(table)
      if (where !== null) own(table, where)
    }
  }
  return [...owned.values()]
}

const homeRows = rowsOf({ user_id: Schema.String, home: Schema.NullOr(Schema.String), wanted: Schema.Boolean })

/** The people whom the organization's rows name, each with another organization here that names them too. */
export const peopleOf = ({ tables, references }: Catalog, sql: SqlClient.SqlClient, org_id: string) => {
  const named = references.flatMap(({ child, child_column, parent }) =>
    parent === "users" && tables.some((table) => table.name === child && hasOrganization(table))
      ? [`SELECT ${child_column} AS user_id, org_id FROM ${child}`]
      : []
  )
  return homeRows(
    sql.unsafe(
      `WITH named AS (${named.join(" UNION ALL ")}),
            here AS (SELECT user_id, true AS wanted FROM named WHERE org_id = $1 UNION ALL SELECT user_id, false FROM users WHERE org_id = $1)
       SELECT h.user_id, min(n.org_id) AS home, bool_or(h.wanted) OR min(n.org_id) IS NULL AS wanted
       FROM here h LEFT JOIN named n ON n.user_id = h.user_id AND n.org_id <> $1 WHERE h.user_id IS NOT NULL GROUP BY h.user_id ORDER BY 1`,
      [org_id]
    )
  )
}
