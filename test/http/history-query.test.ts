/** What GET /v1/history takes: a subject in any encoding, a kind that it reads as, a limit; and what it refuses, by name. */
import { beforeAll, describe, expect, test } from "bun:test"
import { type Tenant, withApp } from "../kit/app.ts"

let org: Tenant
const app = withApp()
beforeAll(async () => {
  org = await app.tenant("1.00")
})

const view = async (q: string, more: Record<string, string> = {}) => {
  const { status, body } = await org.get(`/v1/history?${new URLSearchParams({ q, ...more })}`)
  expect([q, status]).toEqual([q, 200])
  return body
}
const ids = (items: ReadonlyArray<{ run_id: string }>) => items.map((item) => item.run_id)

test("a match by text has the path of the value, whatever separates its words", async () => {
  const phone = "(415) 555-2671"
  await org.run({ capability: "phone.lookup", input: { phone, country_code: "us" } })
  const { items } = await view("415 555 2671", { kind: "text" })
  expect(items).toMatchObject([{ matched: { in: "input", path: "phone", exact: false } }])
})

describe("a question", () => {
  test.each([
    ["", "query.q"],
    ["?q=", "query.q"],
    ["?q=%20", "query.q"],
    ["?q=%00", "query.q"],
    [`?q=${"a".repeat(2_001)}`, "query.q"],
    ["?q=hello&kind=email", "query.q"],
    ["?q=hello%20there&kind=phone", "query.q"],
    ["?q=example&kind=domain", "query.q"],
    ["?q=https%3A%2F%2Fexample.com%2Fx&kind=network", "query.q"],
    ["?q=a%40b.example&kind=person", "query.kind"],
    ["?q=a%40b.example&kind=", "query.kind"],
    ["?q=a%40b.example&kind=EMAIL", "query.kind"],
    ["?q=a%40b.example&limit=0", "query.limit"],
    ["?q=a%40b.example&limit=201", "query.limit"],
    ["?q=a%40b.example&limit=x", "query.limit"],
    ["?q=a%40b.example&limit=-1", "query.limit"],
    ["?q=a%40b.example&limit=1.5", "query.limit"],
    ["?q=a%40b.example&q=c%40d.example", "query.q"]
  ])("%#: is refused, and says why", async (query, path) => {
    const { status, body } = await org.get(`/v1/history${query}`)
    expect([status, body.error.code, body.error.details[0].path]).toEqual([400, "invalid_request", path])
    expect(body.error.message).toStartWith(path)
  })

  test("the kind is detected, or forced; parameters may be written in any encoding", async () => {
    const forced = [
      ["https://www.kinds.example/a", "domain", "kinds.example"],
      ["someone@kinds.example", "domain", "kinds.example"],
      ["ada-kinds", "network", "in/ada-kinds"],
      ["kinds.example", "url", "kinds.example"],
      ["ada_kinds", "handle", "ada_kinds"],
      ["+1 415 555 0142", "text", "+1 415 555 0142"],
      ["A@Kinds.Example", "text", "a@kinds.example"]
    ] as const
    for (const [q, kind, normalized] of forced) {
      const { subject } = await view(q, { kind })
      expect([subject.query, subject.kind]).toEqual([q, kind])
      expect(subject.normalized).toContain(normalized)
    }
    const run = (await org.run({ capability: "email.verify", input: { email: "plus+tag@odd.example" } })).body
    for (const q of [
      "plus%2Btag%40odd.example",
      "plus%2btag@odd.example",
      "%70lus%2Btag%40odd%2Eexample",
      "+plus%2Btag@odd.example+",
      "%3Cplus%2Btag@odd.example%3E"
    ]) {
      const { status, body } = await org.get(`/v1/history?q=${q}`)
      expect([q, status, ids(body.items ?? [])]).toEqual([q, 200, [run.run_id]])
    }
    for (const q of [
      "%",
      "%zz",
      "%E0%A4%A",
      "%ff%fe",
      "a%00b%40odd.example",
      "%F0%9F%98%80",
      "%ED%A0%80",
      "';--",
      "\\%27 OR 1=1",
      "%22%22"
    ]) {
      const { status } = await org.get(`/v1/history?q=${q}`)
      expect([q, [200, 400].includes(status)]).toEqual([q, true])
    }
  })
})
