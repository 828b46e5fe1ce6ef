/**
 * The windows of attempts as they lie in Postgres: counted in the turn's own commit, read as the hour and the 30 days under a
 * virtual clock, shared by processes and outliving them.
 */
import { noReuseEffects } from "../../src/layers/guards/ReuseTurn.ts"
import { beforeEach, describe, expect } from "bun:test"
import { Context, Effect, Exit, Layer, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Storage } from "../../src/layers/Storage.ts"
import { Accounts } from "../../src/layers/accounts/Accounts.ts"
import { Health } from "../../src/layers/executor/Health.ts"
import { MailStore } from "../../src/layers/ledger/MailStore.ts"
import { Settings } from "../../src/layers/platform/Settings.ts"
import type { AttemptCount, TurnEffects } from "../../src/layers/ledger/Turn.ts"
import { TurnStore } from "../../src/layers/ledger/TurnStore.ts"
import { latencyBucket } from "../../src/schema/runs/Health.ts"
import { effect } from "../kit/effect-tests.ts"
import { preparedDatabase } from "../kit/postgres.ts"

let database = ""
beforeEach(async () => {
  database = await preparedDatabase()
})

const minutes = (count: number) => `${count} minutes` as const
const days = (count: number) => `${count * 24} hours` as const

/**
 * One process: it looks only when it is told to. Its other timers stay in real time, or thirty days would be a quarter of a million
 * rounds of theirs.
 */
const process = Effect.fnUntraced(function* () {
  const settings = Settings.layerFrom({ DATABASE_URL: database, RUNGATE_HEALTH_SECONDS: "0" })
  const storage = yield* TestClock.withLive(Layer.build(Layer.fresh(Storage.pipe(Layer.provideMerge(settings)))))
  const health = yield* Layer.build(Layer.fresh(Health.layer)).pipe(Effect.provideContext(storage))
  return Context.merge(storage, health)
})
type Process = Effect.Success<ReturnType<typeof process>>

const nothing: TurnEffects = {
  wallets: [],
  entries: [],
  ended: [],
  opened: [],
  closed: [],
  replies: [],
  attempts: [],
  records: { losses: [], unknowns: [] },
  payments: { payments: [], reversals: [], bonuses: [], autos: [], charges: [], events: [], methods: [] },
  free: { stored: new Map(), reserved: new Map() },
  budgets: [],
  budget_alerts: [],
  repeats: { tried: [], cleared: [], removed: [] },
  contacts: { claimed: [], released: [] },
  approvals: { waiting: [], decided: [] },
  opted_out: [],
  reuse: noReuseEffects
}

const counts = (ok: number, failed = 0, millis = 100, subject = "email.find hunter"): ReadonlyArray<AttemptCount> =>
  [
    { subject, ok: true, latency_bucket: latencyBucket(millis), count: ok },
    { subject, ok: false, latency_bucket: 0, count: failed }
  ].filter((one) => one.count > 0)

/** A turn that ends runs with these attempts. Whose money it is does not matter here. */
const turn = Effect.fnUntraced(function* (attempts: ReadonlyArray<AttemptCount>) {
  const accounts = yield* Accounts
  const mail = yield* MailStore
  const turns = yield* TurnStore
  const org_id = yield* accounts.createOrganization("measured", null)
  const lane = yield* mail.enqueue({
    command_id: null,
    org_id,
    run_id: null,
    tag: "Cancel",
    payload: "{}",
    result: null
  })
  const taken = turns.turn(lane, 100, [], false, () => ({ effects: { ...nothing, attempts }, answer: {} }))
  return { lane, taken }
})
const measure = (attempts: ReadonlyArray<AttemptCount>) => Effect.flatMap(turn(attempts), ({ taken }) => taken)

/** What a process says of the offer after a look. */
const hunter = Effect.gen(function* () {
  const health = yield* Health
  yield* health.refresh
  const { health: found, expected } = health.offer("email.find", "hunter")
  return { status: found.status, rate: found.success_rate, samples: found.sample_size, expected: expected.sample_size }
})

const at = (text: string) => TestClock.setTime(Date.parse(text))
const inside = (name: string, body: (one: Process) => Effect.Effect<unknown, unknown, Scope.Scope>) =>
  effect(
    name,
    () =>
      Effect.gen(function* () {
        expect.hasAssertions()
        yield* at("2026-03-10T12:00:00Z")
        yield* body(yield* process())
      }),
    30_000
  )

describe("windows of attempts", () => {
  inside("leave the hour after an hour and the 30 days after 30 days", (one) =>
    Effect.gen(function* () {
      expect(yield* hunter).toEqual({ status: "unknown", rate: null, samples: 0, expected: 0 })
      yield* measure(counts(0, 5))
      expect(yield* hunter).toEqual({ status: "outage", rate: 0, samples: 5, expected: 5 })
      yield* TestClock.adjust(minutes(50))
      yield* measure(counts(45))
      // 45 of 50 in the hour, and the newest are good.
      expect(yield* hunter).toMatchObject({ status: "unknown", rate: 0.9, samples: 50 })
      yield* TestClock.adjust(minutes(11))
      expect(yield* hunter).toMatchObject({ status: "healthy", rate: 0.9, samples: 50 })
      yield* TestClock.adjust(minutes(60))
      expect(yield* hunter).toMatchObject({ status: "unknown", rate: 0.9, samples: 50 })
      yield* TestClock.adjust(days(10))
      yield* measure(counts(100))
      yield* TestClock.adjust(days(1))
      expect(yield* hunter).toMatchObject({ status: "stable", rate: 0.9667, samples: 150 })
      yield* at("2026-04-08T23:59:00Z")
      expect(yield* hunter).toMatchObject({ status: "stable", samples: 150 })
      yield* at("2026-04-09T12:00:00Z")
      // The tenth of March began more than 30 days ago.
      expect(yield* hunter).toMatchObject({ status: "stable", rate: 1, samples: 100 })
      yield* TestClock.adjust(days(11))
      expect(yield* hunter).toEqual({ status: "unknown", rate: null, samples: 0, expected: 0 })
    }).pipe(Effect.provideContext(one))
  )

  inside("see at once what today adds, and the days before when they are read again", (one) =>
    Effect.gen(function* () {
      yield* measure(counts(10))
      yield* TestClock.adjust(days(1))
      expect(yield* hunter).toMatchObject({ samples: 10 })
      yield* measure(counts(1, 1))
      expect(yield* hunter).toMatchObject({ samples: 12, rate: 0.9167 })
      yield* TestClock.adjust(minutes(1))
      yield* measure(counts(3))
      expect(yield* hunter).toMatchObject({ samples: 15, rate: 0.9333 })
      yield* TestClock.adjust(minutes(6))
      expect(yield* hunter).toMatchObject({ samples: 15, rate: 0.9333 })
    }).pipe(Effect.provideContext(one))
  )

  inside("add up over processes and lanes, and outlive them", (first) =>
    Effect.gen(function* () {
      const lanes = new Set<number>()
      const second = yield* process()
      for (let round = 0; round < 12; round++) {
        const { lane, taken } = yield* turn(counts(2, 1)).pipe(Effect.provideContext(round % 2 === 0 ? first : second))
        yield* taken
        lanes.add(lane)
      }
      expect(lanes.size).toBe(2)
      for (const one of [first, second, yield* process()])
        expect(yield* Effect.provideContext(hunter, one)).toMatchObject({
          samples: 36,
          rate: 0.6667,
          status: "degraded"
        })
    })
  )

  inside("are counted once however often a turn is handed out, and not at all when it is undone", (one) =>
    Effect.gen(function* () {
      const turns = yield* TurnStore
      const { taken } = yield* turn(counts(3))
      const exits = yield* Effect.all(
        [1, 2, 3, 4].map(() => Effect.exit(taken)),
        { concurrency: "unbounded" }
      )
      expect(exits.filter((exit) => Exit.isSuccess(exit) && exit.value !== null).length).toBe(1)
      expect(yield* hunter).toMatchObject({ samples: 3 })
      // A turn whose run is not there any more.
      const { lane } = yield* turn(counts(5))
      const closed = [{ org_id: "org_nobody", run_id: "run_nobody", lease_token: null }]
      const undone = turns.turn(lane, 100, [], false, () => ({
        effects: { ...nothing, closed, attempts: counts(5) },
        answer: {}
      }))
      expect(Exit.isFailure(yield* Effect.exit(undone))).toBe(true)
      expect(yield* hunter).toMatchObject({ samples: 3 })
    }).pipe(Effect.provideContext(one))
  )

  inside("give percentiles to within a bucket, of successes only", (one) =>
    Effect.gen(function* () {
      const health = yield* Health
      for (const [millis, count] of [
        [40, 30],
        [300, 60],
        [9_000, 10]
      ] as const)
        yield* measure(counts(count, 1, millis))
      yield* health.refresh
      const { metrics } = health.offer("email.find", "hunter")
      expect(metrics).toMatchObject({ sample_size: 103, success_rate: 0.9709 })
      expect(Math.abs((metrics.latency_ms_p50 ?? 0) - 300)).toBeLessThan(30)
      expect(Math.abs((metrics.latency_ms_p95 ?? 0) - 9_000)).toBeLessThan(900)
    }).pipe(Effect.provideContext(one))
  )

  inside("keep raw endpoints and offers apart", (one) =>
    Effect.gen(function* () {
      const health = yield* Health
      yield* measure(counts(7, 0, 50, "endpoint hunter GET /v2/email-finder"))
      yield* health.refresh
      expect(health.endpoint("hunter", "GET", "/v2/email-finder").health).toMatchObject({
        status: "healthy",
        sample_size: 7
      })
      expect(health.endpoint("hunter", "POST", "/v2/email-finder").health.sample_size).toBe(0)
      expect(health.offer("email.find", "hunter").health.sample_size).toBe(0)
      expect([...health.lastHour().keys()]).toEqual(["endpoint hunter GET /v2/email-finder"])
    }).pipe(Effect.provideContext(one))
  )

  inside("are deleted when nobody can read them any more, and not before", (one) =>
    Effect.gen(function* () {
      const health = yield* Health
      const sql = yield* SqlClient.SqlClient
      const left = Effect.gen(function* () {
        yield* health.forget
        return (yield* sql<{ span: string }>`SELECT span FROM attempt_windows ORDER BY span`).map((row) => row.span)
      })
      yield* measure(counts(5))
      expect(yield* left).toEqual(["1d", "5m"])
      yield* TestClock.adjust(minutes(119))
      expect(yield* left).toEqual(["1d", "5m"])
      yield* TestClock.adjust(minutes(2))
      expect(yield* left).toEqual(["1d"])
      yield* at("2026-04-09T23:59:00Z")
      expect(yield* left).toEqual(["1d"])
      yield* at("2026-04-10T00:01:00Z")
      expect(yield* left).toEqual([])
    }).pipe(Effect.provideContext(one))
  )
})
