/** Automatic top-ups during a turn: their setting, their pauses, and the charges that a low balance starts. */
import { describe, expect, test } from "bun:test"
import { noPayments } from "../../../src/layers/ledger/PaymentTurn.ts"
import { dollars, signed, zero } from "../../../src/schema/money/Money.ts"
import type { AutoTopup } from "../../../src/schema/wallet/AutoTopup.ts"
import type { Payment } from "../../../src/schema/wallet/Payment.ts"
import {
  autoOf,
  autoTopup,
  credit,
  now_micros,
  org_id,
  pay,
  runningRun,
  settle,
  turnOf,
  walletWith
} from "../../kit/turn-view.ts"

const setting = { enabled: true, threshold: dollars("5.00"), amount: dollars("20.00") }
const set = autoTopup({ _tag: "Set", ...setting }, { command_id: "cmd_a" })
const wake = autoTopup({ _tag: "Wake" })
const hourMicros = 3_600_000_000n
const autosOf = (...autos: ReadonlyArray<readonly [string, AutoTopup]>) => ({ autos: new Map(autos) })
const charge = { org_id, amount: dollars("20.00"), payment_id: "pay_1" }

describe("a setting", () => {
  test("is kept, and answered", () => {
    const { effects, replyTo, answer } = turnOf([set])
    expect(effects.payments.autos).toMatchObject([{ org_id, ...setting, state: "idle" }])
    expect(effects.payments.charges).toEqual([])
    expect(replyTo("cmd_a")).toEqual({ verdict: "applied" })
    expect(effects.wallets).toEqual([walletWith("10.00")])
    expect([answer.charges, answer.signals]).toEqual([false, ["cmd_a"]])
  })

  test("charges at once if the balance is below it", () => {
    const { effects, answer } = turnOf([set], { wallets: [walletWith("4.99")] })
    expect(effects.payments.charges).toEqual([charge])
    expect(effects.payments.autos).toMatchObject([{ ...setting, state: "charging", day_total: dollars("20.00") }])
    expect(answer.charges).toBe(true)
  })

  test("does not end the pause of a card that was declined", () => {
    const declined = autoOf({ state: "waiting", failures: 2, retry_micros: now_micros + hourMicros, last_error: "No." })
    const { effects } = turnOf([set], { wallets: [walletWith("1.00")], ...autosOf([org_id, declined]) })
    expect(effects.payments.charges).toEqual([])
    expect(effects.payments.autos).toEqual([{ ...declined, org_id }])
  })
})

describe("a pause", () => {
  const waiting = (retry_micros: bigint) => autosOf([org_id, autoOf({ state: "waiting", failures: 1, retry_micros })])

  test("ends when its time is over, and a charge follows", () => {
    const { effects } = turnOf([wake], { wallets: [walletWith("1.00")], ...waiting(now_micros) })
    expect(effects.payments.charges).toEqual([charge])
    expect(effects.payments.autos).toMatchObject([{ state: "charging", failures: 1 }])
  })

  test("does not end before, and nothing is written", () => {
    const { effects } = turnOf([wake], { wallets: [walletWith("1.00")], ...waiting(now_micros + 1n) })
    expect([effects.payments.charges, effects.payments.autos]).toEqual([[], []])
  })

  test("of an organization without a setting is none", () => {
    const { effects } = turnOf([wake], { wallets: [walletWith("1.00")] })
    expect([effects.payments.charges, effects.payments.autos]).toEqual([[], []])
  })
})

describe("a charge", () => {
  const spends = [settle("run_a", { charge: dollars("1.00") })]

  test("starts when a run takes the balance below the threshold", () => {
    const runs = [runningRun("run_a")]
    const low = { runs, wallets: [walletWith("5.99", { reserved: dollars("1.00") })] }
    expect(turnOf(spends, { ...low, ...autosOf([org_id, autoOf()]) }).effects.payments.charges).toEqual([charge])
    const enough = { runs, wallets: [walletWith("6.00", { reserved: dollars("1.00") })] }
    const { effects } = turnOf(spends, { ...enough, ...autosOf([org_id, autoOf()]) })
    expect([effects.payments.charges, effects.payments.autos]).toEqual([[], []])
  })

  test("starts for the wallets of the turn only", () => {
    const { effects } = turnOf([credit("1.00")], {
      wallets: [walletWith("1.00"), walletWith("1.00", { org_id: "org_b" })],
      ...autosOf([org_id, autoOf()], ["org_b", autoOf()], ["org_c", autoOf()])
    })
    expect(effects.payments.charges).toEqual([charge])
    expect(effects.payments.autos.map((one) => one.org_id)).toEqual([org_id])
  })

  test("waits for the next day once the daily maximum is reached", () => {
    const spent = autoOf({ day_total: dollars("40.00") })
    const { effects, answer } = turnOf([credit("0.01")], { wallets: [walletWith("1.00")], ...autosOf([org_id, spent]) })
    expect(effects.payments.charges).toEqual([])
    expect(answer.charges).toBe(false)
    expect(effects.payments.autos).toMatchObject([
      { org_id, state: "waiting", retry_micros: now_micros + 12n * hourMicros, day_total: dollars("40.00") }
    ])
  })

  test("is not started beside another one", () => {
    const { effects } = turnOf([credit("0.01")], {
      ...{ wallets: [walletWith("1.00")], ...autosOf([org_id, autoOf({ state: "charging" })]) }
    })
    expect([effects.payments.charges, effects.payments.autos]).toEqual([[], []])
  })

  const open: Payment = {
    ...{ payment_id: "pay_a", org_id, kind: "auto", amount: dollars("20.00"), state: "open", session_id: null },
    ...{ payment_intent: null, card: null, clawed_back: zero, failure: null }
  }
  const payments = { ...noPayments, payments: new Map([["pay_a", open]]) }
  const charging = autosOf([org_id, autoOf({ state: "charging", day_total: dollars("20.00") })])

  test("that is declined pauses the next one, and counts no longer for the day", () => {
    const fact = { _tag: "Failed", session_id: null, reason: "No." } as const
    const { effects } = turnOf([pay("pay_a", "evt_a", fact)], {
      ...{ payments, ...charging, wallets: [walletWith("1.00")] }
    })
    expect(effects.payments.autos).toMatchObject([
      { org_id, state: "waiting", failures: 1, last_error: "No.", retry_micros: now_micros + hourMicros, day_total: 0n }
    ])
    expect(effects.payments.payments).toMatchObject([{ state: "failed", failure: "No." }])
  })

  test("that is paid lets the next one start", () => {
    const fact = {
      _tag: "Paid",
      ...{ session_id: null, payment_intent: "pi_a", customer: "cus_a", amount: dollars("20.00"), currency: "usd" }
    } as const
    const { effects } = turnOf([pay("pay_a", "evt_a", fact)], {
      payments,
      ...charging,
      wallets: [walletWith("0.00", { balance: signed("-18.00") })]
    })
    expect(effects.payments.charges).toEqual([charge])
    expect(effects.payments.autos).toMatchObject([{ state: "charging", day_total: dollars("40.00") }])
  })
})
