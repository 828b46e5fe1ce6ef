/**
 * `rungate audit` against the local Stripe, as a real process: what agrees, each way in which the two can differ, and a processor that
 * is slow, gone or none.
 *
 * Times are made by moving Stripe's clock and our rows' dates, never by waiting.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import {
  compare,
  type ComparisonInput,
  limitPerEquation,
  type OwnPayment
} from "../../../../src/layers/audit/processor.ts"
import type { SettledPayment } from "../../../../src/layers/payments/Payments.ts"
import { dollars } from "../../../../src/schema/money/Money.ts"
import { type App, startApp, type Tenant, until } from "../../../kit/app.ts"
import { type Command, runMain } from "../../../chaos/processes.ts"
import { compiledCommand } from "../../../kit/compiled-command.ts"
import type { Thing } from "../../../layers/payments/account.ts"
import { type LocalStripe, startStripe } from "../../../layers/payments/standin.ts"

const command: Command = [await compiledCommand()]
let app: App
let stripe: LocalStripe
beforeAll(async () => {
  stripe = await startStripe()
  const settings = { RUNGATE_MODE: "production", RUNGATE_RECONCILE_SECONDS: "86400", ...stripe.settings }
  app = await startApp({ settings })
})
afterAll(async () => {
  await app.stop()
  await stripe.stop()
})

const begin = (args: ReadonlyArray<string> = [], more: Readonly<Record<string, string>> = {}) =>
  runMain(
    ["audit", ...args],
    { DATABASE_URL: app.databaseUrl, RUNGATE_MODE: "production", ...stripe.settings, ...more },
    command
  )
const audit = async (...given: Parameters<typeof begin>) => {
  const { ended, output, errors } = begin(...given)
  const { code } = await ended
  const lines = output().trim().split("\n")
  return { code, out: output(), err: errors(), violations: lines.filter((line) => line.startsWith("VIOLATION")).sort() }
}

interface Sale {
  readonly org: Tenant
  readonly payment_id: string
  readonly session: Thing
}
const checkout = async (amount = "25.00"): Promise<Sale> => {
  const org = await app.tenant()
  const { body } = await org.post("/v1/wallet/topups/checkout", { amount })
  const session = stripe.lists.sessions().find(({ id }) => id === body.session_id)!
  const payment_id: string = session["metadata"].payment_id
  // Nobody credits it by looking: what the test doesn't tell stays unknown.
  await app.sql("UPDATE payments SET look_at = now() + interval '1 day' WHERE payment_id = $1", [payment_id])
  return { org, payment_id, session }
}
const aboutIntent = (intent: string) => (event: Thing) => event["data"].object.payment_intent === intent
const tell = async (intent: string) => stripe.deliverAll(`${app.url}/v1/webhooks/stripe`, { only: aboutIntent(intent) })
const balance = (org: Tenant, amount: string) => until("the balance", org.wallet, (wallet) => wallet.balance === amount)
const paid = async (): Promise<Sale & { readonly intent: string }> => {
  const sale = await checkout()
  const { payment_intent } = stripe.pay(sale.session["id"])
  await tell(payment_intent)
  await balance(sale.org, "25.00")
  return { ...sale, intent: payment_intent }
}
const anHourAgo = <A>(work: () => A): A => {
  stripe.travel(-3_600)
  const done = work()
  stripe.travel(3_600)
  return done
}
/** A charge that nobody here asked for, as a second process or another shop makes it. */
const chargedBeside = async (payment_id: string, org_id: string): Promise<string> => {
  const { customer, payment_method } = stripe.customer()
  const body = new URLSearchParams({ amount: "2500", currency: "usd", customer, payment_method })
  body.set("metadata[payment_id]", payment_id)
  body.set("metadata[org_id]", org_id)
  const headers = { authorization: `Bearer ${stripe.settings.STRIPE_SECRET_KEY}` }
  const response = await fetch(`${stripe.url}/v1/payment_intents`, { method: "POST", headers, body })
  return ((await response.json()) as { id: string }).id
}
const intentOf = (id: string) => stripe.lists.payment_intents().find((one) => one["id"] === id)!
const begunAndCredited = async ({ payment_id }: Sale, ago: string) => {
  const values = [payment_id, ago]
  await app.sql("UPDATE payments SET created_at = now() - $2::interval WHERE payment_id = $1", values)
  await app.sql("UPDATE payment_events SET created_at = now() - $2::interval WHERE payment_id = $1", values)
}
/** Stripe has no such payment of ours. */
const forget = ({ session, intent }: Sale & { readonly intent: string }) => {
  session["metadata"] = {}
  intentOf(intent)["metadata"] = {}
}

describe("in production", () => {
  let old: Sale & { readonly intent: string }

  test("checkouts and automatic top-ups that are settled there agree, and a slow processor is waited for aloud", async () => {
    const { org } = await paid()
    // Begun before the time that is asked about, so it may be unknown there.
    old = await paid()
    forget(old)
    await begunAndCredited(old, "40 days")
    const auto = { enabled: true, threshold: "30.00", amount: "25.00" }
    const set = await app.call(await org.session(), "POST", "/v1/wallet/auto-topup", { body: auto })
    expect(set.status).toBe(200)
    await balance(org, "50.00")
    const hang = stripe.fault({ on: /^GET \/v1\/checkout\/sessions$/, how: "hang" })
    const { ended, errors, output } = begin()
    await hang.struck
    await until("progress", errors, (text) => text.includes("reading the processor's settled payments of 35 days ("))
    hang.release()
    expect([(await ended).code, output().trim().split("\n").at(-1)]).toEqual([
      0,
      "The payment processor agrees: 2 settled payments of the last 35 days."
    ])
    expect(
      errors()
        .trim()
        .split("\n")
        .every((line) => /\(\d+ s so far\)$/.test(line))
    ).toBe(true)
  })

  test("each difference is named with what to do, news and what went back are not", async () => {
    const unknown = await paid()
    forget(unknown)
    await begunAndCredited(unknown, "1 hour")
    forget(await paid())
    const [amount, owner, twice] = [await paid(), await paid(), await paid()]
    amount.session["amount_total"] = 2_600
    owner.session["metadata"].org_id = "org_other"
    const second = await chargedBeside(twice.payment_id, twice.org.org_id)
    const [untold, misfit, back, now] = [await checkout(), await checkout(), await checkout(), await checkout()]
    const untoldIntent = anHourAgo(() => stripe.pay(untold.session["id"])).payment_intent
    const misfitIntent = anHourAgo(() => stripe.pay(misfit.session["id"], { amount: 100 })).payment_intent
    await tell(misfitIntent)
    await until(
      "the sum that was not agreed is heard of",
      () => app.sql("SELECT 1 FROM payment_events WHERE payment_id = $1", [misfit.payment_id]),
      (rows) => rows.length > 0
    )
    stripe.refund(anHourAgo(() => stripe.pay(back.session["id"])).payment_intent)
    stripe.pay(now.session["id"])
    const lostIntent = await chargedBeside("pay_lost", twice.org.org_id)
    await chargedBeside("pay_elsewhere", "org_elsewhere")

    const { code, err, out, violations } = await audit(["--processor-days", "41"])
    const settled = "VIOLATION E6 each paid payment is settled at the processor, for the same organization and amount"
    const credited = "VIOLATION E6 each payment that the processor received is credited"
    const names = ({ session, intent }: Sale & { readonly intent: string }) => `${session["id"]} ${intent}`
    const expected = [
      ...[unknown, old].map(
        (sale) =>
          `${settled}: ${sale.payment_id}: ${sale.org.org_id} was credited 25.00 USD for ${names(sale)}, which is not settled at the processor. Look it up there, and check that STRIPE_SECRET_KEY belongs to the account that received the payment`
      ),
      `${settled}: ${amount.payment_id}: ${amount.org.org_id} was credited 25.00 USD for ${names(amount)}, but the processor has 26.00 USD of ${amount.org.org_id}. Find out which one is right`,
      `${settled}: ${owner.payment_id}: ${owner.org.org_id} was credited 25.00 USD for ${names(owner)}, but the processor has 25.00 USD of org_other. Find out which one is right`,
      `VIOLATION E6 each payment is settled once: ${twice.payment_id}: credited for ${names(twice)}, but the processor also has 25.00 USD of ${twice.org.org_id} for ${second}, so the customer was charged twice. Refund ${second} at the processor, then check with rungate admin show that the wallet still has the credit`,
      `${credited}: ${untold.payment_id}: the processor has 25.00 USD of ${untold.org.org_id} for ${untold.session["id"]} ${untoldIntent}, but the payment is open here. The service credits it automatically within minutes. If not, check its log, or resend the event at the processor`,
      `${credited}: ${misfit.payment_id}: the processor has 1.00 USD of ${misfit.org.org_id} for ${misfit.session["id"]} ${misfitIntent}, but the payment is open here. The payment was opened for 25.00 USD of ${misfit.org.org_id} as ${misfit.session["id"]}, so the service never credits it. Refund it at the processor`,
      `${credited}: pay_lost: the processor has 25.00 USD of ${twice.org.org_id} for ${lostIntent}, but this database has no such payment. If it was restored from a backup, refund the payment at the processor`
    ]
    expect(violations).toEqual(expected.sort())
    expect(out).toContain("The books add up")
    expect(out.trim().split("\n").at(-1)).toBe(
      "8 differences from the payment processor: 12 settled payments of the last 41 days, 2 pending, 1 not credited and refunded, 1 of organizations outside this database."
    )
    expect([code, err]).toEqual([
      1,
      "rungate: The ledger differs from the payment processor. See the violations above.\n"
    ])
    const [kept] = await app.sql("SELECT violations FROM audit_checks ORDER BY id DESC LIMIT 1")
    expect(Number(kept?.["violations"])).toBe(8)
  })

  test("a processor that is gone leaves the books audited, and an exit code to notice", async () => {
    const gone = { STRIPE_API_BASE: "http://127.0.0.1:9" }
    const [asked, left, wrong] = await Promise.all([
      audit([], gone),
      audit(["--processor-days", "0"], gone),
      audit(["--processor-days", "3651"], gone)
    ])
    expect(asked.out).toContain("The books add up")
    expect([asked.code, asked.err]).toEqual([
      1,
      "Can't compare with the payment processor: Stripe could not be reached.\n" +
        "rungate: The books add up, but the top-ups were not compared with the payment processor (--processor-days 0 skips this).\n"
    ])
    expect(left.out.trim().split("\n").at(-1)).toBe(
      "Skipped the comparison with the payment processor (--processor-days 0)."
    )
    expect([left.code, wrong.code]).toEqual([0, 5])
    expect(`${wrong.out}${wrong.err}`).toContain("--processor-days must be from 0 to 3650, not 3651")
  })
})

test("without a processor a line says so, and the books decide alone", async () => {
  const none = { STRIPE_SECRET_KEY: "", STRIPE_WEBHOOK_SECRET: "" }
  const [sandbox, production] = await Promise.all([audit([], { RUNGATE_MODE: "sandbox" }), audit([], none)])
  expect([sandbox.code, sandbox.err]).toEqual([1, expect.stringContaining("belongs to a production service")])
  expect([production.code, production.err]).toEqual([0, ""])
  expect(production.out.trim().split("\n").at(-1)).toStartWith("No payment processor is configured (STRIPE_SECRET_KEY)")
})

describe("compared by rows", () => {
  const since = new Date("2026-03-01T00:00:00Z")
  const creditedBy = new Date("2026-04-01T00:00:00Z")
  const own = (more: Partial<OwnPayment> = {}): OwnPayment => ({
    payment_id: "pay_1",
    org_id: "org_1",
    kind: "checkout",
    amount: dollars("5.00"),
    state: "paid",
    session_id: "cs_1",
    payment_intent: "pi_1",
    created_at: new Date("2026-03-02T00:00:00Z"),
    credited_at: new Date("2026-03-02T00:01:00Z"),
    ...more
  })
  const there = (more: Partial<SettledPayment> = {}): SettledPayment => ({
    payment_id: "pay_1",
    org_id: "org_1",
    session_id: "cs_1",
    payment_intent: "pi_1",
    amount: dollars("5.00"),
    currency: "usd",
    ...more
  })
  const found = (
    mine: ReadonlyArray<OwnPayment>,
    theirs: ReadonlyArray<SettledPayment>,
    more: Partial<ComparisonInput> = {}
  ) => {
    const sides = { own: mine, settled: theirs, orgs: new Set(["org_1"]), since, creditedBy, ...more }
    const { differences, young } = compare(sides)
    const words = ["settled at", "settled once", "credited"]
    const kinds = differences.map(
      ({ equation, mayBeRecent }) => `${words.find((word) => equation.includes(word))}${mayBeRecent ? "?" : ""}`
    )
    return { kinds, young }
  }
  const cases: ReadonlyArray<readonly [string, ReturnType<typeof found>, ReadonlyArray<string>, number]> = [
    ["the same", found([own()], [there()]), [], 0],
    ["a session that is older than the list, by its intent", found([own()], [there({ session_id: null })]), [], 0],
    ["a charge", found([own({ kind: "auto", session_id: null })], [there({ session_id: null })]), [], 0],
    ["credited lately", found([own({ credited_at: new Date("2026-04-01T00:00:01Z") })], []), [], 1],
    ["begun before that time", found([own({ created_at: new Date("2026-02-28T00:00:00Z") })], []), [], 0],
    ["another currency", found([own()], [there({ currency: "eur" })]), ["settled at"], 0],
    [
      "another session and intent",
      found([own()], [there({ session_id: "cs_2", payment_intent: "pi_2" })]),
      ["settled at", "settled once"],
      0
    ],
    [
      "two charges for a payment that failed here",
      found(
        [own({ kind: "auto", state: "failed", session_id: null, payment_intent: null, credited_at: null })],
        [there({ session_id: null }), there({ session_id: null, payment_intent: "pi_2" })]
      ),
      ["credited?", "credited?"],
      0
    ],
    ["what names no payment", found([], [there({ payment_id: null })]), [], 0]
  ]
  for (const [name, { kinds, young }, expected, counted] of cases) {
    test(name, () => expect([kinds, young]).toEqual([[...expected], counted]))
  }

  test("the wrong account's key makes no endless list", () => {
    const mine = Array.from({ length: 70 }, (_, at) => own({ payment_id: `pay_${at}` }))
    const { differences } = compare({ own: mine, settled: [], orgs: new Set(), since, creditedBy })
    const shown = limitPerEquation(differences)
    expect([differences.length, shown.length, shown.at(-1)?.subject]).toEqual([70, 51, "20 more payments"])
  })
})
