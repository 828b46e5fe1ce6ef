/** Which rows of a batch may be open at once, when the wallet can't pay what all of them hold. */
import { expect, test } from "bun:test"
import { Deferred, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { feedBatch } from "../../src/actors/batches/FeedBatch.ts"
import { Admission } from "../../src/actors/runs/Admission.ts"
import type { PlanRequest } from "../../src/actors/runs/RunRequests.ts"
import { Accounts } from "../../src/layers/accounts/Accounts.ts"
import { BatchFeeds } from "../../src/layers/batches/BatchFeeds.ts"
import { BatchStore } from "../../src/layers/batches/BatchStore.ts"
import { RunStore } from "../../src/layers/runs/RunStore.ts"
import { encodeRowRequest } from "../../src/schema/batches/RowRequest.ts"
import { dollars, zero } from "../../src/schema/money/Money.ts"
import type { RunRow } from "../../src/schema/nouns/Run.ts"
import { newRun } from "../kit/new-runs.ts"
import { withStorage } from "../kit/storage.ts"

const run = withStorage()

const rowOf = (capability: string) =>
  encodeRowRequest({
    _tag: "Capability",
    capability,
    input: {},
    routing: { provider: "auto", strategy: "cheapest", max_cost: null, max_total: null, allow_fallback: true },
    include_raw: false,
    metadata: null
  })

const ended = (org_id: string): RunRow => ({
  ...{ org_id, run_id: newRun(org_id).run_id, request_id: "req_test", key_id: null, kind: "capability" },
  ...{ capability: "email.find", endpoint: null, provider: null, status: "no_match", quoted: 0n, charged: 0n },
  ...{ routing_reason: "", attempts: null, hints: null, plan: null, result: null, metadata: null, error_code: null },
  ...{ error_message: null, control: null, reused_from: null, created_at: new Date(), finished_at: new Date() },
  ...{ erased_at: null, approval: null, available: null }
})
const nameOf = (request: PlanRequest) => (request._tag === "Capability" ? request.request.capability : "")

test("a row waits for an open one whose hold the wallet does not have yet", () =>
  run(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const accounts = yield* Accounts
      const runs = yield* RunStore
      const feeds = yield* BatchFeeds
      const org_id = yield* accounts.createOrganization("batch", null)
      yield* sql`UPDATE wallets SET balance = ${dollars("1.00")} WHERE org_id = ${org_id}`
      yield* (yield* BatchStore).create({
        ...{ org_id, key_id: null, key_budget_id: null, started_by: null, request_id: "req_test" },
        ...{ idempotency_key: null, fingerprint: "", max_total: null, metadata: null },
        requests: ["first", "free", "later free", "second"].map(rowOf)
      })
      const [feed] = yield* feeds.claim(1)
      const [renewedOnce, renewedTwice] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const renewed = [renewedOnce, renewedTwice]
      const open = new Set<string>()
      const openWith = new Map<string, ReadonlyArray<string>>()
      // The first run holds nothing in the wallet yet, as if it were on its way there, while the batch's process looks at the wallet.
      const endOf = new Map([
        ["first", renewedTwice],
        ["later free", renewedOnce]
      ])
      const admission = Layer.mock(Admission, {
        plan: (request) =>
          Effect.succeed({
            run: newRun(org_id, { hold: nameOf(request).endsWith("free") ? zero : dollars("0.60") })
          } as never),
        submit: (request) =>
          Effect.gen(function* () {
            const name = nameOf(request)
            openWith.set(name, [...open])
            open.add(name)
            const end = endOf.get(name)
            if (end !== undefined) yield* Deferred.await(end)
            open.delete(name)
            return { run: ended(org_id), replayed: false }
          })
      })
      const renewing = {
        ...feeds,
        renew: (holder: Parameters<typeof feeds.renew>[0]) =>
          Effect.tap(feeds.renew(holder), () => Deferred.succeed(renewed.shift() ?? renewedTwice, undefined))
      }
      yield* Effect.gen(function* () {
        yield* feedBatch(
          {
            ...{
              feeds: renewing,
              admission: yield* Admission,
              accounts,
              runs,
              isFull: () => false,
              cancel: () => Effect.void
            },
            settings: { orgConcurrency: 100, orgQueue: 1_000, leaseSeconds: 0 }
          },
          feed ?? expect.unreachable("the batch was not claimed")
        )
      }).pipe(Effect.provide(admission))
      expect(openWith.get("second")).toEqual([])
    })
  ))
