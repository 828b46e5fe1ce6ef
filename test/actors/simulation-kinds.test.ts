/** A simulation expects of a provider what was measured of requests like the run's, so of those that accepted the same. */
import { expect, test } from "bun:test"
import { Effect, Layer } from "effect"
import { Simulations } from "../../src/actors/simulation/Simulations.ts"
import { Catalog } from "../../src/layers/catalog/Catalog.ts"
import { GuardStore } from "../../src/layers/guards/GuardStore.ts"
import { Books } from "../../src/layers/ledger/Books.ts"
import { Settings } from "../../src/layers/platform/Settings.ts"
import { OfferOutcomes } from "../../src/layers/quotes/OfferOutcomes.ts"
import type { PastRow } from "../../src/layers/simulation/PastRuns.ts"
import { Reads } from "../../src/layers/standby/Reads.ts"
import { inputKindOf } from "../../src/schema/runs/InputKind.ts"

const input = { first_name: "Jane", last_name: "Doe", company_domain: "example.com" }

test("a run that accepted only some answers is compared with runs that did too", () =>
  Effect.gen(function* () {
    const accept = { fields: ["phone"], max_age_days: 30 }
    const rows = [accept, undefined].map(
      (one): PastRow => ({
        ...{ kind: "capability", capability: "email.find", provider: null, status: "no_match", charged: 0n },
        ...{ duration_ms: 1, attempts: JSON.stringify([{ provider: "a", outcome: "no_match", duration_ms: 1 }]) },
        plan: JSON.stringify({
          ...{ providers: ["a"], attempts_max: 1, routing: "auto", include_raw: false, side_effect: false },
          ...{ prices: ["0.01"], excluded: [], accept: one, seen: { catalog: "1", spare: [["b", "0.02"]] } }
        }),
        input: JSON.stringify(input)
      })
    )
    const page = { count: rows.length, last: { run_id: "run_2", created_at: new Date() }, rows: () => rows.values() }
    const kinds: Array<string> = []
    const layer = Simulations.layer.pipe(
      Layer.provide(
        Layer.mergeAll(
          Layer.mock(Reads, { pastRuns: () => Effect.succeed(page as never) }),
          Layer.mock(GuardStore, {}),
          Layer.mock(Books, {}),
          Layer.mock(OfferOutcomes, {
            observe: () => {},
            measured: (_subjects, kind) => Effect.sync(() => (kinds.push(kind), new Map()))
          }),
          Catalog.layerOf([], []).pipe(Layer.provide(Settings.layerFrom({})))
        )
      )
    )
    const policy = { strategy: null, allow_fallback: null, max_cost: null, without: new Set(["a"]) }
    const { runs } = yield* Effect.flatMap(Simulations, ({ simulate }) =>
      simulate({ org_id: "org_1", capability: null, from: new Date(0), to: new Date(), policy, rules: null })
    ).pipe(Effect.provide(layer))
    expect(runs).toBe(2)
    expect(kinds).toEqual([inputKindOf(input, accept), inputKindOf(input)])
  }).pipe(Effect.runPromise))
