/** The retention of old runs: what is too old goes, of every organization, and nothing else. */
import { beforeAll, expect, test } from "bun:test"
import { figures, startApp, until, withApp } from "../kit/app.ts"
import { documentOf, endpointOf } from "../kit/provider-documents.ts"
import { copies, template } from "../kit/old-runs.ts"

const people = endpointOf({
  path: "/people/{who}",
  method: "POST",
  body: { type: "object" },
  path_params: { type: "object", properties: { who: { type: "string" } }, required: ["who"] },
  query_params: { type: "object", properties: { also: { type: "string" } } }
})

const app = withApp()
beforeAll(async () => {
  await app.catalog(documentOf("acme", [people]))
})

const page = 200

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
  const old = await copies(app, one, first, ages)
  const other = await copies(app, two, second, [400, 31, 30.01])
  const young = [...(await copies(app, one, first, [29.99, 20, 1])), ...(await copies(app, two, second, [29, 0.5]))]
  // A run of that age that is still under way, before all others of its organization's.
  const [open = ""] = await copies(app, two, second, [500], "created")
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
})

test("is off by default: a process without it erases nothing, however old", async () => {
  const org = await app.tenant("1.00")
  const ancient = await copies(app, org, await template(org, "ancient@one.example"), [3_000])
  const beside = await startApp({ role: "worker", beside: app })
  const later = await template(org, "later@one.example")
  await until(
    "a run of after its start is indexed",
    () => app.sql("SELECT FROM history_queue WHERE $1 = ANY(run_ids)", [later]),
    (rows) => rows.length === 0
  )
  await beside.stop()
  expect(await erased(ancient)).toEqual([])
})
