/**
 * max_total of a batch under concurrency and stops: whatever is stopped when, holds and charges together never exceed it, and each row has
 * at most one run.
 */
import { afterAll, expect, test } from "bun:test"
import fc from "fast-check"
import { type App, startApp, until, verify } from "../kit/app.ts"

let app: App | null = null
afterAll(() => app?.stop())

const rows = fc.array(fc.constantFrom("p", "no_match", "error", "partial"), { minLength: 5, maxLength: 40 })

/** A run of email.verify holds at most this, in microdollars. */
const holdMax = 3_900n

test("two processes, one of which stops in the middle, never pass max_total", async () => {
  const first = await startApp()
  app = first
  const org = await first.tenant("10.00")
  const runs = fc.sample(rows, { numRuns: 2, seed: 20261123 })
  for (const [index, words] of runs.entries()) {
    const second = await startApp({ beside: first })
    const limit = BigInt(words.length) * (index % 2 === 0 ? holdMax / 2n : 2n * holdMax)
    const max_total = `0.${String(limit).padStart(6, "0")}`
    const body = {
      runs: words.map((word, n) =>
        verify(word === "p" ? `p${index}.${n}` : word, word === "p" ? "example.com" : "sandbox.test")
      ),
      max_total
    }
    const accepted = await org.post("/v1/batches", body)
    expect([accepted.status, accepted.text.slice(0, 200)]).toEqual([202, expect.anything()])
    const { id } = accepted.body
    const spent = async () => {
      const [row] = await first.sql(
        "SELECT coalesce(sum(reserved + spent_total), 0)::text AS sum FROM key_budgets WHERE budget_id = $1",
        [id]
      )
      return BigInt(String(row?.["sum"] ?? "0"))
    }
    await until(
      "a row to end",
      () => org.get(`/v1/batches/${id}`),
      ({ body: batch }) => batch.rows.open < words.length
    )
    expect(await spent()).toBeLessThanOrEqual(limit)
    await second.stop()
    await until(
      "the batch to finish",
      () => org.get(`/v1/batches/${id}`),
      ({ body: batch }) => batch.done
    )
    expect(await spent()).toBeLessThanOrEqual(limit)
    const made = await first.sql(
      "SELECT idempotency_key, count(*)::int AS runs FROM runs WHERE org_id = $1 AND idempotency_key LIKE $2 GROUP BY 1",
      [org.org_id, `${id} %`]
    )
    expect(made.every((one) => one["runs"] === 1)).toBe(true)
    const [ledger] = await first.sql(
      `SELECT coalesce(-sum(l.amount), 0)::text AS charged FROM ledger l JOIN batch_rows b USING (run_id) WHERE b.batch_id = $1 AND l.type = 'settle'`,
      [id]
    )
    const [batch] = await first.sql("SELECT charged::text AS charged FROM batches WHERE batch_id = $1", [id])
    expect(batch?.["charged"]).toBe(ledger?.["charged"])
  }
  await first.books()
})
