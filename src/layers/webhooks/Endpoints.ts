/**
 * Stores the webhook endpoints of organizations: URL, kinds of events, signing secrets (Secrets.ts), and whether they are paused.
 *
 * A new endpoint begins at the end of its organization's event log, so it gets no event of the past.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { WebhookEndpoint } from "../../schema/nouns/Webhook.ts"
import { newId } from "../platform/Ids.ts"
import { Settings } from "../platform/Settings.ts"
import { organizationRows, type OrganizationRows } from "../postgres/OrganizationRows.ts"
import { resealed } from "../postgres/resealed.ts"
import { oneRowOf, storedAs } from "../postgres/Rows.ts"
import { webhookSecret } from "../../schema/webhooks/Signature.ts"
import { purposeOf, storedSecret } from "./Secrets.ts"

/** More than any organization needs. Each event is delivered to every endpoint, so the limit bounds what one event can cost. */
export const endpointsMax = 20

const endpointRows = storedAs(WebhookEndpoint.fields)
const countRow = oneRowOf({ count: Schema.Int })

export interface EndpointChange {
  readonly url?: string | undefined
  readonly events?: ReadonlyArray<string> | undefined
  readonly paused?: boolean | undefined
}

const newSecret = (): string => webhookSecret(crypto.getRandomValues(new Uint8Array(32)))

export class WebhookEndpoints extends Context.Service<
  WebhookEndpoints,
  {
    /** Null if the organization already has `endpointsMax` endpoints. `position` is the end of its event log. */
    readonly create: (
      org_id: string,
      endpoint: { readonly url: string; readonly events: ReadonlyArray<string>; readonly position: bigint }
    ) => Effect.Effect<{ readonly row: WebhookEndpoint; readonly secret: string } | null>
    /** All of them, newest first. */
    readonly list: (org_id: string) => Effect.Effect<ReadonlyArray<WebhookEndpoint>>
    /** Leaves out what is undefined. An endpoint that is resumed or gets another URL is no longer failing. */
    readonly change: (
      org_id: string,
      endpoint_id: string,
      change: EndpointChange
    ) => Effect.Effect<WebhookEndpoint | null>
    /** Makes a new secret. The old one signs beside it for the grace time. */
    readonly rotate: (
      org_id: string,
      endpoint_id: string,
      grace_seconds: number
    ) => Effect.Effect<{ readonly row: WebhookEndpoint; readonly secret: string } | null>
    /**
     * Encrypts secrets that are not encrypted with the first encryption key. Returns of how many endpoints, and of how many they could not be
     * opened.
     */
    readonly reseal: Effect.Effect<{ readonly resealed: number; readonly unreadable: number }>
    /** `remove` deletes its deliveries too. */
  } & Pick<OrganizationRows<WebhookEndpoint>, "find" | "remove">
>()("rungate/layers/webhooks/Endpoints") {
  static readonly layer = Layer.effect(
    WebhookEndpoints,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const settings = yield* Settings
      const encryptionKeys = () => settings.current().encryptionKeys
      const columns =
        sql.literal(`endpoint_id AS id, url, events, CASE WHEN paused IS NULL THEN 'active' ELSE 'paused' END AS status,
        paused AS paused_because, failing_since, previous_until AS previous_secret_until, created_at`)
      const table = { table: "webhook_endpoints", columns, id: "endpoint_id" }
      const { list, find, remove: removeEmpty } = organizationRows(sql, table, endpointRows.all)
      const of = (org_id: string, endpoint_id: string) => sql`org_id = ${org_id} AND endpoint_id = ${endpoint_id}`

      /** Deliveries come first, as when an answer is recorded or a run is erased. The other order would be a deadlock with both. */
      const remove: WebhookEndpoints["Service"]["remove"] = (org_id, endpoint_id) =>
        sql`
          DELETE FROM webhook_deliveries
          WHERE endpoint_id IN (SELECT endpoint_id FROM webhook_endpoints WHERE ${of(org_id, endpoint_id)})`.pipe(
          Effect.andThen(removeEmpty(org_id, endpoint_id)),
          sql.withTransaction,
          Effect.orDie
        )

      const create: WebhookEndpoints["Service"]["create"] = (org_id, { url, events, position }) =>
        Effect.gen(function* () {
          // Locks the organization's row, so that concurrent requests can't exceed the limit together.
          yield* sql`SELECT 1 FROM orgs WHERE org_id = ${org_id} FOR UPDATE`
          const { count } = yield* countRow(
            sql`SELECT count(*)::int AS count FROM webhook_endpoints WHERE org_id = ${org_id}`
          )
          if (count >= endpointsMax) return null
          const secret = newSecret()
          const endpoint_id = newId("whe")
          const stored = storedSecret(encryptionKeys(), endpoint_id, secret)
          const row = yield* endpointRows.first(sql`
              INSERT INTO webhook_endpoints (endpoint_id, org_id, url, events, secret, position)
              VALUES (${endpoint_id}, ${org_id}, ${url}, ${[...events]}::text[], ${stored}, ${String(position)}::bigint)
              RETURNING ${columns}`)
          return row === null ? null : { row, secret }
        }).pipe(sql.withTransaction, Effect.orDie)

      const change: WebhookEndpoints["Service"]["change"] = (org_id, endpoint_id, { url, events, paused }) =>
        endpointRows.first(sql`
            UPDATE webhook_endpoints SET
              url = coalesce(${url ?? null}::text, url),
              events = coalesce(${events === undefined ? null : [...events]}::text[], events),
              failing_since = CASE WHEN ${paused ?? true}::boolean AND url = coalesce(${url ?? null}::text, url) THEN failing_since END,
              paused = CASE ${paused ?? null}::boolean WHEN true THEN coalesce(paused, 'by_you') WHEN false THEN NULL ELSE paused END
            WHERE ${of(org_id, endpoint_id)} RETURNING ${columns}`)

      const rotate: WebhookEndpoints["Service"]["rotate"] = (org_id, endpoint_id, grace_seconds) =>
        Effect.gen(function* () {
          const secret = newSecret()
          const stored = storedSecret(encryptionKeys(), endpoint_id, secret)
          const row = yield* endpointRows.first(sql`
              UPDATE webhook_endpoints SET secret = ${stored}, secret_since = now(),
                previous_secret = CASE WHEN ${grace_seconds}::int > 0 THEN secret END,
                previous_until = CASE WHEN ${grace_seconds}::int > 0 THEN now() + make_interval(secs => ${grace_seconds}::int) END
              WHERE ${of(org_id, endpoint_id)} RETURNING ${columns}`)
          return row === null ? null : { row, secret }
        }).pipe(Effect.orDie)

      return WebhookEndpoints.of({
        reseal: resealed(
          sql,
          encryptionKeys,
          "webhook_endpoints",
          ["endpoint_id"],
          ["secret", "previous_secret"],
          purposeOf
        ),
        create,
        find,
        list: (org_id) => list(org_id, null, endpointsMax),
        change,
        rotate,
        remove
      })
    })
  )
}
