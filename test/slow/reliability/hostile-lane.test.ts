/**
 * A provider's strings reach details, notes and results of runs. No such string may stop a lane: every run ends, later commands are
 * applied, and history, erasure and retention work on the stored rows.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { startApp, type Tenant, until, withApp } from "../../kit/app.ts"
import { answer } from "../../layers/providers/stage.ts"
import { standIn } from "../../layers/providers/standin.ts"
import { indexedAndCounted } from "../../kit/finished-work.ts"

let org: Tenant
const there = standIn()
const app = withApp({ settings: there.settings })
beforeAll(async () => {
  org = await app.tenant("5.00")
})
afterAll(async () => {
  await there.stop()
})

const page = { capability: "web.scrape", input: { url: "https://example.com/" } }
const scrape = { ...page, routing: { provider: "tavily" }, wait_seconds: 20 }
const missed = (error: string) => answer(200, { results: [], failed_results: [{ url: page.input.url, error }] })
const delivered = (raw_content: string) => answer(200, { results: [{ url: page.input.url, raw_content }] })

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
/** A NUL, and half of an emoji, as a cut leaves it. */
const hostile = "nothing\u0000here \u{1f600}".slice(0, -1)

describe("a detail that holds a NUL and half a character", () => {
  test("ends its run, and the lane goes on", async () => {
    await manyCredits()
    there.play("tavily", missed(hostile))
    const { status, body } = await org.run(scrape)
    expect([status, body.status]).toEqual([404, "no_match"])
    expect(body.attempts).toMatchObject([{ provider: "tavily", outcome: "no_match", detail: "nothing here \ufffd" }])
    await org.credit("1.00")
    await app.books()
  })

  test("that an older version stored in the mailbox: the run ends, and the lane goes on", async () => {
    const held = Promise.withResolvers<void>()
    there.play("tavily", async () => {
      await held.promise
      return delivered("late")
    })
    const { body } = await org.run({ ...scrape, wait_seconds: 0 })
    const [lease] = await until(
      "the run is leased",
      () => app.sql("SELECT lease_token FROM open_runs WHERE run_id = $1 AND lease_token IS NOT NULL", [body.run_id]),
      (rows) => rows.length === 1
    )
    const report = {
      ...{ lease_token: lease?.["lease_token"], status: "no_match", charge: "0.00", billed: false, provider: "tavily" },
      attempts: [{ provider: "tavily", outcome: "no_match", duration_ms: 1, detail: hostile }],
      ...{ hints: [hostile], error: { code: "no_match", message: hostile } }
    }
    await app.sql(
      `INSERT INTO mailbox (lane, org_id, run_id, tag, payload)
       SELECT lane, org_id, $2, 'Settle', $3::text::json FROM wallets WHERE org_id = $1`,
      [org.org_id, body.run_id, JSON.stringify(report)]
    )
    const ended = await org.get(`/v1/runs/${body.run_id}?wait=20`)
    expect([ended.body.status, ended.body.attempts[0].detail]).toEqual(["no_match", "nothing\ufffdhere \ufffd"])
    held.resolve()
    await org.credit("1.00")
    await app.books()
  })

  test("that an older version stored with its run: erasure and retention go on", async () => {
    const runs: Array<string> = []
    for (const content of ["canary.one@hostile.example", "canary.two@hostile.example"]) {
      there.play("tavily", delivered(content))
      const { body } = await org.run(scrape)
      runs.push(body.run_id)
    }
    await app.sql("UPDATE runs SET attempts = $2::text::json, hints = $2::text::json WHERE run_id = ANY($1)", [
      runs,
      JSON.stringify([{ provider: "tavily", outcome: "succeeded", duration_ms: 1, detail: hostile }])
    ])
    const erased = await app.call(await org.session(), "DELETE", "/v1/history?q=canary.one@hostile.example")
    expect([erased.status, erased.body.erased]).toEqual([200, 1])
    const { body } = await org.get(`/v1/runs/${runs[0]}`)
    expect(body.attempts).toEqual([{ provider: "tavily", outcome: "succeeded", duration_ms: 1, detail: null }])

    // The other one is made forty days old.
    await indexedAndCounted(app)
    const old = `run_${"0".repeat(10)}${runs[1]?.slice(-16)}`
    await app.sql("UPDATE runs SET run_id = $2 WHERE run_id = $1", [runs[1], old])
    const keeper = await startApp({
      role: "worker",
      beside: app,
      settings: { ...there.settings, RUNGATE_RETENTION_DAYS: "30" }
    })
    await until(
      "retention erases it",
      () => app.sql("SELECT 1 FROM runs WHERE run_id = $1 AND erased_at IS NOT NULL", [old]),
      (rows) => rows.length === 1
    )
    await keeper.stop()
    await app.sql("UPDATE runs SET run_id = $1 WHERE run_id = $2", [runs[1], old])
    await app.books()
  })
})

describe("a command that the database refuses", () => {
  /** Makes a table refuse rows that hold the word, with an error of this SQLSTATE. */
  const refuse = async (table: string, when: string, code: string) => {
    await app.sql(`
      CREATE OR REPLACE FUNCTION refused_${table}() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'refused by the test' USING ERRCODE = '${code}'; END $$`)
    await app.sql(`CREATE OR REPLACE TRIGGER refused BEFORE INSERT OR UPDATE ON ${table} FOR EACH ROW
      WHEN (${when}) EXECUTE FUNCTION refused_${table}()`)
    return () => app.sql(`DROP TRIGGER refused ON ${table}`)
  }
  const parked = async (run_id: string) =>
    (await app.sql("SELECT tag, parked FROM mailbox WHERE run_id = $1 AND parked IS NOT NULL", [run_id])).map(
      (row) => row["tag"]
    )
  const forget = () => app.sql("DELETE FROM mailbox WHERE parked IS NOT NULL")

  test("for a string that it can't read (class 22) is dead-lettered; its run ends, its hold returns, the operator is told", async () => {
    const allow = await refuse("runs", "NEW.result::text LIKE '%poison%'", "22P05")
    const before = await org.wallet()
    there.forget()
    there.play("tavily", delivered("poison"))
    const { body } = await org.run({ ...scrape, wait_seconds: 30 })
    expect(body).toMatchObject({ status: "failed", error: { code: "provider_error" }, billing: { charged: null } })
    expect(body.attempts[0].detail).toContain("could not be recorded")
    // The provider was not asked twice.
    expect(there.heard("tavily")).toHaveLength(1)
    expect(await org.wallet()).toEqual(before)
    expect(await parked(body.run_id)).toEqual(["Settle"])
    expect(app.logs.join("\n")).toContain(`of ${body.run_id} failed alone and is dead-lettered`)
    expect(await app.metrics()).toContain("rungate_commands_dead_lettered 1")
    await allow()
    await forget()
    await app.books()
  })

  test("when it is a reservation: the run ends as failed, and nothing was held", async () => {
    const allow = await refuse("open_runs", `NEW.org_id = '${org.org_id}'`, "22021")
    const before = await org.wallet()
    const { status, body } = await org.run({ ...scrape, wait_seconds: 20 })
    expect([status, body.status, body.error.code]).toEqual([500, "failed", "internal_error"])
    expect(body.error.message).toContain("nothing was held or charged")
    expect(await org.wallet()).toEqual(before)
    await allow()
    await forget()
    await app.books()
  })
})

test("a lane that can't be served keeps neither the other lane nor recovery from going on", async () => {
  const [mine] = await app.sql("SELECT lane FROM wallets WHERE org_id = $1", [org.org_id])
  let other = await app.tenant("1.00")
  const laneOf = async (one: Tenant) => (await app.sql("SELECT lane FROM wallets WHERE org_id = $1", [one.org_id]))[0]
  while ((await laneOf(other))?.["lane"] === mine?.["lane"]) other = await app.tenant("1.00")
  // An error that passes by itself, as of a server that shuts down: nobody is blamed, and the lane stays where it is.
  await app.sql(`CREATE FUNCTION away() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'away' USING ERRCODE = '57P01'; END $$`)
  await app.sql(`CREATE TRIGGER away BEFORE UPDATE ON wallets FOR EACH ROW WHEN (OLD.org_id = '${other.org_id}')
    EXECUTE FUNCTION away()`)
  await app.sql(
    `INSERT INTO mailbox (lane, command_id, org_id, tag, payload, created_at)
     SELECT lane, 'cs_away', org_id, 'Credit', '{"type":"bonus","amount":"1.00","reference":"cs_away","note":"x"}', now() - interval '1 minute'
     FROM wallets WHERE org_id = $1`,
    [other.org_id]
  )
  // A run of the lane that is served, whose worker is dead.
  there.play("tavily", () => new Promise(() => {}))
  const { body } = await org.run({ ...scrape, wait_seconds: 0 })
  const running = () =>
    app.sql("SELECT lease_token FROM open_runs WHERE run_id = $1 AND state = 'running'", [body.run_id])
  await until("it runs", running, (rows) => rows.length === 1)
  await app.sql("UPDATE open_runs SET worker_id = 'wrk_dead', lease_token = 'dead' WHERE run_id = $1", [body.run_id])
  await until(
    "recovery takes it over",
    () => app.sql("SELECT 1 FROM open_runs WHERE run_id = $1 AND worker_id = 'wrk_dead'", [body.run_id]),
    (rows) => rows.length === 0,
    20
  )
  await app.sql("DROP TRIGGER away ON wallets")
  await until(
    "the credit is applied at last",
    () => other.wallet(),
    (wallet) => wallet.balance === "2.00",
    20
  )
})
