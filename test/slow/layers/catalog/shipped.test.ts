import { afterAll, describe, expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Ajv2020 } from "ajv/dist/2020.js"
import addFormats from "ajv-formats"
import { Effect } from "effect"
import { build, shippedPacks, stale } from "../../../../scripts/ship-catalog.ts"
import { compileEndpoint } from "../../../../src/layers/catalog/input/EndpointInput.ts"
import { unpack, unpackShipped } from "../../../../src/layers/catalog/import/pack.ts"
import { unlicensed } from "../../../../src/layers/catalog/import/texts/prose.ts"
import { providers } from "../../../../src/layers/providers/index.ts"
import { reachable } from "../../../../src/schema/catalog/Definitions.ts"
import { type Endpoint, endpointKey, type ProviderDocument } from "../../../../src/schema/catalog/Endpoint.ts"
import { dollars } from "../../../../src/schema/money/Money.ts"
import { planRaw } from "../../../../src/schema/runs/RawPlan.ts"

const specs = join(import.meta.dir, "..", "..", "..", "..", "..", "shared", "specs")
const built = await Effect.runPromise(build(specs))
const documents = built.map(({ document }) => document)

const uncapped = { max_cost: null, unpricedMin: dollars("0.10") }
const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false })
addFormats(ajv)

/** What is wrong with an endpoint, by a validator that is not the importers' own. */
const wrong = (endpoint: Endpoint, definitions: ProviderDocument["definitions"]): ReadonlyArray<string> => {
  const check = (schema: object, value: unknown) => {
    const whole = { ...schema, $defs: reachable(definitions, [schema]) }
    const validate = ajv.compile(whole)
    const issues = validate(value) ? [] : (validate.errors ?? []).map((one) => `${one.instancePath} ${one.message}`)
    ajv.removeSchema(whole)
    return issues
  }
  const { example, body } = endpoint
  return [
    ...check(endpoint.path_params, example.path ?? {}),
    // A document without a fitting example shows none; that its schema compiles is checked all the same.
    ...(example.query === undefined
      ? (check(endpoint.query_params, {}), [])
      : check(endpoint.query_params, example.query)),
    ...(body === null ? [] : example.input === undefined ? (check(body, {}), []) : check(body, example.input))
  ]
}

describe("the shipped catalog", () => {
  test("is what the specifications and manifests give today", () => {
    expect(stale(built)).toEqual([])
  })

  for (const { document, warnings } of built) {
    test(`${document.provider}: ${document.endpoints.length} endpoints, ${warnings.length} warnings; schemas compile, examples fit`, () => {
      const problems = document.endpoints.flatMap((endpoint) =>
        wrong(endpoint, document.definitions).map((issue) => `${endpointKey(endpoint)}: ${issue}`)
      )
      expect(problems).toEqual([])
    })
  }

  test("has no sentence of a vendor's document that has no licence", () => {
    // So many words in a row are no coincidence.
    const run = 9
    const wordsOf = (text: string) => text.toLowerCase().match(/[a-z0-9]+/g) ?? []
    const runsOf = (text: string) => {
      const words = wordsOf(text)
      return words.slice(run - 1).map((_, at) => words.slice(at, at + run).join(" "))
    }
    const copied = (document: ProviderDocument, said: ReadonlyArray<string>) => {
      if (said.length === 0) return []
      const places = document.source.flatMap((name) => [join(specs, name), join(specs, "apify-actors", name)])
      const texts = places.filter((path) => existsSync(path)).map((path) => readFileSync(path, "utf8"))
      const known = new Set(texts.flatMap(runsOf))
      return said.filter((text) => runsOf(text).some((one) => known.has(one)))
    }
    const found = documents.flatMap((document) => {
      const { endpoints, fields } = unlicensed(document)
      // Of DataForSEO the fields have a licence, the endpoints' descriptions have none.
      const own = document.provider === "dataforseo" ? document.endpoints.map((one) => one.description) : []
      return copied(document, [...[...endpoints, ...fields].map(({ text }) => text), ...own])
    })
    expect(found).toEqual([])
    // It would notice one: Twilio's document, under MIT, is in its pack.
    const [twilio] = documents.filter((one) => one.provider === "twilio_lookup")
    const licensed = twilio === undefined ? [] : unlicensed({ ...twilio, provenance: [] }).fields
    expect(
      copied(
        twilio ?? documents[0]!,
        licensed.map(({ text }) => text)
      ).length
    ).toBeGreaterThan(5)
  })

  test("is read without decoding, and is what decoding gives", async () => {
    for (const [, bytes] of shippedPacks()) {
      const [read, decoded] = await Promise.all(
        [unpackShipped(bytes), unpack(bytes)].map((one) => Effect.runPromise(one))
      )
      expect(read).toStrictEqual(decoded)
    }
  })

  test("runs what it shows: every example is a request that would be sent", async () => {
    const refused: Array<unknown> = []
    for (const [provider, bytes] of shippedPacks()) {
      const document = await Effect.runPromise(unpack(bytes))
      expect(document.provider).toBe(provider)
      for (const endpoint of document.endpoints) {
        const { path = {}, query = {}, input = {} } = endpoint.example
        const checks = compileEndpoint(endpoint, document.definitions)
        const decision = planRaw(endpoint, false, checks, { path, query, input }, uncapped)
        if (decision._tag === "Refused") refused.push([provider, endpointKey(endpoint), decision.issues])
      }
    }
    expect(refused).toEqual([])
  })

  test("is sorted, without doubles, with prices and without a word from this machine", () => {
    for (const { provider, endpoints, ...head } of documents) {
      const keys = endpoints.map((one) => `${one.path} ${one.method}`)
      expect(keys).toEqual([...new Set(keys)].sort((a, b) => (a < b ? -1 : 1)))
      expect(JSON.stringify([head, endpoints])).not.toMatch(/\/work\/|\/home\/|\/tmp\//)
      for (const { cost } of endpoints) {
        if (cost.model === "free") expect(cost.estimate).toBe("0.00")
        else if (cost.model === "unpublished") expect(cost.estimate).toBeNull()
        else expect([provider, cost.estimate]).toEqual([provider, expect.stringMatching(/^\d+\.\d{2,6}$/)])
      }
    }
  })

  test("has every provider that may be called, and none that may not", () => {
    const callable = providers.filter((one) => one.excluded === null).map((one) => one.slug)
    expect(documents.map((one) => one.provider)).toEqual(expect.arrayContaining(callable))
    for (const { slug } of providers.filter((one) => one.excluded !== null)) {
      expect(documents.some((one) => one.provider === slug)).toBe(false)
    }
  })

  test("calls providers by the same address and with the same key as their adapters", () => {
    for (const { slug, title, base_url, auth, free } of providers) {
      const document = documents.find((one) => one.provider === slug)
      if (document === undefined) continue
      expect(document).toMatchObject({ title, base_url })
      // An adapter may say more of a public address than that it takes no key, such as whom to contact.
      if (document.auth?.kind !== "none") expect<unknown>(document.auth).toEqual(auth)
      if (free) for (const { cost } of document.endpoints) expect(cost.model).toBe("free")
    }
  })

  test("has the endpoints that adapters call, but for what a raw call must not see", () => {
    const known = new Set(
      documents.flatMap((one) => one.endpoints.map((endpoint) => `${one.provider} ${endpointKey(endpoint)}`))
    )
    const called = providers
      .filter((one) => one.excluded === null)
      .flatMap((one) => one.offers.flatMap((offer) => offer.wraps.map((wrap) => `${one.slug} ${endpointKey(wrap)}`)))
    const unknown = [...new Set(called)].filter((key) => !known.has(key))
    // It shows what somebody else asked for; its adapter may call it, or not.
    expect(unknown.filter((key) => key !== "apollo GET /webhook_result/{request_id}")).toEqual([])
  })

  test("has an endpoint of another origin only where the adapter names that origin", () => {
    const elsewhere = documents.flatMap((one) =>
      one.endpoints.flatMap(({ origin, path }) => (origin === undefined ? [] : [`${one.provider} ${path} ${origin}`]))
    )
    expect(elsewhere).toEqual(["sec_edgar /LATEST/search-index https://efts.sec.gov"])
    expect(providers.find((one) => one.slug === "sec_edgar")?.origins).toContain("https://efts.sec.gov")
  })

  test("offers nothing that shows or changes what organizations share", () => {
    const shared: Readonly<Record<string, RegExp>> = {
      apollo:
        /^\/(contacts|accounts|emailer|sequences|tasks|users|labels|notes|opportunit|fields|phone_calls|conversations|usage)/,
      dataforseo: /tasks_ready|tasks_fixed|id_list|\/errors$|appendix|force_stop/,
      ensembledata: /^\/customer/,
      exa: /^GET \/research\/v0\/tasks$|\/(webhooks|events|monitors|imports)(\/|$)|^GET \/websets\/v0\/websets$/,
      firecrawl: /^\/(team|monitor|interact|support)|\/interact$|\/active$|feedback$/,
      hunter: /^\/(leads|account)/,
      prospeo: /account/,
      resend: /^(?!\/emails(\/batch)?$)/,
      scrapecreators: /^\/v1\/account/,
      seranking: /account|recheck|backlinks\/export|audits$(?<!DELETE \/v1\/site-audit\/audits)/,
      tavily: /usage|logs/,
      theirstack: /company_lists|saved_searches|webhooks|datasets|requests|teams|billing/,
      twilio_lookup: /RateLimits|Overrides/,
      unipile: /accounts/
    }
    const keyed = new Set(["exa", "seranking"])
    const found = documents.flatMap(({ provider, endpoints }) =>
      endpoints
        .filter((one) => shared[provider]?.test(keyed.has(provider) ? endpointKey(one) : one.path) === true)
        .map((one) => `${provider} ${endpointKey(one)}`)
    )
    expect(found).toEqual([])
    const ours = documents.find((one) => one.provider === "resend")
    expect(ours?.endpoints.map(endpointKey)).toEqual(["POST /emails", "POST /emails/batch"])
  })
})

afterAll(() => {
  const counts = documents.map(({ provider, endpoints }) => `${provider} ${endpoints.length}`)
  console.log(`${documents.flatMap((one) => one.endpoints).length} endpoints: ${counts.join(", ")}`)
})
