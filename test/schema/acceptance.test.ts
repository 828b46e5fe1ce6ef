/** What `accept` takes of an answer, and the equations between what two answers cost and what is held for them. */
import { describe, expect, test } from "bun:test"
import { type Kept, chargeOf, lastResort, nextOf } from "../../src/actors/runs/Delivery.ts"
import { capabilities } from "../../src/schema/capabilities/index.ts"
import { jobsSearch } from "../../src/schema/capabilities/jobs.search.ts"
import { peopleEnrich } from "../../src/schema/capabilities/people.enrich.ts"
import { phoneFind } from "../../src/schema/capabilities/phone.find.ts"
import {
  type Accept,
  accepted,
  acceptIssues,
  acceptOf,
  agreementKey,
  holdOfAnswers
} from "../../src/schema/catalog/Acceptance.ts"
import type { Capability } from "../../src/schema/catalog/Capability.ts"
import { dollars, MicroUsd, sum } from "../../src/schema/money/Money.ts"
import { sampled } from "../kit/input-samples.ts"
import { decodePlan } from "../../src/schema/runs/Plan.ts"

const now = Date.parse("2026-11-26T12:00:00Z")
const taken = ({ acceptable }: Capability<never> | Pick<Capability, "acceptable">, accept: Accept, output: unknown) => {
  const may = acceptable()
  if (may === null) throw new Error("a capability that acts")
  return accepted(accept, may, output, now)
}
const job = (posted_at: string | null, more: object = {}) => ({ title: "Clerk", posted_at, ...more })

describe("an answer", () => {
  test("needs a value in each wanted field; an empty one is none", () => {
    const accept = { fields: ["location.city", "skills"] }
    const person = { location: { city: "Lyon", region: null, country: null }, skills: ["x"] }
    expect(taken(peopleEnrich, accept, person)._tag).toBe("Accepted")
    expect(taken(peopleEnrich, accept, { ...person, skills: [] })).toMatchObject({
      why: "accept refused the answer for its skills"
    })
    expect(taken(peopleEnrich, accept, { ...person, location: null })._tag).toBe("Refused")
    expect(taken(peopleEnrich, { fields: ["email"] }, { email: " " })._tag).toBe("Refused")
  })

  test.each([
    ["mobile", "mobile", true],
    ["CELL_PHONE", "mobile", true],
    ["nonFixedVoip", "voip", true],
    ["nonFixedVoip", "landline", false],
    ["landline", "landline", true],
    ["tollFree", "toll_free", true],
    ["direct dial", "direct", true],
    [null, "mobile", false]
  ] as const)("with a phone of type %p is %p: %p", (words, phone_type, is) => {
    const output = { phone: "+12025550143", phone_type: words, confidence: null }
    expect(taken(phoneFind, { fields: [], phone_type }, output)._tag).toBe(is ? "Accepted" : "Refused")
  })

  test("that is a list keeps the items that are accepted, and is refused without one", () => {
    const items = [job("2026-11-20"), job("3 days ago"), job("2 months ago"), job("soon"), job(null), job("2019-01-01")]
    const fresh = taken(jobsSearch, { fields: [], max_age_days: 7 }, { items, next_cursor: null })
    expect(fresh).toEqual({ _tag: "Accepted", output: { items: items.slice(0, 2), next_cursor: null } })
    expect(taken(jobsSearch, { fields: [], max_age_days: 1 }, { items: items.slice(2) })).toMatchObject({
      why: "accept refused every item of the answer"
    })
    expect(
      taken(jobsSearch, { fields: ["items.url"] }, { items: [job(null, { url: "https://a.co" }), job(null)] })
    ).toEqual({
      _tag: "Accepted",
      output: { items: [job(null, { url: "https://a.co" })] }
    })
  })

  test("agrees with another one by the meaning of the values, not by their spelling", () => {
    const same = (fields: ReadonlyArray<string>, one: object, other: object) =>
      agreementKey({ fields }, one) === agreementKey({ fields }, other)
    expect(same(["email"], { email: "Ada@Example.com" }, { email: "ada@example.com" })).toBe(true)
    expect(same(["phone"], { phone: "+1 202-555-0143" }, { phone: "+12025550143" })).toBe(true)
    expect(same(["full_name"], { full_name: "Zoë  Doe" }, { full_name: "ZOË Doe" })).toBe(true)
    expect(same(["skills"], { skills: ["a", "b"] }, { skills: ["B", "a"] })).toBe(true)
    expect(same(["title"], { title: "CTO" }, { title: "CEO" })).toBe(false)
    expect(same(["email"], { email: "ada@example.com" }, { email: "ada@example.org" })).toBe(false)
  })
})

test("a request that accepts nothing more is no request, and the order of its fields says nothing", () => {
  expect(acceptOf({})).toBeNull()
  expect(acceptOf({ fields: null, agree: null })).toBeNull()
  expect(acceptOf({ fields: ["phone", "email", "phone"] })).toEqual({ fields: ["email", "phone"] })
})

test.each(sampled(capabilities, 6).map((one) => [one.slug, one] as const))(
  "%s says what it takes, and takes that",
  (slug, one) => {
    const acceptable = one.acceptable()
    expect(acceptable === null).toBe(one.side_effect)
    if (acceptable === null) return expect(acceptIssues(slug, { fields: [] }, null)[0]?.path).toBe("accept")
    expect(acceptable.fields.length).toBeGreaterThan(0)
    expect(acceptIssues(slug, { fields: acceptable.fields }, acceptable)).toEqual([])
    expect(acceptIssues(slug, { fields: ["no_such_field"] }, acceptable)).toHaveLength(1)
  }
)

describe("the money of two answers", () => {
  const plan = decodePlan({
    ...{ providers: [], attempts_max: 3, routing: "auto", include_raw: false, side_effect: false, excluded: [] },
    accept: { fields: ["email"], agree: 2 }
  })
  const answer = (at: number, charge: string, provider = `p${at}`): Kept => ({
    at,
    delivered: {
      ...{ status: "succeeded", provider, charge: dollars(charge), rated: null, billed: true, result: "{}" },
      ...{ inconclusive: false, own: false }
    }
  })
  const kept = (at: number, charge: string, agrees: string, provider?: string): Kept => {
    const { delivered } = answer(at, charge, provider)
    return { at, delivered: { ...delivered, agrees } }
  }

  test("the hold covers whichever two of up to three offers agree, and nothing more", () => {
    let seed = 7
    const next = () => (seed = (seed * 48_271) % 2_147_483_647) % 1_000_000
    for (let round = 0; round < 500; round++) {
      const prices = [next(), next(), next()].map((one) => MicroUsd(BigInt(one)))
      const pairs = [
        [0, 1],
        [0, 2],
        [1, 2]
      ].map((pair) => sum(pair.map((n) => prices[n] ?? MicroUsd(0n))))
      const most = pairs.reduce((a, b) => (a > b ? a : b))
      expect(holdOfAnswers(prices, 2)).toBe(most)
      expect(holdOfAnswers(prices, 1)).toBe(prices.reduce((a, b) => (a > b ? a : b)))
    }
  })

  test("two that agree are charged, and never one provider twice", () => {
    const first = kept(0, "0.01", "a")
    expect(nextOf(plan, [], first)._tag).toBe("Waits")
    expect(nextOf(plan, [first], kept(1, "0.02", "b"))._tag).toBe("Waits")
    expect(nextOf(plan, [first], kept(1, "0.02", "a", "p0"))._tag).toBe("Waits")
    const end = nextOf(plan, [first, kept(1, "0.02", "b")], kept(2, "0.04", "a"))
    if (end._tag !== "Ends") throw new Error("two answers agree")
    expect(chargeOf(end.kept, dollars("1.00"))).toBe(dollars("0.05"))
    expect(chargeOf(end.kept, dollars("0.03"))).toBe(dollars("0.03"))
  })

  test("one that stays alone is charged only where a miss is", () => {
    expect(lastResort([kept(0, "0.01", "a")], false)).toBeNull()
    expect(lastResort([kept(0, "0.01", "a"), kept(1, "0.02", "b")], true)).toMatchObject({
      at: 0,
      delivered: { status: "no_match", charge: dollars("0.01") }
    })
  })

  test("an inconclusive answer that is accepted goes before one that was refused", () => {
    const refused: Kept = { at: 0, delivered: { ...answer(0, "0.01").delivered, status: "no_match", refused: true } }
    const unsure: Kept = { at: 1, delivered: { ...answer(1, "0.02").delivered, inconclusive: true } }
    expect(lastResort([refused, unsure], true)).toEqual(unsure)
    expect(lastResort([refused], true)).toEqual(refused)
  })
})
