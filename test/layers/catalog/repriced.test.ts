/** Raw endpoints follow the price of a credit and the markup exactly as a document that was imported with them would. */
import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { importManifest } from "../../../src/layers/catalog/import/manifest.ts"
import { readManifest } from "../../../src/layers/catalog/import/manifestFormat.ts"
import { shipped } from "../../../src/layers/catalog/Endpoints.ts"
import { repricing } from "../../../src/layers/catalog/repriced.ts"
import { atOnce } from "../../../src/layers/platform/inSlices.ts"
import type { Endpoint } from "../../../src/schema/catalog/Endpoint.ts"
import { defaultMarkup } from "../../../src/schema/money/Pricing.ts"

const repriced = (...of: Parameters<typeof repricing>) => atOnce(repricing(...of))

const root = join(import.meta.dir, "..", "..", "..")
const specs = join(root, "..", "shared", "specs")
const documents = await Effect.runPromise(shipped)
const documentOf = (slug: string) =>
  documents.find((one) => one.provider === slug) ?? expect.unreachable(`no document of ${slug}`)

/** The document that the manifest gives if a credit costs so much. */
const importedAt = (slug: string, credit: string) =>
  Effect.runPromise(
    Effect.gen(function* () {
      const name = `${slug}.yaml`
      const text = readFileSync(join(root, "src/layers/catalog/import/manifests", name), "utf8")
      const manifest = { name, text: text.replace(/^ {2}credit: ".*"$/m, `  credit: "${credit}"`) }
      const { openapi = [], tables = [] } = yield* readManifest(manifest)
      const sources = [...openapi, ...tables].map((one) => ({
        name: one,
        text: readFileSync(join(specs, one), "utf8")
      }))
      return (yield* importManifest(manifest, sources)).document
    })
  )

const shown = ({ path, cost: { model, estimate, note, credit }, price }: Endpoint) => [
  path,
  { model, estimate, note, credit },
  price
]

test.each(["hunter", "scrapecreators", "leadmagic", "firecrawl", "resend", "crustdata"])(
  "%s: another price of a credit",
  async (slug) => {
    for (const credit of ["0.00188", "0.033333333", "0.5"]) {
      const { endpoints } = await importedAt(slug, credit)
      const scaled = repriced(documentOf(slug), { credit, markup: defaultMarkup }).endpoints
      expect(scaled.map(shown)).toEqual(endpoints.map(shown))
    }
  }
)

test("the defaults change nothing", () => {
  for (const document of documents) {
    const credit = document.endpoints.find((one) => one.cost.credit !== undefined)?.cost.credit ?? null
    expect(repriced(document, { credit, markup: defaultMarkup })).toBe(document)
  }
})

test("a markup applies to every amount, in credits and in USD", () => {
  const twice = (slug: string, markup: string, credit: string | null) =>
    repriced(documentOf(slug), { credit, markup }).endpoints
  const plain = documentOf("dataforseo").endpoints
  for (const [index, one] of twice("dataforseo", "2.4", null).entries()) {
    const before = Number(plain[index]?.cost.estimate ?? 0)
    // An estimate is rounded up once, so twice as much may be a microdollar less than twice the rounded one.
    expect(Math.abs(Number(one.cost.estimate ?? 0) - 2 * before)).toBeLessThan(0.0000021)
  }
  const [finder] = twice("hunter", "2", "0.05").filter((one) => one.path === "/email-finder")
  expect(finder?.cost).toMatchObject({ estimate: "0.10", note: "1 credit of $0.05 per call." })
})

test("free and unpublished endpoints stay so", () => {
  for (const slug of ["usaspending", "firecrawl"]) {
    const changed = repriced(documentOf(slug), { credit: "3", markup: "5" }).endpoints
    const before = documentOf(slug).endpoints
    const unpriced = [...before.keys()].filter((at) => /^(free|unpublished)$/.test(before[at]?.cost.model ?? ""))
    expect(unpriced.length).toBeGreaterThan(0)
    for (const at of unpriced) expect(changed[at]?.cost.estimate).toBe(before[at]?.cost.estimate)
  }
})
