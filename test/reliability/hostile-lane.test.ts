/**
 * A provider's strings reach details, notes and results of runs. No such string may stop a lane: every run ends, later commands are
 * applied, and history, erasure and retention work on the stored rows.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type App, startApp, type Tenant, until } from "../app.ts"
import { answer } from "../providers/stage.ts"
import { standIn } from "../providers/standin.ts"

let app: App
let org: Tenant
const there = standIn()
beforeAll(async () => {
  app = await startApp({ settings: there.settings })
  org = await app.tenant("5.00")
})
afterAll(async () => {
  await app.stop()
  await there.stop()
})

const scrape = { capability: "web.scrape", input: { url: "https://example.com/" }, routing: { provider: "tavily" } }

/** With thousands of credits on the ledger, Postgres looks each command's credit up by index and reads its payload's type first. */
const manyCredits = async () => {
  const rows = 4_000
  await app.sql(
    `INSERT INTO mailbox (lane, command_id, org_id, tag, payload)
     SELECT w.lane, 'cs_many_' || n, w.org_id, 'Credit',
            json_build_object('type', 'bonus', 'amount', '0.01', 'reference', 'cs_many_' || n, 'note', 'one of many')
     FROM wallets w, generate_series(1, $2) AS n WHERE w.org_id = $1`,
    [org.org_id, rows]
  )
  const credits = () => app.sql("SELECT count(*)::int AS n FROM ledger WHERE org_id = $1", [org.org_id])
  await until("all are credited", credits, ([row]) => Number(row?.["n"]) > rows)
  await app.sql("ANALYZE ledger")
  await app.sql("ANALYZE mailbox")
}

describe("a detail that holds a NUL and half a character", () => {
  test("ends its run, and the lane goes on", async () => {
    await manyCredits()
    const error = "nothing\u0000here 😀".slice(0, -1)
    there.play("tavily", answer(200, { results: [], failed_results: [{ url: "https://example.com/", error }] }))
    const { status, body } = await org.run({ ...scrape, wait_seconds: 10 })
    expect([status, body.status]).toEqual([404, "no_match"])
    expect(body.attempts).toMatchObject([{ provider: "tavily", outcome: "no_match", detail: "nothing here \ufffd" }])
    await org.credit("1.00")
    await app.books()
  }, 60_000)
})
