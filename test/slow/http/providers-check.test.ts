/**
 * `rungate providers check`: an operator accepts a provider with real runs, before customers use it. The provider is a stand-in over real HTTP,
 * and a running service executes the runs.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type App, startApp, type Tenant } from "../../kit/app.ts"
import { runMain } from "../../chaos/processes.ts"
import { type Heard, standIn } from "../../layers/providers/standin.ts"
import { hunter } from "../../../src/layers/providers/hunter.ts"
import { recordingOf, redacted } from "../../../src/http/upkeep/providers/recording.ts"

const there = standIn()
const folder = mkdtempSync(join(tmpdir(), "rungate-recordings-"))
let app: App
let org: Tenant
beforeAll(async () => {
  app = await startApp({ settings: there.settings })
  org = await app.tenant("5.00")
})
beforeEach(() => there.forget())
afterAll(async () => {
  await app.books()
  await app.stop()
  await there.stop()
  rmSync(folder, { recursive: true })
})

const check = async (slug: string, ...args: ReadonlyArray<string>) => {
  const env = { ...app.settings, REDIS_URL: "", PORT: "0" }
  const { errors, output, ended } = runMain(["providers", "check", slug, ...args], env)
  const { code } = await ended
  const out = output()
  return { code, out, err: errors(), body: out.startsWith("{") ? JSON.parse(out) : null }
}

const bodies: Readonly<Record<string, unknown>> = {
  "/email-finder": {
    data: {
      email: "patrick@stripe.com",
      score: 97,
      domain: "stripe.com",
      phone_number: "+1 415 555 1234",
      sources: []
    },
    meta: { params: { api_key: "k-1" } }
  },
  "/email-verifier": { data: { status: "valid", email: "support@stripe.com", score: 100 } },
  "/people/find": {
    data: { name: { fullName: "Bill Gates" }, email: "bill@example.com", linkedin: { handle: "in/williamhgates" } }
  },
  "/companies/find": { data: { name: "Stripe", domain: "stripe.com", metrics: {}, tech: [] } }
}
const answerAll = ({ path }: Heard) => {
  const body = bodies[path.replace(/^\/v2/, "")]
  return body === undefined ? { status: 500, body: "oops" } : { status: 200, body: JSON.stringify(body) }
}
const playAll = () => there.play("hunter", ...Array.from({ length: 20 }, () => answerAll))

test("runs each offer once through the wallet, and says what was answered, filled, charged and how long it took", async () => {
  playAll()
  const before = await org.wallet()
  const { code, body, err } = await check("hunter", "--org", org.org_id, "--yes", "--json", "--record", folder)
  expect(code).toBe(1)
  const checks = new Map<string, { run_id: string; outcome: string }>(
    body.checks.map((one: { capability: string }) => [one.capability, one])
  )
  expect([...checks.keys()].sort()).toEqual([
    "company.enrich",
    "company.search",
    "email.find",
    "email.verify",
    "people.enrich"
  ])
  expect(checks.get("email.find")).toMatchObject({
    answered: true,
    parsed: true,
    outcome: "succeeded",
    filled: expect.arrayContaining(["email", "confidence", "company_domain"]),
    empty: expect.arrayContaining(["first_name"]),
    charged: "0.0294",
    cost: "0.0245",
    cost_fits: true
  })
  // The stand-in fails it, so the provider is not accepted.
  expect(checks.get("company.search")).toMatchObject({
    answered: false,
    parsed: false,
    outcome: "provider_error",
    charged: "0.00"
  })
  expect(body.skipped).toEqual([{ capability: "company.tech", why: "does not run in production yet" }])
  expect(err).toContain("1 of 5 offers did not pass")
  // These are real runs of the organization, charged to its wallet.
  const after = await org.wallet()
  expect(Number(before.balance) - Number(after.balance)).toBeCloseTo(Number(body.charged), 6)
  const run = await org.get(`/v1/runs/${checks.get("email.find")?.run_id}`)
  expect(run.body).toMatchObject({ status: "succeeded", provider: "hunter", billing: { charged: "0.0294" } })
  const stored = await app.sql("SELECT capability, passed FROM provider_checks WHERE provider = 'hunter' ORDER BY 1")
  expect(stored).toHaveLength(5)
  expect(stored.filter((one) => one["passed"] === false).map((one) => one["capability"])).toEqual(["company.search"])

  // What was recorded is redacted, and what the adapter makes of it is in it.
  const text = readFileSync(join(folder, "hunter.email.find.json"), "utf8")
  expect(text).not.toMatch(/patrick@|415 555 1234|k-1|s3cret/)
  expect(JSON.parse(text)).toMatchObject({
    provider: "hunter",
    capability: "email.find",
    answer: { status: 200, body: { data: { email: "redacted@stripe.com" } } },
    output: { email: "redacted@stripe.com", confidence: 97 }
  })
})

test("never spends more than --max-cost, and says what it left out", async () => {
  playAll()
  const before = await org.wallet()
  const { body } = await check("hunter", "--org", org.org_id, "--yes", "--json", "--max-cost", "0.05")
  expect(Number(body.charged)).toBeLessThanOrEqual(0.05)
  expect(there.heard("hunter").length).toBeLessThan(5)
  expect(body.skipped).toContainEqual({
    capability: expect.any(String),
    why: expect.stringContaining("of --max-cost is left")
  })
  const after = await org.wallet()
  expect(Number(before.balance) - Number(after.balance)).toBeLessThanOrEqual(0.05)
})

test("asks first: without a terminal and --yes nothing runs; a wrong slug names the nearest; an account that is missing is named", async () => {
  const [unasked, wrong, missing] = await Promise.all([
    check("hunter", "--org", org.org_id),
    check("huntr", "--org", org.org_id, "--yes"),
    runMain(["providers", "check", "hunter", "--yes"], {
      DATABASE_URL: app.databaseUrl,
      RUNGATE_MODE: "production",
      REDIS_URL: ""
    })
  ])
  expect([unasked.code, unasked.err]).toEqual([5, expect.stringContaining("--yes")])
  expect(unasked.err).toContain("Run 5 offers of hunter for at most 0.")
  expect([wrong.code, wrong.err]).toEqual([250, expect.stringContaining("Did you mean `hunter`?")])
  expect((await missing.ended).code).toBe(5)
  expect(missing.errors()).toContain("RUNGATE_PROVIDER_HUNTER_API_KEY")
  expect(there.heard("hunter")).toEqual([])
})

test("a recording has no secret, address, phone number or balance, and keeps what adapters read", () => {
  const value = {
    api_token: "abc",
    credits_remaining: 4321,
    credits_consumed: 0.25,
    email: "Jane.Doe+x@example.com",
    phone: "+49 170 1234567",
    date: "2026-11-22 10:00:00",
    picture: "https://cdn.example.com/a.png?X-Amz-Signature=deadbeef&w=2",
    items: [1, 2, 3, 4, 5]
  }
  expect(redacted(value)).toEqual({
    api_token: "redacted",
    credits_remaining: 0,
    credits_consumed: 0.25,
    email: "redacted@example.com",
    phone: "+14155550100",
    date: "2026-11-22 10:00:00",
    picture: "https://cdn.example.com/a.png?X-Amz-Signature=redacted&w=2",
    items: [1, 2, 3]
  })
  const [offer] = hunter.offers
  if (offer === undefined) throw new Error("hunter has offers")
  const about = {
    provider: "hunter",
    capability: offer.capability,
    recorded_at: "2026-11-22T00:00:00Z",
    input: { full_name: "A B", company_domain: "a.co" }
  }
  expect(recordingOf(about, offer, '{"data":{}}').output).toBeNull()
})
