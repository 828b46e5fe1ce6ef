/** How well discover finds what people mean, and the ranking rules, over the catalog that the package ships. */
import { beforeAll, describe, expect, test } from "bun:test"
import { Effect } from "effect"
import { buildIndex, search, type SearchIndex } from "../../../src/layers/search/Index.ts"
import type { SearchDocument } from "../../../src/layers/search/Document.ts"
import { judged } from "../../bench/relevance.ts"
import { catalogDocuments } from "./corpus.ts"
import { queries } from "./queries.ts"

describe("discover over the shipped catalog", () => {
  let documents: ReadonlyArray<SearchDocument>
  let index: SearchIndex
  beforeAll(async () => {
    documents = await catalogDocuments()
    index = await Effect.runPromise(buildIndex(documents))
  })

  test("finds what is meant: the floor of relevance", async () => {
    const { all, missing } = await judged()
    expect(missing).toEqual([])
    const percent = (share: number) => Math.round(share * 1_000) / 10
    console.log(
      JSON.stringify({
        discover: {
          queries: all.queries,
          ndcg10: percent(all.ndcg),
          recall10: percent(all.recall),
          mrr: percent(all.mrr),
          capability_first: percent(all.capabilityFirst)
        }
      })
    )
    expect(all.queries).toBeGreaterThanOrEqual(120)
    expect(all.ndcg).toBeGreaterThanOrEqual(0.85)
    expect(all.capabilityFirst).toBeGreaterThanOrEqual(0.9)
  })

  test("ranks a live capability above every endpoint that it wraps, whatever is asked", () => {
    const at = (slug: string) => documents.findIndex((one) => one.kind === "capability" && one.slug === slug)
    let pairs = 0
    for (const { query } of queries) {
      const hits = search(index, { query, limit: 50 }).map(({ id }) => id)
      for (const [place, id] of hits.entries()) {
        for (const slug of documents[id]?.wrapped_by ?? []) {
          if (documents[at(slug)]?.live !== true) continue
          const above = hits.indexOf(at(slug))
          expect([query, documents[id]?.slug, slug, above >= 0 && above < place]).toEqual([
            query,
            documents[id]?.slug,
            slug,
            true
          ])
          pairs += 1
        }
      }
    }
    expect(pairs).toBeGreaterThan(1_000)
  })

  test("scores fall from 1, and the same question has the same answer", () => {
    for (const { query } of queries) {
      const hits = search(index, { query, limit: 20 })
      if (hits.length === 0) continue
      expect(hits[0]?.score).toBe(1)
      for (const [place, hit] of hits.entries()) expect(hit.score).toBeLessThanOrEqual(hits[place - 1]?.score ?? 1)
      expect(search(index, { query, limit: 20 })).toEqual(hits)
    }
  })

  test("of equal shown scores capabilities come first, then what is live, and a shorter list begins the longer one", () => {
    let equal = 0
    for (const query of [...queries.map((one) => one.query), ...documents.map(({ title }) => title)]) {
      const hits = search(index, { query, limit: 20 })
      const rankOf = ({ id }: { readonly id: number }) => {
        const { kind, live } = documents[id] ?? expect.unreachable()
        return (kind === "capability" ? 0 : 2) + (live ? 0 : 1)
      }
      for (const [place, hit] of hits.entries()) {
        const before = hits[place - 1]
        if (before?.score !== hit.score) continue
        equal += 1
        expect([query, hit.id, rankOf(before) <= rankOf(hit)]).toEqual([query, hit.id, true])
      }
      expect([query, search(index, { query, limit: 3 })]).toEqual([query, hits.slice(0, 3)])
    }
    expect(equal).toBeGreaterThan(100)
  })

  test("the endpoints behind a capability show up beside it", () => {
    const found = search(index, { query: "find a work email", limit: 10 }).map(({ id }) => documents[id])
    expect(found[0]?.slug).toBe("email.find")
    expect(found.filter((one) => one?.wrapped_by.includes("email.find")).length).toBeGreaterThanOrEqual(3)
  })
})
