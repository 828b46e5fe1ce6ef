/**
 * Batches while the process that feeds one dies by SIGKILL at each of its steps, and while one that stores a batch dies before it answers.
 *
 * Every row has one run, which is charged once. The batch ends, and its counts and charge are those of its runs.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { sampled } from "../kit/input-samples.ts"
import { findings, type RunState } from "./checks.ts"
import { type Service, until } from "./processes.ts"
import { backends, leaseSeconds, report, World } from "./world.ts"

/** Each with the pass at which the process dies. Four rows are open at once, so others have ended by then, run or wait. */
const points = [
  "batch.claimed:1",
  "batch.rows_taken:3",
  "admit.before:6",
  "admit.after:6",
  "turn.after_commit:5",
  "provider.after:5",
  "mail.after:5",
  "batch.row_ended:3",
  "batch.row_recorded:3",
  "batch.before_finish:1",
  "batch.after_finish:1"
]
const retried = [
  "batch.claimed:1",
  "batch.rows_taken:2",
  "turn.after_commit:4",
  "batch.row_ended:2",
  "batch.row_recorded:2"
]
const rowsEach = 24
const endMillisMax = leaseSeconds * 1_000 + 30_000

interface Batch {
  readonly id: string
  readonly status: string
  readonly done: boolean
  readonly charged: string
  readonly rows: Readonly<Record<string, number>>
}

interface Row extends Record<string, unknown> {
  readonly row: number
  readonly status: string
  readonly run_id: string | null
  readonly charged: number | null
}

describe.each(backends)("batches under kill -9 on %s", (backend) => {
  let world: World
  /** Takes requests and feeds nothing. */
  let door: Service
  let batches = 0
  beforeAll(async () => {
    world = await World.open({ backend, settings: { RUNGATE_CONCURRENCY: "8", RUNGATE_ORG_CONCURRENCY: "8" } })
    door = await world.start("http")
    const worker = await world.start("worker")
    await world.openAccounts()
    await worker.kill()
  })
  afterAll(() => world?.close())

  const customer = () => {
    const found = world.customers[batches % world.customers.length]
    if (found === undefined) throw new Error("open the accounts first")
    return found
  }
  const ask = async (service: Service, method: string, path: string, body?: object, key?: string) => {
    const response = await fetch(`${service.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${customer().token}`,
        "content-type": "application/json",
        ...(key === undefined ? {} : { "idempotency-key": key })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(20_000)
    })
    const batch: Batch = await response.json()
    return { status: response.status, replayed: response.headers.get("idempotent-replay") === "true", batch }
  }
  const bodyOf = (name: string) => ({
    max_total: "5.00",
    runs: Array.from({ length: rowsEach }, (_, n) => ({
      capability: "email.find",
      input: { first_name: n % 3 === 0 ? "Miss" : "Hit", last_name: `${name}x${n}`, company_domain: "example.com" }
    }))
  })

  /** Lets a new process feed what a dead one left, and checks the batch and the books. */
  const endsRight = async (id: string) => {
    // The time of the dead process's lease passes at once.
    await world.query("UPDATE batches SET lease_until = now() WHERE finished_at IS NULL")
    const heir = await world.start("worker")
    const { batch } = await until("the end of the batch", endMillisMax, async () => {
      const answer = await ask(door, "GET", `/v1/batches/${id}`)
      return answer.batch.done && answer
    })
    await world.settled(leaseSeconds + 15)
    await heir.kill()
    const rows = await world.query<Row>("SELECT row, status, run_id, charged FROM batch_rows WHERE batch_id = $1", [id])
    const { total, open, ...counts } = batch.rows
    expect([batch.status, total, open]).toEqual(["finished", rowsEach, 0])
    expect(new Set(rows.map(({ run_id }) => run_id)).size).toBe(rowsEach)
    for (const [status, count] of Object.entries(counts))
      expect([status, rows.filter((one) => one.status === status).length]).toEqual([status, count])
    // A run whose worker died may have used its tries.
    expect(counts["succeeded"]).toBeGreaterThan(rowsEach / 2)
    expect((counts["succeeded"] ?? 0) + (counts["failed"] ?? 0)).toBe(rowsEach)
    const [ledger] = await world.query<{ charged: number; settles: number }>(
      `SELECT coalesce(-sum(l.amount), 0)::bigint AS charged, count(*)::int AS settles
       FROM ledger l JOIN batch_rows r USING (run_id) WHERE r.batch_id = $1 AND l.type = 'settle'`,
      [id]
    )
    expect(Math.round(Number(batch.charged) * 1_000_000)).toBe(ledger?.charged ?? -1)
    const [made] = await world.query<{ runs: number; keys: number }>(
      "SELECT count(*)::int AS runs, count(DISTINCT idempotency_key)::int AS keys FROM runs WHERE idempotency_key LIKE $1",
      [`${id} %`]
    )
    expect(made).toEqual({ runs: rowsEach, keys: rowsEach })
    // Providers know a row by the family name in its input.
    const runs = () =>
      world.query<RunState & Record<string, unknown>>(
        `SELECT org_id, run_id, input->>'last_name' AS key, status, capability, charged, coalesce(attempts, '[]') AS attempts FROM runs`
      )
    const { meter } = world
    const checked = {
      runs,
      meter,
      acknowledged: new Map<string, string>(),
      told: new Map<string, ReadonlySet<string>>()
    }
    const found = await findings({
      ...checked,
      query: (text) => world.query(text),
      audit: () => world.audit()
    })
    expect(found.map(({ text }) => text)).toEqual([])
    return { ...counts, charged: batch.charged }
  }

  // A part of the steps each day.
  const turn = backends.indexOf(backend)
  test.each(sampled(points, 6, turn))(
    "%s",
    async (point) => {
      batches += 1
      const doomed = await world.start("worker", { RUNGATE_CRASH_AT: point })
      const { status, batch } = await ask(door, "POST", "/v1/batches", bodyOf(`k${batches}`))
      expect(status).toBe(202)
      expect((await doomed.ended).signal).toBe("SIGKILL")
      report({ test: "batches.kill9", backend, point, ...(await endsRight(batch.id)) })
    },
    180_000
  )

  test.each(sampled(retried, 3, turn))(
    "retried rows: %s",
    async (point) => {
      batches += 1
      const first = await world.start("worker")
      const { batch } = await ask(door, "POST", "/v1/batches", { ...bodyOf(`k${batches}`), max_total: "0.00" })
      await until("all rows to be blocked", endMillisMax, async () => {
        const answer = await ask(door, "GET", `/v1/batches/${batch.id}`)
        return answer.batch.done && answer.batch.rows["blocked"] === rowsEach
      })
      await first.kill()
      const doomed = await world.start("worker", { RUNGATE_CRASH_AT: point })
      const doomedDoor = await world.start("http", { RUNGATE_CRASH_AT: "batch.retried:1" })
      const path = `/v1/batches/${batch.id}/retry`
      const lost = await ask(doomedDoor, "POST", path, { max_total: "5.00" }).catch(() => null)
      expect([lost, (await doomedDoor.ended).signal]).toEqual([null, "SIGKILL"])
      expect((await ask(door, "POST", path, { max_total: "5.00" })).status).toBe(202)
      expect((await doomed.ended).signal).toBe("SIGKILL")
      report({ test: "batches.retry.kill9", backend, point, ...(await endsRight(batch.id)) })
    },
    180_000
  )

  test("batch.stored: the same request joins the batch that a dead process stored", async () => {
    batches += 1
    const doomed = await world.start("http", { RUNGATE_CRASH_AT: "batch.stored:1" })
    const key = `key-${batches}`
    const body = bodyOf(`k${batches}`)
    const lost = await ask(doomed, "POST", "/v1/batches", body, key).catch(() => null)
    expect([lost, (await doomed.ended).signal]).toEqual([null, "SIGKILL"])
    const { status, replayed, batch } = await ask(door, "POST", "/v1/batches", body, key)
    expect([status, replayed]).toEqual([202, true])
    await endsRight(batch.id)
    const stored = await world.query("SELECT 1 FROM batches WHERE idempotency_key = $1", [key])
    expect(stored).toHaveLength(1)
  })
})
