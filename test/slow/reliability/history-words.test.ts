/**
 * The index of history while it moves, subjects and words alike: runs are put into segments, segments joined, made anew and emptied beside
 * questions, which always see each run once.
 */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Client } from "pg"
import { endedMax } from "../../../src/layers/history/FreshRuns.ts"
import { rules } from "../../../src/layers/history/index/Drafts.ts"
import { HistoryIndex } from "../../../src/layers/history/index/HistoryIndex.ts"
import { segmentsLock } from "../../../src/layers/history/index/Locks.ts"
import { families } from "../../../src/layers/history/index/Segments.ts"
import { type App, figures, startApp, type Tenant, until } from "../../kit/app.ts"
import { howMany } from "../../kit/input-samples.ts"
import { documentOf, endpointOf } from "../../kit/provider-documents.ts"

const any = endpointOf({ path: "/any", method: "POST", body: { type: "object" } })

/** Of runs of four that are indexed while others ask. */
const rounds = howMany(40, 16)

let app: App
let org: Tenant
let other: Tenant
type Hand = ManagedRuntime.ManagedRuntime<HistoryIndex | SqlClient.SqlClient, unknown>
/** Another process's hand at the index, as often as these tests want. */
const newHand = (): Hand =>
  ManagedRuntime.make(
    HistoryIndex.layer.pipe(Layer.provideMerge(PgClient.layer({ url: Redacted.make(app.databaseUrl) })))
  )
let hand: Hand

beforeAll(async () => {
  app = await startApp()
  await app.catalog(documentOf("acme", [any]))
  org = await app.tenant("20.00")
  other = await app.tenant("20.00")
  hand = newHand()
})
afterAll(async () => {
  await hand.dispose()
  await app.stop()
})

const noted = (note: string, who?: string) => ({ provider: "acme", endpoint: "/any", input: { note, who } })
const say = async (note: string, by = org, who?: string) => {
  const { status, body } = await by.run(noted(note, who))
  expect([status, body.status]).toEqual([200, "succeeded"])
  return String(body.run_id)
}
const asked = async (q: string, by = org) => {
  const kind = q.includes("@") ? "email" : q.includes(" ") ? "text" : "domain"
  const { status, body } = await by.get(`/v1/history?${new URLSearchParams({ q, kind, limit: "200" })}`)
  expect([q, status]).toEqual([q, 200])
  const ids: ReadonlyArray<string> = body.items.map((item: { run_id: string }) => item.run_id)
  expect([q, ids]).toEqual([q, [...new Set(ids)].sort().reverse()])
  expect([q, body.count]).toEqual([q, ids.length])
  return { ...body, ids }
}
const count = async (q: string, by = org): Promise<number> => (await asked(q, by)).count
const index = (by = hand) => by.runPromise(Effect.flatMap(HistoryIndex, (history) => history.index))
const drained = async () => {
  for (;;) {
    const [left] = await app.sql("SELECT count(*)::int AS n FROM history_queue")
    if (left?.["n"] === 0) return
    await index()
  }
}
/** Of each family, how many segments there are and of how many runs. */
const segments = async (by = org) => {
  const rows = await app.sql(
    "SELECT family, count(*)::int AS segments, sum(runs)::int AS runs FROM history_segments WHERE org_id = $1 GROUP BY family",
    [by.org_id]
  )
  return families.map((family) => {
    const row = rows.find((one) => one["family"] === family)
    return { segments: Number(row?.["segments"] ?? 0), runs: Number(row?.["runs"] ?? 0) }
  })
}
/** Everything that the index holds of runs belongs to a segment. */
const whole = async () => {
  for (const table of ["history_blocks", "history_docs", "history_classes"])
    expect(
      await app.sql(
        `SELECT 1 FROM ${table} t WHERE NOT EXISTS (SELECT FROM history_segments s WHERE s.segment = t.segment)`
      )
    ).toEqual([])
}
const inTransaction = <A>(work: Effect.Effect<A, unknown, HistoryIndex | SqlClient.SqlClient>) =>
  hand.runPromise(Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(work)))
/** Statements that wait for a lock of somebody else's. */
const blocked = async (statement: string) => {
  const rows = await app.sql(
    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE $1",
    [`%${statement}%`]
  )
  return rows.length
}

test("every question sees each run once, wherever it is on its way", async () => {
  const sought = ["moving target", "moving.example", "target round"]
  let told = 0
  let over = false
  const asking = async (q: string) => {
    let questions = 0
    for (let before = 0; !over; questions++) {
      const known = told
      const now = await count(q)
      // All that were answered before the question, and none that was not asked for yet.
      expect([q, now >= known, now >= before, now <= told + 4]).toEqual([q, true, true, true])
      before = now
    }
    return questions
  }
  const all = Promise.all(sought.map(asking))
  try {
    for (let round = 0; round < rounds; round++) {
      await Promise.all(
        Array.from({ length: 4 }, async (_, n) => {
          await say(`a moving target, round ${round}, number ${n}, of mover${n}@moving.example`)
          told += 1
        })
      )
      await say(`a moving target of others ${round}, whoever@moving.example`, other)
      await index()
    }
  } finally {
    over = true
  }
  const questions = (await all).reduce((sum, one) => sum + one, 0)
  await drained()
  const found = await segments()
  for (const family of found) expect([family.runs, family.segments < 32]).toEqual([4 * rounds, true])
  for (const q of [...sought, "moving target round"]) expect([q, await count(q)]).toEqual([q, 4 * rounds])
  for (const q of ["round 7 number", "round 7"]) expect([q, await count(q)]).toEqual([q, 4])
  expect(await count("mover3@moving.example")).toBe(rounds)
  expect([await count("moving target", other), await count("moving.example", other)]).toEqual([rounds, rounds])
  figures("history.words_moving", { runs: 5 * rounds, questions, segments: found[1]?.segments ?? 0 })
})

test("a run that is put into segments while a question is answered is in its answer, once", async () => {
  for (const q of ["caught between", "caught@between.example"]) {
    const race = Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { index } = yield* HistoryIndex
      // Nobody else indexes it, and the question waits between the segments and what is in none.
      yield* sql`SELECT pg_advisory_xact_lock(hashtext(current_schema()), ${segmentsLock})`
      const run_id = yield* Effect.promise(() => say("caught between, by caught@between.example"))
      yield* sql`LOCK TABLE history_queue`
      const answer = asked(q)
      yield* Effect.promise(() =>
        until(
          "the question waits",
          () => blocked("history_queue"),
          (n) => n > 0
        )
      )
      expect(yield* index).toBeGreaterThan(0)
      return { run_id, answer }
    })
    const { run_id, answer } = await inTransaction(race)
    const { ids, items } = await answer
    expect([q, ids[0], items[0].status]).toEqual([q, run_id, "succeeded"])
    // By the next question it is in a segment.
    expect((await asked(q)).ids).toEqual(ids)
  }
})

test("no organization waits for ever behind a busy one, nor is one left behind when it is done", async () => {
  const mine = newHand()
  const wait = (org_id: string, runs: number) =>
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`
        INSERT INTO history_queue (org_id, run_ids)
        SELECT ${org_id}, array_agg('run_' || n || '_' || part) FROM generate_series(1, 64) n, generate_series(1, ${runs}::int / 64) part GROUP BY part`
    )
  const work = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { index } = yield* HistoryIndex
    // Nobody else indexes; what was waiting before is indexed.
    yield* sql`SELECT pg_advisory_xact_lock(hashtext(current_schema()), ${segmentsLock})`
    while ((yield* index) > 0);
    yield* wait("org_z", 2_048)
    const first = yield* index
    // Early in the order, while the busy one's turn goes on.
    yield* wait("org_a", 64)
    const rest = [yield* index, yield* index, yield* index]
    return [first, ...rest]
  })
  const steps = await mine.runPromise(
    Effect.flatMap(SqlClient.SqlClient, (sql) =>
      sql.withTransaction(Effect.flatMap(work, Effect.fail)).pipe(Effect.flip)
    )
  )
  await mine.dispose()
  expect(steps).toEqual([1_024, 1_024, 64, 0])
})

test("a run that was admitted and waits for its money is found", async () => {
  const mine = await app.tenant("1.00")
  // Of a process of its own: nothing that it asks waits behind the lane's turn.
  const front = await startApp({ role: "http", beside: app })
  const there = mine.over(front)
  const [phrase, email] = ["waits for its money", "early@admitted.example"]
  const held = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    // The lane can't write what it decided on.
    yield* sql`SELECT FROM wallets WHERE org_id = ${mine.org_id} FOR NO KEY UPDATE`
    return yield* Effect.promise(async () => {
      const { body } = await there.run({ ...noted(`who ${phrase}, ${email}`), async: true })
      const mail = await app.sql("SELECT tag FROM mailbox WHERE run_id = $1", [body.run_id])
      expect(mail).toEqual([{ tag: "Reserve" }])
      expect(await app.sql("SELECT 1 FROM open_runs WHERE run_id = $1", [body.run_id])).toEqual([])
      for (const q of [phrase, email, "admitted.example"]) {
        const { ids, by_status } = await asked(q, there)
        expect([q, ids, by_status]).toEqual([q, [body.run_id], { [body.status]: 1 }])
      }
      const batch = await there.post("/v1/history", { subjects: [phrase, email] })
      expect(batch.body.items.map((item: { count: number }) => item.count)).toEqual([1, 1])
      return String(body.run_id)
    })
  })
  const run_id = await inTransaction(held).finally(() => front.stop())
  const ended = await mine.get(`/v1/runs/${run_id}?wait=20`)
  expect(ended.body.status).toBe("succeeded")
  for (const q of [phrase, email]) expect((await asked(q, mine)).by_status).toEqual({ succeeded: 1 })
})

test("sixteen segments of a size become one, and say the same", async () => {
  const mine = await app.tenant("5.00")
  const ids: Array<string> = []
  const steps = 35
  for (let step = 0; step < steps; step++) {
    ids.unshift(await say(`joined step ${step % 5}`, mine, `step${step % 5}@joined.example`))
    await drained()
  }
  // Two of sixteen and three of one; another process may still be at it.
  const few = (all: ReadonlyArray<{ segments: number; runs: number }>) => all.every((family) => family.segments <= 5)
  await until("many small ones are joined", () => segments(mine), few)
  expect(await segments(mine)).toEqual(families.map(() => ({ segments: 5, runs: steps })))
  await whole()
  for (const q of ["joined step", "joined.example"]) {
    const view = await asked(q, mine)
    expect([q, view.ids]).toEqual([q, ids])
    expect([view.by_status, view.charged]).toEqual([{ succeeded: steps }, "0.70"])
    const [last, first] = await Promise.all([ids[0], ids.at(-1)].map((run_id) => mine.get(`/v1/runs/${run_id}`)))
    expect([view.first_seen, view.last_seen]).toEqual([first?.body.created_at, last?.body.created_at])
  }
  for (const [n, q] of ["step0@joined.example", "step 1", "step2@joined.example"].entries()) {
    const own = ids.filter((_, at) => (steps - 1 - at) % 5 === n)
    const view = await asked(q, mine)
    expect([q, view.ids]).toEqual([q, own])
    expect([q, view.reusable.map((run: { run_id: string }) => run.run_id)]).toEqual([q, own])
  }
})

test("an erasure takes its runs out of joined segments at once, and leaves the others", async () => {
  const before = await count("moving target")
  const session = await org.session()
  const erase = async (q: string) =>
    (await app.call(session, "DELETE", `/v1/history?${new URLSearchParams({ q })}`)).body
  expect(await erase("number 2")).toMatchObject({ erased: rounds, in_flight: 0 })
  expect(await erase("mover1@moving.example")).toMatchObject({ erased: rounds, in_flight: 0 })
  for (const n of [1, 2]) expect([await count(`number ${n}`), await count(`mover${n}@moving.example`)]).toEqual([0, 0])
  for (const n of [0, 3])
    expect([await count(`number ${n}`), await count(`mover${n}@moving.example`)]).toEqual([rounds, rounds])
  for (const q of ["moving target", "moving.example"]) expect([q, await count(q)]).toEqual([q, before - 2 * rounds])
  await drained()
  const left = before - 2 * rounds + (await count("between.example"))
  expect((await segments()).map((family) => family.runs)).toEqual([left, left])
  await whole()
})

test("segments that were made by other rules are made anew beside questions, from the runs themselves", async () => {
  const sought = ["moving target", "moving.example", "mover3@moving.example", "round 7"]
  await drained()
  const before = new Map<string, unknown>()
  for (const q of sought) before.set(q, await asked(q))
  const held = (await segments()).map((family) => family.runs)
  // What the old rules didn't see in it.
  const [run_id] = (await asked("mover3@moving.example")).ids
  await app.sql(
    `UPDATE runs SET result = jsonb_set(result::jsonb, '{unseen}', '"an unseen phrase, of unseen@renewed.example"')::json WHERE run_id = $1`,
    [run_id]
  )
  expect([await count("unseen phrase"), await count("unseen@renewed.example")]).toEqual([0, 0])
  // Those of words by older rules, those of subjects by newer ones, as when a newer version was here.
  await app.sql("UPDATE history_segments SET rules = CASE family WHEN 'words' THEN 0 ELSE 99 END")
  const old = () =>
    app.sql("SELECT family FROM history_segments WHERE (family, rules) NOT IN (('subjects', $1), ('words', $2))", [
      rules.subjects,
      rules.words
    ])
  const [{ length: renewed }, hands] = [await old(), [newHand(), newHand()]]
  expect(new Set((await old()).map((row) => row["family"]))).toEqual(new Set(families))
  let over = false
  const asking = sought.map(async (q) => {
    let questions = 0
    for (; !over; questions++) expect(await asked(q)).toEqual(before.get(q))
    return questions
  })
  // Two processes that have just been started.
  try {
    await Promise.all(
      hands.map(async (one) => {
        while ((await old()).length > 0) await index(one)
      })
    )
  } finally {
    over = true
  }
  const questions = (await Promise.all(asking)).reduce((sum, one) => sum + one, 0)
  await Promise.all(hands.map((one) => one.dispose()))
  for (const q of sought) expect(await asked(q)).toEqual(before.get(q))
  for (const q of ["unseen phrase", "unseen@renewed.example"]) expect([q, (await asked(q)).ids]).toEqual([q, [run_id]])
  expect((await segments()).map((family) => family.runs)).toEqual(held)
  await whole()
  figures("history.renewed", { segments: renewed, questions })
})

test("a worker that is started makes them anew by itself", async () => {
  const before = await count("moving.example")
  const oldest = `SELECT min(segment) FROM history_segments WHERE org_id = $1 GROUP BY family`
  await app.sql(`UPDATE history_segments SET rules = 0 WHERE segment IN (${oldest})`, [org.org_id])
  const left = async () => (await app.sql("SELECT 1 FROM history_segments WHERE rules = 0")).length
  expect(await left()).toBe(2)
  const worker = await startApp({ role: "worker", beside: app })
  try {
    await until("all are made anew", left, (n) => n === 0)
  } finally {
    await worker.stop()
  }
  expect(await count("moving.example")).toBe(before)
})

test("an organization whose old runs wait by the thousand is told to ask again, for a moment; others are not", async () => {
  const tenant = await app.tenant("1.00")
  await say("patience please", tenant, "patient@patience.example")
  await drained()
  const holder = new Client({ connectionString: app.databaseUrl })
  await holder.connect()
  try {
    // As long as somebody has the lock, workers index nothing.
    await holder.query("SELECT pg_advisory_lock(hashtext(current_schema()), $1)", [segmentsLock])
    const wait = (from: number, to: number) =>
      app.sql(
        "INSERT INTO history_queue (org_id, run_ids) SELECT $1, array_agg('run_' || lpad(n::text, 26, '0')) FROM generate_series($2::int, $3::int) n GROUP BY n / 500",
        [tenant.org_id, from, to]
      )
    await wait(1, endedMax)
    expect(await count("patience please", tenant)).toBe(1)
    await wait(endedMax + 1, endedMax + 1)
    const session = await tenant.session()
    for (const answer of [
      await tenant.get("/v1/history?q=patient@patience.example"),
      await tenant.get("/v1/history?q=patience%20please&kind=text"),
      await tenant.post("/v1/history", { subjects: ["patient@patience.example", "patience please"] }),
      await app.call(session, "DELETE", "/v1/history?q=patient@patience.example")
    ]) {
      const { code, message } = answer.body.error
      expect([answer.status, code]).toEqual([503, "service_unavailable"])
      expect(message).toStartWith(`${endedMax + 1} runs of this organization wait `)
      expect(message).toMatch(/ Retry in \d+ seconds\.$/)
    }
    expect(await count("moving target")).toBeGreaterThan(0)
  } finally {
    await holder.end()
  }
  await drained()
  expect(await count("patient@patience.example", tenant)).toBe(1)
})
