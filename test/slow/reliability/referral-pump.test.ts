/**
 * The referral pump: people with several mailboxes who deposit for the bonus alone. In production with the default terms, over a local Stripe:
 * three mailboxes took $45 for $30 once.
 */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test"
import { dollars } from "../../../src/schema/money/Money.ts"
import { type App, figures, startApp, until } from "../../kit/app.ts"
import { type LocalStripe, startStripe } from "../../layers/payments/standin.ts"

let app: App
let stripe: LocalStripe
beforeAll(async () => {
  stripe = await startStripe({ live: true })
  const open = { RUNGATE_MODE: "production", RUNGATE_SIGN_UP: "open", RUNGATE_EMAIL_VERIFICATION: "off" }
  app = await startApp({ settings: { ...stripe.settings, ...open, RUNGATE_RECONCILE_SECONDS: "86400" } })
})
afterAll(async () => {
  await app.stop()
  await stripe.stop()
})
afterEach(async () => {
  await app.books()
})

let people = 0
const join = async (referral_code: string | null): Promise<string> => {
  people += 1
  const body = { email: `person${people}@example.com`, password: "correct horse battery", organization: "One person" }
  const signed = await app.call(null, "POST", "/v1/auth/sign-up", { body: { ...body, referral_code } })
  expect(signed.status).toBe(200)
  return signed.body.session_token
}
const program = async (token: string) => (await app.call(token, "GET", "/v1/referrals")).body
const balance = async (token: string): Promise<string> => (await app.call(token, "GET", "/v1/wallet")).body.balance

/** Pays at the checkout, and answers the event that says so, undelivered. */
const pay = async (token: string, fingerprint: string, amount = "10.00") => {
  const { body } = await app.call(token, "POST", "/v1/wallet/topups/checkout", { body: { amount } })
  stripe.pay(body.session_id, { fingerprint })
  return stripe.events.find(({ type, data }) => type.endsWith("completed") && data.object.id === body.session_id)!
}
const deliver = (event: Awaited<ReturnType<typeof pay>>) => stripe.deliver(`${app.url}/v1/webhooks/stripe`, event)
const deposit = async (token: string, fingerprint: string, amount = "10.00") => {
  const before = await balance(token)
  expect((await deliver(await pay(token, fingerprint, amount))).status).toBe(200)
  await until(
    "the deposit",
    () => balance(token),
    (now) => now !== before
  )
}
const total = async (tokens: ReadonlyArray<string>) =>
  (await Promise.all(tokens.map(balance))).reduce((sum, one) => sum + dollars(one), 0n)

test("three mailboxes with three cards: what they get is less than what their deposits earn", async () => {
  const { code } = await program(await join(null))
  const tokens = [await join(code), await join(code), await join(code)]
  for (const [at, token] of tokens.entries()) await deposit(token, `fp_three_${at}`)
  const got = (await total(tokens)) - dollars("30.00")
  // The bonus is there, with its deposit.
  expect(got).toBe(dollars("3.00"))
  // A sixth of all that can be spent is the platform's, and a tenth of that the referrer's.
  const kept = ((dollars("30.00") + got) * 9n) / 60n
  expect(got < kept).toBe(true)
  figures("T64 referral: pump", { mailboxes: 3, paid: "30.00", credited: "33.00", kept: String(kept) })
})

test("three mailboxes with one card: one bonus; the others get theirs with a card of their own", async () => {
  const { code } = await program(await join(null))
  const tokens = [await join(code), await join(code), await join(code)]
  for (const token of tokens) await deposit(token, "fp_one")
  expect(await total(tokens)).toBe(dollars("31.00"))
  const states = await Promise.all(tokens.map(async (token) => (await program(token)).referred_by.bonus_state))
  expect(states).toEqual(["granted", "pending", "pending"])
  await deposit(tokens[1]!, "fp_another")
  expect([await balance(tokens[1]!), (await program(tokens[1]!)).referred_by.bonus_state]).toEqual(["21.00", "granted"])
})

test("all at once with one card, over several lanes: one bonus", async () => {
  const { code } = await program(await join(null))
  const tokens = await Promise.all(Array.from({ length: 8 }, () => join(code)))
  const events = await Promise.all(tokens.map((token) => pay(token, "fp_race")))
  await Promise.all(events.map(deliver))
  await until(
    "all deposits",
    () => Promise.all(tokens.map(balance)),
    (found) => found.every((one) => one !== "0.00"),
    30
  )
  expect(await total(tokens)).toBe(dollars("81.00"))
  const rows = await app.sql("SELECT 1 FROM referrals WHERE bonus_card = 'fp_race'")
  expect(rows).toHaveLength(1)
})

test("a card that the processor can't name yet is asked for again; the deposit loses nothing", async () => {
  const token = await join((await program(await join(null))).code)
  const event = await pay(token, "fp_later")
  const fault = stripe.fault({ on: /^GET \/v1\/payment_intents/, how: 503, times: 2 })
  expect((await deliver(event)).status).toBe(503)
  fault.lift()
  expect(await balance(token)).toBe("0.00")
  expect((await deliver(event)).status).toBe(200)
  await until(
    "the deposit with its bonus",
    () => balance(token),
    (now) => now === "11.00"
  )
})

test("whoever was not referred pays without anybody asking for the card", async () => {
  const token = await join(null)
  const before = stripe.calls.length
  await deposit(token, "fp_alone")
  expect(stripe.calls.slice(before).filter(({ method }) => method === "GET")).toEqual([])
  expect(await balance(token)).toBe("10.00")
})

test("the database refuses what the service would: a second bonus of a card, a bonus above what its deposit earns", async () => {
  const [a, b] = [await app.tenant(), await app.tenant()]
  const write = (id: string, referred: string, bonus: string) =>
    app.sql(
      `INSERT INTO referrals (referral_id, referred_org, referrer_org, deposit_min, deposit_bonus, share_bps, ends_at, bonus_card)
       VALUES ($1, $2, $3, 10000000, $4, 1000, now(), 'fp_written')`,
      [id, referred, referred === a.org_id ? b.org_id : a.org_id, bonus]
    )
  await expect(write("ref_a", a.org_id, "1500001")).rejects.toThrow("referral_bonus_is_earned")
  await write("ref_a", a.org_id, "1500000")
  await expect(write("ref_b", b.org_id, "1000000")).rejects.toThrow("referrals_bonus_card_key")
})
