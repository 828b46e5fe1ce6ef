/** What rules say before and after a run: inspect names them, a quote decides them for one input, a receipt names budgets, and replays count them. */
import { afterEach, describe, expect, test } from "bun:test"
import { newHome } from "../../http/cli/shell.ts"
import { type Tenant, verify, withApp } from "../../kit/app.ts"

const app = withApp()
afterEach(async () => {
  await app.books()
})

const begun = async () => {
  const org = await app.tenant("10.00")
  const session = await org.session()
  const set = async (method: string, path: string, body: unknown) => {
    const answer = await app.call(session, method, path, { body })
    expect([answer.status, answer.body.error?.message]).toEqual([200, undefined])
    return answer.body
  }
  const rule = (body: Record<string, unknown>) => set("POST", "/v1/approval-rules", body)
  const budget = (body: Record<string, unknown>) =>
    set("PUT", "/v1/label-budgets", { label: "customer", limit: "0.0100", period: "month", ...body })
  const optOut = (...values: ReadonlyArray<string>) => set("POST", "/v1/opt-outs", { values })
  return { org, session, set, rule, budget, optOut }
}
const send = (to: string) => ({
  capability: "email.send",
  input: { from: "hello@example.com", to, subject: "Hello", text: "Hello" }
})
const inspected = async (org: Tenant, body: Record<string, unknown>) => {
  const { body: answer } = await org.post("/v1/inspect", body)
  return { checks: answer.checks, hints: answer.hints.join("\n") }
}
const none = { approvals: [], label_budgets: [], opt_outs: false, contact_guard_days: null }

describe("inspect", () => {
  test("names the approval rules, label budgets and recipients that a run would be checked by", async () => {
    const { org, rule, budget, set } = await begun()
    expect((await inspected(org, { capability: "email.verify" })).checks).toEqual(none)
    const mail = await inspected(org, { capability: "email.send" })
    expect(mail.checks).toEqual({ ...none, opt_outs: true })
    expect(mail.hints).toContain("A recipient on an opt-out list")
    await rule({ name: "Mail", capabilities: ["email.send"] })
    await rule({ name: "Large", min_hold: "1.00" })
    await rule({ name: "Off", active: false })
    await rule({ name: "Raw", raw: true, labels: { customer: "acme" } })
    await budget({})
    await set("POST", "/v1/spend-guard", { contact_guard_days: 30 })
    const [large, label_budgets] = [{ rule: "Large", always: false }, ["customer"]]
    expect((await inspected(org, { capability: "email.verify" })).checks).toEqual({
      ...{ ...none, label_budgets, approvals: [large] }
    })
    const now = await inspected(org, { capability: "email.send" })
    expect(now.checks).toMatchObject({ label_budgets, opt_outs: true, contact_guard_days: 30 })
    expect(now.checks.approvals).toEqual(expect.arrayContaining([large, { rule: "Mail", always: true }]))
    expect(now.hints).toContain('Each run waits for the yes of a member first (rule "Mail").')
    expect(now.hints).toContain("in the last 30 days")
    const endpoint = { provider: "sec_edgar", endpoint: "/submissions/CIK{cik}.json" }
    const raw = await inspected(org, endpoint)
    expect(raw.checks.approvals).toEqual(expect.arrayContaining([large, { rule: "Raw", always: false }]))
    // It acts, and contacts nobody.
    const task = await inspected(org, { provider: "dataforseo", endpoint: "/v3/serp/google/organic/task_post" })
    const emails = await inspected(org, { provider: "resend", endpoint: "/emails", method: "POST" })
    expect([task.checks.opt_outs, emails.checks.opt_outs]).toEqual([false, true])
    // Rules of another organization are not shown.
    expect((await inspected(await app.tenant(), { capability: "email.send" })).checks).toEqual(mail.checks)
  })
})

test("inspect keeps budgets and the contact guard from a key that reads its own runs, as their lists do", async () => {
  const { org, session, rule, budget, set } = await begun()
  await budget({})
  await rule({ name: "All" })
  await set("POST", "/v1/spend-guard", { contact_guard_days: 30 })
  const body = { name: "own", environment: "test", allow: { read: "own" } }
  const key = await app.call(session, "POST", "/v1/api-keys", { body })
  const send = { body: { capability: "email.send" } }
  const { body: seen } = await app.call(key.body.api_key, "POST", "/v1/inspect", send)
  const approvals = [{ rule: "All", always: true }]
  expect(seen.checks).toEqual({ ...none, opt_outs: true, approvals })
  expect(seen.hints.join("\n")).not.toContain("customer")
  const all = { approvals, label_budgets: ["customer"], opt_outs: true, contact_guard_days: 30 }
  expect((await inspected(org, { capability: "email.send" })).checks).toEqual(all)
})

describe("a quote", () => {
  test("says which rule makes the run wait and what is left of the budgets, as the run then finds it", async () => {
    const { org, session, rule, budget } = await begun()
    await budget({ value: "acme" })
    const key = await app.call(session, "POST", "/v1/api-keys", {
      body: { name: "agent", environment: "test", budget: { limit: "0.0200", period: "day" } }
    })
    const labelled = { ...verify("quoted"), metadata: { customer: "acme" } }
    const quoteOf = async (body: unknown) => (await app.call(key.body.api_key, "POST", "/v1/quote", { body })).body
    const ofKey = { label: null, value: null, limit: "0.02", period: "day" }
    const ofLabel = { label: "customer", value: "acme", limit: "0.01", period: "month" }
    expect((await quoteOf(verify("other"))).budgets).toEqual([{ ...ofKey, left: "0.02" }])
    expect((await org.post("/v1/quote", verify("other"))).body.budgets).toBeUndefined()
    // A run holds 0.0048 and is charged 0.003.
    expect((await app.call(key.body.api_key, "POST", "/v1/run", { body: labelled })).status).toBe(200)
    const after = await quoteOf(labelled)
    expect(after.budgets).toEqual([
      { ...ofKey, left: "0.017" },
      { ...ofLabel, left: "0.007" }
    ])
    expect(after.approval_required).toBeUndefined()
    await rule({ name: "Checks", capabilities: ["email.verify"] })
    expect(await quoteOf(labelled)).toMatchObject({ would: "run", approval_required: true, approval_rule: "Checks" })
    const home = newHome({ RUNGATE_URL: app.url, RUNGATE_API_KEY: String(key.body.api_key) })
    const said = home.terminal(`rungate quote email.verify email=quoted@example.com`)
    expect(await said.ended).toBe(0)
    expect(said.seen()).toContain('The run waits for the yes of a member first (rule "Checks").')
    expect(said.seen()).toContain("Budget of the API key: $0.017 of $0.02 is left in this day.")
    home.remove()
    const { body: waiting } = await app.call(key.body.api_key, "POST", "/v1/run", { body: labelled })
    expect(waiting.approval.rule).toBe("Checks")
  })

  test("keeps the budget of a label, in which other runs count, from a key that reads its own runs", async () => {
    const { org, session, budget } = await begun()
    await budget({})
    const key = await app.call(session, "POST", "/v1/api-keys", {
      body: { name: "own", environment: "test", allow: { read: "own" }, budget: { limit: "1", period: "total" } }
    })
    const body = { ...verify(), metadata: { customer: "acme" } }
    const seen = async (token: string) =>
      (await app.call(token, "POST", "/v1/quote", { body })).body.budgets.map((one: { label: string }) => one.label)
    expect([await seen(key.body.api_key), await seen(org.key)]).toEqual([[null], ["customer"]])
  })

  test("names what the cheapest provider charges, and two if their answers must agree", async () => {
    const { org } = await begun()
    const find = { capability: "email.find", input: { full_name: "Ada Lovelace", company_domain: "example.com" } }
    const quoteOf = async (more: object) => {
      const { body } = await org.post("/v1/quote", { ...find, ...more })
      const prices = body.offers.flatMap((one: { chosen: boolean; price: string }) =>
        one.chosen ? [Number(one.price)] : []
      )
      return { from: Number(body.from), prices: prices.toSorted((a: number, b: number) => a - b) }
    }
    const one = await quoteOf({})
    expect(one.from).toBe(one.prices[0])
    const two = await quoteOf({ accept: { fields: ["email"], agree: 2 } })
    expect(two.from).toBeCloseTo(two.prices[0] + two.prices[1], 6)
  })
})

test("a receipt names the budgets that its run counted in, and no label after its erasure", async () => {
  const { org, session, budget } = await begun()
  await budget({})
  const key = await app.call(session, "POST", "/v1/api-keys", {
    body: { name: "agent", environment: "test", budget: { limit: "0.0200", period: "day" } }
  })
  const run = async (token: string, metadata: Record<string, string>) =>
    (await app.call(token, "POST", "/v1/run", { body: { ...verify("budgeted"), metadata } })).body.run_id
  const budgetsOf = async (run_id: string) => {
    const { text } = await org.get(`/v1/runs/${run_id}/receipt`)
    return JSON.parse(Buffer.from(text.split(".")[1] ?? "", "base64url").toString()).budgets
  }
  const id = expect.any(String)
  const both = await run(key.body.api_key, { customer: "acme", campaign: "spring" })
  expect(await budgetsOf(both)).toEqual([
    { budget_id: id, label: null, value: null },
    { budget_id: expect.stringMatching(/^val_/), label: "customer", value: "acme" }
  ])
  expect((await org.get(`/v1/runs/${both}/details`)).body.budgets).toEqual(await budgetsOf(both))
  expect(await budgetsOf(await run(org.key, { campaign: "spring" }))).toBeUndefined()
  expect((await app.call(session, "DELETE", "/v1/history?q=budgeted@example.com")).body.erased).toBe(2)
  expect(await budgetsOf(both)).toEqual([{ budget_id: id, label: null, value: null }])
})

describe("past runs", () => {
  test("are counted that approval rules make wait and opt-outs block, in a simulation and in a preview", async () => {
    const { org, session, rule, budget, optOut } = await begun()
    const from = new Date(Date.now() - 86_400_000).toISOString()
    const simulated = async (more: object = {}, token = session) =>
      (await app.call(token, "POST", "/v1/simulate", { body: { from, ...more } })).body.limits
    for (const n of [1, 2, 3])
      expect((await org.run({ ...verify(`past${n}`), metadata: { customer: "acme" } })).status).toBe(200)
    for (const to of ["a@example.com", "b@example.com"]) expect((await org.run(send(to))).status).toBe(200)
    expect(await simulated()).toBeUndefined()
    await optOut("b@example.com")
    const opted = { rule: "opt_outs", blocked_runs: 1, waiting_runs: 0 }
    expect(await simulated()).toMatchObject({ runs: 5, blocked_runs: 1, waiting_runs: 0, rules: [opted], cut: false })
    expect((await org.run(send("b@example.com"))).body.error.code).toBe("opt_out")

    const rules = { approval_rules: [{ name: "Mail", capabilities: ["email.send"], providers: ["resend"] }] }
    const previewed = async (configuration: unknown) =>
      (await app.call(session, "POST", "/v1/configuration/preview", { body: { configuration } })).body.replay
    // The run that is blocked does not wait.
    expect(await previewed(rules)).toMatchObject({
      ...{ runs: 5, blocked_runs: 1, waiting_runs: 1 },
      rules: [{ rule: "approval_rules.Mail", blocked_runs: 0, waiting_runs: 1 }, opted]
    })
    const [mail] = rules.approval_rules
    for (const less of [
      { ...mail, active: false },
      { ...mail, providers: ["hunter"] }
    ])
      expect((await previewed({ approval_rules: [less] }))?.waiting_runs ?? 0).toBe(0)

    await rule({ name: "Mail", capabilities: ["email.send"] })
    await rule({ name: "Off", active: false })
    await rule({ name: "Acme", labels: { customer: "acme" }, min_hold: "0.0048" })
    // The first holds 0.0048 and is charged 0.003, so the second fits and the third does not.
    await budget({ limit: "0.0080" })
    const all = await simulated()
    expect(all).toMatchObject({ runs: 5, blocked_runs: 2, waiting_runs: 3 })
    expect(all.rules).toEqual(
      expect.arrayContaining([
        { rule: "approval_rules.Mail", blocked_runs: 0, waiting_runs: 1 },
        { rule: "approval_rules.Acme", blocked_runs: 0, waiting_runs: 2 },
        { rule: "label_budgets.customer", blocked_runs: 1, waiting_runs: 0 },
        opted
      ])
    )
    expect(all.rules).toHaveLength(4)
    // A changed rule keeps the conditions that the file leaves out.
    const smaller = { approval_rules: [{ name: "Acme", min_hold: "0.0001" }] }
    expect(await previewed(smaller)).toMatchObject({ runs: 5, blocked_runs: 1, waiting_runs: 3 })
    // Of one capability, and not of the time after.
    expect(await simulated({ capability: "email.send" })).toMatchObject({ runs: 2, blocked_runs: 1, waiting_runs: 1 })
    expect(await simulated({ from: "2026-01-01", to: "2026-01-02" })).toMatchObject({ runs: 0, blocked_runs: 0 })
    // A key with a scope learns nothing about other rules.
    const key = await app.call(session, "POST", "/v1/api-keys", {
      body: { name: "scoped", environment: "test", allow: { capabilities: ["email.send"] } }
    })
    expect(await simulated({ capability: "email.send" }, key.body.api_key)).toBeUndefined()

    const home = newHome({ RUNGATE_URL: app.url, RUNGATE_API_KEY: org.key })
    const screen = home.terminal("rungate simulate --from 1d")
    expect(await screen.ended).toBe(0)
    expect(screen.seen().replaceAll(/\s+/g, " ")).toContain("would have blocked 2 and made 3 wait for a yes.")
    expect(screen.seen()).toContain("2 made to wait by approval_rules.Acme")
    home.remove()
  })
})
