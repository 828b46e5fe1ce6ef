import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { porkbun } from "../../../src/layers/providers/porkbun.ts"
import { answer, offerOf, type Played, post, runId, stage } from "./stage.ts"

// Nobody waits ten seconds between two answers of a stage.
const play = stage({ ...porkbun, spacingMillis: 0 })
const examples = join(import.meta.dir, "..", "..", "fixtures", "payloads", "porkbun")
const example = (name: string, status = 200): Played =>
  answer(status, readFileSync(join(examples, `${name}.response.json`), "utf8"))
const available = example("check_domain.available")
const quote = (response: object) =>
  answer(200, { status: "SUCCESS", response: { avail: "yes", premium: "no", ...response } })

describe("porkbun domain.check", () => {
  const input = { domain: "Example.com" }

  test("a name that is free", async () => {
    const { asked, outcome } = await play("domain.check", input, available)
    expect(asked).toEqual([expect.objectContaining(post("/api/json/v3/domain/checkDomain/example.com", {}))])
    // Two secrets in two headers, told apart by a colon.
    expect(Object.keys(asked[0]?.headers ?? {})).toEqual(expect.arrayContaining(["x-api-key", "x-secret-api-key"]))
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        domain: "example.com",
        available: true,
        premium: false,
        price: "9.73",
        renewal_price: "12.34",
        currency: "USD",
        min_years: 1
      }
    })
  })

  test("a name that is taken", async () => {
    const { outcome } = await play("domain.check", input, example("check_domain.taken"))
    expect(outcome).toMatchObject({
      _tag: "Match",
      output: { available: false, renewal_price: "11.82", min_years: null }
    })
  })

  const failures = [
    [example("check_domain.invalid", 400), "provider_rejected"],
    [example("error.auth", 400), "provider_account"],
    [example("error.auth"), "provider_account"],
    [answer(400, { status: "ERROR", message: "1 out of 1 checks within 10 seconds used." }), "provider_rate_limited"],
    [answer(200, { status: "ERROR", message: "Something else" }), "provider_error"],
    [answer(500, "oops"), "provider_error"],
    [answer(200, { status: "SUCCESS", response: { avail: "maybe" } }), "invalid_response"]
  ] as const
  for (const [played, reason] of failures) {
    test(`${played.status} ${played.body.slice(0, 70)} is ${reason}`, async () => {
      const { outcome } = await play("domain.check", input, played)
      expect(outcome).toMatchObject({ _tag: "Failure", reason })
    })
  }
})

describe("porkbun domain.register", () => {
  const input = { domain: "example.com", max_price: "9.73", agree_to_terms: true }

  test("quotes, then orders at the quote, keyed by the run", async () => {
    const { asked, outcomes, outcome, kept } = await play("domain.register", input, available, example("domain_create"))
    expect(asked.map(({ path, body }) => ({ path, body }))).toEqual([
      { path: "/api/json/v3/domain/checkDomain/example.com", body: {} },
      { path: "/api/json/v3/domain/create/example.com", body: { cost: 973, agreeToTerms: "yes" } }
    ])
    expect(asked[1]?.headers["idempotency-key"]).toBe(runId)
    expect(outcomes[0]).toMatchObject({ _tag: "Again", job: false })
    expect(kept).toEqual([])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        domain: "example.com",
        registered: true,
        years: 1,
        order_id: "123456",
        price_paid: "9.73",
        expires_at: null
      },
      cost: { unit: "USD", amount: "9.73" }
    })
  })

  const refusals = [
    [input, example("check_domain.taken"), "the name is taken"],
    [{ ...input, max_price: "9.72" }, available, "the registrar asks for 9.73, more than max_price"],
    [{ ...input, max_price: "500" }, quote({ price: "11.09" }), "the registrar asks for 11.09 a year"],
    [{ ...input, max_price: "5000" }, quote({ price: "8.00", premium: "yes" }), "premium names are not registered"],
    [input, quote({ price: "8.00", minDuration: 2 }), "names of this ending are registered for 2 years at once"]
  ] as const
  for (const [given, played, detail] of refusals) {
    test(`orders nothing: ${detail}`, async () => {
      const { asked, outcome } = await play("domain.register", given, played)
      expect(outcome).toMatchObject({ _tag: "NoMatch", detail: expect.stringContaining(detail) })
      expect(asked).toHaveLength(1)
    })
  }

  test("orders nothing when the quote can't be read", async () => {
    for (const played of [quote({}), quote({ price: "1,299.00" }), answer(200, {}), answer(200, "<html>")]) {
      const { asked, outcome } = await play("domain.register", input, played)
      expect(outcome).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
      expect(asked).toHaveLength(1)
    }
  })

  const failures = [
    [answer(400, { status: "ERROR", code: "INSUFFICIENT_FUNDS", message: "Add funds" }), "provider_account"],
    [answer(400, { status: "ERROR", code: "COST_MISMATCH", message: "The price is another" }), "provider_error"],
    [answer(502, "<html>"), "provider_error"],
    [answer(200, {}), "invalid_response"]
  ] as const
  for (const [played, reason] of failures) {
    test(`an order that ends with ${played.status} ${played.body.slice(0, 40)} is ${reason}, and placed once`, async () => {
      const { asked, outcome } = await play("domain.register", input, available, played)
      expect(outcome).toMatchObject({ _tag: "Failure", reason })
      expect(asked).toHaveLength(2)
    })
  }

  test("registers for one year only", () => {
    const { serves } = offerOf(porkbun, "domain.register")
    expect(serves(input)).toBe(true)
    expect(serves({ ...input, years: 1 })).toBe(true)
    expect(serves({ ...input, years: 2 })).toBe(false)
  })
})
