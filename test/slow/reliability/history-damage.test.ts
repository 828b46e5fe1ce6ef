/**
 * The index of history when parts of it are damaged, when several processes write it, and when many runs wait for it: a question gets the right answer or a
 * 503 that says why, and never a wrong "contacted".
 */
import { beforeAll, expect, test } from "bun:test"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Client } from "pg"
import { HistoryIndex } from "../../../src/layers/history/index/HistoryIndex.ts"
import { lockGroupOf, segmentsLock } from "../../../src/layers/history/index/Locks.ts"
import { segmentFormat } from "../../../src/schema/segments/Checksum.ts"
import { figures, startApp, type Tenant, until, withApp } from "../../kit/app.ts"
import { fitChecksums } from "../../kit/history-damage.ts"
import { dueToday, sampled } from "../../kit/input-samples.ts"
import { documentOf, endpointOf } from "../../kit/provider-documents.ts"
import { copies, template } from "../../kit/old-runs.ts"

const people = endpointOf({
  path: "/people/{who}",
  method: "POST",
  body: { type: "object" },
  path_params: { type: "object", properties: { who: { type: "string" } }, required: ["who"] }
})
const questions = ["ada@one.example", "one.example", "bob@two.example", "hello there", "nobody@none.example"]

let org: Tenant
let before: ReadonlyArray<unknown>

const asked = (q: string) => `/v1/history?${new URLSearchParams({ q })}`
const all = [
  ...questions.map((q) => (of: Tenant) => of.get(asked(q))),
  (of: Tenant) => of.post("/v1/history", { subjects: questions })
]
const answers = async (of: Tenant) => (await Promise.all(all.map((ask) => ask(of)))).map((answer) => answer.body)
const indexed = () =>
  until(
    "all runs are indexed",
    () => app.sql("SELECT 1 FROM history_queue LIMIT 1"),
    (rows) => rows.length === 0
  )
const send = (by: Tenant, to: string) =>
  by.run({ capability: "email.send", input: { from: "me@own.example", to: [to], subject: "Hi", text: "Hello there" } })

/** Nobody changes segments while `work` runs. */
const held = async <A>(keys: string, work: () => Promise<A>): Promise<A> => {
  const holder = new Client({ connectionString: app.databaseUrl })
  await holder.connect()
  try {
    await holder.query(`SELECT pg_advisory_lock(hashtext(current_schema()), ${keys})`)
    return await work()
  } finally {
    await holder.end()
  }
}

/** A process that indexes when it is told to. */
const hand = () =>
  ManagedRuntime.make(
    HistoryIndex.layer.pipe(Layer.provideMerge(PgClient.layer({ url: Redacted.make(app.databaseUrl) })))
  )
const index = Effect.flatMap(HistoryIndex, (history) => history.index)

const app = withApp()
beforeAll(async () => {
  await app.catalog(documentOf("acme", [people]))
  org = await app.tenant("20.00")
  for (const to of ["ada@one.example", "bob@two.example"]) expect((await send(org, to)).status).toBe(200)
  await org.run({ capability: "email.verify", input: { email: "ada@one.example" } })
  await template(org, "ada@one.example")
  await indexed()
  before = await answers(org)
  expect(before).toMatchObject([{ count: 3 }, { count: 3 }, { count: 1 }, { count: 2 }, { count: 0 }, { contacted: 3 }])
})

const mine = "segment IN (SELECT segment FROM history_segments WHERE org_id = $1)"
const flipped = "bytes = set_byte(bytes, length(bytes) / 2, get_byte(bytes, length(bytes) / 2) # 85)"
const cut = "bytes = substring(bytes FROM 1 FOR 1)"
/** Segments of an older release have no checksums. */
const old = "UPDATE history_segments SET format = 1, checksum = NULL WHERE org_id = $1"
const fits = true
/** What happens to the tables. With `fits` the checksums fit the damaged bytes, as if a faulty release had written them. */
const damages: ReadonlyArray<readonly [string, string, boolean?]> = [
  ["a byte of each block", `UPDATE history_blocks SET ${flipped} WHERE ${mine}`],
  ["blocks that are gone", `DELETE FROM history_blocks WHERE ${mine}`],
  ["blocks that were emptied", `UPDATE history_blocks SET bytes = '' WHERE ${mine}`],
  ["blocks without a checksum", `UPDATE history_blocks SET bytes = '', checksum = NULL WHERE ${mine}`],
  ["a byte of each page of ids", `UPDATE history_docs SET ${flipped} WHERE ${mine}`],
  ["pages of ids that are gone", `DELETE FROM history_docs WHERE ${mine}`],
  ["a byte of each page of classes", `UPDATE history_classes SET ${flipped} WHERE ${mine}`],
  ["pages of classes that are gone", `DELETE FROM history_classes WHERE ${mine} AND page = 1`],
  ["another number of blocks", "UPDATE history_segments SET blocks = 2 * blocks WHERE org_id = $1"],
  [
    "another range of ids",
    "UPDATE history_segments SET first_run = 'run_zzz', last_run = 'run_zzzz' WHERE org_id = $1"
  ],
  ["an unknown format", `UPDATE history_segments SET format = ${segmentFormat + 1} WHERE org_id = $1`],
  [
    "one family only",
    `UPDATE history_blocks SET ${flipped} WHERE ${mine} AND segment IN (SELECT segment FROM history_segments WHERE family = 'subjects')`
  ],
  ["blocks that end early and fit their checksums", `UPDATE history_blocks SET ${cut} WHERE ${mine}`, fits],
  ["pages of ids that end early and fit their checksums", `UPDATE history_docs SET ${cut} WHERE ${mine}`, fits],
  [
    "pages of classes that end early and fit their checksums",
    `UPDATE history_classes SET ${cut} WHERE ${mine} AND page > 0`,
    fits
  ],
  [
    "classes that are lost from a page that fits its checksum",
    `UPDATE history_classes SET bytes = substring(bytes FROM 1 FOR length(bytes) - 2) WHERE ${mine} AND page > 0`,
    fits
  ],
  [
    "kinds that are not JSON and fit their checksum",
    `UPDATE history_classes SET bytes = '[[' WHERE ${mine} AND page = 0`,
    fits
  ],
  ["blocks of an old segment that end early", `WITH cut AS (UPDATE history_blocks SET ${cut} WHERE ${mine}) ${old}`],
  ["pages of ids of an old segment that are gone", `WITH gone AS (DELETE FROM history_docs WHERE ${mine}) ${old}`]
]

test.each(sampled(damages, 5))(
  "damage is never a wrong answer, and is repaired: %s",
  async (_, statement, withChecksums = false) => {
    const lines = app.logs.length
    // The kinds of a segment are cached by the process, so another one asks as well.
    const fresh = await startApp({ beside: app, role: "http" })
    let refused = 0
    await held(String(segmentsLock), async () => {
      await app.sql(statement, [org.org_id])
      if (withChecksums) await fitChecksums(app)
      for (const by of [org, org.over(fresh)])
        for (const [n, ask] of all.entries()) {
          const { status, body } = await ask(by)
          if (status === 200) expect(body).toEqual(before[n])
          else {
            refused += 1
            expect([status, body.error.code]).toEqual([503, "service_unavailable"])
            expect(body.error.message).toContain("is being rebuilt from the runs. Retry in")
          }
        }
      expect(refused).toBeGreaterThan(0)
    })
    await until(
      "it is rebuilt",
      () => app.sql("SELECT FROM history_damage"),
      (rows) => rows.length === 0
    )
    expect(await answers(org)).toEqual([...before])
    expect(await answers(org.over(fresh))).toEqual([...before])
    const told = [...app.logs.slice(lines), ...fresh.logs].filter((line) => line.includes("is damaged"))
    expect(told.length).toBeGreaterThan(0)
    const [left] = await app.sql(
      "SELECT count(*)::int AS n FROM history_blocks b WHERE NOT EXISTS (SELECT FROM history_segments s WHERE s.segment = b.segment)"
    )
    expect(left).toEqual({ n: 0 })
    await fresh.stop()
  },
  60_000
)

test("an erasure that meets damage erases nothing, and works after the repair", async () => {
  const other = await app.tenant("1.00")
  await send(other, "eve@erase.example")
  await indexed()
  const session = await other.session()
  const erase = () => app.call(session, "DELETE", asked("eve@erase.example"))
  await app.sql(
    `DELETE FROM history_blocks WHERE ${mine} AND segment IN (SELECT segment FROM history_segments WHERE family = 'words')`,
    [other.org_id]
  )
  const { status, body } = await erase()
  expect([status, body.error?.code]).toEqual([503, "service_unavailable"])
  const [run] = await app.sql("SELECT input->>'subject' AS subject FROM runs WHERE org_id = $1", [other.org_id])
  expect(run).toEqual({ subject: "Hi" })
  await until(
    "it is rebuilt",
    () => app.sql("SELECT FROM history_damage"),
    (rows) => rows.length === 0
  )
  expect((await erase()).body.erased).toBe(1)
  expect((await other.get(asked("hello there"))).body.count).toBe(0)
})

test("a merge that meets damage leaves it to the repair, and no run is lost", async () => {
  const other = await app.tenant("1.00")
  const lines = app.logs.length
  // One segment less than are merged.
  const indexer = hand()
  for (let n = 0; n < 15; n++) {
    await send(other, `merge${n}@many.example`)
    await indexer.runPromise(index)
  }
  await indexer.dispose()
  await indexed()
  await app.sql(`UPDATE history_blocks SET ${cut} WHERE ${mine}`, [other.org_id])
  await fitChecksums(app)
  await send(other, "merge15@many.example")
  await indexed()
  await until(
    "it is merged",
    () => app.sql("SELECT FROM history_segments WHERE org_id = $1", [other.org_id]),
    (rows) => rows.length < 16
  )
  await until(
    "it is rebuilt",
    () => app.sql("SELECT FROM history_damage"),
    (rows) => rows.length === 0
  )
  expect(app.logs.slice(lines).join("\n")).toContain("is damaged: a page ends within a number")
  for (let n = 0; n < 16; n++) {
    const path = asked(`merge${n}@many.example`)
    const answer = async () => {
      const { status, body } = await other.get(path)
      return status === 200 ? body.count : null
    }
    expect(await until(`${path} is answered`, answer, (count) => count !== null)).toBe(1)
  }
})

test.if(dueToday(2))(
  "segments without checksums are answered from, and are rebuilt with them",
  async () => {
    const old = () => app.sql("SELECT FROM history_segments WHERE format = 1")
    await held(String(segmentsLock), async () => {
      for (const table of ["history_blocks", "history_docs", "history_classes", "history_segments"])
        await app.sql(`UPDATE ${table} SET checksum = NULL`)
      await app.sql("UPDATE history_segments SET format = 1")
      expect(await answers(org)).toEqual([...before])
    })
    // A worker looks for them when it starts.
    const worker = await startApp({ beside: app, role: "worker" })
    await until("all have the new format", old, (rows) => rows.length === 0)
    await worker.stop()
    expect(await answers(org)).toEqual([...before])
  },
  60_000
)

test("two organizations are indexed at the same time, and one doesn't wait for the other", async () => {
  let other = await app.tenant("5.00")
  while (lockGroupOf(other.org_id) === lockGroupOf(org.org_id)) other = await app.tenant("5.00")
  const [one, two] = [hand(), hand()]
  const waiting = async (of: Tenant) =>
    (await app.sql("SELECT coalesce(sum(runs), 0)::int AS n FROM history_queue WHERE org_id = $1", [of.org_id]))[0]?.[
      "n"
    ]
  // The service's own worker is kept away from both, and then from the first one.
  const groups = [org, other].map(
    (of) => `pg_advisory_xact_lock(hashtext(current_schema()), ${segmentsLock + lockGroupOf(of.org_id)})`
  )
  await one.runPromise(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql.unsafe(`SELECT ${groups[0]}`)
          yield* Effect.promise(() => send(org, "first@parallel.example"))
          expect(yield* index).toBe(1)
          // The first one's step is not committed yet.
          yield* Effect.promise(async () => {
            await send(other, "second@parallel.example")
            await two.runPromise(index)
            await until(
              "the other one is indexed",
              () => waiting(other),
              (n) => n === 0
            )
            expect(await waiting(org)).toBe(1)
            expect((await org.get(asked("first@parallel.example"))).body.count).toBe(1)
            expect((await other.get(asked("second@parallel.example"))).body.count).toBe(1)
          })
        })
      )
    })
  )
  expect(await waiting(org)).toBe(0)
  expect((await org.get(asked("first@parallel.example"))).body.count).toBe(1)
  await Promise.all([one.dispose(), two.dispose()])
})

test.if(dueToday(3))(
  "25,000 waiting runs are in every answer",
  async () => {
    const tenant = await app.tenant("20.00")
    await send(tenant, "kim@waiting.example")
    const from = await template(tenant, "kim@waiting.example")
    await indexed()
    const count = 25_000
    const seen = async (q: string) => {
      const began = performance.now()
      const { status, body } = await tenant.get(asked(q))
      expect([q, status]).toEqual([q, 200])
      return { count: body.count, contacted: body.last_contact !== null, millis: Math.round(performance.now() - began) }
    }
    const millis = await held(String(segmentsLock), async () => {
      const ids = await copies(
        app,
        tenant,
        from,
        Array.from({ length: count }, (_, n) => 1 + n / 1_000)
      )
      await app.sql(
        "INSERT INTO history_queue (org_id, run_ids) SELECT $1, array_agg(id) FROM unnest($2::text[]) WITH ORDINALITY AS n(id, place) GROUP BY place / 500",
        [tenant.org_id, ids]
      )
      const first = await seen("kim@waiting.example")
      expect(first).toMatchObject({ count: count + 2, contacted: true })
      const second = await seen("waiting.example")
      expect(second).toMatchObject({ count: count + 2, contacted: true })
      const unknown = await seen("nobody@waiting.example")
      expect(unknown).toMatchObject({ count: 0, contacted: false })
      const batch = await tenant.post("/v1/history", { subjects: ["kim@waiting.example", "nobody@waiting.example"] })
      expect(batch.body.items).toMatchObject([
        { count: count + 2, contacted: true },
        { count: 0, contacted: false }
      ])
      // A waiting run that is erased is found no more.
      await app.sql("UPDATE runs SET input = '{}', plan = '{}', result = NULL, erased_at = now() WHERE run_id = $1", [
        ids[7]
      ])
      expect((await seen("kim@waiting.example")).count).toBe(count + 1)
      return [first.millis, second.millis, unknown.millis]
    })
    figures("history.waiting", { runs: count, millis: millis.join(" ") })
    await indexed()
    expect((await seen("kim@waiting.example")).count).toBe(count + 1)
  },
  120_000
)
