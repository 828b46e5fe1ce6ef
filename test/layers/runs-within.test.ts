/** Pages of runs: cut by the bytes of their inputs and results, which the database counts, and never empty. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { Effect, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../src/layers/accounts/Accounts.ts"
import { GuardStore } from "../../src/layers/guards/GuardStore.ts"
import { RunStore } from "../../src/layers/runs/RunStore.ts"
import { pageBytesMax, runsInPages, runsWithin } from "../../src/layers/runs/runsWithin.ts"
import { newRun } from "../kit/new-runs.ts"
import { startStorage, type StorageRuntime } from "../kit/storage.ts"

let runtime: StorageRuntime
beforeAll(async () => {
  runtime = await startStorage()
})
afterAll(() => runtime.dispose())

/** Runs with results of these sizes, beside a few bytes of JSON and input. */
const runsOf = (sizes: ReadonlyArray<number>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const org_id = yield* (yield* Accounts).createOrganization("pages", null)
    const ids: Array<string> = []
    for (const size of sizes) {
      const run = newRun(org_id)
      yield* (yield* RunStore).admit(run)
      yield* sql`UPDATE runs SET result = json_build_object('email', repeat('x', ${size}::int)), status = 'succeeded', finished_at = now() WHERE run_id = ${run.run_id}`
      ids.push(run.run_id)
    }
    return { sql, org_id, ids }
  })

test("a page ends before the run that would exceed it, and has at least one", () =>
  runtime.runPromise(
    Effect.gen(function* () {
      const half = pageBytesMax / 2
      const { sql, org_id, ids } = yield* runsOf([half, half - 100, 200, pageBytesMax + 10, 5])
      const [a = "", b = "", c = "", d = "", e = ""] = ids
      const fit = (...run_ids: ReadonlyArray<string | null>) => runsWithin(sql, org_id, run_ids)
      expect(yield* fit()).toBe(0)
      expect(yield* fit(d)).toBe(1)
      expect(yield* fit(a, b, c, d, e)).toBe(2)
      expect(yield* fit(d, e)).toBe(1)
      expect(yield* fit(e, d, c)).toBe(1)
      // Rows without a run, and runs of others, need nothing.
      expect(yield* fit(null, "run_unknown", a, null, c)).toBe(5)
      expect(yield* runsWithin(sql, "org_other", ids)).toBe(5)
      const pages: Array<ReadonlyArray<string>> = []
      const read = (page: ReadonlyArray<string>) => Effect.sync(() => (pages.push(page), page))
      const all = yield* Stream.runCollect(runsInPages(sql, { org_id, run_ids: ids, most: 2 }, read))
      expect([pages, [...all]]).toEqual([[[a, b], [c], [d], [e]], ids])
    })
  ))

test("runs that tie a person's identities are read page by page", () =>
  runtime.runPromise(
    Effect.gen(function* () {
      const { org_id, ids } = yield* runsOf([pageBytesMax, 10, 10])
      const read = yield* Stream.runCollect((yield* GuardStore).personRuns(org_id, ids))
      expect(read.map(({ run_id }) => run_id)).toEqual(ids)
    })
  ))
