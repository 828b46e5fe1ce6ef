/** Batches whose rows wait for approvals do not keep other batches from their places. */
import { expect } from "bun:test"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { feedBatch } from "../../src/actors/batches/FeedBatch.ts"
import { Admission } from "../../src/actors/runs/Admission.ts"
import { Accounts } from "../../src/layers/accounts/Accounts.ts"
import { BatchFeeds, type Feed, type OpenRow } from "../../src/layers/batches/BatchFeeds.ts"
import { RunStore } from "../../src/layers/runs/RunStore.ts"
import { encodeRowRequest } from "../../src/schema/batches/RowRequest.ts"
import type { RunRow } from "../../src/schema/nouns/Run.ts"
import { effect } from "../kit/effect-tests.ts"
import { newRun } from "../kit/new-runs.ts"

const feed: Feed = {
  ...{ batch_id: "bat_1", org_id: "org_1", key_id: null, started_by: null, request_id: "req_1", metadata: null },
  ...{ max_total: null, charged: 0n, status: "running", budget_id: "bat_1", parent_id: null, lease_token: "lease" },
  ...{ siblings: 1, funds: 1_000_000n }
}
const row: OpenRow = {
  ...{ row: 1, retries: 0 },
  request: encodeRowRequest({
    ...{ _tag: "Capability", capability: "email.find", input: {}, include_raw: false, metadata: null },
    routing: { provider: "auto", strategy: "cheapest", max_cost: null, max_total: null, allow_fallback: true }
  })
}
const waits = { run_id: "run_1", org_id: "org_1", status: "queued", approval: {}, quoted: 1n } as unknown as RunRow

interface Batch {
  readonly run: RunRow
  /** Batches that wait for a place. */
  readonly others: number
  readonly status?: string
  readonly cancel?: () => Effect.Effect<void>
}

/** Feeds a batch of one row, which has this run, and says whether the feed has ended after a minute. */
const ends = ({ run, others, status = "running", cancel = () => Effect.void }: Batch) =>
  Effect.gen(function* () {
    const released = yield* Deferred.make<void>()
    const rows = [[row]]
    const layer = Layer.mergeAll(
      Layer.mock(BatchFeeds, {
        begun: () => Effect.succeed([]),
        next: () => Effect.sync(() => rows.pop() ?? []),
        renew: () => Effect.succeed({ status, siblings: 1, funds: 1_000_000n, waiting: others }),
        release: () => Effect.asVoid(Deferred.succeed(released, undefined))
      }),
      Layer.mock(Admission, {
        plan: () => Effect.succeed({ run: newRun("org_1") } as never),
        submit: () => Effect.succeed({ run, replayed: false }),
        watch: () => Effect.never
      }),
      Layer.mock(Accounts, { used: () => {} }),
      Layer.mock(RunStore, {})
    )
    const fiber = yield* Effect.gen(function* () {
      const tools = {
        ...{ feeds: yield* BatchFeeds, admission: yield* Admission, accounts: yield* Accounts, runs: yield* RunStore },
        ...{ isFull: () => true, cancel },
        settings: { orgConcurrency: 100, orgQueue: 1_000, leaseSeconds: 30 }
      }
      yield* feedBatch(tools, feed)
    }).pipe(Effect.provide(layer), Effect.forkChild({ startImmediately: true }))
    for (let second = 0; second < 60; second += 1) yield* TestClock.adjust("1 second")
    const ended = yield* Deferred.isDone(released)
    yield* Fiber.interrupt(fiber)
    return ended
  })

effect("a batch whose rows all wait gives its place to one that waits for it", () =>
  Effect.gen(function* () {
    expect(yield* ends({ run: waits, others: 1 })).toBe(true)
    expect(yield* ends({ run: waits, others: 0 })).toBe(false)
    expect(yield* ends({ run: { ...waits, approval: null }, others: 1 })).toBe(false)
  })
)

effect("a waiting run of a cancelled batch is cancelled once, or again if that failed", () =>
  Effect.gen(function* () {
    let cancels = 0
    const cancel = () =>
      Effect.suspend(() => {
        cancels += 1
        return cancels === 1 ? Effect.die("the database is away") : Effect.void
      })
    yield* ends({ run: waits, others: 0, status: "cancelling", cancel })
    expect(cancels).toBe(2)
  })
)
