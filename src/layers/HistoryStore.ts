/**
 * Questions about subjects: which runs of an organization name one, and what they come to. Reads only.
 *
 * A subject is found by its hashes (Subjects.ts), a phrase by its words. Every match is joined to a run of the organization that asks, so
 * nothing of another's can appear.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { bigints, texts } from "./Columns.ts"
import { touchCapabilities } from "../schema/History.ts"

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
  readonly tag: "group" | "touch" | "reusable"
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

/** One subject of a batch: how often it is on record, and the two runs that matter. */
export interface BatchRow {
  readonly position: number
  readonly count: number
  readonly last_seen: Date
  readonly touch_id: string | null
  readonly touch_capability: string | null
  readonly touch_at: Date | null
  readonly reusable_id: string | null
  readonly reusable_capability: string | null
  readonly reusable_endpoint: string | null
  readonly reusable_provider: string | null
  readonly reusable_charged: bigint | null
  readonly reusable_at: Date | null
}

/** Runs of these are no lookups: what they did can't be read again instead of being done again. */
export interface NoLookups {
  readonly capabilities: ReadonlyArray<string>
  /** Of raw endpoints. */
  readonly providers: ReadonlyArray<string>
}

const reusablesMax = 50

export class HistoryStore extends Context.Service<
  HistoryStore,
  {
    /** Newest first. */
    readonly matches: (org_id: string, sought: Sought, limit: number) => Effect.Effect<ReadonlyArray<MatchRow>>
    /** Over all matches, not only those of a page. */
    readonly facts: (org_id: string, sought: Sought, not: NoLookups) => Effect.Effect<ReadonlyArray<FactRow>>
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

      /** `hits`: one row per run that names the subject. `named`: its input does, exactly. */
      const bySubject = (subjects: ReadonlyArray<bigint>) => sql`
        hits AS MATERIALIZED (
          SELECT run_id, bool_or(exact AND NOT in_result) AS named,
                 min((CASE WHEN exact THEN '0' ELSE '1' END) || (CASE WHEN in_result THEN '1' ELSE '0' END) || path) AS best
          FROM run_subjects WHERE subject = ANY(${bigints(subjects)}) GROUP BY run_id
        )`

      /** Runs that are under way or ended a moment ago have no words yet: there are few, and they are cut up on the spot. */
      const byPhrase = (org_id: string, phrase: string) => sql`
        asked AS MATERIALIZED (SELECT phraseto_tsquery('simple', ${phrase}) AS phrase),
        fresh AS MATERIALIZED (
          SELECT run_id FROM word_queue WHERE org_id = ${org_id}
          UNION SELECT run_id FROM open_runs WHERE org_id = ${org_id}
        ), found AS MATERIALIZED (
          SELECT w.run_id FROM run_words w, asked a WHERE numnode(a.phrase) > 0 AND w.words @@ (a.phrase && ${`'${org_id}'`}::tsquery)
          UNION
          SELECT f.run_id FROM fresh f JOIN runs r ON r.org_id = ${org_id} AND r.run_id = f.run_id, asked a
          WHERE numnode(a.phrase) > 0 AND (json_words(r.input) @@ a.phrase OR json_words(r.result) @@ a.phrase)
        ), hits AS MATERIALIZED (
          SELECT f.run_id, json_words(r.input) @@ a.phrase AS named, NULL AS best
          FROM found f JOIN runs r ON r.org_id = ${org_id} AND r.run_id = f.run_id, asked a
        )`

      const hitsOf = (org_id: string, sought: Sought) =>
        sought._tag === "Subject" ? bySubject(sought.subjects) : byPhrase(org_id, sought.phrase)

      const matches = (org_id: string, sought: Sought, limit: number) => sql<MatchRow>`
        WITH ${hitsOf(org_id, sought)}
        SELECT r.run_id, coalesce(o.state, r.status) AS status, r.kind, r.capability, r.endpoint, r.provider, r.charged, r.created_at,
               r.finished_at, r.input::text AS input, CASE WHEN h.best IS NULL THEN r.result::text END AS result, h.best
        FROM hits h JOIN runs r ON r.org_id = ${org_id} AND r.run_id = h.run_id LEFT JOIN open_runs o ON o.run_id = r.run_id
        WHERE r.erased_at IS NULL ORDER BY r.run_id DESC LIMIT ${limit}`

      const isLookup = ({ capabilities, providers }: NoLookups) => sql`
        status = 'succeeded' AND charged > 0 AND coalesce(capability <> ALL(${texts(capabilities)}), provider <> ALL(${texts(providers)}))`

      const facts = (org_id: string, sought: Sought, not: NoLookups) => sql<FactRow>`
        WITH ${hitsOf(org_id, sought)}, matched AS MATERIALIZED (
          SELECT r.run_id, coalesce(o.state, r.status) AS status, r.capability, r.endpoint, r.provider, coalesce(r.charged, 0) AS charged,
                 r.created_at, h.named
          FROM hits h JOIN runs r ON r.org_id = ${org_id} AND r.run_id = h.run_id LEFT JOIN open_runs o ON o.run_id = r.run_id
          WHERE r.erased_at IS NULL
        )
        SELECT 'group' AS tag, status, capability, endpoint, NULL AS provider, NULL AS run_id, count(*)::int AS count,
               sum(charged)::bigint AS charged, min(created_at) AS first_seen, max(created_at) AS last_seen
        FROM matched GROUP BY status, capability, endpoint
        UNION ALL (
          SELECT 'touch', status, capability, endpoint, provider, run_id, 1, charged, created_at, created_at
          FROM matched WHERE capability = ANY(${texts(touchCapabilities)}) AND status = 'succeeded' ORDER BY run_id DESC LIMIT 1
        ) UNION ALL (
          SELECT 'reusable', status, capability, endpoint, provider, run_id, 1, charged, created_at, created_at
          FROM matched WHERE named AND ${isLookup(not)} ORDER BY run_id DESC LIMIT ${reusablesMax}
        )`

      const batch = (
        org_id: string,
        positions: ReadonlyArray<number>,
        subjects: ReadonlyArray<bigint>,
        not: NoLookups
      ) => sql<BatchRow>`
        WITH asked AS (
          SELECT position::int, subject FROM unnest(${bigints(positions.map((one) => BigInt(one)))}, ${bigints(subjects)}) AS n(position, subject)
        ), hits AS (
          SELECT a.position, s.run_id, bool_or(s.exact AND NOT s.in_result) AS named
          FROM asked a JOIN run_subjects s USING (subject) GROUP BY a.position, s.run_id
        ), matched AS (
          SELECT h.position, h.named, r.run_id, r.status, r.capability, r.provider, r.charged, r.created_at
          FROM hits h JOIN runs r ON r.org_id = ${org_id} AND r.run_id = h.run_id WHERE r.erased_at IS NULL
        ), summed AS (
          SELECT position, count(*)::int AS count, max(created_at) AS last_seen,
                 max(run_id) FILTER (WHERE capability = ANY(${texts(touchCapabilities)}) AND status = 'succeeded') AS touch_id,
                 max(run_id) FILTER (WHERE named AND ${isLookup(not)}) AS reusable_id
          FROM matched GROUP BY position
        )
        SELECT s.position, s.count, s.last_seen, s.touch_id, t.capability AS touch_capability, t.created_at AS touch_at, s.reusable_id,
               b.capability AS reusable_capability, b.endpoint AS reusable_endpoint, b.provider AS reusable_provider,
               b.charged AS reusable_charged, b.created_at AS reusable_at
        FROM summed s LEFT JOIN runs t ON t.org_id = ${org_id} AND t.run_id = s.touch_id
        LEFT JOIN runs b ON b.org_id = ${org_id} AND b.run_id = s.reusable_id`

      return HistoryStore.of({
        matches: (org_id, sought, limit) => Effect.orDie(matches(org_id, sought, limit)),
        facts: (org_id, sought, not) => Effect.orDie(facts(org_id, sought, not)),
        batch: (org_id, positions, subjects, not) => Effect.orDie(batch(org_id, positions, subjects, not))
      })
    })
  )
}
