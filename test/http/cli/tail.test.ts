/** What `rungate logs tail` tells: some past runs, then every run's start and its end, once each, whatever happens at the same time. */
import { expect, test } from "bun:test"
import { Effect, Queue, Stream } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import type { Event } from "../../../src/schema/nouns/Event.ts"
import { sinceOf } from "../../../src/http/cli/runs/logs.ts"
import { follow } from "../../../src/http/cli/runs/tail.ts"
import type { RunStatus } from "../../../src/schema/runs/Run.ts"

const all: Parameters<typeof follow>[0] = { status: null, capability: null, provider: null, endpoint: null }

interface Stored {
  /** Its place in the list. */
  readonly run_id: string
  readonly capability: string
  readonly created_at: number
  status: RunStatus
  provider: string | null
}

const isDone = (status: string) => !["created", "queued", "running"].includes(status)

/** Lists and reads runs as the service does, `pageMost` on a page. */
const listing = (pageMost = 200) => {
  const runs: Array<Stored> = []
  let reads = 0
  let order: ReadonlyArray<Stored> = []
  const newestFirst = () => {
    if (order.length !== runs.length) order = runs.toSorted((a, b) => (a.run_id < b.run_id ? 1 : -1))
    return order
  }
  const show = (run: Stored, more: object = {}) =>
    JSON.stringify({
      ...run,
      done: isDone(run.status),
      timing: { duration_ms: 5 },
      created_at: new Date(run.created_at).toISOString(),
      ...more
    })
  const answer = (path: string) => {
    const { pathname, searchParams } = new URL(path, "http://service")
    const [, , , run_id] = pathname.split("/")
    const one = runs.find((run) => run.run_id === run_id)
    if (one !== undefined) return show(one, { result: { data: [1.0, "a"] }, error: { code: "none" } })
    const [status, provider, capability, cursor] = ["status", "provider", "capability", "cursor"].map((name) =>
      searchParams.get(name)
    )
    const limit = Math.min(pageMost, Number(searchParams.get("limit")))
    const found = newestFirst()
      .filter((run) => [null, String(run.status)].includes(status ?? null))
      .filter((run) => [null, run.provider].includes(provider ?? null))
      .filter((run) => [null, run.capability].includes(capability ?? null))
      .filter((run) => cursor === null || run.run_id < (cursor ?? ""))
    const page = found.slice(0, limit)
    const next = found.length > limit ? (page.at(-1)?.run_id ?? null) : null
    return `{"items":[${page.map((run) => show(run)).join(",")}],"next_cursor":${JSON.stringify(next)}}`
  }
  const read = (path: string) =>
    Effect.sync(() => {
      reads++
      return { status: 200, headers: {}, text: answer(path), request: { method: "GET", path } }
    })
  return { runs, read, reads: () => reads }
}

const start = Date.parse("2026-11-21T10:00:00Z")

/** A service whose runs start and end when a test says so, and a command that follows it. */
const following = (filters: Parameters<typeof follow>[0], pageMost = 200) =>
  Effect.gen(function* () {
    const { runs, read, reads } = listing(pageMost)
    const events = yield* Queue.unbounded<Event>()
    const tell = (type: "run.started" | "run.finished", { run_id, capability, created_at }: Stored) => {
      const timestamp = new Date(created_at).toISOString()
      Queue.offerUnsafe(events, { type, timestamp, data: { run_id, capability, endpoint: null } })
    }
    const begin = (status: RunStatus = "running", more: Partial<Stored> = {}) => {
      const run_id = `run_${String(runs.length).padStart(6, "0")}`
      const run = { run_id, capability: "a", provider: null, created_at: start + 1_000 * runs.length, status, ...more }
      runs.push(run)
      tell("run.started", run)
      if (isDone(status)) tell("run.finished", run)
      return run
    }
    const finish = (run: Stored, status: RunStatus, more: Partial<Stored> = {}) => {
      Object.assign(run, { status, ...more })
      tell("run.finished", run)
    }
    const tail = follow(filters, read)
    const told: Array<string> = []
    const texts: Array<string> = []
    const follows = Stream.fromQueue(events).pipe(
      tail.news,
      Stream.runForEach((run) =>
        Effect.sync(() => {
          told.push(`${run.run_id} ${run.status}`)
          texts.push(run.text)
        })
      )
    )
    // Long enough for every read that is due.
    const pass = Effect.repeat(TestClock.adjust("1 second"), { times: 3 })
    return { runs, begin, finish, past: tail.past, follows, pass, reads, told, texts, events }
  })

const run = <A, E>(effect: Effect.Effect<A, E>) => Effect.runPromise(effect.pipe(Effect.provide(TestClock.layer())))

type Move =
  | { readonly _tag: "begin"; readonly status: RunStatus }
  | { readonly _tag: "finish"; readonly which: number; readonly status: RunStatus }

const end = fc.constantFrom<RunStatus>("succeeded", "failed", "no_match")
const move = fc.oneof(
  fc.record({
    _tag: fc.constant("begin" as const),
    status: fc.oneof(fc.constant("running" as const), fc.constant("running" as const), end)
  }),
  fc.record({ _tag: fc.constant("finish" as const), which: fc.nat(20), status: end })
)
const moves = fc.array(move, { maxLength: 20, size: "max" })

test("no run is lost and none is told twice, whatever happens before, while and after the past is read", async () => {
  await fc.assert(
    fc.asyncProperty(moves, moves, moves, fc.nat(5), async (before, during, after, most) => {
      const program = Effect.gen(function* () {
        const service = yield* following(all, 3)
        const { runs, begin, finish, told } = service
        const expected = new Map<string, Array<string>>()
        /** Whether the run is told when it starts. */
        const starts = new Set<string>()
        const apply = (one: Move, isHeard: boolean) => {
          if (one._tag === "begin") {
            const { run_id, status } = begin(one.status)
            if (isHeard) expected.set(run_id, isDone(status) ? [status] : [])
            if (isHeard && !isDone(status)) starts.add(run_id)
            return
          }
          const run = runs[one.which % Math.max(1, runs.length)]
          if (run === undefined || isDone(run.status)) return
          finish(run, one.status)
          if (isHeard) expected.set(run.run_id, [...(expected.get(run.run_id) ?? []), one.status])
        }
        for (const one of before) apply(one, false)
        // Nobody was connected then.
        yield* Queue.clear(service.events)
        for (const one of during) apply(one, true)
        // Runs that are older than the past's newest one are told when they end.
        starts.clear()
        const past = yield* service.past(most, Number.NEGATIVE_INFINITY)
        const newest = runs.map(({ run_id }) => run_id).toSorted()
        expect(past.map(({ run_id }) => run_id)).toEqual(newest.slice(Math.max(0, newest.length - most)))
        for (const { run_id, done } of past) {
          if (done) expected.set(run_id, [])
        }
        yield* Effect.forkChild(service.follows)
        yield* service.pass
        for (const one of after) {
          apply(one, true)
          yield* service.pass
        }
        for (const { run_id } of runs) {
          const mine = told.filter((line) => line.startsWith(run_id)).map((line) => line.split(" ")[1] ?? "")
          expect([run_id, ...mine]).toEqual([
            run_id,
            ...(starts.has(run_id) ? ["running"] : []),
            ...(expected.get(run_id) ?? [])
          ])
        }
      })
      await run(program)
    }),
    { numRuns: 60 }
  )
})

test("a run that comes to match a filter is told then; the past is filtered too", async () => {
  const program = Effect.gen(function* () {
    const service = yield* following({ ...all, status: "failed", provider: "hunter", capability: "a" })
    const { begin, finish, pass, told, texts, reads } = service
    const old = begin()
    begin("failed", { provider: "hunter" })
    begin("failed", { provider: "other" })
    yield* Queue.clear(service.events)
    expect((yield* service.past(10, 0)).map(({ run_id }) => run_id)).toEqual(["run_000001"])
    yield* Effect.forkChild(service.follows)
    begin("succeeded", { provider: "hunter" })
    begin("failed", { provider: "hunter" })
    yield* pass
    expect(told).toEqual(["run_000004 failed"])
    // Runs of other capabilities are not even read.
    const before = reads()
    for (let count = 0; count < 300; count++) begin("failed", { provider: "hunter", capability: "b" })
    yield* pass
    expect([told.length, reads()]).toEqual([1, before])
    finish(old, "failed", { provider: "hunter" })
    yield* pass
    expect(told.slice(1)).toEqual(["run_000000 failed"])
    // Read by itself it brings a result, which a listed run doesn't have; nothing else is missing.
    expect(JSON.parse(texts.at(-1) ?? "")).toEqual({
      ...old,
      done: true,
      timing: { duration_ms: 5 },
      created_at: expect.any(String),
      error: { code: "none" }
    })
  })
  await run(program)
})

test("a quiet service is not asked, and runs are told in the order of their events", async () => {
  const program = Effect.gen(function* () {
    const service = yield* following(all)
    const { begin, pass, reads, told } = service
    yield* service.past(10, 0)
    yield* Effect.forkChild(service.follows)
    const before = reads()
    for (let count = 0; count < 10; count++) yield* pass
    expect(reads()).toBe(before)
    const runs = Array.from({ length: 2_000 }, () => begin("succeeded"))
    yield* pass
    expect(told).toEqual(runs.map(({ run_id }) => `${run_id} succeeded`))
  })
  await run(program)
})

test("--since takes durations and times", () => {
  const now = start
  expect(["30s", "10m", "2h", "1d"].map((given) => now - (sinceOf(given, now) ?? 0))).toEqual([
    30_000, 600_000, 7_200_000, 86_400_000
  ])
  expect(sinceOf("2026-11-21T09:00:00Z", now)).toBe(start - 3_600_000)
  expect(["", "10", "m", "yesterday", "1w", "-5m", "2026-99-99"].map((given) => sinceOf(given, now))).toEqual(
    Array.from({ length: 7 }, () => null)
  )
})
