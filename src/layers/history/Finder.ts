/**
 * Finds the runs of an organization that name a subject or hold a phrase (as whole words in their order, in any case), and what they come to. Reads only.
 *
 * Runs in segments are found by their terms, those that are under way or ended a moment ago by looking at them. One statement says which are where, so
 * a run is found once, wherever it is on its way; what a segment says never changes for as long as there is the segment.
 */
import { Context, Effect, Layer, Semaphore } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import {
  type Candidate,
  type SubjectSummary,
  summaryOf,
  sifted,
  type Want,
  type Found
} from "./index/SubjectSummary.ts"
import { endedMax, type Fresh, freshRuns, type IndexBehind } from "./FreshRuns.ts"
import type { NoLookups } from "./index/Lookups.ts"
import { type Lists, type Moved, segmentLists } from "./index/SegmentLists.ts"
import type { Family, SegmentRow } from "./index/Segments.ts"
import type { Run } from "../../schema/segments/Docs.ts"
import type { Phrase } from "../../schema/words/Term.ts"

/** Questions of one process at once: one about the commonest words takes a moment and some megabytes. */
const questionsMax = 6
/** So often one is asked without a transaction, which costs as much as an easy question. */
const triesMax = 3

/** A segment, or a run that none holds. */
type StateRow = (SegmentRow & { readonly run_id: null }) | (Fresh & { readonly segment: null })
const isSegment = (row: StateRow): row is SegmentRow & { readonly run_id: null } => row.segment !== null
const isFresh = (row: StateRow): row is Fresh & { readonly segment: null } => row.segment === null
const isMoved = ({ _tag }: { readonly _tag: string }) => _tag === "Moved"

/** What is wanted of each, and which runs are no lookups. */
interface Asked {
  readonly want: Want
  readonly not: NoLookups
}
type Answers = Effect.Effect<ReadonlyArray<SubjectSummary>, IndexBehind>

export class Finder extends Context.Service<
  Finder,
  {
    /** Of each subject, by the terms of its keys: a run names it that has any of them. */
    readonly subjects: (org_id: string, subjects: ReadonlyArray<ReadonlyArray<number>>, asked: Asked) => Answers
    /** Of each phrase; null for one without words. */
    readonly phrases: (org_id: string, phrases: ReadonlyArray<Phrase | null>, asked: Asked) => Answers
  }
>()("rungate/layers/history/Finder") {
  static readonly layer = Layer.effect(
    Finder,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { bySubject, byPhrase, withClasses, docs } = yield* segmentLists
      const { timely, naming, holding } = yield* freshRuns
      const questions = Semaphore.makeUnsafe(questionsMax)

      /** Which segments there are, and which runs are in none of them: one statement sees one moment. */
      const state = Effect.fnUntraced(function* (org_id: string, family: Family) {
        const rows = yield* sql<StateRow>`
          SELECT s.*, NULL::text AS run_id, NULL::boolean AS ended FROM history_segments s WHERE org_id = ${org_id} AND family = ${family}
          UNION ALL SELECT s.*, w.run_id, w.ended FROM (
            (SELECT unnest(run_ids) AS run_id, true AS ended FROM history_queue WHERE org_id = ${org_id} LIMIT ${endedMax + 1})
            UNION SELECT run_id, false FROM open_runs WHERE org_id = ${org_id}
            UNION SELECT m.run_id, false FROM wallets l JOIN mailbox m ON m.lane = l.lane
            WHERE l.org_id = ${org_id} AND m.org_id = ${org_id} AND m.tag = 'Reserve'
          ) w LEFT JOIN history_segments s ON false`
        const fresh = rows.filter(isFresh)
        yield* timely(org_id, fresh)
        return { segments: rows.filter(isSegment), fresh }
      })

      const answered = Effect.fnUntraced(function* (
        lists: ReadonlyArray<Lists>,
        young: ReadonlyArray<ReadonlyArray<Found>>,
        { want, not }: Asked
      ) {
        const all = (yield* withClasses(lists, not)).map((held) => ({ held, from: sifted(held, want) }))
        const doc = yield* docs(all.flatMap(({ from }) => Object.values(from).flat()))
        const known = ({ row, number, of }: Candidate): Run => ({ ...doc(row, number), ...of })
        return all.map(({ held, from }, n) => summaryOf(held, young[n] ?? [], { from, known, want, not }))
      })

      const subjects = Effect.fnUntraced(function* (
        org_id: string,
        sought: ReadonlyArray<ReadonlyArray<number>>,
        asked: Asked
      ) {
        const { segments, fresh } = yield* state(org_id, "subjects")
        const lists = yield* bySubject(segments, sought)
        return yield* answered(lists, yield* naming(org_id, fresh, sought), asked)
      })
      const phrases = Effect.fnUntraced(function* (org_id: string, sought: ReadonlyArray<Phrase | null>, asked: Asked) {
        const { segments, fresh } = yield* state(org_id, "words")
        const lists = yield* byPhrase(org_id, segments, sought)
        return yield* answered(lists, yield* holding(org_id, fresh, sought), asked)
      })

      /** Segments rarely change while a question is answered: it is asked again then, and at last in a transaction in which they don't. */
      const steady = <A>(question: Effect.Effect<A, IndexBehind | Moved | SqlError.SqlError>) =>
        question.pipe(
          Effect.retry({ times: triesMax - 1, while: isMoved }),
          Effect.catchTag("Moved", () =>
            sql.withTransaction(
              Effect.andThen(sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`, question)
            )
          ),
          questions.withPermits(1),
          Effect.catchTag(["SqlError", "Moved"], (error) => Effect.die(error))
        )

      return Finder.of({
        subjects: (org_id, sought, asked) => steady(subjects(org_id, sought, asked)),
        phrases: (org_id, sought, asked) => steady(phrases(org_id, sought, asked))
      })
    })
  )
}
