/**
 * Lists, usage, history and past runs, read from a standby if there is one that is up to date, and from the primary otherwise.
 *
 * Only these reads may go to a standby: they are shown, and nothing is decided by them. One run, a wallet's balance, keys, admission
 * and everything that a turn reads always come from the primary.
 */
import { Context, Effect, Layer } from "effect"
import { Finder } from "../history/Finder.ts"
import { HistoryStore } from "../history/HistoryStore.ts"
import { Books } from "../ledger/Books.ts"
import { Replica } from "./Replica.ts"
import { RunStore } from "../runs/RunStore.ts"
import { PastRuns } from "../simulation/PastRuns.ts"
import { UsageStore } from "../usage/UsageStore.ts"

/** The same stores once more, with connections and caches of their own. */
const storesOfStandby = Layer.fresh(
  Layer.mergeAll(
    RunStore.layer,
    Books.layer,
    UsageStore.layer,
    PastRuns.layer,
    HistoryStore.layer.pipe(Layer.provide(Finder.layer))
  )
)

export class Reads extends Context.Service<
  Reads,
  {
    readonly runs: RunStore["Service"]["list"]
    readonly entries: Books["Service"]["entries"]
    readonly usage: UsageStore["Service"]["usage"]
    readonly pastRuns: PastRuns["Service"]["page"]
    readonly newestRuns: PastRuns["Service"]["newest"]
    readonly subjectHistory: HistoryStore["Service"]["subjectHistory"]
    readonly batch: HistoryStore["Service"]["batch"]
  }
>()("rungate/layers/standby/Reads") {
  static readonly layer = Layer.effect(
    Reads,
    Effect.gen(function* () {
      const primary = {
        runs: yield* RunStore,
        books: yield* Books,
        history: yield* HistoryStore,
        usage: yield* UsageStore,
        past: yield* PastRuns
      }
      const { standby } = yield* Replica
      if (standby === null) {
        const { runs, books, history, usage, past } = primary
        return {
          runs: runs.list,
          entries: books.entries,
          usage: usage.usage,
          pastRuns: past.page,
          newestRuns: past.newest,
          subjectHistory: history.subjectHistory,
          batch: history.batch
        }
      }
      const stores = yield* Layer.build(storesOfStandby).pipe(Effect.provideContext(standby.client))
      const replica = {
        runs: Context.get(stores, RunStore),
        books: Context.get(stores, Books),
        history: Context.get(stores, HistoryStore),
        usage: Context.get(stores, UsageStore),
        past: Context.get(stores, PastRuns)
      }
      const { prefer } = standby
      return {
        runs: (filter) => prefer(replica.runs.list(filter), primary.runs.list(filter)),
        entries: (...args) => prefer(replica.books.entries(...args), primary.books.entries(...args)),
        usage: (question) => prefer(replica.usage.usage(question), primary.usage.usage(question)),
        pastRuns: (filter) => prefer(replica.past.page(filter), primary.past.page(filter)),
        newestRuns: (filter) => prefer(replica.past.newest(filter), primary.past.newest(filter)),
        subjectHistory: (...args) =>
          prefer(replica.history.subjectHistory(...args), primary.history.subjectHistory(...args)),
        batch: (...args) => prefer(replica.history.batch(...args), primary.history.batch(...args))
      }
    })
  )
}
