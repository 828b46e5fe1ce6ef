/**
 * Takes the turns of every lane, and follows a number of lanes that grows: starts workers for new lanes and moves wallets to them.
 *
 * A process that still runs with the old number hears of the new one here, within a sweep. Until then the other processes take the
 * turns of the new lanes. A wake-up needs no worker, so its commands are never without one.
 */
import { Effect, Exit, Scope } from "effect"
import { WalletLanes } from "../../layers/accounts/WalletLanes.ts"
import { laneQueue, Queues } from "../../layers/queues/Queues.ts"
import { Lanes } from "./Lanes.ts"

/** Pages of wallets that one sweep moves. Others have their turns in between. */
const pagesMax = 10

/** The workers stop when the scope in which this was called closes. */
export const laneWorkers = Effect.fnUntraced(function* (turn: (lane: number) => Effect.Effect<void>) {
  const queues = yield* Queues
  const wallets = yield* WalletLanes
  const lanes = yield* Lanes
  const scope = yield* Effect.acquireRelease(Scope.make("parallel"), (newScope) => Scope.close(newScope, Exit.void))
  const served = new Set<number>()

  /** Starts this process's worker of a lane, unless it runs already. */
  const serve = (lane: number) =>
    Effect.suspend(() => {
      if (served.has(lane)) return Effect.void
      served.add(lane)
      return Scope.provide(queues.work(laneQueue(lane), turn(lane)), scope)
    })
  const serveAll = Effect.fnUntraced(function* (count: number) {
    for (let lane = 0; lane < count; lane++) yield* serve(lane)
  })

  /** Reads the number of lanes again. */
  const follow = Effect.gen(function* () {
    const state = yield* wallets.state
    yield* serveAll(state.lanes)
    for (let page = 0, { unfinished } = state; unfinished && page < pagesMax; page++) {
      yield* Effect.forEach(yield* wallets.movePage, lanes.wake, { discard: true })
      unfinished = (yield* wallets.state).unfinished
    }
  })

  yield* serveAll((yield* wallets.state).lanes)
  return { serve, follow, behind: () => WalletLanes.due(served.size) }
})
