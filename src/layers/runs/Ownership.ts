/**
 * Records which organization owns which resource in the shared provider accounts: resources that its runs made, resources that an
 * operator assigned, and sending domains that it proved.
 *
 * The first claim of an id wins, and no later provider answer changes the owner. Mail addresses and domains are compared in lower
 * case; ids of accounts and jobs are compared exactly and per provider.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type ResourceKind, resourceKinds } from "../../schema/catalog/Endpoint.ts"
import { isOfProvider, type Resource, type Named, type OwnedPage, resourceId } from "../../schema/catalog/Resources.ts"
import { domainOf, readFrom, withParents } from "../../schema/accounts/Sender.ts"
import { parsedOrText } from "../../schema/json/Json.ts"
import { rowsOf, storedAs, tableOf, textValues, texts } from "../postgres/Rows.ts"

/** The kind under which an organization owns a named resource. `provider` is null for ids that are unique worldwide. */
export interface Owned {
  readonly kind: ResourceKind
  readonly provider: string | null
}

/** A resource in operators' lists. `source` is the id of the run that made it, `assigned` or `proven`. */
export const ResourceRow = Schema.Struct({
  kind: Schema.Literals(resourceKinds),
  resource_id: Schema.String,
  provider: Schema.NullOr(Schema.String),
  source: Schema.String,
  created_at: Schema.Date
})
export type ResourceRow = typeof ResourceRow.Type
const resourceRows = storedAs(ResourceRow.fields)

/** A key of owned_resources that may hold the named resource. */
interface Key {
  readonly kind: ResourceKind
  readonly id: string
  /** The kind that its owner owns the named resource as. */
  readonly as: ResourceKind
}

const keysAs = (as: ResourceKind, id: string): ReadonlyArray<Key> => {
  if (as !== "sender") {
    const key = resourceId(as, id)
    return key === null ? [] : [{ kind: as, id: key, as }]
  }
  const address = readFrom(id)
  if (address === null) return []
  const domains = withParents(domainOf(address))
  return [
    { kind: "sender", id: address, as },
    ...domains.map((domain): Key => ({ kind: "sender", id: domain, as })),
    // The organization that registered a domain through us may send from it.
    ...domains.map((domain): Key => ({ kind: "domain", id: domain, as }))
  ]
}

const keysOf = ({ kinds, id }: Named): ReadonlyArray<Key> => kinds.flatMap((kind) => keysAs(kind, id))

export interface Assignment {
  readonly org_id: string
  readonly kind: ResourceKind
  /** Normalized by `resourceId`. */
  readonly id: string
  readonly provider: string | null
}

const ownedRows = rowsOf({ kind: Schema.Literals(resourceKinds), resource_id: Schema.String, provider: Schema.String })
const takenRows = rowsOf({ kind: Schema.String, resource_id: Schema.String })
/** A single row without an object stands for an empty page. */
const pageRows = rowsOf({
  resource_id: Schema.NullOr(Schema.String),
  created_at: Schema.NullOr(Schema.Date),
  result: Schema.NullOr(Schema.String),
  total: Schema.Int
})

export class Ownership extends Context.Service<
  Ownership,
  {
    /** For each named resource the ownerships of the organization; empty when it does not own the resource. */
    readonly owned: (org_id: string, named: ReadonlyArray<Named>) => Effect.Effect<ReadonlyArray<ReadonlyArray<Owned>>>
    /** Records the resources that a run has made at a provider. Safe to repeat. Existing owners keep theirs. */
    readonly claim: (
      org_id: string,
      run_id: string,
      provider: string,
      resources: ReadonlyArray<Resource>
    ) => Effect.Effect<void>
    /** The objects of a kind that the organization owns, by id, after the id `after`. */
    readonly page: (
      org_id: string,
      kind: ResourceKind,
      paging: { readonly limit: number; readonly after: string | null }
    ) => Effect.Effect<OwnedPage>
    /** Assigns a resource on behalf of an operator. Returns the other owner's id and changes nothing when it has one, else null. */
    readonly assign: (assignment: Assignment) => Effect.Effect<string | null>
    /** Revokes an ownership of any source on behalf of an operator. False when the organization did not own it. */
    readonly revoke: (assignment: Assignment) => Effect.Effect<boolean>
    readonly list: (
      org_id: string,
      kind: ResourceKind | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<ResourceRow>>
  }
>()("rungate/layers/runs/Ownership") {
  static readonly layer = Layer.effect(
    Ownership,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const ownedAmong = (org_id: string, keys: ReadonlyArray<Key>) =>
        ownedRows(sql`
          SELECT kind, resource_id, provider FROM owned_resources
          WHERE org_id = ${org_id} AND (kind, resource_id) IN
            (SELECT * FROM ${tableOf("n", keys, { kind: texts, id: texts })})
          UNION ALL
          SELECT 'sender', domain, '' FROM senders
          WHERE org_id = ${org_id} AND verified_at IS NOT NULL
            AND domain = ANY(${texts(keys.filter((key) => key.kind === "sender").map((key) => key.id))})`)

      return Ownership.of({
        owned: Effect.fnUntraced(function* (org_id, named) {
          const keys = named.map(keysOf)
          const distinct = new Map(keys.flat().map((key) => [`${key.kind} ${key.id}`, key]))
          if (distinct.size === 0) return named.map(() => [])
          const rows = Map.groupBy(
            yield* ownedAmong(org_id, [...distinct.values()]),
            (row) => `${row.kind} ${row.resource_id}`
          )
          return keys.map((candidates) =>
            candidates.flatMap((key) =>
              (rows.get(`${key.kind} ${key.id}`) ?? []).map(
                ({ provider }): Owned => ({ kind: key.as, provider: provider === "" ? null : provider })
              )
            )
          )
        }, Effect.orDie),
        claim: Effect.fnUntraced(function* (org_id, run_id, provider, resources) {
          const rows = resources.flatMap(({ kind, id }) => {
            const key = resourceId(kind, id)
            return key === null ? [] : [{ kind, resource_id: key, provider: isOfProvider(kind) ? provider : "" }]
          })
          if (rows.length < resources.length)
            yield* Effect.logError(
              `${run_id}: ${resources.length - rows.length} of the resource ids that it made can't be stored`
            )
          if (rows.length === 0) return
          const taken = yield* takenRows(sql`
            WITH made AS (
              SELECT DISTINCT * FROM ${tableOf("made", rows, { kind: texts, resource_id: texts, provider: texts })}
              -- Sorted, so that two runs which claim the same ids don't deadlock.
              ORDER BY 1, 2, 3
            ), claimed AS (
              INSERT INTO owned_resources (kind, resource_id, provider, org_id, run_id)
              SELECT kind, resource_id, provider, ${org_id}, ${run_id} FROM made
              ON CONFLICT DO NOTHING
            )
            SELECT o.kind, o.resource_id FROM made JOIN owned_resources o USING (kind, resource_id, provider)
            WHERE o.org_id <> ${org_id} AND o.kind <> 'sender'`)
          const [first] = taken
          if (first !== undefined)
            yield* Effect.logWarning(
              `${run_id}: ${provider} returned ${taken.length} ids that belong to other organizations, such as ${first.kind} ${first.resource_id}. The owners keep them.`
            )
        }, Effect.orDie),
        page: Effect.fnUntraced(function* (org_id, kind, { limit, after }) {
          // One more than a page, which says whether there is a next one. Compared byte by byte, as the cursor's holder sees the order.
          const rows = yield* pageRows(sql`
            SELECT o.resource_id, o.created_at, r.result::text AS result,
              (SELECT count(*) FROM owned_resources WHERE org_id = ${org_id} AND kind = ${kind})::int AS total
            FROM (SELECT 1) AS always
            LEFT JOIN LATERAL (
              SELECT resource_id, run_id, created_at FROM owned_resources
              WHERE org_id = ${org_id} AND kind = ${kind}
                AND (${after}::text IS NULL OR resource_id COLLATE "C" > ${after}::text)
              ORDER BY resource_id COLLATE "C" LIMIT ${limit + 1}
            ) o ON true
            LEFT JOIN runs r ON r.org_id = ${org_id} AND r.run_id = o.run_id
            ORDER BY o.resource_id COLLATE "C"`)
          const items = rows.flatMap(({ resource_id, created_at, result }) =>
            resource_id === null || created_at === null
              ? []
              : { id: resource_id, owned_since: created_at, made_as: result === null ? null : parsedOrText(result) }
          )
          const shown = items.slice(0, limit)
          return {
            items: shown,
            total: rows[0]?.total ?? 0,
            next: items.length > limit ? (shown.at(-1)?.id ?? null) : null
          } satisfies OwnedPage
        }, Effect.orDie),
        assign: Effect.fnUntraced(function* ({ org_id, kind, id, provider }) {
          yield* sql`INSERT INTO owned_resources (kind, resource_id, provider, org_id)
          VALUES (${kind}, ${id}, ${provider ?? ""}, ${org_id}) ON CONFLICT DO NOTHING`
          const owners = yield* textValues(sql`SELECT org_id FROM owned_resources
          WHERE kind = ${kind} AND resource_id = ${id} AND provider = ${provider ?? ""} ORDER BY (org_id = ${org_id}) DESC LIMIT 1`)
          const owner = owners[0] ?? org_id
          return owner === org_id ? null : owner
        }, Effect.orDie),
        revoke: Effect.fnUntraced(function* ({ org_id, kind, id, provider }) {
          const gone = yield* sql`
            WITH assigned AS (
              DELETE FROM owned_resources WHERE org_id = ${org_id} AND kind = ${kind} AND resource_id = ${id} AND provider = ${provider ?? ""}
              RETURNING 1
            ), proven AS (
              DELETE FROM senders WHERE ${kind} = 'sender' AND org_id = ${org_id} AND domain = ${id} RETURNING 1
            )
            SELECT 1 FROM assigned UNION ALL SELECT 1 FROM proven`
          return gone.length > 0
        }, Effect.orDie),
        list: (org_id, kind, limit) =>
          resourceRows.all(sql`
            SELECT * FROM (
              SELECT kind, resource_id, nullif(provider, '') AS provider, coalesce(run_id, 'assigned') AS source, created_at
              FROM owned_resources WHERE org_id = ${org_id}
              UNION ALL
              SELECT 'sender', domain, NULL, 'proven', verified_at FROM senders
              WHERE org_id = ${org_id} AND verified_at IS NOT NULL
            ) AS resources
            WHERE ${kind}::text IS NULL OR kind = ${kind}
            ORDER BY created_at DESC, kind, resource_id LIMIT ${limit}`)
      })
    })
  )
}
