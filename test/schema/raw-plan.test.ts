import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import type { Endpoint } from "../../src/schema/catalog/Endpoint.ts"
import { dollars, usd } from "../../src/schema/money/Money.ts"
import { capOf as lowerCap } from "../../src/schema/runs/RawHold.ts"
import { type Checks, placeholdersOf, planRaw, type RawRequest } from "../../src/schema/runs/RawPlan.ts"
import { figures } from "../kit/app.ts"

const open: Checks = { path: () => [], query: () => [], input: () => [] }
const object = { type: "object", properties: {} }

const endpoint = (change: Partial<Endpoint> = {}): Endpoint => ({
  method: "GET",
  path: "/v1/companies/{domain}/people/{id}",
  title: "People",
  description: "",
  tags: [],
  body_type: "json",
  path_params: object,
  query_params: object,
  body: null,
  encoding: "json",
  example: {},
  cost: { model: "per_call", estimate: "0.02", note: null },
  cap_min: null,
  reported: null,
  deprecated: false,
  ...change
})

const cost = (estimate: string): Endpoint["cost"] => ({ model: "per_call", estimate, note: null })

const asked = (change: Partial<RawRequest> = {}): RawRequest => ({
  path: { domain: "a.com", id: 7 },
  query: {},
  input: {},
  ...change
})
const unpricedMin = dollars("0.10")
const capOf = (max_cost: string | null) => ({ max_cost: max_cost === null ? null : dollars(max_cost), unpricedMin })
const planned = (one: Endpoint, request: RawRequest, max_cost: string | null = null, free = false) => {
  const decision = planRaw(one, free, open, request, capOf(max_cost))
  return decision._tag === "Planned" ? decision : expect.unreachable(JSON.stringify(decision.issues))
}
const paths = (one: Endpoint, request: RawRequest, checks = open, max_cost: string | null = null) => {
  const decision = planRaw(one, false, checks, request, capOf(max_cost))
  return decision._tag === "Refused" ? decision.issues.map((issue) => issue.path) : []
}

describe("T59 raw.path_injection", () => {
  const hostile = [
    "..",
    ".",
    "%2e%2e",
    "%2E.",
    ".%2e",
    "..%2f",
    "../..",
    "a/../b",
    "..;/",
    "..;x",
    "\\..\\",
    "..\\",
    "%5c..%5c",
    "a%2f..%2fb",
    "%252e%252e",
    "%25252e%25252e",
    "./x",
    "x/.",
    "/..",
    "..%00",
    "\u0000",
    "\t",
    "a\nb",
    "\r\nHost: evil",
    "",
    "\ud800"
  ]
  const tame = [
    "//evil",
    "@evil",
    "?a=b",
    "#x",
    "a;b",
    "a b",
    "a&b=c",
    "ü",
    "。。",
    "․․",
    "a..b",
    "...",
    "x.json",
    "~",
    "%41",
    "{id}",
    "https://evil/",
    "a:b",
    ":80",
    "\u2025"
  ]

  test("what would climb, vanish or break the request line is refused by its name", () => {
    for (const value of hostile)
      expect([value, paths(endpoint(), asked({ path: { domain: value, id: 1 } }))]).toEqual([value, ["path.domain"]])
  })

  test("everything else fills its own segment and no other", () => {
    for (const value of tame) {
      const { raw } = planned(endpoint(), asked({ path: { domain: value, id: 1 } }))
      const url = new URL(`https://provider.example/base${raw.path}?k=v`)
      expect(url.origin).toBe("https://provider.example")
      expect(url.search).toBe("?k=v")
      const segments = url.pathname.split("/")
      expect(segments.length).toBe(7)
      expect([segments[1], segments[2], segments[3], segments[5], segments[6]]).toEqual([
        "base",
        "v1",
        "companies",
        "people",
        "1"
      ])
      expect(decodeURIComponent(segments[4] ?? "")).toBe(value)
    }
    figures("T59 raw.path_injection", { hostile: hostile.length, tame: tame.length, escapes: 0 })
  })

  test("no text at all gets out of its place", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom(...hostile, ...tame)), (value) => {
        const decision = planRaw(endpoint(), false, open, asked({ path: { domain: value, id: 1 } }), capOf(null))
        if (decision._tag === "Refused") return
        const url = new URL(`https://provider.example${decision.raw.path}`)
        expect([url.origin, url.pathname.split("/").length, url.search, url.hash]).toEqual([
          "https://provider.example",
          6,
          "",
          ""
        ])
      }),
      { numRuns: 2_000 }
    )
  })
})

describe("what a raw request must be", () => {
  const issuesOf = (one: Endpoint, request: RawRequest, checks = open) => {
    const decision = planRaw(one, false, checks, request, capOf(null))
    return decision._tag === "Refused" ? decision.issues.map(({ path, message }) => `${path} ${message}`) : []
  }
  const filled = (value: unknown) => asked({ path: { domain: value, id: 1 } })

  test("a path value is text, a number or a boolean of up to 4,000 characters", () => {
    expect(planned(endpoint(), asked({ path: { domain: true, id: 0 } })).raw.path).toBe("/v1/companies/true/people/0")
    expect(planned(endpoint(), filled("x".repeat(4_000))).raw.path).toContain("x".repeat(4_000))
    expect(issuesOf(endpoint(), filled("x".repeat(4_001)))).toEqual([
      "path.domain must not be longer than 4000 characters"
    ])
    expect(issuesOf(endpoint(), filled(null))).toEqual(["path.domain is required"])
    expect(issuesOf(endpoint(), filled(["a"]))).toEqual(["path.domain must be text or a number"])
    expect(issuesOf(endpoint({ path: "/{constructor}" }), asked({ path: {} }))).toEqual([
      "path.constructor is required"
    ])
  })

  test("no control character is in a path value, or in a query beside tabs and line ends", () => {
    const path = (value: string) => issuesOf(endpoint(), filled(value))
    for (const control of ["\u0001", "\u001f", "\u007f", "a\tb", "%0a", "%1F", "%7f", "%250d", "%252500"])
      expect([control, path(control)]).toEqual([control, ["path.domain must not contain control characters"]])
    for (const fine of [" ", "~", "\u0080", "%20", "%2e0a", "%8f"]) expect([fine, path(fine)]).toEqual([fine, []])
    const query = (values: Record<string, unknown>) => issuesOf(endpoint(), asked({ query: values }))
    expect(planned(endpoint(), asked({ query: { q: "a\tb\r\nc" } })).raw.query).toEqual([["q", "a\tb\r\nc"]])
    expect(query({ q: "a\u0000" })).toEqual(["query.q must be text without control characters"])
    expect(query({ "a\u001f": "b" })).toHaveLength(1)
    expect(query({ q: ["a", "b\u007f"] })).toHaveLength(1)
    expect(issuesOf(endpoint(), asked({ input: { q: "a\u0000" } }))).toEqual([
      "input.q must be text without control characters"
    ])
  })

  test("a query has numbers and booleans as text, objects as JSON, and no value that is null", () => {
    expect(
      planned(endpoint(), asked({ query: { n: 0, on: false, f: { a: 1 }, list: [1, { b: 2 }], gone: null } })).raw.query
    ).toEqual([
      ["n", "0"],
      ["on", "false"],
      ["f", '{"a":1}'],
      ["list", "1"],
      ["list", '{"b":2}']
    ])
  })

  test("a body is not sent as the query as well", () => {
    const post = endpoint({ method: "POST", path: "/search", body: object })
    expect(planned(post, asked({ path: {}, query: { page: 2 }, input: { limit: 3 } })).raw.query).toEqual([
      ["page", "2"]
    ])
  })

  test("a name that is no placeholder suggests one that is not given", () => {
    expect(placeholdersOf("/v1/{a}/x/{b_c}")).toEqual(["a", "b_c"])
    expect(placeholdersOf("/v1")).toEqual([])
    expect(issuesOf(endpoint(), asked({ path: { domian: "a.com", id: 1 } }))).toEqual([
      "path.domian is not a placeholder of this endpoint. Did you mean `domain`?",
      "path.domain is required"
    ])
    expect(issuesOf(endpoint(), asked({ path: { domain: "a.com", domian: "a.com", id: 1 } }))).toEqual([
      "path.domian is not a placeholder of this endpoint"
    ])
  })

  test("a path has one issue, the first, and a refusal has at most 20", () => {
    const checks: Checks = {
      ...open,
      path: () => [
        { path: "domain", message: "must be a domain" },
        { path: "other", message: "is of no placeholder" }
      ]
    }
    expect(issuesOf(endpoint(), asked({ path: { id: 1 } }), checks)).toEqual(["path.domain must be a domain"])
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`wrong${n}`, 1]))
    const twenty = issuesOf(endpoint(), asked({ path: { ...many, domain: "a.com", id: 1 } }))
    expect([twenty.length, twenty[0], twenty[19]]).toEqual([
      20,
      "path.wrong0 is not a placeholder of this endpoint",
      "path.wrong19 is not a placeholder of this endpoint"
    ])
    const long: Checks = {
      ...open,
      query: () => Array.from({ length: 30 }, (_, n) => ({ path: `q${n}`, message: "is required" }))
    }
    expect(issuesOf(endpoint(), asked(), long)).toHaveLength(20)
  })

  test("an issue of the whole query or the whole body names it", () => {
    const whole = () => [{ path: "", message: "must have a member" }]
    expect(paths(endpoint(), asked(), { ...open, query: whole })).toEqual(["input"])
    const post = endpoint({ method: "POST", path: "/search", body: object })
    expect(paths(post, asked({ path: {} }), { ...open, query: whole, input: whole })).toEqual(["query", "input"])
  })

  test("the plan keeps how the endpoint is called, and only an actor's path is not filled", () => {
    const makes = [{ kind: "job" as const, at: "id" }]
    const post = endpoint({ method: "POST", path: "/jobs", origin: "https://jobs.example", resources: { makes } })
    const { raw } = planned({ ...post, encoding: "form" }, asked({ path: {} }))
    expect(raw).toEqual({
      ...{ method: "POST", endpoint: "/jobs", origin: "https://jobs.example", path: "/jobs", query: [] },
      ...{ body_type: "json", encoding: "form", has_body: false, hold: "0.03", estimate: "0.02", makes }
    })
    const plain = planned(endpoint({ resources: {} }), asked()).raw
    expect([plain.path, "origin" in plain, "makes" in plain]).toEqual(["/v1/companies/a.com/people/7", false, false])
    const actor = endpoint({ method: "POST", path: "a/{b}", body_type: "actor_input" })
    const called = planned(actor, asked({ path: { b: "x" }, input: { any: 1 } })).raw
    expect([called.path, called.has_body]).toEqual(["a/{b}", true])
    expect(issuesOf({ ...actor, path: "a/b" }, asked({ path: {}, input: [1] }))).toEqual(["input must be an object"])
  })

  test("a name that is twice in one object is refused where the price depends on the body", () => {
    const post = endpoint({ method: "POST", path: "/search", body: object })
    const price: NonNullable<Endpoint["price"]> = { base: "0.01", drivers: [] }
    const twice = asked({ path: {}, input: { limit: 9 }, input_text: '{"limit": 1, "limit": 9}' })
    expect(issuesOf({ ...post, price }, twice)).toEqual(["input.limit must not be given twice in one object"])
    expect(issuesOf(post, twice)).toEqual([])
    expect(issuesOf(endpoint({ path: "/search", price }), twice)).toEqual([])
    expect(issuesOf({ ...post, price }, asked({ path: {}, input: { limit: 9 } }))).toEqual([])
  })

  test("every placeholder once, and nothing else", () => {
    expect(paths(endpoint(), asked({ path: {} }))).toEqual(["path.domain", "path.id"])
    expect(paths(endpoint(), asked({ path: { domain: "a.com", id: 1, extra: 1 } }))).toEqual(["path.extra"])
    expect(paths(endpoint(), asked({ path: { domain: ["a"], id: {} } }))).toEqual(["path.domain", "path.id"])
  })

  test("on GET the input is the query, and a name is given once", () => {
    const { raw } = planned(
      endpoint(),
      asked({ input: { limit: 3, tags: ["a", "b"], none: null }, query: { page: 2 } })
    )
    expect(raw.query).toEqual([
      ["page", "2"],
      ["limit", "3"],
      ["tags", "a"],
      ["tags", "b"]
    ])
    expect(raw.has_body).toBe(false)
    expect(paths(endpoint(), asked({ input: { limit: 3 }, query: { limit: 4 } }))).toEqual(["query.limit"])
    expect(paths(endpoint(), asked({ input: [1] }))).toEqual(["input"])
  })

  test("an issue of the query is named where the caller wrote it", () => {
    const checks: Checks = {
      ...open,
      query: () => [
        { path: "limit", message: "must be <= 10" },
        { path: "page", message: "must be integer" }
      ]
    }
    expect(paths(endpoint(), asked({ input: { limit: 30 }, query: { page: "x" } }), checks)).toEqual([
      "input.limit",
      "query.page"
    ])
  })

  test("a body is for endpoints that take one", () => {
    const post = endpoint({ method: "POST", path: "/search" })
    expect(paths(post, asked({ path: {}, input: { a: 1 } }))).toEqual(["input"])
    expect(planned(post, asked({ path: {}, input: {} })).raw.has_body).toBe(false)
    expect(planned({ ...post, body: object }, asked({ path: {}, input: { a: 1 } })).raw.has_body).toBe(true)
    const checks: Checks = { ...open, input: () => [{ path: "0.keyword", message: "is required" }] }
    expect(paths({ ...post, body_type: "task", body: object }, asked({ path: {}, input: [{}] }), checks)).toEqual([
      "input.0.keyword"
    ])
  })

  test("control characters reach no request", () => {
    expect(paths(endpoint(), asked({ input: { q: "a\u0000b" } }))).toEqual(["input.q"])
    expect(paths(endpoint(), asked({ query: { q: "\ud800" } }))).toEqual(["query.q"])
  })
})

describe("what it may cost", () => {
  const amounts = (one: Endpoint, max_cost: string | null = null, free = false) => {
    const { hold, quoted, raw } = planned(one, asked(), max_cost, free)
    return { hold: usd(hold), quoted: usd(quoted), held: raw.hold, estimate: raw.estimate }
  }

  test("the rate card with headroom, $1.00 without one, nothing for public data; the cap lowers it", () => {
    expect(amounts(endpoint())).toEqual({ hold: "0.03", quoted: "0.02", held: "0.03", estimate: "0.02" })
    expect(amounts(endpoint(), "0.025")).toEqual({ hold: "0.025", quoted: "0.02", held: "0.025", estimate: "0.02" })
    expect(amounts(endpoint(), "0.02").hold).toBe("0.02")
    const unpublished = endpoint({ cost: { model: "unpublished", estimate: null, note: null } })
    expect(amounts(unpublished)).toEqual({ hold: "1.00", quoted: "0.00", held: "1.00", estimate: null })
    expect(amounts(unpublished, "0.25")).toEqual({ hold: "0.25", quoted: "0.00", held: "0.25", estimate: null })
    expect(amounts(endpoint(), null, true)).toEqual({ hold: "0.00", quoted: "0.00", held: "0.00", estimate: "0.00" })
  })

  test("an actor's minimum raises the hold, and a cap below it is refused before any hold", () => {
    const actor = endpoint({ cap_min: "0.50" })
    expect(amounts(actor).hold).toBe("0.50")
    expect(amounts(actor, "0.60").hold).toBe("0.50")
    expect(paths(actor, asked(), open, "0.40")).toEqual(["routing.max_cost"])
  })

  const refusal = (one: Endpoint, max_cost: string, request = asked()) => {
    const decision = planRaw(one, false, open, request, capOf(max_cost))
    return decision._tag === "Refused" ? decision.issues.map(({ path, message }) => `${path} ${message}`) : []
  }

  test("a cap below the estimate is refused, and the refusal names the smallest cap that would do", () => {
    for (const cap of ["0.00", "0.000001", "0.019999"]) {
      expect(refusal(endpoint(), cap)).toEqual([
        "routing.max_cost must be at least 0.02: this call is estimated at $0.02"
      ])
    }
    expect(refusal(endpoint(), "0.02")).toEqual([])
    const tasks = endpoint({ method: "POST", path: "/tasks", body_type: "task", body: object })
    const three = asked({ path: {}, input: [{}, {}, {}] })
    expect(refusal(tasks, "0.05", three)[0]).toContain("at least 0.06")
    expect(refusal(tasks, "0.06", three)).toEqual([])
  })

  test("a request that is wrong has neither a cost nor a smallest cap", () => {
    const perResult = endpoint({
      path: "/search",
      price: { base: "0.01", drivers: [{ field: "limit", counts: "number", price: "0.01" }] }
    })
    const checks: Checks = { ...open, query: () => [{ path: "page", message: "must be integer" }] }
    expect(paths(perResult, asked({ path: {} }))).toEqual(["input.limit"])
    expect(paths(perResult, asked({ path: {}, query: { page: "x" } }), checks, "0.00")).toEqual(["query.page"])
    expect(paths(endpoint(), asked({ path: { id: 1 } }), open, "0.00")).toEqual(["path.domain"])
  })

  test("without published rates the smallest cap is the operator's; public data may have any", () => {
    const unpublished = endpoint({ cost: { model: "unpublished", estimate: null, note: null } })
    expect(refusal(unpublished, "0.099999")[0]).toContain("must be at least 0.10: the provider publishes no rates")
    expect(refusal(unpublished, "0.10")).toEqual([])
    const free = endpoint({ cost: { model: "free", estimate: "0.00", note: null } })
    expect(amounts(free, "0").hold).toBe("0.00")
    expect(amounts(endpoint(), "0", true).hold).toBe("0.00")
  })

  test("max_total caps a call too: the lower of the two, and a refusal names its field", () => {
    const [low, high] = [dollars("0.01"), dollars("0.02")]
    expect(lowerCap(low, high)).toEqual({ max_cost: low, field: "max_cost" })
    expect(lowerCap(high, low)).toEqual({ max_cost: low, field: "max_total" })
    expect(lowerCap(low, low)).toEqual({ max_cost: low, field: "max_cost" })
    expect(lowerCap(null, low)).toEqual({ max_cost: low, field: "max_total" })
    expect(lowerCap(low, null)).toEqual({ max_cost: low, field: "max_cost" })
    expect(lowerCap(null, null)).toEqual({ max_cost: null, field: "max_cost" })
    const decision = planRaw(endpoint(), false, open, asked(), { ...lowerCap(high, low), unpricedMin })
    expect(decision._tag === "Refused" ? decision.issues : []).toEqual([
      { path: "routing.max_total", message: "must be at least 0.02: this call is estimated at $0.02" }
    ])
  })

  test("the marketplace enforces an actor's cap, so it may be below an estimate of ordinary results", () => {
    const actor = endpoint({ path: "a/b", method: "POST", body_type: "actor_input", cost: cost("4.00") })
    const call = asked({ path: {} })
    expect(refusal(actor, "0.00", call)[0]).toEndWith("must be at least 0.10: this service runs no actor with less")
    expect(refusal(actor, "0.10", call)).toEqual([])
    expect(usd(planned(actor, call, "0.10").hold)).toBe("0.10")
    expect(refusal({ ...actor, cost: cost("0.01") }, "0.01", call)).toEqual([])
    expect(refusal({ ...actor, cap_min: "0.50" }, "0.40", call)[0]).toContain("0.50: the actor refuses a lower cap")
  })
})
