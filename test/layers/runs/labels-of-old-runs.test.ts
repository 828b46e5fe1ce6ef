/** The labels of runs that are older than the table of labels get there in batches, each once, and those of erased runs don't. */
import { expect, test } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/layers/accounts/Accounts.ts"
import { labelsOfOldRuns } from "../../../src/layers/runs/LabelsOfOldRuns.ts"
import { withStorage } from "../../kit/storage.ts"
import { storeRun } from "../../kit/stored-runs.ts"

const run = withStorage()
const organization = Effect.flatMap(Accounts, (accounts) => accounts.createOrganization("labels", null))

const rowsOf = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(sql`SELECT org_id, run_id, encode(label, 'hex') AS label FROM run_labels ORDER BY 1, 2, 3`, (rows) => [
    ...rows
  ])
)
const pass = Effect.gen(function* () {
  let visited = 0
  for (let cursor = ""; ; ) {
    const batch = yield* labelsOfOldRuns.batch(cursor)
    if (batch === null) return visited
    visited += batch.rows
    cursor = batch.cursor
  }
})

test("the background migration writes the labels of every run, as a new run's are written", () =>
  run(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      expect(yield* pass).toBe(0)
      const [first, second] = [yield* organization, yield* organization]
      const red = JSON.stringify({ team: "red", step: "1" })
      yield* storeRun(first, { metadata: red })
      yield* storeRun(first)
      yield* storeRun(first, { metadata: JSON.stringify({ team: "blue" }) })
      yield* storeRun(second, { metadata: red })
      // A trigger labels new runs, as of now.
      const expected = yield* rowsOf
      expect(expected).toHaveLength(5)
      yield* sql`DELETE FROM run_labels`
      expect(yield* labelsOfOldRuns.total).toBe(4)
      expect(yield* pass).toBe(4)
      expect(yield* rowsOf).toEqual(expected)
      // Runs that have their labels already keep them.
      yield* sql`DELETE FROM run_labels WHERE org_id = ${first}`
      yield* pass
      expect(yield* rowsOf).toEqual(expected)
    })
  ))
