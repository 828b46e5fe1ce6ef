/**
 * Finds the runs of an organization that name a subject or hold a phrase (as whole words in their order, in any case), and what they come to. Reads only.
 *
 * Runs in segments are found by their terms, those that are under way or ended a moment ago by looking at them. Both are read in one snapshot, so
 * a run is found once, wherever it is on its way.
 */
import { Context, Effect, Layer, Semaphore } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { type Candidate, type Facts, factsOf, sifted, type Want, type Young } from "./Facts.ts"
import { freshRuns, type IndexBehind } from "./FreshRuns.ts"
import type { NoLookups } from "./Lookups.ts"
import { type Lists, segmentLists } from "./SegmentLists.ts"
import type { Run } from "../../schema/segments/Docs.ts"
import type { Phrase } from "../../schema/words/Term.ts"

/** Questions of one process at once: each holds a connection, and one about the commonest words takes a moment. */
const questionsMax = 3

/** What is wanted of each, and which runs are no lookups. */
interface Asked {
  readonly want: Want
  readonly not: NoLookups
}
type Answers = Effect.Effect<ReadonlyArray<Facts>, IndexBehind>

export class Finder extends Context.Service<
  Finder,
  {
    /** Of each subject, by the terms of its keys: a run names it that has any of them. */
    readonly subjects: (org_id: string, subjects: ReadonlyArray<ReadonlyArray<number>>, asked: Asked) => Answers
    /** Of each phrase; null for one without words. */
    readonly phrases: (org_id: string, phrases: ReadonlyArray<Phrase | null>, asked: Asked) => Answers
  }
>()("rungate/layers/Finder") {
  static readonly layer = Layer.effect(
    Finder,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { bySubject, byPhrase, withClasses, docs } = yield* segmentLists
      const fresh = yield* freshRuns
      const questions = Semaphore.makeUnsafe(questionsMax)

      const answered = Effect.fnUntraced(function* (
        lists: ReadonlyArray<Lists>,
        young: ReadonlyArray<ReadonlyArray<Young>>,
        { want, not }: Asked
      ) {
        const all = (yield* withClasses(lists, not)).map((held) => ({ held, from: sifted(held, want) }))
        const doc = yield* docs(all.flatMap(({ from }) => Object.values(from).flat()))
        const known = ({ row, number, of }: Candidate): Run => ({ ...doc(row, number), ...of })
        return all.map(({ held, from }, n) => factsOf(held, young[n] ?? [], { from, known, want, not }))
      })

      /** One state of it all. */
      const snapshot = <A>(question: Effect.Effect<A, IndexBehind | SqlError.SqlError>) =>
        Effect.andThen(sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`, question).pipe(
          sql.withTransaction,
          questions.withPermits(1),
          Effect.catchTag("SqlError", (error) => Effect.die(error))
        )

      const subjects = Effect.fnUntraced(function* (
        org_id: string,
        sought: ReadonlyArray<ReadonlyArray<number>>,
        asked: Asked
      ) {
        const lists = yield* bySubject(org_id, sought)
        return yield* answered(lists, yield* fresh.naming(org_id, sought), asked)
      })
      const phrases = Effect.fnUntraced(function* (org_id: string, sought: ReadonlyArray<Phrase | null>, asked: Asked) {
        const lists = yield* byPhrase(org_id, sought)
        return yield* answered(lists, yield* fresh.holding(org_id, sought), asked)
      })

      return Finder.of({
        subjects: (org_id, sought, asked) => snapshot(subjects(org_id, sought, asked)),
        phrases: (org_id, sought, asked) => snapshot(phrases(org_id, sought, asked))
      })
    })
  )
}
