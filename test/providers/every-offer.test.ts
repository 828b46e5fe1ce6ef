import { describe, expect, test } from "bun:test"
import { providers } from "../../src/layers/providers/index.ts"
import { capabilities } from "../../src/schema/capabilities/index.ts"
import { priceMax } from "../../src/schema/Pricing.ts"
import type { Offer, Reply } from "../../src/schema/Provider.ts"

const pairs = providers.flatMap((provider) =>
  provider.offers.map((offer) => {
    const capability = capabilities.find((one) => one.slug === offer.capability)
    if (capability === undefined) throw new Error(`${provider.slug} serves the unknown ${offer.capability}`)
    return { provider, offer, capability, name: `${provider.slug} ${offer.capability}` }
  })
)
const reply = (status: number, text: string, headers: Record<string, string> = {}): Reply => {
  try {
    return { status, headers, text, body: JSON.parse(text) }
  } catch {
    return { status, headers, text, body: undefined }
  }
}
/** An input that the offer serves. */
const inputOf = (offer: Offer, example: unknown): unknown => {
  const narrower = [example, { company_domains: ["example.com"] }]
  return narrower.find((input) => offer.serves(input))
}

describe("every offer", () => {
  test("every capability has at least two providers, at different prices", () => {
    for (const capability of capabilities) {
      const prices = pairs
        .filter((pair) => pair.offer.capability === capability.slug)
        .map((pair) => priceMax(pair.offer.price, capability.demand(capability.example)))
      expect(prices.length).toBeGreaterThanOrEqual(2)
      expect(new Set(prices).size).toBe(prices.length)
      expect(prices.every((price) => price > 0n)).toBe(true)
    }
  })

  test("a provider has one offer per capability, and every slug is one", () => {
    expect(new Set(pairs.map((pair) => pair.name)).size).toBe(pairs.length)
    expect(new Set(providers.map((provider) => provider.slug)).size).toBe(providers.length)
    for (const { slug, base_url } of providers) {
      expect(slug).toMatch(/^[a-z0-9_]+$/)
      expect(new URL(base_url).protocol).toBe("https:")
    }
  })

  test("a price that is not measured says where it comes from", () => {
    for (const { offer } of pairs) expect(offer.verified || offer.note !== null).toBe(true)
  })

  for (const { offer, capability, name } of pairs) {
    describe(name, () => {
      const input = inputOf(offer, capability.example)

      test("asks what it says it wraps", () => {
        const call = offer.request(input, { run_id: "run_1" })
        expect(offer.wraps.map(({ method, path }) => `${method} ${path}`)).toContain(`${call.method} ${call.path}`)
      })

      test("refuses to serve what the contract refuses", () => {
        expect(offer.serves({ unheard_of: 1 })).toBe(false)
        expect(() => offer.request({ unheard_of: 1 }, { run_id: "run_1" })).toThrow("unheard_of")
      })

      test("statuses mean the same as everywhere, unless the provider's own test says otherwise", () => {
        const reason = (status: number) => offer.response(reply(status, "{}"), input)
        expect(reason(401)).toMatchObject({ _tag: "Failure", reason: "provider_account" })
        expect(reason(402)).toMatchObject({ _tag: "Failure", reason: "provider_account" })
        for (const status of [301, 400, 404, 405, 410, 418, 500, 502, 503, 504, 599]) {
          expect(reason(status)).toMatchObject({ _tag: "Failure", reason: "provider_error" })
        }
      })

      test("an answer that is not JSON, or is JSON of another kind, is never a match", () => {
        const bodies = [
          "",
          "<html>hello</html>",
          '{"cut": ',
          "null",
          "[]",
          "{}",
          '"text"',
          "7",
          '{"data":[]}',
          '{"data":null}'
        ]
        for (const body of bodies) {
          const outcome = offer.response(reply(200, body), input)
          expect(["NoMatch", "Failure"]).toContain(outcome._tag)
          // A miss may be charged, so nonsense must not read as one where misses are.
          if (capability.billing.bills_no_match) expect(outcome._tag).toBe("Failure")
        }
      })

      test("values of the wrong type become null or a refusal, never a crash", () => {
        for (const value of [null, 0, "x", true, [], {}, [[]], "9".repeat(400)]) {
          const everything = { value, configurable: true, enumerable: true }
          const body = new Proxy({}, { get: () => value, getOwnPropertyDescriptor: () => everything })
          const outcome = offer.response({ status: 200, headers: {}, text: "", body }, input)
          expect(["Match", "NoMatch", "Failure"]).toContain(outcome._tag)
        }
      })
    })
  }

  test("retry-after is read in seconds and as a date", () => {
    const { offer, capability } = pairs.find((pair) => pair.name === "exa web.search") ?? expect.unreachable()
    const wait = (headers: Record<string, string>) => offer.response(reply(429, "{}", headers), capability.example)
    expect(wait({ "retry-after": "3" })).toMatchObject({ retryAfterSeconds: 3 })
    expect(wait({ "retry-after": "0.2" })).toMatchObject({ retryAfterSeconds: 1 })
    const date = { date: "Wed, 21 Oct 2026 07:28:00 GMT", "retry-after": "Wed, 21 Oct 2026 07:28:30 GMT" }
    expect(wait(date)).toMatchObject({ retryAfterSeconds: 30 })
    expect(wait({ "retry-after": "soon" })).not.toHaveProperty("retryAfterSeconds")
    expect(wait({})).not.toHaveProperty("retryAfterSeconds")
  })
})
