/**
 * A process ends in time after SIGTERM, whatever its database does: PostgreSQL was restarted a moment ago, or it is frozen and answers
 * nothing. When a process hangs in spite of all, it is ended by force and says what hung.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { until } from "./processes.ts"
import { breakablePostgres, type Server, stops } from "./servers.ts"
import { backends, report, World } from "./world.ts"

const drainSeconds = 2
const settings = { RUNGATE_DRAIN_SECONDS: `${drainSeconds}` }
/** What closing the rest may take on a busy machine. */
const afterRestartSecondsMax = drainSeconds + 5
/** The process would end by force 30 s after draining. */
const frozenSecondsMax = drainSeconds + 25

let postgres: Server
let world: World | undefined
let frozen: ReadonlyArray<number> = []
beforeAll(async () => {
  postgres = await breakablePostgres()
})
const thaw = () => {
  postgres.signal("SIGCONT")
  for (const pid of frozen) process.kill(pid, "SIGCONT")
  frozen = []
}
afterEach(async () => {
  thaw()
  await world?.close()
  world = undefined
})
afterAll(() => postgres.end("SIGQUIT"))

/** A new database on the server, so that the backends do not meet. */
const opened = async (backend: (typeof backends)[number]) => {
  const owner = await World.open({ backend, databaseUrl: postgres.url })
  const name = `stop_${backend}_${crypto.randomUUID().slice(0, 8)}`
  await owner.query(`CREATE DATABASE ${name}`)
  await owner.close()
  const url = new URL(postgres.url)
  url.pathname = `/${name}`
  world = await World.open({ backend, databaseUrl: url.toString(), settings })
  return world
}

const endOf = async (service: Awaited<ReturnType<World["start"]>>) => {
  const began = performance.now()
  service.signal("SIGTERM")
  const how = await until("its end", 60_000, () => (service.alive() ? undefined : service.ended))
  return { ...how, seconds: (performance.now() - began) / 1_000, output: service.output() }
}

describe.each(backends)("on %s", (backend) => {
  test("a worker stops in time after PostgreSQL was restarted", async () => {
    const here = await opened(backend)
    const worker = await here.start("worker")
    // Its queue workers are about to connect for the first time.
    await postgres.end(stops.immediate)
    // Each part of the worker has tried in vain to connect.
    await until("the worker to miss its database", 20_000, () =>
      /lane sweep\) failed.*Failed to connect/.test(worker.output())
    )
    await postgres.start()
    const { code, seconds } = await endOf(worker)
    report({ test: "stop", backend, after: "restart", stopped_s: Number(seconds.toFixed(1)) })
    expect(code).toBe(0)
    expect(seconds).toBeLessThan(afterRestartSecondsMax)
  })

  test("a process with runs under way stops in time while PostgreSQL is frozen", async () => {
    const here = await opened(backend)
    const service = await here.start("all")
    await here.openAccounts()
    const waits = Array.from({ length: 6 }, () => here.submit(service, here.find("Hold"), 60))
    await until("every run at its provider", 20_000, () => here.meter.open() === waits.length)
    const sessions = await here.query<{ pid: number }>("SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
    postgres.signal("SIGSTOP")
    frozen = sessions.map(({ pid }) => pid)
    for (const pid of frozen) process.kill(pid, "SIGSTOP")
    // Now the runs settle, and their transactions wait for the database.
    here.meter.release()
    const { code, seconds, output } = await endOf(service)
    report({ test: "stop", backend, after: "freeze", stopped_s: Number(seconds.toFixed(1)) })
    expect(code).toBe(0)
    expect(output).not.toContain("did not stop within")
    expect(seconds).toBeLessThan(frozenSecondsMax)
    thaw()
    await Promise.all(waits)
    await here.start("worker")
    // The calls that were under way are made again, and wait at the provider for their release.
    const release = setInterval(() => here.meter.release(), 100)
    await here.settled(30).finally(() => clearInterval(release))
    await here.expectSound()
  })
})
