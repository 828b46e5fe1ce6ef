/**
 * patroni: four failures of a PostgreSQL that Patroni watches, each under load, with the files that operators get (deploy/patroni).
 *
 * Replication is synchronous. So whatever dies, every run that a client was told of is there and is charged once. Two installations run on
 * the servers at the same time, one for each backend of the queues, so that one failure tests both.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { persistentLoad } from "./load.ts"
import { hasPatroni, type PatroniCluster, startPatroni } from "./patroni.ts"
import { type Service, until } from "./processes.ts"
import { sqlAt } from "./system-postgres.ts"
import { installedBackends, report, World } from "./world.ts"

interface Installation {
  readonly world: World
  readonly front: Service
  readonly services: ReadonlyArray<Service>
}

let cluster: PatroniCluster
const installations: Array<Installation> = []

/** Longer than a busy machine keeps a process waiting, because here the servers fail and not the service. */
const leaseSeconds = 10

const install = async (backend: (typeof installedBackends)[number]): Promise<Installation> => {
  const database = `rungate_${backend}`
  await sqlAt(cluster.urlOf("postgres"), `CREATE DATABASE ${database}`)
  const world = await World.open({
    backend,
    databaseUrl: cluster.urlOf(database),
    settings: { RUNGATE_LEASE_SECONDS: `${leaseSeconds}` }
  })
  // The first one migrates.
  const front = await world.start("all")
  const services = [front, await world.start("worker")]
  await world.openAccounts()
  return { world, front, services }
}

beforeAll(async () => {
  if (!hasPatroni) return
  cluster = await startPatroni()
  installations.push(...(await Promise.all(installedBackends.map(install))))
})
afterAll(async () => {
  for (const { world } of installations) await world.close()
  if (hasPatroni) await cluster.stop()
})

const clientsEach = 3
const runsBefore = 10
const runsAfter = 10

const seconds = (millis: number) => Number((millis / 1000).toFixed(2))

/** The longest time between two answers. */
const pauseOf = (times: ReadonlyArray<number>) =>
  Math.max(0, ...times.slice(1).map((at, index) => at - (times[index] ?? at)))

/** `fault` ends once what failed is replaced, and `repair` brings back what it took away. */
const expectSoundUnderLoad = async (test: string, fault: () => Promise<unknown>, repair: () => Promise<unknown>) => {
  let over = false
  const loads = installations.map(({ world, front, services }) => ({
    world,
    services,
    clients: persistentLoad(world, [front], clientsEach, () => over)
  }))
  const each = (what: string, look: (clients: (typeof loads)[number]["clients"]) => boolean) =>
    Promise.all(loads.map(({ clients }) => until(what, 90_000, () => look(clients))))
  await each("runs before the fault", ({ answers }) => answers.length >= runsBefore)
  const failed = performance.now()
  await fault()
  const replaced = performance.now()
  await each(
    "runs after the fault",
    ({ answers }) => answers.filter(({ began }) => began > replaced).length >= runsAfter
  )
  over = true
  await Promise.all(loads.map(({ clients }) => clients.finished))
  await repair()
  for (const { world, services, clients } of loads) {
    await world.settled(leaseSeconds + 30)
    world.expectAlive(services)
    const violations = await world.violations()
    const first = clients.answers.find(({ at }) => at > replaced)?.at ?? Number.NaN
    report({
      test,
      backend: world.backend,
      runs: clients.answers.length,
      replaced_s: seconds(replaced - failed),
      first_run_s: seconds(first - failed),
      pause_s: seconds(pauseOf(clients.answers.map(({ at }) => at))),
      violations
    })
    expect(violations).toEqual([])
    expect(world.refusals.filter((one) => one.startsWith("500"))).toEqual([])
  }
}

describe.if(hasPatroni)("patroni", () => {
  test("the operator switches over", async () => {
    await expectSoundUnderLoad(
      "patroni switchover",
      async () => cluster.primary(await cluster.switchover()),
      cluster.whole
    )
  })

  test("the leader of etcd is killed", async () => {
    const leader = await cluster.etcd.leader()
    await expectSoundUnderLoad(
      "patroni etcd",
      async () => {
        await leader.kill()
        await cluster.etcd.leader()
      },
      async () => {
        leader.start()
        await cluster.etcd.whole()
        await cluster.whole()
      }
    )
  })

  test("the network of the primary is cut", async () => {
    const primary = await cluster.primary()
    await expectSoundUnderLoad(
      "patroni partition",
      async () => {
        primary.cut()
        await cluster.primary(primary)
      },
      async () => {
        primary.heal()
        await cluster.whole()
      }
    )
  })

  test("the primary is killed", async () => {
    const primary = await cluster.primary()
    await expectSoundUnderLoad(
      "patroni kill",
      async () => {
        await primary.kill()
        await cluster.primary(primary)
      },
      async () => {
        primary.start()
        await cluster.whole()
      }
    )
  })
})
