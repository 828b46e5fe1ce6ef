/**
 * The words of runs that have ended, for questions about a phrase. Cut up in batches, a moment after the run: it takes longer than
 * anything else about a run, and nobody's answer waits for it.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

const batchMax = 100

export class Words extends Context.Service<
  Words,
  {
    /** Indexes a batch of what waits. Answers how many runs that was. */
    readonly index: Effect.Effect<number>
  }
>()("rungate/layers/Words") {
  static readonly layer = Layer.effect(
    Words,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      // Where the last batch ended: before it lie the places of rows that are gone, which nobody should walk over again.
      let after = ""
      const index = Effect.gen(function* () {
        const [row] = yield* sql<{ taken: number; last: string | null }>`
          WITH taken AS (
            -- By an array, or a queue that has grown since the plan was made is compared with the batch row by row.
            DELETE FROM word_queue WHERE run_id = ANY(ARRAY(
              SELECT run_id FROM word_queue WHERE run_id > ${after} ORDER BY run_id LIMIT ${batchMax} FOR UPDATE SKIP LOCKED))
            RETURNING run_id, org_id
          ), written AS (
            INSERT INTO run_words (run_id, org_id, words)
            SELECT r.run_id, r.org_id, run_words_of(r.input, r.result) || array_to_tsvector(ARRAY[r.org_id])
            FROM taken t JOIN runs r ON r.org_id = t.org_id AND r.run_id = t.run_id WHERE r.erased_at IS NULL
            ON CONFLICT (run_id) DO UPDATE SET words = excluded.words
          )
          SELECT count(*)::int AS taken, max(run_id) AS last FROM taken`
        const taken = row?.taken ?? 0
        // An older run may end later: at the end of the queue it begins anew.
        after = taken === batchMax ? (row?.last ?? "") : ""
        return taken
      })
      return Words.of({ index: Effect.orDie(index) })
    })
  )
}
