/**
 * T28 pg.disk_full: PostgreSQL's data lies on a small file system that fills up. Requests are refused with 503, nothing is written by half,
 * and when there is room again the service goes on by itself; PostgreSQL is started again if it gave up.
 *
 * It needs the right to mount a tmpfs. Without it the test says so and is skipped.
 */
import { spawnSync } from "node:child_process"
import { chmodSync, closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, afterEach, describe, expect, test } from "bun:test"
import { afterwards } from "../kit/process-end.ts"
import { until } from "./processes.ts"
import { breakablePostgres, type Server, stops } from "./servers.ts"
import { backends, report, World } from "./world.ts"

/** A new cluster takes about 60 MB with its log. */
const megabytes = 160

const folder = mkdtempSync(join(tmpdir(), "rungate-disk-"))
chmodSync(folder, 0o755)
const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=755`, "tmpfs", folder]).status === 0
if (mounted) afterwards('umount -l "$1"; rmdir "$1"', folder)
else console.log("T28 is skipped: this account may not mount a tmpfs")
afterAll(() => {
  if (!mounted) rmSync(folder, { recursive: true, force: true })
})

const ballast = join(folder, "ballast")
/** Writes until the file system takes no more. */
const fill = () => {
  const file = openSync(ballast, "w")
  try {
    for (const size of [1_048_576, 4_096]) {
      const block = Buffer.alloc(size, 1)
      try {
        for (;;) writeSync(file, block)
      } catch {
        // No space is left for a block of this size.
      }
    }
  } finally {
    closeSync(file)
  }
}

let world: World | undefined
const servers: Array<Server> = []
afterEach(async () => {
  await world?.close()
  world = undefined
  for (const server of servers.splice(0)) await server.end("SIGKILL")
})

describe.if(mounted)("T28 pg.disk_full", () => {
  test("a full disk refuses, tells, and leaves nothing half-written", async () => {
    const postgres = await breakablePostgres({ fsync: "off" }, folder)
    servers.push(postgres)
    world = await World.open({ backend: backends[0] ?? "postgres", databaseUrl: postgres.url })
    const here = world
    const service = await here.start("all")
    await here.openAccounts()
    const asked = Array.from({ length: 20 }, () => here.find("Hit"))
    for (const one of asked) expect((await here.submit(service, one, 10))?.run_status).toBe("succeeded")

    fill()
    const statuses: Record<string, number> = {}
    const readiness: Record<string, number> = {}
    let slowest = 0
    const readyz = async () => {
      const answer = await fetch(`${service.url}/readyz`, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined)
      readiness[answer?.status ?? "none"] = (readiness[answer?.status ?? "none"] ?? 0) + 1
      return answer?.status
    }
    // Some pages have room left: it takes a few hundred runs until the first statement needs a new one.
    const refusedEnough = () => Object.entries(statuses).some(([status, count]) => status >= "500" && count >= 10)
    await until("requests are refused", 60_000, async () => {
      const batch = Array.from({ length: 8 }, () => here.find("Hit"))
      asked.push(...batch)
      await Promise.all(
        batch.map(async (one) => {
          const began = performance.now()
          const told = await here.submit(service, one, 1, 15_000)
          slowest = Math.max(slowest, performance.now() - began)
          const status = told === null ? (/^\d{3}/.exec(here.refusals.at(-1) ?? "")?.[0] ?? "none") : `${told.status}`
          statuses[status] = (statuses[status] ?? 0) + 1
        })
      )
      await readyz()
      return refusedEnough()
    })
    const red = await until("/readyz is red", 40_000, async () => (await readyz()) !== 200)

    rmSync(ballast)
    const freed = performance.now()
    // PostgreSQL ends itself when it can't write its log; an operator's supervisor starts it again then.
    const alive = await here.query("SELECT 1").then(
      () => true,
      () => false
    )
    if (!alive) {
      await postgres.end(stops.immediate)
      await postgres.start()
    }
    await until("/readyz is green", 40_000, async () => (await readyz()) === 200)
    const green_s = Number(((performance.now() - freed) / 1000).toFixed(2))
    for (const one of asked)
      await until(`an answer for ${one.key}`, 30_000, async () => (await here.submit(service, one, 5)) ?? undefined)
    await here.settled(40)
    const violations = await here.violations()
    report({
      test: "T28",
      megabytes,
      runs: asked.length,
      statuses: JSON.stringify(statuses),
      readiness: JSON.stringify(readiness),
      red,
      slowest_ms: Math.round(slowest),
      green_s,
      postgres_gave_up: !alive,
      violations
    })
    expect(violations).toEqual([])
    expect(Object.keys(statuses).filter((status) => status >= "500" && status !== "503")).toEqual([])
  })
})
