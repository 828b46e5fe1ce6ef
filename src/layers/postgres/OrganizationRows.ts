/**
 * What the stores of nouns of which an organization has many, such as its senders, have in common: the list, one of them, and its removal. A row
 * of another organization is none.
 */
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { hasRows } from "./Rows.ts"

/** `Owner` is the id of an organization. Null: the service itself. */
export interface OrganizationRows<Row, Owner extends string | null = string> {
  readonly find: (org_id: Owner, id: string) => Effect.Effect<Row | null>
  /** Newest first. `filter` has values that the rows must have, by the names of columns. */
  readonly list: (
    org_id: Owner,
    before: string | null,
    limit: number,
    filter?: Readonly<Record<string, string | undefined>>
  ) => Effect.Effect<ReadonlyArray<Row>>
  readonly remove: (org_id: Owner, id: string) => Effect.Effect<boolean>
}

/** Condition of the rows of an organization. */
export const ofOrganization = (sql: SqlClient.SqlClient, org_id: string | null) =>
  org_id === null ? sql`org_id IS NULL` : sql`org_id = ${org_id}`

/** Locks the wallet as a turn does, until the transaction ends: so requests at once can't exceed a limit together, nor undo each other's change. */
export const lockWallet = (sql: SqlClient.SqlClient, org_id: string | null) =>
  sql`SELECT 1 FROM wallets WHERE org_id = ${org_id} FOR UPDATE`

interface Table {
  readonly table: string
  readonly columns: Statement.Fragment
  /** The column of its id. */
  readonly id?: string
  /** A trigger of the table changes the wallet, which is locked first, as everywhere. */
  readonly changesWallet?: boolean
}

export const organizationRows = <Row, Owner extends string | null = string>(
  sql: SqlClient.SqlClient,
  { table, columns, id = "id", changesWallet = false }: Table,
  shown: (statement: Statement.Statement<object>, org_id: Owner) => Effect.Effect<ReadonlyArray<Row>>
): OrganizationRows<Row, Owner> => {
  const [rows, key] = [sql.literal(table), sql.literal(id)]
  const selected = (org_id: Owner) => sql`SELECT ${columns} FROM ${rows} WHERE ${ofOrganization(sql, org_id)}`
  const removed = (org_id: Owner, id: string) =>
    hasRows(sql`DELETE FROM ${rows} WHERE ${ofOrganization(sql, org_id)} AND ${key} = ${id} RETURNING 1`)
  return {
    find: (org_id, id) =>
      Effect.map(shown(sql`${selected(org_id)} AND ${key} = ${id}`, org_id), ([row]) => row ?? null),
    list: (org_id, before, limit, filter = {}) => {
      const filters = Object.entries(filter).flatMap(([name, value]) =>
        value === undefined ? [] : [sql`${sql(name)} = ${value}`]
      )
      return shown(
        sql`${selected(org_id)} AND (${before}::text IS NULL OR ${key} < ${before}) AND ${sql.and(filters)} ORDER BY ${key} DESC LIMIT ${limit}`,
        org_id
      )
    },
    remove: (org_id, id) =>
      changesWallet
        ? Effect.orDie(sql.withTransaction(Effect.andThen(lockWallet(sql, org_id), removed(org_id, id))))
        : removed(org_id, id)
  }
}
