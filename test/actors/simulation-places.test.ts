/** Who may wait for a simulation while others are under way: organizations that have none are not kept out by those that have. */
import { expect, test } from "bun:test"
import { Deferred, Effect, Exit, Fiber, Layer } from "effect"
import { Simulations } from "../../src/actors/simulation/Simulations.ts"
import { Catalog } from "../../src/layers/catalog/Catalog.ts"
import { GuardStore } from "../../src/layers/guards/GuardStore.ts"
import { Books } from "../../src/layers/ledger/Books.ts"
import { Settings } from "../../src/layers/platform/Settings.ts"
import { OfferOutcomes } from "../../src/layers/quotes/OfferOutcomes.ts"
import { Reads } from "../../src/layers/standby/Reads.ts"

test("ten organizations with two simulations each leave places to the others, and all of them end", () =>
  Effect.gen(function* () {
    const released = yield* Deferred.make<void>()
    const nothing = { count: 0, last: null, rows: function* () {} }
    const layer = Simulations.layer.pipe(
      Layer.provide(
        Layer.mergeAll(
          Layer.mock(Reads, { pastRuns: () => Effect.as(Deferred.await(released), nothing) }),
          Layer.mock(GuardStore, {}),
          Layer.mock(Books, {}),
          Layer.mock(OfferOutcomes, { observe: () => {} }),
          Catalog.layerOf([], []).pipe(Layer.provide(Settings.layerFrom({})))
        )
      )
    )
    yield* Effect.gen(function* () {
      const { simulate } = yield* Simulations
      const policy = { strategy: null, allow_fallback: null, max_cost: null, without: new Set<string>() }
      const begin = (org_id: string) =>
        Effect.forkChild(
          Effect.exit(simulate({ org_id, capability: null, from: new Date(0), to: new Date(), policy, rules: null })),
          { startImmediately: true }
        )
      const orgs = Array.from({ length: 10 }, (_, n) => `org_${n}`)
      const strangers = yield* Effect.forEach([...orgs, ...orgs, ...orgs], begin)
      const [mine, third] = [yield* begin("mine"), yield* begin("mine")]
      yield* Deferred.succeed(released, undefined)
      expect(Exit.isSuccess(yield* Fiber.join(mine))).toBe(true)
      const ended = yield* Effect.forEach(strangers, Fiber.join)
      // One for each, as their second ones would be more than half of the places.
      expect(ended.map(Exit.isSuccess)).toEqual([
        ...orgs.map(() => true),
        ...orgs.map(() => false),
        ...orgs.map(() => false)
      ])
      expect(Exit.isSuccess(yield* Fiber.join(third))).toBe(false)
      // Places are given back.
      expect(Exit.isSuccess(yield* Fiber.join(yield* begin("org_0")))).toBe(true)
    }).pipe(Effect.provide(layer))
  }).pipe(Effect.runPromise))
