/**
 * What live answers of July and August 2026 have beyond the vendors' documents (third-party captures), and the vendors' prices of then.
 * The answers here have the same names and nesting, and invented values.
 */
import { describe, expect, test } from "bun:test"
import { apollo } from "../../../src/layers/providers/apollo/index.ts"
import { crustdata } from "../../../src/layers/providers/crustdata/index.ts"
import { exa } from "../../../src/layers/providers/exa.ts"
import { findymail } from "../../../src/layers/providers/findymail.ts"
import { firecrawl } from "../../../src/layers/providers/firecrawl.ts"
import { hunter } from "../../../src/layers/providers/hunter.ts"
import { icypeas } from "../../../src/layers/providers/icypeas.ts"
import { leadmagic } from "../../../src/layers/providers/leadmagic/index.ts"
import { peopledatalabs } from "../../../src/layers/providers/peopledatalabs.ts"
import { scrapecreators } from "../../../src/layers/providers/scrapecreators/index.ts"
import type { Provider } from "../../../src/schema/catalog/Provider.ts"
import { inCredits } from "../../../src/schema/money/Rates.ts"
import { answer, offerOf, stage } from "./stage.ts"

describe("the price of a credit is that of the smallest published plan", () => {
  const credits: ReadonlyArray<[Provider, string]> = [
    // $49.99 for 2,000
    [leadmagic, "0.025"],
    // $99 for 5,000
    [findymail, "0.0198"],
    // $19 for 1,000
    [icypeas, "0.019"],
    // $19 for 5,000
    [firecrawl, "0.0038"],
    // $65 for 2,500
    [apollo, "0.026"],
    // $0.28 and $0.10 for all premium fields
    [peopledatalabs, "0.38"]
  ]
  for (const [provider, credit] of credits) {
    test(`${provider.title}: $${credit}`, () => expect(provider.credit).toBe(credit))
  }
})

describe("Hunter", () => {
  const play = stage(hunter)

  test.each([
    ["email.find", "1"],
    ["email.verify", "0.5"],
    ["people.enrich", "0.2"],
    ["company.enrich", "0.2"],
    ["company.tech", "0.2"]
  ])("%s takes %s credits", (capability, credits) => {
    expect(offerOf(hunter, capability).rate).toEqual(inCredits.flat(credits))
  })

  test("an address that it can't verify costs the operator nothing", async () => {
    const verify = (status: string) =>
      play("email.verify", { email: "jane@example.com" }, answer(200, { data: { status, email: "jane@example.com" } }))
    expect((await verify("unknown")).outcome).toMatchObject({ _tag: "Match", cost: { unit: "credit", amount: "0" } })
    expect((await verify("valid")).outcome).not.toHaveProperty("cost")
  })

  test.each([
    ["10K-50K", "10000-50000", null],
    ["1.5K-5K", "1500-5000", null],
    ["100K+", "100000+", null],
    ["51-200", "51-200", null],
    [42, null, 42],
    ["42", null, 42]
  ])("employees as %p", async (employees, employee_range, employee_count) => {
    const data = { name: "Acme", domain: "acme.example", metrics: { employees } }
    const { outcome } = await play("company.enrich", { domain: "acme.example" }, answer(200, { data }))
    expect(outcome).toMatchObject({ _tag: "Match", output: { employee_range, employee_count } })
  })
})

describe("Findymail", () => {
  const play = stage(findymail)

  test.each([[{}], [[]], [""], [null]])("an empty contact, %p, is a miss", async (contact) => {
    const input = { full_name: "Jane Doe", company_domain: "example.com" }
    expect((await play("email.find", input, answer(200, { contact }))).outcome).toMatchObject({ _tag: "NoMatch" })
  })
})

describe("Exa people.search", () => {
  const play = stage(exa)
  const search = async (...people: ReadonlyArray<unknown>) => {
    const results = people.map((properties, index) => ({
      id: `p${index}`,
      title: "Jane Doe | Head of Sales at Acme | LinkedIn",
      url: "https://profiles.example.com/jane",
      entities: [{ id: "e1", type: "person", version: 1, properties }]
    }))
    const { outcome } = await play("people.search", { name: "Jane Doe" }, answer(200, { results }))
    return outcome
  }

  test("reads name, place and current position from the entity", async () => {
    const past = {
      title: "Clerk",
      location: "Austin, TX",
      dates: { from: "2015-01-01", to: "2019-01-01" },
      company: { id: "c0", name: "Bolt" }
    }
    const now = {
      title: "VP Sales",
      location: "Boston, MA",
      dates: { from: "2019-02-01", to: null },
      company: { id: "c1", name: "Acme" }
    }
    const named = { name: "Jane Q. Doe", firstName: "Jane", lastName: "Doe" }
    expect(await search({ ...named, location: "San Francisco, CA", workHistory: [past, now] })).toMatchObject({
      _tag: "Match",
      output: {
        items: [
          {
            full_name: "Jane Q. Doe",
            first_name: "Jane",
            last_name: "Doe",
            headline: "Head of Sales at Acme",
            title: "VP Sales",
            company_name: "Acme",
            location: { city: "San Francisco", region: "CA", country: null }
          }
        ]
      }
    })
  })

  test("reads the place that is certain, and the page's title without an entity", async () => {
    const outcome = await search(
      { name: "A", location: "Boston, Massachusetts, United States", workHistory: [] },
      { name: "B", location: "Paris, France", workHistory: null },
      { location: "Germany" }
    )
    expect(outcome).toMatchObject({
      output: {
        items: [
          { title: null, location: { city: "Boston", region: "Massachusetts", country: "United States" } },
          { location: { city: "Paris", region: null, country: null } },
          { full_name: "Jane Doe", location: null, company_name: null }
        ]
      }
    })
  })

  test("its price is called measured only where an answer with its cost was seen", () => {
    const verified = exa.offers.filter((one) => one.verified).map((one) => one.capability)
    expect(verified).toEqual(["web.search"])
  })
})

test("Crustdata: managers are both levels that have the word", () => {
  const { body } = offerOf(crustdata, "people.search").request({ seniorities: ["Manager", "vp"] }, { run_id: "run_1" })
  expect(JSON.stringify(body)).toContain('["Entry Level Manager","Experienced Manager","Vice President"]')
})

describe("ScrapeCreators social.profile", () => {
  const play = stage(scrapecreators)

  test("reads Instagram's counts in the format of its app", async () => {
    const user = {
      username: "jane",
      full_name: "Jane Doe",
      follower_count: 12,
      following_count: 3,
      media_count: 4,
      is_verified: false,
      hd_profile_pic_url_info: { url: "https://i.example/hd.jpg" },
      profile_pic_url: "https://i.example/small.jpg",
      category: "Artist"
    }
    const input = { platform: "instagram", handle: "jane" }
    expect((await play("social.profile", input, answer(200, { success: true, data: { user } }))).outcome).toMatchObject(
      {
        output: {
          followers: 12,
          following: 3,
          posts_count: 4,
          avatar_url: "https://i.example/hd.jpg",
          category: "Artist"
        }
      }
    )
  })

  test("reads X's name, handle and picture beside `legacy`", async () => {
    const body = {
      success: true,
      core: { name: "Jane Doe", screen_name: "jane" },
      avatar: { image_url: "https://i.example/x.jpg" },
      is_blue_verified: true,
      legacy: { followers_count: 5 }
    }
    const input = { platform: "x", handle: "jane" }
    expect((await play("social.profile", input, answer(200, body))).outcome).toMatchObject({
      output: {
        handle: "jane",
        name: "Jane Doe",
        followers: 5,
        verified: true,
        avatar_url: "https://i.example/x.jpg",
        url: "https://x.com/jane"
      }
    })
  })
})
