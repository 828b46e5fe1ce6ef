/**
 * T65: what a run is about stays in the run store. Canary names, addresses and phone numbers go in through every door, with every
 * outcome, and are then looked for in logs, metrics, Redis and every other table. Erasure and retention remove them from the run store too.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type App, backends, figures, startApp, type Tenant, until } from "../../kit/app.ts"
import { documentOf, endpointOf } from "../../kit/provider-documents.ts"
import { dumpDatabase, dumpRedis, hitsIn, recordRedis } from "../../kit/stored-text.ts"
import { copies, template } from "../../kit/old-runs.ts"
import { preparedSchema } from "../../kit/postgres.ts"

const canaries = {
  email: "canaria.personova@canary-corp.example",
  name: "Canaria Personova",
  "family name": "Personova",
  phone: "+14155552671",
  "phone digits": "4155552671",
  text: "Zanzibar-Quokka-4711"
}
const domain = "canary-corp.example"
const { email, name, phone, text } = canaries

/** Tables that may hold inputs and results of runs: the runs and the commands that are not applied yet. */
const runStore = new RegExp(`^${preparedSchema}\\.(runs|open_runs|mailbox|history_\\w+)$`)

const people = endpointOf({
  path: "/people/{who}",
  method: "POST",
  body: { type: "object" },
  path_params: { type: "object", properties: { who: { type: "string" } }, required: ["who"] },
  query_params: { type: "object", properties: { also: { type: "string" } } }
})
const raw = { provider: "acme", endpoint: "/people/{who}", path: { who: email }, input: { who: name, phone } }

/** Each names the domain or the e-mail address, so that erasing those two erases every run. */
const bodies = [
  { capability: "email.verify", input: { email } },
  { capability: "email.find", input: { full_name: name, company_domain: domain } },
  { capability: "people.enrich", input: { email } },
  { capability: "phone.find", input: { email } },
  { capability: "email.send", input: { from: "a@b.example", to: email, subject: text, text: `${name} ${phone}` } },
  { capability: "web.search", input: { query: `${name} ${email} ${phone} ${text}` } },
  ...["error", "timeout", "malformed", "no_match", "rate_limited"].map((word) => ({
    capability: "web.search",
    input: { query: `sandbox:${word} ${name} ${email} ${phone} ${text}` }
  })),
  raw,
  { ...raw, input: { who: name, phone, note: `sandbox:error ${text}` } }
]
/** Refused before a run exists. */
const refused = [
  { capability: "email.verify", input: { email: `${email} ${text}` } },
  { capability: "email.find", input: { full_name: name, company_domain: `not a domain ${text}` } },
  { capability: "email.verify", input: { email, [text]: phone } },
  { capability: "email.verify", input: { email }, routing: { provider: text } },
  { ...raw, path: { who: email, [text]: phone } }
]

let app: App
let org: Tenant
let session: string
let recorder: Awaited<ReturnType<typeof recordRedis>> | undefined
const redisUrl = () => app.settings["REDIS_URL"] ?? ""
beforeAll(async () => {
  app = await startApp({ backend: backends.at(-1) ?? "postgres" })
  await app.catalog(documentOf("acme", [people]))
  org = await app.tenant("100.00")
  session = await org.session()
  if (redisUrl() !== "") recorder = await recordRedis(redisUrl())
})
afterAll(async () => {
  recorder?.stop()
  await app.stop()
})

const outside = async () => {
  const metrics = await app.metrics()
  return [
    ...app.logs.map((line) => ({ place: `log: ${line.slice(0, 120)}`, text: line })),
    { place: "metrics", text: metrics },
    ...(redisUrl() === "" ? [] : await dumpRedis(redisUrl())),
    ...(recorder?.commands ?? []),
    ...(await dumpDatabase(app)).filter(({ place }) => !runStore.test(place))
  ]
}
const inside = async () => (await dumpDatabase(app)).filter(({ place }) => runStore.test(place))
const erase = (q: string) => app.call(session, "DELETE", `/v1/history?q=${encodeURIComponent(q)}`)
const indexed = () =>
  until(
    "every run is indexed",
    () => app.sql("SELECT FROM history_queue"),
    (rows) => rows.length === 0
  )

describe("T65 pii.logs_and_history", () => {
  test("what runs are about is in no log, no metric, no Redis key and no table but the run store", async () => {
    const ran = await Promise.all(bodies.map((body) => org.run({ ...body, wait_seconds: 30 })))
    expect(ran.filter(({ body }) => typeof body.run_id !== "string").map(({ text }) => text)).toEqual([])
    const statuses = new Set(ran.map(({ body }) => body.status))
    expect([...statuses].sort()).toEqual(["failed", "no_match", "succeeded", "timed_out"])
    for (const body of refused) expect((await org.run(body)).body.run_id).toBeUndefined()
    for (const q of [email, phone, name, text]) await org.get(`/v1/history?q=${encodeURIComponent(q)}`)
    await org.post("/v1/history", { subjects: [email, phone, name] })
    const found = await outside()
    expect(hitsIn(found, canaries)).toEqual([])
    // The search finds what is there.
    expect(hitsIn(await inside(), canaries).length).toBeGreaterThan(4)
    figures("T65 pii.logs_and_history", {
      runs: ran.length,
      refused: refused.length,
      places: new Set(found.map(({ place }) => place)).size,
      redis_commands: recorder?.commands.length ?? 0,
      log_lines: app.logs.length
    })
  })

  test("when the database refuses a row, neither the log nor the answer quotes it", async () => {
    const before = app.logs.length
    // PostgreSQL repeats the whole row in the detail of such an error.
    await app.sql("ALTER TABLE runs ADD CONSTRAINT canary CHECK (capability <> 'people.enrich') NOT VALID")
    const broken = [await org.run({ capability: "people.enrich", input: { email } })]
    await app.sql("ALTER TABLE runs DROP CONSTRAINT canary")
    await app.sql("ALTER TABLE history_segments RENAME TO history_segments_away")
    broken.push(await org.get(`/v1/history?q=${encodeURIComponent(email)}`))
    await app.sql("ALTER TABLE history_segments_away RENAME TO history_segments")
    expect(broken.map(({ status }) => status)).toEqual([500, 500])
    const logged = app.logs.slice(before)
    expect(logged.filter((line) => /violates check constraint|does not exist/.test(line))).toHaveLength(2)
    const answers = broken.map(({ text }, index) => ({ place: `answer ${index}`, text }))
    expect(hitsIn([...answers, ...(await outside())], canaries)).toEqual([])
  })

  test("erasure removes them from the run store", async () => {
    await indexed()
    for (const q of [email, domain]) expect((await erase(q)).status).toBe(200)
    expect(hitsIn(await inside(), canaries)).toEqual([])
    expect(hitsIn(await outside(), canaries)).toEqual([])
    await app.books()
  })

  test("retention removes them from the run store", async () => {
    const [old = ""] = await copies(app, org, await template(org, email), [40])
    const [young = ""] = await copies(app, org, await template(org, `young@${domain}`), [20])
    expect(hitsIn(await inside(), { email })).toEqual([`email in ${preparedSchema}.runs`])
    const keeper = await startApp({ role: "worker", beside: app, settings: { RUNGATE_RETENTION_DAYS: "30" } })
    const erased = () => app.sql("SELECT FROM runs WHERE run_id = $1 AND erased_at IS NOT NULL", [old])
    await until("the old run is erased", erased, (rows) => rows.length === 1)
    await keeper.stop()
    const left = (await inside()).filter(({ text }) => text.includes(old))
    expect(left.length).toBeGreaterThan(0)
    expect(hitsIn(left, canaries)).toEqual([])
    const kept = (await inside()).filter(({ text }) => text.includes(young))
    expect(hitsIn(kept, { domain })).toEqual([`domain in ${preparedSchema}.runs`])
  })
})
