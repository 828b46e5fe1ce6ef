/**
 * sync: the primary PostgreSQL is killed under load and its streaming standby promoted, at the same address.
 *
 * With a synchronous standby no run that a client was told of is lost. With an asynchronous one the last commits are, and the books of
 * what is left hold. Between the two the service is connected to a server that accepts no writes, and says so.
 */
import { afterEach, describe, expect, test } from "bun:test"
import { load, retryAll } from "./load.ts"
import { runMain, type Service, until } from "./processes.ts"
import { hasStandby, type Pair, startPair } from "./standby.ts"
import { sqlAt } from "./system-postgres.ts"
import { backends, leaseSeconds, percentile, report, World } from "./world.ts"

let pair: Pair | undefined
let world: World | undefined
afterEach(async () => {
  await world?.close()
  world = undefined
  await pair?.stop()
  pair = undefined
})

const readiness = async ({ url }: Service) => {
  const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined)
  return answer === undefined ? undefined : { status: answer.status, text: await answer.text() }
}
const isReadOnly = async (service: Service) => {
  const { status, text } = (await readiness(service)) ?? { status: 0, text: "" }
  return status === 503 && text.includes("it is a standby and accepts no writes: promote it, or point DATABASE_URL")
}
const isReady = async (service: Service) => (await readiness(service))?.status === 200

describe.if(hasStandby).each(backends)("sync: queues on %s", (backend) => {
  test("synchronous: no run that was acknowledged is lost", async () => {
    const servers = await startPair()
    pair = servers
    await servers.synchronous()
    world = await World.open({ backend, databaseUrl: servers.url })
    const here = world
    const services = [await here.start("all"), await here.start("all")]
    const [first] = services
    if (first === undefined) throw new Error("no service")
    await here.openAccounts()
    let over = false
    const clients = load(here, services, 6, () => over)
    const answered = () => clients.millis.length
    await until("runs before the fault", 20_000, () => answered() > 40)
    await servers.killPrimary()
    const killed = performance.now()
    servers.moveAddress()
    await until("it says that it is led to a standby", 20_000, () => isReadOnly(first))
    const refused = here.refusals.length
    await until("requests that a standby refused", 20_000, () => here.refusals.length > refused + 5)
    await servers.promote()
    await until("it is ready", 20_000, () => isReady(first))
    const down_s = Number(((performance.now() - killed) / 1000).toFixed(2))
    const back = answered()
    await until("runs after the fault", 20_000, () => answered() > back + 40)
    over = true
    await clients.finished
    const acknowledged = here.acknowledged.size
    await retryAll(here, first, clients.runs)
    const recovery_s = Number((await here.settled(leaseSeconds + 30)).toFixed(2))
    here.expectAlive(services)
    const violations = await here.violations()
    report({
      test: "sync",
      standby: "synchronous",
      backend,
      runs: clients.runs.length,
      acknowledged,
      refused: clients.refused(),
      down_s,
      violations,
      p50: percentile(clients.millis, 0.5),
      p99: percentile(clients.millis, 0.99),
      recovery_s
    })
    expect(violations).toEqual([])
    // A server that accepts no writes is an outage: refused with 503, never with 500.
    expect(here.refusals.filter((one) => one.startsWith("500"))).toEqual([])
  })

  test("asynchronous: what was not replicated is gone, and the rest goes on", async () => {
    const servers = await startPair()
    pair = servers
    world = await World.open({ backend, databaseUrl: servers.url })
    const here = world
    const services = [await here.start("all"), await here.start("all")]
    const [first] = services
    if (first === undefined) throw new Error("no service")
    await here.openAccounts()
    let over = false
    const clients = load(here, services, 6, () => over)
    const answered = () => clients.millis.length
    await until("runs before the fault", 20_000, () => answered() > 30)
    servers.cutReplication()
    const cut = answered()
    await until("runs that the standby does not get", 20_000, () => answered() > cut + 20)
    await servers.killPrimary()
    servers.moveAddress()
    await servers.promote()
    await until("it is ready", 20_000, () => isReady(first))
    const back = answered()
    await until("runs after the fault", 20_000, () => answered() > back + 40)
    over = true
    await clients.finished
    const recovery_s = Number((await here.settled(leaseSeconds + 30)).toFixed(2))
    here.expectAlive(services)
    const kept = new Set((await here.runs()).map(({ run_id }) => run_id))
    const lost = [...here.acknowledged.values()].filter((run_id) => !kept.has(run_id)).length
    const keys = new Set((await here.runs()).map(({ key }) => key))
    const [left] = await here.query<{ open: number; reserved: number; dead: number }>(`
      SELECT (SELECT count(*) FROM open_runs) AS open, (SELECT coalesce(sum(reserved), 0)::bigint FROM wallets) AS reserved,
             (SELECT count(*) FROM mailbox WHERE parked IS NOT NULL) AS dead`)
    const violations = await here.audit()
    report({
      test: "sync",
      standby: "asynchronous",
      backend,
      runs: clients.runs.length,
      acknowledged_and_lost: lost,
      calls_without_run: here.meter.calls.filter(({ key }) => !keys.has(key)).length,
      refused: clients.refused(),
      violations,
      recovery_s
    })
    expect(lost).toBeGreaterThan(0)
    expect(violations).toEqual([])
    expect(left).toEqual({ open: 0, reserved: 0, dead: 0 })
  })
})

test.if(hasStandby)(
  "sync: while the only synchronous standby is away nothing is answered, and all of it happens once it is released",
  async () => {
    const servers = await startPair()
    pair = servers
    await servers.synchronous()
    world = await World.open({ backend: backends[0] ?? "postgres", databaseUrl: servers.url })
    const here = world
    const service = await here.start("all")
    await here.openAccounts()
    servers.cutReplication()
    const asked = Array.from({ length: 8 }, (_, n) => (n % 2 === 0 ? here.find("Hit") : here.send("Hit")))
    const told = await Promise.all(asked.map((one) => here.submit(service, one, 0, 6_000)))
    expect(told.filter((one) => one !== null)).toEqual([])
    expect(here.meter.calls.length).toBe(0)
    await until("it is not ready", 20_000, async () => (await readiness(service))?.status === 503)
    // As the manual says.
    await sqlAt(servers.primaryUrl, "ALTER SYSTEM RESET synchronous_standby_names")
    await sqlAt(servers.primaryUrl, "SELECT pg_reload_conf()")
    await until("it is ready", 20_000, () => isReady(service))
    await retryAll(here, service, asked)
    await here.settled(leaseSeconds + 30)
    expect(here.acknowledged.size).toBe(asked.length)
    expect(await here.violations()).toEqual([])
  },
  180_000
)

test.if(hasStandby)(
  "sync: a service does not start on one, and says what to do",
  async () => {
    const servers = await startPair()
    pair = servers
    world = await World.open({ backend: "postgres", databaseUrl: servers.primaryUrl })
    await (await world.start("all")).kill()
    const { ended, errors } = runMain(["serve"], { ...world.env, PORT: "0", DATABASE_URL: servers.standbyUrl })
    expect((await ended).code).toBe(1)
    expect(errors()).toMatch(
      /^rungate: Can't use the database at .+: it is a standby and accepts no writes: promote it, or point DATABASE_URL at the primary\.\n$/
    )
  },
  180_000
)
