/**
 * Losses are seen: a run whose provider took more than the run was charged is listed, summed, measured and warned about, and the figures
 * are those of the runs themselves.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { type App, startApp, type Tenant, verify } from "../../kit/app.ts"
import { runMain } from "../../chaos/processes.ts"
import { compiledCommand } from "../../kit/compiled-command.ts"
import { documentOf, endpointOf } from "../../kit/provider-documents.ts"
import { answer } from "../../layers/providers/stage.ts"
import { standIn } from "../../layers/providers/standin.ts"

const serp = "/v3/serp/google/organic/live/advanced"
const task = { keyword: "albert einstein", location_code: 2840, language_code: "en" }
const there = standIn({ slug: "acme", auth: { kind: "bearer" } })

let app: App
let org: Tenant
beforeAll(async () => {
  app = await startApp({ settings: there.settings })
  await app.catalog(documentOf("acme", [endpointOf({ path: "/json", method: "POST", body: { type: "object" } })]))
  org = await app.tenant("50.00")
})
afterAll(async () => {
  await app.books()
  await app.stop()
  await there.stop()
})
beforeEach(() => there.forget())

const command = await compiledCommand()
const admin = async (...args: ReadonlyArray<string>) => {
  const env = { DATABASE_URL: app.databaseUrl, RUNGATE_MODE: "production" }
  const { ended, output, errors } = runMain(["admin", ...args], env, [command])
  const { code } = await ended
  return { code, out: output(), err: errors(), body: output().startsWith("{") ? JSON.parse(output()) : null }
}
const metric = async (of: App = app) => {
  const text = await of.metrics()
  const lines = text.split("\n").filter((line) => line.startsWith("rungate_losses_usd_total{"))
  return Object.fromEntries(
    lines.map((line) => {
      const [, provider = "", reason = "", value = ""] = /provider="(\w*)",reason="(\w+)"} (\S+)$/.exec(line) ?? []
      return [`${provider} ${reason}`, value]
    })
  )
}

/** The delivering provider took more than the run held. */
const clipped = async (tenant = org) => {
  there.play("dataforseo", answer(200, { status_code: 20_000, cost: 0.5, tasks: [] }))
  return (await tenant.run({ provider: "dataforseo", endpoint: serp, input: task })).body
}
/** The price does not cover the provider. */
const below = async () => {
  there.play("leadmagic", answer(200, { email_status: "valid", credits_consumed: 0.4 }))
  return (await org.run({ ...verify(), routing: { strategy: "cheapest" } })).body
}
const find = { capability: "email.find", input: { full_name: "Ada Lovelace", company_domain: "example.com" } }
/** Two providers were paid, and neither found anything. */
const missed = async () => {
  there.play("leadmagic", answer(200, { status: "not_found", credits_consumed: 1 }))
  return (await org.run({ ...find, routing: { provider: "leadmagic" } })).body
}

describe("a run whose measured cost exceeds its charge", () => {
  test("is listed with the reason, warned about, and counted; an ordinary run is not", async () => {
    there.play("leadmagic", answer(200, { email_status: "valid", credits_consumed: 0.25 }))
    const ordinary = (await org.run({ ...verify("plain"), routing: { strategy: "cheapest" } })).body
    expect(ordinary.billing.charged).toBe("0.003")
    const runs = { clipped: await clipped(), below: await below(), missed: await missed() }
    expect([runs.clipped.status, runs.below.status, runs.missed.status]).toEqual(["succeeded", "succeeded", "no_match"])
    const { body, code } = await admin("losses", "--json")
    expect(code).toBe(0)
    const hold = runs.clipped.billing.charged
    expect(body.items).toEqual([
      {
        run_id: runs.missed.run_id,
        org_id: org.org_id,
        capability: "email.find",
        endpoint: null,
        provider: "leadmagic",
        reason: "failed_attempts",
        charge: "0.00",
        cost: "0.01",
        loss: "0.01",
        cost_basis: "measured",
        at: expect.any(String)
      },
      expect.objectContaining({
        run_id: runs.below.run_id,
        reason: "below_cost",
        charge: "0.003",
        cost: "0.004",
        loss: "0.001"
      }),
      expect.objectContaining({
        run_id: runs.clipped.run_id,
        endpoint: serp,
        provider: "dataforseo",
        reason: "clipped_by_hold",
        charge: hold,
        cost: "0.50",
        loss: (0.5 - Number(hold)).toFixed(6).replace(/0+$/, "")
      })
    ])
    const warnings = app.logs.filter((line) => line.includes("rungate admin losses"))
    expect(warnings).toHaveLength(2)
    expect(warnings[0]).toContain(
      `${runs.clipped.run_id}: dataforseo reported a cost of $0.50, and the run was charged`
    )
    expect(warnings[1]).toContain("(below_cost)")
    expect(await metric()).toEqual({
      "dataforseo clipped_by_hold": body.items[2].loss,
      "leadmagic below_cost": "0.001",
      "leadmagic failed_attempts": "0.01"
    })
  })

  test("the list says what its runs say, for every run there is", async () => {
    const wrong = await app.sql(`
      SELECT coalesce(r.run_id, l.run_id) AS run_id FROM runs r FULL JOIN losses l USING (run_id)
      WHERE (coalesce(r.provider_cost, 0) > coalesce(r.charged, 0)) <> (l.run_id IS NOT NULL)
         OR (l.cost, l.charge) IS DISTINCT FROM (CASE WHEN l.run_id IS NOT NULL THEN r.provider_cost END,
                                                 CASE WHEN l.run_id IS NOT NULL THEN coalesce(r.charged, 0) END)`)
    expect(wrong).toEqual([])
    const [sums] = await app.sql(
      "SELECT (SELECT sum(loss) FROM losses) = (SELECT sum(loss) FROM loss_sums) AS same, (SELECT sum(runs)::int FROM loss_sums) AS runs"
    )
    expect(sums).toEqual({ same: true, runs: 3 })
  })

  test("is counted exactly over processes and restarts", async () => {
    const before = Number((await metric())["dataforseo clipped_by_hold"])
    const other = await startApp({ beside: app, settings: there.settings })
    const losses = []
    for (const at of [app, other, other]) losses.push(0.5 - Number((await clipped(org.over(at))).billing.charged))
    await other.stop()
    const again = await startApp({ beside: app, settings: there.settings, role: "http" })
    const sum = losses.reduce((all, one) => all + one, before)
    expect(Number((await metric(again))["dataforseo clipped_by_hold"])).toBeCloseTo(sum, 6)
    expect(await metric(again)).toEqual(await metric(app))
    await again.stop()
  })

  test("--org, --since and --limit choose, totals are of what was chosen, and text is a table", async () => {
    const other = await app.tenant("5.00")
    await clipped(other)
    const own = await admin("losses", "--org", other.org_id, "--json")
    expect(own.body.items).toHaveLength(1)
    expect(own.body.totals).toEqual([
      { provider: "dataforseo", reason: "clipped_by_hold", runs: 1, loss: own.body.items[0].loss }
    ])
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
    expect((await admin("losses", "--since", tomorrow, "--json")).body).toEqual({
      items: [],
      totals: [],
      next_cursor: null
    })
    expect((await admin("losses", "--since", "2026-01-01", "--limit", "2", "--json")).body).toMatchObject({
      items: [{ org_id: other.org_id }, { org_id: org.org_id }],
      next_cursor: expect.any(String)
    })
    const text = await admin("losses", "--limit", "1")
    expect(text.out).toMatch(/^WHEN +RUN +ORGANIZATION +OF +PROVIDER +CHARGED +COST +LOSS +REASON\n/)
    expect(text.out.trim().split("\n").at(-1)).toMatch(/^7 runs lost \d\.\d+ USD\.$/)
    expect(text.err).toContain("or --all")
    for (const [flag, value] of [
      ["--since", "yesterday"],
      ["--since", "2026-13-40"],
      ["--limit", "0"]
    ] as const) {
      const bad = await admin("losses", flag, value)
      expect([bad.code, bad.err]).toEqual([5, expect.stringContaining(flag)])
    }
    expect((await admin("losses", "--org", "org_nobody")).code).toBe(5)
    const shown = await admin("show", other.org_id)
    expect(shown.out).toMatch(/losses: \d\.\d+ USD in 1 runs \(rungate admin losses --org org_/)
    expect((await admin("show", other.org_id, "--json")).body.losses).toEqual({ runs: 1, loss: own.body.items[0].loss })
  })

  test("rungate admin margins: charged, cost and margin by provider, offer and endpoint, losses first, as the runs say", async () => {
    const { code, body } = await admin("margins", "--json")
    expect(code).toBe(0)
    const runs = await app.sql(`SELECT provider, coalesce(capability, endpoint) AS of, count(*)::int AS runs,
        sum(coalesce(charged, 0))::text AS charged, sum(coalesce(provider_cost, 0))::text AS cost
      FROM runs WHERE charged > 0 OR provider_cost > 0 GROUP BY 1, 2`)
    expect(body.items).toHaveLength(runs.length)
    const micros = (amount: string) => Math.round(Number(amount) * 1e6)
    for (const row of runs) {
      const item = body.items.find(
        (one: { provider: string; capability: string | null; endpoint: string | null }) =>
          one.provider === row["provider"] && (one.capability ?? one.endpoint) === row["of"]
      )
      expect([item.runs, String(micros(item.charged)), String(micros(item.cost))]).toEqual([
        row["runs"],
        row["charged"],
        row["cost"]
      ])
      expect(micros(item.margin)).toBe(micros(item.charged) - micros(item.cost))
    }
    const margins: ReadonlyArray<number> = body.items.map((one: { margin: string }) => micros(one.margin))
    const losing = margins.filter((margin) => margin < 0)
    expect(losing.length).toBeGreaterThan(1)
    expect(margins.slice(0, losing.length)).toEqual(losing.toSorted((a, b) => a - b))
    expect(body.providers.map((one: { provider: string }) => one.provider)).toContain("leadmagic")
    const text = await admin("margins", "--days", "1")
    expect(text.out).toMatch(/^PROVIDER +OF +RUNS +CHARGED +COST +MARGIN +OF CHARGE\n/)
    const ended = body.ended.map(({ status, runs }: { status: string; runs: number }) => `${runs} ${status}`)
    expect(text.out.trim().split("\n").slice(-2)).toEqual([
      `${body.total.runs} runs of the last day: charged ${body.total.charged} USD, cost ${body.total.cost} USD, margin ${body.total.margin} USD.`,
      `All ended runs: ${ended.join(", ")}.`
    ])
    const bad = await admin("margins", "--days", "0")
    expect([bad.code, bad.err]).toEqual([5, expect.stringContaining("--days")])
    await app.sql("UPDATE runs SET finished_at = finished_at - interval '3 days'")
    expect((await admin("margins", "--days", "2", "--json")).body).toMatchObject({
      items: [],
      total: { runs: 0, margin: "0.00" }
    })
  })

  test("rungate audit prints the sum", async () => {
    const { ended, output } = runMain(["audit"], { DATABASE_URL: app.databaseUrl, RUNGATE_MODE: "production" }, [
      command
    ])
    expect((await ended).code).toBe(0)
    const [row] = await app.sql("SELECT (sum(loss) / 1000000)::float8 AS loss FROM losses")
    expect(Number(/^losses \(cost above charge\) +(\S+)$/m.exec(output())?.[1])).toBeCloseTo(Number(row?.["loss"]), 6)
    expect(output()).toContain("(7 runs; see rungate admin losses)")
  })

  test("the database takes no loss that is none", async () => {
    const insert =
      "INSERT INTO losses (run_id, org_id, reason, charge, cost) VALUES ('run_x', 'org_x', 'below_cost', 10, $1)"
    for (const cost of [9, 10]) await expect(app.sql(insert, [cost])).rejects.toThrow(/loss_is_one/)
  })
})
