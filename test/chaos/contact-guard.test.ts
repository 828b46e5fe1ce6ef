/**
 * The contact guard while processes die: whoever is killed between two steps, nobody is written to twice.
 *
 * Four clients write to each person at the same time, over a process that dies and one that survives, and repeat their requests afterwards.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { sampled } from "../kit/input-samples.ts"
import { type Service, until } from "./processes.ts"
import { backends, leaseSeconds, report, World } from "./world.ts"

const points = [
  "turn.before_commit",
  "turn.after_commit",
  "provider.before",
  "provider.after",
  "mail.before",
  "mail.after"
] as const
const clients = 4
/** A process that is not dead by then was never at the point. */
const peopleMax = 60

describe.each(backends)("the contact guard under kill -9 on %s", (backend) => {
  let world: World
  let survivor: Service
  beforeAll(async () => {
    world = await World.open({ backend })
    survivor = await world.start("all", { RUNGATE_CONCURRENCY: "2", RUNGATE_ORG_CONCURRENCY: "2" })
    await world.openAccounts()
  })
  afterAll(() => world?.close())

  const write = async (service: Service, key: string, person: string) => {
    const [customer] = world.customers
    if (customer === undefined) throw new Error("open the accounts first")
    const response = await fetch(`${service.url}/v1/run`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${customer.token}`,
        "content-type": "application/json",
        "idempotency-key": key
      },
      body: JSON.stringify({
        capability: "email.send",
        input: { from: "hello@example.com", to: `${person}@example.com`, subject: key, text: "Hit" },
        unless_contacted_within_seconds: 86_400,
        wait_seconds: 2
      }),
      signal: AbortSignal.timeout(30_000)
    }).catch(() => null)
    await response?.text().catch(() => "")
  }

  // A part of the steps each day.
  test.each(sampled(points, 4, backends.indexOf(backend)))(
    "%s",
    async (point) => {
      const doomed = await world.start("all", { RUNGATE_CRASH_AT: `${point}:2` })
      const sent: Array<readonly [key: string, person: string]> = []
      for (let number = 0; doomed.alive() && number < peopleMax; number++) {
        const person = `${point.replace(".", "-")}-${number}`
        const keys = Array.from({ length: clients }, (_, client) => `${person}-${client}`)
        for (const key of keys) sent.push([key, person])
        await Promise.all(keys.map((key, client) => write(client % 2 === 0 ? doomed : survivor, key, person)))
      }
      await until(`death at ${point}`, 5_000, () => !doomed.alive())
      expect((await doomed.ended).signal).toBe("SIGKILL")
      for (const [key, person] of sent) await write(survivor, key, person)
      await world.settled(leaseSeconds + 25)
      const calls = Map.groupBy(sent, ([, person]) => person)
      const twice = [...calls].filter(
        ([, keys]) => keys.reduce((sum, [key]) => sum + world.meter.of(key).length, 0) > 1
      )
      const violations = [...(await world.violations()), ...twice.map(([person]) => `${person} was written to twice`)]
      report({ test: "contact_guard.kill9", backend, point, people: calls.size, runs: sent.length, violations })
      expect(violations).toEqual([])
      expect(sent.reduce((sum, [key]) => sum + world.meter.of(key).length, 0)).toBeGreaterThan(0)
    },
    180_000
  )
})
