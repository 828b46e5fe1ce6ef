/** A batch of thousands of rows beside single runs: neither its organization's runs nor anybody else's wait behind the rows. */
import { describe, expect, test } from "bun:test"
import { oneBackend, type Tenant, until, verify, withApp } from "../kit/app.ts"

const rows = 3_000
/** Rows that were admitted after a single run and ended before it. */
const overtakesMax = 10

describe.each(oneBackend)("single runs beside a batch, queues on %s", (backend) => {
  const app = withApp({ backend, settings: { RUNGATE_CONCURRENCY: "8", RUNGATE_ORG_CONCURRENCY: "4" } })

  test("end before rows that came later", async () => {
    const [busy, quiet] = [await app.tenant("50.00"), await app.tenant("5.00")]
    const runs = Array.from({ length: rows }, (_, n) => verify(`row${n}`))
    const { status, body } = await busy.post("/v1/batches", { runs })
    expect(status).toBe(202)
    const batch = async () => (await busy.get(`/v1/batches/${body.id}`)).body
    await until("rows to end", batch, ({ rows: counts }) => counts.open < rows)

    const single = async (org: Tenant, n: number): Promise<string> => {
      const { body: run } = await org.run(verify(`single${n}`))
      expect(run.status).toBe("succeeded")
      return run.run_id
    }
    const ids: Array<string> = []
    for (let n = 0; n < 4; n++) ids.push(...(await Promise.all([single(busy, n), single(quiet, n)])))

    // The batch was busy all the time: it is far from its end, and its rows ran between the single runs.
    const { rows: counts } = await batch()
    expect(counts.open).toBeGreaterThan(rows / 2)
    const [between] = await app.sql(
      "SELECT count(*)::int AS rows FROM runs WHERE idempotency_key LIKE $1 AND run_id > $2 AND run_id < $3",
      [`${body.id} %`, ids[0], ids.at(-1)]
    )
    expect(between?.["rows"]).toBeGreaterThan(0)
    // All take equally long and two rows are open at a time. Behind the batch, thousands of rows would end before a single run.
    const overtaken = await app.sql(
      `SELECT s.run_id, count(*)::int AS rows FROM runs s JOIN runs b ON b.idempotency_key LIKE $1 AND b.run_id > s.run_id
       WHERE s.run_id = ANY($2) AND b.finished_at < s.finished_at GROUP BY s.run_id HAVING count(*) > $3`,
      [`${body.id} %`, ids, overtakesMax]
    )
    expect(overtaken).toEqual([])
    // Not more rows are open than leave room for single runs.
    const [most] = await app.sql(
      "SELECT count(*)::int AS open FROM batch_rows WHERE batch_id = $1 AND status = 'running'",
      [body.id]
    )
    expect(most?.["open"]).toBeLessThanOrEqual(2)

    await busy.post(`/v1/batches/${body.id}/cancel`)
    await until("the batch to end", batch, ({ done }) => done)
    await app.books()
  })
})
