/** What `rungate logs tail` tells, over any service: every run when it is first seen, and its end, once each, whatever the order of entry. */
import { expect, test } from "bun:test"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { sinceOf } from "../../../src/http/cli/runs/logs.ts"
import { type Filters, follow } from "../../../src/http/cli/runs/tail.ts"
import type { RunStatus } from "../../../src/schema/runs/Run.ts"

const all: Filters = { status: null, capability: null, provider: null, endpoint: null }

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

type Move =
  | { readonly _tag: "ask"; readonly late: number; readonly status: RunStatus }
  | { readonly _tag: "change"; readonly which: number; readonly status: RunStatus }
  | { readonly _tag: "pass"; readonly seconds: number }
  | { readonly _tag: "look" }

const status = fc.constantFrom<RunStatus>("created", "queued", "running", "running", "succeeded", "failed", "no_match")
const move = fc.oneof(
  // Written up to 45 seconds after it got its place in the list.
  fc.record({ _tag: fc.constant("ask" as const), late: fc.constantFrom(0, 0, 1, 10, 45), status }),
  fc.record({ _tag: fc.constant("change" as const), which: fc.nat(60), status }),
  fc.record({ _tag: fc.constant("pass" as const), seconds: fc.constantFrom(0, 1, 5, 30, 300) }),
  fc.record({ _tag: fc.constant("look" as const) })
)
const looks: ReadonlyArray<Move> = [{ _tag: "pass", seconds: 15 }, { _tag: "look" }]

const start = Date.parse("2026-11-21T10:00:00Z")

test("no run is lost and none is told twice, however runs enter, change and end", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(move, { maxLength: 40, size: "max" }),
      fc.array(move, { maxLength: 60, size: "max" }),
      fc.nat(5),
      async (before, after, most) => {
        const { runs, read } = listing(3)
        const told: Array<string> = []
        /** What a person who watches the table would have seen at each look. */
        const expected: Array<string> = []
        const shown = new Map<string, RunStatus>()
        const belated = new Set<string>()
        const program = Effect.gen(function* () {
          let now = start
          const tail = follow(all, read)
          let running = false
          const apply = Effect.fnUntraced(function* (one: Move) {
            if (one._tag === "pass") {
              now += one.seconds * 1_000
              return yield* TestClock.setTime(now)
            }
            if (one._tag === "ask") {
              const place = String(now - one.late * 1_000).padStart(15, "0")
              const run_id = `run_${place}_${String(runs.length).padStart(4, "0")}`
              if (running && one.late > 1) belated.add(run_id)
              return void runs.push({ run_id, capability: "a", provider: null, created_at: now++, status: one.status })
            }
            if (one._tag === "change") {
              const run = runs[one.which % Math.max(1, runs.length)]
              if (run !== undefined && !isDone(run.status)) run.status = one.status
              return
            }
            if (!running) return
            for (const run of runs) {
              const last = shown.get(run.run_id)
              if (last === undefined || (!isDone(last) && isDone(run.status)))
                expected.push(`${run.run_id} ${run.status}`)
              shown.set(run.run_id, run.status)
            }
            const { events, whole } = yield* tail.look
            expect(whole).toBe(true)
            for (const event of events) told.push(`${event.run_id} ${event.status}`)
          })
          yield* TestClock.setTime(now)
          for (const one of before) yield* apply(one)
          yield* tail.begin
          const past = yield* tail.past(most, Number.NEGATIVE_INFINITY)
          const newest = runs.map((run) => run.run_id).toSorted()
          expect(past.map((event) => event.run_id)).toEqual(newest.slice(Math.max(0, newest.length - most)))
          for (const run of runs) shown.set(run.run_id, run.status)
          running = true
          for (const one of [...after, ...looks]) yield* apply(one)
        })
        await Effect.runPromise(program.pipe(Effect.provide(TestClock.layer())))
        for (const { run_id, status } of runs) {
          const [mine, due] = [told, expected].map((lines) => lines.filter((line) => line.startsWith(run_id)))
          if (!belated.has(run_id)) expect(mine).toEqual(due ?? [])
          else {
            // It entered below what is read each time, so it may have ended before it is first seen.
            expect([[status], ["open", status]]).toContainEqual(
              (mine ?? [])
                .map((line) => line.split(" ")[1] ?? "")
                .map((one) => (isDone(one) || !isDone(status) ? status : "open"))
            )
          }
        }
      }
    ),
    { numRuns: 100 }
  )
})

test("a run that comes to match a filter is told then; the past is filtered too", async () => {
  const { runs, read } = listing()
  const add = (run_id: string, status: RunStatus, provider: string | null) => {
    const run = { run_id, capability: "a", created_at: start + 1_000 * runs.length, status, provider }
    runs.push(run)
    return run
  }
  const program = Effect.gen(function* () {
    const tail = follow({ ...all, status: "failed", provider: "hunter" }, read)
    const old = add("run_1", "running", null)
    add("run_2", "failed", "hunter")
    add("run_3", "failed", "other")
    yield* tail.begin
    const ids = (events: ReadonlyArray<{ readonly run_id: string }>) => events.map((event) => event.run_id)
    expect(ids(yield* tail.past(10, 0))).toEqual(["run_2"])
    add("run_4", "succeeded", "hunter")
    add("run_5", "failed", "hunter")
    expect(ids((yield* tail.look).events)).toEqual(["run_5"])
    for (let count = 0; count < 300; count++) add(`run_6${String(count).padStart(3, "0")}`, "succeeded", null)
    expect((yield* tail.look).events).toEqual([])
    Object.assign(old, { status: "failed", provider: "hunter" })
    const { events } = yield* tail.look
    expect(ids(events)).toEqual(["run_1"])
    // Read by itself it brings a result, which a listed run doesn't have; nothing else is missing.
    expect(JSON.parse(events[0]?.text ?? "")).toEqual({
      ...old,
      done: true,
      timing: { duration_ms: 5 },
      created_at: expect.any(String),
      error: { code: "none" }
    })
  })
  await Effect.runPromise(program.pipe(Effect.provide(TestClock.layer())))
})

test("a quiet list is asked little, and more than a look holds is said", async () => {
  const { runs, read, reads } = listing()
  const fill = (count: number, at: number) => {
    for (let index = 0; index < count; index++) {
      const run_id = `run_${String(at + index).padStart(15, "0")}`
      runs.push({ run_id, capability: "a", created_at: at + index, status: "succeeded", provider: null })
    }
  }
  const program = Effect.gen(function* () {
    yield* TestClock.setTime(start)
    const tail = follow(all, read)
    fill(1_000, start)
    yield* tail.begin
    const before = reads()
    for (let count = 0; count < 5; count++) expect((yield* tail.look).events).toEqual([])
    expect(reads() - before).toBeLessThanOrEqual(5 * 6)
    fill(25_000, start + 100_000)
    const { events, whole } = yield* tail.look
    expect([events.length >= 20_000, whole]).toEqual([true, false])
  })
  await Effect.runPromise(program.pipe(Effect.provide(TestClock.layer())))
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
