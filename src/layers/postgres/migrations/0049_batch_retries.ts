/**
 * Blocked rows of a batch keep their requests, so that they can run again.
 *
 * A process of the release before deletes the request of each row that ends. Its blocked rows can't be retried, and stay blocked.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const batchRetries = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    ALTER TABLE batch_rows
      -- Runs of this row that were blocked, and were retried. Part of the row's Idempotency-Key.
      ADD COLUMN retries integer NOT NULL DEFAULT 0,
      DROP CONSTRAINT batch_rows_request`
  yield* sql`
    ALTER TABLE batch_rows ADD CONSTRAINT batch_rows_request
      CHECK (status = 'blocked' OR (request IS NOT NULL) = (status IN ('pending', 'running'))) NOT VALID`
})
