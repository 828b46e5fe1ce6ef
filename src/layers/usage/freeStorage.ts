/**
 * What an organization has stored today at no charge (`free_storage`), as statements read and count it.
 *
 * The count is in the statement that stores, so it commits with what it counts.
 */
import type { SqlClient, Statement } from "effect/sql"
import { today } from "../postgres/SpendDay.ts"

/** What was stored today at no charge. Null if nothing was. */
export const freeUsed = (org_id: string) =>
  `(SELECT f.bytes FROM free_storage f WHERE f.org_id = ${org_id} AND f.day = ${today})`

/** Condition on an API key `k`: it has a scope or a budget. */
export const isLimitedKey = "(k.allow IS NOT NULL OR k.budget_id IS NOT NULL)"

/** Condition on an organization: `storesNothing` is true of its next run or batch. `org_id`, `payable` and `limitedKey` are SQL. */
export const freeIsFull = (
  sql: SqlClient.SqlClient,
  org_id: string,
  payable: string,
  limitedKey: Statement.Fragment,
  limit: bigint
) =>
  limit === 0n
    ? sql.literal("false")
    : sql`coalesce(${sql.literal(freeUsed(org_id))} >= ${limit}::bigint * CASE WHEN ${sql.literal(payable)} THEN CASE WHEN ${limitedKey} THEN 2 ELSE 3 END ELSE 1 END, false)`

/** A common table expression with a leading comma, which counts the rows `org_id`, `bytes` of `from`. */
export const countFree = (sql: SqlClient.SqlClient, from: Statement.Fragment) => sql`, free_stored AS (
            INSERT INTO free_storage AS f (org_id, day, bytes)
            SELECT n.org_id, ${sql.literal(today)}, n.bytes FROM ${from} AS n(org_id, bytes)
            ON CONFLICT (org_id) DO UPDATE SET day = excluded.day, bytes = excluded.bytes + CASE WHEN f.day = excluded.day THEN f.bytes ELSE 0 END
          )`

/** The same for the `bytes` of `rows` that are stored no longer, or count anew. */
export const uncountFree = (sql: SqlClient.SqlClient, org_id: string, rows: string) => sql`, free_returned AS (
            UPDATE free_storage SET bytes = greatest(0, bytes - (SELECT coalesce(sum(r.bytes), 0) FROM ${sql.literal(rows)} r))
            WHERE org_id = ${org_id} AND day = ${sql.literal(today)}
          )`
