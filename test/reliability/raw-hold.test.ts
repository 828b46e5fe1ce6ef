/**
 * T07: a raw run holds what its rate card says with headroom, or $1.00 without one; a cap lowers the hold, and a cap below
 * the estimate is refused. Nothing is held only where the rate card says $0.
 *
 * The rule is checked as a property, each class of it once through admission, the wallet's turn and the ledger, and once
 * against a process that computes a hold wrongly.
 */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { Effect, Exit, Layer, ManagedRuntime } from "effect"
import * as fc from "fast-check"
import { SqlClient } from "effect/sql"
import { encodeCredit } from "../../src/actors/mailbox/Commands.ts"
import { DirectCommands } from "../../src/actors/mailbox/DirectCommands.ts"
import { RunSlots } from "../../src/actors/runs/RunSlots.ts"
import { WalletActor } from "../../src/actors/wallet/WalletActor.ts"
import { Storage } from "../../src/layers/Storage.ts"
import { Accounts } from "../../src/layers/accounts/Accounts.ts"
import { Audit } from "../../src/layers/audit/Audit.ts"
import { newId } from "../../src/layers/platform/Ids.ts"
import { MailStore } from "../../src/layers/ledger/MailStore.ts"
import { RunStore } from "../../src/layers/runs/RunStore.ts"
import { Settings, settingsOf } from "../../src/layers/platform/Settings.ts"
import { dollars, MicroUsd, usd } from "../../src/schema/money/Money.ts"
import type { Endpoint } from "../../src/schema/catalog/Endpoint.ts"
import { rawCharge, rawHold } from "../../src/schema/money/Pricing.ts"
import { decodePlan } from "../../src/schema/runs/Plan.ts"
import { type Checks, planRaw } from "../../src/schema/runs/RawPlan.ts"
import { endpointOf } from "../kit/provider-documents.ts"
import { figures } from "../kit/app.ts"
import { preparedDatabase } from "../kit/postgres.ts"

const amount = fc.bigInt({ min: 0n, max: 10n ** 12n }).map((micros) => MicroUsd(micros))
const optional = fc.option(amount, { nil: null })
const rates = fc.option(
  amount.map((estimate) => ({ estimate })),
  { nil: null }
)

test("the hold is the rate card with headroom or $1.00, the cap lowers it, and the charge never passes it", () => {
  fc.assert(
    fc.property(rates, optional, optional, (card, cap, measured) => {
      const hold = rawHold(card, cap)
      const uncapped = card === null ? 1_000_000n : (card.estimate * 3n + 1n) / 2n
      expect(hold).toBe(MicroUsd(cap !== null && cap < uncapped ? cap : uncapped))
      const charge = rawCharge(card, measured, hold)
      expect(charge >= 0n && charge <= hold).toBe(true)
      if (measured === 0n) expect(charge).toBe(MicroUsd(0n))
    }),
    { numRuns: 2_000 }
  )
})

const open: Checks = { path: () => [], query: () => [], input: () => [] }
const unpricedMin = dollars("0.10")
const priced = (estimate: MicroUsd | null, change: Partial<Endpoint> = {}) =>
  endpointOf({
    path: "/anything",
    method: "POST",
    body: {},
    cost: {
      model: estimate === null ? "unpublished" : "per_call",
      estimate: estimate === null ? null : usd(estimate),
      note: null
    },
    ...change
  })
const decisionOf = (one: Endpoint, max_cost: MicroUsd | null, free = false) =>
  planRaw(one, free, open, { path: {}, query: {}, input: {} }, { max_cost, unpricedMin })

test("T07 a call that may leave holds at least its estimate, whatever cap the caller gives", () => {
  const seen = { planned: 0, refused: 0 }
  const near = fc.tuple(amount, fc.bigInt({ min: -2n, max: 2n }))
  fc.assert(
    fc.property(fc.option(near, { nil: null }), fc.option(amount, { nil: null }), fc.boolean(), (card, cap, close) => {
      const estimate = card === null ? null : card[0]
      // Half of the caps stand right at the border.
      const border = estimate ?? unpricedMin
      const max_cost = close ? MicroUsd(border + (card?.[1] ?? 0n) < 0n ? 0n : border + (card?.[1] ?? 0n)) : cap
      const decision = decisionOf(priced(estimate), max_cost)
      const tooLow = max_cost !== null && max_cost < border
      expect(decision._tag).toBe(tooLow ? "Refused" : "Planned")
      if (decision._tag === "Refused") {
        seen.refused += 1
        expect(decision.issues.map((issue) => issue.path)).toEqual(["routing.max_cost"])
        // The refusal names a cap that will do.
        const named = /at least (\d+\.\d+)/.exec(decision.issues[0]?.message ?? "")?.[1] ?? ""
        expect(decisionOf(priced(estimate), dollars(named))._tag).toBe("Planned")
        return
      }
      seen.planned += 1
      expect(decision.hold >= (estimate ?? 1n)).toBe(true)
      expect(decision.hold === 0n).toBe(estimate === 0n)
    }),
    { numRuns: 2_000 }
  )
  expect(seen.planned * seen.refused).toBeGreaterThan(0)
  figures("T07 hold.at_least_estimate", seen)
})

test("T08 raw: the charge of an honest provider is never clipped, at the default hold and at the smallest cap", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 10n }), fc.bigInt({ min: 0n, max: 100n }), (documented, share) => {
      // The rate card is the documented cost at the platform's rate, rounded up.
      const estimate = MicroUsd((documented * 6n + 4n) / 5n)
      const honest = MicroUsd((documented * share) / 100n)
      const asked = (honest * 6n + 4n) / 5n
      for (const cap of [null, estimate]) {
        const decision = decisionOf(priced(estimate), cap)
        if (decision._tag === "Refused") return expect.unreachable(JSON.stringify(decision.issues))
        expect(rawCharge({ estimate }, honest, decision.hold)).toBe(MicroUsd(asked))
        expect(rawCharge({ estimate }, null, decision.hold)).toBe(estimate)
      }
    }),
    { numRuns: 2_000 }
  )
})

test("the operator's smallest cap is above nothing and lowers a hold of $1.00", () => {
  const least = (value: string) =>
    Effect.runSyncExit(Effect.map(settingsOf({ RUNGATE_RAW_MIN_CAP: value }), (one) => one.rawMinCap))
  expect(least("")).toEqual(Exit.succeed(dollars("0.10")))
  expect(least("0.25")).toEqual(Exit.succeed(dollars("0.25")))
  for (const wrong of ["0", "-1", "1.01", "lots"]) {
    const exit = least(wrong)
    expect([wrong, Exit.isFailure(exit) ? String(exit.cause) : ""]).toEqual([
      wrong,
      expect.stringContaining("RUNGATE_RAW_MIN_CAP must be")
    ])
  }
})

const build = async () =>
  ManagedRuntime.make(
    WalletActor.layer.pipe(
      Layer.provideMerge(Layer.merge(RunSlots.layer, DirectCommands.layer)),
      Layer.provideMerge(Storage),
      Layer.provideMerge(Settings.layerFrom({ DATABASE_URL: await preparedDatabase() }))
    )
  )
let runtime: Awaited<ReturnType<typeof build>>
beforeAll(async () => {
  runtime = await build()
})
afterAll(() => runtime.dispose())

const plan = {
  providers: ["acme"],
  attempts_max: 1,
  routing: "pinned",
  include_raw: false,
  side_effect: false,
  excluded: []
}

test("T07 hold.unpriced_raw: each class holds on the ledger what the rule says", () =>
  runtime.runPromise(
    Effect.gen(function* () {
      const accounts = yield* Accounts
      const mail = yield* MailStore
      const runs = yield* RunStore
      const wallet = yield* WalletActor
      const sql = yield* SqlClient.SqlClient
      const org_id = yield* accounts.createOrganization("raw", null)
      const reference = newId("cs")
      const payload = encodeCredit({ type: "bonus", amount: dollars("10.00"), reference, note: "test" })
      const lane = yield* mail.enqueue({
        command_id: reference,
        org_id,
        run_id: null,
        tag: "Credit",
        payload,
        result: null
      })
      yield* wallet.turn(lane)
      const two = priced(dollars("0.02"))
      const classes = [
        ["no rates", priced(null), null, 1_000_000n],
        ["no rates, cap below", priced(null), "0.25", 250_000n],
        ["no rates, the smallest cap", priced(null), "0.10", 100_000n],
        ["no rates, cap above", priced(null), "5.00", 1_000_000n],
        ["rate card", two, null, 30_000n],
        ["rate card, cap below the headroom", two, "0.025", 25_000n],
        ["rate card, cap at the estimate", two, "0.02", 20_000n],
        ["actor, the cap is the marketplace's", { ...two, body_type: "actor_input" as const }, "0.02", 20_000n],
        ["free", priced(dollars("0.00")), null, 0n],
        ["free, cap of nothing", priced(dollars("0.00")), "0.00", 0n]
      ] as const
      const held: Record<string, string> = {}
      const admit = (name: string, hold: MicroUsd, raw: unknown) => {
        const run_id = newId("run")
        const admitted = runs.admit({
          run_id,
          org_id,
          key_id: null,
          key_version: null,
          budget_id: null,
          input_hash: "hash",
          request_id: "req_test",
          idempotency_key: null,
          fingerprint: "",
          kind: "endpoint",
          capability: null,
          endpoint: "/v1/anything",
          provider: "acme",
          hold,
          quoted: hold,
          input: "{}",
          plan: decodePlan(JSON.parse(JSON.stringify({ ...plan, raw }))),
          routing_reason: name,
          metadata: null
        })
        return Effect.as(admitted, run_id)
      }
      for (const [name, endpoint, cap, expected] of classes) {
        const decision = decisionOf(endpoint, cap === null ? null : dollars(cap))
        if (decision._tag === "Refused") return expect.unreachable(JSON.stringify(decision.issues))
        const run_id = yield* admit(name, decision.hold, decision.raw)
        yield* wallet.turn(lane)
        const [entry] = yield* sql<{ amount: bigint }>`SELECT amount FROM ledger WHERE run_id = ${run_id}`
        expect([name, -(entry?.amount ?? 0n)]).toEqual([name, expected])
        held[name] = String(expected)
      }
      // A process that computes a hold of nothing, or less than the estimate, enters no run.
      const planned = (endpoint: Endpoint) => {
        const decision = decisionOf(endpoint, null)
        return decision._tag === "Planned" ? decision.raw : expect.unreachable("refused")
      }
      const wrong = [
        [MicroUsd(0n), planned(two)],
        [MicroUsd(19_999n), planned(two)],
        [MicroUsd(0n), planned(priced(null))],
        [MicroUsd(0n), planned({ ...two, body_type: "actor_input" })],
        [MicroUsd(0n), undefined]
      ] as const
      for (const [hold, raw] of wrong) {
        expect((yield* Effect.exit(admit("wrong", hold, raw)))._tag).toBe("Failure")
      }
      held["refused by the database"] = String(wrong.length)
      const { violations } = yield* Effect.flatMap(Audit, (books) => books.run)
      expect(violations).toEqual([])
      figures("T07 hold.unpriced_raw", { ...held, violations: violations.length })
    })
  ))
