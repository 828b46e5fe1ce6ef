/**
 * A database of the version before the index had segments for subjects: its service is stopped amid its work, the new one starts on it, and answers
 * every question as the old one would have.
 */
import { beforeAll, expect, test } from "bun:test"
import { Client } from "pg"
import { type App, figures, startApp, type Tenant, until } from "../../kit/app.ts"
import { runMain } from "../../chaos/processes.ts"
import { documentOf, endpointOf } from "../../kit/provider-documents.ts"
import { copyRows, oldDatabase } from "../../kit/old-databases.ts"

const any = endpointOf({ path: "/any", method: "POST", body: { type: "object" } })
const asked = (q: string) => `/v1/history?${new URLSearchParams({ q })}`
const questions = [
  ...["ada@one.example", "one.example", "linkedin.com/in/ada-l", "+14155550199", "@ada_one", "x.com/ada_one"],
  ...["ask ada@one.example", "call me", "gone@three.example", "hello there"]
]
/** What is answered to each of them, one by one and in a batch. */
const answers = async (org: Tenant) => {
  const one = await Promise.all(questions.map(async (q) => (await org.get(asked(q))).body))
  return [...one, (await org.post("/v1/history", { subjects: questions })).body]
}
const late = { capability: "email.verify", input: { email: "late@four.example" } }

let source: App
let org: Tenant
let before: Awaited<ReturnType<typeof answers>>
let run_id: string
let url: string

beforeAll(async () => {
  source = await startApp()
  await source.catalog(documentOf("acme", [any]))
  org = await source.tenant("20.00")
  const said = { profile: "https://uk.linkedin.com/in/ada-l/", phone: "+1 415 555 0199", page: "x.com/ada_one" }
  const runs = [
    ...[1, 2, 3].map((n) => ({
      provider: "acme",
      endpoint: "/any",
      input: { ...said, note: `Ask ada@one.example (${n})` }
    })),
    { provider: "acme", endpoint: "/any", input: { note: "Call me, @ada_one" } },
    {
      capability: "email.send",
      input: { from: "me@two.example", to: ["ada@one.example"], subject: "Hi", text: "Hello there" }
    },
    { capability: "email.verify", input: { email: "ada@one.example" } },
    { capability: "email.verify", input: { email: "error@sandbox.test" } },
    { capability: "email.verify", input: { email: "gone@three.example" } }
  ]
  for (const run of runs) expect([200, 502]).toContain((await org.run(run)).status)
  await source.call(await org.session(), "DELETE", asked("gone@three.example"))
  before = await answers(org)
  expect(before.map((answer) => answer.count)).toEqual([5, 5, 3, 3, 4, 4, 3, 1, 0, 1, undefined])
  // Nobody is there to take it up any more.
  const doors = await startApp({ beside: source, role: "http" })
  await source.stop()
  run_id = (await org.over(doors).run({ ...late, async: true })).body.run_id
  url = await oldDatabase("0014")
  const client = new Client({ connectionString: url })
  await client.connect()
  await copyRows(doors, client)
  await doors.stop()
  // As the old version kept it: a row for each subject, segments of words, some runs still waiting for theirs; and a re-index that was broken off.
  await client.query(
    "INSERT INTO run_subjects SELECT hashtextextended(run_id, n), run_id, n = 1, n = 2, 'input.email' FROM runs, generate_series(1, 3) n"
  )
  await client.query(
    "INSERT INTO word_segments (org_id, rules, runs, blocks, first_run, last_run, kinds) SELECT org_id, 1, 3, 1, min(run_id), max(run_id), '[]' FROM runs GROUP BY 1"
  )
  await client.query("INSERT INTO word_blocks SELECT segment, 0, '\\x0102030405' FROM word_segments")
  await client.query("INSERT INTO word_runs SELECT segment, 0, '\\x0102030405' FROM word_segments")
  await client.query(
    "INSERT INTO word_queue (org_id, run_id) SELECT org_id, run_id FROM runs WHERE finished_at IS NOT NULL AND erased_at IS NULL ORDER BY run_id DESC LIMIT 3 ON CONFLICT DO NOTHING"
  )
  await client.query(
    "INSERT INTO history_progress (name, org_id, run_id) SELECT 'reindex', org_id, max(run_id) FROM runs GROUP BY 2"
  )
  await client.end()
})

test("the new version answers at once, and alike when all is indexed", async () => {
  const moved = { ...source, databaseUrl: url }
  const doors = await startApp({ beside: moved, role: "http" })
  expect(await answers(org.over(doors))).toEqual([...before])
  const [waiting] = await doors.sql("SELECT sum(runs)::int AS n FROM history_queue")
  expect(waiting).toEqual({ n: 7 })
  const young = async () => (await org.over(doors).get(asked("late@four.example"))).body
  expect(await young()).toMatchObject({ count: 1, items: [{ run_id, status: "created" }] })

  const worker = await startApp({ beside: moved, role: "worker" })
  const ended = await org.over(doors).get(`/v1/runs/${run_id}?wait=20`)
  expect(ended.body.status).toBe("succeeded")
  await until(
    "all runs are indexed",
    () => doors.sql("SELECT FROM history_queue LIMIT 1"),
    (rows) => rows.length === 0
  )
  expect(await answers(org.over(doors))).toEqual([...before])
  expect(await young()).toMatchObject({ count: 1, items: [{ run_id, status: "succeeded" }] })
  // It begins at the first run, not where the one of before had come.
  const again = runMain(["admin", "reindex-history"], { DATABASE_URL: url })
  expect((await again.ended).code).toBe(0)
  expect(again.output()).toStartWith("8 runs checked: 0 were missing")
  expect(await answers(org.over(doors))).toEqual([...before])
  await doors.books()
  figures("history.upgrade", { questions: questions.length })
  await worker.stop()
  await doors.stop()
})
