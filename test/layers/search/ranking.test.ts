/** Discover's ranking rules, one by one, and over random catalogs. */
import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { search } from "../../../src/layers/search/Index.ts"
import { capabilityNamed, endpointAt, indexOf, slugsFor } from "./documents.ts"

const same = { title: "Verify an address", tags: ["mail"] }

describe("ranking", () => {
  test("names outrank titles, titles tags, tags descriptions", async () => {
    const filler = "one two three"
    const index = await indexOf(
      [
        endpointAt("/d", { description: `${filler} unicorn`, title: filler, tags: [filler] }),
        endpointAt("/c", { description: filler, title: filler, tags: ["unicorn"] }),
        endpointAt("/b", { description: filler, title: "unicorn", tags: [filler] }),
        endpointAt("/unicorn", { description: filler, title: filler, tags: [filler] })
      ],
      []
    )
    expect(slugsFor(index, "unicorn")).toEqual(["/unicorn", "/b", "/c", "/d"])
  })

  test("a capability comes before an equally relevant endpoint", async () => {
    const index = await indexOf([
      endpointAt("verify", { ...same, method: null, provider: null }),
      capabilityNamed("verify", same)
    ])
    expect(search(index, { query: "verify address", limit: 2 }).map(({ id }) => id)).toEqual([1, 0])
  })

  test("an endpoint that fits much better comes before a capability that hardly fits", async () => {
    const index = await indexOf([
      capabilityNamed("mail.verify", {
        description: "Checks an address; not for the hashtag of a long story about many other things"
      }),
      endpointAt("/instagram/hashtag", { title: "Instagram hashtag posts" })
    ])
    expect(slugsFor(index, "instagram hashtag")[0]).toBe("/instagram/hashtag")
  })

  test("live comes before not yet live, whatever kind", async () => {
    const index = await indexOf([
      endpointAt("verify", { ...same, live: false, slug: "verify" }),
      endpointAt("verify", { ...same, live: true }),
      capabilityNamed("verify", { ...same, live: false })
    ])
    const ids = search(index, { query: "verify", limit: 3 }).map(({ id }) => id)
    expect(ids[0]).toBe(1)
    expect(ids.indexOf(2)).toBeLessThan(ids.indexOf(0))
  })

  test("live comes before what fits somewhat better and is not live, and after what fits much better", async () => {
    const index = await indexOf([
      capabilityNamed("horse.search", { title: "unicorn", live: false }),
      capabilityNamed("horse.list", { description: "unicorn and some other animals" }),
      capabilityNamed("horse.find", { tags: ["unicorn"] })
    ])
    const score = (slug: string) => slugsFor(index, "unicorn").indexOf(slug)
    expect(score("horse.find")).toBeLessThan(score("horse.search"))
    expect(score("horse.search")).toBeLessThan(score("horse.list"))
  })

  test("a live capability comes before the endpoints that it wraps, even when only they match", async () => {
    const index = await indexOf([
      endpointAt("/unicorns/list", { title: "Unicorns", wrapped_by: ["horse.search"] }),
      endpointAt("/unicorns/get", { title: "Unicorns of the world", wrapped_by: ["horse.search"] }),
      capabilityNamed("horse.search")
    ])
    expect(slugsFor(index, "unicorns")).toEqual(["horse.search", "/unicorns/list", "/unicorns/get"])
    expect(slugsFor(index, "unicorns", { limit: 1 })).toEqual(["horse.search"])
    expect(slugsFor(index, "unicorns", { kind: "endpoint" })).toEqual(["/unicorns/list", "/unicorns/get"])
    expect(slugsFor(index, "unicorns", { kind: "capability" })).toEqual([])
  })

  test("a capability that is not live yet is not lifted", async () => {
    const index = await indexOf([
      endpointAt("/unicorns", { wrapped_by: ["horse.search"] }),
      capabilityNamed("horse.search", { live: false })
    ])
    expect(slugsFor(index, "unicorns")).toEqual(["/unicorns"])
  })

  test("of capabilities that wrap the same endpoint, the more relevant one comes first", async () => {
    const index = await indexOf([
      capabilityNamed("a.other"),
      capabilityNamed("b.news", { description: "news" }),
      endpointAt("/news/unicorns", { wrapped_by: ["a.other", "b.news"] })
    ])
    expect(slugsFor(index, "news unicorns")).toEqual(["b.news", "a.other", "/news/unicorns"])
  })

  test("what follows up on another call comes after that call", async () => {
    const index = await indexOf(
      ["/scrape/{id}", "/scrape/unicorn"].map((slug) => endpointAt(slug, { title: "Scrape job" })),
      []
    )
    expect(slugsFor(index, "scrape job")).toEqual(["/scrape/unicorn", "/scrape/{id}"])
  })

  test("equal scores are ordered by slug", async () => {
    const index = await indexOf(["/c", "/a", "/b"].map((slug) => endpointAt(slug, { title: "unicorn" })))
    expect(slugsFor(index, "unicorn")).toEqual(["/a", "/b", "/c"])
  })

  test("filters keep what a provider serves, and endpoints or capabilities", async () => {
    const index = await indexOf([
      capabilityNamed("mail.verify", { ...same, providers: ["acme", "Acme Inc."] }),
      capabilityNamed("mail.check", { ...same, providers: ["other", "Other"] }),
      endpointAt("/verify", { ...same, provider: "acme", wrapped_by: ["mail.verify", "mail.check"] }),
      endpointAt("/verify-too", { ...same, provider: "other" })
    ])
    expect(slugsFor(index, "verify", { provider: "acme" }).sort()).toEqual(["/verify", "mail.verify"])
    expect(slugsFor(index, "verify", { provider: "acme", kind: "capability" })).toEqual(["mail.verify"])
    expect(slugsFor(index, "verify", { provider: "other", kind: "endpoint" })).toEqual(["/verify-too"])
    expect(slugsFor(index, "verify", { provider: "nobody" })).toEqual([])
  })

  test("hold over random catalogs", async () => {
    const word = fc.constantFrom(..."mail verify unicorn horse news list page".split(" "))
    const words = fc.array(word, { maxLength: 4 }).map((list) => list.join(" "))
    const catalog = fc.record({
      capabilities: fc.array(fc.record({ text: words, live: fc.boolean() }), { minLength: 1, maxLength: 5 }),
      endpoints: fc.array(
        fc.record({ text: words, live: fc.boolean(), wrapped: fc.array(fc.nat(4), { maxLength: 2 }) }),
        {
          maxLength: 15
        }
      )
    })
    await fc.assert(
      fc.asyncProperty(
        catalog,
        words,
        fc.integer({ min: 1, max: 20 }),
        async ({ capabilities, endpoints }, query, limit) => {
          const index = await indexOf([
            ...endpoints.map(({ text, live, wrapped }, at) =>
              endpointAt(`/${at}`, { title: text, live, wrapped_by: wrapped.map((one) => `c.${one}`) })
            ),
            ...capabilities.map(({ text, live }, at) => capabilityNamed(`c.${at}`, { title: text, live }))
          ])
          const found = search(index, { query, limit }).map(({ id }) => index.documents[id]!)
          for (const [at, { wrapped_by }] of found.entries()) {
            const due = index.documents.filter(
              ({ kind, live, slug }) => kind === "capability" && live && wrapped_by.includes(slug)
            )
            for (const capability of due) expect(found.slice(0, at)).toContain(capability)
          }
        }
      ),
      { numRuns: 200 }
    )
  })
})
