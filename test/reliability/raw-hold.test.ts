/**
 * T07: a raw endpoint without published rates must hold something all the same: $1.00, or the caller's cap when it is lower.
 *
 * The rule is checked as a property, and each class of it once through admission, the wallet's turn and the ledger.
 */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { Effect, Layer, ManagedRuntime } from "effect"
import * as fc from "fast-check"
import { SqlClient } from "effect/sql"
import { encodeCredit } from "../../src/actors/Commands.ts"
import { Executions } from "../../src/actors/Executions.ts"
import { WalletActor } from "../../src/actors/WalletActor.ts"
import { Storage } from "../../src/Storage.ts"
import { Accounts } from "../../src/layers/Accounts.ts"
import { Audit } from "../../src/layers/Audit.ts"
import { newId } from "../../src/layers/Ids.ts"
import { MailStore } from "../../src/layers/MailStore.ts"
import { RunStore } from "../../src/layers/RunStore.ts"
import { Settings } from "../../src/layers/Settings.ts"
import { dollars, MicroUsd } from "../../src/schema/Money.ts"
import { rawCharge, rawHold } from "../../src/schema/Pricing.ts"
import { figures } from "../app.ts"
import { preparedDatabase } from "../postgres.ts"

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

const build = async () =>
  ManagedRuntime.make(
    WalletActor.layer.pipe(
      Layer.provideMerge(Executions.layer),
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
      const lane = yield* mail.post({
        command_id: reference,
        org_id,
        run_id: null,
        tag: "Credit",
        payload,
        result: null
      })
      yield* wallet.turn(lane)
      const classes = [
        ["no rates", rawHold(null, null), 1_000_000n],
        ["no rates, cap below", rawHold(null, dollars("0.25")), 250_000n],
        ["no rates, cap above", rawHold(null, dollars("5.00")), 1_000_000n],
        ["rate card", rawHold({ estimate: dollars("0.02") }, null), 30_000n],
        ["rate card, cap below", rawHold({ estimate: dollars("0.02") }, dollars("0.01")), 10_000n],
        ["free", rawHold({ estimate: dollars("0.00") }, null), 0n]
      ] as const
      const held: Record<string, string> = {}
      for (const [name, hold, expected] of classes) {
        const run_id = newId("run")
        yield* runs.admit({
          run_id,
          org_id,
          key_id: null,
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
          plan: JSON.stringify(plan),
          routing_reason: name
        })
        yield* wallet.turn(lane)
        const [entry] = yield* sql<{ amount: bigint }>`SELECT amount FROM ledger WHERE run_id = ${run_id}`
        expect([name, -(entry?.amount ?? 0n)]).toEqual([name, expected])
        held[name] = String(expected)
      }
      const { violations } = yield* Effect.flatMap(Audit, (books) => books.run)
      expect(violations).toEqual([])
      figures("T07 hold.unpriced_raw", { ...held, violations: violations.length })
    })
  ))
