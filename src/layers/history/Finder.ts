/**
 * Answers history queries: finds an organization's runs that name a subject or contain a phrase, and summarizes them. Reads only.
 *
 * Indexed runs are found by their terms in segments. Runs in progress or finished a moment ago are read themselves. One statement reads which runs
 * are where, so every run is found exactly once. A query that needs a damaged segment fails until the segment is rebuilt. Phrases match whole words
 * in order, in any case.
 */
import { Context, Effect, Layer, Schema, Semaphore } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import {
  type Candidate,
  type SubjectSummary,
  summaryOf,
  sifted,
  type Want,
  type Match
} from "./index/SubjectSummary.ts"
import { beingRebuilt, endedMax, type Fresh, freshRuns, type IndexBehind } from "./FreshRuns.ts"
import { damageReports } from "./index/Damage.ts"
import { intactRows } from "./index/Places.ts"
import type { NoLookups } from "./index/Lookups.ts"
import { type Lists, type Moved, segmentLists } from "./index/SegmentLists.ts"
import { texts } from "../postgres/Rows.ts"
import { rowsAs } from "./index/Rows.ts"
import { failOnDamage, type SegmentDamaged } from "./index/SegmentDamaged.ts"
import type { Family } from "./index/Segments.ts"
import { segmentFields, type SegmentRow } from "./index/SegmentRow.ts"
import type { Run } from "../../schema/segments/Docs.ts"
import type { Phrase } from "../../schema/words/Term.ts"

/** Concurrent queries per process. A query for the commonest words takes some time and some megabytes. */
const queriesMax = 6
/** Tries without a transaction, which costs as much as an easy query. */
const triesMax = 3

/** The newest matches of an organization among which those of some keys are looked for. The index does not know keys. */
const matchesOfKeysMax = 10_000

/** A segment, or a run that is in no segment. */
const StateRow = Schema.Union([
  Schema.Struct({ ...segmentFields, run_id: Schema.Null }),
  Schema.Struct({ segment: Schema.Null, run_id: Schema.String, ended: Schema.Boolean })
])
type StateRow = typeof StateRow.Type
const stateRows = rowsAs("segments and unindexed runs", StateRow)
const isSegment = (row: StateRow): row is SegmentRow & { readonly run_id: null } => row.segment !== null
const isFresh = (row: StateRow): row is Fresh & { readonly segment: null } => row.segment === null
const isMoved = ({ _tag }: { readonly _tag: string }) => _tag === "Moved"

/** The parts of the summary to compute, and which runs are not lookups. */
interface SummaryQuery {
  readonly want: Want
  readonly not: NoLookups
  /** Only runs that these API keys started. Null: all. */
  readonly keys: ReadonlyArray<string> | null
}
type Query = Effect.fn.Return<ReadonlyArray<SubjectSummary>, IndexBehind | Moved | SegmentDamaged | SqlError.SqlError>
type Answers = Effect.Effect<ReadonlyArray<SubjectSummary>, IndexBehind>

export class Finder extends Context.Service<
  Finder,
  {
    /** Summarizes the runs of each subject, which is given as the terms of its keys. A run with any of them matches. */
    readonly subjects: (org_id: string, subjects: ReadonlyArray<ReadonlyArray<number>>, query: SummaryQuery) => Answers
    /** Summarizes the runs of each phrase; null stands for a phrase without words. */
    readonly phrases: (org_id: string, phrases: ReadonlyArray<Phrase | null>, query: SummaryQuery) => Answers
  }
>()("rungate/layers/history/Finder") {
  static readonly layer = Layer.effect(
    Finder,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { bySubject, byPhrase, withClasses, docs } = yield* segmentLists
      const { timely, naming, holding } = yield* freshRuns
      const reports = yield* damageReports
      const queries = Semaphore.makeUnsafe(queriesMax)

      /** Reads the list of segments and the unindexed runs in one statement, so that both are of the same moment. */
      const state = Effect.fnUntraced(function* (org_id: string, family: Family) {
        const rows = yield* stateRows(sql`
          SELECT s.*, NULL::text AS run_id, NULL::boolean AS ended FROM history_segments s WHERE org_id = ${org_id} AND family = ${family}
          UNION ALL SELECT s.*, w.run_id, w.ended FROM (
            (SELECT unnest(run_ids) AS run_id, true AS ended FROM history_queue WHERE org_id = ${org_id} LIMIT ${endedMax + 1})
            UNION SELECT run_id, false FROM open_runs WHERE org_id = ${org_id}
            UNION SELECT m.run_id, false FROM wallets l JOIN mailbox m ON m.lane = l.lane
            WHERE l.org_id = ${org_id} AND m.org_id = ${org_id} AND m.tag = 'Reserve'
          ) w LEFT JOIN history_segments s ON false`)
        const fresh = rows.filter(isFresh)
        yield* timely(org_id, fresh)
        const segments = rows.filter(isSegment)
        yield* intactRows(org_id, segments)
        return { segments, fresh }
      })

      const summaries = Effect.fnUntraced(function* (
        lists: ReadonlyArray<Lists>,
        unindexed: ReadonlyArray<ReadonlyArray<Match>>,
        { want, not }: SummaryQuery
      ) {
        const all = (yield* withClasses(lists, not)).map((matches) => ({ matches, from: sifted(matches, want) }))
        const doc = yield* docs(all.flatMap(({ from }) => Object.values(from).flat()))
        const runOf = ({ row, number, of }: Candidate): Run => ({ ...doc(row, number), ...of })
        return all.map(({ matches, from }, n) => summaryOf(matches, unindexed[n] ?? [], { from, runOf, want, not }))
      })

      const ownRows = rowsAs("runs of a key", Schema.Struct({ run_id: Schema.String, ended: Schema.Boolean }))
      /** Of the matches of any key, those of these keys, to be read themselves. */
      const ofKeys = Effect.fnUntraced(function* (
        org_id: string,
        keys: ReadonlyArray<string>,
        matches: (
          query: SummaryQuery
        ) => Effect.Effect<ReadonlyArray<SubjectSummary>, IndexBehind | Moved | SegmentDamaged | SqlError.SqlError>
      ) {
        const want: Want = { newest: matchesOfKeysMax, reusable: 0, groups: false }
        const all = yield* matches({ want, not: { capabilities: [], providers: [] }, keys: null })
        const ids = [...new Set(all.flatMap(({ newest }) => newest.map(({ run }) => run.run_id)))]
        return yield* ownRows(sql`
          SELECT run_id, finished_at IS NOT NULL AS ended FROM runs
          WHERE org_id = ${org_id} AND run_id = ANY(${texts(ids)}) AND key_id = ANY(${texts(keys)})`)
      })

      const subjects = Effect.fnUntraced(function* (
        org_id: string,
        sought: ReadonlyArray<ReadonlyArray<number>>,
        query: SummaryQuery
      ): Query {
        if (query.keys !== null) {
          const own = yield* ofKeys(org_id, query.keys, (any) => subjects(org_id, sought, any))
          return yield* summaries(yield* bySubject([], sought), yield* naming(org_id, own, sought), query)
        }
        const { segments, fresh } = yield* state(org_id, "subjects")
        const lists = yield* bySubject(segments, sought)
        return yield* summaries(lists, yield* naming(org_id, fresh, sought), query)
      })
      const phrases = Effect.fnUntraced(function* (
        org_id: string,
        sought: ReadonlyArray<Phrase | null>,
        query: SummaryQuery
      ): Query {
        if (query.keys !== null) {
          const own = yield* ofKeys(org_id, query.keys, (any) => phrases(org_id, sought, any))
          return yield* summaries(yield* byPhrase(org_id, [], sought), yield* holding(org_id, own, sought), query)
        }
        const { segments, fresh } = yield* state(org_id, "words")
        const lists = yield* byPhrase(org_id, segments, sought)
        return yield* summaries(lists, yield* holding(org_id, fresh, sought), query)
      })

      /** Retries a query whose segments changed meanwhile. The last try is in a transaction, in which they can't change. */
      const retryingRead = <A>(query: Effect.Effect<A, IndexBehind | Moved | SegmentDamaged | SqlError.SqlError>) =>
        query.pipe(
          Effect.retry({ times: triesMax - 1, while: isMoved }),
          Effect.catchTag("Moved", () =>
            sql.withTransaction(Effect.andThen(sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`, query))
          ),
          queries.withPermits(1),
          failOnDamage,
          Effect.catchTag("SegmentDamaged", (damage) =>
            Effect.andThen(reports.report(damage), Effect.fail(beingRebuilt))
          ),
          Effect.catchTag(["SqlError", "Moved"], (error) => Effect.die(error))
        )

      return Finder.of({
        subjects: (org_id, sought, query) => retryingRead(subjects(org_id, sought, query)),
        phrases: (org_id, sought, query) => retryingRead(phrases(org_id, sought, query))
      })
    })
  )
}
