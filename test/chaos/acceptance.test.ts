/**
 * Two answers that must agree, while processes die: whoever is killed between two steps, a run is charged for two answers or for none, and
 * what it held comes back.
 */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { oneBackend } from "../kit/app.ts"
import { type Service, until } from "./processes.ts"
import { leaseSeconds, report, World } from "./world.ts"

const points = ["attempt.after", "provider.after", "mail.before", "turn.before_commit", "turn.after_commit"] as const
const clients = 4
/** A process that is not dead by then was never at the point. */
const roundsMax = 40
const [backend = "postgres"] = oneBackend

let world: World
let survivor: Service
beforeAll(async () => {
  world = await World.open({ backend })
  survivor = await world.start("all", { RUNGATE_CONCURRENCY: "4", RUNGATE_ORG_CONCURRENCY: "4" })
  await world.openAccounts()
})
afterAll(() => world?.close())

const ask = async (service: Service, key: string) => {
  const [customer] = world.customers
  if (customer === undefined) throw new Error("open the accounts first")
  const response = await fetch(`${service.url}/v1/run`, {
    method: "POST",
    headers: { authorization: `Bearer ${customer.token}`, "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify({
      capability: "email.find",
      input: { first_name: "Hit", last_name: key, company_domain: "example.com" },
      accept: { fields: ["email"], agree: 2 },
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
    const keys: Array<string> = []
    for (let round = 0; doomed.alive() && round < roundsMax; round++) {
      const latest = Array.from({ length: clients }, (_, client) => `${point.replace(".", "-")}-${round}-${client}`)
      keys.push(...latest)
      await Promise.all(latest.map((key, client) => ask(client % 2 === 0 ? doomed : survivor, key)))
    }
    await until(`death at ${point}`, 5_000, () => !doomed.alive())
    expect((await doomed.ended).signal).toBe("SIGKILL")
    for (const key of keys) await ask(survivor, key)
    await world.settled(leaseSeconds + 25)
    const rows = await world.query<{ key: string; status: string; hold: number; charged: number; answers: number }>(
      `SELECT idempotency_key AS key, status, hold::int, coalesce(charged, 0)::int AS charged,
              (SELECT count(*)::int FROM json_array_elements(attempts) AS one WHERE one.value ->> 'outcome' = 'succeeded') AS answers
       FROM runs WHERE idempotency_key LIKE $1`,
      [`${point.replace(".", "-")}-%`]
    )
    // Here only two providers have an account, so two answers that agree cost the whole hold.
    const wrong = rows.flatMap(({ key, status, hold, charged, answers }) =>
      (status === "succeeded" && answers === 2 && charged === hold) ||
      (status !== "succeeded" && answers === 0 && charged === 0)
        ? []
        : [`${key}: ${status}, ${answers} answers, charged ${charged} of ${hold}`]
    )
    const agreed = rows.filter(({ status }) => status === "succeeded").length
    const violations = [...(await world.violations()), ...wrong]
    report({ test: "acceptance.kill9", backend, point, runs: rows.length, agreed, violations })
    expect(violations).toEqual([])
    expect(rows).toHaveLength(keys.length)
    expect(agreed).toBeGreaterThan(0)
  },
  180_000
)
