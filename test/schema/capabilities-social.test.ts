import { describe, expect, test } from "bun:test"
import type { Capability } from "../../src/schema/catalog/Capability.ts"
import { adsSearch } from "../../src/schema/capabilities/ads.search.ts"
import { creativeImage } from "../../src/schema/capabilities/creative.image.ts"
import { creativeVideo } from "../../src/schema/capabilities/creative.video.ts"
import { domainCheck } from "../../src/schema/capabilities/domain.check.ts"
import { domainRegister } from "../../src/schema/capabilities/domain.register.ts"
import { emailInboxCreate } from "../../src/schema/capabilities/email.inbox_create.ts"
import { emailInboxList } from "../../src/schema/capabilities/email.inbox_list.ts"
import { emailMessages } from "../../src/schema/capabilities/email.messages.ts"
import { govContracts } from "../../src/schema/capabilities/gov.contracts.ts"
import { govEntity } from "../../src/schema/capabilities/gov.entity.ts"
import { govFilings } from "../../src/schema/capabilities/gov.filings.ts"
import { networkInvite } from "../../src/schema/capabilities/network.invite.ts"
import { networkMessage } from "../../src/schema/capabilities/network.message.ts"
import { networkProfile } from "../../src/schema/capabilities/network.profile.ts"
import { handleOf } from "../../src/schema/capabilities/posts.ts"
import { socialPosts } from "../../src/schema/capabilities/social.posts.ts"
import { socialProfile } from "../../src/schema/capabilities/social.profile.ts"
import { usd } from "../../src/schema/money/Money.ts"
import { charge, metered, priceMax } from "../../src/schema/money/Pricing.ts"

const simulate = (capability: Capability, input: unknown, partial = false) =>
  capability.simulate({ input, provider: "simulated", seed: 7, partial })
const results = (capability: Capability, input: unknown, partial = false) =>
  capability.judge(simulate(capability, input, partial))?.results
const judge = (capability: Capability, change: object) =>
  capability.judge({ ...Object(simulate(capability, capability.example)), ...change })

/** What the field that counts is called, what it may be, and what it is when left out. */
const counted: ReadonlyArray<[Capability, object, string, ReadonlyArray<number>, number]> = [
  [socialPosts, { platform: "x", handle: "nasa" }, "limit", [1, 2, 10, 100], 10],
  [adsSearch, { platform: "meta", query: "shoes" }, "limit", [1, 2, 10, 100], 10],
  [emailInboxList, {}, "limit", [1, 2, 10, 100], 10],
  [emailMessages, { inbox_id: "i" }, "limit", [1, 2, 10, 100], 10],
  [domainRegister, { domain: "example.com", agree_to_terms: true }, "years", [1, 2, 10], 1],
  [creativeImage, { prompt: "p" }, "count", [1, 2, 4], 1],
  [creativeVideo, { prompt: "p" }, "duration_seconds", [1, 2, 5, 30], 5],
  [govFilings, { ticker: "AAPL" }, "limit", [1, 2, 10, 100], 10],
  [govContracts, { recipient: "Acme" }, "limit", [1, 2, 10, 100], 10]
]

describe("how many results", () => {
  for (const [capability, input, field, counts, usual] of counted) {
    test(`${capability.slug} delivers as many as asked for, and one fewer when partial`, () => {
      for (const count of counts) {
        const asking = { ...input, [field]: count }
        expect(capability.demand(asking).results).toBe(count)
        expect(results(capability, asking)).toBe(count)
        expect(results(capability, asking, true)).toBe(count - 1)
      }
    })

    test(`${capability.slug} delivers ${usual} when nobody asked for a number`, () => {
      expect(results(capability, input)).toBe(usual)
      expect(results(capability, input, true)).toBe(usual - 1)
      expect(capability.demand(input).results).toBe(field === "limit" ? null : usual)
    })
  }

  test("a price by the year, the picture or the second holds for as many as asked", () => {
    const price = metered("0", "2.50", 1)
    const charged = (capability: Capability, input: unknown, partial: boolean) => {
      const judged = capability.judge(simulate(capability, input, partial)) ?? expect.unreachable()
      return usd(charge(price, capability.billing, capability.demand(input), judged))
    }
    const years = { domain: "example.com", agree_to_terms: true, years: 3 }
    expect(usd(priceMax(price, domainRegister.demand(years)))).toBe("7.50")
    expect([charged(domainRegister, years, false), charged(domainRegister, years, true)]).toEqual(["7.50", "5.00"])
    expect(charged(domainRegister, { ...years, years: 1 }, true)).toBe("0.00")
    expect(charged(creativeImage, { prompt: "p", count: 4 }, false)).toBe("10.00")
    expect(charged(creativeVideo, { prompt: "p" }, false)).toBe("12.50")
  })
})

describe("what counts as a match", () => {
  const matched = (capability: Capability, change: object) => judge(capability, change)?.matched

  test("an account of which only the page is known does, a private one that is", () => {
    expect(matched(socialProfile, { handle: null, name: null, followers: null })).toBe(true)
    expect(matched(socialProfile, { handle: null, name: null, url: null })).toBe(false)
  })
  test("an empty list does not, but where emptiness is the answer", () => {
    for (const capability of [socialPosts, adsSearch, creativeImage, govFilings, govContracts]) {
      expect([capability.slug, matched(capability, { items: [] })]).toEqual([capability.slug, false])
    }
    expect(matched(emailInboxList, { items: [] })).toBe(true)
    expect(matched(emailMessages, { items: [] })).toBe(true)
  })
  test("a nameless profile or entity, an unsent message and an inbox without an id do not", () => {
    expect(matched(networkProfile, { full_name: null })).toBe(false)
    expect(matched(govEntity, { name: null })).toBe(false)
    expect(matched(networkMessage, { status: "not_sent" })).toBe(false)
    expect(matched(emailInboxCreate, { inbox_id: null })).toBe(false)
    expect(matched(creativeVideo, { url: null, duration_seconds: 0 })).toBe(false)
  })
  test("a taken domain is a verdict, and an unregistered one is none", () => {
    expect(matched(domainCheck, { available: false })).toBe(true)
    expect(matched(domainCheck, { available: null })).toBe(false)
    expect(matched(domainRegister, { registered: false, years: 0 })).toBe(false)
  })
  test("who is connected or invited already is an answer that is not charged", () => {
    expect(judge(networkInvite, {})).toEqual({ matched: true, results: 1, unbilled: false, inconclusive: false })
    for (const status of ["already_connected", "already_invited"]) {
      expect(judge(networkInvite, { status, invitation_id: null })).toEqual({
        matched: true,
        results: 1,
        unbilled: true,
        inconclusive: false
      })
    }
    expect(judge(networkInvite, { status: "unheard_of" })).toBeNull()
    expect(judge(networkInvite, { status: null })).toBeNull()
  })
  test("a length that is no whole number of seconds is judged by nobody", () => {
    expect(judge(creativeVideo, { duration_seconds: 4.5 })).toBeNull()
    expect(judge(domainRegister, { years: null })).toBeNull()
  })
})

describe("platforms", () => {
  const slugs = ["instagram", "tiktok", "x", "youtube", "facebook", "threads", "bluesky"]
  test("are what the catalog lists", () => {
    expect(socialProfile.platforms).toEqual([...slugs, "reddit"])
    expect(socialPosts.platforms).toEqual(slugs)
    expect(adsSearch.platforms).toEqual(["meta", "google", "network", "tiktok"])
  })
  for (const capability of [socialProfile, socialPosts, adsSearch]) {
    test(`${capability.slug} takes each of them and no other, and its demand names it`, () => {
      expect(capability.input.jsonSchema["required"]).toEqual(["platform"])
      for (const platform of capability.platforms) {
        const input = { ...Object(capability.example), platform }
        expect(capability.issues(input)).toEqual([])
        expect(capability.demand(input).platform).toBe(platform)
      }
      expect(capability.issues({ ...Object(capability.example), platform: "myspace" })[0]?.path).toBe("platform")
    })
  }
})

describe("what a run changes", () => {
  test("contacting somebody is a touch on the network, called at most once", () => {
    for (const { side_effect, channel } of [networkInvite, networkMessage]) {
      expect({ side_effect, channel }).toEqual({ side_effect: true, channel: "network" })
    }
  })
  test("buying and making are called at most once, and touch nobody", () => {
    for (const { side_effect, channel } of [emailInboxCreate, domainRegister, creativeImage, creativeVideo]) {
      expect({ side_effect, channel }).toEqual({ side_effect: true, channel: null })
    }
  })
  test("looking is neither", () => {
    const looks = [socialProfile, socialPosts, adsSearch, networkProfile, emailInboxList, emailMessages, domainCheck]
    for (const { side_effect, channel } of [...looks, govFilings, govContracts, govEntity]) {
      expect({ side_effect, channel }).toEqual({ side_effect: false, channel: null })
    }
  })
})

test("what costs nothing says so first", () => {
  for (const { billing } of [emailInboxList, emailMessages, govFilings, govContracts, govEntity]) {
    expect(billing).toMatchObject({ model: "per_call", bills_no_match: false })
    expect(billing.description).toMatch(/^Free/)
  }
})

test("an account is named by its handle, or else by its page", () => {
  expect(handleOf({ handle: " @nasa " })).toBe("nasa")
  expect(handleOf({ url: "https://www.tiktok.com/@nasa/?lang=en" })).toBe("nasa")
  expect(handleOf({ handle: "nasa", url: "https://x.com/other" })).toBe("nasa")
  expect(handleOf({ handle: "@" })).toBeNull()
  expect(handleOf({})).toBeNull()
})
