/** Cells share the limits of a provider: all their workers together make no more calls at once than its account takes. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { Client } from "pg"
import { runMain } from "../../chaos/processes.ts"
import { type App, startApp, type Tenant, until } from "../../kit/app.ts"
import { freshDatabase } from "../../kit/postgres.ts"
import { standIn } from "../../layers/providers/standin.ts"

const wait = 120_000
/** What the adapter of the provider says. */
const callsAtOnce = 10
const runs = 12

const there = standIn()
const apps: Array<App> = []
let directory: string
let tenants: ReadonlyArray<Tenant>

const inDirectory = async (statement: string) => {
  const client = new Client({ connectionString: directory })
  await client.connect()
  const { rows } = await client.query(statement)
  await client.end()
  return rows
}
/** A statement that fails is one, and nothing else of these cells is. */
const rollbacks = async () =>
  Number(
    (await inDirectory("SELECT xact_rollback FROM pg_stat_database WHERE datname = current_database()"))[0]
      ?.xact_rollback
  )
const uses = (app: App, part: string) =>
  until(
    `a worker uses ${part} of the limits`,
    () => app.logs.findLast((line) => line.includes("of a provider's limits")) ?? "",
    (line) => line.includes(`uses ${part} of`),
    40
  )
const callsOf = (app: App, calls: number) =>
  until(
    `${calls} runs call, and the others wait`,
    () => app.sql("SELECT state, count(*)::int AS runs FROM open_runs GROUP BY state ORDER BY state"),
    (now) =>
      Bun.deepEquals(now, [
        { state: "queued", runs: runs - calls },
        { state: "running", runs: calls }
      ])
  )

beforeAll(async () => {
  directory = await freshDatabase()
  const settings = { ...there.settings, RUNGATE_DIRECTORY_URL: directory }
  const a = await startApp({ settings: { ...settings, RUNGATE_CELL: "a" } })
  apps.push(a)
  const added = runMain(["admin", "cells", "add", "--url", a.url], a.settings)
  expect([(await added.ended).code, added.errors()]).toEqual([0, expect.any(String)])
  apps.push(await startApp({ settings: { ...settings, RUNGATE_CELL: "b" } }))
  tenants = await Promise.all(apps.map((app) => app.tenant("100.00")))
}, wait)
afterAll(async () => {
  for (const app of apps) await app.stop()
  await there.stop()
}, wait)

test("each of two cells calls a provider half as often at once, and one alone as often as its account takes", async () => {
  for (const app of apps) await uses(app, "1/2")
  // While the directory fails, each goes on with the last number.
  const before = await rollbacks()
  await inDirectory("ALTER TABLE rungate_directory.workers RENAME TO away")
  await until("both have failed to count", rollbacks, (now) => now >= before + 3, 40)
  let calls = 0
  const never = () => {
    calls += 1
    return new Promise<never>(() => {})
  }
  there.play("zerobounce", ...Array.from({ length: 4 * runs }, () => never))
  for (const tenant of tenants)
    await Promise.all(
      Array.from({ length: runs }, (_, n) =>
        tenant.run({
          capability: "email.verify",
          input: { email: `ada${n}@example.com` },
          routing: { provider: "zerobounce" },
          wait_seconds: 0
        })
      )
    )
  for (const app of apps) await callsOf(app, callsAtOnce / 2)
  await until(
    "the provider has the calls of both",
    () => calls,
    (now) => now === callsAtOnce
  )

  await inDirectory("ALTER TABLE rungate_directory.away RENAME TO workers")

  const [a] = apps
  if (a === undefined) return expect.unreachable("two cells have started")
  await apps.pop()?.stop()
  await inDirectory("UPDATE rungate_directory.workers SET counted_at = now() - interval '1 minute' WHERE cell = 'b'")
  await uses(a, "1/1")
  await callsOf(a, callsAtOnce)
})
