/** The index and the retention of old runs: what is rebuilt is the same, what is too old goes, and either may be broken off. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Client } from "pg"
import { runSubjects } from "../../src/layers/Subjects.ts"
import { makeId } from "../../src/schema/Ids.ts"
import { type App, figures, startApp, type Tenant, until } from "../app.ts"
import { type Command, runMain } from "../chaos/processes.ts"
import { compiledCommand } from "../command.ts"
import { documentOf, endpointOf } from "../documents.ts"

const people = endpointOf({
  path: "/people/{who}",
  method: "POST",
  body: { type: "object" },
  path_params: { type: "object", properties: { who: { type: "string" } }, required: ["who"] },
  query_params: { type: "object", properties: { also: { type: "string" } } }
})

const command: Command = [await compiledCommand()]
let app: App
beforeAll(async () => {
  app = await startApp()
  await app.catalog(documentOf("acme", [people]))
})
afterAll(() => app.stop())

const asked = (q: string) => `/v1/history?${new URLSearchParams({ q })}`
const dayMillis = 86_400_000
const idAt = (days: number) => makeId("run", Date.now() - days * dayMillis)
const page = 200

/** Runs as they were made before: copies of a run of public data, with ids and times of that age; nothing was held or charged. */
const copies = async (org: Tenant, from: string, ages: ReadonlyArray<number>, status = "failed") => {
  const ids = ages.map(idAt)
  await app.sql(
    `INSERT INTO runs (org_id, run_id, request_id, fingerprint, kind, capability, endpoint, provider, status, hold, quoted, charged,
                       input, plan, routing_reason, attempts, result, created_at, finished_at)
     SELECT $1, n.id, request_id, fingerprint, kind, capability, endpoint, provider, $5, 0, 0, NULL,
            input, plan, routing_reason, attempts, result, now() - n.days * interval '1 day',
            CASE WHEN $5 <> 'created' THEN now() - n.days * interval '1 day' END
     FROM runs, unnest($3::text[], $4::float8[]) AS n(id, days) WHERE run_id = $2`,
    [org.org_id, from, ids, ages, status]
  )
  return ids
}
const template = async (org: Tenant, email: string) =>
  (await org.run({ provider: "acme", endpoint: "/people/{who}", path: { who: email }, input: { who: email } })).body
    .run_id

describe("re-indexing", () => {
  const reindex = (...args: ReadonlyArray<string>) =>
    runMain(["admin", "reindex-history", ...args], { DATABASE_URL: app.databaseUrl }, command)
  const told = async (run: ReturnType<typeof reindex>) => {
    const { code } = await run.ended
    const runs = Number(/^(\d+) runs indexed/.exec(run.output())?.[1] ?? -1)
    const [, wrong, gone] = /: (\d+) were missing or wrong, (\d+) no longer/.exec(run.output()) ?? []
    return { code, runs, wrong: Number(wrong), gone: Number(gone), errors: run.errors() }
  }
  const subjects = () => app.sql("SELECT * FROM run_subjects ORDER BY subject, run_id, in_result")
  const runsOf = async () => Number((await app.sql("SELECT count(*) AS n FROM runs WHERE erased_at IS NULL"))[0]?.["n"])
  const progress = () => app.sql("SELECT run_id FROM history_progress WHERE name = 'reindex'")
  /** The index that a re-index makes for itself. */
  const left = async () => (await app.sql("SELECT to_regclass('run_subjects_run')::text AS name"))[0]?.["name"]
  let org: Tenant

  test("gives back every row that was lost, and removes what no rule finds and what was erased", async () => {
    org = await app.tenant("20.00")
    const input = {
      profile: "https://uk.linkedin.com/in/ada-l/",
      phone: "+1 415 555 0199",
      note: "Ask ada@one.example, or @ada_one"
    }
    const both = { also: "ada@one.example" }
    for (const who of ["ada@one.example", "bob@two.example", "no subject"])
      for (const query of [undefined, both])
        expect(
          (
            await org.run({
              provider: "acme",
              endpoint: "/people/{who}",
              path: { who },
              input,
              ...(query && { query })
            })
          ).status
        ).toBe(200)
    await org.run({ capability: "email.verify", input: { email: "error@sandbox.test" } })
    await org.run({ capability: "email.find", input: { full_name: "Ada Lovelace", company_domain: "one.example" } })
    const gone = await org.run({ capability: "email.verify", input: { email: "gone@three.example" } })
    await app.call(await org.session(), "DELETE", asked("gone@three.example"))
    const before = await subjects()
    const answer = (await org.get(asked("ada@one.example"))).body
    expect([before.length > 50, answer.count]).toEqual([true, 6])
    expect(before.filter((row) => row["run_id"] === gone.body.run_id)).toEqual([])
    await app.sql("DELETE FROM run_subjects")
    for (const table of ["word_segments", "word_blocks", "word_runs", "word_queue"])
      await app.sql(`DELETE FROM ${table}`)
    expect((await org.get(asked("Ada Lovelace"))).body.count).toBe(0)
    // What older rules found: in each run, in one that is erased, and in another place than today's.
    const stale = await app.sql(
      "INSERT INTO run_subjects SELECT hashtextextended(run_id, n), run_id, n > 2, n = 1, 'old' FROM runs, generate_series(1, 3) n RETURNING run_id"
    )
    expect(stale.map((row) => row["run_id"])).toContain(gone.body.run_id)
    const [moved] = before
    await app.sql("INSERT INTO run_subjects VALUES ($1, $2, NOT $3, NOT $4, 'old')", [
      ...[moved?.["subject"], moved?.["run_id"], moved?.["in_result"], moved?.["exact"]]
    ])
    expect((await org.get(asked("ada@one.example"))).body.count).toBe(0)

    const runs = await runsOf()
    const repaired = { code: 0, runs, wrong: before.length, gone: stale.length, errors: "" }
    expect(await told(reindex())).toEqual(repaired)
    expect(await subjects()).toEqual([...before])
    expect((await org.get(asked("ada@one.example"))).body).toEqual(answer)
    const named = () => org.get(asked("Ada Lovelace"))
    await until(
      "words are back",
      async () => (await named()).body.count,
      (count) => count === 1
    )
    // A second one writes nothing, and puts no run into a second segment.
    const versions = () => app.sql("SELECT xmin::text, ctid::text FROM run_subjects ORDER BY ctid")
    const written = await versions()
    expect(await told(reindex())).toEqual({ ...repaired, wrong: 0, gone: 0 })
    expect(await versions()).toEqual(written)
    expect((await named()).body.count).toBe(1)
    expect(await left()).toBeNull()
    figures("history.reindex", { runs, subjects: before.length, removed: stale.length })
  })

  test("goes on where it was killed, says how far it is, and begins anew when it is told to", async () => {
    const ada = await template(org, "ada@many.example")
    const made = await copies(
      org,
      ada,
      Array.from({ length: 5 * page }, (_, n) => 40 - n / 100)
    )
    const all = await runsOf()
    const holder = new Client({ connectionString: app.databaseUrl })
    await holder.connect()
    /** Holds back the page that has this run. */
    const hold = async (run_id: string | undefined) => {
      await holder.query("BEGIN")
      // Without parameters: such a statement keeps no snapshot, which the making of an index would wait for.
      await holder.query(`SELECT FROM runs WHERE run_id = '${run_id}' FOR UPDATE`)
    }
    const release = async () => {
      await holder.query("ROLLBACK")
      await until("nothing waits", waited, (seconds) => seconds < 0)
    }
    const waiting = `SELECT coalesce(max(extract(epoch FROM now() - query_start)), -1)::float8 AS seconds FROM pg_stat_activity
                     WHERE datname = current_database() AND wait_event = 'transactionid' AND query LIKE '%WITH next AS%'`
    const waited = async () => Number((await app.sql(waiting))[0]?.["seconds"])
    const held = (seconds: number) => until("it is held", waited, (found) => found >= seconds)
    try {
      // The oldest ids come first; the third page is held.
      await hold(made[2 * page + page / 2])
      const first = reindex()
      await held(0)
      const [reached] = await progress()
      expect(reached?.["run_id"]).toBe(made[2 * page - 1])
      const beside = reindex()
      expect((await beside.ended).code).toBe(1)
      expect(beside.errors()).toContain("Another rungate admin reindex-history is at work")
      first.child.kill("SIGKILL")
      expect((await first.ended).signal).toBe("SIGKILL")
      expect(await left()).toBe("run_subjects_run")
      await release()
      const slow = await org.run({ capability: "email.verify", input: { email: "slow_1@sandbox.test" }, async: true })

      // Held again for longer than it keeps silent.
      await hold(made[3 * page + page / 2])
      const second = reindex()
      await held(1.1)
      await release()
      const rest = await told(second)
      expect([rest.code, rest.runs]).toEqual([0, all + 1 - 2 * page])
      expect(rest.errors).toMatch(/^\d+ runs of about \d+ indexed; it may be broken off and goes on from there\n/)
      expect((await org.get(asked("ada@many.example"))).body.count).toBe(5 * page + 1)
      const found = await org.get(`/v1/runs/${slow.body.run_id}?wait=20`)
      expect(found.body.status).toBe("succeeded")
      expect((await org.get(asked("slow_1@sandbox.test"))).body.items[0].run_id).toBe(slow.body.run_id)

      // Broken off once more, and told to begin anew.
      await hold(made[page + page / 2])
      const third = reindex()
      await held(0)
      // Another build was broken off before: such an index is none.
      third.child.kill("SIGKILL")
      await third.ended
      await release()
      await app.sql("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'run_subjects_run'::regclass")
      expect(await told(reindex("--restart"))).toMatchObject({ code: 0, runs: all + 1 })
      const { body } = await org.post("/v1/history", { subjects: ["ada@many.example"] })
      expect(body.items[0].count).toBe(5 * page + 1)
      expect(await left()).toBeNull()
      await app.books()
    } finally {
      await holder.end()
    }
  }, 60_000)

  test("is exact beside a service that goes on taking runs, ending and erasing them", async () => {
    await app.sql(
      "INSERT INTO run_subjects SELECT hashtextextended(run_id, 9), run_id, true, false, 'old' FROM runs ON CONFLICT DO NOTHING"
    )
    const session = await org.session()
    const work = reindex("--restart")
    const over = { yes: false }
    void work.ended.then(() => {
      over.yes = true
    })
    let ran = 0
    const client = async (who: number) => {
      for (let n = 0; n < 5 || !over.yes; n++) {
        const email = `busy${who}.${n}@live.example`
        const send = { from: "me@live.example", to: [email], subject: "Hi", text: `about ada@many.example` }
        await org.run(
          n % 2 === 0 ? { capability: "email.send", input: send } : { capability: "email.verify", input: { email } }
        )
        if (n % 5 === 4) await app.call(session, "DELETE", asked(email))
        ran += 1
      }
    }
    await Promise.all([0, 1, 2, 3].map(client))
    expect(await told(work)).toMatchObject({ code: 0, errors: expect.not.stringMatching(/error/i) })
    const runs = await app.sql(
      "SELECT org_id, run_id, capability, input::text AS input, plan::text AS plan, result::text AS result FROM runs"
    )
    const due = runs.flatMap((run) => {
      const { org_id, run_id, capability, input, plan, result } = run as Record<string, string>
      const text = { capability: capability ?? null, input: `${input}`, plan: `${plan}`, result: result ?? null }
      return runSubjects(`${org_id}`, text).map(
        (row) => `${run_id} ${row.subject} ${row.in_result} ${row.exact} ${row.path}`
      )
    })
    const held = (await app.sql("SELECT * FROM run_subjects")).map(
      ({ run_id, subject, in_result, exact, path }) => `${run_id} ${subject} ${in_result} ${exact} ${path}`
    )
    expect(held.sort()).toEqual(due.sort())
    figures("history.reindex_busy", { runs: runs.length, meanwhile: ran, subjects: held.length, violations: 0 })
    await app.books()
  }, 30_000)
})

describe("retention", () => {
  /** A process of the same service that keeps runs for 30 days; it looks when it starts, and then once an hour. */
  const keeper = () => startApp({ role: "worker", beside: app, settings: { RUNGATE_RETENTION_DAYS: "30" } })
  const erased = async (ids: ReadonlyArray<string>) =>
    (
      await app.sql("SELECT run_id FROM runs WHERE run_id = ANY($1) AND erased_at IS NOT NULL ORDER BY run_id", [ids])
    ).map((row) => row["run_id"])
  const clear = async () => app.sql("UPDATE runs SET erased_at = NULL WHERE erased_at IS NOT NULL")

  test("erases what is older, of every organization, and nothing else", async () => {
    await clear()
    const [one, two] = [await app.tenant("1.00"), await app.tenant("1.00")]
    const [first, second] = [await template(one, "old@one.example"), await template(two, "old@two.example")]
    const ages = Array.from({ length: 2 * page + 50 }, (_, n) => 60 - n / 100)
    const old = await copies(one, first, ages)
    const other = await copies(two, second, [400, 31, 30.01])
    const young = [...(await copies(one, first, [29.99, 20, 1])), ...(await copies(two, second, [29, 0.5]))]
    // A run of that age that is still under way, before all others of its organization's.
    const [open = ""] = await copies(two, second, [500], "created")
    // A whole page that somebody has erased before.
    await app.sql("UPDATE runs SET erased_at = now() WHERE run_id = ANY($1)", [old.slice(0, page + 10)])
    const ledgers = await Promise.all([one.ledger(), two.ledger()])

    const due = [...old, ...other].sort()
    const started = await keeper()
    await until(
      "the old ones are erased",
      () => erased(due),
      (done) => done.length === due.length
    )
    expect(await erased(young)).toEqual([])
    expect(await erased([open, first, second])).toEqual([])
    await started.stop()
    const { body } = await one.get(`/v1/runs/${old.at(-1)}`)
    expect([body.status, body.result]).toEqual(["failed", undefined])
    expect(body.hints).toEqual([expect.stringContaining("were erased on")])
    expect((await two.get("/v1/history?q=old@two.example")).body.count).toBe(1)

    // When it has ended at last, it goes, too: nothing is passed over.
    await app.sql("UPDATE runs SET status = 'failed', finished_at = now() WHERE run_id = $1", [open])
    const again = await keeper()
    await until(
      "the last one is erased",
      () => erased([open]),
      (done) => done.length === 1
    )
    expect(await erased(young)).toEqual([])
    await again.stop()
    expect(await Promise.all([one.ledger(), two.ledger()])).toEqual(ledgers)
    figures("history.retention", { erased: due.length + 1, kept: young.length })
    await app.books()
  }, 60_000)

  test("is off by default: a process without it erases nothing, however old, and only clears up after a re-index", async () => {
    const org = await app.tenant("1.00")
    const ancient = await copies(org, await template(org, "ancient@one.example"), [3_000])
    await app.sql("CREATE INDEX run_subjects_run ON run_subjects (run_id)")
    const beside = await startApp({ role: "worker", beside: app })
    await until(
      "the index that somebody left is gone",
      () => app.sql("SELECT to_regclass('run_subjects_run') AS name"),
      (rows) => rows[0]?.["name"] === null
    )
    await beside.stop()
    expect(await erased(ancient)).toEqual([])
  })
})
