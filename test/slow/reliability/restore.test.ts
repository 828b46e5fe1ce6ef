/**
 * A backup that is made while runs are under way, and a restore after the service was killed: the books add up, balances are those of the
 * runs that exist, and nothing that Redis still knows brings back or charges a run that began after the backup.
 */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { chmodSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { runMain, type Service, startService, until } from "../../chaos/processes.ts"
import { freshDatabase } from "../../kit/postgres.ts"
import { startRedis } from "../../kit/redis.ts"

const folder = mkdtempSync(join(tmpdir(), "rungate-restore-"))
chmodSync(folder, 0o755)
const file = join(folder, "rungate.backup")
const credit = 25_000_000
let environment: Record<string, string> = { RUNGATE_DATA_DIR: join(folder, "data"), RUNGATE_LEASE_SECONDS: "2" }
let service: Service
let key = ""
/** Of the demo organization, after the restore. */
let balance = ""
beforeAll(async () => {
  environment = { ...environment, REDIS_URL: (await startRedis()) ?? "" }
  service = await startService("all", environment)
  key = /rg_test_\w+/.exec(service.output())?.[0] ?? ""
})
afterAll(async () => {
  // Ends by itself, and takes its database along.
  service?.signal("SIGTERM")
  await service?.ended
  rmSync(folder, { recursive: true, force: true })
})

const rungateIn = async (settings: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) => {
  const { ended, errors, output } = runMain(args, settings)
  const { code } = await ended
  return { code, out: output(), err: errors() }
}
const rungate = (...args: ReadonlyArray<string>) => rungateIn(environment, ...args)
const get = async (path: string) => {
  const response = await fetch(`${service.url}${path}`, { headers: { authorization: `Bearer ${key}` } })
  return { status: response.status, body: await response.json() }
}
const ask = (input: object, headers: Record<string, string> = {}, wait_seconds = 20) =>
  fetch(`${service.url}/v1/run`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify({ capability: "email.find", input, wait_seconds })
  })
let asked = 0
const run = async (wait_seconds: number): Promise<{ id: string; status: string }> => {
  asked += 1
  const response = await ask({ full_name: `Ada ${asked}`, company_domain: "acme.com" }, {}, wait_seconds)
  const { run_id, status } = await response.json()
  expect(response.status).toBeLessThan(300)
  return { id: run_id, status }
}
const micros = (usd: string) => Math.round(Number(usd) * 1e6)

test("backup under load, kill -9, restore, audit", async () => {
  const first = await run(20)
  let loading = true
  const load = (async () => {
    const made: Array<string> = []
    while (loading && made.length < 60) made.push((await run(1)).id)
    return made
  })()
  const made = await rungate("admin", "backup", file, "--json")
  expect(made).toMatchObject({ code: 0 })
  expect(JSON.parse(made.out)).toMatchObject({ file, bytes: expect.any(Number) })
  loading = false
  await load
  const refused = await rungate("admin", "restore", file, "--yes")
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("Stop the service, then try again") })

  // Some of them have ended, and some are commands in the database and wake-ups in Redis.
  const late = [await run(20), ...(await Promise.all(Array.from({ length: 8 }, () => run(0))))]
  await service.kill()

  const restored = await rungate("admin", "restore", file, "--yes")
  expect(restored).toMatchObject({ code: 0, out: expect.stringContaining("Restored the backup of ") })
  service = await startService("all", environment)
  expect(await get(`/v1/runs/${first.id}`)).toMatchObject({ status: 200, body: { status: first.status } })
  // A new run goes the whole way, past everything that Redis may still hold.
  await run(20)
  const notDone = async () => (await get("/v1/runs?limit=100")).body.items.some((one: { done: boolean }) => !one.done)
  await until("all runs of the backup ended", 20_000, async () => !(await notDone()))
  for (const { id } of late)
    expect((await get(`/v1/runs/${id}`)).body.error.message).toStartWith(`There is no run "${id}".`)

  const { items } = (await get("/v1/runs?limit=100")).body
  const charged = items.reduce(
    (sum: number, one: { billing: { charged: string } }) => sum + micros(one.billing.charged),
    0
  )
  const wallet = (await get("/v1/wallet")).body
  balance = wallet.balance
  expect(charged).toBeGreaterThan(0)
  expect(micros(wallet.balance)).toBe(credit - charged)
  const audit = await rungate("audit")
  expect(audit).toMatchObject({ code: 0, out: expect.stringContaining("The books add up: 1 wallets") })
})

test("a disk without room: new runs get 503 and are not charged, and a repeated request gets its run", async () => {
  const idempotency = { "idempotency-key": crypto.randomUUID() }
  const before = await ask({ company_domain: "acme.com", full_name: "Ada Disk" }, idempotency)
  expect(before.status).toBeLessThan(300)
  const { run_id } = await before.json()
  const now = (await get("/v1/wallet")).body.balance
  service.signal("SIGTERM")
  await service.ended
  // More than any disk has.
  service = await startService("all", { ...environment, RUNGATE_MIN_FREE_DISK_MB: "100000000" })
  expect(service.output()).toMatch(/disk: \d+ MB are free in .*New runs are refused \(RUNGATE_MIN_FREE_DISK_MB\)/)
  const refused = await ask({ company_domain: "acme.com", full_name: "Grace Disk" })
  expect(refused.status).toBe(503)
  expect(await refused.json()).toMatchObject({
    error: { code: "service_unavailable", message: expect.stringContaining("disk is nearly full") }
  })
  expect(await (await ask({ company_domain: "acme.com", full_name: "Ada Disk" }, idempotency)).json()).toMatchObject({
    run_id
  })
  balance = (await get("/v1/wallet")).body.balance
  expect(balance).toBe(now)
})

test("a file that is no backup, or a part of one, changes nothing", async () => {
  const half = join(folder, "half.backup")
  writeFileSync(half, readFileSync(file))
  truncateSync(half, 100_000)
  const other = join(folder, "other.backup")
  writeFileSync(other, "not a backup")
  service.signal("SIGTERM")
  await service.ended
  for (const bad of [half, other])
    expect(await rungate("admin", "restore", bad, "--yes")).toMatchObject({
      code: 1,
      err: expect.stringContaining("Nothing was changed")
    })
  expect(await rungate("audit")).toMatchObject({ code: 0 })
  expect(await rungate("admin", "backup", file)).toMatchObject({ code: 5, err: expect.stringContaining("exists") })
})

test("a move to a server: the books of both are equal, and the service goes on there", async () => {
  const target = await freshDatabase()
  const move = () => rungate("admin", "move", "--to", target, "--yes")
  const moved = await move()
  expect(moved).toMatchObject({
    code: 0,
    out: expect.stringContaining("The books of both add up and are equal: 1 wallets")
  })
  expect(await move()).toMatchObject({ code: 5, err: expect.stringContaining("has tables. Give an empty one") })
  environment = { ...environment, DATABASE_URL: target }
  service = await startService("all", environment)
  expect((await get("/v1/wallet")).body.balance).toBe(balance)
  expect(await run(20)).toMatchObject({ status: expect.stringMatching(/succeeded|no_match/) })
  expect(await rungate("audit")).toMatchObject({ code: 0 })
})

test("a move into a schema of its own, in a database that has another installation", async () => {
  const others = { ...environment }
  service.signal("SIGTERM")
  await service.ended
  const cell = { RUNGATE_DATA_DIR: join(folder, "cell"), RUNGATE_DATABASE_SCHEMA: "cell_a" }
  service = await startService("all", cell)
  key = /rg_test_\w+/.exec(service.output())?.[0] ?? ""
  const first = await run(20)
  balance = (await get("/v1/wallet")).body.balance
  service.signal("SIGTERM")
  await service.ended

  const to = others["DATABASE_URL"] ?? (await freshDatabase())
  const move = () => rungateIn(cell, "admin", "move", "--to", to, "--yes")
  expect(await move()).toMatchObject({
    code: 0,
    out: expect.stringMatching(/The books of both add up and are equal: 1 wallets, \d+ ledger entries, 1 runs/)
  })
  expect(await move()).toMatchObject({ code: 5, err: expect.stringContaining("has tables. Give an empty one") })
  const moved = { DATABASE_URL: to, RUNGATE_DATABASE_SCHEMA: "cell_a" }
  service = await startService("all", moved)
  expect(await get(`/v1/runs/${first.id}`)).toMatchObject({ status: 200, body: { status: first.status } })
  expect((await get("/v1/wallet")).body.balance).toBe(balance)
  expect(await run(20)).toMatchObject({ status: expect.stringMatching(/succeeded|no_match/) })
  expect(await rungateIn(moved, "audit")).toMatchObject({ code: 0, out: expect.stringContaining("1 wallets") })
  expect(await rungateIn(others, "audit")).toMatchObject({ code: 0, out: expect.stringContaining("1 wallets") })
})
