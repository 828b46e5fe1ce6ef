/**
 * Feeds batches: leases those that no process feeds, and starts their rows as runs.
 *
 * Every worker does this. A batch of a process that died is taken over when its lease ends, and continues where it stopped.
 */
import { Effect, Layer } from "effect"
import { Accounts } from "../../layers/accounts/Accounts.ts"
import { BatchFeeds, type Feed } from "../../layers/batches/BatchFeeds.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { logFailure } from "../../layers/postgres/Batch.ts"
import { DueWork } from "../../layers/postgres/DueWork.ts"
import { RunStore } from "../../layers/runs/RunStore.ts"
import { CommandClient } from "../mailbox/CommandClient.ts"
import { Admission } from "../runs/Admission.ts"
import { feedBatch } from "./FeedBatch.ts"

/** Batches that a process feeds at once. Further ones follow, those first that waited longest. */
const feedingMax = 50

export const BatchFeeder = Layer.effectDiscard(
  Effect.gen(function* () {
    const feeds = yield* BatchFeeds
    const admission = yield* Admission
    const accounts = yield* Accounts
    const runs = yield* RunStore
    const settings = yield* Settings
    const scope = yield* Effect.scope
    let feeding = 0
    const commands = yield* CommandClient
    const cancel = (org_id: string, run_id: string) =>
      Effect.ignore(commands.ask({ org_id, run_id, tag: "Cancel", payload: "{}" }))
    const tools = { feeds, admission, accounts, runs, settings, isFull: () => feeding >= feedingMax, cancel }

    const begin = (feed: Feed) => {
      feeding += 1
      return feedBatch(tools, feed).pipe(
        Effect.catchCause(logFailure(`Feeding ${feed.batch_id} failed; a worker continues it when its lease ends`)),
        Effect.ensuring(
          Effect.sync(() => {
            feeding -= 1
          })
        ),
        Effect.forkIn(scope)
      )
    }
    const pass = Effect.gen(function* () {
      if (feeding >= feedingMax) return
      yield* Effect.forEach(yield* feeds.claim(feedingMax - feeding), begin, { discard: true })
    })
    yield* (yield* DueWork).whenDue("batches", BatchFeeds.due, pass)
  })
)
