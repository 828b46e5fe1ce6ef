/** Rollups of hot subjects: a question is answered alike with and without one, whatever happens to the runs behind it. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { Layer } from "effect"
import { RollupPage } from "../../src/layers/Rollups.ts"
import { runSubjects } from "../../src/layers/Subjects.ts"
import { makeId } from "../../src/schema/Ids.ts"
import { type Filled, fill } from "../bench/history-store.ts"
import { type App, figures, startApp, type Tenant, until } from "../app.ts"
import { runMain } from "../chaos/processes.ts"

let app: App
let tenants: ReadonlyArray<Tenant>
let tenant: Tenant
let filled: Filled
const hot = "gmail.com"
/** A rollup of what these tests ask about takes several steps of so many matches. */
const pageMax = 100

beforeAll(async () => {
  app = await startApp({ limits: Layer.succeed(RollupPage)(pageMax) })
  tenants = await Promise.all(Array.from({ length: 5 }, () => app.tenant("100.00")))
  const [first] = tenants
  if (first === undefined) throw new Error("no tenant")
  tenant = first
  filled = await fill(
    app.databaseUrl,
    tenants.map((one) => one.org_id),
    6_000,
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
/** What a batch has to say of what GET says. */
const rowOf = ({ count, last_seen, contacted, last_touch, last_contact, reusable }: Record<string, any>) => ({
  ...{ count, last_seen, contacted, last_touch, last_contact },
  reusable: reusable[0] ?? null
})
/** What is answered when everything is read. */
const unrolled = async (q: string) => {
  await rolled()
  const [view, batch] = [await one(q), await row(q)]
  await app.sql("DELETE FROM history_rollups")
  const [plain, plainBatch] = [await one(q), await row(q)]
  expect(view).toEqual(plain)
  expect(batch).toEqual(plainBatch)
  expect(batch).toMatchObject(rowOf(view))
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

test("more matches than one step takes are added up in several, and what is there between them is right", async () => {
  await app.sql("DELETE FROM history_rollups")
  const before = await one(hot)
  await rolled()
  const [made] = await app.sql("SELECT before FROM history_rollups WHERE org_id = $1", [tenant.org_id])
  // A run under way in the middle stops it there; the rest is added when that has ended.
  const middle = before.items[Math.floor(before.items.length / 2)].run_id
  await app.sql("CREATE TABLE steps AS SELECT before FROM history_rollups LIMIT 0")
  await app.sql(
    `CREATE FUNCTION note_step() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
     IF NEW.before <> OLD.before THEN INSERT INTO steps VALUES (NEW.before); END IF; RETURN NEW; END $$`
  )
  await app.sql("CREATE TRIGGER note_step AFTER UPDATE ON history_rollups FOR EACH ROW EXECUTE FUNCTION note_step()")
  await app.sql("DELETE FROM history_rollups")
  await app.sql(
    "INSERT INTO open_runs (run_id, org_id, hold, state, side_effect) VALUES ($1, $2, 0, 'queued', false)",
    [`${middle.slice(0, -1)}!`, tenant.org_id]
  )
  expect(await one(hot)).toEqual(before)
  const [half] = await rolled()
  const firstSteps = Number((await app.sql("SELECT count(*) AS n FROM steps"))[0]?.["n"])
  expect([half?.["before"], firstSteps > 1]).toEqual([`${middle.slice(0, -1)}!`, true])
  expect([await one(hot), await row(hot)]).toMatchObject([before, rowOf(before)])
  await app.sql("DELETE FROM open_runs WHERE run_id LIKE '%!'")
  await app.sql("UPDATE history_rollups SET wanted = true")
  const [whole] = await rolled()
  const steps = Number((await app.sql("SELECT count(*) AS n FROM steps"))[0]?.["n"])
  expect(String(whole?.["before"]) >= String(made?.["before"])).toBe(true)
  expect(steps).toBeGreaterThanOrEqual(Math.floor(before.count / pageMax))
  expect(await unrolled(hot)).toEqual(before)
  figures("history.rollup_steps", { matches: before.count, steps })
})

test("a re-index that changes what is behind a rollup deletes it; it is made anew, and right", async () => {
  await app.sql("DELETE FROM history_rollups")
  const before = await one(hot)
  const [made] = await rolled()
  const [key] = await app.sql("SELECT subject FROM history_rollups WHERE org_id = $1", [tenant.org_id])
  // As an older rule may have had it: one run too many, one too few, one touch that seemed to go to somebody else.
  const touched = before.last_contact.run_id
  const lost = before.items.find((item: { run_id: string }) => item.run_id !== touched).run_id
  await app.sql(
    `INSERT INTO run_subjects SELECT $2::bigint, run_id, false, true, 'old' FROM runs r WHERE org_id = $1 AND run_id < $3
     AND NOT EXISTS (SELECT FROM run_subjects s WHERE s.subject = $2::bigint AND s.run_id = r.run_id) ORDER BY run_id DESC LIMIT 3`,
    [tenant.org_id, key?.["subject"], made?.["before"]]
  )
  await app.sql("DELETE FROM run_subjects WHERE subject = $1 AND run_id = $2", [key?.["subject"], lost])
  await app.sql("UPDATE run_subjects SET path = 'text' WHERE subject = $1 AND run_id = $2", [key?.["subject"], touched])
  await app.sql("DELETE FROM history_rollups")
  const wrong = await one(hot)
  await rolled()
  expect(await row(hot)).toMatchObject(rowOf(wrong))
  expect([wrong.count, wrong.last_contact?.run_id === touched]).toEqual([before.count + 2, false])
  // Nothing is wrong behind this one.
  await app.sql(
    "INSERT INTO history_rollups (org_id, subject, before, rules, groups, reusable_ids, wanted) VALUES ($1, 1, '', '', '[]', '{}', false)",
    [tenant.org_id]
  )
  // It goes on before the runs in question: the thousands of others are right.
  const oldest = before.items.at(-1).run_id
  await app.sql("INSERT INTO history_progress (name, org_id, run_id) VALUES ('reindex', $1, $2)", [
    tenant.org_id,
    oldest
  ])
  const run = runMain(["admin", "reindex-history"], { DATABASE_URL: app.databaseUrl })
  expect((await run.ended).code).toBe(0)
  expect(run.output()).toMatch(/ 2 were missing or wrong, 3 no longer stood there and were removed/)
  const left = await app.sql("SELECT subject FROM history_rollups WHERE org_id = $1", [tenant.org_id])
  expect(left.map((found) => found["subject"])).toEqual(["1"])
  await app.sql("DELETE FROM history_rollups")
  expect(await one(hot)).toEqual(before)
  expect(await unrolled(hot)).toEqual(before)
}, 60_000)

/** Runs of the past as they come, with the index as it is written. */
const put = async (inputs: ReadonlyArray<Record<string, unknown>>, at = Date.now() - 86_400_000) => {
  const runs = inputs.map((input, n) => ({
    run_id: makeId("run", at + n),
    capability: n % 3 === 0 ? "network.message" : "social.profile",
    status: n % 7 === 0 ? "failed" : "succeeded",
    charged: n % 7 === 0 ? null : 2_000 + n,
    ...{ input: JSON.stringify(input), plan: "{}", result: null }
  }))
  const column = (name: "run_id" | "capability" | "status" | "charged" | "input") => runs.map((run) => run[name])
  await app.sql(
    `INSERT INTO runs (org_id, run_id, request_id, fingerprint, kind, capability, provider, status, hold, quoted, charged, input, plan,
                       routing_reason, attempts, created_at, finished_at)
     SELECT $1, run_id, 'req', '', 'capability', capability, 'apify', status, 9000, 9000, charged, input::json, '{}', '', '[]',
            now() - interval '1 day', now()
     FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[]) AS n(run_id, capability, status, charged, input)`,
    [tenant.org_id, column("run_id"), column("capability"), column("status"), column("charged"), column("input")]
  )
  const rows = runs.flatMap((run) => runSubjects(tenant.org_id, run).map((place) => ({ ...place, run_id: run.run_id })))
  await app.sql(
    `INSERT INTO run_subjects (subject, run_id, in_result, exact, path)
     SELECT s, r, i, e, p FROM unnest($1::bigint[], $2::text[], $3::boolean[], $4::boolean[], $5::text[]) AS n(s, r, i, e, p)`,
    [
      ...[rows.map((one) => one.subject), rows.map((one) => one.run_id), rows.map((one) => one.in_result)],
      ...[rows.map((one) => one.exact), rows.map((one) => one.path)]
    ]
  )
}

test("a handle is asked for by two keys: rollups of both are no answer, the one of the only key in use is", async () => {
  await app.sql("DELETE FROM history_rollups")
  const times = (count: number, input: Record<string, unknown>) => Array.from({ length: count }, () => input)
  const [page, mention] = [{ profile: "https://x.com/ada_two" }, { mention: "@ada_two" }]
  await put([...times(160, page), ...times(170, mention), ...times(30, { ...page, ...mention })])
  await put([
    ...times(180, { profile: "https://x.com/bob_one" }),
    ...times(155, { network_url: "linkedin.com/in/bob" })
  ])
  // Each key alone, both together, the name anywhere; and one who is known by one key only.
  const asked = [
    "x.com/ada_two",
    "@ada_two",
    "https://www.instagram.com/ada_two",
    "x.com/bob_one",
    "linkedin.com/in/bob"
  ]
  const views = await Promise.all(asked.map(one))
  expect(views.map((view) => view.count)).toEqual([360, 360, 200, 180, 155])
  await rolled()
  expect(await app.sql("SELECT FROM history_rollups WHERE org_id = $1", [tenant.org_id])).toHaveLength(5)
  for (const [index, q] of asked.entries()) {
    const { body } = await tenant.post("/v1/history", { subjects: asked })
    expect(await one(q)).toEqual(views[index])
    expect(body.items[index]).toMatchObject(rowOf(views[index]))
  }
  // A run that only mentions her comes on top of either; a rollup of one key alone would miss it.
  await put([mention], Date.now())
  await put([page], Date.now())
  expect((await Promise.all(asked.slice(0, 3).map(one))).map((view) => view.count)).toEqual([362, 362, 201])
})

test("two hundred subjects, some with a rollup: each row says what GET says", async () => {
  await app.sql("DELETE FROM history_rollups")
  const drawn = [...filled.samples].flatMap(([kind, samples]) =>
    kind === "text" ? [] : samples.filter((sample) => sample.org === 0).map(({ q }) => q)
  )
  const step = Math.max(1, Math.floor(drawn.length / 300))
  const subjects = [...new Set([hot, ...drawn.filter((_, n) => n % step === 0)])]
    .slice(0, 198)
    .concat("x.com/ada_two", "@ada_two")
  const ask = async () => (await tenant.post("/v1/history", { subjects })).body
  const plain = await ask()
  await rolled()
  const hots = await app.sql("SELECT FROM history_rollups WHERE org_id = $1", [tenant.org_id])
  const body = await ask()
  expect(body).toEqual(plain)
  expect([body.items.length, body.seen > 150, hots.length > 2]).toEqual([200, true, true])
  const views = new Map<string, Record<string, any>>()
  for (let at = 0; at < subjects.length; at += 20)
    await Promise.all(
      subjects.slice(at, at + 20).map(async (q) => {
        views.set(q, (await tenant.get(`/v1/history?limit=1&q=${encodeURIComponent(q)}`)).body)
      })
    )
  for (const item of body.items) {
    const view = views.get(item.query) ?? {}
    const { kind, normalized } = view["subject"]
    const { count } = view
    expect(item).toEqual({ query: item.query, kind, normalized, seen: count > 0, ...rowOf(view) })
  }
  figures("history.batch_of_rollups", { rows: body.items.length, rollups: hots.length, violations: 0 })
}, 30_000)
