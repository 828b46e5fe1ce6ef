/** Budgets of labels: what the runs of a customer may cost, decided in the wallet's turn. */
import { afterEach, describe, expect, test } from "bun:test"
import { type Tenant, until, verify, withApp } from "../../kit/app.ts"
import { howMany } from "../../kit/input-samples.ts"

const app = withApp({ settings: { RUNGATE_ORG_QUEUE: "10000" } })
afterEach(async () => {
  await app.books()
})

/** What a run of `verify` holds, and what it is charged. */
const [held, charged] = [4_800n, 3_000n]
const micros = (usd: string) => BigInt(Math.round(Number(usd) * 1_000_000))

const begun = async () => {
  const org = await app.tenant("10.00")
  const session = await org.session()
  const budget = async (body: Record<string, unknown>) => {
    const answer = await app.call(session, "PUT", "/v1/label-budgets", { body })
    expect([answer.status, answer.body.error?.message]).toEqual([200, undefined])
    return answer.body
  }
  const list = async () => (await org.get("/v1/label-budgets")).body.items
  return { org, session, budget, list }
}
let people = 0
const run = (org: Tenant, metadata: Record<string, string> | null, more: Record<string, unknown> = {}) =>
  org.post("/v1/run", { ...verify(`p${(people += 1)}`), ...(metadata === null ? {} : { metadata }), ...more })
const brief = ({ status, body }: Awaited<ReturnType<typeof run>>) => [status, body.controls ?? []]
const blocked = [402, [{ control: "label_budget", manage: "/v1/label-budgets" }]]
const admitted = [200, []]

describe("the budget of a label", () => {
  test("blocks the runs of its value that would pass it, and no others", async () => {
    const { org, budget, list } = await begun()
    await budget({ label: "customer", value: "acme", limit: "0.0050", period: "total" })
    expect(brief(await run(org, { customer: "acme", campaign: "spring" }))).toEqual(admitted)
    const refused = await run(org, { customer: "acme" })
    expect(brief(refused)).toEqual(blocked)
    expect(refused.body.error).toEqual({
      code: "budget_exceeded",
      message: expect.stringMatching(
        /the budget of the label customer with the value "acme", \$0\.005 in total; .* PUT \/v1\/label-budgets$/
      )
    })
    for (const labels of [null, { customer: "other" }, { client: "acme" }])
      expect(brief(await run(org, labels))).toEqual(admitted)
    expect(await list()).toMatchObject([{ label: "customer", value: "acme", spent: "0.003", reserved: "0.00" }])
  })

  test("is for each value by itself without one, but for values that have their own", async () => {
    const { org, budget } = await begun()
    await budget({ label: "customer", limit: "0.0050", period: "month" })
    await budget({ label: "customer", value: "big", limit: "1.00", period: "month" })
    for (const customer of ["a", "b"]) {
      expect(brief(await run(org, { customer }))).toEqual(admitted)
      expect(brief(await run(org, { customer }))).toEqual(blocked)
    }
    for (const _ of [1, 2, 3]) expect(brief(await run(org, { customer: "big" }))).toEqual(admitted)
  })

  test("can be raised, lowered and removed, and counts on meanwhile", async () => {
    const { org, session, budget, list } = await begun()
    const { id } = await budget({ label: "customer", limit: "0.0050", period: "day" })
    expect(brief(await run(org, { customer: "a" }))).toEqual(admitted)
    expect(brief(await run(org, { customer: "a" }))).toEqual(blocked)
    expect((await budget({ label: "customer", value: null, limit: "0.0100", period: "day" })).id).toBe(id)
    expect(brief(await run(org, { customer: "a" }))).toEqual(admitted)
    expect(brief(await run(org, { customer: "a" }))).toEqual(blocked)
    const removed = await app.call(session, "DELETE", `/v1/label-budgets/${id}`)
    expect([removed.status, removed.body]).toEqual([200, { id, deleted: true }])
    expect(await list()).toEqual([])
    expect(brief(await run(org, { customer: "a" }))).toEqual(admitted)
    // Nobody counted that run.
    const again = await budget({ label: "customer", value: "a", limit: "0.0100", period: "day" })
    expect(again.spent).toBe("0.006")
    const unknown = await app.call(session, "DELETE", `/v1/label-budgets/${id}`)
    expect([unknown.status, unknown.body.error.message]).toEqual([
      400,
      `There is no label budget "${id}"; GET /v1/label-budgets lists them.`
    ])
    expect(unknown.body.error.details).toMatchObject([
      { path: "path.label_budget_id", message: "is not a label budget of this organization" },
      { cli: "rungate label-budgets list" }
    ])
  })

  test("stands beside the key's budget, and several labels count together", async () => {
    const { session, budget, list } = await begun()
    await budget({ label: "customer", value: "acme", limit: "1.00", period: "day" })
    await budget({ label: "campaign", limit: "0.0050", period: "day" })
    const body = { name: "k", environment: "test", budget: { limit: "0.0100", period: "day" } }
    const key = (await app.call(session, "POST", "/v1/api-keys", { body })).body
    const asKey = (metadata: Record<string, string>) =>
      app.call(key.api_key, "POST", "/v1/run", { body: { ...verify(`p${(people += 1)}`), metadata } })
    expect(brief(await asKey({ customer: "acme", campaign: "spring" }))).toEqual(admitted)
    expect(brief(await asKey({ customer: "acme", campaign: "spring" }))).toEqual(blocked)
    expect(brief(await asKey({ customer: "acme" }))).toEqual(admitted)
    const full = await asKey({ customer: "acme" })
    expect([full.status, full.body.controls[0].control]).toEqual([402, "key_budget"])
    expect(await list()).toMatchObject([
      { label: "campaign", spent: null },
      { label: "customer", spent: "0.006" }
    ])
  })

  test("holds for batches, and a quote says that it would block", async () => {
    const { org, budget, list } = await begun()
    await budget({ label: "customer", value: "acme", limit: "0.0100", period: "total" })
    const runs = Array.from({ length: 6 }, (_, row) => ({ ...verify(`row${row}`), metadata: { customer: "acme" } }))
    const batch = (await org.post("/v1/batches", { runs })).body
    await until(
      "the batch has ended",
      () => org.get(`/v1/batches/${batch.id}`),
      ({ body }) => body.finished_at !== null
    )
    const [{ spent }] = await list()
    expect(spent).toBe("0.006")
    const quote = await org.post("/v1/quote", { ...verify("quoted"), metadata: { customer: "acme" } })
    expect(JSON.stringify(quote.body)).toContain("label_budget")
    const other = await org.post("/v1/quote", { ...verify("quoted"), metadata: { customer: "new" } })
    expect(JSON.stringify(other.body)).not.toContain("label_budget")
  })

  test("leaves nothing of refused runs and of quotes, and one row of a value with the first run that is admitted", async () => {
    const { org, budget } = await begun()
    const values = () =>
      app.sql("SELECT value, version FROM key_budgets WHERE org_id = $1 AND label IS NOT NULL ORDER BY value", [
        org.org_id
      ])
    await budget({ label: "customer", limit: "0.0010", period: "day" })
    const names = Array.from({ length: 20 }, (_, index) => `customer ${index}`)
    const refused = await Promise.all(names.map((customer) => run(org, { customer })))
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([402]))
    const quoted = await org.post("/v1/quote", { ...verify("quoted"), metadata: { customer: "quoted" } })
    expect(quoted.body.controls).toMatchObject([{ control: "label_budget" }])
    expect(await values()).toEqual([])

    await budget({ label: "customer", limit: "0.0050", period: "day" })
    const again = await Promise.all(names.flatMap((customer) => [run(org, { customer }), run(org, { customer })]))
    expect(again.filter(({ status }) => status === 200).length).toBe(names.length)
    const counted = await values()
    expect(counted.map(({ value }) => value)).toEqual(names.toSorted())
    // The limit of all values is one row, so its change writes none of theirs.
    await budget({ label: "customer", limit: "1.00", period: "month" })
    expect(await values()).toEqual(counted)
    expect(brief(await run(org, { customer: "customer 1" }))).toEqual(admitted)
  })

  test("counts on after an erasure, which takes the value out until a run has it again", async () => {
    const { org, session, budget } = await begun()
    const values = async () =>
      (
        await app.sql("SELECT value, spent_total FROM key_budgets WHERE org_id = $1 AND label IS NOT NULL", [
          org.org_id
        ])
      )
        .map(({ value, spent_total }) => `${value}: ${spent_total}`)
        .toSorted()
    await budget({ label: "customer", limit: "0.0050", period: "total" })
    for (const [local, customer] of [
      ["jane", "Jane"],
      ["joe", "Joe"]
    ] as const)
      expect(brief(await org.post("/v1/run", { ...verify(local), metadata: { customer } }))).toEqual(admitted)
    const erased = await app.call(session, "DELETE", "/v1/history?q=jane@example.com")
    expect(erased.body.erased).toBe(1)
    expect(await values()).toEqual(["Joe: 3000", "erased: 3000"])
    const refused = await run(org, { customer: "Jane" })
    expect(refused.body.error.message).toContain('the value "Jane"')
    await budget({ label: "customer", value: "Jane", limit: "0.0100", period: "total" })
    expect(brief(await run(org, { customer: "Jane" }))).toEqual(admitted)
    expect(await values()).toEqual(["Jane: 6000", "Joe: 3000"])
  })

  test("is never passed by runs at the same time, and counts what the ledger has", async () => {
    const { org, budget, list } = await begun()
    await budget({ label: "customer", value: "acme", limit: "0.0600", period: "week" })
    const answers = await Promise.all(
      Array.from({ length: howMany(400, 60) }, (_, index) => run(org, { customer: index % 2 === 0 ? "acme" : "other" }))
    )
    const ofAcme = answers.filter((_, index) => index % 2 === 0)
    const spent = BigInt(ofAcme.filter(({ status }) => status === 200).length) * charged
    expect(new Set(ofAcme.map((one) => JSON.stringify(brief(one))))).toEqual(
      new Set([JSON.stringify(admitted), JSON.stringify(blocked)])
    )
    expect(answers.filter((one, index) => index % 2 === 1 && one.status !== 200)).toEqual([])
    expect(spent).toBeLessThanOrEqual(60_000n)
    expect(60_000n - spent).toBeLessThan(held * 30n)
    expect(micros((await list())[0].spent)).toBe(spent)
  })

  test("counts every run of a key that is pinned to the label", async () => {
    const { session, budget, list } = await begun()
    await budget({ label: "customer", value: "acme", limit: "0.0050", period: "total" })
    const scope = { labels: { customer: "acme" }, mint: true }
    const body = { name: "of acme", environment: "test", allow: scope }
    const made = await app.call(session, "POST", "/v1/api-keys", { body })
    expect(made.status).toBe(200)
    const key = made.body.api_key
    const post = (path: string, request: Record<string, unknown>) =>
      app.call(key, "POST", path, { body: { ...verify(`p${(people += 1)}`), ...request } })
    const other = await post("/v1/run", { metadata: { customer: "other" } })
    expect([other.status, other.body.error.message]).toEqual([
      403,
      expect.stringContaining('customer with the value "acme"')
    ])
    expect((await post("/v1/quote", { metadata: { customer: "other" } })).status).toBe(403)
    const first = await post("/v1/run", { metadata: { campaign: "spring" } })
    expect([brief(first), first.body.metadata]).toEqual([admitted, { campaign: "spring", customer: "acme" }])
    expect(brief(await post("/v1/run", {}))).toEqual(blocked)
    expect((await post("/v1/quote", {})).body).toMatchObject({
      would: "block",
      controls: [{ control: "label_budget" }]
    })
    expect(await list()).toMatchObject([{ spent: "0.003" }])
    const expires_at = new Date(Date.now() + 3_600_000).toISOString()
    const give = (allow: Record<string, unknown>) =>
      app.call(key, "POST", "/v1/allowances", { body: { name: "agent", amount: "0.01", expires_at, allow } })
    const wider = await give({ labels: { customer: "other" } })
    expect([wider.status, wider.body.error.details[0].path]).toEqual([400, "allow.labels.customer"])
    const agent = await give({ labels: { agent: "a" } })
    expect(agent.status).toBe(200)
    const record = await app.call(session, "GET", `/v1/api-keys/${agent.body.id}`)
    expect(record.body.allow.labels).toEqual({ agent: "a", customer: "acme" })
  })

  test("is refused with the field that is wrong, and by a key", async () => {
    const { org, session } = await begun()
    const set = async (body: Record<string, unknown>) => {
      const answer = await app.call(session, "PUT", "/v1/label-budgets", { body })
      return [answer.status, answer.body.error.details?.[0]?.path]
    }
    const good = { label: "customer", value: "acme", limit: "1.00", period: "day" }
    expect(await set({ ...good, label: "a b" })).toEqual([400, "label"])
    expect(await set({ ...good, value: "x".repeat(501) })).toEqual([400, "value"])
    expect(await set({ ...good, period: "year" })).toEqual([400, "period"])
    expect(await set({ ...good, limit: "-1" })).toEqual([400, "limit"])
    expect((await app.call(org.key, "PUT", "/v1/label-budgets", { body: good })).status).toBe(403)
  })

  test("is kept by the database too, and a missing count is found by the audit", async () => {
    const { org, budget } = await begun()
    await budget({ label: "customer", value: "acme", limit: "0.0050", period: "total" })
    await run(org, { customer: "acme" })
    const change = (column: string) =>
      app.sql(`UPDATE key_budgets SET ${column} WHERE org_id = $1 AND value = 'acme'`, [org.org_id]).then(
        () => "changed",
        (error: { constraint?: string }) => error.constraint
      )
    expect(await change("reserved = reserved + 4000")).toBe("key_budget_holds")
    expect(await change("reserved = reserved + 1000")).toBe("changed")
    await expect(app.books()).rejects.toThrow(/E15/)
    expect(await change("reserved = reserved - 1000")).toBe("changed")
    const first = (reserved: number) =>
      app.sql(
        `INSERT INTO key_budgets (budget_id, org_id, key_id, amount, period, label, value, reserved)
         SELECT 'val_first', org_id, 'val_first', amount, period, label, 'first', $2 FROM key_budgets WHERE org_id = $1 AND value = 'acme'`,
        [org.org_id, reserved]
      )
    await budget({ label: "customer", limit: "0.0050", period: "total" })
    await expect(first(5_001)).rejects.toMatchObject({ constraint: "key_budget_holds" })
  })
})
