/** What discover tells beside its items. */
import { describe, expect, test } from "bun:test"
import { hintsFor } from "../../../src/layers/search/hints.ts"
import { search, type SearchIndex, type SearchRequest } from "../../../src/layers/search/Index.ts"
import { capabilityNamed, endpointAt, indexOf } from "./documents.ts"

const catalog = () =>
  indexOf([
    capabilityNamed("email.verify", { title: "Verify an email address" }),
    capabilityNamed("people.enrich", { title: "Enrich a person" }),
    capabilityNamed("network.profile", { title: "Read a profile" }),
    capabilityNamed("company.enrich", { title: "Enrich companies" }),
    capabilityNamed("web.scrape", { title: "Scrape a page" }),
    capabilityNamed("phone.lookup", { title: "Look up a phone number" }),
    capabilityNamed("company.tech", { title: "Technologies", live: false }),
    endpointAt("/companies", { title: "Companies" })
  ])

const hints = (index: SearchIndex, query: string, more: Partial<SearchRequest> = {}) => {
  const request = { query, limit: 10, ...more }
  return hintsFor(index, request, search(index, request)).hints.join("\n")
}

describe("hints", () => {
  test.each([
    ["jane@example.com", "email.verify"],
    ["who is jane@example.com", "people.enrich"],
    ["https://www.linkedin.com/in/jane-doe/", "network.profile"],
    ["linkedin.com/company/example", "company.enrich"],
    ["https://example.com/pricing", "web.scrape"],
    ["example.com", "company.enrich"],
    ["+1 (415) 555-0100", "phone.lookup"],
    ["run_01h455vb4pex5vsknk084sn02q", "GET /v1/runs/run_01h455vb4pex5vsknk084sn02q"],
    ["email.verify", '{"capability":"email.verify"}']
  ])("for %s lead to %s", async (query, expected) => {
    expect(hints(await catalog(), query)).toContain(expected)
  })

  test("for data ask what is on record before buying anything", async () => {
    expect(hints(await catalog(), "jane+x@example.com")).toContain("GET /v1/history?q=jane%2Bx%40example.com")
    expect(hints(await catalog(), "work email")).not.toContain("/v1/history")
  })

  test("name only capabilities that exist", async () => {
    expect(hints(await indexOf([capabilityNamed("email.verify")]), "jane@example.com")).not.toContain("people.enrich")
  })

  test("of an empty answer say what to try", async () => {
    const index = await catalog()
    const text = hints(index, "qqqq", { provider: "nobody", kind: "endpoint" })
    expect(text).toContain("Nothing matched")
    expect(text).toContain('provider filter "nobody"')
    expect(text).toContain('kind filter "endpoint"')
    expect(text).toContain("company, email, network")
    expect(hints(index, "?!")).toContain("no words")
    expect(hints(index, "qqqq ".repeat(9))).toContain("run's input")
  })

  test("suggest words as people write them", async () => {
    expect(hints(await catalog(), "compxnies", { provider: "nobody" })).toContain('Did you mean "company"')
  })

  test("of a found capability show how to inspect it, and say when it is not live", async () => {
    const index = await catalog()
    expect(hints(index, "verify an address")).toContain('POST /v1/inspect {"capability":"email.verify"}')
    expect(hints(index, "technologies")).toContain("not live yet")
  })

  test("are few, whatever the query", async () => {
    const index = await catalog()
    for (const query of ["", "a@b.co ".repeat(500), "x".repeat(10_000), "__proto__", "run_", "+", "http://", "é@é.é"]) {
      expect(
        hintsFor(index, { query, limit: 1, kind: "endpoint", provider: "p" }, []).hints.length
      ).toBeLessThanOrEqual(6)
    }
  })
})
