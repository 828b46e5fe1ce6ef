/**
 * Two answers that must agree, while processes die: whoever is killed between two steps, a run is charged for two answers or for none, and
 * what it held comes back.
 */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { oneBackend } from "../kit/app.ts"
import { askWhileOneDies, prefixOf } from "./dying.ts"
import type { Service } from "./processes.ts"
import { report, World } from "./world.ts"

const points = ["attempt.after", "provider.after", "mail.before", "turn.before_commit", "turn.after_commit"] as const
const [backend = "postgres"] = oneBackend

let world: World
let survivor: Service
beforeAll(async () => {
  world = await World.open({ backend })
  survivor = await world.start("all", { RUNGATE_CONCURRENCY: "4", RUNGATE_ORG_CONCURRENCY: "4" })
  await world.openAccounts()
})
afterAll(() => world?.close())

test.each(points)(
  "%s",
  async (point) => {
    const bodyOf = (key: string) => ({
      capability: "email.find",
      input: { first_name: "Hit", last_name: key, company_domain: "example.com" },
      accept: { fields: ["email"], agree: 2 }
    })
    const keys = await askWhileOneDies({ world, survivor, point, bodyOf })
    const rows = await world.query<{ key: string; status: string; hold: number; charged: number; answers: number }>(
      `SELECT idempotency_key AS key, status, hold::int, coalesce(charged, 0)::int AS charged,
              (SELECT count(*)::int FROM json_array_elements(attempts) AS one WHERE one.value ->> 'outcome' = 'succeeded') AS answers
       FROM runs WHERE idempotency_key LIKE $1`,
      [`${prefixOf(point)}%`]
    )
    // Here only two providers have an account, so two answers that agree cost the whole hold.
    const wrong = rows.flatMap(({ key, status, hold, charged, answers }) =>
      (status === "succeeded" && answers === 2 && charged === hold) ||
      (status !== "succeeded" && answers === 0 && charged === 0)
        ? []
        : [`${key}: ${status}, ${answers} answers, charged ${charged} of ${hold}`]
    )
    // The process may have died with all runs of its first round.
    const agreed = world.find("Hit", { body: { accept: { fields: ["email"], agree: 2 } } })
    expect((await world.submit(survivor, agreed, 20))?.run_status).toBe("succeeded")
    const violations = [...(await world.violations()), ...wrong]
    report({ test: "acceptance.kill9", backend, point, runs: rows.length, violations })
    expect(violations).toEqual([])
    expect(rows).toHaveLength(keys.length)
  },
  180_000
)
