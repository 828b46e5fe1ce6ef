/**
 * Stores opt-outs: of an organization, and with `org_id` null of the whole service.
 *
 * An addition locks what turns prove, an organization's wallet or the version of the service's list, before its rows get their time. So a run
 * that was admitted without them is older than they are (postgres/schema/guards.sql).
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import {
  type OptOutKey,
  optOutHint,
  optOutDigest,
  type OptOutRefusal,
  type OptOutSource,
  optOutsMax,
  type ReadOptOut
} from "../../schema/guards/OptOut.ts"
import type { Unsubscribe } from "../../schema/guards/Unsubscribe.ts"
import { diesIfMoved } from "../postgres/Elsewhere.ts"
import { Contacts } from "../../schema/guards/ContactGuard.ts"
import { OptOut } from "../../schema/nouns/OptOut.ts"
import { newId } from "../platform/Ids.ts"
import { lockWallet, ofOrganization, organizationRows, type OrganizationRows } from "../postgres/OrganizationRows.ts"
import { hasRows, oneText, storedAs, tableOf, texts } from "../postgres/Rows.ts"
import type { Contacting } from "./ContactTurn.ts"
import { readOptOuts, refusalOf, writeRefused } from "./OptOutTurn.ts"

/** `digest` is hexadecimal. */
const rows = storedAs(OptOut.fields)
type Row = typeof OptOut.Type
const plans = storedAs({ contacts: Schema.NullOr(Contacts) })
const keyTable = (keys: ReadonlyArray<OptOutKey>) => tableOf("n", keys, { digest: texts, kind: texts })

/** Tests lower it. */
export const OptOutsMax = Context.Reference("rungate/layers/guards/OptOutsMax", { defaultValue: () => optOutsMax })

export interface NewOptOut extends OptOutKey, Pick<ReadOptOut, "hint"> {
  readonly reason: string | null
}

export class OptOuts extends Context.Service<
  OptOuts,
  {
    /** How many an organization may have. */
    readonly max: number
    /** Whether an organization would have at most `max`. A count reads up to a million rows, so it locks nothing; additions at once may go over. */
    readonly fits: (org_id: string | null, entries: ReadonlyArray<OptOutKey>) => Effect.Effect<boolean>
    /** How many are new. The wallet is locked meanwhile: add few at a time. A recipient's own needs not fit. */
    readonly add: (
      org_id: string | null,
      entries: ReadonlyArray<NewOptOut>,
      source: OptOutSource,
      run_id?: string
    ) => Effect.Effect<number>
    /** The entries of this list with these keys. */
    readonly having: (org_id: string | null, keys: ReadonlyArray<OptOutKey>) => Effect.Effect<ReadonlyArray<Row>>
    /** Why a run that has waited may not call its provider any more. Its evidence is stored. */
    readonly refuse: (run: Contacting) => Effect.Effect<OptOutRefusal | null>
    /** The masked address with this digest to which the run wrote. Null if the run is gone or erased. */
    readonly recipient: (link: Unsubscribe) => Effect.Effect<string | null>
    /** What signs the links of an organization's messages. */
    readonly secret: (org_id: string) => Effect.Effect<string>
  } & Pick<OrganizationRows<Row, string | null>, "list" | "remove">
>()("rungate/layers/guards/OptOuts") {
  static readonly layer = Layer.effect(
    OptOuts,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const max = yield* OptOutsMax
      const columns = sql.literal(
        "id, kind, hint, encode(digest, 'hex') AS digest, source, reason, run_id, created_by, created_at"
      )
      const { list, remove } = organizationRows<Row, string | null>(sql, { table: "opt_outs", columns }, rows.all)

      return OptOuts.of({
        max,
        fits: (org_id, entries) =>
          hasRows(sql`
            SELECT FROM (SELECT count(*) AS stored FROM opt_outs WHERE org_id = ${org_id}) AS list
            WHERE ${org_id}::text IS NULL OR stored <= ${max - entries.length}::bigint
              OR stored + (SELECT count(*) FROM (
                   SELECT kind, decode(digest, 'hex') FROM ${keyTable(entries)}
                   EXCEPT SELECT kind, digest FROM opt_outs WHERE org_id = ${org_id}) AS fresh) <= ${max}::bigint`),
        add: Effect.fnUntraced(
          function* (org_id, entries, source, run_id) {
            yield* org_id === null ? sql`SELECT 1 FROM opt_out_service FOR UPDATE` : lockWallet(sql, org_id)
            const added = yield* sql`
              INSERT INTO opt_outs (id, org_id, kind, digest, hint, reason, source, run_id)
              SELECT id, ${org_id}, kind, decode(digest, 'hex'), hint, reason, ${source}, ${run_id ?? null}
              FROM ${tableOf("n", entries, { kind: texts, digest: texts, hint: texts, reason: texts }, { id: texts(entries.map(() => newId("opt"))) })}
              ON CONFLICT ON CONSTRAINT opt_outs_once DO NOTHING RETURNING 1`
            return added.length
          },
          sql.withTransaction,
          Effect.orDie
        ),
        list,
        remove,
        having: (org_id, keys) =>
          rows.all(sql`
            SELECT ${columns} FROM opt_outs WHERE ${ofOrganization(sql, org_id)} AND (digest, kind) IN (
              SELECT decode(n.digest, 'hex'), n.kind FROM ${keyTable(keys)})`),
        refuse: Effect.fnUntraced(function* (run) {
          const refusal = refusalOf(yield* readOptOuts(sql, [run]), run)
          if (refusal !== null)
            yield* sql`WITH one AS (SELECT 1)${writeRefused(sql, [{ ...run, ...refusal.match }])} SELECT 1 AS done`
          return refusal
        }, Effect.orDie),
        recipient: Effect.fnUntraced(function* ({ org_id, run_id, digest }) {
          const plan = yield* plans.first(
            sql`SELECT plan -> 'contacts' AS contacts FROM runs WHERE org_id = ${org_id} AND run_id = ${run_id}`
          )
          if (plan === null) yield* diesIfMoved(sql, { org_id })
          const identities = plan?.contacts?.recipients.flatMap((recipient) => recipient.identities) ?? []
          const written = identities.find((one) => one.startsWith("e:") && optOutDigest(one.slice(2)) === digest)
          return written === undefined ? null : optOutHint("email", written.slice(2))
        }),
        secret: (org_id) =>
          Effect.orDie(
            oneText(sql`
              SELECT coalesce(o.secret, s.secret) FROM contact_secret s LEFT JOIN contact_secrets o ON o.org_id = ${org_id}`)
          )
      })
    })
  )
}
