/** The index of phrases while it moves: runs are cut up, segments joined, made anew and emptied beside questions, which always see each run once. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { Words } from "../../src/layers/Words.ts"
import { type App, figures, startApp, type Tenant } from "../app.ts"
import { documentOf, endpointOf } from "../documents.ts"

const any = endpointOf({ path: "/any", method: "POST", body: { type: "object" } })

let app: App
let org: Tenant
let other: Tenant
/** Another process's hand at the index, as often as these tests want. */
let hand: ManagedRuntime.ManagedRuntime<Words, unknown>

beforeAll(async () => {
  app = await startApp()
  await app.catalog(documentOf("acme", [any]))
  org = await app.tenant("20.00")
  other = await app.tenant("20.00")
  hand = ManagedRuntime.make(Words.layer.pipe(Layer.provide(PgClient.layer({ url: Redacted.make(app.databaseUrl) }))))
})
afterAll(async () => {
  await hand.dispose()
  await app.stop()
})

const say = async (note: string, by = org) => {
  const { status, body } = await by.run({ provider: "acme", endpoint: "/any", input: { note } })
  expect([status, body.status]).toEqual([200, "succeeded"])
  return String(body.run_id)
}
const count = async (phrase: string, by = org) => {
  const { status, body } = await by.get(`/v1/history?kind=text&limit=200&q=${encodeURIComponent(phrase)}`)
  expect([phrase, status]).toEqual([phrase, 200])
  const ids = body.items.map((item: { run_id: string }) => item.run_id)
  expect(new Set(ids).size).toBe(ids.length)
  return Number(body.count)
}
const index = () => hand.runPromise(Effect.flatMap(Words, (words) => words.index))
const drained = async () => {
  for (;;) {
    const [left] = await app.sql("SELECT count(*)::int AS n FROM word_queue")
    if (left?.["n"] === 0) return
    await index()
  }
}
const segments = () =>
  app.sql("SELECT count(*)::int AS segments, sum(runs)::int AS runs FROM word_segments WHERE org_id = $1", [org.org_id])

test("every question sees each run once, wherever it is on its way", async () => {
  const rounds = 40
  let told = 0
  let over = false
  const asking = (async () => {
    let questions = 0
    for (let before = 0; !over; questions++) {
      const known = told
      const now = await count("moving target")
      // All that were answered before the question, and none that was not asked for yet.
      expect([now >= known, now >= before, now <= told + 4]).toEqual([true, true, true])
      before = now
    }
    return questions
  })()
  try {
    for (let round = 0; round < rounds; round++) {
      await Promise.all(
        Array.from({ length: 4 }, async (_, n) => {
          await say(`a moving target, round ${round}, number ${n}`)
          told += 1
        })
      )
      await say(`a moving target of others ${round}`, other)
      await index()
    }
  } finally {
    over = true
  }
  const questions = await asking
  await drained()
  const [found] = await segments()
  // More than 16 of a size were joined on the way.
  expect([found?.["runs"], Number(found?.["segments"]) < 32]).toEqual([4 * rounds, true])
  expect(await count("moving target")).toBe(4 * rounds)
  expect(await count("moving target", other)).toBe(rounds)
  expect(await count("target round")).toBe(4 * rounds)
  expect(await count("moving target round")).toBe(4 * rounds)
  expect(await count("round 7 number")).toBe(4)
  figures("history.words_moving", { runs: 5 * rounds, questions, segments: Number(found?.["segments"]) })
}, 60_000)

test("an erasure takes its runs out of joined segments at once, and leaves the others", async () => {
  const before = await count("moving target")
  const session = await org.session()
  const { body } = await app.call(session, "DELETE", "/v1/history?kind=text&q=number%202")
  expect(body).toMatchObject({ erased: 40, in_flight: 0 })
  expect(await count("number 2")).toBe(0)
  expect(await count("number 3")).toBe(40)
  expect(await count("moving target")).toBe(before - 40)
  expect((await segments())[0]?.["runs"]).toBe(before - 40)
})

test("segments that other rules cut up are made anew", async () => {
  const before = await count("moving target")
  await app.sql("UPDATE word_segments SET rules = 0 WHERE org_id = $1", [org.org_id])
  const fresh = ManagedRuntime.make(
    Words.layer.pipe(Layer.provide(PgClient.layer({ url: Redacted.make(app.databaseUrl) })))
  )
  const old = () => app.sql("SELECT 1 FROM word_segments WHERE rules = 0")
  while ((await old()).length > 0) await fresh.runPromise(Effect.flatMap(Words, (words) => words.index))
  await fresh.dispose()
  await drained()
  expect(await count("moving target")).toBe(before)
  expect((await segments())[0]?.["runs"]).toBe(before)
})
