import { describe, expect, test } from "bun:test"
import { providers } from "../../../src/layers/providers/index.ts"
import { capabilities } from "../../../src/schema/capabilities/index.ts"
import type { Capability } from "../../../src/schema/catalog/Capability.ts"
import { dollars, zero } from "../../../src/schema/money/Money.ts"
import { priceMax } from "../../../src/schema/money/Pricing.ts"
import type { Offer, Reply } from "../../../src/schema/catalog/Provider.ts"
import { inputOf } from "./inputs.ts"
import { callsProvider } from "./pairs.ts"
import { operations } from "./specifications.ts"

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
/** Whether a path is one of a template such as /v2/users/{id}. */
const fits = (template: string, path: string): boolean => {
  // An actor's endpoint is named like the actor; `username/actor-name` is called as `username~actor-name`.
  if (!template.startsWith("/")) return path === `/acts/${template.replace("/", "~")}/runs`
  const parts = template.split(/\{[^}]*\}/).map((part) => part.replace(/[.*+?^$()|[\]\\]/g, "\\$&"))
  return new RegExp(`^${parts.join("[^/]+")}$`).test(path)
}

/** Which providers the catalog promises for each capability. */
const served: Readonly<Record<string, string>> = {
  "people.search": "crustdata peopledatalabs apollo prospeo apify exa",
  "people.enrich": "peopledatalabs apollo prospeo hunter crustdata snovio fullenrich",
  "email.find": "hunter leadmagic prospeo findymail icypeas crustdata lusha fullenrich tomba snovio",
  "email.verify": "hunter leadmagic zerobounce neverbounce millionverifier findymail icypeas tomba snovio",
  "phone.find": "leadmagic findymail prospeo apollo crustdata lusha fullenrich tomba",
  "phone.lookup": "twilio_lookup",
  "company.enrich":
    "apollo peopledatalabs hunter leadmagic prospeo scrapecreators apify sec_edgar builtwith predictleads lusha fullenrich snovio",
  "company.search": "apollo hunter prospeo peopledatalabs crustdata exa",
  "company.tech": "dataforseo apollo hunter theirstack builtwith predictleads",
  "jobs.search": "leadmagic apollo apify dataforseo crustdata theirstack predictleads hasdata",
  "web.search": "exa tavily serper firecrawl scrapecreators brave parallel hasdata",
  "web.scrape": "firecrawl tavily exa apify dataforseo parallel",
  "serp.search": "dataforseo serper apify hasdata",
  "places.search": "serper dataforseo apify hasdata",
  "news.search": "serper tavily exa dataforseo apollo apify brave hasdata",
  "seo.keywords": "dataforseo seranking",
  "seo.backlinks": "dataforseo seranking",
  "seo.domain": "dataforseo apify seranking",
  "social.profile": "scrapecreators ensembledata apify",
  "social.posts": "scrapecreators ensembledata apify",
  "ads.search": "scrapecreators leadmagic dataforseo apify",
  "network.profile": "leadmagic scrapecreators apify peopledatalabs edges snovio",
  "network.invite": "unipile edges",
  "network.message": "unipile edges",
  "email.send": "agentmail resend postmark",
  "email.inbox_create": "agentmail",
  "email.inbox_list": "agentmail",
  "email.messages": "agentmail",
  "domain.check": "porkbun dataforseo apify",
  "domain.register": "porkbun",
  "creative.image": "fal",
  "creative.video": "fal",
  "gov.filings": "sec_edgar",
  "gov.contracts": "usaspending",
  "gov.entity": "usaspending sec_edgar"
}
/** One provider is all there is: nobody else was found, or the thing belongs to an organization. */
const single = /^(phone\.lookup|email\.(inbox_\w+|messages)|domain\.register|creative\.\w+|gov\.(filings|contracts))$/
/** Nobody is charged for these. */
const free = (offer: Offer) => /^(gov\.\w+|email\.(inbox_list|messages))$/.test(offer.capability)

/** What the capability delivers when the input names no number of results. */
const usual = (capability: Capability): number => {
  const counts = ["limit", "count", "duration_seconds", "years"]
  const rest = Object.entries(Object(capability.example)).filter(([field]) => !counts.includes(field))
  const input = capability.slug === "seo.keywords" ? { seed: "example" } : Object.fromEntries(rest)
  const output = capability.simulate({ input, provider: "sample", seed: 1, partial: false })
  return capability.judge(output)?.results ?? Number.NaN
}

describe("every capability", () => {
  for (const capability of capabilities) {
    describe(capability.slug, () => {
      const offers = pairs.filter((pair) => pair.offer.capability === capability.slug)

      test("has the providers that the catalog promises, at different prices", () => {
        expect(offers.map((pair) => pair.provider.slug).sort()).toEqual(
          (served[capability.slug] ?? "").split(" ").sort()
        )
        expect(offers.length >= 2).toBe(!single.test(capability.slug))
        const prices = offers
          .filter(({ offer, provider }) => !free(offer) && !provider.free)
          .map((pair) => priceMax(pair.offer.price, { ...capability.demand(capability.example), results: null }))
        // Two may cost the same. When all do, the price is nothing to choose by.
        expect(new Set(prices).size > 1).toBe(prices.length > 1)
        expect(prices.every((price) => price > zero)).toBe(true)
      })

      test("costs nothing where that is said, and only there", () => {
        for (const { offer, provider } of offers) {
          const price = priceMax(offer.price, capability.demand(capability.example))
          expect(price === zero).toBe(provider.free || free(offer))
        }
      })

      test("is served by an offer without further conditions on its example", () => {
        expect(offers.some(({ offer }) => offer.serves(capability.example))).toBe(true)
      })

      test("its offers quote as many results as it delivers when nobody says how many", () => {
        const limits = offers.flatMap(({ offer }) =>
          offer.price.kind === "metered" ? [offer.price.default_limit] : []
        )
        expect(limits).toEqual(limits.map(() => usual(capability)))
      })

      test("its offers name platforms that it has, each with a price", () => {
        for (const { offer } of offers) {
          expect(capability.platforms).toEqual(expect.arrayContaining([...offer.platforms]))
          expect(offer.platforms.length > 0).toBe(capability.platforms.length > 0)
          if (offer.price.kind !== "by_platform") continue
          expect(Object.keys(offer.price.amounts).sort()).toEqual([...offer.platforms].sort())
        }
        for (const platform of capability.platforms) {
          expect(offers.some(({ offer }) => offer.platforms.includes(platform))).toBe(true)
        }
      })
    })
  }

  test("none is promised that does not exist", () => {
    expect(capabilities.map((one) => one.slug).sort()).toEqual(Object.keys(served).sort())
  })
})

describe("every provider", () => {
  test("serves a capability", () => {
    expect(providers.filter(({ offers }) => offers.length === 0).map(({ slug }) => slug)).toEqual([])
  })

  test("three are never raw and say what to use instead; two are free and need no account", () => {
    const excluded = providers.filter((one) => one.excluded !== null)
    expect(excluded.map((one) => one.slug).sort()).toEqual(["agentmail", "fal", "porkbun"])
    for (const { excluded: reason, offers } of excluded) {
      expect(reason).toContain("use ")
      for (const offer of offers) expect(offer.wraps).toEqual([])
    }
    const gratis = providers.filter((one) => one.free)
    expect(gratis.map((one) => one.slug).sort()).toEqual(["sec_edgar", "usaspending"])
    for (const one of gratis) expect(["none", "contact"]).toContain(one.auth.kind)
  })

  test("what a credit costs is an amount", () => {
    const credits = providers.flatMap(({ credit }) => (credit === null ? [] : [credit]))
    expect(credits.length).toBeGreaterThan(0)
    for (const credit of credits) expect(dollars(credit) > zero).toBe(true)
  })
})

describe("every offer", () => {
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

  test("names the raw endpoints that it wraps, unless its provider has none", () => {
    for (const { offer, provider } of pairs) {
      expect(offer.wraps.length > 0).toBe(provider.excluded === null)
      for (const { path } of offer.wraps) expect(path).toMatch(provider.slug === "apify" ? /^[\w-]+\/[\w-]+$/ : /^\//)
    }
  })

  test("each has an adapter", () => expect(pairs.filter(({ offer }) => !offer.wired)).toEqual([]))

  for (const { offer, capability, name } of pairs.filter((pair) => !callsProvider(pair.offer))) {
    test(`${name} serves only what the contract accepts, and no provider can be called for it`, () => {
      expect(offer.serves({ unheard_of: 1 })).toBe(false)
      expect(() => offer.request(capability.example, { run_id: "run_1" })).toThrow("the service answers it itself")
      expect(() => offer.next(null, capability.example, { run_id: "run_1" })).toThrow("the service answers it itself")
      expect(offer.response(reply(200, "{}"), capability.example, null)._tag).toBe("Failure")
    })
  }

  for (const { offer, provider, capability, name } of pairs.filter((pair) => callsProvider(pair.offer))) {
    describe(name, () => {
      const input = inputOf(offer, capability.example)

      test("asks what it says it wraps", () => {
        const call = offer.request(input, { run_id: "run_1" })
        const asked = offer.wraps.filter(({ method, path }) => method === call.method && fits(path, call.path))
        // Providers that are never raw wrap nothing; another host than the provider's own has no raw endpoints.
        expect(asked.length > 0).toBe(call.origin === undefined && provider.excluded === null)
      })

      test("asks no other address for an id of dots, and encodes what is no character", () => {
        for (const name of Object.keys(Object(input)))
          for (const id of [".", "..", "\ud800"]) {
            const asked = { ...Object(input), [name]: id }
            if (!offer.serves(asked)) continue
            const { path } = offer.request(asked, { run_id: "run_1" })
            expect(new URL(`https://provider.example${path}`).pathname).toBe(path.replace(/\?.*/, ""))
          }
      })

      test("refuses to serve what the contract refuses", () => {
        expect(offer.serves({ unheard_of: 1 })).toBe(false)
        expect(() => offer.request({ unheard_of: 1 }, { run_id: "run_1" })).toThrow("unheard_of")
      })

      test("statuses mean the same as everywhere, unless the provider's own test says otherwise", () => {
        const reason = (status: number) => offer.response(reply(status, "{}"), input, null)
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
          const outcome = offer.response(reply(200, body), input, null)
          expect(["NoMatch", "Failure"]).toContain(outcome._tag)
          // A miss may be charged, so nonsense must not read as one where misses are.
          if (capability.billing.bills_no_match) expect(outcome._tag).toBe("Failure")
        }
      })

      test("values of the wrong type become null or a refusal, never a crash", () => {
        for (const value of [null, 0, "x", true, [], {}, [[]], "9".repeat(400)]) {
          const everything = { value, configurable: true, enumerable: true }
          const body = new Proxy({}, { get: () => value, getOwnPropertyDescriptor: () => everything })
          const outcome = offer.response({ status: 200, headers: {}, text: "", body }, input, null)
          expect(["Match", "NoMatch", "Failure", "Again"]).toContain(outcome._tag)
        }
      })
    })
  }

  test("retry-after is read in seconds and as a date", () => {
    const { offer, capability } = pairs.find((pair) => pair.name === "exa web.search") ?? expect.unreachable()
    const wait = (headers: Record<string, string>) =>
      offer.response(reply(429, "{}", headers), capability.example, null)
    expect(wait({ "retry-after": "3" })).toMatchObject({ retryAfterSeconds: 3 })
    expect(wait({ "retry-after": "0.2" })).toMatchObject({ retryAfterSeconds: 1 })
    const date = { date: "Wed, 21 Oct 2026 07:28:00 GMT", "retry-after": "Wed, 21 Oct 2026 07:28:30 GMT" }
    expect(wait(date)).toMatchObject({ retryAfterSeconds: 30 })
    expect(wait({ "retry-after": "soon" })).not.toHaveProperty("retryAfterSeconds")
    expect(wait({})).not.toHaveProperty("retryAfterSeconds")
  })
})

describe("what an offer wraps is an operation of the provider's own document", () => {
  // LeadMagic's document is of an older generation, whose paths nobody calls any more; the others have none.
  test.each(Object.entries(operations))("%s", (slug, documented) => {
    const known = new Set(documented)
    const wrapped = pairs
      .filter((pair) => pair.provider.slug === slug)
      .flatMap(({ offer }) => offer.wraps.map(({ method, path }) => `${method} ${path}`))
    expect(wrapped.length).toBeGreaterThan(0)
    expect(wrapped.filter((operation) => !known.has(operation))).toEqual([])
  })
})
