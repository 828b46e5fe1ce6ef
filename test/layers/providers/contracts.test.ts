import { describe, expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { providers } from "../../../src/layers/providers/index.ts"
import { capabilities } from "../../../src/schema/capabilities/index.ts"
import type { Call, Offer, Provider } from "../../../src/schema/catalog/Provider.ts"
import { anyDemand, priceMax } from "../../../src/schema/money/Pricing.ts"
import { priceOf } from "../../../src/schema/money/Rates.ts"
import { conforms } from "./conformance.ts"
import { file as guide, page } from "./docs.ts"
import { inputOf } from "./inputs.ts"
import { specification } from "./specifications.ts"
import { callsProvider, type Pair, paired, pairsOf, rated, rateOf, verdictOf } from "./pairs.ts"

/** Never raw, so no document of its is shipped: its own is read from where the shipped ones were made of. */
const agentmail = () => specification("agentmail")

const ships = (slug: string) =>
  existsSync(new URL(`../../../src/layers/catalog/import/shipped/${slug}.json.gz`, import.meta.url))

/** An actor's start is named after the actor in its document; what is asked beside its input is the marketplace's. */
const named = (call: Call): Call => {
  const [, owner, actor] = /^\/acts\/([^~/]+)~([^/]+)\/runs$/.exec(call.path) ?? []
  if (owner === undefined || call.body === undefined) return call
  return { method: call.method, path: `${owner}/${actor}`, body: call.body }
}

/** What the provider's document says against the first request; null when there is no document. */
const complaints = async (provider: Provider, offer: Offer, pair: Pair): Promise<ReadonlyArray<string> | null> => {
  const capability = capabilities.find((one) => one.slug === offer.capability) ?? expect.unreachable()
  const input = pair.input ?? inputOf(offer, capability.example)
  expect(offer.serves(input)).toBe(true)
  const call = named(offer.request(input, { run_id: "run_1" }))
  if (provider.slug === "agentmail") return conforms(provider, call, await agentmail())
  return ships(provider.slug) ? conforms(provider, call) : null
}

describe("the contract table", () => {
  test("has rows of providers that exist", () => {
    expect(paired.filter((slug) => !providers.some((provider) => provider.slug === slug))).toEqual([])
  })

  for (const provider of providers) {
    const pairs = pairsOf(provider.slug)
    const wired = provider.offers.filter((offer) => callsProvider(offer))

    describe(provider.slug, () => {
      test("has one row for every offer that calls the provider, and no other", () => {
        expect(pairs.map((pair) => pair.capability).sort()).toEqual(wired.map((offer) => offer.capability).sort())
      })

      test("its rows say what is known, in the words that the table explains", () => {
        for (const { payload, request, except } of pairs) {
          expect(payload).toMatch(
            /^(documented|assembled|constructed)( \([^()]+\))?$|^captured by a third party \([^()]+\)$/
          )
          // A capture says when it was made.
          if (verdictOf(payload)[0].startsWith("captured")) expect(payload).toMatch(/\((\d{4}(-\d\d)?|date unknown)\b/)
          expect(request).toMatch(/^(validated|validated in part \([^()]+\)|not validated \([^()]+\))( \([^()]+\))?$/)
          if (verdictOf(request)[0] === "validated in part") expect(except?.length).toBeGreaterThan(0)
          if (verdictOf(request)[0] === "validated") expect(except).toBeUndefined()
        }
      })

      for (const offer of wired) {
        test(`what ${offer.capability} asks first is as its row says`, async () => {
          const pair = pairs.find((one) => one.capability === offer.capability) ?? expect.unreachable()
          const found = await complaints(provider, offer, pair)
          if (found === null) expect(pair.request).toBe("not validated (no specification)")
          else expect(found).toEqual([...(pair.except ?? [])])
        })
      }
    })
  }
})

test("no offer is sold below its cost at the vendor's list price, for one result or for fifty", () => {
  const below = providers.flatMap(({ slug, credit, offers }) =>
    offers.flatMap(({ capability, price, rate }) => {
      const cost = priceOf(rate, { credit, markup: "1" })
      const isBelow = [1, 50].some((results) => {
        const demand = { ...anyDemand, results }
        return priceMax(price, demand) < priceMax(cost, demand)
      })
      return isBelow ? [`${slug} ${capability}`] : []
    })
  )
  expect(below).toEqual([])
})

const dayMillis = 86_400_000

describe("the price list", () => {
  test("has one price for every provider, and no other", () => {
    expect(rated.toSorted()).toEqual(providers.map(({ slug }) => slug).toSorted())
  })

  test.each(providers.map(({ slug }) => slug))(
    "says where and when the price of %s was read, within the last year",
    (slug) => {
      const { evidence, price, source, read } = rateOf(slug)
      expect(evidence).toMatch(/^(vendor document|read by a third party|assumed|free)$/)
      expect([price.length > 5, source.length > 10]).toEqual([true, true])
      expect(read).toMatch(/^\d{4}-\d\d-\d\d$/)
      const age = Date.now() - Date.parse(read)
      expect(age).toBeGreaterThan(-dayMillis)
      // Read the vendor's price again, then change the rate, rates.json and the page.
      expect(age).toBeLessThan(366 * dayMillis)
    }
  )
})

test("no more offers than today have answers that were only constructed; 15 is the aim", () => {
  const constructed = providers.flatMap(({ slug }) =>
    pairsOf(slug).flatMap(({ capability, payload }) =>
      verdictOf(payload)[0] === "constructed" ? [`${slug} ${capability}`] : []
    )
  )
  expect(constructed.length).toBeLessThanOrEqual(13)
})

test("docs/providers.md is what the catalog says: bun test/layers/providers/docs.ts writes it", () => {
  expect(readFileSync(guide, "utf8")).toBe(page())
})

test("README and the architecture say how many providers, capabilities and raw endpoints there are", () => {
  const said = (name: string) => readFileSync(new URL(`../../../${name}`, import.meta.url), "utf8").replaceAll(",", "")
  const [, raw] = /(\d+) raw endpoints/.exec(page()) ?? []
  expect(said("README.md")).toContain(`${providers.length} data and outreach providers`)
  expect(said("README.md")).toContain(`${capabilities.length} capabilities and ${raw} raw endpoints`)
  expect(said("docs/architecture.md")).toContain(`${providers.length} providers (simulated in the sandbox)`)
})
