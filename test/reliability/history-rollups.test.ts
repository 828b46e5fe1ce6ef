/** Rollups of hot subjects: a question is answered alike with and without one, whatever happens to the runs behind it. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { fill } from "../bench/history-store.ts"
import { type App, figures, startApp, type Tenant, until } from "../app.ts"

let app: App
let tenants: ReadonlyArray<Tenant>
let tenant: Tenant
const hot = "gmail.com"

beforeAll(async () => {
  app = await startApp({ settings: { RUNGATE_RATE_LIMIT: "0" } })
  tenants = await Promise.all(Array.from({ length: 5 }, () => app.tenant("100.00")))
  const [first] = tenants
  if (first === undefined) throw new Error("no tenant")
  tenant = first
  await fill(
    app.databaseUrl,
    tenants.map((one) => one.org_id),
    8_000,
    () => undefined
  )
}, 60_000)
afterAll(() => app.stop())

const one = async (q: string) => (await tenant.get(`/v1/history?limit=200&q=${encodeURIComponent(q)}`)).body
const row = async (q: string) => (await tenant.post("/v1/history", { subjects: [q] })).body.items[0]
const rolled = () =>
  until(
    "the rollup is made",
    () => app.sql("SELECT before, wanted FROM history_rollups WHERE org_id = $1", [tenant.org_id]),
    (rows) => rows.length > 0 && rows.every((found) => found["wanted"] === false && found["before"] !== "")
  )
/** What is answered when everything is read. */
const unrolled = async (q: string) => {
  await rolled()
  const [view, batch] = [await one(q), await row(q)]
  await app.sql("DELETE FROM history_rollups")
  const [plain, plainBatch] = [await one(q), await row(q)]
  expect(view).toEqual(plain)
  expect(batch).toEqual(plainBatch)
  expect([batch.count, batch.last_seen, batch.last_touch?.run_id, batch.reusable?.run_id]).toEqual([
    ...[view.count, view.last_seen, view.last_touch?.run_id, view.reusable[0]?.run_id]
  ])
  return view
}

test("a rolled up subject is answered as if every run had been read", async () => {
  const before = await one(hot)
  expect(before.count).toBeGreaterThan(300)
  expect(await unrolled(hot)).toEqual(before)
  const domain = `https://${before.items[0].input.company_domain ?? "www.linkedin.com"}`
  expect((await one(domain)).count).toBeGreaterThan(0)
  figures("history rollups", { matches: before.count, statuses: Object.keys(before.by_status).length })
})

test("new runs are added to it, the next step takes them up once", async () => {
  await one(hot)
  await rolled()
  const before = await one(hot)
  const to = `new.one@${hot}`
  const sent = await tenant.run({
    capability: "email.send",
    input: { from: "me@sender.example", to: [to], subject: "Hello", text: "Hello there" }
  })
  expect(sent.status).toBe(200)
  const after = await one(hot)
  expect(after.count).toBe(before.count + 1)
  expect(after.last_touch.run_id).toBe(sent.body.run_id)
  expect((await row(hot)).last_touch.run_id).toBe(sent.body.run_id)
  await app.sql("UPDATE history_rollups SET wanted = true")
  expect(await unrolled(hot)).toEqual(after)
})

test("erasing a person takes the person's runs out of it", async () => {
  await one(hot)
  await rolled()
  const before = await one(hot)
  const found = before.items.find((item: { input: { email?: string } }) => item.input.email?.endsWith(`@${hot}`))
  const person = await one(found.input.email)
  const session = await tenant.session()
  const erased = await app.call(session, "DELETE", `/v1/history?q=${encodeURIComponent(found.input.email)}`)
  expect(erased.body.erased).toBe(person.count)
  expect((await one(hot)).count).toBe(before.count - person.count)
  expect((await unrolled(hot)).count).toBe(before.count - person.count)
})

test("what may still change is not in it: a run under way holds it back", async () => {
  const oldest = (await one(hot)).items.at(-1).run_id
  await app.sql(
    "INSERT INTO open_runs (run_id, org_id, hold, state, side_effect) VALUES ($1, $2, 0, 'queued', false)",
    [`${oldest.slice(0, -1)}!`, tenant.org_id]
  )
  const [made] = await rolled()
  expect(String(made?.["before"]) <= oldest).toBe(true)
  await app.sql("DELETE FROM open_runs WHERE run_id LIKE '%!'")
})

test("another organization's rollup is nobody else's", async () => {
  const [, second] = tenants
  const theirs = (await second?.get(`/v1/history?q=${hot}`))?.body
  await one(hot)
  await rolled()
  expect((await second?.get(`/v1/history?q=${hot}`))?.body).toEqual(theirs)
  const stranger = await app.tenant()
  expect((await stranger.get(`/v1/history?q=${hot}`)).body.count).toBe(0)
})
