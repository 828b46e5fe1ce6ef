/**
 * Stores imported catalog documents in Postgres: one per provider, always written and read as a whole.
 *
 * A write names the revision that it replaces. Of two concurrent imports the second is refused, so that it can't overwrite the
 * first unnoticed. Cells share them, and their directory decides about writes (SharedCatalog.ts).
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { ProviderDocument } from "../../schema/catalog/Endpoint.ts"
import { Directory, type DirectoryAway } from "../accounts/Directory.ts"
import { done, hasRows, rowsOf, texts } from "../postgres/Rows.ts"
import type { Retired } from "./import/diff.ts"
import { pack, unpack } from "./import/pack.ts"
import { sharedCatalog } from "./SharedCatalog.ts"

export interface StoredDocument {
  readonly document: ProviderDocument
  readonly retired: ReadonlyArray<Retired>
  readonly revision: bigint
  readonly imported_at: Date
}

/** The input schema of a marketplace actor, loaded at the first inspection. */
export interface ActorInput {
  readonly body: Schema.JsonObject
  readonly example: Schema.JsonObject | null
  /** The marketplace actor asks for full access to the account, so it is never run. */
  readonly full_permissions: boolean
}

const decodeRetired = Schema.decodeUnknownSync(
  Schema.Array(
    Schema.Struct({ method: Schema.String, path: Schema.String, title: Schema.String, retired_at: Schema.String })
  )
)

const revisionRows = rowsOf({ provider: Schema.String, revision: Schema.BigInt })
const documentRows = rowsOf({
  provider: Schema.String,
  revision: Schema.BigInt,
  document: Schema.Uint8Array,
  retired: Schema.Unknown,
  imported_at: Schema.Date
})
const actorInputRows = rowsOf({
  body: Schema.JsonObject,
  example: Schema.NullOr(Schema.JsonObject),
  full_permissions: Schema.Boolean,
  loaded_at: Schema.Date
})

export class CatalogStore extends Context.Service<
  CatalogStore,
  {
    /** Revisions by provider. */
    readonly revisions: Effect.Effect<ReadonlyMap<string, bigint>>
    readonly load: (providers: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<StoredDocument>>
    /** False when the stored document no longer has the expected revision. */
    readonly replace: (
      document: ProviderDocument,
      retired: ReadonlyArray<Retired>,
      expected: bigint | null
    ) => Effect.Effect<boolean, DirectoryAway>
    /** Deletes the imported document; false when nothing was imported. */
    readonly reset: (provider: string) => Effect.Effect<boolean, DirectoryAway>
    /** Copies what was imported and reset in other cells since the last copy. */
    readonly copyShared: Effect.Effect<void, DirectoryAway>
    /** Gives the other cells the documents that their directory lacks, or of which it has older ones. */
    readonly share: Effect.Effect<void, DirectoryAway>
    readonly actorInput: (
      provider: string,
      path: string
    ) => Effect.Effect<(ActorInput & { readonly loaded_at: Date }) | null>
    readonly keepActorInput: (provider: string, path: string, input: ActorInput) => Effect.Effect<void>
  }
>()("rungate/layers/catalog/CatalogStore") {
  static readonly layer = Layer.effect(
    CatalogStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const { sql: directory, reach } = yield* Directory

      const revisions = Effect.orDie(
        Effect.gen(function* () {
          const rows = yield* revisionRows(sql`SELECT provider, revision FROM catalog_documents`)
          return new Map(rows.map((row) => [row.provider, row.revision]))
        })
      )

      const logged = new Set<bigint>()
      /** A newer release in another cell may write what this one can't read. The rest of the catalog must not wait for that. */
      const unreadable = (provider: string, revision: bigint, defect: unknown) =>
        Effect.suspend(() => {
          if (logged.has(revision)) return Effect.void
          logged.add(revision)
          return Effect.logError(`The import of ${provider} can't be read, so its endpoints stay as they are`, defect)
        })

      const alone = {
        replace: (document: ProviderDocument, retired: ReadonlyArray<Retired>, expected: bigint | null) =>
          hasRows(sql`
            INSERT INTO catalog_documents AS d (provider, document, retired, endpoints)
            VALUES (${document.provider}, ${pack(document)}, ${JSON.stringify(retired)}::json, ${document.endpoints.length})
            ON CONFLICT (provider) DO UPDATE SET document = excluded.document, retired = excluded.retired,
              endpoints = excluded.endpoints, revision = excluded.revision, imported_at = now()
            WHERE d.revision = ${expected}
            RETURNING revision`),
        reset: (provider: string) =>
          hasRows(sql`DELETE FROM catalog_documents WHERE provider = ${provider} RETURNING provider`),
        copyShared: Effect.void,
        share: Effect.void
      }

      return CatalogStore.of({
        revisions,
        load: Effect.fnUntraced(function* (providers) {
          const rows = yield* documentRows(sql`
            SELECT provider, revision, document, retired, imported_at FROM catalog_documents WHERE provider = ANY(${texts(providers)})`)
          const read = yield* Effect.forEach(rows, ({ provider, document: bytes, retired, revision, imported_at }) =>
            Effect.map(
              unpack(bytes),
              (document): ReadonlyArray<StoredDocument> => [
                { document, retired: decodeRetired(retired), revision, imported_at }
              ]
            ).pipe(Effect.catchDefect((defect) => Effect.as(unreadable(provider, revision, defect), [])))
          )
          return read.flat()
        }, Effect.orDie),
        ...(directory === null ? alone : sharedCatalog({ sql, directory, reach, revisions })),
        actorInput: Effect.fnUntraced(function* (provider, path) {
          const [row] = yield* actorInputRows(sql`
            SELECT body, example, full_permissions, loaded_at FROM actor_inputs WHERE provider = ${provider} AND path = ${path}`)
          return row ?? null
        }, Effect.orDie),
        keepActorInput: (provider, path, { body, example, full_permissions }) =>
          done(sql`
            INSERT INTO actor_inputs (provider, path, body, example, full_permissions)
            VALUES (${provider}, ${path}, ${JSON.stringify(body)}::json, ${example === null ? null : JSON.stringify(example)}::json, ${full_permissions})
            ON CONFLICT (provider, path) DO UPDATE SET body = excluded.body, example = excluded.example,
              full_permissions = excluded.full_permissions, loaded_at = now()`)
      })
    })
  )
}
