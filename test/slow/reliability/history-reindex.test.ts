/** The index of history made anew by `rungate admin reindex-history`: what is rebuilt is the same, beside a service and without one, and it may be broken off. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { Client } from "pg"
import { addSubjects, addWords, shortJson, wholeJson } from "../../../src/layers/history/index/IndexedRun.ts"
import { segmentsLock } from "../../../src/layers/history/index/Locks.ts"
import { runsOf as runsIn } from "../../../src/schema/segments/Docs.ts"
import { PostingsBuilder } from "../../../src/schema/segments/PostingsBuilder.ts"
import { decoded, flagsIn, type Postings, runIn } from "../../../src/schema/segments/Segment.ts"
import { seedOf } from "../../../src/schema/words/Term.ts"
import { type App, figures, startApp, type Tenant, until } from "../../kit/app.ts"
import { type Command, runMain } from "../../chaos/processes.ts"
import { compiledCommand } from "../../kit/compiled-command.ts"
import { fitChecksums } from "../../kit/history-damage.ts"
import { documentOf, endpointOf } from "../../kit/provider-documents.ts"
import { copies, template } from "../../kit/old-runs.ts"
import { dueToday } from "../../kit/input-samples.ts"

/** Nothing, or on a slow machine how far it is. */
const progress = expect.stringMatching(/^(\d+ (segments rebuilt|of about \d+ runs checked)\W.*\n)*$/)

const people = endpointOf({
  path: "/people/{who}",
  method: "POST",
  body: { type: "object" },
  path_params: { type: "object", properties: { who: { type: "string" } }, required: ["who"] },
  query_params: { type: "object", properties: { also: { type: "string" } } }
})

const command: Command = [await compiledCommand()]
const started = async () => {
  const service = await startApp()
  await service.catalog(documentOf("acme", [people]))
  return service
}
let app: App
beforeAll(async () => {
  app = await started()
})
afterAll(() => app.stop())

const asked = (q: string) => `/v1/history?${new URLSearchParams({ q })}`

const reindex = (databaseUrl: string, ...args: ReadonlyArray<string>) =>
  runMain(["admin", "reindex-history", ...args], { DATABASE_URL: databaseUrl }, command)
const told = async (run: ReturnType<typeof reindex>) => {
  const { code } = await run.ended
  const line = /^(\d+) runs checked: (\d+) were missing in the index\. (\d+) segments rebuilt\.\n$/
  const [runs, missing, segments] = (line.exec(run.output()) ?? []).slice(1).map(Number)
  return { code, runs, missing, segments, errors: run.errors() }
}
const indexTables = ["history_segments", "history_blocks", "history_classes", "history_docs", "history_queue"]
/** Nothing is known of any run. */
const emptied = async (of: App) => {
  for (const table of indexTables) await of.sql(`DELETE FROM ${table}`)
}

const questions = [
  ...["ada@one.example", "one.example", "linkedin.com/in/ada-l", "+14155550199", "@ada_one", "bob@two.example"],
  ...["Ada Lovelace", "ask ada@one.example", "no subject", "gone@three.example", "uk.linkedin.com"]
]
/** What is answered to each of them, one by one and in a batch. */
const answers = async (org: Tenant) => {
  const one = await Promise.all(questions.map(async (q) => (await org.get(asked(q))).body))
  return [...one, (await org.post("/v1/history", { subjects: questions })).body]
}
/** Runs that name a person in every way; one of them erased. */
const past = async (of: App) => {
  const org = await of.tenant("20.00")
  const input = {
    profile: "https://uk.linkedin.com/in/ada-l/",
    phone: "+1 415 555 0199",
    note: "Ask ada@one.example, or @ada_one"
  }
  const both = { also: "ada@one.example" }
  for (const who of ["ada@one.example", "bob@two.example", "no subject"])
    for (const query of [undefined, both]) {
      const path = { who }
      const run = { provider: "acme", endpoint: "/people/{who}", path, input, ...(query && { query }) }
      expect((await org.run(run)).status).toBe(200)
    }
  await org.run({ capability: "email.verify", input: { email: "error@sandbox.test" } })
  await org.run({ capability: "email.find", input: { full_name: "Ada Lovelace", company_domain: "one.example" } })
  await org.run({ capability: "email.verify", input: { email: "gone@three.example" } })
  await of.call(await org.session(), "DELETE", asked("gone@three.example"))
  await waitsFor(of)
  const before = await answers(org)
  expect(before.map((answer) => answer.count)).toEqual([6, 7, 6, 6, 6, 2, 1, 6, 0, 0, 6, undefined])
  return { org, before }
}
const waitsFor = (of: App) =>
  until(
    "all runs are indexed",
    () => of.sql("SELECT 1 FROM history_queue LIMIT 1"),
    (rows) => rows.length === 0
  )

/** Of each run its terms with where they stand, each once, in order. */
const termsOf = ({ terms, starts, postings }: Postings, tell: (run: number, text: string) => void) =>
  terms.forEach((term, n) => {
    for (const posting of postings.subarray(starts[n], starts[n + 1]))
      tell(runIn(posting), `${term}:${flagsIn(posting)}`)
  })

/** As `reindex` and `told`, beside the service. Its worker may have taken some of the missing runs: until it commits, they are in no segment. */
const reindexed = async (of: App) => {
  const found = await told(reindex(of.databaseUrl))
  await waitsFor(of)
  return found
}

/** Every run that has ended and is not erased is in one segment of each family, as today's rules read it; and nothing else is. Answers how many. */
const exact = async (databaseUrl: string) => {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const rows = async (text: string): Promise<ReadonlyArray<Record<string, any>>> => (await client.query(text)).rows
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ")
    const pages = async (table: string) =>
      Map.groupBy(await rows(`SELECT * FROM history_${table} ORDER BY 1, 2`), (row) => String(row["segment"]))
    const [blocks, classes, docs] = [await pages("blocks"), await pages("classes"), await pages("docs")]
    const bytes = (found: ReadonlyArray<Record<string, any>> | undefined) => (found ?? []).map((row) => row["bytes"])
    const held: Array<string> = []
    const segments = await rows("SELECT * FROM history_segments")
    for (const { segment, org_id, family, blocks: count } of segments) {
      const runs = runsIn({ classes: bytes(classes.get(segment)), docs: bytes(docs.get(segment)) })
      const found = runs.map((): Array<string> => [])
      const of = (blocks.get(segment) ?? []).map((row) => ({ block: row["block"], bytes: row["bytes"] }))
      termsOf(decoded(of, { blocks: count, runs: runs.length }), (run, text) => found[run]?.push(text))
      runs.forEach(({ run_id, kind, charged, created_at }, n) => {
        held.push(JSON.stringify([family, org_id, run_id, ...Object.values(kind), `${charged}`, created_at, found[n]]))
      })
    }
    const due: Array<string> = []
    const runs = await rows(
      `SELECT org_id, run_id, status, capability, endpoint, provider, coalesce(charged, 0) AS charged, created_at, input::text AS input,
              result::text AS result, CASE WHEN capability IS NULL THEN plan::text END AS plan
       FROM runs WHERE finished_at IS NOT NULL AND erased_at IS NULL`
    )
    for (const row of runs as ReadonlyArray<any>) {
      for (const family of ["subjects", "words"]) {
        const gathered = new PostingsBuilder()
        if (family === "subjects") addSubjects(gathered, wholeJson(row), row.org_id, 0)
        else addWords(gathered, shortJson(row), seedOf(row.org_id), 0)
        const found: Array<string> = []
        termsOf(gathered.postings(), (_, text) => found.push(text))
        const kind = [row.status, row.capability, row.endpoint, row.provider]
        due.push(
          JSON.stringify([family, row.org_id, row.run_id, ...kind, row.charged, row.created_at.getTime(), found])
        )
      }
    }
    expect(held.sort()).toEqual(due.sort())
    return { runs: runs.length, segments: segments.length }
  } finally {
    await client.end()
  }
}

const again = (...args: ReadonlyArray<string>) => reindex(app.databaseUrl, ...args)
const count = async (text: string, values: ReadonlyArray<unknown> = []) =>
  Number((await app.sql(`SELECT count(*) AS n FROM ${text}`, values))[0]?.["n"])
const runsOf = () => count("runs WHERE erased_at IS NULL")
let org: Tenant

test("gives back what was lost, and takes away what today's rules don't find", async () => {
  const made = await past(app)
  org = made.org
  await emptied(app)
  for (const q of questions) expect([q, (await org.get(asked(q))).body.count]).toEqual([q, 0])
  const runs = await runsOf()
  expect(await reindexed(app)).toMatchObject({ code: 0, runs, missing: runs, errors: progress })
  expect(await answers(org)).toEqual(made.before)
  // A second one finds nothing missing, and puts no run into a second segment.
  const { segments } = await exact(app.databaseUrl)
  expect(await reindexed(app)).toEqual({ code: 0, runs, missing: 0, segments, errors: progress })
  expect(await answers(org)).toEqual(made.before)
  // Half of it is as good as nothing.
  await app.sql("DELETE FROM history_segments WHERE family = 'words'")
  expect(await reindexed(app)).toMatchObject({ code: 0, runs, missing: runs })
  // As if older rules had found others in it.
  const [run] = made.before[0].items
  await app.sql("UPDATE runs SET input = $2, result = '{}' WHERE run_id = $1", [
    run.run_id,
    { who: "carol@new.example" }
  ])
  const counts = async () =>
    Promise.all(["carol@new.example", "carol", "@ada_one"].map(async (q) => (await org.get(asked(q))).body.count))
  expect(await counts()).toEqual([0, 0, 6])
  expect(await reindexed(app)).toMatchObject({ code: 0, runs, missing: 0 })
  expect(await counts()).toEqual([1, 1, 5])
  figures("history.reindex", await exact(app.databaseUrl))
})

const noChecksum = "does not fit its checksum"
test.each([
  ["history_blocks", 1, "true", { fits: false, what: noChecksum }],
  ["history_blocks", 1, "true", { fits: true, what: "a page ends within a number" }],
  ["history_classes", 1, "page > 0", { fits: false, what: noChecksum }],
  ["history_classes", 1, "page > 0", { fits: true, what: "a page ends within a number" }],
  ["history_docs", 3, "true", { fits: false, what: noChecksum }],
  ["history_docs", 3, "true", { fits: true, what: "a page ends within a text" }]
])(
  "repairs %s cut to %i bytes (%s) without a worker; until then they are a 503 and not another answer: %j",
  async (table, length, where, { fits, what }) => {
    const service = await started()
    const { org, before } = await past(service)
    // No worker repairs what this one finds.
    const doors = await startApp({ beside: service, role: "http" })
    await service.stop()
    await doors.sql(`UPDATE ${table} SET bytes = substring(bytes FROM 1 FOR ${length}) WHERE ${where}`)
    if (fits) await fitChecksums(doors)
    const refused = await org.over(doors).get(asked("ada@one.example"))
    expect(refused).toMatchObject({ status: 503, body: { error: { code: "service_unavailable" } } })
    const found = doors.logs.filter((line) => line.includes("is damaged"))
    expect(found.join("\n")).toContain(what)
    const { code, missing, errors } = await told(reindex(service.databaseUrl))
    expect({ code, missing }).toEqual({ code: 0, missing: 0 })
    expect(errors).toContain("history index: rebuilt damaged segments of")
    expect(await answers(org.over(doors))).toEqual(before)
    expect(await exact(service.databaseUrl)).toMatchObject({ runs: 8 })
    await doors.stop()
  },
  60_000
)

test("needs no service, and two at once both end well", async () => {
  const service = await started()
  const { org, before } = await past(service)
  await emptied(service)
  await service.stop()
  const both = await Promise.all([reindex(service.databaseUrl), reindex(service.databaseUrl)].map(told))
  expect(both).toEqual([expect.objectContaining({ code: 0 }), expect.objectContaining({ code: 0 })])
  expect(await exact(service.databaseUrl)).toMatchObject({ runs: 8 })
  const doors = await startApp({ beside: service, role: "http" })
  expect(await answers(org.over(doors))).toEqual(before)
  await doors.stop()
})

/** So many wait for the lock of whoever changes segments. */
const waiters = (count: number) =>
  until(
    "they wait",
    () => app.sql("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = $1", [segmentsLock]),
    (rows) => rows.length === count
  )
const holding = async (work: (...holders: ReadonlyArray<Client>) => Promise<void>) => {
  const holders = [new Client({ connectionString: app.databaseUrl }), new Client({ connectionString: app.databaseUrl })]
  try {
    for (const holder of holders) await holder.connect().then(() => holder.query("BEGIN"))
    await work(...holders)
  } finally {
    for (const holder of holders) await holder.end()
  }
}

test(
  "waits for whoever changes segments, and holds none of them meanwhile",
  () =>
    holding(async (holder) => {
      await holder?.query("SELECT pg_advisory_xact_lock(hashtext(current_schema()), $1)", [segmentsLock])
      const work = again("--restart")
      await waiters(1)
      await holder?.query("SELECT FROM history_segments FOR UPDATE NOWAIT")
      await holder?.query("COMMIT")
      expect(await told(work)).toMatchObject({ code: 0, missing: 0 })
    }),
  60_000
)

test(
  "two that make the same segment anew put one in its place",
  () =>
    holding(async (reading, writing) => {
      await app.sql("UPDATE history_segments SET rules = 0")
      await app.sql("INSERT INTO history_progress (name, org_id, run_id) VALUES ('reindex', $1, 'run_z')", [org.org_id])
      await reading?.query("LOCK TABLE history_classes IN ACCESS EXCLUSIVE MODE")
      const both = [again(), again()]
      await until(
        "they are about to read it",
        () => count("pg_locks WHERE relation = 'history_classes'::regclass AND NOT granted"),
        (found) => found === 2
      )
      await writing?.query("SELECT pg_advisory_xact_lock(hashtext(current_schema()), $1)", [segmentsLock])
      await reading?.query("COMMIT")
      await waiters(2)
      await writing?.query("COMMIT")
      for (const run of both) expect(await told(run)).toMatchObject({ code: 0, missing: 0 })
      expect(await exact(app.databaseUrl)).toMatchObject({ runs: await runsOf() })
    }),
  60_000
)

test.if(dueToday(0))(
  "goes on where it was killed, says how far it is, and begins anew when it is told to",
  async () => {
    const step = 1_000
    const ages = Array.from({ length: 5 * step }, (_, n) => 40 - n / 1000)
    const made = await copies(app, org, await template(org, "ada@many.example"), ages)
    const all = (await app.sql("SELECT run_id FROM runs ORDER BY org_id, run_id")).map((row) => String(row["run_id"]))
    const holder = new Client({ connectionString: app.databaseUrl })
    await holder.connect()
    const progress = async () =>
      (await app.sql("SELECT org_id, run_id FROM history_progress WHERE name = 'reindex'"))[0] ?? {}
    /** So many runs are behind that. */
    const left = ({ org_id, run_id }: Record<string, unknown>) =>
      count("runs WHERE erased_at IS NULL AND (org_id, run_id) > ($1, $2)", [org_id, run_id])
    const waiting = `SELECT coalesce(max(extract(epoch FROM now() - query_start)), -1)::float8 AS seconds FROM pg_stat_activity
                     WHERE datname = current_database() AND application_name = 'rungate' AND query LIKE '%history_%' AND wait_event IN ('transactionid', 'tuple')`
    const waited = async () => Number((await app.sql(waiting))[0]?.["seconds"])
    const held = (seconds: number) => until("it is held", waited, (found) => found >= seconds)
    await app.sql(`
    CREATE TABLE held (run_id text PRIMARY KEY);
    CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN INSERT INTO held SELECT unnest(NEW.run_ids) ON CONFLICT DO NOTHING; RETURN NEW; END';
    CREATE TRIGGER hold BEFORE INSERT ON history_queue FOR EACH ROW EXECUTE FUNCTION hold()`)
    /** Holds back the page that has this run, which is not in the index. */
    const hold = async (run_id: string | undefined) => {
      await holder.query("BEGIN")
      await holder.query("INSERT INTO held VALUES ($1)", [run_id])
    }
    const release = async () => {
      await holder.query("ROLLBACK")
      await until("nothing waits", waited, (seconds) => seconds < 0)
    }
    const kill = async (run: ReturnType<typeof reindex>) => {
      run.child.kill("SIGKILL")
      expect((await run.ended).signal).toBe("SIGKILL")
    }
    try {
      // The oldest ids of an organization come first; the third page is held.
      await hold(all[2 * step + step / 2])
      const first = again()
      await held(0)
      const reached = await progress()
      expect(reached["run_id"]).toBe(all[2 * step - 1])
      await kill(first)
      await release()
      const slow = await org.run({ capability: "email.verify", input: { email: "slow_1@sandbox.test" }, async: true })

      // Held again for longer than it keeps silent.
      await hold(all[3 * step + step / 2])
      const second = again()
      await held(1.1)
      const [runs, missing] = [await left(reached), made.filter((run_id) => run_id > String(reached["run_id"])).length]
      await release()
      const rest = await told(second)
      expect(rest).toMatchObject({ code: 0, runs, missing })
      expect(rest.errors).toMatch(
        /^\d+ of about \d+ runs checked\. Safe to interrupt: the next call continues here\.\n/
      )
      expect(await progress()).toEqual({})
      expect((await org.get(asked("ada@many.example"))).body.count).toBe(5 * step + 1)
      const found = await org.get(`/v1/runs/${slow.body.run_id}?wait=20`)
      expect(found.body.status).toBe("succeeded")
      expect((await org.get(asked("slow_1@sandbox.test"))).body.items[0].run_id).toBe(slow.body.run_id)

      // Killed while it makes segments anew: somebody holds a page of one of them.
      await waitsFor(app)
      const old = () => count("history_segments WHERE rules = 0")
      await holder.query("BEGIN")
      await holder.query(
        "SELECT FROM history_docs WHERE segment = (SELECT max(segment) FROM history_segments) FOR UPDATE"
      )
      const third = again()
      await held(0)
      await kill(third)
      await release()
      const segments = await old()
      expect([segments > 0, segments < (await count("history_segments"))]).toEqual([true, true])
      expect(await told(again())).toMatchObject({ code: 0, runs: 0, missing: 0, segments })
      expect(await old()).toBe(0)

      // Broken off once more, and told to begin anew.
      await app.sql("INSERT INTO history_progress (name, org_id, run_id) VALUES ('reindex', $1, 'run_z')", [org.org_id])
      const whole = await count("history_segments")
      expect(await told(again("--restart"))).toMatchObject({
        code: 0,
        runs: await runsOf(),
        missing: 0,
        segments: whole
      })
      const { body } = await org.post("/v1/history", { subjects: ["ada@many.example"] })
      expect(body.items[0].count).toBe(5 * step + 1)
      figures("history.reindex_killed", await exact(app.databaseUrl))
      await app.books()
    } finally {
      await holder.end()
    }
  },
  60_000
)

test.if(dueToday(1))(
  "is exact beside a service that goes on taking runs, ending and erasing them",
  async () => {
    const session = await org.session()
    const work = again("--restart")
    const over = { yes: false }
    void work.ended.then(() => {
      over.yes = true
    })
    let [ran, looked] = [0, 0]
    const seen = async (q: string) => Number((await org.get(`${asked(q)}&limit=1`)).body.count)
    const client = async (who: number) => {
      for (let n = 0; n < 5 || !over.yes; n++) {
        const email = `busy${who}.${n}@live.example`
        const send = { from: "me@live.example", to: [email], subject: "Hi", text: `round ${n} of client ${who}` }
        await org.run(
          n % 2 === 0 ? { capability: "email.send", input: send } : { capability: "email.verify", input: { email } }
        )
        expect([email, await seen(email)]).toEqual([email, 1])
        if (n % 5 === 4) {
          await app.call(session, "DELETE", asked(email))
          expect([email, await seen(email)]).toEqual([email, 0])
        }
        ran += 1
      }
    }
    // The first two have runs if the test before was due today.
    const questions = ["ada@many.example", "many.example", "ask ada@one.example"]
    const steady = await Promise.all(questions.map(async (q) => [q, await seen(q)] as const))
    expect(steady.at(-1)?.[1]).toBe(5)
    const asker = async () => {
      while (!over.yes) {
        for (const [q, count] of steady) expect([q, await seen(q)]).toEqual([q, count])
        looked += 1
      }
    }
    await Promise.all([...[0, 1, 2, 3].map(client), asker()])
    expect(await told(work)).toMatchObject({ code: 0, missing: 0, errors: expect.not.stringMatching(/error/i) })
    await waitsFor(app)
    figures("history.reindex_busy", { ...(await exact(app.databaseUrl)), meanwhile: ran, looked })
    await app.books()
  },
  60_000
)
