/** Approvals while processes die: between the decision and the start of the run. It runs once, or its hold returns once. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { until } from "./processes.ts"
import { report, World } from "./world.ts"

let world: World
let session = ""
beforeAll(async () => {
  world = await World.open({ backend: "postgres" })
  await world.start("all")
  await world.openAccounts()
  const [customer] = world.customers
  if (customer === undefined) throw new Error("open the accounts first")
  // An owner's session, which decides.
  session = `rg_sess_${crypto.randomUUID().replaceAll("-", "")}`
  const { org_id } = customer
  await world.query(
    `INSERT INTO users (user_id, org_id, email, password_hash) VALUES ('usr_chaos', '${org_id}', 'chaos@example.com', 'none')`
  )
  await world.query("UPDATE members SET role = 'owner' WHERE user_id = 'usr_chaos'")
  await world.query(
    `INSERT INTO sessions (token_hash, user_id, org_id, expires_at) VALUES (sha256('${session}'), 'usr_chaos', '${org_id}', now() + interval '1 hour')`
  )
})
afterAll(() => world?.close())

const ask = async (url: string, token: string, path: string, body?: unknown) => {
  const response = await fetch(`${url}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(20_000)
  }).catch(() => null)
  return { status: response?.status ?? null, body: JSON.parse((await response?.text().catch(() => "")) || "{}") }
}
const survivor = () => {
  const [service] = world.services
  if (service === undefined) throw new Error("no process")
  return service.url
}
/** A run of the first customer, whose key names its call to the provider's rehearsal. */
const runs = async () => {
  const [service] = world.services
  let one = world.find("Hit")
  while (one.customer !== world.customers[0]) one = world.find("Hit")
  if (service === undefined) throw new Error("no process")
  await world.submit(service, one)
  return world.acknowledged.get(one.key) ?? ""
}

/** Before and after the turn that decides, and before and after the first call of the approved run. */
const points = [
  "turn.before_commit",
  "turn.after_commit",
  "approval.decided",
  "provider.before",
  "settle.after"
] as const
test.each(points)(
  "killed at %s",
  async (point) => {
    const rule = await ask(survivor(), session, "/v1/approval-rules", { name: `every run ${point}` })
    expect(rule.status).toBe(200)
    const waiting = [await runs(), await runs()]
    // A run is accepted before the turn that makes it wait, which may be late: the process killed before had the lane.
    await until("both wait for an approval", 60_000, async () => {
      const [row] = await world.query(
        `SELECT count(*)::int AS waiting FROM approvals WHERE state = 'pending' AND run_id IN ('${waiting.join("','")}')`
      )
      return row?.["waiting"] === 2
    })
    const doomed = await world.start("all", { RUNGATE_CRASH_AT: `${point}:1` })
    await Promise.all([
      ask(doomed.url, session, `/v1/runs/${waiting[0]}/approve`, {}),
      ask(doomed.url, session, `/v1/runs/${waiting[1]}/deny`, {})
    ])
    // Whatever the killed process had stored counts, so a second answer may be refused.
    for (const [at, act] of (["approve", "deny"] as const).entries()) {
      const again = await ask(survivor(), session, `/v1/runs/${waiting[at]}/${act}`, {})
      // A decision that is stored is applied later than its answer if the lane is late.
      expect([200, 400, 503]).toContain(again.status ?? 0)
      if (again.status === 400)
        expect(again.body.error.message).toBe("This run does not wait for an approval any more.")
    }
    await until("both have ended", 60_000, async () => {
      const [row] = await world.query(
        `SELECT count(*)::int AS ended FROM runs WHERE finished_at IS NOT NULL AND run_id IN ('${waiting.join("','")}')`
      )
      return row?.["ended"] === 2
    })
    const rows = await world.query(
      `SELECT r.status, a.state, (SELECT count(*)::int FROM ledger l WHERE l.run_id = r.run_id AND l.type = 'settle') AS settled
       FROM runs r JOIN approvals a USING (run_id) WHERE r.run_id IN ('${waiting.join("','")}') ORDER BY r.run_id`
    )
    expect(rows).toEqual([
      { status: "succeeded", state: "approved", settled: 1 },
      { status: "cancelled", state: "denied", settled: 0 }
    ])
    await doomed.kill()
    const violations = await world.violations()
    report({ test: "approvals.kill9", point, violations })
    expect(violations).toEqual([])
  },
  180_000
)
