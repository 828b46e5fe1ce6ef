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
import type { Directory } from "../accounts/Directory.ts"
import { oneRowOf, oneText, rowsOf } from "../postgres/Rows.ts"
import type { Retired } from "./import/diff.ts"
import { pack } from "./import/pack.ts"

const Document = Schema.Struct({
  provider: Schema.String,
  /** Null after a reset. */
  document: Schema.NullOr(Schema.Uint8Array),
  retired: Schema.String,
  endpoints: Schema.Int,
  revision: Schema.BigInt
})
const ownRows = rowsOf(Document.fields)
const revisionRows = rowsOf({ provider: Schema.String, revision: Schema.BigInt, is_reset: Schema.Boolean })
/** `actor`: who changed it, as the audit log of each cell names them. */
const sharedRow = oneRowOf({ ...Document.fields, imported_at: Schema.Date, actor: Schema.String })
type Shared = Effect.Success<ReturnType<typeof sharedRow>>

interface Sides {
  /** This cell. */
  readonly sql: SqlClient.SqlClient
  readonly directory: SqlClient.SqlClient
  readonly reach: Directory["Service"]["reach"]
  /** Of this cell's rows, by provider. */
  readonly revisions: Effect.Effect<ReadonlyMap<string, bigint>>
}

export const sharedCatalog = ({ sql, directory, reach, revisions }: Sides) => {
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
    const own = yield* revisions
    const shared = yield* reach(
      revisionRows(directory`
        SELECT provider, revision, document IS NULL AS is_reset FROM rungate_directory.catalog_documents`)
    )
    for (const { provider, revision, is_reset } of shared) {
      const before = own.get(provider)
      if (before === undefined ? is_reset : before >= revision) continue
      const row = yield* reach(
        sharedRow(directory`
          SELECT provider, document, retired, endpoints, revision, imported_at, actor FROM rungate_directory.catalog_documents
          WHERE provider = ${provider}`)
      )
      yield* Effect.orDie(copy(row))
    }
  })

  /** Who makes the change. Read before a copy, which is in the name of who made that one. */
  const actor = Effect.orDie(oneText(sql`SELECT coalesce(audit_actor()::text, '')`))

  /**
   * False when the directory has a newer revision than the expected one. It has an older one after it was restored from a backup, or none. A
   * reset replaces any. Revisions are times, so those of a directory that was made again or restored are newer than all before. A new one is also
   * newer than the cell's own, whatever the clocks say.
   */
  const change = (to: Omit<typeof Document.Type, "revision">, expected: bigint | null, by: string) =>
    Effect.gen(function* () {
      const own = (yield* revisions).get(to.provider) ?? 0n
      const changed = yield* reach(directory`
        INSERT INTO rungate_directory.catalog_documents AS d (provider, document, retired, endpoints, actor, revision)
        VALUES (${to.provider}, ${to.document}, ${to.retired}, ${to.endpoints}, ${by},
                greatest((extract(epoch FROM clock_timestamp()) * 1000000)::bigint, ${own}::bigint + 1))
        ON CONFLICT (provider) DO UPDATE SET document = excluded.document, retired = excluded.retired, endpoints = excluded.endpoints,
          actor = excluded.actor, revision = greatest(excluded.revision, d.revision + 1), imported_at = now()
        WHERE excluded.document IS NULL OR d.revision <= ${expected} OR (d.document IS NULL AND ${expected}::bigint IS NULL)
        RETURNING revision`)
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
      const to = { provider, ...packed, endpoints: document.endpoints.length }
      if (!(yield* change(to, expected, yield* actor))) return false
      yield* copyShared
      return true
    }),
    reset: Effect.fnUntraced(function* (provider: string) {
      const by = yield* actor
      yield* copyShared
      if (!(yield* revisions).has(provider)) return false
      yield* change({ provider, document: null, retired: "[]", endpoints: 0 }, null, by)
      yield* copyShared
      return true
    }),
    share: Effect.gen(function* () {
      const own = ownRows(
        sql`SELECT provider, document, retired::text AS retired, endpoints, revision FROM catalog_documents`
      )
      const by = yield* actor
      for (const { revision, ...document } of yield* Effect.orDie(own)) yield* change(document, revision - 1n, by)
      yield* copyShared
    })
  }
}
