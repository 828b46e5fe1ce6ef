/**
 * Holds follow the input: for generated requests the hold is at least what the provider's own documentation says they cost.
 *
 * Shown three times: for random drivers against a second implementation, for well-known endpoints of the shipped catalog
 * against documented prices, and for every driver that ships against hostile values.
 */
import { afterAll, describe, expect, test } from "bun:test"
import { Effect } from "effect"
import * as fc from "fast-check"
import { compileEndpoint } from "../../../src/layers/catalog/input/EndpointInput.ts"
import { shipped } from "../../../src/layers/catalog/Endpoints.ts"
import { callCost } from "../../../src/schema/catalog/CallCost.ts"
import type { CostDriver } from "../../../src/schema/catalog/CostDriver.ts"
import { type Endpoint, endpointKey, type ProviderDocument } from "../../../src/schema/catalog/Endpoint.ts"
import { dollars, MicroUsd, usd } from "../../../src/schema/money/Money.ts"
import { planRaw, type RawDecision } from "../../../src/schema/runs/RawPlan.ts"
import { figures } from "../../kit/app.ts"
import { endpointOf } from "../../kit/provider-documents.ts"
import { documented } from "../../reliability/documented-costs.ts"

const catalog = await Effect.runPromise(shipped)
const unpricedMin = dollars("0.10")

interface Place {
  readonly document: ProviderDocument
  readonly endpoint: Endpoint
  readonly plan: (input: unknown, max_cost?: string) => RawDecision
}
const places: ReadonlyArray<Place> = catalog.flatMap((document) =>
  document.endpoints.map((endpoint) => {
    const checks = compileEndpoint(endpoint, document.definitions)
    const { path = {}, query = {} } = endpoint.example
    return {
      document,
      endpoint,
      plan: (input, max_cost) => {
        const asked = { path, query: endpoint.method === "GET" ? {} : query, input }
        return planRaw(endpoint, false, checks, asked, {
          max_cost: max_cost === undefined ? null : dollars(max_cost),
          unpricedMin
        })
      }
    }
  })
)
const placeOf = (provider: string, key: string) =>
  places.find((one) => one.document.provider === provider && endpointKey(one.endpoint) === key) ??
  expect.unreachable(`${provider} has no ${key}`)

/** What a decision holds and estimates, in billionths of a USD. */
const nanosOf = (decision: RawDecision) => {
  if (decision._tag === "Refused") return expect.unreachable(JSON.stringify(decision.issues))
  const { estimate } = decision.raw
  return { hold: Number(decision.hold) * 1_000, estimate: estimate === null ? null : Number(dollars(estimate)) * 1_000 }
}

describe("random drivers, against a second implementation", () => {
  /** One list, one number, one switch and one choice, each with a price or as a factor, in billionths of a USD. */
  const price = fc.integer({ min: 0, max: 2_000_000 })
  const cards = fc.record({
    base: price,
    limit: fc.record({
      price,
      per: fc.integer({ min: 1, max: 20 }),
      included: fc.integer({ min: 0, max: 20 }),
      usual: fc.integer({ min: 1, max: 50 })
    }),
    pages: fc.option(fc.integer({ min: 1, max: 20 })),
    urls: price,
    rendered: price,
    depths: fc.record({ basic: fc.integer({ min: 1, max: 5 }), advanced: fc.integer({ min: 1, max: 5 }) })
  })
  type Card = typeof cards extends fc.Arbitrary<infer A> ? A : never
  const amount = (nanos: number) => (nanos / 1e9).toFixed(9)
  const driversOf = (card: Card): ReadonlyArray<CostDriver> => [
    {
      field: "limit",
      counts: "number",
      price: amount(card.limit.price),
      per: card.limit.per,
      included: card.limit.included,
      default: card.limit.usual,
      max: 100_000
    },
    ...(card.pages === null
      ? []
      : [
          { field: "options.pages", counts: "number" as const, multiplies: true as const, per: card.pages, default: 1 }
        ]),
    { field: "urls", counts: "items", price: amount(card.urls), default: 0 },
    { field: "rendered", counts: "presence", price: amount(card.rendered) },
    {
      field: "depth",
      counts: "number",
      times: { basic: String(card.depths.basic), advanced: String(card.depths.advanced) }
    }
  ]
  const inputs = fc.record(
    {
      limit: fc.integer({ min: 1, max: 100_000 }),
      options: fc.record({ pages: fc.integer({ min: 1, max: 1_000 }) }),
      urls: fc.array(fc.constant("https://example.com"), { maxLength: 30 }),
      rendered: fc.boolean(),
      depth: fc.constantFrom("basic", "advanced", "other")
    },
    { requiredKeys: [] }
  )
  type Input = typeof inputs extends fc.Arbitrary<infer A> ? A : never
  const nanosOfTask = (card: Card, { limit, options, urls = [], rendered, depth }: Input) => {
    const beyond = Math.max(0, (limit ?? card.limit.usual) - card.limit.included)
    const sum =
      card.base +
      Math.ceil(beyond / card.limit.per) * card.limit.price +
      urls.length * card.urls +
      (rendered === true ? card.rendered : 0)
    const factor = card.pages === null ? 1 : Math.ceil((options?.pages ?? 1) / card.pages)
    return BigInt(sum) * BigInt(factor) * BigInt(depth === "basic" || depth === "advanced" ? card.depths[depth] : 1)
  }
  const endpoint = (card: Card) => ({
    ...endpointOf({ path: "/crawl", method: "POST", body_type: "task", body: {} }),
    price: { base: amount(card.base), drivers: driversOf(card) }
  })

  test("estimate is the documented sum of all tasks, rounded up once", () => {
    fc.assert(
      fc.property(cards, fc.array(inputs, { minLength: 1, maxLength: 5 }), (card, tasks) => {
        const nanos = tasks.reduce((total, task) => total + nanosOfTask(card, task), 0n)
        // A call above a million dollars is refused.
        fc.pre(nanos <= 1_000_000n * 1_000_000_000n)
        const { estimate, issues } = callCost(endpoint(card), { path: {}, query: {}, input: tasks })
        expect(issues).toEqual([])
        const micros = (nanos + 999n) / 1_000n
        // Nothing of a paid endpoint is free: it costs its smallest price at least.
        const paid = [card.base, card.limit.price, card.urls, card.rendered].filter((one) => one > 0)
        const least = paid.length === 0 ? 0n : (BigInt(Math.min(...paid)) + 999n) / 1_000n
        expect(estimate).toBe(MicroUsd(micros > least ? micros : least))
      }),
      { numRuns: 1_000 }
    )
  })

  test("numbers in text count as numbers, and no spelling of a field or a value is cheaper", () => {
    fc.assert(
      fc.property(cards, inputs, (card, input) => {
        const cost = (value: unknown) => callCost(endpoint(card), { path: {}, query: {}, input: value })
        const plain = cost(input).estimate ?? 0n
        const { limit, depth } = input
        if (limit !== undefined) {
          for (const text of [`${limit}`, ` ${limit} `, `${limit}.0`, `+${limit}`, `${limit}e0`, `0${limit}`])
            expect(cost({ ...input, limit: text })).toEqual({ estimate: cost(input).estimate, issues: [] })
          const { limit: _, ...rest } = input
          for (const name of ["Limit", "LIMIT", "limit[]", "li_mit", "ＬＩＭＩＴ", "limit\u0000"]) {
            expect(cost({ ...rest, [name]: limit }).issues.map((issue) => issue.path)).toEqual([`input.${name}`])
          }
        }
        if (depth !== undefined)
          expect((cost({ ...input, depth: depth.toUpperCase() }).estimate ?? 0n) >= plain).toBe(true)
      }),
      { numRuns: 300 }
    )
  })
})

describe("what can't be counted is refused at its field", () => {
  const drivers: ReadonlyArray<CostDriver> = [{ field: "limit", counts: "number", price: "0.001", max: 1_000 }]
  const endpoint = { ...endpointOf({ path: "/x", method: "POST", body: {} }), price: { base: "0", drivers } }
  const issues = (input: unknown) => callCost(endpoint, { path: {}, query: {}, input }).issues
  const hostile: ReadonlyArray<unknown> = [
    "1e9",
    "1001",
    1_001,
    1e308,
    Number.POSITIVE_INFINITY,
    Number.NaN,
    -1,
    "-1",
    "0x10",
    "1_0",
    "10 20",
    "ten",
    "",
    "١٠",
    true,
    false,
    [10],
    ["10"],
    {},
    { $gt: 1 },
    0,
    "0",
    "1e-3",
    "9".repeat(400),
    null,
    undefined
  ]
  test.each(hostile.map((value) => [value]))("%p as a count without a default", (limit) => {
    expect(issues({ limit }).map((issue) => issue.path)).toEqual(["input.limit"])
  })
  test("names of a prototype are no values", () => {
    const field = (name: string) => ({
      ...endpoint,
      price: { base: "0", drivers: [{ field: name, counts: "number" as const, price: "1" }] }
    })
    for (const name of ["constructor", "__proto__", "toString", "hasOwnProperty"]) {
      const { issues: found } = callCost(field(name), { path: {}, query: {}, input: {} })
      expect(found).toEqual([{ path: `input.${name}`, message: "is required: it determines the price of the call" }])
    }
    const table = {
      ...endpoint,
      price: { base: "1", drivers: [{ field: "mode", counts: "number" as const, times: { fast: "2" } }] }
    }
    expect(callCost(table, { path: {}, query: {}, input: { mode: "constructor" } }).estimate).toBe(dollars("1.00"))
  })
  test("more values than any real request has", () => {
    const each = {
      ...endpoint,
      price: { base: "0", drivers: [{ ...drivers[0], field: "*.limit", counts: "number" as const }] }
    }
    const many = Array.from({ length: 90_000 }, () => ({ limit: 1 }))
    const { issues: found } = callCost(each, { path: {}, query: {}, input: many })
    expect(found).toEqual([{ path: "input", message: "has more values than can be counted" }])
    expect(callCost(each, { path: {}, query: {}, input: many.slice(0, 1_000) }).issues).toEqual([])
  })
  test("a limit that stands where a lenient provider might find it", () => {
    const inside = {
      ...endpoint,
      price: { base: "0", drivers: [{ field: "options.limit", counts: "number" as const, price: "1", default: 1 }] }
    }
    const at = (options: unknown) =>
      callCost(inside, { path: {}, query: {}, input: { options } }).issues.map(({ path }) => path)
    expect(at({ limit: 5 })).toEqual([])
    expect(at(undefined)).toEqual([])
    expect(at([{ limit: 1_000 }])).toEqual(["input.options"])
    expect(at([])).toEqual(["input.options"])
    expect(at('{"limit":1000}')).toEqual(["input.options"])
    expect(at({ LIMIT: 1_000 })).toEqual(["input.options.LIMIT"])
  })
  test("a value in range is taken", () => {
    for (const limit of [1, 1_000, "1000", "1e3", 999.5]) expect(issues({ limit })).toEqual([])
  })
  test("on GET the input and the query are one, and a field is named where it was written", () => {
    const get = { ...endpoint, method: "GET" as const }
    const at = (query: Record<string, unknown>, input: unknown) =>
      callCost(get, { path: {}, query, input }).issues[0]?.path
    expect(at({ limit: 5_000 }, {})).toBe("query.limit")
    expect(at({}, { limit: 5_000 })).toBe("input.limit")
    expect(at({}, { limit: ["1", "5000"] })).toBe("input.limit")
    expect(at({}, {})).toBe("input.limit")
    expect(at({}, { limit: "10" })).toBeUndefined()
  })
})

/** Prices follow the input where manifests name drivers. */
const described = catalog.some((document) => document.endpoints.some((endpoint) => endpoint.price !== undefined))

describe.skipIf(!described)("documented costs of well-known endpoints", () => {
  const found: Record<string, number> = {}
  test.each(documented.map((one) => [`${one.provider} ${one.endpoint}`, one] as const))("%s", (name, one) => {
    const place = placeOf(one.provider, one.endpoint)
    fc.assert(
      fc.property(one.input, (input) => {
        const nanos = one.nanos(input)
        const { hold, estimate } = nanosOf(place.plan(input))
        expect([input, hold >= nanos]).toEqual([input, true])
        // The smallest cap covers it as well, with the platform's rate.
        expect([input, (estimate ?? 0) * 5 >= nanos * 6]).toEqual([input, true])
      }),
      { numRuns: 200 }
    )
    found[name] = 200
  })

  test("a crawl of a million pages holds what it costs, and a cap of nothing starts none", () => {
    const place = placeOf("dataforseo", "POST /v3/on_page/task_post")
    const crawl = [{ target: "example.com", max_crawl_pages: 1_000_000 }]
    expect(nanosOf(place.plan(crawl)).hold).toBeGreaterThanOrEqual(125e9)
    const refused = place.plan(crawl, "1.00")
    expect(refused._tag).toBe("Refused")
    if (refused._tag === "Refused") expect(refused.issues[0]?.message).toMatch(/must be at least \d{3}\./)
  })

  afterAll(() => {
    figures("T08 hold.documented_cost", {
      endpoints: documented.length,
      inputs: Object.values(found).reduce((a, b) => a + b, 0)
    })
  })
})

describe("every driver that ships", () => {
  const simple = places.flatMap((place) =>
    (place.endpoint.price?.drivers ?? [])
      .filter((driver) => /^[^.*]+$/.test(driver.field) && driver.if === undefined)
      .map((driver) => ({ place, driver }))
  )
  const counting = simple.filter(
    ({ driver }) => driver.counts === "number" && driver.values === undefined && driver.times === undefined
  )

  test("refuses what no provider means as a count, and more than its maximum", () => {
    let tried = 0
    for (const { place, driver } of counting) {
      const { query, input = {} } = place.endpoint.example
      const example = place.endpoint.method === "GET" ? (query ?? {}) : input
      if (typeof example !== "object" || Array.isArray(example)) continue
      const hostile = [
        "1e12",
        -1,
        "0x10",
        [1, 2],
        {},
        "many",
        ...(driver.max === undefined ? [] : [driver.max + 1, String(driver.max + 1)])
      ]
      for (const value of hostile) {
        const decision = place.plan({ ...example, [driver.field]: value })
        // Without a maximum a large count is priced, and needs a wallet that holds it.
        const priced = decision._tag === "Planned" && driver.max === undefined && value === "1e12"
        expect([place.document.provider, endpointKey(place.endpoint), driver.field, value, decision._tag]).toEqual([
          place.document.provider,
          endpointKey(place.endpoint),
          driver.field,
          value,
          priced ? "Planned" : "Refused"
        ])
        tried += 1
      }
    }
    figures("raw.drivers", { drivers: simple.length, counting: counting.length, tried })
  })

  test("a greater count never costs less", () => {
    for (const { place, driver } of counting) {
      const { query, input = {} } = place.endpoint.example
      const example = place.endpoint.method === "GET" ? (query ?? {}) : input
      if (typeof example !== "object" || Array.isArray(example)) continue
      const estimates = [1, 2, 10, driver.max ?? 100]
        .filter((count) => count <= (driver.max ?? 100))
        .flatMap((count) => {
          const decision = place.plan({ ...example, [driver.field]: count })
          return decision._tag === "Planned" ? [Number(dollars(decision.raw.estimate ?? "0.00"))] : []
        })
      expect(estimates).toEqual([...estimates].sort((a, b) => a - b))
    }
  })

  test("every paid example costs something, and its estimate is a cap that would do", () => {
    for (const { endpoint, plan, document } of places) {
      if (endpoint.cost.model === "free" || endpoint.body_type === "actor_input") continue
      const { query, input = {} } = endpoint.example
      const example = endpoint.method === "GET" ? (query ?? {}) : input
      const name = `${document.provider} ${endpointKey(endpoint)}`
      const decision = plan(example)
      if (decision._tag === "Refused") return expect.unreachable(`${name} ${JSON.stringify(decision.issues)}`)
      expect([name, decision.hold > 0n]).toEqual([name, true])
      const least = decision.raw.estimate ?? usd(unpricedMin)
      expect([name, plan(example, least)._tag]).toEqual([name, "Planned"])
      expect([name, plan(example, "0.00")._tag]).toEqual([name, "Refused"])
    }
  })
})
