/**
 * Buy once while processes die: whoever is killed between two steps, an input is charged once and everybody gets its result.
 *
 * Four clients ask for each input at the same time, over a process that dies and one that survives, and repeat their requests afterwards.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { askWhileOneDies, clients } from "./dying.ts"
import type { Service } from "./processes.ts"
import { backends, report, World } from "./world.ts"

const points = [
  "admit.after",
  "turn.before_commit",
  "turn.after_commit",
  "provider.before",
  "provider.after",
  "mail.before",
  "mail.after"
] as const

describe.each(backends)("reuse under kill -9 on %s", (backend) => {
  let world: World
  let survivor: Service
  beforeAll(async () => {
    world = await World.open({ backend })
    survivor = await world.start("all", { RUNGATE_CONCURRENCY: "4", RUNGATE_ORG_CONCURRENCY: "4" })
    await world.openAccounts()
  })
  afterAll(() => world?.close())

  const inputOf = (key: string) => key.replace(/-\d+$/, "")
  const bodyOf = (key: string) => ({
    capability: "email.find",
    input: { first_name: "Hit", last_name: inputOf(key), company_domain: "example.com" },
    reuse: { mode: "prefer" }
  })

  test.each(points)(
    "%s",
    async (point) => {
      const keys = await askWhileOneDies({ world, survivor, point, bodyOf })
      const rows = await world.query<{
        key: string
        status: string
        charged: number | null
        attempts: ReadonlyArray<unknown> | null
      }>("SELECT idempotency_key AS key, status, charged, attempts FROM runs")
      const byKey = new Map(rows.map((row) => [row.key, row]))
      const wrong = [...Map.groupBy(keys, inputOf)].flatMap(([input, same]) => {
        const runs = same.map((key) => byKey.get(key))
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
      report({ test: "reuse.kill9", backend, point, runs: keys.length, violations })
      expect(violations).toEqual([])
    },
    180_000
  )
})
