/**
 * Details of a run over real HTTP: the request in them asks for the same again, the offers and amounts are those of the quote and the ledger,
 * a run that waits has them too, and nobody gets somebody else's.
 */
import { beforeAll, describe, expect, test } from "bun:test"
import { callUrl, rehearse, startApp, type Tenant, verify, withApp } from "../../kit/app.ts"
import { valuesOfPath } from "../../../src/schema/receipts/RequestOfRun.ts"

const find = {
  capability: "email.find",
  input: { first_name: "Jane", last_name: "Doe", company_domain: "example.com" },
  routing: { strategy: "cheapest", max_cost: "0.02" },
  metadata: { campaign: "spring" }
}

let org: Tenant
let other: Tenant
const app = withApp()
beforeAll(async () => {
  ;[org, other] = [await app.tenant("25.00"), await app.tenant("5.00")]
})

const ran = async (body: Record<string, unknown>): Promise<string> => (await org.run(body)).body.run_id
const detailsOf = (tenant: Tenant, id: string) => tenant.get(`/v1/runs/${id}/details`)

describe("the details of a run", () => {
  test("have the request, every offer, the real hold, and the ledger entries", async () => {
    const { body: quote } = await org.post("/v1/quote", find)
    const run_id = await ran(find)
    const { body: run } = await org.get(`/v1/runs/${run_id}`)
    const { status, body } = await detailsOf(org, run_id)
    expect(status).toBe(200)
    expect(body).toMatchObject({ run_id, status: "succeeded", key_id: org.key_id, request: find, erased_at: null })
    const shown = (offers: ReadonlyArray<{ provider: string; price: string; excluded_because: string | null }>) =>
      offers.map(({ provider, price, excluded_because }) => `${provider} ${price} ${excluded_because}`).sort()
    expect(shown(body.decision.offers)).toEqual(shown(quote.offers))
    expect(body.decision.reason).toBe(run.routing_reason)
    expect(body.billing).toMatchObject({ quoted: quote.maximum, held: quote.hold, charged: run.billing.charged })
    const micros = (text: string) => Math.round(Number(text) * 1_000_000)
    expect(micros(body.billing.released)).toBe(micros(quote.hold) - micros(run.billing.charged))
    const rows = await app.sql("SELECT txn_id, type FROM ledger WHERE run_id = $1 ORDER BY seq", [run_id])
    expect(body.ledger.map(({ id, type }: { id: string; type: string }) => ({ txn_id: id, type }))).toEqual([...rows])
    const { body: transactions } = await org.get("/v1/wallet/transactions?limit=200")
    const known = new Set(transactions.items.map(({ id }: { id: string }) => id))
    expect(body.ledger.every(({ id }: { id: string }) => known.has(id))).toBe(true)
  })

  test("of every kind of request ask for the same again", async () => {
    const bodies = [
      verify(),
      { ...verify(), routing: { provider: "zerobounce", max_total: "0.03" }, response: { include_raw: true } },
      { ...verify(), routing: { strategy: "cheapest", allow_fallback: false } },
      { ...verify("once"), reuse: { mode: "prefer", max_age_seconds: 3_600 } },
      {
        capability: "email.send",
        input: { from: "a@example.com", to: "b@example.com", subject: "s", text: "t" },
        unless_contacted_within_seconds: 60
      },
      {
        provider: "sec_edgar",
        endpoint: "/submissions/CIK{cik}.json",
        method: "GET",
        path: { cik: "0000320193" },
        input: {}
      }
    ]
    for (const body of bodies) {
      const first = await detailsOf(org, await ran(body))
      expect(first.body.request).toEqual(body)
      const again = await detailsOf(org, await ran(first.body.request))
      expect([body, again.body.request]).toEqual([body, first.body.request])
    }
  })

  test("keep each digit of a raw request", async () => {
    const endpoint = "/submissions/CIK{cik}.json"
    const raw = `{"provider":"sec_edgar","endpoint":"${endpoint}","path":{"cik":"0000320193"},"input":{ }}`
    const sent = await app.call(org.key, "POST", "/v1/run", { raw })
    const { text } = await detailsOf(org, sent.body.run_id)
    expect(text).toContain('"input":{ }')
  })

  test("say that a blocked run held nothing, and that a failed one released its hold", async () => {
    expect((await org.post("/v1/spend-guard", { per_run_limit: "0.000001" })).status).toBe(200)
    const blocked = await detailsOf(org, await ran(find))
    await app.call(await org.session(), "POST", "/v1/spend-guard", { body: { per_run_limit: null } })
    expect(blocked.body).toMatchObject({ status: "blocked", ledger: [], billing: { held: null, released: null } })
    const failed = await detailsOf(org, await ran(rehearse("error")))
    const { held, released, charged } = failed.body.billing
    expect([failed.body.status, released === held, held === null, charged === null || Number(charged) === 0]).toEqual([
      "failed",
      true,
      false,
      true
    ])
  })

  test("exist before the run has ended", async () => {
    const idle = await startApp({ role: "http" })
    const waiting = await idle.tenant()
    const { body: run } = await waiting.run({ ...verify(), async: true })
    const { status, body } = await detailsOf(waiting, run.run_id)
    expect([status, body.finished_at, body.billing.released, body.billing.charged]).toEqual([200, null, null, null])
    expect(body.request).toEqual(verify())
    await idle.stop()
  })

  test("of an erased run keep the amounts only", async () => {
    const run_id = await ran(verify("gone", "erased-details.example"))
    const session = await org.session()
    expect((await app.call(session, "DELETE", "/v1/history?q=gone@erased-details.example")).status).toBe(200)
    const { status, body, text } = await detailsOf(org, run_id)
    expect([status, body.request, body.decision, body.erased_at !== null]).toEqual([200, null, null, true])
    expect(body.ledger.length).toBeGreaterThan(0)
    expect(text).not.toContain("erased-details.example")
  })

  test("belong to the organization, whatever is asked", async () => {
    const run_id = await ran(verify("own"))
    const nobody = await detailsOf(org, `run_${"7".repeat(26)}`)
    const stolen = await detailsOf(other, run_id)
    expect([nobody.status, nobody.body.error.code]).toEqual([400, "invalid_request"])
    expect([stolen.status, stolen.body.error.details[0].path]).toEqual([400, "path.run_id"])
    for (const hostile of ["%00", "..%2f..", "run_", "'; DROP TABLE runs; --", "\u{1f600}", "x".repeat(5_000)]) {
      const { status } = await other.get(`/v1/runs/${encodeURIComponent(decodeURIComponent(hostile))}/details`)
      expect([hostile.slice(0, 30), [400, 404, 414].includes(status)]).toEqual([hostile.slice(0, 30), true])
    }
    expect((await callUrl(app.url, null, "GET", `/v1/runs/${run_id}/details`)).status).toBe(401)
  })
})

test("values of a path come back as they were given", () => {
  const of = (template: string, filled: string) => valuesOfPath(template, filled)
  expect(of("/v2/{id}/x.json", "/v2/a%2Fb%20c/x.json")).toEqual({ id: "a/b c" })
  expect(of("/v2/{a}/{b}", "/v2/1/%F0%9F%98%80")).toEqual({ a: "1", b: "\u{1f600}" })
  expect(of("/v2/(plain)+", "/v2/(plain)+")).toEqual({})
  // The catalog's path has changed since.
  expect(of("/v3/{id}", "/v2/1")).toEqual({})
})
