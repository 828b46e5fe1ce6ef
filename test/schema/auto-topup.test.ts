/**
 * What automatic top-up decides, over whatever happens to it in whatever order: the fold of a turn's payments, without a database.
 *
 * The world beside it keeps what Postgres would, and after every turn it looks at every rule.
 */
import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { encodeAutoTopup, encodePay } from "../../src/actors/mailbox/Commands.ts"
import { decidePayments } from "../../src/actors/wallet/DecidePayments.ts"
import { noPayments } from "../../src/layers/ledger/PaymentTurn.ts"
import type { TurnCommand, TurnView } from "../../src/layers/ledger/Turn.ts"
import type { AutoTopup } from "../../src/schema/wallet/AutoTopup.ts"
import { dollars, MicroUsd, zero } from "../../src/schema/money/Money.ts"
import { type Payment, simulatedIntentPrefix } from "../../src/schema/wallet/Payment.ts"
import type { PaymentFact } from "../../src/schema/wallet/PaymentFact.ts"
import type { Entry, Wallet } from "../../src/schema/wallet/Wallet.ts"
import { figures } from "../kit/app.ts"
import { turnView } from "../kit/turn-view.ts"

const org_id = "org"
const dailyMax = dollars("50.00")
const hour = 3_600_000_000n
const seed = Number(process.env["SEED"] ?? 20_261_121)

type Op =
  | { readonly op: "set"; readonly enabled: boolean; readonly threshold: MicroUsd; readonly amount: MicroUsd }
  | { readonly op: "spend"; readonly amount: MicroUsd }
  | { readonly op: "arrive" | "decline" | "arrive late" | "look" | "checkout" | "refund" | "dispute" }
interface Turn {
  /** After the turn before. */
  readonly hours: number
  readonly together: ReadonlyArray<Op>
}

const amounts = fc.integer({ min: 10, max: 50 }).map((whole) => dollars(`${whole}.00`))
const mostly = fc.integer({ min: 0, max: 9 }).map((digit) => digit > 0)
const op: fc.Arbitrary<Op> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ op: fc.constant("set"), enabled: mostly, threshold: amounts, amount: amounts }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("spend"), amount: amounts }) },
  { weight: 12, arbitrary: fc.record({ op: fc.constantFrom("arrive", "decline", "decline", "look", "look") }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constantFrom("arrive late", "checkout", "refund", "dispute") }) }
)
const turns: fc.Arbitrary<Turn> = fc.record({
  hours: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 80 })),
  together: fc.oneof({ weight: 3, arbitrary: fc.tuple(op) }, { weight: 1, arbitrary: fc.array(op, { maxLength: 3 }) })
})

const newPayment = (payment_id: string, kind: Payment["kind"], amount: MicroUsd): Payment => ({
  ...{ payment_id, org_id, kind, amount, state: "open" },
  ...{ session_id: null, payment_intent: null, card: null, clawed_back: zero, failure: null }
})
const paid = ({ payment_id, kind, amount }: Payment, intent = `pi_${payment_id}`): PaymentFact => ({
  _tag: "Paid",
  session_id: kind === "auto" ? null : `cs_${payment_id}`,
  payment_intent: intent,
  customer: "cus",
  amount,
  currency: "usd"
})

class World {
  auto: AutoTopup | null = null
  wallet: Wallet = {
    ...{ org_id, balance: dollars("20.00"), reserved: zero, allowances_held: zero, entry_seq: 0n },
    ...{ per_run_limit: null, daily_limit: null, spent_day: "1970-01-01", spent: zero }
  }
  now = 20_000n * 24n * hour
  readonly payments = new Map<string, Payment>()
  readonly entries: Array<Entry> = []
  readonly counts = { charges: 0, declines: 0, switched_off: 0, at_maximum: 0, late: 0 }
  private readonly reversals: Array<TurnView["payments"]["reversals"][number]> = []
  private readonly begunOn = new Map<string, string>()
  /** Charges that were given up: their share of the day was free for others, until they arrived after all. */
  private readonly givenUp = new Set<string>()
  private events = 0
  /** What was waited after that many declines. */
  private readonly waits = new Map<number, bigint>()

  private get day() {
    return new Date(Number(this.now / 1000n)).toISOString().slice(0, 10)
  }
  some(kind: Payment["kind"], state: Payment["state"]) {
    return [...this.payments.values()].filter((one) => one.kind === kind && one.state === state)
  }

  /** A fact about a payment, if there is such a one. */
  private told(payment: Payment | undefined, fact: (payment: Payment) => PaymentFact): ReadonlyArray<TurnCommand> {
    if (payment === undefined) return []
    const event_id = `evt_${(this.events += 1)}`
    return [this.mail("Pay", encodePay({ payment_id: payment.payment_id, event_id, fact: fact(payment) }))]
  }
  private mail(tag: string, payload: string): TurnCommand {
    return {
      id: 0n,
      command_id: null,
      org_id,
      run_id: null,
      tag,
      payload: JSON.parse(payload),
      report: null,
      result: null
    }
  }

  private commandsOf(one: Op): ReadonlyArray<TurnCommand> {
    switch (one.op) {
      case "set": {
        const { op: _op, ...setting } = one
        return [this.mail("AutoTopup", encodeAutoTopup({ _tag: "Set", ...setting }))]
      }
      case "look":
        return [this.mail("AutoTopup", encodeAutoTopup({ _tag: "Wake" }))]
      case "spend":
        this.wallet = { ...this.wallet, balance: MicroUsd(this.wallet.balance - one.amount) }
        return [this.mail("Settle", "{}")]
      case "arrive":
        return this.told(this.some("auto", "open")[0], (payment) => paid(payment))
      case "decline":
        return this.told(this.some("auto", "open")[0], ({ payment_id }) => {
          this.givenUp.add(payment_id)
          return { _tag: "Failed", session_id: null, reason: "No." }
        })
      case "arrive late":
        return this.told(this.some("auto", "failed")[0], (payment) => paid(payment))
      case "checkout": {
        const payment = newPayment(`pay_${this.payments.size}`, "checkout", dollars("10.00"))
        this.payments.set(payment.payment_id, payment)
        return this.told(payment, (known) => paid(known))
      }
      default:
        return this.told(this.some("auto", "paid")[0] ?? this.some("checkout", "paid")[0], ({ amount }) => {
          const reversal_id = `re_${(this.events += 1)}`
          return {
            _tag: "Reversed",
            reversal_id,
            payment_intent: null,
            kind: one.op === "refund" ? "refund" : "dispute",
            amount,
            standing: "taken"
          }
        })
    }
  }

  turn({ hours, together }: Turn) {
    this.now += BigInt(hours) * hour
    const before = this.auto
    const commands = together.flatMap((one) => this.commandsOf(one))
    if (commands.length === 0) return
    const view = turnView(commands, {
      ...{ day: this.day, now_micros: this.now, wallets: [this.wallet], auto_topup_daily_max: dailyMax },
      autos: new Map(before === null ? [] : [[org_id, before]]),
      payments: { ...noPayments, payments: this.payments, reversals: this.reversals }
    })
    const folded = decidePayments(view, () => `pay_${this.payments.size}`)
    for (const one of commands) {
      if (one.tag === "AutoTopup") folded.setAuto(one)
      if (one.tag !== "Pay") continue
      const { wallet, entries } = folded.pay(one, this.wallet)
      this.wallet = wallet
      this.entries.push(...entries)
    }
    folded.charge(new Map([[org_id, this.wallet]]))
    const { payments, reversals, autos, charges } = folded.effects()
    for (const payment of payments) {
      const was = this.payments.get(payment.payment_id)
      if (payment.state === "paid" && was?.state === "failed") this.counts.late += 1
      this.payments.set(payment.payment_id, payment)
    }
    for (const one of reversals) {
      const at = this.reversals.findIndex(({ reversal_id }) => reversal_id === one.reversal_id)
      this.reversals.splice(at < 0 ? this.reversals.length : at, 1, one)
    }
    this.auto = autos[0] ?? before
    for (const { payment_id, amount } of charges) {
      this.payments.set(payment_id, newPayment(payment_id, "auto", MicroUsd(amount)))
      this.begunOn.set(payment_id, this.day)
    }
    this.check(before, together, charges.length)
  }

  private check(before: AutoTopup | null, together: ReadonlyArray<Op>, charges: number) {
    const { auto, counts } = this
    const open = this.some("auto", "open")
    expect(open.length).toBeLessThanOrEqual(1)
    expect(auto?.state === "charging").toBe(open.length === 1)
    if (auto === null) return
    expect(auto.state === "waiting").toBe(auto.retry_micros !== null)
    counts.charges += charges
    if (charges > 0) expect([auto.enabled, this.wallet.balance < auto.threshold]).toEqual([true, true])

    const sums = new Map<string, bigint>()
    for (const [payment_id, day] of this.begunOn) {
      if (this.givenUp.has(payment_id)) continue
      sums.set(day, (sums.get(day) ?? 0n) + (this.payments.get(payment_id)?.amount ?? 0n))
    }
    for (const sum of sums.values()) expect(sum >= 0n && sum <= dailyMax).toBe(true)
    expect(auto.day_total).toBeGreaterThanOrEqual(0n)
    if (charges > 0) expect(auto.day_total).toBeLessThanOrEqual(dailyMax)

    const [only, ...others] = together
    if (only?.op === "decline" && others.length === 0 && before?.state === "charging") this.checkDecline(before, auto)
    if (auto.state === "waiting" && auto.last_error?.includes("The daily maximum of $50.00") === true) {
      counts.at_maximum += 1
      expect((auto.retry_micros ?? 0n) % (24n * hour)).toBe(0n)
    }
    // Whatever else happens to the wallet: what waits is not charged before its time.
    const waits = before?.state === "waiting" && (before.retry_micros ?? 0n) > this.now
    // Nor is a declined card asked again because somebody switched off and on.
    const setting = before?.failures === 0 ? ["set"] : []
    const calls = together.some((one) => ["checkout", "arrive late", ...setting].includes(one.op))
    if (waits && !calls) expect(charges).toBe(0)
  }

  private checkDecline(before: AutoTopup, auto: AutoTopup) {
    this.counts.declines += 1
    if (!before.enabled) {
      expect(auto).toMatchObject({ enabled: false, state: "waiting", failures: before.failures + 1 })
    } else if (before.failures >= 4) {
      this.counts.switched_off += 1
      expect(auto).toMatchObject({ enabled: false, state: "waiting", retry_micros: this.now + 72n * hour })
      expect(auto.last_error).toContain(`switched off after ${before.failures + 1} declines in a row`)
    } else {
      expect(auto).toMatchObject({ state: "waiting", failures: before.failures + 1, last_error: "No." })
      const wait = (auto.retry_micros ?? 0n) - this.now
      expect(wait).toBeGreaterThanOrEqual(hour)
      for (const [failures, shorter] of this.waits) if (failures < auto.failures) expect(wait).toBeGreaterThan(shorter)
      this.waits.set(auto.failures, wait)
    }
  }
}

const set = (more: Partial<Extract<Op, { op: "set" }>> = {}): Op => ({
  ...{ op: "set", enabled: true, threshold: dollars("30.00"), amount: dollars("20.00") },
  ...more
})
const play = (...together: ReadonlyArray<Op | number>) => {
  const world = new World()
  for (const one of together)
    world.turn(typeof one === "number" ? { hours: one, together: [{ op: "look" }] } : { hours: 0, together: [one] })
  return world
}

describe("automatic top-up", () => {
  test("one charge at a time, within the day's maximum, rarer with every decline, and none once it is off", () => {
    const counts = { charges: 0, declines: 0, switched_off: 0, at_maximum: 0, late: 0 }
    const sequences = 1_000
    fc.assert(
      fc.property(fc.array(turns, { minLength: 10, maxLength: 60, size: "max" }), (sequence) => {
        const world = new World()
        world.turn({ hours: 0, together: [set()] })
        for (const turn of sequence) world.turn(turn)
        for (const name of Object.keys(counts) as ReadonlyArray<keyof typeof counts>) counts[name] += world.counts[name]
      }),
      { numRuns: sequences, seed }
    )
    // None of the rules held only because nothing came to test it.
    for (const found of Object.values(counts)) expect(found).toBeGreaterThan(5)
    figures("autotopup.decisions", { seed, sequences, ...counts })
  })

  test("waits 1, 6, 24 and 72 hours, and is switched off at the fifth decline in a row", () => {
    const world = play(set())
    const waits = [1, 6, 24, 72].map((hours) => {
      world.turn({ hours: 0, together: [{ op: "decline" }] })
      world.turn({ hours: hours - 1, together: [{ op: "look" }, { op: "spend", amount: dollars("1.00") }] })
      expect(world.some("auto", "open")).toEqual([])
      world.turn({ hours: 1, together: [{ op: "look" }] })
      expect(world.some("auto", "open")).toHaveLength(1)
      return hours
    })
    world.turn({ hours: 0, together: [{ op: "decline" }] })
    expect(world.auto).toMatchObject({ enabled: false, state: "waiting" })
    // Switched on again it waits like any other card that was declined.
    world.turn({ hours: 0, together: [set(), { op: "look" }] })
    world.turn({ hours: 71, together: [set({ enabled: false }), set(), { op: "look" }] })
    expect(world.counts.charges).toBe(1 + waits.length)
    world.turn({ hours: 0, together: [set({ enabled: false })] })
    world.turn({ hours: 1_000, together: [{ op: "look" }] })
    expect(world.counts.charges).toBe(1 + waits.length)
  })

  test("a decline counts that comes after it was switched off, so switching it on again does not charge the card", () => {
    const world = play(set(), set({ enabled: false }), { op: "decline" }, set())
    expect(world.auto).toMatchObject({ enabled: true, state: "waiting", failures: 1, last_error: "No." })
    expect(world.counts.charges).toBe(1)
    world.turn({ hours: 1, together: [{ op: "look" }] })
    expect(world.counts.charges).toBe(2)
    const disputed = play(set({ threshold: dollars("90.00") }), { op: "arrive" }, { op: "dispute" }, { op: "decline" })
    expect(disputed.auto).toMatchObject({ enabled: false, state: "waiting", failures: 1 })
    expect(disputed.auto?.last_error).toContain("because a payment was disputed")
  })

  test("a charge that was given up and arrives while another is in flight leaves that one the only one", () => {
    const world = play(set(), { op: "decline" }, 1, { op: "arrive late" })
    expect(world.some("auto", "open")).toHaveLength(1)
    expect(world.auto?.state).toBe("charging")
    world.turn({ hours: 0, together: [{ op: "arrive" }] })
    expect(world.entries.map((entry) => entry.type)).toEqual(["topup", "topup"])
  })

  test("another card is charged at once, and what the old one was declined for is forgotten", () => {
    const waiting = play(set({ threshold: dollars("40.00") }), { op: "decline" }, { op: "checkout" })
    expect(waiting.auto).toMatchObject({ state: "charging", failures: 0, last_error: null })
    // Also when the wait was over and the balance high enough.
    const rested = play(set(), { op: "decline" }, set({ threshold: dollars("10.00") }), set(), { op: "decline" })
    rested.wallet = { ...rested.wallet, balance: dollars("35.00") }
    rested.turn({ hours: 1, together: [{ op: "look" }] })
    expect(rested.auto).toMatchObject({ state: "idle", failures: 1, last_error: "No." })
    rested.turn({ hours: 0, together: [{ op: "checkout" }] })
    expect(rested.auto).toMatchObject({ state: "idle", failures: 0, last_error: null })
  })

  test("another card does not switch on what was switched off", () => {
    const world = play(set(), { op: "arrive" }, { op: "dispute" }, { op: "checkout" }, 24)
    expect(world.auto).toMatchObject({ enabled: false, state: "idle" })
    expect(world.auto?.last_error).toContain("because a payment was disputed")
    expect(world.counts.charges).toBe(1)
  })

  test("at the day's maximum it waits for midnight, UTC, says so, and forgets it there", () => {
    const world = play(set({ threshold: dollars("90.00") }), { op: "arrive" }, { op: "arrive" })
    expect(world.auto).toMatchObject({
      ...{ state: "waiting", day_total: dollars("40.00"), retry_micros: 20_001n * 24n * hour },
      last_error: "The daily maximum of $50.00 for automatic top-ups is reached; the next is at 00:00 UTC."
    })
    world.turn({ hours: 23, together: [{ op: "look" }] })
    expect(world.counts.charges).toBe(2)
    world.wallet = { ...world.wallet, balance: dollars("95.00") }
    world.turn({ hours: 1, together: [{ op: "look" }] })
    expect(world.auto).toMatchObject({ state: "idle", last_error: null })
    world.turn({ hours: 0, together: [{ op: "spend", amount: dollars("10.00") }] })
    expect(world.auto).toMatchObject({ state: "charging", day_total: dollars("20.00") })
  })

  test("charges below the threshold and not at it, up to the whole of the day's maximum", () => {
    const at = (threshold: string, amount: string) =>
      play(set({ threshold: dollars(threshold), amount: dollars(amount) })).auto?.state
    expect([at("20.00", "20.00"), at("20.000001", "20.00")]).toEqual(["idle", "charging"])
    expect([at("30.00", "50.00"), at("30.00", "50.01")]).toEqual(["charging", "waiting"])
  })

  test("at the day's maximum charges at once when it is set to an amount that still fits", () => {
    const world = play(set({ threshold: dollars("90.00") }), { op: "arrive" }, { op: "arrive" })
    expect(world.auto).toMatchObject({ state: "waiting", day_total: dollars("40.00") })
    world.turn({ hours: 0, together: [set({ threshold: dollars("90.00"), amount: dollars("10.00") })] })
    expect(world.auto).toMatchObject({ state: "charging", day_total: dollars("50.00"), last_error: null })
  })

  test("counts no declined charge in the day's total, and still counts those that succeeded", () => {
    const world = play(set({ threshold: dollars("90.00") }), { op: "arrive" })
    expect(world.auto).toMatchObject({ state: "charging", day_total: dollars("40.00") })
    world.turn({ hours: 0, together: [{ op: "decline" }] })
    expect(world.auto).toMatchObject({ state: "waiting", day_total: dollars("20.00") })
  })

  test("counts a declined charge that succeeds after all, so the day keeps its maximum", () => {
    const world = play(set({ threshold: dollars("90.00") }), { op: "arrive" }, { op: "decline" }, { op: "arrive late" })
    expect(world.some("auto", "paid").length).toBe(2)
    expect(world.auto).toMatchObject({ state: "waiting", day_total: dollars("40.00") })
    expect(world.auto?.last_error).toContain("The daily maximum")
  })

  test("counts a late success also while another charge is in flight, and beyond the maximum", () => {
    const ops: ReadonlyArray<Op | number> = [
      { op: "arrive" },
      { op: "decline" },
      2,
      { op: "look" },
      { op: "arrive late" }
    ]
    const world = play(set({ threshold: dollars("90.00") }), ...ops)
    expect(world.auto).toMatchObject({ state: "charging", day_total: dollars("60.00") })
    world.turn({ hours: 0, together: [{ op: "decline" }] })
    expect(world.auto).toMatchObject({ state: "waiting", day_total: dollars("40.00") })
  })

  test("keeps the reason why it was switched off when the last charge succeeds", () => {
    const world = play(set({ threshold: dollars("90.00") }), { op: "arrive" }, { op: "dispute" }, { op: "arrive" })
    expect(world.auto).toMatchObject({ enabled: false, state: "idle" })
    expect(world.auto?.last_error).toContain("because a payment was disputed")
  })

  test("its credit is labeled, above all when no money moved", () => {
    const noteOf = (intent: string) => {
      const world = play(set())
      const [payment = expect.unreachable("nothing is charged")] = world.some("auto", "open")
      const about = { payment_id: payment.payment_id, event_id: "evt", fact: paid(payment, intent) }
      const mail = {
        id: 0n,
        command_id: null,
        org_id,
        run_id: null,
        tag: "Pay",
        payload: JSON.parse(encodePay(about)),
        report: null,
        result: null
      }
      const view = turnView([mail], { payments: { ...noPayments, payments: world.payments } })
      return decidePayments(view, () => "")
        .pay(mail, world.wallet)
        .entries.map((entry) => entry.note)
    }
    expect(noteOf("pi_1")).toEqual(["automatic top-up"])
    expect(noteOf(`${simulatedIntentPrefix}1`)).toEqual(["simulated automatic top-up (sandbox: no money moved)"])
  })
})
