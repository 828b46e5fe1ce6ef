/** Retrying the blocked rows of a batch: in the same batch, within one max_total, and never a row that ran. */
import { afterEach, beforeAll, describe, expect, test } from "bun:test"
import { oneBackend, type Reply, startApp, type Tenant, until, verify, withApp } from "../../../kit/app.ts"
import { heldProvider, rehearseHeld } from "../../../kit/held-provider.ts"

interface Line {
  readonly row: number
  readonly status: string
  readonly run_id: string | null
  readonly error?: { readonly code: string }
}

describe.each(oneBackend)("retried batches, queues on %s", (backend) => {
  const held = heldProvider()
  let org: Tenant
  const app = withApp({ backend, held })
  beforeAll(async () => {
    org = await app.tenant("20.00")
  })
  afterEach(async () => {
    await app.books()
  })

  const people = (count: number, name: string) => Array.from({ length: count }, (_, n) => verify(`${name}${n}`))
  const read = async (id: string, by = org) => (await by.get(`/v1/batches/${id}`)).body
  const finished = async (id: string, by = org): Promise<Reply["body"]> => {
    await until(
      "the batch to finish",
      () => read(id, by),
      ({ done }: { done: boolean }) => done
    )
    return read(id, by)
  }
  const create = async (body: unknown, by = org): Promise<string> => {
    const { status, body: batch, text } = await by.post("/v1/batches", body)
    expect([status, status === 202 ? "" : text]).toEqual([202, ""])
    await finished(batch.id, by)
    return batch.id
  }
  const retry = (id: string, body: object = {}, by = org) => by.post(`/v1/batches/${id}/retry`, body)
  const lines = async (id: string, by = org): Promise<ReadonlyArray<Line>> =>
    (await by.get(`/v1/batches/${id}/results`)).text
      .split("\n")
      .flatMap((line) => (line === "" ? [] : [JSON.parse(line)]))
  const settles = async (by: Tenant) => (await by.ledger()).filter(({ type }) => type === "settle").length

  test("after a top-up the blocked rows run, once, in the same batch", async () => {
    // The money is enough for one row, or for two that follow each other.
    const poor = await app.tenant("0.0078")
    const id = await create({ runs: people(6, "poor"), max_total: "1.00" }, poor)
    const before = await lines(id, poor)
    expect((await read(id, poor)).rows.blocked).toBeGreaterThan(3)
    await poor.credit("1.00")
    const retried = await retry(id, {}, poor)
    expect([retried.status, retried.body.id]).toEqual([202, id])
    const batch = await finished(id, poor)
    expect(batch).toMatchObject({
      status: "finished",
      charged: "0.018",
      max_total: "1.00",
      rows: { succeeded: 6, blocked: 0 }
    })
    const after = await lines(id, poor)
    const same = before.filter(({ run_id }, index) => run_id === after[index]?.run_id)
    expect(same).toEqual(before.filter(({ status }) => status === "succeeded"))
    expect(await settles(poor)).toBe(6)
    // Nothing is blocked any more, so a repeated request changes nothing.
    expect((await retry(id, {}, poor)).body).toEqual(batch)
  })

  test("rows that a limit still blocks are blocked again, however often they are retried", async () => {
    const poor = await app.tenant()
    const id = await create({ runs: people(2, "still") }, poor)
    for (let time = 0; time < 3; time += 1) {
      expect((await retry(id, {}, poor)).status).toBe(202)
      expect(await finished(id, poor)).toMatchObject({ charged: "0.00", rows: { blocked: 2 } })
    }
    expect((await lines(id, poor)).map(({ error }) => error?.code)).toEqual(Array(2).fill("insufficient_balance"))
  })

  test("max_total stays, or is replaced by a higher one that all rows share", async () => {
    const id = await create({ runs: people(6, "total"), max_total: "0.0078" })
    expect(await read(id)).toMatchObject({ charged: "0.006", rows: { succeeded: 2, blocked: 4 } })
    await retry(id)
    expect(await finished(id)).toMatchObject({ max_total: "0.0078", charged: "0.006", rows: { blocked: 4 } })
    const low = await retry(id, { max_total: "0.005" })
    expect([low.status, low.body.error.details[0].path]).toEqual([400, "max_total"])
    await retry(id, { max_total: "0.0138" })
    expect(await finished(id)).toMatchObject({
      max_total: "0.0138",
      charged: "0.012",
      rows: { succeeded: 4, blocked: 2 }
    })
    await retry(id, { max_total: "5.00" })
    expect(await finished(id)).toMatchObject({
      max_total: "5.00",
      charged: "0.018",
      rows: { succeeded: 6, blocked: 0 }
    })
  })

  test("goes on with the key that retries it, and counts in its budget", async () => {
    const session = await org.session()
    const mint = async (rules: object) =>
      (await app.call(session, "POST", "/v1/api-keys", { body: { name: "k", environment: "test", ...rules } })).body
    const small = await mint({ budget: { limit: "0.0078", period: "total" } })
    const started = await app.call(small.api_key, "POST", "/v1/batches", { body: { runs: people(3, "keys") } })
    const { id } = started.body
    const first = await finished(id)
    expect(first.rows.blocked).toBeGreaterThan(0)
    await app.call(session, "DELETE", `/v1/api-keys/${small.id}`)
    const next = await mint({ budget: { limit: "1.00", period: "total" } })
    const retried = await app.call(next.api_key, "POST", `/v1/batches/${id}/retry`, { body: {} })
    expect(retried.status).toBe(202)
    const last = await finished(id)
    expect(last.rows).toMatchObject({ succeeded: 3, blocked: 0 })
    const spent = async (key_id: string): Promise<string> =>
      (await app.call(session, "GET", `/v1/api-keys/${key_id}`)).body.budget.spent
    expect([last.charged, await spent(small.id)]).toEqual(["0.009", first.charged])
    expect(Number(await spent(next.id))).toBeCloseTo(0.009 - Number(first.charged), 6)
  })

  test("refuses cancelled batches, erased rows and hostile bodies", async () => {
    const blocked = { runs: people(2, "refused"), max_total: "0.00" }
    const cancelled = (await org.post("/v1/batches", { runs: [rehearseHeld(), ...people(300, "c")] })).body.id
    await held.holds(1)
    await org.post(`/v1/batches/${cancelled}/cancel`)
    held.release()
    await finished(cancelled)
    const refusal = await retry(cancelled)
    expect([refusal.status, refusal.body.error.message]).toEqual([400, expect.stringContaining("cancelled batch")])

    // A process of the release before kept no requests.
    const erased = await create(blocked)
    await app.sql("UPDATE batch_rows SET request = NULL WHERE batch_id = $1", [erased])
    const gone = await retry(erased)
    expect([gone.status, gone.body.error.message]).toEqual([400, expect.stringContaining("2 blocked rows were erased")])
    expect((await read(erased)).done).toBe(true)

    const id = await create(blocked)
    for (const [body, path] of [
      [{ max_total: 5 }, "max_total"],
      [{ max_total: "-1" }, "max_total"],
      [{ max_totl: "1.00" }, "max_totl"]
    ] as const) {
      const { status, body: answer } = await retry(id, body)
      expect([status, answer.error.details[0].path]).toEqual([400, path])
    }
    const other = await app.tenant("1.00")
    expect((await retry(id, {}, other)).body.error.code).toBe("invalid_request")
    expect((await read(id)).rows.blocked).toBe(2)
  })

  test("two processes, and one stops in the middle: each row still has at most one charged run", async () => {
    const rows = 30
    const id = await create({ runs: people(rows, "two"), max_total: "0.012" })
    expect((await read(id)).rows.blocked).toBe(rows - 3)
    const before = await settles(org)
    const beside = await startApp({ beside: app })
    const both = [org, org.over(beside)]
    const answers = await Promise.all([0, 1, 0, 1, 0, 1].map((n) => retry(id, { max_total: "1.00" }, both[n])))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
    await until(
      "a retried row to end",
      () => read(id),
      (batch: Reply["body"]) => batch.rows.succeeded > 5
    )
    await beside.stop()
    expect(await finished(id)).toMatchObject({ charged: "0.09", rows: { succeeded: rows, blocked: 0 } })
    expect(await settles(org)).toBe(before + rows - 3)
    expect(new Set((await lines(id)).map(({ run_id }) => run_id)).size).toBe(rows)
  })
})
