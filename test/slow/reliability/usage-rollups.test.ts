/**
 * Usage equals the runs and the ledger, exactly and at every moment: before, while and after runs are counted into rollups, by several processes,
 * when a process dies in the middle, when runs are queued twice, and when they end late.
 */
import { expect, test } from "bun:test"
import {
  type App,
  figures,
  rehearse,
  type Reply,
  startApp,
  type Tenant,
  until,
  verify,
  withApp
} from "../../kit/app.ts"

const usageLock = 7_411_900

const app = withApp({ settings: { RUNGATE_ORG_QUEUE: "5000" } })

type Item = Readonly<Record<string, any>>

const waiting = (of: App) =>
  of.sql(`SELECT coalesce(sum(runs), 0)::int AS n FROM (
    SELECT runs FROM history_queue WHERE NOT counted UNION ALL SELECT runs FROM usage_queue) q`)
const rolledUp = (of: App = app) =>
  until(
    "all runs are in the rollups",
    () => waiting(of),
    ([row]) => row?.["n"] === 0
  )
const pages = async (tenant: Tenant, path: string): Promise<ReadonlyArray<Item>> => {
  const items: Array<Item> = []
  let cursor: string | null = ""
  while (cursor !== null) {
    const page: Reply = await tenant.get(`${path}&limit=200${cursor === "" ? "" : `&cursor=${cursor}`}`)
    expect(page.status).toBe(200)
    items.push(...page.body.items)
    cursor = page.body.next_cursor
  }
  return items
}

const micros = (amount: string | null) => Math.round(Number(amount ?? 0) * 1_000_000)
const valueOf: Readonly<Record<string, (run: Item, settled: Item | undefined) => string | null>> = {
  day: (run, settled) => (settled?.["created_at"] ?? run["finished"]).slice(0, 10),
  capability: (run) => run["capability"],
  provider: (run) => run["provider"],
  status: (run) => run["status"],
  "metadata.campaign": (run) => run["metadata"].campaign ?? null,
  "metadata.n": (run) => run["metadata"].n ?? null
}

/** Usage, counted from the runs and the ledger. */
const expected = (runs: ReadonlyArray<Item>, settled: ReadonlyMap<string, Item>, groups: ReadonlyArray<string>) => {
  const items = new Map<string, Record<string, any>>()
  for (const run of runs) {
    const own = groups.map((one) => [one, valueOf[one]?.(run, settled.get(run["run_id"])) ?? null] as const)
    const key = JSON.stringify(own)
    const item = items.get(key) ?? {
      ...Object.fromEntries(own),
      runs: 0,
      succeeded: 0,
      no_match: 0,
      failed: 0,
      charged: 0
    }
    const status = ["succeeded", "no_match"].includes(run["status"]) ? run["status"] : "failed"
    item["runs"] += 1
    item[status] += 1
    item["charged"] -= micros(settled.get(run["run_id"])?.["amount"])
    items.set(key, item)
  }
  return new Set([...items.values()].map((item) => JSON.stringify(item, Object.keys(item).sort())))
}

const questions = [
  [],
  ["day"],
  ["capability", "status"],
  ["day", "provider"],
  ["capability", "provider"],
  ["provider", "metadata.campaign"],
  ["metadata.n", "day"],
  ["metadata.campaign"]
]

/** Compares all answers with the runs, while nothing runs. */
const compare = async (tenant: Tenant) => {
  const runs = (await pages(tenant, "/v1/runs?")).filter((run) => run["done"])
  const finished = await app.sql("SELECT run_id, finished_at FROM runs WHERE org_id = $1", [tenant.org_id])
  const ends = new Map(finished.map((row) => [row["run_id"], row["finished_at"]]))
  const ended = runs.map((run) => ({ ...run, finished: (ends.get(run["run_id"]) as Date | null)?.toISOString() }))
  const settled = new Map(
    (await tenant.ledger()).filter(({ type }) => type === "settle").map((entry) => [entry.reference, entry as Item])
  )
  for (const groups of questions) {
    const items = await pages(tenant, `/v1/usage?group_by=${groups.join(",")}`)
    const found = items.map((item) => ({ ...item, charged: micros(item["charged"]) }))
    expect(new Set(found.map((item) => JSON.stringify(item, Object.keys(item).sort())))).toEqual(
      expected(ended, settled, groups)
    )
  }
  return ended.length
}

const pick = <A>(of: ReadonlyArray<A>, luck: number): A => of[Math.floor(luck * of.length)] as A
const anyRun = () => {
  const luck = Math.random()
  const metadata: Record<string, string> = {}
  if (Math.random() < 0.6) metadata["campaign"] = pick(["spring", "autumn", "", "~", "=x", "é"], Math.random())
  if (Math.random() < 0.3) metadata["n"] = String(Math.floor(Math.random() * 20))
  const body =
    luck < 0.1
      ? rehearse("error")
      : luck < 0.2
        ? rehearse("no_match")
        : luck < 0.3
          ? { capability: "web.search", input: { query: "rungate" } }
          : luck < 0.35
            ? { ...verify(), routing: { provider: "icypeas" } }
            : verify()
  return { ...body, metadata }
}

/** Compares when no run is open, so that no run ends between two reads. */
const compareQuiet = async (tenant: Tenant) => {
  await until(
    "late runs have ended",
    () => app.sql("SELECT FROM open_runs WHERE org_id = $1", [tenant.org_id]),
    (rows) => rows.length === 0
  )
  return compare(tenant)
}

test("usage is exact after every round of runs, whatever happens to the processes that count", async () => {
  const beside = await startApp({ beside: app })
  try {
    const tenants = [await app.tenant("20.00"), await app.tenant("20.00"), await app.tenant("0.01")]
    let killed = 0
    let over = false
    // Kills transactions that count, in their middle.
    const killing = (async () => {
      while (!over) {
        const gone = await app.sql(
          "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = $1 AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
          [usageLock]
        )
        killed += gone.length
        await Bun.sleep(2)
        if (killed >= 8) return
      }
    })()
    let compared = 0
    for (let round = 0; round < 3; round++) {
      const late = tenants.map((tenant) => tenant.run({ ...rehearse("slow_1"), async: true }))
      await Promise.all(
        Array.from({ length: 40 }, (_, n) => {
          const tenant = pick(tenants, Math.random())
          return (n % 2 === 0 ? tenant : tenant.over(beside)).run(anyRun())
        })
      )
      // Runs that end late are not counted yet, and those that have ended are.
      for (const tenant of tenants) compared += await compareQuiet(tenant)
      await Promise.all(late)
      // Runs that the history index is rebuilt from.
      for (const { org_id } of tenants)
        await app.sql(
          `INSERT INTO history_queue (org_id, run_ids, counted)
           SELECT org_id, array_agg(run_id), true FROM (SELECT * FROM runs WHERE org_id = $1 AND finished_at IS NOT NULL LIMIT 7) r GROUP BY org_id`,
          [org_id]
        )
    }
    over = true
    await killing
    for (const tenant of tenants)
      await until(
        "all have ended",
        () => tenant.list("?limit=200&status=running"),
        ({ body }) => body.items.length === 0
      )
    await rolledUp()
    for (const tenant of tenants) compared += await compare(tenant)
    const { violations } = await app.books()
    expect(killed).toBeGreaterThan(0)
    figures("usage.exact", {
      runs_compared: compared,
      questions: questions.length,
      killed,
      violations: violations.length
    })
  } finally {
    await beside.stop()
  }
})

/** Copies of an organization's first run, which ended without a charge `days` ago, with labels. `queued`: their end is not counted yet. */
const put = async (tenant: Tenant, metadata: ReadonlyArray<unknown>, queued: boolean) => {
  await app.sql(
    `WITH made AS (
       INSERT INTO runs (org_id, run_id, request_id, fingerprint, kind, capability, provider, hold, quoted, input, plan, routing_reason, status,
                         metadata, created_at, finished_at)
       SELECT r.org_id, 'run_00' || substr(md5(n.metadata::text || random()::text), 1, 24), request_id, fingerprint, kind, capability, provider, 0, 0,
              input, plan, routing_reason, 'failed', n.metadata, now() - interval '3 days', now() - interval '3 days'
       FROM (SELECT * FROM runs WHERE org_id = $1 LIMIT 1) r, unnest($2::jsonb[]) AS n(metadata) RETURNING org_id, run_id)
     INSERT INTO history_queue (org_id, run_ids) SELECT org_id, array_agg(run_id) FROM made WHERE $3 GROUP BY org_id`,
    [tenant.org_id, metadata.map((one) => (one === null ? null : JSON.stringify(one))), queued]
  )
}

test("an organization that sends a new value with every run fills one item, and its sums stay exact", async () => {
  const tenant = await app.tenant("1.00")
  await tenant.run(verify())
  await rolledUp()
  const labels = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, n) => ({ trace: `t${from + n}`, campaign: "spring" }))
  await put(tenant, labels(0, 700), true)
  await rolledUp()
  await put(tenant, [...labels(600, 1_300), { trace: "t0" }], true)
  await rolledUp()
  const items = await pages(tenant, "/v1/usage?group_by=metadata.trace")
  const others = items.filter((item) => item["others"] === true)
  expect(others).toEqual([expect.objectContaining({ "metadata.trace": null, runs: 300 })])
  expect(items.length).toBe(1_000 + 2)
  expect(items.find((item) => item["metadata.trace"] === "t0")?.["runs"]).toBe(2)
  expect(items.find((item) => item["metadata.trace"] === null && item["others"] === undefined)?.["runs"]).toBe(1)
  expect(items.reduce((sum, item) => sum + item["runs"], 0)).toBe(1_402)
  const campaigns = await pages(tenant, "/v1/usage?group_by=metadata.campaign")
  expect(campaigns.map((item) => [item["metadata.campaign"], item["runs"]])).toEqual([
    [null, 2],
    ["spring", 1_400]
  ])
})

test("usage is counted by an organization's first 64 names", async () => {
  const tenant = await app.tenant("1.00")
  await tenant.run(verify())
  await put(
    tenant,
    Array.from({ length: 70 }, (_, n) => ({ [`name${n}`]: "x" })),
    true
  )
  await rolledUp()
  const answers = await Promise.all(
    Array.from({ length: 70 }, (_, n) => tenant.get(`/v1/usage?group_by=metadata.name${n}`))
  )
  expect(answers.filter(({ status }) => status === 200).length).toBe(64)
  const refused = answers.find(({ status }) => status !== 200)
  expect([refused?.status, refused?.body.error.details[0].path]).toEqual([400, "query.group_by"])
  expect((await pages(tenant, "/v1/usage?"))[0]?.["runs"]).toBe(71)
})

test("the audit finds a rollup that differs from the ledger", async () => {
  const tenant = await app.tenant("1.00")
  await tenant.run({ ...verify(), metadata: { campaign: "spring" } })
  await rolledUp()
  await app.books()
  const change = (by: number, name: string) =>
    app.sql("UPDATE usage_days SET charged = charged + $1 WHERE org_id = $2 AND name = $3", [by, tenant.org_id, name])
  await change(1, "")
  expect(app.books()).rejects.toThrow("U1")
  await change(-1, "")
  await change(1, "campaign")
  expect(app.books()).rejects.toThrow("U2")
  await change(-1, "campaign")
  await app.books()
  const changeSum = (by: number) =>
    app.sql("UPDATE usage_sums SET runs = runs + $1 WHERE org_id = $2 AND dimension = 'provider'", [by, tenant.org_id])
  await changeSum(1)
  expect(app.books()).rejects.toThrow("U3")
  await changeSum(-1)
  await app.books()
})
