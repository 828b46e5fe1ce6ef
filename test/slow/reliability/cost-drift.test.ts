/**
 * The drift sentinel: an offer that costs more than its rate loses `verified`, is quoted, held and charged by what it cost, is told to the
 * operator, and comes back when it fits again. No report of a provider, however absurd, stops a run.
 */
import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import fc from "fast-check"
import { measuredOf } from "../../../src/schema/catalog/Measured.ts"
import { isDrift, raisedPrice } from "../../../src/schema/money/Drift.ts"
import { dollars, MicroUsd, usd } from "../../../src/schema/money/Money.ts"
import { anyDemand, flat, metered, priceMax } from "../../../src/schema/money/Pricing.ts"
import { CostDrifts, fitsToClear } from "../../../src/layers/executor/CostDrifts.ts"
import { Settings } from "../../../src/layers/platform/Settings.ts"
import { Storage } from "../../../src/layers/Storage.ts"
import { startApp, type Tenant, until, withApp } from "../../kit/app.ts"
import { standIn } from "../../layers/providers/standin.ts"

const there = standIn()
const settings = { ...there.settings, RUNGATE_PROVIDER_LEADMAGIC_CREDIT_USD: "0.01" }
let org: Tenant
const app = withApp({ settings })
afterAll(async () => {
  await there.stop()
})
beforeEach(async () => {
  there.forget()
  org = await app.tenant("100.00")
  await app.sql("DELETE FROM cost_drifts")
})
afterEach(async () => {
  await app.books()
})

const find = {
  capability: "email.find",
  input: { first_name: "Ada", last_name: "Lovelace", company_domain: "example.com" },
  routing: { provider: "leadmagic" }
}
/** A delivering call that consumed so many credits, as the provider says: one, by its rate. */
const call = async (credits_consumed: unknown, tenant = org, max_cost?: string) => {
  const body = JSON.stringify({ email: "ada@example.com", status: "valid" }).replace(
    "}",
    `,"credits_consumed":${credits_consumed}}`
  )
  there.play("leadmagic", { status: 200, body })
  return (await tenant.run({ ...find, routing: { ...find.routing, ...(max_cost === undefined ? {} : { max_cost }) } }))
    .body
}
const shown = async (tenant = org) => {
  const { body } = await tenant.post("/v1/inspect", { capability: "email.find" })
  const found = body.offers.find((one: { provider: string }) => one.provider === "leadmagic")
  return { price: found.price.amount, note: found.price.note }
}
const warnings = () => app.logs.filter((line) => line.includes("a call cost $"))

test("a cost above the rate raises quote, hold and charge, is told, survives a restart, and ends when five calls fit", async () => {
  expect((await call(1)).billing).toMatchObject({ quoted: "0.012", charged: "0.012" })
  expect((await shown()).price).toBe("0.012")
  // It was admitted with the old price, and costs three times as much.
  const first = await call(3)
  expect(first.billing).toMatchObject({ quoted: "0.012", charged: "0.012" })
  expect(warnings().at(-1)).toContain(
    `leadmagic email.find: a call cost $0.03, and its rate says $0.01 (${first.run_id})`
  )
  expect(await shown()).toEqual({ price: "0.036", note: expect.stringContaining("priced by what they cost") })
  expect(await app.metrics()).toContain('rungate_cost_drift_ratio{provider="leadmagic",capability="email.find"} 3.000')
  expect((await call(3)).billing).toMatchObject({ quoted: "0.036", charged: "0.036" })
  const refused = await call(3, org, "0.02")
  expect(refused.error.code).toBe("provider_not_available")
  // A smaller drift does not lower the price. Another process, started later, has the same.
  await call(2)
  const later = await startApp({ beside: app, role: "http", settings: { ...settings, RUNGATE_HEALTH_SECONDS: "1" } })
  try {
    expect((await shown(org.over(later))).price).toBe("0.036")
    for (let count = 1; count < fitsToClear; count++)
      expect((await call(1, org.over(later))).billing).toMatchObject({ charged: "0.036" })
    expect((await shown(org.over(later))).price).toBe("0.036")
    await call(1, org.over(later))
    expect((await shown()).price).toBe("0.012")
    await until(
      "the other process's price",
      () => shown(org.over(later)),
      ({ price }) => price === "0.012",
      20
    )
  } finally {
    await later.stop()
  }
  expect(await app.sql("SELECT * FROM cost_drifts")).toEqual([])
})

test("a verified offer is verified again only when it fits", async () => {
  const search = async (total: number) => {
    const results = [{ title: "A", url: "https://example.com/a" }]
    there.play("exa", { status: 200, body: JSON.stringify({ results, costDollars: { total } }) })
    return await org.run({ capability: "web.search", input: { query: "x" }, routing: { provider: "exa" } })
  }
  const verified = async () => {
    const { body } = await org.post("/v1/inspect", { capability: "web.search" })
    return body.offers.find((one: { provider: string }) => one.provider === "exa").verified
  }
  expect(await verified()).toBe(true)
  await search(0.05)
  expect(await verified()).toBe(false)
  for (let count = 0; count < fitsToClear; count++) await search(0.007)
  expect(await verified()).toBe(true)
})

test("a raw endpoint: inspect, quote, hold and the smallest cap follow what a call cost", async () => {
  const endpoint = "/v1/people/email-finder"
  const input = { first_name: "Ada", last_name: "Lovelace", domain: "example.com" }
  const raw = async (credits_consumed: number, max_cost?: string) => {
    there.play("leadmagic", { status: 200, body: JSON.stringify({ email: "ada@example.com", credits_consumed }) })
    const routing = max_cost === undefined ? {} : { routing: { max_cost } }
    return (await org.run({ provider: "leadmagic", endpoint, input, ...routing })).body
  }
  const estimate = async () => (await org.post("/v1/inspect", { provider: "leadmagic", endpoint })).body.cost.estimate
  expect((await raw(1)).billing).toMatchObject({ quoted: "0.012", charged: "0.012" })
  // The hold of the first one clips it: a loss.
  expect((await raw(3)).billing).toMatchObject({ quoted: "0.012", charged: "0.018" })
  expect(await estimate()).toBe("0.036")
  expect((await raw(3)).billing).toMatchObject({ quoted: "0.036", charged: "0.036" })
  expect((await raw(3, "0.03")).error.details[0]).toMatchObject({
    path: "routing.max_cost",
    message: expect.stringContaining("must be at least 0.036")
  })
  for (let count = 0; count < fitsToClear; count++) expect((await raw(1)).billing).toMatchObject({ charged: "0.012" })
  expect(await estimate()).toBe("0.012")
})

test("one call that does not fit begins the count again", async () => {
  await call(2)
  for (let count = 1; count < fitsToClear; count++) await call(1)
  await call(2)
  for (let count = 1; count < fitsToClear; count++) await call(1)
  expect((await shown()).price).toBe("0.024")
  await call(1)
  expect((await shown()).price).toBe("0.012")
})

test("every process sees it", async () => {
  const other = await startApp({ beside: app, role: "http", settings: { ...settings, RUNGATE_HEALTH_SECONDS: "1" } })
  try {
    await call(2)
    await until(
      "the other process's price",
      () => shown(org.over(other)),
      ({ price }) => price === "0.024",
      20
    )
  } finally {
    await other.stop()
  }
})

test("many who read the drifts at once share two readings", async () => {
  let readings = 0
  const counting = Layer.effect(
    SqlClient.SqlClient,
    Effect.map(
      SqlClient.SqlClient,
      (sql) =>
        new Proxy(sql, {
          apply: (target, self, values) => {
            if (String(values[0]).includes("FROM cost_drifts ORDER BY")) readings += 1
            return Reflect.apply(target, self, values)
          }
        })
    )
  )
  const layer = CostDrifts.layer.pipe(
    Layer.provide(counting),
    Layer.provide(Storage),
    Layer.provide(Settings.layerFrom({ ...app.settings, RUNGATE_HEALTH_SECONDS: "0" }))
  )
  await Effect.runPromise(
    Effect.gen(function* () {
      const drifts = yield* CostDrifts
      readings = 0
      yield* Effect.all(
        Array.from({ length: 30 }, () => drifts.refresh),
        { concurrency: "unbounded" }
      )
    }).pipe(Effect.provide(layer))
  )
  expect(readings).toBe(2)
})

test("a cost below the rate, none and a rounding are no drift", async () => {
  for (const credits of [1, 0, 0.2, 1.04, "null", '"1"']) await call(credits)
  expect((await shown()).price).toBe("0.012")
  expect(await app.sql("SELECT * FROM cost_drifts")).toEqual([])
})

test("absurd costs stop nothing: each run ends, is charged its quote at most, and the next ones are no dearer than a hundred times", async () => {
  for (const credits of [
    "1e30",
    "-5",
    "-1e300",
    '"NaN"',
    '"Infinity"',
    "999999999",
    "123456789012345678901234567890",
    '"1e9"',
    "{}",
    "[1]"
  ]) {
    const { status, billing } = await call(credits)
    expect([credits, status]).toEqual([credits, "succeeded"])
    expect(Number(billing.charged)).toBeLessThanOrEqual(Number(billing.quoted))
    expect(Number(billing.quoted)).toBeLessThanOrEqual(1.2)
  }
  expect((await shown()).price).toBe("1.20")
  const [row] = await app.sql("SELECT measured <= 1000000000000 AS fits FROM cost_drifts")
  expect(row).toEqual({ fits: true })
})

describe("the rule", () => {
  const amounts = fc.bigInt({ min: 0n, max: 10n ** 12n }).map(MicroUsd)

  test("a raised price covers the cost with the markup, up to a hundred times the rate", () => {
    fc.assert(
      fc.property(amounts, amounts, (expected, measured) => {
        if (!isDrift({ expected, measured })) return
        const price = flat(usd(MicroUsd(expected + expected / 5n + 1n)))
        const raised = raisedPrice(price, { expected, measured }, { markup: "1.2" })
        const believed = expected === 0n || measured < expected * 100n ? measured : expected * 100n
        expect(priceMax(raised, anyDemand) * 10n >= believed * 12n).toBe(true)
        expect(priceMax(raised, anyDemand) >= priceMax(price, anyDemand)).toBe(true)
      })
    )
    const raised = raisedPrice(
      metered("0.01", "0.001", 10),
      { expected: dollars("0.02"), measured: dollars("0.03") },
      { markup: "1.2" }
    )
    expect(priceMax(raised, anyDemand)).toBe(dollars("0.03"))
  })

  test("a reported cost is at most a million dollars, and nothing else is read as one", () => {
    expect(usd(measuredOf({ unit: "credit", amount: "999999999999" }, "100") ?? 0n)).toBe("1000000.00")
    for (const amount of ["1e30", "-1", "NaN", "Infinity", "", "1.2.3"])
      expect(measuredOf({ unit: "USD", amount }, null)).toBeNull()
  })
})

test("the database takes no drift that is none", async () => {
  const insert =
    "INSERT INTO cost_drifts (provider, capability, run_id, expected, measured) VALUES ('x', 'y', 'run_x', $1, $2)"
  for (const [expected, measured] of [
    [10, 10],
    [10, 9],
    [-1, 5],
    [1, 10 ** 13]
  ])
    await expect(app.sql(insert, [expected, measured])).rejects.toThrow(/drift_is_one|cost_drifts_expected_check/)
})
