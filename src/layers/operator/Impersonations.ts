/**
 * Looks of operators into one organization's runs: read-only, for a short time, and with a reason that the organization reads in its audit log.
 *
 * An impersonation belongs to a session of the operator and to one organization. It opens reads of `/v1/operator/…` only, so an operator
 * never acts as a customer.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Impersonation } from "../../schema/nouns/operator/Session.ts"
import { newId } from "../platform/Ids.ts"
import { oneRowOf, rowsOf } from "../postgres/Rows.ts"

/** Long enough to find out what happened, and short enough that the log says when somebody looked. */
const minutes = 30

const impersonationRows = rowsOf(Impersonation.fields)
const impersonationRow = oneRowOf(Impersonation.fields)

export class Impersonations extends Context.Service<
  Impersonations,
  {
    /** Call it on behalf of the operator. */
    readonly begin: (session_id: string, org_id: string, reason: string) => Effect.Effect<Impersonation>
    /** The one that ends last. Null if there is none, or all have ended. */
    readonly find: (session_id: string, org_id: string) => Effect.Effect<Impersonation | null>
  }
>()("rungate/layers/operator/Impersonations") {
  static readonly layer = Layer.effect(
    Impersonations,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const begin = (session_id: string, org_id: string, reason: string) =>
        impersonationRow(sql`
          INSERT INTO operator_impersonations (impersonation_id, session_id, org_id, reason, expires_at)
          VALUES (${newId("opi")}, ${session_id}, ${org_id}, ${reason}, now() + make_interval(mins => ${minutes}))
          RETURNING org_id, reason, expires_at`)
      const find = (session_id: string, org_id: string) =>
        impersonationRows(sql`
          SELECT org_id, reason, expires_at FROM operator_impersonations
          WHERE session_id = ${session_id} AND org_id = ${org_id} AND expires_at > now() ORDER BY expires_at DESC LIMIT 1`)
      return Impersonations.of({
        begin: (session_id, org_id, reason) => Effect.orDie(begin(session_id, org_id, reason)),
        find: (session_id, org_id) =>
          Effect.orDie(Effect.map(find(session_id, org_id), ([impersonation]) => impersonation ?? null))
      })
    })
  )
}
