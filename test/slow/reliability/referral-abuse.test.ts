/**
 * T64: referrals with real money's rules, in production, over a local Stripe and a provider of our own: what is earned is computed a
 * second time here, from what clients were charged and the provider reported, and nobody gets a microdollar more by any trick.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { Context, Effect, Layer } from "effect"
import { CommandClient } from "../../../src/actors/mailbox/CommandClient.ts"
import { encodeCredit } from "../../../src/actors/mailbox/Commands.ts"
import { makeAccrueShares } from "../../../src/actors/payments/ReferralActor.ts"
import { LookSeconds } from "../../../src/actors/runs/OutcomeLookups.ts"
import { DriftTolerancePercent } from "../../../src/layers/executor/CostDrifts.ts"
import { dollars, MicroUsd, usd } from "../../../src/schema/money/Money.ts"
import { type App, type Entry, figures, startApp, until } from "../../kit/app.ts"
import { type LocalStripe, startStripe } from "../../layers/payments/standin.ts"

const password = "correct horse battery"
const shareBps = 9337n
/** What each provider answers stands in the address: `cost-12@…` reports 0.12 credits, `unknown-25@…` knows nothing for 0.25. */
const providers = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async (request): Promise<Response> => {
    const leadmagic = request.method === "POST"
    const email = leadmagic
      ? String(((await request.json()) as { email: string }).email)
      : (new URL(request.url).searchParams.get("email") ?? "")
    const [manner, credits] = (email.split("@")[0] ?? "").split("-")
    const report = credits === "none" ? {} : { credits_consumed: Number(credits) / 100 }
    if (manner === "error") return Response.json({ error: "down" }, { status: 500 })
    return leadmagic
      ? Response.json({ email, email_status: manner === "unknown" ? "unknown" : "valid", ...report })
      : Response.json({ data: { status: "valid", score: 90, email } })
  }
})

let app: App
let other: App
let stripe: LocalStripe
const account = (name: string) => ({
  [`RUNGATE_PROVIDER_${name}_API_KEY`]: "key",
  [`RUNGATE_PROVIDER_${name}_BASE_URL`]: `http://127.0.0.1:${providers.port}`
})
const settings = () => ({
  ...stripe.settings,
  ...account("LEADMAGIC"),
  ...account("HUNTER"),
  RUNGATE_MODE: "production",
  RUNGATE_SIGN_UP: "open",
  RUNGATE_EMAIL_VERIFICATION: "off",
  RUNGATE_REFERRAL_SHARE_PERCENT: "93.37",
  RUNGATE_REFERRAL_SECONDS: "86400",
  RUNGATE_RECONCILE_SECONDS: "86400"
})
beforeAll(async () => {
  stripe = await startStripe({ live: true })
  // Costs are at random here. A price that follows them would change in the middle of a test, whenever a process reads it.
  const limits = Layer.merge(Layer.succeed(LookSeconds, 3_600), Layer.succeed(DriftTolerancePercent, 1e15))
  app = await startApp({ settings: settings(), limits })
  other = await startApp({ beside: app, settings: settings(), limits })
})
afterAll(async () => {
  await other.stop()
  await app.stop()
  await stripe.stop()
  await providers.stop(true)
})
afterEach(async () => {
  await app.books()
  // Two that count at once get out of each other's way; nothing has to fail for it.
  for (const { logs } of [app, other]) expect(logs.filter((line) => line.includes("could not be computed"))).toEqual([])
})

const accrue = (at: App = app) => Effect.runPromise(Effect.provideContext(Effect.flatten(makeAccrueShares), at.context))

interface Member {
  readonly org_id: string
  readonly token: string
  readonly code: string
}
let members = 0
const join = async (referral_code: string | null, at: App = app): Promise<Member> => {
  members += 1
  const body = { email: `member${members}@example.com`, password, organization: `Member ${members}`, referral_code }
  const signed = await at.call(null, "POST", "/v1/auth/sign-up", { body })
  expect(signed.status).toBe(200)
  const token: string = signed.body.session_token
  const { code } = (await app.call(token, "GET", "/v1/referrals")).body
  return { org_id: signed.body.organization.id, token, code }
}
const program = async ({ token }: Member) => (await app.call(token, "GET", "/v1/referrals")).body
const wallet = async ({ token }: Member) => (await app.call(token, "GET", "/v1/wallet")).body
const ledger = async ({ token }: Member): Promise<ReadonlyArray<Entry>> => {
  const entries: Array<Entry> = []
  for (let cursor = ""; ; ) {
    const { body } = await app.call(token, "GET", `/v1/wallet/transactions?limit=200${cursor}`)
    entries.push(...body.items)
    if (body.next_cursor === null) return entries
    cursor = `&cursor=${body.next_cursor}`
  }
}
const micros = (text: string) => (text.startsWith("-") ? -dollars(text.slice(1)) : dollars(text)) as bigint
const total = (entries: ReadonlyArray<Entry>) => entries.reduce((sum, one) => sum + micros(one.amount), 0n)
/** The ledger without what runs did, oldest first. */
const credits = async (member: Member) =>
  (await ledger(member)).filter(({ type }) => ["topup", "bonus", "refund"].includes(type)).toReversed()
const shares = async (member: Member) =>
  (await credits(member)).filter(({ reference }) => reference.includes(":share:"))
/** What was sent to the wallet is on its ledger. */
const arrived = (member: Member, amount: bigint) =>
  until(
    "the shares on the ledger",
    async () => total(await shares(member)),
    (sum) => sum === amount
  )

const deliver = async (from: number) => {
  for (const event of stripe.events.slice(from)) {
    const { status } = await stripe.deliver(`${app.url}/v1/webhooks/stripe`, event)
    expect(status).toBe(200)
  }
}
const balanceIs = (member: Member, holds: (balance: bigint) => boolean) =>
  until("the balance", async () => micros((await wallet(member)).balance), holds)
const deposit = async (member: Member, amount = "25.00") => {
  const before = micros((await wallet(member)).balance)
  const asked = await app.call(member.token, "POST", "/v1/wallet/topups/checkout", { body: { amount } })
  expect(asked.status).toBe(200)
  const from = stripe.events.length
  const { payment_intent } = stripe.pay(asked.body.session_id)
  await deliver(from)
  await balanceIs(member, (balance) => balance > before)
  return payment_intent
}
const refund = async (member: Member, intent: string, cents?: number) => {
  const before = micros((await wallet(member)).balance)
  const from = stripe.events.length
  const id = stripe.refund(intent, cents)
  await deliver(from)
  await balanceIs(member, (balance) => balance < before)
  return id
}

const run = async (member: Member, manner: string, routing: Record<string, string> = { provider: "leadmagic" }) => {
  const body = { capability: "email.verify", input: { email: `${manner}@example.com` }, routing, wait_seconds: 30 }
  return (await app.call(member.token, "POST", "/v1/run", { body })).body
}
/** What a pinned run brings the platform, by the rule as the terms state it and with arithmetic of our own. */
const netOf = (charged: bigint, hundredths: number | null) => {
  // A credit is a cent; five sixths of the charge, rounded up, when nothing is reported.
  const cost = hundredths === null ? (charged * 5n + 5n) / 6n : BigInt(hundredths) * 100n
  return charged > cost ? charged - cost : 0n
}
/** Numbers below `n`, the same for the same seed. */
const dice = (seed: number) => {
  let state = seed
  return (n: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * n)
  }
}
const shareOf = (net: bigint) => (net * shareBps) / 10_000n

describe("what a run has cost the platform", () => {
  test("is what its attempts report, else a part of its charge", async () => {
    const member = await join(null)
    await deposit(member)
    const cost = async (made: { run_id: string }) => {
      const look = () => app.sql("SELECT provider_cost FROM runs WHERE run_id = $1", [made.run_id])
      return BigInt(String((await look())[0]?.["provider_cost"]))
    }
    const strategy = { strategy: "highest_success_rate" }
    expect(await cost(await run(member, "cost-12"))).toBe(1_200n)
    expect(await cost(await run(member, "cost-0"))).toBe(0n)
    expect(await cost(await run(member, "cost-none"))).toBe(2_500n)
    // LeadMagic knew nothing for 0.0025, Hunter delivered for 0.0147 and reports nothing.
    const both = await run(member, "unknown-25", strategy)
    expect([both.provider, both.billing.charged]).toEqual(["hunter", "0.0147"])
    expect(await cost(both)).toBe(2_500n + 12_250n)
    const failed = await run(member, "error-50")
    expect([failed.status, await cost(failed)]).toEqual(["failed", 0n])
    // What providers cost us is nobody's business.
    expect(JSON.stringify(both)).not.toContain("cost")
  })
})

describe("T64 referrals", () => {
  test("shares are exact over random runs, however often and by how many workers they are counted", async () => {
    const referrers = [await join(null), await join(null)]
    const referred = await Promise.all(
      [0, 1, 0, 1, 0].map(async (at) => ({ by: at, member: await join(referrers[at]!.code) }))
    )
    for (const { member } of referred) await deposit(member)
    const nets = new Map<string, bigint>()
    const seed = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0
    const random = dice(seed)
    let runs = 0
    let sent = 0
    for (let round = 0; round < 12; round++) {
      await Promise.all(
        referred.flatMap(({ member }) =>
          Array.from({ length: 1 + random(5) }, async () => {
            const hundredths = random(5) === 0 ? null : random(36)
            const made = await run(member, `cost-${hundredths ?? "none"}`)
            expect(made.status).toBe("succeeded")
            const net = netOf(dollars(made.billing.charged), hundredths)
            nets.set(member.org_id, (nets.get(member.org_id) ?? 0n) + net)
            runs += 1
          })
        )
      )
      // Two processes, twice each, at the same time.
      const counts = await Promise.all([accrue(app), accrue(other), accrue(app), accrue(other)])
      sent += counts.reduce((sum, one) => sum + one, 0)
    }
    let entries = 0
    for (const [at, referrer] of referrers.entries()) {
      const mine = referred.filter(({ by }) => by === at)
      const earned = mine.map(({ member }) => shareOf(nets.get(member.org_id) ?? 0n))
      const seen = await program(referrer)
      const credited = micros(seen.earnings.credited)
      const pending = micros(seen.earnings.pending)
      expect(credited + pending).toBe(earned.reduce((sum, one) => sum + one, 0n))
      expect(pending < 10_000n * BigInt(mine.length)).toBe(true)
      const items: ReadonlyArray<{ organization: string; earned: string }> = seen.referred.items
      expect(items.map((one) => micros(one.earned)).sort()).toEqual([...earned].sort())
      expect(await arrived(referrer, credited)).toBe(credited)
      const posted = await shares(referrer)
      entries += posted.length
      expect(seen.credits.map((one: { reference: string }) => one.reference).sort()).toEqual(
        posted.map(({ reference }) => reference).sort()
      )
      expect(posted.every(({ type, amount }) => type === "bonus" && micros(amount) >= 10_000n)).toBe(true)
    }
    expect(entries).toBe(sent)
    expect(sent).toBeGreaterThan(10)
    // Counted again, also by both at once, there is nothing left to credit.
    expect(await Promise.all([accrue(app), accrue(other), accrue(other)])).toEqual([0, 0, 0])
    const net = [...nets.values()].reduce((sum, one) => sum + one, 0n)
    figures("T64 referral: shares", { seed, runs, entries, net: usd(net) })
  })

  test("a credit that is sent again is entered once", async () => {
    const referrer = await join(null)
    const member = await join(referrer.code)
    await deposit(member)
    // The first ones may cost more: the test before reported costs above the rate.
    let net = 0n
    for (let i = 0; i < 12; i++) net += micros((await run(member, "cost-0")).billing.charged)
    expect(await accrue()).toBe(1)
    const due = shareOf(net)
    await arrived(referrer, due)
    const [entry] = await shares(referrer)
    const reference = entry?.reference ?? ""
    const { org_id } = referrer
    const payload = encodeCredit({ type: "bonus", amount: MicroUsd(due), reference, note: "again" })
    const asking = Context.get(app.context, CommandClient)
    for (let i = 0; i < 3; i++)
      await Effect.runPromise(asking.ask({ org_id, run_id: null, tag: "Credit", payload, command_id: reference }))
    expect(await shares(referrer)).toEqual(entry === undefined ? [] : [entry])
  })

  test("revenue that was taken back is no revenue: the share goes, and comes again when it is paid", async () => {
    const referrer = await join(null)
    const member = await join(referrer.code)
    const intent = await deposit(member, "10.00")
    for (let i = 0; i < 20; i++) await run(member, "cost-0")
    const share = shareOf(20n * 3_000n)
    await accrue()
    await arrived(referrer, share)
    // The referrer spends all of it.
    for (let i = 0; i < Number(share / 3_000n); i++) expect((await run(referrer, "cost-0")).status).toBe("succeeded")
    await refund(member, intent)
    expect(await wallet(member)).toMatchObject({ balance: "-0.06", available: "-0.06" })
    await Promise.all([accrue(app), accrue(other)])
    await arrived(referrer, 0n)
    expect((await shares(referrer)).map(({ type, amount }) => [type, micros(amount)])).toEqual(
      [
        ["refund", -share],
        ["bonus", share]
      ].toReversed()
    )
    expect((await program(referrer)).earnings).toMatchObject({ credited: "0.00", pending: "0.00" })
    const left = micros((await wallet(referrer)).available)
    expect(left < 0n).toBe(true)
    const refused = await run(referrer, "cost-0")
    expect([refused.status, refused.error.code]).toEqual(["failed", "insufficient_balance"])
    await deposit(member, "10.00")
    await accrue()
    await arrived(referrer, share)
    expect(micros((await wallet(referrer)).available)).toBe(left + share)
    figures("T64 referral: clawback", { share: usd(share) })
  })

  test("the welcome bonus comes once, goes with its deposit, and a circle of deposits and refunds makes no money", async () => {
    const referrer = await join(null)
    const member = await join(referrer.code)
    const bonuses = async () => (await credits(member)).filter(({ reference }) => reference.startsWith("ref_"))
    const first = await deposit(member, "10.00")
    expect((await bonuses()).map(({ type, amount }) => [type, amount])).toEqual([["bonus", "0.1105"]])
    expect((await program(member)).referred_by.bonus_state).toBe("granted")
    await deposit(member, "10.00")
    expect(await bonuses()).toHaveLength(1)
    const reversal = await refund(member, first, 1)
    expect((await bonuses()).map(({ amount }) => amount)).toEqual(["0.1105", "-0.1105"])
    expect((await program(referrer)).referred.items[0].bonus).toBe("revoked")
    // The refund did not go through after all.
    const from = stripe.events.length
    stripe.failRefund(reversal)
    await deliver(from)
    await balanceIs(member, (balance) => balance === 20_110_500n)
    expect((await bonuses()).map(({ amount }) => amount)).toEqual(["0.1105", "-0.1105", "0.1105"])
    let gained = 0n
    for (let i = 0; i < 3; i++) {
      const before = micros((await wallet(member)).balance)
      await refund(member, await deposit(member, "10.00"))
      gained += micros((await wallet(member)).balance) - before
    }
    expect(gained).toBe(0n)
    await refund(member, first)
    expect((await wallet(member)).balance).toBe("10.00")
    expect(await accrue()).toBe(0)
    figures("T64 referral: bonus", { gained_by_circles: usd(MicroUsd(gained)) })
  })

  test("only runs of the referred organization count, and only until the end", async () => {
    const [a, stranger] = [await join(null), await join(null)]
    const b = await join(a.code)
    const c = await join(b.code)
    for (const one of [b, c, stranger]) await deposit(one)
    await Promise.all(Array.from({ length: 10 }, () => Promise.all([run(c, "cost-0"), run(stranger, "cost-0")])))
    await accrue()
    // B earns of C. A earns nothing of C, nor of what B was given; B's own share is no revenue either.
    await arrived(b, shareOf(30_000n))
    await accrue()
    expect((await program(a)).earnings).toMatchObject({ credited: "0.00", pending: "0.00", referred_count: 1 })
    // A referral whose time is over from the start.
    const brief = await startApp({ beside: app, settings: { ...settings(), RUNGATE_REFERRAL_MONTHS: "0" } })
    try {
      const late = await join(a.code, brief)
      await deposit(late)
      await Promise.all(Array.from({ length: 10 }, () => run(late, "cost-0")))
    } finally {
      await brief.stop()
    }
    // One that ends in between: the stranger's ten runs of before count, those of after do not.
    const ends = `INSERT INTO referrals (referral_id, referred_org, referrer_org, deposit_min, deposit_bonus, share_bps, ends_at)
      VALUES ('ref_between', $1, $2, 0, 0, $3, now())`
    await app.sql(ends, [stranger.org_id, a.org_id, Number(shareBps)])
    await Promise.all(Array.from({ length: 10 }, () => run(stranger, "cost-0")))
    await accrue()
    await arrived(a, shareOf(30_000n))
    expect((await program(a)).earnings).toMatchObject({ credited: usd(shareOf(30_000n)), referred_count: 3 })
    figures("T64 referral: window", { counted: 10, after_the_end: 20, of_others: 10 })
  })
})
