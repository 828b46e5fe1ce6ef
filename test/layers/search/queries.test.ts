/**
 * The labels name things that exist: every capability of the catalog, and endpoints that the providers' documents have.
 * A wrong key would be a relevant answer that no search can give, and so count against all of them.
 */
import { describe, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { queries } from "./queries.ts"

const shared = join(import.meta.dir, "../../../../shared")
const read = (...path: ReadonlyArray<string>): string => readFileSync(join(shared, ...path), "utf8")

/** The slugs of the catalog's headings: `### people.search - category people - ...`. */
const slugs = new Set(
  [...read("catalog", "capabilities.md").matchAll(/^### ([a-z]+\.[a-z_]+) /gmu)].map((match) => match[1] ?? "")
)

const methods = ["get", "post", "put", "patch", "delete"]
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null
const records = (value: unknown): ReadonlyArray<Record<string, unknown>> =>
  Array.isArray(value) ? value.filter(isObject) : []

const operationsOf = (document: unknown): ReadonlyArray<string> =>
  isObject(document) && isObject(document.paths)
    ? Object.entries(document.paths).flatMap(([path, item]) =>
        methods.filter((method) => isObject(item) && method in item).map((method) => `${method.toUpperCase()} ${path}`)
      )
    : []

const openApi = (file: string) =>
  operationsOf(file.endsWith(".json") ? JSON.parse(read("specs", file)) : Bun.YAML.parse(read("specs", file)))

const scrapecreators = () => {
  const catalog: unknown = JSON.parse(read("specs", "scrapecreators.catalog.json"))
  return records(isObject(catalog) ? catalog.platforms : [])
    .flatMap((platform) => records(platform.endpoints))
    .map((endpoint) => `${endpoint.method} ${endpoint.path}`)
}

/** API Blueprint: the address is in the heading, the method in one of its own; the query template is no part of the path. */
const usaspending = () =>
  readdirSync(join(shared, "specs/usaspending"))
    .filter((file) => file.endsWith(".apib.md"))
    .flatMap((file) => {
      const text = read("specs", "usaspending", file)
      const path = /^# .*\[(\/[^\]]*)\]/mu.exec(text)?.[1]?.replace(/\{\?[^}]*\}/u, "")
      return [...text.matchAll(/^## .*\b(GET|POST)\b/gmu)].map((match) => `${match[1]} ${path}`)
    })

const documented: Readonly<Record<string, ReadonlyArray<string>>> = {
  dataforseo: openApi("dataforseo.yaml"),
  apollo: openApi("apollo.json"),
  peopledatalabs: openApi("peopledatalabs.json"),
  hunter: readdirSync(join(shared, "specs/hunter")).flatMap((file) => openApi(join("hunter", file))),
  firecrawl: openApi("firecrawl.json"),
  exa: openApi("exa.yaml"),
  tavily: openApi("tavily.json"),
  serper: openApi("serper.yaml"),
  twilio_lookup: openApi("twilio_lookups_v2.json"),
  sec_edgar: openApi("sec_edgar.yaml"),
  resend: ["POST /emails"],
  scrapecreators: scrapecreators(),
  usaspending: usaspending(),
  apify: records(JSON.parse(read("specs", "apify-actors", "actors.json"))).map(({ actor }) => `POST ${actor}`)
}

/** No document of theirs is stored (leadmagic's has the old paths): what providers.md tells of them is all there is. */
const manifestOnly = [
  "crustdata",
  "edges",
  "ensembledata",
  "findymail",
  "icypeas",
  "leadmagic",
  "millionverifier",
  "neverbounce",
  "postmark",
  "prospeo",
  "unipile",
  "zerobounce"
]
/** Endpoints that manifests describe by hand, because no document of them is stored. */
const manifests = join(import.meta.dir, "../../../src/layers/catalog/import/manifests")
const written = new Set(
  [
    "brave",
    "builtwith",
    "exa",
    "fullenrich",
    "hasdata",
    "lusha",
    "parallel",
    "predictleads",
    "seranking",
    "snovio",
    "theirstack",
    "tomba",
    "usaspending"
  ].flatMap((provider) => {
    const manifest: unknown = Bun.YAML.parse(readFileSync(join(manifests, `${provider}.yaml`), "utf8"))
    const endpoints = records(isObject(manifest) ? manifest.endpoints : [])
    return endpoints.map(({ method, path }) => `${provider} ${method} ${path}`)
  })
)
/** The section of one provider, or of the several that share one: `## 16-18. Email verification`. */
const sections = read("catalog", "providers.md").split(/^## /mu)
const sectionsNaming = (provider: string) =>
  sections
    .filter(
      (section) =>
        /^\d/u.test(section) && new RegExp(`^[\\d-]+\\. ${provider}\\b|\\*\\*${provider}\\*\\*`, "mu").test(section)
    )
    .join("\n")

const isEndpoint = (key: string): boolean => {
  if (written.has(key)) return true
  const [provider = "", method = "", path = "", ...more] = key.split(" ")
  if (more.length > 0 || !methods.includes(method.toLowerCase())) return false
  const endpoints = documented[provider]
  if (endpoints !== undefined) return endpoints.includes(`${method} ${path}`)
  const name = path.split("/").findLast((segment) => segment !== "" && !segment.startsWith("{"))
  const action = /^\/actions\/([^/]+)\/run\/live$/u.exec(path)?.[1]
  return manifestOnly.includes(provider) && sectionsNaming(provider).includes(action ?? name ?? key)
}

const keys = [...new Set(queries.flatMap(({ relevant }) => Object.keys(relevant)))]

describe("the labelled queries", () => {
  test("are many, and no two are the same", () => {
    expect(queries.length).toBeGreaterThanOrEqual(120)
    const distinct = new Set(queries.map(({ query }) => query.trim().toLowerCase()))
    expect(distinct.size).toBe(queries.length)
  })

  test("ask for every capability at least twice", () => {
    expect(slugs.size).toBe(35)
    const asked = (slug: string) => queries.filter(({ capability }) => capability === slug).length
    expect([...slugs].filter((slug) => asked(slug) < 2)).toEqual([])
  })

  test("name only capabilities and endpoints that exist", () => {
    expect(keys.filter((key) => !slugs.has(key) && !isEndpoint(key))).toEqual([])
  })

  test("would notice a wrong name", () => {
    const wrong = [
      "email.found",
      "hunter POST /email-finder",
      "dataforseo POST /v3/backlinks/referring_domain/live",
      "apify POST thescrappa/google-searches",
      "leadmagic POST /v1/people/nose-finder",
      "findymail POST /v1/people/role-finder",
      "nobody GET /email-finder"
    ]
    expect(wrong.filter((key) => slugs.has(key) || isEndpoint(key))).toEqual([])
  })

  test("have grades of 1 to 3, and a best answer each", () => {
    for (const { query, relevant, capability } of queries) {
      const grades = Object.values(relevant)
      expect([query, grades.filter((grade) => ![1, 2, 3].includes(grade))]).toEqual([query, []])
      expect([query, Math.max(...grades)]).toEqual([query, 3])
      if (capability !== undefined) {
        expect([query, slugs.has(capability)]).toEqual([query, true])
        expect([query, relevant[capability]]).toEqual([query, 3])
      }
    }
  })

  test("ask often enough for what no capability wraps", () => {
    expect(queries.filter(({ capability }) => capability === undefined).length).toBeGreaterThanOrEqual(45)
  })
})
