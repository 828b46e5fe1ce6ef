/**
 * Money that is taken back while a wallet is in use: runs in flight end as they would have, the wallet owes what is missing, only what is free
 * runs until somebody pays, and the books add up at every point.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test"
import { figures, type Tenant } from "../kit/app.ts"
import { type Desk, moved, openDesk } from "../layers/payments/cashdesk.ts"
import { answer, fixture, type Played } from "../layers/providers/stage.ts"
import { hasten, standIn } from "../layers/providers/standin.ts"

let desk: Desk
const there = standIn()
const unhasten = hasten()
beforeAll(async () => {
  desk = await openDesk({ settings: there.settings })
})
afterAll(async () => {
  await desk.stop()
  await there.stop()
  unhasten()
})
beforeEach(() => there.forget())
afterEach(() => desk.books())

/** Holds $1.008, and costs $0.336 for the one person that is found. */
const search = {
  capability: "people.search",
  input: { titles: ["Founder"], limit: 3 },
  routing: { provider: "peopledatalabs" }
}
const found = fixture("peopledatalabs", "person_search")
const nobody = fixture("peopledatalabs", "person_search.404", 404)
const free = {
  provider: "usaspending",
  endpoint: "/api/v2/awards/last_updated/",
  input: {}
}
const runFree = (org: Tenant) => {
  there.play("usaspending", answer(200, { last_updated: "11/20/2026" }))
  return org.post("/v1/run", free)
}
const tellBack = async (org: Tenant, intent: string, from: number) => {
  for (const [index, event] of desk.about(intent).slice(from).entries()) await desk.tell(event, index)
  await desk.applied(org)
}

test("spent money that is refunded is owed: what costs is refused and says so, what is free runs, a top-up heals it", async () => {
  const { org, intent } = await desk.paid("10.00")
  there.play("peopledatalabs", found)
  expect((await org.run(search)).body.billing.charged).toBe("0.336")
  const heard = desk.about(intent).length
  desk.stripe.refund(intent)
  await tellBack(org, intent, heard)
  expect(await org.wallet()).toMatchObject({ balance: "-0.336", reserved: "0.00", available: "-0.336" })
  const refused = await org.run(search)
  expect([refused.status, refused.body.error]).toEqual([
    402,
    {
      code: "insufficient_balance",
      message: expect.stringMatching(/\$0\.336 is owed after a refund or a dispute.*checkout/)
    }
  ])
  expect((await runFree(org)).body).toMatchObject({ status: "succeeded", billing: { charged: "0.00" } })
  await desk.books()
  await desk.paid("10.00", org)
  expect((await org.wallet()).available).toBe("9.664")
  there.play("peopledatalabs", found)
  expect((await org.run(search)).status).toBe(200)
  expect(await moved(org)).toEqual([
    ...["topup 10.00", "reserve -1.008", "settle -0.336", "release 0.672", "refund -10.00"],
    ...["topup 10.00", "reserve -1.008", "settle -0.336", "release 0.672"]
  ])
})

test("a dispute while runs are in flight: one is charged, one finds nothing, one fails, and the rest is owed", async () => {
  const { org, intent } = await desk.paid("10.00")
  const gates = [found, nobody, answer(500, "oops")].map((played) => ({ played, ...Promise.withResolvers<Played>() }))
  there.play(
    "peopledatalabs",
    ...gates.map(
      ({ promise }) =>
        () =>
          promise
    )
  )
  const runs: Array<string> = []
  while (runs.length < gates.length) runs.push((await org.run({ ...search, async: true })).body.run_id)
  const heard = desk.about(intent).length
  const dispute = desk.stripe.dispute(intent)
  await tellBack(org, intent, heard)
  expect(await org.wallet()).toMatchObject({ balance: "0.00", reserved: "3.024", available: "-3.024" })
  await desk.books()
  expect((await org.run(search)).body.error).toMatchObject({
    code: "insufficient_balance",
    message: expect.stringContaining("$3.024 is owed")
  })
  for (const { played, resolve } of gates) resolve(played)
  const ended = await Promise.all(runs.map((run_id) => org.get(`/v1/runs/${run_id}?wait=20`)))
  expect(ended.map(({ body }) => body.status).sort()).toEqual(["failed", "no_match", "succeeded"])
  expect(await org.wallet()).toMatchObject({ balance: "-0.336", reserved: "0.00", available: "-0.336" })
  await desk.books()
  // The bank gives it back in the end.
  const before = desk.about(intent).length
  desk.stripe.closeDispute(dispute, "won")
  await tellBack(org, intent, before)
  expect(await org.wallet()).toMatchObject({ balance: "9.664", reserved: "0.00" })
  const refunds = (await org.ledger()).filter(({ type }) => type === "refund")
  expect(refunds.map(({ amount, reference }) => [amount, reference])).toEqual([
    ["10.00", `${dispute}:returned`],
    ["-10.00", dispute]
  ])
})

test("refunds race with admissions and settlements over two processes, and every equation holds", async () => {
  const { org, intent } = await desk.paid("25.00")
  there.play("peopledatalabs", ...Array.from({ length: 40 }, (_, index) => (index % 3 === 0 ? nobody : found)))
  const heard = desk.about(intent).length
  for (let part = 0; part < 10; part++) desk.stripe.refund(intent, 250)
  const back = desk.about(intent).slice(heard)
  const [answers] = await Promise.all([
    Promise.all(Array.from({ length: 40 }, (_, index) => org.over(desk.apps[index % 2 === 0 ? 0 : 1]).run(search))),
    Promise.all(back.map((event, index) => desk.tell(event, index)))
  ])
  await desk.applied(org)
  expect(answers.filter(({ status }) => ![200, 402, 404].includes(status)).map(({ text }) => text)).toEqual([])
  const charged = answers.filter(({ body }) => body.status === "succeeded").length
  const { balance, reserved } = await org.wallet()
  expect([Number(balance), reserved]).toEqual([Number((-0.336 * charged).toFixed(6)), "0.00"])
  const clawed = (await org.ledger()).filter(({ type }) => type === "refund")
  expect(clawed.map(({ amount }) => amount)).toEqual(Array.from({ length: 10 }, () => "-2.50"))
  figures("clawback under load", {
    runs: answers.length,
    admitted: answers.filter(({ status }) => status !== 402).length,
    charged,
    clawbacks: clawed.length,
    events: back.length
  })
})

test("two payments of one organization: each is refunded for itself, and no more than itself", async () => {
  const first = await desk.paid("10.00")
  const { org } = first
  const second = await desk.paid("15.00", org)
  const from = [first, second].map(({ intent }) => desk.about(intent).length)
  desk.stripe.refund(first.intent)
  desk.stripe.dispute(first.intent)
  desk.stripe.refund(second.intent, 500)
  await tellBack(org, second.intent, from[1] ?? 0)
  await tellBack(org, first.intent, from[0] ?? 0)
  expect((await org.wallet()).balance).toBe("10.00")
  expect(await desk.payment(first.payment_id)).toMatchObject({ clawed_back: "10000000" })
  expect(await desk.payment(second.payment_id)).toMatchObject({ clawed_back: "5000000" })
})
