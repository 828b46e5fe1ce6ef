/** Personal data in batches: erased with a subject, erased by age, and deleted with the months of their runs. */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test"
import { type App, type Reply, startApp, type Tenant, until, verify } from "../../../kit/app.ts"
import { heldProvider, rehearseHeld } from "../../../kit/held-provider.ts"

const held = heldProvider()
let app: App
let org: Tenant
let session: string
beforeAll(async () => {
  // One row of a batch is open at a time, so the others wait.
  app = await startApp({ held, settings: { RUNGATE_CONCURRENCY: "2" } })
  org = await app.tenant("20.00")
  session = await org.session()
})
afterAll(() => app.stop())
afterEach(async () => {
  await app.books()
})

const start = async (runs: ReadonlyArray<object>, more: object = {}): Promise<string> => {
  const { status, body } = await org.post("/v1/batches", { runs, ...more })
  expect(status).toBe(202)
  return body.id
}
const read = async (id: string): Promise<Reply["body"]> => (await org.get(`/v1/batches/${id}`)).body
const finished = (id: string) =>
  until(
    "the batch to finish",
    () => read(id),
    ({ done }) => done
  )
const stored = async (text: string) => {
  const rows = await app.sql("SELECT row, status, request::text, error::text FROM batch_rows ORDER BY batch_id, row")
  return rows.filter((row) => JSON.stringify(row).includes(text))
}
const erase = (subject: string) => app.call(session, "DELETE", `/v1/history?q=${encodeURIComponent(subject)}`)

test("erasing a person cancels the rows about them that have not started", async () => {
  const endpoint = { provider: "dataforseo", endpoint: "/v3/backlinks/referring_domains/live" }
  const raw = { ...endpoint, input: { target: "gone@person.example" } }
  const id = await start([
    rehearseHeld(),
    verify("Gone", "person.example"),
    verify("stays"),
    raw,
    verify("gone", "person.example")
  ])
  await until(
    "the first row to run",
    () => org.list("?status=running"),
    ({ body }) => body.items.length > 0
  )
  const { status, body } = await erase("gone@person.example")
  expect([status, body.erased, body.in_flight]).toEqual([200, 3, 0])
  expect(await stored("person.example")).toEqual([])
  await held.holds(1)
  held.release()
  const batch = await finished(id)
  expect(batch).toMatchObject({ status: "finished", rows: { succeeded: 2, cancelled: 3 } })
  const lines = (await org.get(`/v1/batches/${id}/results`)).text.split("\n").slice(0, -1)
  expect(lines.map((line) => JSON.parse(line)).map(({ status: end, error }) => [end, error?.code])).toEqual([
    ["succeeded", undefined],
    ["cancelled", "erased"],
    ["succeeded", undefined],
    ["cancelled", "erased"],
    ["cancelled", "erased"]
  ])
  expect((await erase("gone@person.example")).body.erased).toBe(0)
})

test("erasing a person erases the errors that quote them, and nobody else's", async () => {
  const other = await app.tenant("1.00")
  const wrong = { capability: "email.verify", input: { email: "x", "quoted@person.example": "y" } }
  const id = await start([wrong])
  const theirs = (await other.post("/v1/batches", { runs: [wrong] })).body.id
  await finished(id)
  await until(
    "their batch to finish",
    () => other.get(`/v1/batches/${theirs}`),
    ({ body }) => body.done
  )
  // Whatever an error may quote: the messages of today quote names of fields.
  const quoting = `{"code":"invalid_request","message":"quoted@person.example is wrong"}`
  await app.sql("UPDATE batch_rows SET error = $1 WHERE batch_id = ANY($2)", [quoting, [id, theirs]])
  expect((await erase("quoted@person.example")).status).toBe(200)
  const [mine] = await app.sql("SELECT error FROM batch_rows WHERE batch_id = $1", [id])
  expect(mine?.["error"]).toEqual({ code: "invalid_request", message: "erased" })
  expect(await stored("quoted@person.example")).toHaveLength(1)
})

test("erasing a person erases the requests that blocked rows keep, and those rows are never retried", async () => {
  const poor = await app.tenant()
  const asked = { runs: [verify("blocked", "person.example"), verify("stays")] }
  const { id } = (await poor.post("/v1/batches", asked)).body
  // This row is blocked without a run, so only the batch knows it.
  const capped = { runs: [verify("capped", "person.example")], max_total: "0.00" }
  const other = (await poor.post("/v1/batches", capped)).body.id
  for (const one of [id, other])
    await until(
      "the batch to finish",
      () => poor.get(`/v1/batches/${one}`),
      ({ body }) => body.done
    )
  expect(await stored("blocked@person.example")).toHaveLength(1)
  expect(await stored("capped@person.example")).toHaveLength(1)
  const person = await poor.session()
  const { body } = await app.call(person, "DELETE", "/v1/history?q=person.example")
  expect([body.erased, body.in_flight]).toEqual([2, 0])
  expect(await stored("blocked@person.example")).toEqual([])
  expect(await stored("capped@person.example")).toEqual([])
  await poor.credit("1.00")
  expect((await poor.post(`/v1/batches/${other}/retry`, { max_total: "1.00" })).status).toBe(400)
  await poor.post(`/v1/batches/${id}/retry`, {})
  const batch = await until(
    "the batch to finish",
    () => poor.get(`/v1/batches/${id}`),
    ({ body: one }) => one.done
  )
  expect(batch.body.rows).toMatchObject({ succeeded: 1, blocked: 1 })
})

test("erasing a person erases the labels of batches that name them, when their rows have ended", async () => {
  const named = { metadata: { lead: "labelled@person.example" } }
  const id = await start([rehearseHeld(), verify("beside")], named)
  const other = await start([verify("beside")], { metadata: { lead: "stays@person.example" } })
  await finished(other)
  // The batch, and its run, which has the labels too.
  expect((await erase("labelled@person.example")).body).toMatchObject({ erased: 0, in_flight: 2 })
  expect((await read(id)).metadata).toEqual(named.metadata)
  await held.holds(1)
  held.release()
  await finished(id)
  expect((await erase("labelled@person.example")).body).toMatchObject({ erased: 2, in_flight: 0 })
  expect((await read(id)).metadata).toEqual({})
  expect((await read(other)).metadata).toEqual({ lead: "stays@person.example" })
})

test("old batches lose what quotes their rows, and are deleted with the months of their runs", async () => {
  const wrong = { capability: "email.verify", input: { email: "old-and-wrong" } }
  const id = await start([verify("old"), wrong], { metadata: { campaign: "old" } })
  const kept = await start([verify("old.blocked")], { max_total: "0.00" })
  const young = await start([verify("young")])
  await finished(id)
  await finished(young)
  await finished(kept)
  expect(await stored("old.blocked")).toHaveLength(1)
  await app.sql("UPDATE batches SET created_at = now() - interval '40 days' WHERE batch_id = ANY($1)", [[id, kept]])
  const erasing = await startApp({ beside: app, settings: { RUNGATE_RETENTION_DAYS: "30" } })
  const batch = await until(
    "the errors to be erased",
    () => read(id),
    ({ metadata }) => metadata.campaign === undefined
  )
  expect(batch).toMatchObject({ done: true, rows: { succeeded: 1, invalid: 1 } })
  const { text } = await org.get(`/v1/batches/${id}/results`)
  expect(text).toContain(`"error":{"code" : "invalid_request", "message" : "erased"}`)
  await until(
    "the request to be erased",
    () => stored("old.blocked"),
    (rows) => rows.length === 0
  )
  await erasing.stop()

  await app.sql("UPDATE batches SET finished_at = now() - interval '5 months' WHERE batch_id = $1", [id])
  const months = { RUNGATE_RETENTION_DAYS: "30", RUNGATE_RETENTION_MONTHS: "3" }
  const dropping = await startApp({ beside: app, settings: months })
  await until(
    "the batch to be deleted",
    () => org.get(`/v1/batches/${id}`),
    ({ status }) => status === 400
  )
  expect(await app.sql("SELECT 1 FROM batch_rows WHERE batch_id = $1", [id])).toEqual([])
  expect((await org.get(`/v1/batches/${young}`)).status).toBe(200)
  await dropping.stop()
})
