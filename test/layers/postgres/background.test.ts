/** Background migrations: every row once, in batches, whatever crashes, by one process at a time. */
import { afterEach, beforeAll, expect, test } from "bun:test"
import { Deferred, Effect, Fiber, Layer, Logger } from "effect"
import { join } from "node:path"
import { Client } from "pg"
import { BackgroundWorker } from "../../../src/actors/BackgroundWorker.ts"
import { BackgroundMigrations } from "../../../src/layers/postgres/BackgroundMigrations.ts"
import { until } from "../../kit/app.ts"
import { preparedDatabase } from "../../kit/postgres.ts"
import { countThings, createThings, layerOn, things } from "./things.ts"

let client: Client | undefined
// The first one starts the server.
beforeAll(async () => {
  await preparedDatabase()
})
afterEach(async () => {
  await client?.end()
})

const open = async () => {
  const url = await preparedDatabase()
  const connected = new Client({ connectionString: url })
  client = connected
  await connected.connect()
  await connected.query(createThings)
  /** How many rows were counted how often. */
  const counts = async () =>
    (await connected.query("SELECT counted, count(*)::int AS rows FROM things GROUP BY counted ORDER BY counted")).rows
  const stored = async () =>
    (
      await connected.query(
        "SELECT cursor, done::int, total::int, finished_at IS NOT NULL AS finished FROM background_migrations"
      )
    ).rows
  return { url, counts, stored }
}

const step = Effect.flatMap(BackgroundMigrations, (migrations) => migrations.step)
const onceEach = [{ counted: 1, rows: things }]

test("a killed process loses no row and repeats none: the next one continues where it stopped", async () => {
  const { url, counts, stored } = await open()
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "things.ts")], {
    env: { ...process.env, DATABASE_URL: url },
    stdout: "ignore"
  })
  await until("the first batches", stored, ([row]) => row?.done > 50)
  child.kill("SIGKILL")
  await child.exited
  const [before] = await stored()
  expect(before).toMatchObject({ total: things, finished: false })
  expect(await counts()).toEqual([
    { counted: 0, rows: things - before.done },
    { counted: 1, rows: before.done }
  ])
  const rest = Effect.gen(function* () {
    const seen = [yield* step]
    while (seen.at(-1) !== null) seen.push(yield* step)
    return seen
  })
  const steps = await Effect.runPromise(Effect.provide(rest, layerOn(url, { things: countThings() })))
  expect(steps[0]).toMatchObject({ done: before.done + 10, finished_at: null })
  expect(steps.at(-2)).toMatchObject({ done: things, finished_at: expect.any(Date) })
  expect(await counts()).toEqual(onceEach)
  expect(await stored()).toEqual([{ cursor: String(things), done: things, total: things, finished: true }])
})

test("a failed batch is undone as a whole", async () => {
  const { url, counts, stored } = await open()
  const failing = layerOn(url, { things: countThings(Effect.fail(new Error("no"))) })
  await expect(Effect.runPromise(Effect.provide(step, failing))).rejects.toThrow("no")
  expect(await counts()).toEqual([{ counted: 0, rows: things }])
  expect(await stored()).toEqual([])
})

test("while one process works on a batch, others do nothing", async () => {
  const { url, counts } = await open()
  const inside = Deferred.makeUnsafe<void>()
  const go = Deferred.makeUnsafe<void>()
  const held = countThings(Effect.andThen(Deferred.succeed(inside, undefined), Deferred.await(go)))
  const first = Effect.runFork(Effect.provide(step, layerOn(url, { things: held })))
  await Effect.runPromise(Deferred.await(inside))
  const second = layerOn(url, { things: countThings() })
  expect(await Effect.runPromise(Effect.provide(step, second))).toBe("busy")
  await Effect.runPromise(Deferred.succeed(go, undefined))
  expect(await Effect.runPromise(Fiber.join(first))).toMatchObject({ done: 10 })
  expect(await counts()).toEqual([
    { counted: 0, rows: things - 10 },
    { counted: 1, rows: 10 }
  ])
})

test("a worker finishes them one after the other, and says so", async () => {
  const { url, counts } = await open()
  const logs: Array<string> = []
  const log = Logger.make(({ message }) => void logs.push(String(message)))
  const nothing = { total: Effect.succeed(0), batch: () => Effect.succeed(null) }
  const worker = BackgroundWorker.pipe(
    Layer.provide(layerOn(url, { things: countThings(Effect.void, 100), nothing })),
    Layer.provide(Logger.layer([log]))
  )
  const finished = () => Promise.resolve(logs.filter((line) => line.includes("finished")))
  await Effect.runPromise(
    Effect.scoped(
      Effect.andThen(
        Layer.build(worker),
        Effect.promise(() => until("both have finished", finished, (lines) => lines.length === 2))
      )
    )
  )
  expect(logs[0]).toBe(
    `background migration things: 100 of about ${things} rows. Safe to interrupt: a worker continues here.`
  )
  expect(await finished()).toEqual([
    `background migration things: finished, ${things} rows`,
    "background migration nothing: finished, 0 rows"
  ])
  expect(await counts()).toEqual(onceEach)
})
