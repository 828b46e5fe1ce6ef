/**
 * The imported documents that all cells of a service share, in their directory. An import or a reset is decided there: of two cells that replace
 * the same revision, one is refused.
 *
 * Each cell copies what is newer than its own rows, and serves from those while the directory is away. A reset leaves a row without a document,
 * so that every cell learns of it.
 */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { ProviderDocument } from "../../schema/catalog/Endpoint.ts"
import { bigints, oneRowOf, rowsOf, texts } from "../postgres/Rows.ts"
import type { Retired } from "./import/diff.ts"
import { pack } from "./import/pack.ts"

export class DirectoryAway extends Schema.TaggedError<DirectoryAway>()("DirectoryAway", { message: Schema.String }) {}

const away = new DirectoryAway({
  message:
    "The directory of the cells (RUNGATE_DIRECTORY_URL) does not answer, and the catalog changes in all cells or in none. Try again when this works: rungate admin cells list. A new directory needs first: rungate admin cells add"
})

const Document = Schema.Struct({
  provider: Schema.String,
  /** Null after a reset. */
  document: Schema.NullOr(Schema.Uint8Array),
  retired: Schema.String,
  endpoints: Schema.Int,
  revision: Schema.BigInt
})
const ownRows = rowsOf(Document.fields)
/** `actor`: who changed it, as the audit log of each cell names them. */
const sharedRows = rowsOf({ ...Document.fields, imported_at: Schema.Date, actor: Schema.String })
type Shared = Effect.Success<ReturnType<typeof sharedRows>>[number]
const actorRow = oneRowOf({ actor: Schema.String })

interface Sides {
  /** This cell. */
  readonly sql: SqlClient.SqlClient
  readonly directory: SqlClient.SqlClient
  /** Of this cell's rows, by provider. */
  readonly revisions: Effect.Effect<ReadonlyMap<string, bigint>>
}

export const sharedCatalog = ({ sql, directory, revisions }: Sides) => {
  const newerThan = (own: ReadonlyMap<string, bigint>) =>
    sharedRows(directory`
      SELECT d.provider, d.document, d.retired, d.endpoints, d.revision, d.imported_at, d.actor FROM rungate_directory.catalog_documents d
      LEFT JOIN unnest(${texts([...own.keys()])}::text[], ${bigints([...own.values()])}::bigint[]) AS own (provider, revision) USING (provider)
      WHERE d.revision > own.revision OR (own.revision IS NULL AND d.document IS NOT NULL)`).pipe(
      Effect.mapError(() => away)
    )

  /** Another process of this cell may have copied it already. */
  const copy = ({ provider, document, retired, endpoints, revision, imported_at, actor }: Shared) =>
    sql.withTransaction(
      Effect.andThen(
        sql`SELECT set_config('rungate.actor', ${actor}, true)`,
        document === null
          ? sql`DELETE FROM catalog_documents WHERE provider = ${provider} AND revision < ${revision}`
          : sql`
              INSERT INTO catalog_documents AS d (provider, document, retired, endpoints, revision, imported_at)
              VALUES (${provider}, ${document}, ${retired}::json, ${endpoints}, ${revision}, ${imported_at})
              ON CONFLICT (provider) DO UPDATE SET document = excluded.document, retired = excluded.retired,
                endpoints = excluded.endpoints, revision = excluded.revision, imported_at = excluded.imported_at
              WHERE d.revision < excluded.revision`
      )
    )
  const copyShared = Effect.gen(function* () {
    const newer = yield* newerThan(yield* revisions)
    yield* Effect.orDie(Effect.forEach(newer, copy, { discard: true }))
  })

  /**
   * False when the directory has a newer revision than the expected one. It has an older one after it was restored from a backup. A reset
   * replaces any.
   */
  const change = (to: Omit<typeof Document.Type, "revision">, expected: bigint | null) =>
    Effect.gen(function* () {
      const { actor } = yield* Effect.orDie(actorRow(sql`SELECT coalesce(audit_actor()::text, '') AS actor`))
      const changed = yield* directory`
        INSERT INTO rungate_directory.catalog_documents AS d (provider, document, retired, endpoints, actor)
        VALUES (${to.provider}, ${to.document}, ${to.retired}, ${to.endpoints}, ${actor})
        ON CONFLICT (provider) DO UPDATE SET document = excluded.document, retired = excluded.retired, endpoints = excluded.endpoints,
          actor = excluded.actor, revision = greatest(excluded.revision, d.revision + 1), imported_at = now()
        WHERE excluded.document IS NULL OR d.revision <= ${expected} OR (d.document IS NULL AND ${expected}::bigint IS NULL)
        RETURNING revision`.pipe(Effect.mapError(() => away))
      return changed.length > 0
    })

  return {
    copyShared,
    replace: Effect.fnUntraced(function* (
      { provider, ...document }: ProviderDocument,
      retired: ReadonlyArray<Retired>,
      expected: bigint | null
    ) {
      const packed = { document: pack({ provider, ...document }), retired: JSON.stringify(retired) }
      if (!(yield* change({ provider, ...packed, endpoints: document.endpoints.length }, expected))) return false
      yield* copyShared
      return true
    }),
    reset: Effect.fnUntraced(function* (provider: string) {
      yield* copyShared
      if (!(yield* revisions).has(provider)) return false
      yield* change({ provider, document: null, retired: "[]", endpoints: 0 }, null)
      yield* copyShared
      return true
    }),
    share: Effect.gen(function* () {
      const own = ownRows(
        sql`SELECT provider, document, retired::text AS retired, endpoints, revision FROM catalog_documents`
      )
      for (const { revision, ...document } of yield* Effect.orDie(own)) yield* change(document, revision - 1n)
      yield* copyShared
    })
  }
}
