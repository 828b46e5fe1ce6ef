/**
 * Every adapter on live answers of its provider: shapes that a third party captured in July and August 2026, with invented values.
 *
 * The captures may not be shipped, so this file is skipped without the shared documents. The key facts of each capture are in
 * test/layers/providers too, with answers of this project.
 */
import { describe, expect, test } from "bun:test"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, type Schema } from "effect"
import { providers } from "../../../src/layers/providers/index.ts"
import { capabilities } from "../../../src/schema/capabilities/index.ts"
import type { Offer } from "../../../src/schema/catalog/Provider.ts"
import { shipped } from "../../../src/layers/catalog/Endpoints.ts"
import { endpointKey } from "../../../src/schema/catalog/Endpoint.ts"
import { inputOf } from "../providers/inputs.ts"
import { costOf } from "./driver-oracle.ts"

const folder = join(import.meta.dir, "..", "..", "..", "..", "shared", "specs", "examples-3")
const exists = existsSync(join(folder, "costs.tsv"))
const ids = exists ? readdirSync(folder).flatMap((name) => /^(.*)\.json$/.exec(name)?.[1] ?? []) : []

/** What an offer is asked, and what it knows from the call before, where its ordinary input does not lead to the capture. */
interface Scene {
  readonly input?: unknown
  readonly state?: Schema.Json
  /** What is read from the capture, at least. */
  readonly reads?: unknown
}

const organization: Schema.Json = { organization_id: "o1", name: "Acme", domain: "acme.example" }
const on = (platform: string) => ({ platform, handle: "example" })
const scenes: Readonly<Record<string, Scene>> = {
  "leadmagic.people.email.find email.find": { reads: { _tag: "NoMatch", cost: { unit: "credit", amount: "0" } } },
  "leadmagic.people.email.verify email.verify": { reads: { output: { email_status: "invalid", mx_found: false } } },
  "leadmagic.people.phone.find phone.find": { reads: { _tag: "NoMatch" } },
  "leadmagic.jobs-finder jobs.search": { reads: { _tag: "NoMatch" } },
  "leadmagic.companies.enrich company.enrich": {
    reads: {
      output: {
        name: "Example",
        domain: "example.com",
        employee_count: 9,
        employee_range: "1-10",
        founded_year: 2022,
        location: { city: "Example", region: "Massachusetts", country: "US" }
      }
    }
  },
  "leadmagic.people.enrich network.profile": {
    reads: {
      output: {
        headline: "Example",
        title: "Example",
        about: "A longer text of the provider.",
        experience: [
          { title: "Example", company_domain: "example.com", start_date: "2014-02", is_current: true },
          { start_date: "2018-01", is_current: true }
        ],
        education: [
          { school: "Example", degree: "Example text" },
          { school: "Example", degree: "Example text" }
        ]
      }
    }
  },
  "leadmagic.b2b-ads-search ads.search": {
    input: { platform: "network", company_domain: "example.com", limit: 1 },
    reads: {
      output: {
        items: [
          {
            id: "996857536",
            advertiser: "Example",
            text: "A longer text of the provider.",
            video_url: "https://example.com/path",
            library_url: "https://example.com/path"
          }
        ]
      }
    }
  },
  "findymail.search.name email.find": { reads: { output: { company_domain: "example.com", email_status: "valid" } } },
  "findymail.verify email.verify": { reads: { output: { email_status: "valid" } } },
  "hunter.companies.enrich company.enrich": {
    reads: { output: { employee_count: null, employee_range: "10000-50000", founded_year: 2010 } }
  },
  "hunter.people.email.verify email.verify": { reads: { output: { email_status: "valid", score: 100 } } },
  "hunter.people.email.find email.find": { reads: { output: { email_status: "valid", confidence: 80 } } },
  // The capture has an employer and an address, but no name and no profile.
  "hunter.people.enrich people.enrich": { reads: { _tag: "NoMatch" } },
  "icypeas.people.email.find email.find": { reads: { _tag: "Again", state: { id: "mP6hHKABeMoKaEB1K1HF" } } },
  "icypeas.people.email.verify email.verify": { reads: { _tag: "Again" } },
  "icypeas.search.results.read email.find": {
    state: { id: "mP6hHKABeMoKaEB1K1HF" },
    reads: { output: { email: "ada.lovelace@example.com", email_status: "valid", last_name: "Lovelace" } }
  },
  "icypeas.search.results.read email.verify": {
    state: { id: "mP6hHKABeMoKaEB1K1HF" },
    reads: { output: { email_status: "valid", mx_found: true } }
  },
  "apollo.companies.jobs jobs.search": {
    input: { company_domain: "acme.example" },
    state: organization,
    reads: { output: { items: [{ title: "Example", posted_at: "2026-08-08T11:07:33.000+00:00" }, {}] } }
  },
  "apollo.companies.news news.search": {
    input: { query: "acme", company_domain: "acme.example" },
    state: organization,
    reads: { output: { items: [{ source: "example.com" }], total: 858 } }
  },
  "pdl.people.enrich people.enrich": { reads: { output: { full_name: "Ada Lovelace", seniority: "cxo" } } },
  "pdl.companies.enrich company.enrich": { reads: { output: { employee_count: 87, funding: "55475000" } } },
  "seranking.google.keywords.ideas seo.keywords": {
    input: { seed: "avocado", limit: 2 },
    reads: {
      output: {
        total: 3372,
        items: [
          { keyword: "avocado nutrition facts", search_volume: 60500, difficulty: 90, intent: "informational" },
          { keyword: "avocado calories" }
        ]
      }
    }
  },
  "seranking.google.keywords.volume seo.keywords": { reads: { output: { items: [{ search_volume: 1300 }] } } },
  "seranking.google.domain.overview seo.domain": {
    reads: { _tag: "Again", state: { organic_keywords: 107037, organic_traffic: 89979, paid_keywords: 438 } }
  },
  "seranking.google.domain.ranked_keywords seo.domain": {
    input: { domain: "seranking.com", limit: 1 },
    state: { organic_keywords: 107037, organic_traffic: 89979, paid_keywords: 438 },
    reads: { output: { organic_keywords: 107037, top_keywords: [{ keyword: "ranking", position: 3, volume: 47500 }] } }
  },
  "seranking.web.backlinks.summary seo.backlinks": { reads: { output: { summary: { backlinks: 259613, rank: 90 } } } },
  "dataforseo.google.domain.ranked_keywords seo.domain": {
    reads: { output: { organic_keywords: 24504, paid_keywords: 11 }, cost: { unit: "USD", amount: "0.01224" } }
  },
  "dataforseo.web.backlinks.summary seo.backlinks": {
    input: { target: "example.com", summary_only: true },
    reads: { output: { summary: { backlinks: 3800873, referring_domains: 123009, spam_score: 26 } } }
  },
  "dataforseo.web.backlinks.list seo.backlinks": {
    state: { summary: { backlinks: 3800873 }, spent: 0.024036 },
    reads: { output: { items: [{ rank: 601 }, {}], total: 118369 }, cost: { unit: "USD", amount: "0.048108" } }
  },
  "dataforseo.backlinks-backlinks-live seo.backlinks": { state: { summary: { backlinks: 5 }, spent: 0.024036 } },
  "scrapecreators.instagram.user.profile social.profile": {
    input: on("instagram"),
    reads: { output: { handle: "Example", followers: 268927567, verified: true, category: "Example text" } }
  },
  "scrapecreators.v1-instagram-profile social.profile": {
    input: on("instagram"),
    reads: { output: { followers: 1947374, following: 964 } }
  },
  "scrapecreators.tiktok.user.profile social.profile": {
    input: on("tiktok"),
    reads: { output: { handle: "stoolpresidente", followers: 4700000, posts_count: 2478, verified: true } }
  },
  "scrapecreators.youtube.channel.profile social.profile": {
    input: on("youtube"),
    reads: { output: { name: "Example", followers: 127000000 } }
  },
  "scrapecreators.user.profile social.profile": {
    input: on("x"),
    reads: { output: { handle: "Example", name: "Example", verified: true, avatar_url: "https://example.com/path" } }
  },
  "scrapecreators.v1-facebook-profile social.profile": {
    input: on("facebook"),
    reads: { output: { name: "Example", url: "https://example.com/path" } }
  },
  "scrapecreators.instagram.user.posts social.posts": { input: on("instagram") },
  "scrapecreators.user.posts social.posts": { input: on("x") },
  "scrapecreators.v1-facebook-profile-posts social.posts": { input: on("facebook") },
  "scrapecreators.v1-google-company-ads ads.search": {
    input: { platform: "google", company_domain: "example.com", limit: 1 },
    reads: { output: { items: [{ id: "CR06235704008783167489", started_at: "2026-03-05T22:35:41.000Z" }] } }
  },
  "scrapecreators.v1-linkedin-ads-search ads.search": {
    input: { platform: "network", company_name: "Microsoft", limit: 1 },
    reads: { output: { items: [{ id: "1474633804", image_url: "https://example.com/path" }] } }
  },
  "scrapecreators.v1-linkedin-company company.enrich": { reads: { output: { employee_count: 29550 } } }
}

/** Captures whose decisive field the source cut, so nothing can be read from it. */
const cut = new Set(["dataforseo.backlinks-summary-live", "dataforseo.dataforseo-labs-google-keyword-suggestions-live"])

/** Captures that are named after our capability and not after their path. */
const renamed: Readonly<Record<string, string>> = {
  "scrapecreators.user.profile": "/v1/twitter/profile",
  "scrapecreators.user.posts": "/v1/twitter/user-tweets",
  "hunter.discover-companies": "/discover",
  "pdl.person-search-post": "/v5/person/search",
  "pdl.company-search-post": "/v5/company/search"
}

const rows = exists ? readFileSync(join(folder, "costs.tsv"), "utf8").split("\n") : []
const paths = new Map(rows.map((row) => row.split("\t")).map(([id = "", , path = ""]) => [id, path] as const))

/** "/v3/backlinks/bulk_ranks/live" as "backlinks-bulk-ranks-live", as the captures are named. */
const dashed = (path: string) =>
  path
    .replace(/^\/v3(?=\/)/, "")
    .replace(/[/_~]/g, "-")
    .replace(/^-+/, "")
const slugs: Readonly<Record<string, string>> = { pdl: "peopledatalabs" }

const pairs = ids.flatMap((id): ReadonlyArray<readonly [name: string, id: string, offer: Offer]> => {
  const [source = "", ...rest] = id.split(".")
  const path = dashed(renamed[id] ?? paths.get(id) ?? rest.join("."))
  const offers = providers.find(({ slug }) => slug === (slugs[source] ?? source))?.offers ?? []
  return offers
    .filter(({ wraps }) => wraps.some((one) => dashed(one.path) === path || dashed(one.path).endsWith(`-${path}`)))
    .map((offer) => [`${id} ${offer.capability}`, id, offer] as const)
})

describe.skipIf(!exists)("live answers", () => {
  for (const [name, id, offer] of pairs) {
    test(name, () => {
      const capability = capabilities.find(({ slug }) => slug === offer.capability) ?? expect.unreachable()
      const { input = inputOf(offer, capability.example), state = null, reads = {} } = scenes[name] ?? {}
      expect(offer.serves(input)).toBe(true)
      const text = readFileSync(join(folder, `${id}.json`), "utf8")
      const outcome = offer.response({ status: 200, headers: {}, body: JSON.parse(text), text }, input, state)
      if (cut.has(id)) expect(outcome).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
      else expect(outcome._tag).not.toBe("Failure")
      expect(outcome).toMatchObject(Object(reads))
    })
  }

  test("every scene is played, and most adapters that have captures are", () => {
    const played = new Set(pairs.map(([name]) => name))
    expect(Object.keys(scenes).filter((name) => !played.has(name))).toEqual([])
    expect(played.size).toBeGreaterThan(60)
  })
})

describe.skipIf(!exists)("costs that captured calls of DataForSEO report", () => {
  test("are never above what the same call is estimated at", async () => {
    const documents = await Effect.runPromise(shipped)
    const endpoints = documents.find(({ provider }) => provider === "dataforseo")?.endpoints ?? []
    const compared = ids.flatMap((id) => {
      const name = /^dataforseo\.(.*)$/.exec(id)?.[1] ?? ""
      const endpoint = endpoints.find(({ path }) => dashed(path) === dashed(renamed[id] ?? paths.get(id) ?? name))
      const { cost, tasks } = JSON.parse(readFileSync(join(folder, `${id}.json`), "utf8"))
      const input = tasks?.[0]?.data
      // The source cut lists of inputs, and a shorter list costs less.
      if (endpoint === undefined || input === undefined || JSON.stringify(input).includes("truncated")) return []
      return [{ id, cost, estimate: costOf("dataforseo", endpointKey(endpoint), input) }]
    })
    expect(compared.length).toBeGreaterThan(25)
    expect(compared.filter(({ cost, estimate }) => cost > estimate + 1e-8)).toEqual([])
  })
})
