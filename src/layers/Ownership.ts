/**
 * Who owns what in the platform's accounts: inboxes and domains that a workspace's own run has made.
 *
 * Ids are compared in lower case, as mail and domain names are.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

export type OwnedKind = "inbox" | "domain"

/** No provider's id looks otherwise, and a text with a zero byte can't be stored. */
const idPattern = /^[\x21-\x7e]{1,320}$/

export class Ownership extends Context.Service<
  Ownership,
  {
    readonly owns: (org_id: string, kind: OwnedKind, id: string) => Effect.Effect<boolean>
    /** Notes what a run has made. Done twice it is done once; what belongs to somebody already stays theirs. */
    readonly claim: (org_id: string, kind: OwnedKind, id: string, run_id: string) => Effect.Effect<void>
    /** Ids in lower case. */
    readonly all: (org_id: string, kind: OwnedKind) => Effect.Effect<ReadonlySet<string>>
  }
>()("rungate/layers/Ownership") {
  static readonly layer = Layer.effect(
    Ownership,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owns = (org_id: string, kind: OwnedKind, id: string) =>
        Effect.map(
          sql`SELECT 1 AS owned FROM owned_resources
              WHERE kind = ${kind} AND resource_id = ${id.toLowerCase()} AND org_id = ${org_id}`,
          (rows) => rows.length > 0
        )
      const claim = (org_id: string, kind: OwnedKind, id: string, run_id: string) =>
        idPattern.test(id)
          ? Effect.asVoid(sql`INSERT INTO owned_resources (kind, resource_id, org_id, run_id)
                VALUES (${kind}, ${id.toLowerCase()}, ${org_id}, ${run_id}) ON CONFLICT DO NOTHING`)
          : Effect.logError(`${run_id}: the ${kind} it made has an id that can't be kept`)
      const all = (org_id: string, kind: OwnedKind) =>
        Effect.map(
          sql<{
            resource_id: string
          }>`SELECT resource_id FROM owned_resources WHERE org_id = ${org_id} AND kind = ${kind}`,
          (rows) => new Set(rows.map((row) => row.resource_id))
        )
      return Ownership.of({
        owns: (org_id, kind, id) => (idPattern.test(id) ? Effect.orDie(owns(org_id, kind, id)) : Effect.succeed(false)),
        claim: (org_id, kind, id, run_id) => Effect.orDie(claim(org_id, kind, id, run_id)),
        all: (org_id, kind) => Effect.orDie(all(org_id, kind))
      })
    })
  )
}
