/**
 * Questions about subjects: which runs of an organization name one, and what they come to. Reads only.
 *
 * A subject is found by its hashes (Subjects.ts), a phrase by its words (Phrases.ts). Every match is joined to a run of the organization that asks, so
 * nothing of another's can appear.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { bigints, texts } from "./Columns.ts"
import {
  goesTo,
  groupColumns,
  isLookup,
  looseMax,
  type NoLookups,
  reusablesMax,
  rulesOf,
  succeededTouch
} from "./Lookups.ts"
import { phraseFacts } from "./PhraseFacts.ts"
import { type PhraseHit, Phrases } from "./Phrases.ts"

/** What is asked for: a subject's hashes, or a phrase. */
export type Sought =
  | { readonly _tag: "Subject"; readonly subjects: ReadonlyArray<bigint> }
  | { readonly _tag: "Phrase"; readonly phrase: string }

export interface MatchRow {
  readonly run_id: string
  readonly status: string
  readonly kind: "capability" | "endpoint"
  readonly capability: string | null
  readonly endpoint: string | null
  readonly provider: string | null
  readonly charged: bigint | null
  readonly created_at: Date
  readonly finished_at: Date | null
  /** JSON text. */
  readonly input: string
  /** JSON text, of matches of a phrase only: where it stands is looked up when it is shown. */
  readonly result: string | null
  /** Where the best match is: `<0 exact or 1><0 input or 1 result><path>`; null for a phrase. */
  readonly best: string | null
}

/** All matches with one status of one capability or endpoint; or a single run that an agent wants to know of. */
export interface FactRow {
  /** Groups of a rollup and of the matches behind it are of the same kind. */
  readonly tag: "group" | "rolled" | "touch" | "contact" | "reusable"
  readonly status: string
  readonly capability: string | null
  readonly endpoint: string | null
  readonly provider: string | null
  /** Null in a group. */
  readonly run_id: string | null
  readonly count: number
  readonly charged: bigint
  readonly first_seen: Date
  readonly last_seen: Date
}

/** One subject of a batch: how often it is on record, and the three runs that matter. */
export interface BatchRow {
  readonly position: number
  readonly count: number
  /** Of these, how many are in no rollup. */
  readonly loose: number
  readonly last_seen: Date
  readonly touch_id: string | null
  readonly touch_capability: string | null
  readonly touch_at: Date | null
  readonly contact_id: string | null
  readonly contact_capability: string | null
  readonly contact_at: Date | null
  readonly reusable_id: string | null
  readonly reusable_capability: string | null
  readonly reusable_endpoint: string | null
  readonly reusable_provider: string | null
  readonly reusable_charged: bigint | null
  readonly reusable_at: Date | null
}

/** Of a batch: each may be in a hundred thousand runs, and their numbers stand in memory together. */
const phrasesAtOnce = 16

/** What is sought, with the runs that hold a phrase, newest first. */
type Found =
  | { readonly _tag: "Subject"; readonly subjects: ReadonlyArray<bigint> }
  | { readonly _tag: "Phrase"; readonly hits: ReadonlyArray<PhraseHit> }

/** Of the newest matches and of all: what a question about one subject wants. */
export interface Known {
  /** Newest first. */
  readonly matches: ReadonlyArray<MatchRow>
  /** Over all matches, not only those of a page. */
  readonly facts: ReadonlyArray<FactRow>
}

export class HistoryStore extends Context.Service<
  HistoryStore,
  {
    /** Newest first. */
    readonly matches: (org_id: string, sought: Sought, limit: number) => Effect.Effect<ReadonlyArray<MatchRow>>
    readonly known: (org_id: string, sought: Sought, limit: number, not: NoLookups) => Effect.Effect<Known>
    /** Of each phrase. */
    readonly phrases: (
      org_id: string,
      phrases: ReadonlyArray<string>,
      not: NoLookups
    ) => Effect.Effect<ReadonlyArray<ReadonlyArray<FactRow>>>
    /** Subjects only; `positions` says whose each hash is. */
    readonly batch: (
      org_id: string,
      positions: ReadonlyArray<number>,
      subjects: ReadonlyArray<bigint>,
      not: NoLookups
    ) => Effect.Effect<ReadonlyArray<BatchRow>>
  }
>()("rungate/layers/HistoryStore") {
  static readonly layer = Layer.effect(
    HistoryStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const phrases = yield* Phrases
      const isTouch = succeededTouch(sql)
      const groupsOf = (column: string) => sql.literal(`json_to_recordset(${column}) AS g(${groupColumns})`)

      const found = (org_id: string, sought: Sought): Effect.Effect<Found> =>
        sought._tag === "Subject"
          ? Effect.succeed(sought)
          : Effect.map(
              phrases.hits(org_id, [sought.phrase], (hits) => hits),
              ([hits = []]) => ({ _tag: "Phrase", hits })
            )

      const these = (hits: ReadonlyArray<PhraseHit>) => sql`
        hits AS (SELECT run_id, NULL AS best FROM unnest(${texts(hits.map((hit) => hit.run_id))}) AS n(run_id))`

      /**
       * `hits`: one row per run that names the subject and is in no rollup. `named`: its input does, exactly; `went`: among its recipients.
       * Rollups of several subjects can't be added up, because a run may be in each of them: one counts if no run names another.
       */
      const bySubject = (org_id: string, subjects: ReadonlyArray<bigint>, not: NoLookups) => sql`
        rolled AS MATERIALIZED (
          SELECT before, groups, touch_id, contact_id, reusable_ids FROM history_rollups
          WHERE org_id = ${org_id} AND subject = ANY(${bigints(subjects)}) AND rules = ${rulesOf(not)} AND NOT EXISTS (
            SELECT FROM run_subjects s WHERE s.subject = ANY(${bigints(subjects)}) AND s.subject <> history_rollups.subject
          ) LIMIT 1
        ), hits AS MATERIALIZED (
          SELECT run_id, bool_or(exact AND NOT in_result) AS named, bool_or(${goesTo(sql)}) AS went FROM run_subjects
          WHERE subject = ANY(${bigints(subjects)}) AND run_id >= coalesce((SELECT before FROM rolled), '') GROUP BY run_id
        )`

      /** The newest of each subject, so that nothing is read of a subject's thousand others. */
      const newest = (org_id: string, { subjects, limit }: { subjects: ReadonlyArray<bigint>; limit: number }) => sql`
        hits AS MATERIALIZED (
          SELECT n.run_id, min((CASE WHEN n.exact THEN '0' ELSE '1' END) || (CASE WHEN n.in_result THEN '1' ELSE '0' END) || n.path) AS best
          FROM unnest(${bigints(subjects)}) AS a(subject), LATERAL (
            SELECT s.run_id, s.exact, s.in_result, s.path FROM run_subjects s JOIN runs r ON r.org_id = ${org_id} AND r.run_id = s.run_id
            WHERE s.subject = a.subject AND r.erased_at IS NULL ORDER BY s.run_id DESC LIMIT ${limit}
          ) n GROUP BY n.run_id
        )`

      const matches = (org_id: string, sought: Found, limit: number) => sql<MatchRow>`
        WITH ${sought._tag === "Subject" ? newest(org_id, { subjects: sought.subjects, limit }) : these(sought.hits.slice(0, limit))}
        SELECT r.run_id, coalesce(o.state, r.status) AS status, r.kind, r.capability, r.endpoint, r.provider, r.charged, r.created_at,
               r.finished_at, r.input::text AS input, CASE WHEN h.best IS NULL THEN r.result::text END AS result, h.best
        FROM (SELECT run_id, best FROM hits ORDER BY run_id DESC OFFSET 0) h
        JOIN runs r ON r.org_id = ${org_id} AND r.run_id = h.run_id LEFT JOIN open_runs o ON o.run_id = r.run_id
        WHERE r.erased_at IS NULL ORDER BY h.run_id DESC LIMIT ${limit}`

      const facts = (org_id: string, subjects: ReadonlyArray<bigint>, not: NoLookups) => sql<FactRow>`
        WITH ${bySubject(org_id, subjects, not)}, matched AS MATERIALIZED (
          SELECT r.run_id, coalesce(o.state, r.status) AS status, r.capability, r.endpoint, r.provider, coalesce(r.charged, 0) AS charged,
                 r.created_at, h.named, h.went
          FROM hits h JOIN runs r ON r.org_id = ${org_id} AND r.run_id = h.run_id LEFT JOIN open_runs o ON o.run_id = r.run_id
          WHERE r.erased_at IS NULL
        )
        SELECT 'group' AS tag, status, capability, endpoint, NULL AS provider, NULL AS run_id, count(*)::int AS count,
               sum(charged)::bigint AS charged, min(created_at) AS first_seen, max(created_at) AS last_seen
        FROM matched GROUP BY status, capability, endpoint
        UNION ALL
        SELECT 'rolled', g.status, g.capability, g.endpoint, NULL, NULL, g.count, g.charged, g.first_seen, g.last_seen
        FROM rolled, ${groupsOf("rolled.groups")}
        UNION ALL (
          SELECT 'touch', status, capability, endpoint, provider, run_id, 1, charged, created_at, created_at FROM (
            SELECT status, capability, endpoint, provider, run_id, charged, created_at FROM matched WHERE ${isTouch}
            UNION ALL
            SELECT r.status, r.capability, r.endpoint, r.provider, r.run_id, coalesce(r.charged, 0), r.created_at
            FROM rolled JOIN runs r ON r.org_id = ${org_id} AND r.run_id = rolled.touch_id
          ) t ORDER BY run_id DESC LIMIT 1
        ) UNION ALL (
          SELECT 'contact', status, capability, endpoint, provider, run_id, 1, charged, created_at, created_at FROM (
            SELECT status, capability, endpoint, provider, run_id, charged, created_at FROM matched WHERE went AND ${isTouch}
            UNION ALL
            SELECT r.status, r.capability, r.endpoint, r.provider, r.run_id, coalesce(r.charged, 0), r.created_at
            FROM rolled JOIN runs r ON r.org_id = ${org_id} AND r.run_id = rolled.contact_id
          ) c ORDER BY run_id DESC LIMIT 1
        ) UNION ALL (
          SELECT 'reusable', status, capability, endpoint, provider, run_id, 1, charged, created_at, created_at FROM (
            SELECT status, capability, endpoint, provider, run_id, charged, created_at FROM matched WHERE named AND ${isLookup(sql, not)}
            UNION ALL
            SELECT r.status, r.capability, r.endpoint, r.provider, r.run_id, r.charged, r.created_at
            FROM rolled, unnest(rolled.reusable_ids) AS u(run_id) JOIN runs r ON r.org_id = ${org_id} AND r.run_id = u.run_id
          ) l ORDER BY run_id DESC LIMIT ${reusablesMax}
        )`

      const batch = (
        org_id: string,
        positions: ReadonlyArray<number>,
        subjects: ReadonlyArray<bigint>,
        not: NoLookups
      ) => sql<BatchRow>`
        WITH asked AS (
          SELECT n.position::int, n.subject, count(*) OVER (PARTITION BY n.position) = 1 AS lone
          FROM unnest(${bigints(positions.map((one) => BigInt(one)))}, ${bigints(subjects)}) AS n(position, subject)
        ), placed AS MATERIALIZED (
          SELECT a.position, a.subject, coalesce(h.before, '') AS before, h.groups, h.touch_id, h.contact_id, h.reusable_ids[1] AS reusable_id
          FROM asked a LEFT JOIN history_rollups h ON h.org_id = ${org_id} AND h.subject = a.subject AND h.rules = ${rulesOf(not)}
            AND (a.lone OR NOT EXISTS (
              SELECT FROM asked b JOIN run_subjects s ON s.subject = b.subject WHERE b.position = a.position AND b.subject <> a.subject
            ))
        ), hits AS (
          SELECT p.position, s.run_id, bool_or(s.exact AND NOT s.in_result) AS named, bool_or(${goesTo(sql)}) AS went
          FROM placed p JOIN run_subjects s ON s.subject = p.subject AND s.run_id >= p.before GROUP BY p.position, s.run_id
        ), matched AS (
          SELECT h.position, h.named, h.went, r.run_id, r.status, r.capability, r.provider, r.charged, r.created_at
          FROM hits h JOIN runs r ON r.org_id = ${org_id} AND r.run_id = h.run_id WHERE r.erased_at IS NULL
        ), parts AS (
          SELECT position, count(*)::int AS count, count(*)::int AS loose, max(created_at) AS last_seen,
                 max(run_id) FILTER (WHERE ${isTouch}) AS touch_id,
                 max(run_id) FILTER (WHERE went AND ${isTouch}) AS contact_id,
                 max(run_id) FILTER (WHERE named AND ${isLookup(sql, not)}) AS reusable_id
          FROM matched GROUP BY position
          UNION ALL
          SELECT p.position, sum(g.count)::int, 0, max(g.last_seen), p.touch_id, p.contact_id, p.reusable_id
          FROM placed p, ${groupsOf("p.groups")} GROUP BY p.position, p.touch_id, p.contact_id, p.reusable_id
        ), summed AS (
          SELECT position, sum(count)::int AS count, sum(loose)::int AS loose, max(last_seen) AS last_seen, max(touch_id) AS touch_id,
                 max(contact_id) AS contact_id, max(reusable_id) AS reusable_id
          FROM parts GROUP BY position
        )
        SELECT s.position, s.count, s.loose, s.last_seen, s.touch_id, t.capability AS touch_capability, t.created_at AS touch_at, s.contact_id,
               c.capability AS contact_capability, c.created_at AS contact_at, s.reusable_id, b.capability AS reusable_capability, b.endpoint AS reusable_endpoint, b.provider AS reusable_provider,
               b.charged AS reusable_charged, b.created_at AS reusable_at
        FROM summed s LEFT JOIN runs t ON t.org_id = ${org_id} AND t.run_id = s.touch_id
        LEFT JOIN runs c ON c.org_id = ${org_id} AND c.run_id = s.contact_id LEFT JOIN runs b ON b.org_id = ${org_id} AND b.run_id = s.reusable_id`

      /** Asked for often or not: the next question about it shall not read them all again. */
      const want = (org_id: string, subjects: ReadonlyArray<bigint>, not: NoLookups) =>
        subjects.length === 0
          ? Effect.void
          : sql`
          INSERT INTO history_rollups (org_id, subject, before, rules, groups, reusable_ids, wanted)
          SELECT ${org_id}, subject, '', ${rulesOf(not)}, '[]', '{}', true FROM unnest(${bigints(subjects)}) AS n(subject)
          WHERE EXISTS (SELECT FROM run_subjects s WHERE s.subject = n.subject)
          ON CONFLICT (org_id, subject) DO UPDATE SET wanted = true WHERE NOT history_rollups.wanted`

      return HistoryStore.of({
        matches: Effect.fnUntraced(function* (org_id, sought, limit) {
          return yield* matches(org_id, yield* found(org_id, sought), limit)
        }, Effect.orDie),
        known: Effect.fnUntraced(function* (org_id, sought, limit, not) {
          const all = yield* found(org_id, sought)
          if (all._tag === "Phrase")
            return { matches: yield* matches(org_id, all, limit), facts: phraseFacts(all.hits, not) }
          const [page, rows] = yield* Effect.all([matches(org_id, all, limit), facts(org_id, all.subjects, not)], {
            concurrency: 2
          })
          const loose = rows.reduce((sum, row) => sum + (row.tag === "group" ? row.count : 0), 0)
          if (loose > looseMax) yield* want(org_id, all.subjects, not)
          const told = rows.map((row): FactRow => (row.tag === "rolled" ? { ...row, tag: "group" } : row))
          return { matches: page, facts: told }
        }, Effect.orDie),
        phrases: Effect.fnUntraced(function* (org_id, asked, not) {
          const all: Array<ReadonlyArray<FactRow>> = []
          for (let from = 0; from < asked.length; from += phrasesAtOnce)
            all.push(
              ...(yield* phrases.hits(org_id, asked.slice(from, from + phrasesAtOnce), (hits) =>
                phraseFacts(hits, not)
              ))
            )
          return all
        }),
        batch: Effect.fnUntraced(function* (org_id, positions, subjects, not) {
          const rows = yield* batch(org_id, positions, subjects, not)
          const hot = rows
            .filter((row) => row.loose > looseMax)
            .flatMap(({ position }) => subjects.filter((_, index) => positions[index] === position))
          yield* want(org_id, [...new Set(hot)], not)
          return rows
        }, Effect.orDie)
      })
    })
  )
}
