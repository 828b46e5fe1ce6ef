/** What a turn stores of payments, reversals, referral bonuses and automatic top-ups. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { encodeAutoTopup, encodePay } from "../../../src/actors/mailbox/Commands.ts"
import { Accounts } from "../../../src/layers/accounts/Accounts.ts"
import { MailStore } from "../../../src/layers/ledger/MailStore.ts"
import { newId } from "../../../src/layers/platform/Ids.ts"
import { dollars } from "../../../src/schema/money/Money.ts"
import type { PaymentFact } from "../../../src/schema/wallet/PaymentFact.ts"
import { startStorage, type StorageRuntime } from "../../kit/storage.ts"
import { takeTurn } from "../../kit/turns.ts"

let runtime: StorageRuntime
beforeAll(async () => {
  runtime = await startStorage()
})
afterAll(() => runtime.dispose())

const organization = Effect.flatMap(Accounts, (accounts) => accounts.createOrganization("payments", null))
const opened = Effect.fnUntraced(function* (org_id: string, amount = "20.00") {
  const sql = yield* SqlClient.SqlClient
  const payment_id = newId("pay")
  yield* sql`INSERT INTO payments (payment_id, org_id, kind, amount, session_id) VALUES (${payment_id}, ${org_id}, 'checkout', ${dollars(amount)}, ${`cs_${payment_id}`})`
  return payment_id
})
/** Stores a fact about a payment. The turn that applies it is another step, so that a turn can have several. */
const told = Effect.fnUntraced(function* (
  org_id: string,
  payment_id: string,
  fact: PaymentFact,
  event_id = newId("evt")
) {
  const payload = encodePay({ payment_id, event_id, fact })
  yield* (yield* MailStore).enqueue({ command_id: event_id, org_id, run_id: null, tag: "Pay", payload, result: null })
  return event_id
})
const paid = (
  payment_id: string,
  amount = "20.00",
  more: Partial<Extract<PaymentFact, { _tag: "Paid" }>> = {}
): PaymentFact => ({
  ...{ _tag: "Paid", session_id: `cs_${payment_id}`, payment_intent: `pi_${payment_id}`, customer: null, card: null },
  ...{ amount: dollars(amount), currency: "usd" },
  ...more
})
const reversed = (reversal_id: string, standing: "noticed" | "taken" | "returned", amount = "5.00"): PaymentFact => ({
  ...{ _tag: "Reversed", reversal_id, payment_intent: null, kind: "refund", amount: dollars(amount), standing }
})
const entriesOf = Effect.fnUntraced(function* (org_id: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{
    type: string
    amount: bigint
  }>`SELECT type, amount FROM ledger WHERE org_id = ${org_id} ORDER BY seq`
  return rows.map(({ type, amount }) => `${type} ${amount}`)
})
const paymentOf = Effect.fnUntraced(function* (payment_id: string) {
  const sql = yield* SqlClient.SqlClient
  return (yield* sql`
    SELECT state, session_id, payment_intent, card, clawed_back, failure, ended_at, ended_at IS NOT NULL AS ended FROM payments
    WHERE payment_id = ${payment_id}`)[0]
})

describe("a payment", () => {
  test("is credited once, and keeps what the processor said of it", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const [org_id, elsewhere] = [yield* organization, yield* organization]
        const [payment_id, other] = [yield* opened(org_id), yield* opened(elsewhere)]
        const event_id = yield* told(org_id, payment_id, paid(payment_id, "20.00", { card: "card_one" }))
        yield* told(org_id, payment_id, paid(payment_id, "20.00", { card: "card_one" }), event_id)
        yield* takeTurn(org_id)
        yield* told(org_id, payment_id, paid(payment_id), event_id)
        yield* takeTurn(org_id)
        expect(yield* entriesOf(org_id)).toEqual(["topup 20000000"])
        const stored = {
          ...{ state: "paid", session_id: `cs_${payment_id}`, payment_intent: `pi_${payment_id}`, card: "card_one" },
          ...{ clawed_back: 0n, failure: null, ended: true }
        }
        expect(yield* paymentOf(payment_id)).toMatchObject(stored)
        // A payment of somebody else is as it was.
        expect(yield* paymentOf(other)).toMatchObject({ state: "open", payment_intent: null, ended: false })
        expect(
          yield* sql`SELECT payment_id, org_id, fact, outcome FROM payment_events WHERE event_id = ${event_id}`
        ).toEqual([{ payment_id, org_id, fact: "Paid", outcome: "credited" }])
        // No fact about it by another organization's command moves money.
        yield* told(elsewhere, payment_id, paid(payment_id))
        yield* takeTurn(elsewhere)
        expect(yield* entriesOf(elsewhere)).toEqual([])
      })
    ))

  test("that failed or expired is open no more, says why, and can still be paid; it ended when it first did", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const org_id = yield* organization
        const [failed, expired] = [yield* opened(org_id), yield* opened(org_id, "30.00")]
        yield* told(org_id, failed, { _tag: "Failed", session_id: `cs_${failed}`, reason: "the card was declined" })
        yield* told(org_id, expired, { _tag: "Expired", session_id: `cs_${expired}` })
        yield* takeTurn(org_id)
        expect(yield* paymentOf(failed)).toMatchObject({
          state: "failed",
          failure: "the card was declined",
          ended: true
        })
        expect(yield* paymentOf(expired)).toMatchObject({ state: "expired", failure: null, ended: true })
        yield* sql`UPDATE payments SET ended_at = '2026-01-01' WHERE payment_id = ${failed}`
        yield* told(org_id, failed, paid(failed))
        yield* takeTurn(org_id)
        expect(yield* paymentOf(failed)).toMatchObject({ state: "paid", ended_at: new Date("2026-01-01") })
        expect(yield* entriesOf(org_id)).toEqual(["topup 20000000"])
      })
    ))

  test("is taken back by its reversals, each at its highest standing and its last amount", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const org_id = yield* organization
        const payment_id = yield* opened(org_id)
        yield* told(org_id, payment_id, paid(payment_id))
        yield* told(org_id, payment_id, reversed("re_one", "noticed"))
        yield* takeTurn(org_id)
        expect(yield* paymentOf(payment_id)).toMatchObject({ clawed_back: 0n })
        yield* told(org_id, payment_id, reversed("re_one", "taken", "6.00"))
        yield* told(org_id, payment_id, reversed("re_two", "taken", "2.00"))
        yield* takeTurn(org_id)
        expect(yield* paymentOf(payment_id)).toMatchObject({ state: "paid", clawed_back: 8_000_000n })
        yield* told(org_id, payment_id, reversed("re_two", "returned", "2.00"))
        yield* takeTurn(org_id)
        expect(yield* paymentOf(payment_id)).toMatchObject({ clawed_back: 6_000_000n })
        const reversals =
          yield* sql`SELECT reversal_id, payment_id, kind, amount, standing FROM payment_reversals WHERE payment_id = ${payment_id} ORDER BY 1`
        expect(reversals).toEqual([
          { reversal_id: "re_one", payment_id, kind: "refund", amount: 6_000_000n, standing: "taken" },
          { reversal_id: "re_two", payment_id, kind: "refund", amount: 2_000_000n, standing: "returned" }
        ])
        const sum = (yield* entriesOf(org_id)).reduce((total, entry) => total + BigInt(entry.split(" ")[1] ?? 0), 0n)
        expect(sum).toBe(14_000_000n)
      })
    ))
})

test("a deposit earns the bonus of its own referral, and a card earns one", () =>
  runtime.runPromise(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [referrer, one, two] = [yield* organization, yield* organization, yield* organization]
      for (const org_id of [one, two])
        yield* sql`
          INSERT INTO referrals (referral_id, referred_org, referrer_org, deposit_min, deposit_bonus, share_bps, ends_at)
          VALUES (${`ref_${org_id}`}, ${org_id}, ${referrer}, 10000000, 1000000, 1000, now() + interval '1 year')`
      const referralOf = (org_id: string) =>
        sql`SELECT bonus_state, bonus_payment_id, bonus_card, bonus_changes FROM referrals WHERE referred_org = ${org_id}`
      const untouched = { bonus_state: "pending", bonus_payment_id: null, bonus_card: null, bonus_changes: 0 }
      const first = yield* opened(one)
      yield* told(one, first, paid(first, "20.00", { card: "card_same" }))
      yield* takeTurn(one)
      expect(yield* entriesOf(one)).toEqual(["topup 20000000", "bonus 1000000"])
      const granted = { bonus_state: "granted", bonus_payment_id: first, bonus_card: "card_same", bonus_changes: 0 }
      expect(yield* referralOf(one)).toEqual([granted])
      expect(yield* referralOf(two)).toEqual([untouched])
      // An organization with an unverified address earns none until it is verified.
      yield* sql`INSERT INTO users (user_id, org_id, email, password_hash, pending) VALUES (${newId("usr")}, ${two}, 'ada@two.example', 'none', true)`
      const early = yield* opened(two)
      yield* told(two, early, paid(early, "20.00", { card: "card_other" }))
      yield* takeTurn(two)
      expect(yield* referralOf(two)).toEqual([untouched])
      yield* sql`UPDATE users SET pending = false WHERE org_id = ${two}`
      const second = yield* opened(two)
      yield* told(two, second, paid(second, "20.00", { card: "card_same" }))
      yield* takeTurn(two)
      expect(yield* entriesOf(two)).toEqual(["topup 20000000", "topup 20000000"])
      yield* told(one, first, reversed("re_all", "taken", "20.00"))
      yield* takeTurn(one)
      expect(yield* referralOf(one)).toEqual([{ ...granted, bonus_state: "revoked", bonus_changes: 1 }])
    })
  ))

describe("an automatic top-up", () => {
  const set = Effect.fnUntraced(function* (
    org_id: string,
    changed: { enabled?: boolean; threshold?: string; amount?: string } = {}
  ) {
    const { enabled = true, threshold = "5.00", amount = "10.00" } = changed
    const payload = encodeAutoTopup({ _tag: "Set", enabled, threshold: dollars(threshold), amount: dollars(amount) })
    const command_id = newId("cmd")
    yield* (yield* MailStore).enqueue({ command_id, org_id, run_id: null, tag: "AutoTopup", payload, result: null })
    return (yield* takeTurn(org_id)).charges
  })
  const autoOf = Effect.fnUntraced(function* (org_id: string) {
    const sql = yield* SqlClient.SqlClient
    return (yield* sql`SELECT enabled, threshold, amount, state, failures, last_error, retry_at, day_total, day_max FROM auto_topups WHERE org_id = ${org_id}`)[0]
  })
  const chargesOf = Effect.fnUntraced(function* (org_id: string) {
    const sql = yield* SqlClient.SqlClient
    return yield* sql<{
      payment_id: string
    }>`SELECT payment_id, amount, customer, payment_method FROM payments WHERE org_id = ${org_id} AND kind = 'auto' AND state = 'open'`
  })

  test("charges the saved card when the balance is below the threshold, and remembers what it charged today", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const org_id = yield* organization
        const payment_id = yield* opened(org_id)
        yield* told(org_id, payment_id, paid(payment_id, "20.00", { customer: "cus_one" }))
        yield* takeTurn(org_id)
        const methodOf = sql`SELECT customer, payment_intent, payment_method, label FROM payment_methods WHERE org_id = ${org_id}`
        expect(yield* methodOf).toEqual([
          { customer: "cus_one", payment_intent: `pi_${payment_id}`, payment_method: null, label: null }
        ])
        yield* sql`UPDATE payment_methods SET payment_method = 'pm_one', label = 'Visa 4242' WHERE org_id = ${org_id}`
        expect(yield* set(org_id)).toBe(false)
        const before = {
          ...{ enabled: true, threshold: 5_000_000n, amount: 10_000_000n, state: "idle" },
          day_total: 0n,
          day_max: 500_000_000n
        }
        expect(yield* autoOf(org_id)).toMatchObject(before)
        expect(yield* set(org_id, { threshold: "25.00", amount: "15.00" })).toBe(true)
        const charging = { threshold: 25_000_000n, amount: 15_000_000n, state: "charging", day_total: 15_000_000n }
        expect(yield* autoOf(org_id)).toMatchObject(charging)
        const [charge] = yield* chargesOf(org_id)
        expect(charge).toMatchObject({ amount: 15_000_000n, customer: "cus_one", payment_method: "pm_one" })
        // The next checkout saves another card, and forgets what was known of the first.
        const next = yield* opened(org_id)
        yield* told(org_id, next, paid(next, "20.00", { customer: "cus_two" }))
        yield* takeTurn(org_id)
        expect(yield* methodOf).toEqual([
          { customer: "cus_two", payment_intent: `pi_${next}`, payment_method: null, label: null }
        ])
        // A turn that ends one charge may begin the next one.
        const [{ payment_id: auto }] = [charge ?? expect.unreachable("no charge")]
        yield* set(org_id, { threshold: "100.00", amount: "15.00" })
        yield* told(org_id, auto, paid(auto, "15.00", { session_id: null }))
        yield* takeTurn(org_id)
        expect(yield* chargesOf(org_id)).toMatchObject([{ amount: 15_000_000n }])
        expect(yield* autoOf(org_id)).toMatchObject({ state: "charging", day_total: 30_000_000n, failures: 0 })
      })
    ))

  const woken = Effect.fnUntraced(function* (org_id: string) {
    const payload = encodeAutoTopup({ _tag: "Wake" })
    const command_id = newId("cmd")
    yield* (yield* MailStore).enqueue({ command_id, org_id, run_id: null, tag: "AutoTopup", payload, result: null })
    yield* takeTurn(org_id)
  })

  test("waits after a failed charge, says why, and is switched off by its owner", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const org_id = yield* organization
        yield* set(org_id)
        const [charge] = yield* chargesOf(org_id)
        // No card is saved yet: the worker looks it up.
        expect(charge).toMatchObject({ customer: null, payment_method: null })
        const reason = "your card has expired"
        yield* told(org_id, charge?.payment_id ?? "", { _tag: "Failed", session_id: null, reason })
        yield* takeTurn(org_id)
        const waiting = yield* autoOf(org_id)
        expect(waiting).toMatchObject({ state: "waiting", failures: 1, last_error: reason, enabled: true })
        expect(waiting?.["retry_at"]).toBeInstanceOf(Date)
        // Until its time has come, it is not tried again.
        yield* woken(org_id)
        expect(yield* autoOf(org_id)).toEqual(waiting)
        yield* sql`UPDATE auto_topups SET retry_at = now() - interval '1 second' WHERE org_id = ${org_id}`
        yield* woken(org_id)
        expect(yield* autoOf(org_id)).toMatchObject({ state: "charging", failures: 1 })
        yield* set(org_id, { enabled: false })
        expect(yield* autoOf(org_id)).toMatchObject({ enabled: false, threshold: 5_000_000n })
      })
    ))

  test("counts a charge that failed and succeeds after all, also beyond the day's maximum", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const org_id = yield* organization
        yield* set(org_id)
        const [{ payment_id }] = [(yield* chargesOf(org_id))[0] ?? expect.unreachable("no charge")]
        yield* told(org_id, payment_id, { _tag: "Failed", session_id: null, reason: "declined" })
        yield* takeTurn(org_id)
        expect(yield* autoOf(org_id)).toMatchObject({ day_total: 0n })
        // What other charges of the day took of its maximum meanwhile.
        yield* sql`UPDATE auto_topups SET day_total = day_max WHERE org_id = ${org_id}`
        yield* told(org_id, payment_id, paid(payment_id, "10.00", { session_id: null }))
        yield* takeTurn(org_id)
        expect(yield* entriesOf(org_id)).toEqual(["topup 10000000"])
        expect(yield* autoOf(org_id)).toMatchObject({ day_total: 510_000_000n, day_max: 510_000_000n })
      })
    ))

  test("keeps an earlier day's maximum while the total does not grow", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const org_id = yield* organization
        yield* set(org_id)
        yield* sql`UPDATE auto_topups SET day_max = 700000000 WHERE org_id = ${org_id}`
        yield* set(org_id, { threshold: "4.00" })
        expect(yield* autoOf(org_id)).toMatchObject({ day_total: 10_000_000n, day_max: 700_000_000n })
      })
    ))
})
