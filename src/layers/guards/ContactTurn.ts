/**
 * The contact-guard part of a turn: the latest contacts of its recipients, and the claims that it writes.
 *
 * Only a turn that may admit runs which contact people reads and writes anything here. Identities are stored as keyed hashes
 * (`contact_identity`). Claims of an organization change with its wallet only, so the wallet's version proves what was read;
 * the statement that writes the turn looks again.
 */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import {
  type Contact,
  contactRefusal,
  type Contacts,
  guardedSeconds,
  plannedContacts
} from "../../schema/guards/ContactGuard.ts"
import { bigints, ints, rowsOf, tableOf, texts } from "../postgres/Rows.ts"

export interface ContactView {
  /** `contact_guard_days` by organization. Organizations without one are missing. */
  readonly days: ReadonlyMap<string, number>
  /** Keyed by organization and identity. */
  readonly latest: ReadonlyMap<string, Contact>
}
export const noContacts: ContactView = { days: new Map(), latest: new Map() }
export const contactKey = (org_id: string, identity: string): string => `${org_id} ${identity}`

/** A run with its recipients. */
export interface Contacting {
  readonly org_id: string
  readonly run_id: string
  readonly contacts: Contacts
}

/** An admitted run with its recipients. */
export interface ContactClaim extends Contacting {
  /** Seconds for which it may wait for an approval: so long its recipients are kept from other runs. Absent: it starts at once. */
  readonly waits?: number
}

export interface ContactEffects {
  readonly claimed: ReadonlyArray<ContactClaim>
  /** Runs that contacted nobody. */
  readonly released: ReadonlyArray<{ readonly org_id: string; readonly run_id: string }>
}
export const noContactEffects: ContactEffects = { claimed: [], released: [] }

/** The runs that may be admitted and contact people. The contact guard knows only those of capabilities. */
export const contactingRuns = (
  asking: ReadonlyArray<{
    readonly org_id: string
    readonly run_id: string
    readonly status: string
    readonly capability: string | null
    readonly method: string | null
    readonly plan: () => { readonly contacts?: Contacts }
  }>
): ReadonlyArray<Contacting> =>
  asking.flatMap((run) => {
    const { org_id, run_id } = run
    const contacts = run.status === "created" ? plannedContacts(run) : undefined
    return contacts === undefined ? [] : [{ org_id, run_id, contacts }]
  })

const contactRows = rowsOf({
  org_id: Schema.String,
  identity: Schema.NullOr(Schema.String),
  days: Schema.NullOr(Schema.Int),
  run_id: Schema.NullOr(Schema.String),
  at: Schema.NullOr(Schema.BigInt)
})

const identitiesOf = ({ org_id, run_id, contacts }: Contacting) =>
  contacts.recipients.flatMap(({ identities }) => identities.map((identity) => ({ org_id, run_id, identity })))

/** The latest contacts of these runs' recipients, and the setting of their organizations. */
export const readContacts = (sql: SqlClient.SqlClient, runs: ReadonlyArray<Contacting>) => {
  if (runs.length === 0) return Effect.succeed(noContacts)
  const identities = runs.flatMap(identitiesOf)
  return Effect.map(
    contactRows(sql`
      SELECT n.org_id, n.identity, g.days::int AS days, c.run_id, (extract(epoch FROM c.contacted_at) * 1000000)::bigint AS at
      FROM (SELECT DISTINCT * FROM ${tableOf("u", identities, { org_id: texts, identity: texts })}) n
      LEFT JOIN contact_guards g ON g.org_id = n.org_id
      LEFT JOIN LATERAL (
        SELECT run_id, contacted_at FROM contact_claims c
        WHERE c.org_id = n.org_id AND c.identity = contact_identity(n.org_id, n.identity) ORDER BY contacted_at DESC LIMIT 1
      ) c ON true`),
    (rows): ContactView => {
      const days = new Map<string, number>()
      const latest = new Map<string, Contact>()
      for (const row of rows) {
        if (row.days !== null) days.set(row.org_id, row.days)
        if (row.identity !== null && row.run_id !== null && row.at !== null)
          latest.set(contactKey(row.org_id, row.identity), { run_id: row.run_id, at: row.at })
      }
      return { days, latest }
    }
  )
}

const meanwhileRows = rowsOf({
  identity: Schema.String,
  days: Schema.NullOr(Schema.Int),
  run_id: Schema.String,
  at: Schema.BigInt,
  now: Schema.BigInt
})

/** The refusal of an approved run by what other runs did while it waited. They were not guarded, or its claim would have refused them. */
export const contactedMeanwhile = (sql: SqlClient.SqlClient, run: Contacting) =>
  Effect.map(
    meanwhileRows(sql`
      SELECT DISTINCT ON (n.identity) n.identity, g.days::int AS days, c.run_id, (extract(epoch FROM c.contacted_at) * 1000000)::bigint AS at,
             (extract(epoch FROM a.decided_at) * 1000000)::bigint AS now
      FROM approvals a CROSS JOIN ${tableOf("n", identitiesOf(run), { identity: texts })}
      JOIN contact_claims c ON c.org_id = a.org_id AND c.identity = contact_identity(a.org_id, n.identity)
      LEFT JOIN contact_guards g ON g.org_id = a.org_id
      WHERE a.run_id = ${run.run_id} AND c.run_id <> a.run_id AND c.contacted_at BETWEEN a.requested_at AND a.decided_at
      ORDER BY n.identity, c.contacted_at DESC`),
    (rows) => {
      const latest = new Map(rows.map((row) => [row.identity, row]))
      const [first] = rows
      return first === undefined
        ? null
        : contactRefusal(run.contacts, {
            days: first.days,
            latest: (identity) => latest.get(identity) ?? null,
            now: first.now
          })
    }
  )

/** Common table expressions of the turn's statement, each with a leading comma. */
export const writeContacts = (sql: SqlClient.SqlClient, { claimed, released }: ContactEffects) => {
  const claims = claimed.flatMap((one) => identitiesOf(one).map((claim) => ({ ...claim, waits: one.waits ?? 0 })))
  const inserted =
    claims.length === 0
      ? sql.literal("")
      : sql`, contacted AS (
            INSERT INTO contact_claims (org_id, identity, run_id, contacted_at)
            SELECT DISTINCT n.org_id, contact_identity(n.org_id, n.identity), n.run_id, now() + n.waits * interval '1 second'
            FROM ${tableOf("n", claims, { org_id: texts, identity: texts, run_id: texts, waits: ints })}
          )`
  const deleted =
    released.length === 0
      ? sql.literal("")
      : sql`, uncontacted AS (
            DELETE FROM contact_claims c
            USING ${tableOf("n", released, { org_id: texts, run_id: texts })}
            WHERE c.run_id = n.run_id AND c.org_id = n.org_id
          )`
  return sql`${inserted}${deleted}`
}

/** Condition of the turn's statement: nobody whom a guarded run contacts was contacted within its time. */
export const noContactConflict = (
  sql: SqlClient.SqlClient,
  { claimed }: ContactEffects,
  { days }: ContactView,
  now_micros: bigint
) => {
  const guarded = claimed.flatMap((run) => {
    const seconds = guardedSeconds(run.contacts, days.get(run.org_id) ?? null)
    if (seconds === null) return []
    const since = now_micros - BigInt(seconds) * 1_000_000n
    return identitiesOf(run).map((one) => ({ ...one, since }))
  })
  return guarded.length === 0
    ? sql.literal("")
    : sql`
                            AND NOT EXISTS (
                              SELECT FROM ${tableOf("n", guarded, { org_id: texts, identity: texts, since: bigints })}
                              JOIN contact_claims c ON c.org_id = n.org_id AND c.identity = contact_identity(n.org_id, n.identity)
                              WHERE c.contacted_at > 'epoch'::timestamptz + n.since * interval '1 microsecond')`
}
