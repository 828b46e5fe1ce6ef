/** Organizations as operators list them, with their wallets: what they hold, what they did today, and why they may be suspended. */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { rowsOf } from "../../postgres/Rows.ts"
import { spentToday, startOf, today } from "../../postgres/SpendDay.ts"

export const OrganizationRow = Schema.Struct({
  org_id: Schema.String,
  name: Schema.String,
  created_at: Schema.Date,
  balance: Schema.BigInt,
  reserved: Schema.BigInt,
  /** Runs created on the UTC day, and money charged on the day of the organization's time zone. */
  runs_today: Schema.BigInt,
  charged_today: Schema.BigInt,
  /** A check found that the wallet's books do not add up, so it takes no new runs. Null while it takes runs. */
  suspended_at: Schema.NullOr(Schema.Date),
  /** Equation and subject of each violation that the check recorded, 20 at most. Empty while the wallet takes runs. */
  violations: Schema.Array(Schema.String)
})
export type OrganizationRow = typeof OrganizationRow.Type
const organizationRows = rowsOf(OrganizationRow.fields)

/** Newest first: the one with `org_id`, or those that `search` finds and whose ids are below `before`. */
export const organizationList = (sql: SqlClient.SqlClient) =>
  Effect.fnUntraced(function* (org_id: string | null, search: string | null, before: string | null, limit: number) {
    return yield* organizationRows(sql`
      SELECT o.org_id, o.name, o.created_at, w.balance, w.reserved,
             (SELECT count(*) FROM runs r WHERE r.org_id = o.org_id AND r.run_id >= run_id_at(${sql.literal(startOf(today))})) AS runs_today,
             ${sql.literal(spentToday("w"))} AS charged_today,
             s.suspended_at, coalesce(s.violations, '{}') AS violations
      FROM (SELECT org_id, name, created_at FROM orgs
            WHERE (${org_id}::text IS NULL OR org_id = ${org_id}) AND (${before}::text IS NULL OR org_id < ${before})
              AND (${search}::text IS NULL OR org_id = ${search} OR strpos(lower(name), lower(${search})) > 0
                   OR EXISTS (SELECT FROM members m JOIN users u USING (user_id) WHERE m.org_id = orgs.org_id AND strpos(lower(u.email), lower(${search})) > 0))
            ORDER BY org_id DESC LIMIT ${limit}) o
      JOIN wallets w USING (org_id)
      LEFT JOIN wallet_suspensions s ON s.org_id = o.org_id AND w.suspended
      ORDER BY o.org_id DESC`)
  }, Effect.orDie)
