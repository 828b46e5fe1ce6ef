/**
 * Buy once while processes die: whoever is killed between two steps, an input is charged once and everybody gets its result.
 *
 * Four clients ask for each input at the same time, over a process that dies and one that survives, and repeat their requests afterwards.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type Service, until } from "./processes.ts"
import { backends, leaseSeconds, report, World } from "./world.ts"

const points = [
  "admit.after",
  "turn.before_commit",
  "turn.after_commit",
  "provider.before",
  "provider.after",
  "mail.before",
  "mail.after"
] as const
const clients = 4
/** A process that is not dead by then was never at the point. */
const inputsMax = 60

describe.each(backends)("reuse under kill -9 on %s", (backend) => {
  let world: World
  let survivor: Service
  beforeAll(async () => {
    world = await World.open({ backend })
    survivor = await world.start("all", { RUNGATE_CONCURRENCY: "4", RUNGATE_ORG_CONCURRENCY: "4" })
    await world.openAccounts()
  })
  afterAll(() => world?.close())

  const ask = async (service: Service, key: string, last_name: string) => {
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
        capability: "email.find",
        input: { first_name: "Hit", last_name, company_domain: "example.com" },
        reuse: { mode: "prefer" },
        wait_seconds: 2
      }),
      signal: AbortSignal.timeout(30_000)
    }).catch(() => null)
    await response?.text().catch(() => "")
  }

  test.each(points)(
    "%s",
    async (point) => {
      const doomed = await world.start("all", { RUNGATE_CRASH_AT: `${point}:3` })
      const asked: Array<readonly [key: string, input: string]> = []
      for (let number = 0; doomed.alive() && number < inputsMax; number++) {
        const input = `${point.replace(".", "-")}-${number}`
        const keys = Array.from({ length: clients }, (_, client) => `${input}-${client}`)
        for (const key of keys) asked.push([key, input])
        await Promise.all(keys.map((key, client) => ask(client % 2 === 0 ? doomed : survivor, key, input)))
      }
      await until(`death at ${point}`, 5_000, () => !doomed.alive())
      expect((await doomed.ended).signal).toBe("SIGKILL")
      for (const [key, input] of asked) await ask(survivor, key, input)
      await world.settled(leaseSeconds + 25)
      const rows = await world.query<{
        key: string
        status: string
        charged: number | null
        attempts: ReadonlyArray<unknown> | null
      }>("SELECT idempotency_key AS key, status, charged, attempts FROM runs")
      const byKey = new Map(rows.map((row) => [row.key, row]))
      const wrong = [...Map.groupBy(asked, ([, input]) => input)].flatMap(([input, keys]) => {
        const runs = keys.map(([key]) => byKey.get(key))
        const charged = runs.filter((run) => (run?.charged ?? 0) > 0).length
        const succeeded = runs.filter((run) => run?.status === "succeeded").length
        const attempts = runs.reduce((sum, run) => sum + (run?.attempts?.length ?? 0), 0)
        // A lookup whose worker died is asked again, and each call is an attempt of the run that buys.
        const calls = world.meter.of(input).length
        const isOnce = charged === 1 && succeeded === clients && calls > 0 && calls <= attempts
        return isOnce ? [] : [`${input}: ${charged} charged, ${succeeded} succeeded, ${attempts} attempts`]
      })
      // Calls are known by their input here, which several runs have. They are compared above.
      const others = (await world.violations()).filter(
        (text) => !/\(E8 orphan\)$| succeeded without a call$|, and no provider delivered$/.test(text)
      )
      const left = await world.query("SELECT run_id FROM reuse_claims UNION ALL SELECT run_id FROM reuse_joins")
      const violations = [...others, ...wrong, ...left.map((row) => `left: ${JSON.stringify(row)}`)]
      report({ test: "reuse.kill9", backend, point, runs: asked.length, violations })
      expect(violations).toEqual([])
    },
    180_000
  )
})
