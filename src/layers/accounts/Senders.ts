/**
 * Stores the sending domains that organizations verify with a DNS record: one row per organization and domain, with the expected value.
 *
 * A verified domain allows its organization to send from it and from its subdomains (Ownership). Several organizations can verify one
 * domain, each with its own value, because control of the DNS is the proof.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Sender } from "../../schema/nouns/Sender.ts"
import { newId } from "../platform/Ids.ts"
import { organizationRows, type OrganizationRows } from "../postgres/OrganizationRows.ts"
import { storedAs } from "../postgres/Rows.ts"

/** More domains than any organization sends from. The limit keeps a script from filling the table. */
export const sendersMax = 100

/** A sender as it is stored. `token` is the value of its DNS record. */
const { id, domain, status, verified_at, created_at } = Sender.fields
export const SenderRow = Schema.Struct({ id, domain, status, token: Schema.String, verified_at, created_at })
export type SenderRow = typeof SenderRow.Type
const rows = storedAs(SenderRow.fields)

export class Senders extends Context.Service<
  Senders,
  {
    /** Returns the organization's row of the domain, and creates it if needed. Null if the organization already has `sendersMax` rows. */
    readonly add: (org_id: string, domain: string) => Effect.Effect<SenderRow | null>
    /** Marks a sender as verified. */
    readonly verified: (org_id: string, sender_id: string) => Effect.Effect<SenderRow | null>
  } & OrganizationRows<SenderRow>
>()("rungate/layers/accounts/Senders") {
  static readonly layer = Layer.effect(
    Senders,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const columns = sql.literal(
        "sender_id AS id, domain, CASE WHEN verified_at IS NULL THEN 'pending' ELSE 'verified' END AS status, token, verified_at, created_at"
      )

      return Senders.of({
        ...organizationRows(sql, { table: "senders", columns, id: "sender_id" }, rows.all),
        add: Effect.fnUntraced(
          function* (org_id, domain) {
            // Locks the organization's row, so that concurrent requests can't exceed the limit together.
            yield* sql`SELECT 1 FROM orgs WHERE org_id = ${org_id} FOR UPDATE`
            yield* sql`
              INSERT INTO senders (sender_id, org_id, domain, token)
              SELECT ${newId("snd")}, ${org_id}, ${domain}, ${crypto.randomUUID().replaceAll("-", "")}
              WHERE (SELECT count(*) FROM senders WHERE org_id = ${org_id}) < ${sendersMax}
              ON CONFLICT (org_id, domain) DO NOTHING`
            return yield* rows.first(
              sql`SELECT ${columns} FROM senders WHERE org_id = ${org_id} AND domain = ${domain}`
            )
          },
          sql.withTransaction,
          Effect.orDie
        ),
        verified: (org_id, sender_id) =>
          rows.first(sql`
            UPDATE senders SET verified_at = coalesce(verified_at, now()) WHERE org_id = ${org_id} AND sender_id = ${sender_id}
            RETURNING ${columns}`)
      })
    })
  )
}
