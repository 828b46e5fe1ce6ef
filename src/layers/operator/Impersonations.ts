/**
 * Looks of operators into one organization's runs: read-only, for a short time, and with a reason that the organization reads in its audit log.
 *
 * An impersonation belongs to a session of the operator and to one organization. It opens reads of `/v1/operator/…` only, so an operator
 * never acts as a customer.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Impersonation } from "../../schema/nouns/operator/Session.ts"
import { newId } from "../platform/Ids.ts"
import { oneRowOf, storedAs } from "../postgres/Rows.ts"

/** Long enough to find out what happened, and short enough that the log says when somebody looked. */
const minutes = 30

const impersonationRows = storedAs(Impersonation.fields)
const impersonationRow = oneRowOf(Impersonation.fields)

export const makeImpersonations = Effect.map(SqlClient.SqlClient, (sql) => ({
  /** Call it on behalf of the operator. */
  begin: (session_id: string, org_id: string, reason: string) =>
    Effect.orDie(
      impersonationRow(sql`
        INSERT INTO operator_impersonations (impersonation_id, session_id, org_id, reason, expires_at)
        VALUES (${newId("opi")}, ${session_id}, ${org_id}, ${reason}, now() + make_interval(mins => ${minutes}))
        RETURNING org_id, reason, expires_at`)
    ),
  /** The one that ends last. Null if there is none, or all have ended. */
  find: (session_id: string, org_id: string) =>
    impersonationRows.first(sql`
      SELECT org_id, reason, expires_at FROM operator_impersonations
      WHERE session_id = ${session_id} AND org_id = ${org_id} AND expires_at > now() ORDER BY expires_at DESC LIMIT 1`)
}))
