/** Who owns what in the platform's accounts. Written by the database when the run that made a thing ends; only read here. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

export type OwnedKind = "inbox" | "domain"

export class Ownership extends Context.Service<
  Ownership,
  {
    readonly owns: (org_id: string, kind: OwnedKind, id: string) => Effect.Effect<boolean>
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
      const all = (org_id: string, kind: OwnedKind) =>
        Effect.map(
          sql<{
            resource_id: string
          }>`SELECT resource_id FROM owned_resources WHERE org_id = ${org_id} AND kind = ${kind}`,
          (rows) => new Set(rows.map((row) => row.resource_id))
        )
      return Ownership.of({
        owns: (org_id, kind, id) => Effect.orDie(owns(org_id, kind, id)),
        all: (org_id, kind) => Effect.orDie(all(org_id, kind))
      })
    })
  )
}
