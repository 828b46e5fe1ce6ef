/**
 * The opt-out part of a turn: which recipients of its runs are on a list, and the evidence of the runs that it refuses for that.
 *
 * One statement reads it, only in a turn that may admit runs which contact people. An entry of an organization gives its wallet a new
 * version, and one of the service gives `opt_out_service` one. The write of each turn that has read the lists proves both versions, so no
 * run is admitted after the commit of an entry that it has not read.
 */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { type OptOutKey, optOutKeys, OptOutMatch, optOutRefusal } from "../../schema/guards/OptOut.ts"
import { rowsOf, tableOf, texts } from "../postgres/Rows.ts"
import type { Contacting } from "./ContactTurn.ts"

export interface OptOutView {
  /** Of the list of the service. Null if nothing was read. */
  readonly version: bigint | null
  /** Keyed by `keyOf`. */
  readonly matches: ReadonlyMap<string, OptOutMatch>
}
export const noOptOuts: OptOutView = { version: null, matches: new Map() }
const keyOf = (org_id: string, { kind, digest }: OptOutKey): string => `${org_id} ${kind} ${digest}`

/** Why a list refuses a run. Null if no recipient of the run is on one. */
export const refusalOf = ({ matches }: OptOutView, { org_id, contacts }: Omit<Contacting, "run_id">) =>
  optOutRefusal(contacts, (key) => matches.get(keyOf(org_id, key)))

/** A run that the turn refused because of an entry. */
export interface OptedOut extends OptOutMatch, Pick<Contacting, "org_id" | "run_id"> {}

const matchRows = rowsOf({
  ...{ version: Schema.BigInt, org_id: Schema.NullOr(Schema.String) },
  match: Schema.NullOr(OptOutMatch)
})

/** The entries that cover recipients of these runs. Where both lists have one, it is the organization's. */
export const readOptOuts = (sql: SqlClient.SqlClient, runs: ReadonlyArray<Contacting>) => {
  if (runs.length === 0) return Effect.succeed(noOptOuts)
  const keys = new Map<string, OptOutKey & { readonly org_id: string }>()
  for (const { org_id, contacts } of runs)
    for (const key of contacts.recipients.flatMap(({ identities }) => identities.flatMap(optOutKeys)))
      keys.set(keyOf(org_id, key), { org_id, ...key })
  const all = [...keys.values()]
  return Effect.map(
    matchRows(sql`
      SELECT s.version, o.* FROM opt_out_service s LEFT JOIN LATERAL (
        SELECT n.org_id, jsonb_build_object('opt_out_id', o.id, 'list', CASE WHEN o.org_id IS NULL THEN 'service' ELSE 'organization' END,
                 'kind', o.kind, 'digest', n.digest, 'since', to_char(o.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) AS match
        FROM ${tableOf("n", all, { org_id: texts, kind: texts, digest: texts })}
        JOIN opt_outs o ON o.digest = decode(n.digest, 'hex') AND o.kind = n.kind AND (o.org_id = n.org_id OR o.org_id IS NULL)
        ORDER BY o.org_id NULLS FIRST
      ) o ON true`),
    (rows): OptOutView => {
      const matches = new Map<string, OptOutMatch>()
      for (const { org_id, match } of rows)
        if (org_id !== null && match !== null) matches.set(keyOf(org_id, match), match)
      return { version: rows[0]?.version ?? null, matches }
    }
  )
}

/** A part of a statement, with a leading comma: the evidence of refused runs. */
export const writeRefused = (sql: SqlClient.SqlClient, refused: ReadonlyArray<OptedOut>) => {
  if (refused.length === 0) return sql.literal("")
  return sql`, opted_out AS (
            INSERT INTO opt_out_refusals (run_id, org_id, opt_out_id, list, kind, digest, since)
            SELECT run_id, org_id, opt_out_id, list, kind, decode(digest, 'hex'), since::timestamptz
            FROM ${tableOf("n", refused, { run_id: texts, org_id: texts, opt_out_id: texts, list: texts, kind: texts, digest: texts, since: texts })}
            ON CONFLICT (run_id) DO NOTHING
          )`
}

/** Condition of the turn's statement: the list of the service is as it was read. The lock makes a new entry wait for this turn. */
export const optOutsAreCurrent = (sql: SqlClient.SqlClient, { version }: OptOutView) =>
  version === null
    ? sql.literal("")
    : sql`
                            AND EXISTS (SELECT FROM (SELECT 1 FROM opt_out_service WHERE version = ${version} FOR SHARE) s)`
