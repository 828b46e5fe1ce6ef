/** Earlier results, as a turn finds them: which ones a run may take, and which run it could wait for. */
import { describe, expect, test } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/layers/accounts/Accounts.ts"
import {
  endingBuyers,
  inputKey,
  noReuse,
  readReuse,
  type ReuseAsk,
  reuseAsks
} from "../../../src/layers/guards/ReuseTurn.ts"
import { newId } from "../../../src/layers/platform/Ids.ts"
import type { Reusable, Reuse } from "../../../src/schema/guards/Reuse.ts"
import { withStorage } from "../../kit/storage.ts"
import { type StoredRun, storeRun } from "../../kit/stored-runs.ts"

const run = withStorage()
const organization = Effect.flatMap(Accounts, (accounts) => accounts.createOrganization("reuse", null))
const prefer: Reuse = { mode: "prefer", max_age_seconds: 3_600 }
const ask = (org_id: string, input_hash = "hash", reuse: Reuse = prefer): ReuseAsk => ({
  ...{ org_id, run_id: newId("run"), input_hash, reuse }
})
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)

/** A run that has ended and that is listed among those whose results can be reused. */
const bought = Effect.fnUntraced(function* (
  org_id: string,
  changed: Partial<StoredRun> = {},
  listed: string = changed.input_hash ?? "hash"
) {
  const sql = yield* SqlClient.SqlClient
  const run_id = yield* storeRun(org_id, { created_at: minutesAgo(5), ...changed })
  yield* sql`
    INSERT INTO reusable_results (org_id, input_hash, run_id, finished_at) VALUES (${org_id}, ${listed}, ${run_id}, now())`
  return run_id
})
/** A run that has ended a moment ago, so that the history worker has not listed it yet. */
const unlisted = Effect.fnUntraced(function* (org_id: string, changed: Partial<StoredRun> = {}) {
  const sql = yield* SqlClient.SqlClient
  const run_id = yield* storeRun(org_id, changed)
  yield* sql`INSERT INTO history_queue (org_id, run_ids) VALUES (${org_id}, ${[newId("run"), run_id]}::text[])`
  return run_id
})
/** An open run that buys the result of an input. */
const buyer = Effect.fnUntraced(function* (org_id: string, input_hash = "hash", isOpen = true) {
  const [sql, run_id] = [yield* SqlClient.SqlClient, newId("run")]
  yield* sql`INSERT INTO reuse_claims (org_id, input_hash, run_id) VALUES (${org_id}, ${input_hash}, ${run_id})`
  if (isOpen)
    yield* sql`INSERT INTO open_runs (run_id, org_id, hold, state, side_effect) VALUES (${run_id}, ${org_id}, 0, 'queued', false)`
  return run_id
})
const read = (asks: ReadonlyArray<ReuseAsk>, ending: ReadonlyArray<string> = []) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => readReuse(sql, asks, ending))
/** The run whose result the asking run would take. */
const sourceOf = (one: ReuseAsk) => Effect.map(read([one]), ({ results }) => results.get(one.run_id)?.run_id ?? null)

describe("the runs that a turn reads for", () => {
  const asking = (changed: object = {}) => ({
    ...{ org_id: "org_1", run_id: "run_1", status: "created", input_hash: "hash", reuses: true },
    plan: () => ({ reuse: prefer }),
    ...changed
  })
  test("are those that may be admitted and ask for reuse", () => {
    expect(reuseAsks([asking()])).toEqual([{ org_id: "org_1", run_id: "run_1", input_hash: "hash", reuse: prefer }])
    const unread = () => expect.unreachable("the plan of a run that does not ask for reuse was read")
    const others = [
      { status: "queued", plan: unread },
      { reuses: false, plan: unread },
      { reuses: undefined, plan: unread }
    ]
    expect(reuseAsks([...others, { plan: () => ({}) }, { input_hash: null }].map(asking))).toEqual([])
  })

  test("are also the buyers that may end", () => {
    const runs = new Map([
      ["run_1", { buys: true }],
      ["run_2", { buys: false }],
      ["run_3", {}],
      ["run_5", { buys: true }]
    ])
    const commands = [
      { tag: "Settle", run_id: "run_1" },
      { tag: "Cancel", run_id: "run_5" },
      { tag: "Settle", run_id: "run_2" },
      { tag: "Settle", run_id: "run_3" },
      { tag: "Settle", run_id: "run_4" },
      { tag: "Credit", run_id: null }
    ]
    expect(endingBuyers(commands, runs)).toEqual(["run_1", "run_5"])
    expect(endingBuyers([{ tag: "Reserve", run_id: "run_1" }], runs)).toEqual([])
  })

  test("are none in most turns, and then nothing is read", () =>
    run(Effect.map(read([]), (view) => expect(view).toBe(noReuse))))
})

describe("an earlier result", () => {
  const makers: ReadonlyArray<readonly [string, typeof unlisted]> = [
    ["that is listed", bought],
    ["that is not listed yet", unlisted]
  ]
  test.each(makers)("%s can be taken, with its provider and what it cost", (_name, make) =>
    run(
      Effect.gen(function* () {
        const [org_id, other] = [yield* organization, yield* organization]
        const first = yield* make(org_id, { hold: 20_000n, charged: 15_000n })
        const second = yield* make(org_id, { input_hash: "free", provider: null })
        const asks = [ask(org_id), ask(org_id), ask(org_id, "free"), ask(org_id, "none"), ask(other)]
        const { results, buyers } = yield* read(asks)
        const result = { run_id: first, provider: "hunter", charged: 15_000n, bytes: expect.any(Number) }
        expect(results).toEqual(
          new Map<string, Reusable>([
            [asks[0]?.run_id ?? "", result],
            [asks[1]?.run_id ?? "", result],
            [asks[2]?.run_id ?? "", { run_id: second, provider: null, charged: 0n, bytes: expect.any(Number) }]
          ])
        )
        expect(buyers.size).toBe(0)
      })
    )
  )

  test("is the newest one, listed or not", () =>
    run(
      Effect.gen(function* () {
        const org_id = yield* organization
        const newest = { created_at: minutesAgo(1) }
        yield* bought(org_id, { created_at: minutesAgo(2) })
        const listed = yield* bought(org_id, newest)
        yield* unlisted(org_id, { created_at: minutesAgo(3) })
        expect(yield* sourceOf(ask(org_id))).toBe(listed)
        const young = yield* unlisted(org_id, { created_at: new Date() })
        expect(yield* sourceOf(ask(org_id))).toBe(young)
      })
    ))

  test("that neither is listed nor waits to be can't be taken", () =>
    run(
      Effect.gen(function* () {
        const org_id = yield* organization
        yield* storeRun(org_id)
        yield* unlisted(org_id, { input_hash: "other" })
        // One that is listed and can't be taken does not stand for it.
        yield* bought(org_id, { status: "failed" })
        expect(yield* sourceOf(ask(org_id))).toBeNull()
      })
    ))

  test("is found among the newest ended runs of the organization, whatever others have ended", () =>
    run(
      Effect.gen(function* () {
        const [sql, org_id, other] = [yield* SqlClient.SqlClient, yield* organization, yield* organization]
        const turns = (org: string) => sql`
          INSERT INTO history_queue (org_id, run_ids) SELECT ${org}, ARRAY['run_' || n] FROM generate_series(1, 600) AS n`
        yield* turns(org_id)
        const run_id = yield* unlisted(org_id)
        yield* turns(other)
        expect(yield* sourceOf(ask(org_id))).toBe(run_id)
        // Behind hundreds of turns that wait to be listed it is not searched for, so that the search stays short.
        yield* turns(org_id)
        expect(yield* sourceOf(ask(org_id))).toBeNull()
      })
    ))

  const unusable: ReadonlyArray<readonly [string, Partial<StoredRun>]> = [
    ["failed", { status: "failed" }],
    ["found nothing", { status: "no_match" }],
    ["has no result", { result: null }],
    ["was erased", { erased_at: new Date() }],
    ["took another one's result", { reused_from: "run_0" }],
    ["ended too long ago", { created_at: minutesAgo(61) }],
    ["had another input", { input_hash: "other" }],
    ["had an input that is forgotten", { input_hash: null }]
  ]
  test.each(unusable)("of a run that %s can't be taken", (_name, changed) =>
    run(
      Effect.gen(function* () {
        const org_id = yield* organization
        yield* bought(org_id, changed, "hash")
        yield* unlisted(org_id, changed)
        expect(yield* sourceOf(ask(org_id))).toBeNull()
        // An older one that can be taken is.
        const kept = yield* bought(org_id, { created_at: minutesAgo(50) })
        expect(yield* sourceOf(ask(org_id))).toBe(kept)
      })
    )
  )

  test("can be as old as the run says", () =>
    run(
      Effect.gen(function* () {
        const org_id = yield* organization
        const run_id = yield* bought(org_id, { created_at: minutesAgo(30) })
        const aged = (max_age_seconds: number) => sourceOf(ask(org_id, "hash", { ...prefer, max_age_seconds }))
        expect(yield* aged(29 * 60)).toBeNull()
        expect(yield* aged(31 * 60)).toBe(run_id)
      })
    ))

  test("is of a provider that the API key may call", () =>
    run(
      Effect.gen(function* () {
        const org_id = yield* organization
        const old = yield* bought(org_id, { provider: "hunter", created_at: minutesAgo(9) })
        const young = yield* bought(org_id, { provider: "prospeo", created_at: minutesAgo(8) })
        const from = (...providers: ReadonlyArray<string>) => sourceOf(ask(org_id, "hash", { ...prefer, providers }))
        expect(yield* sourceOf(ask(org_id))).toBe(young)
        expect(yield* from("hunter")).toBe(old)
        expect(yield* from("hunter", "prospeo")).toBe(young)
        expect(yield* from("apollo", "hunt")).toBeNull()
      })
    ))
})

describe("a run that is buying", () => {
  test("is known for its input, with the number of runs that wait for it", () =>
    run(
      Effect.gen(function* () {
        const [sql, org_id, other] = [yield* SqlClient.SqlClient, yield* organization, yield* organization]
        const [first, second] = [yield* buyer(org_id), yield* buyer(org_id, "second")]
        yield* buyer(org_id, "unasked")
        yield* buyer(other)
        for (const joined of [first, first, newId("run")])
          yield* sql`INSERT INTO reuse_joins (run_id, org_id, joined) VALUES (${newId("run")}, ${org_id}, ${joined})`
        const asks = [ask(org_id), ask(org_id), ask(org_id, "second"), ask(org_id, "none")]
        const { buyers, results } = yield* read(asks)
        expect(buyers).toEqual(
          new Map([
            [inputKey({ org_id, input_hash: "hash" }), { run_id: first, joins: 2 }],
            [inputKey({ org_id, input_hash: "second" }), { run_id: second, joins: 0 }]
          ])
        )
        expect(results.size).toBe(0)
      })
    ))

  test("is none that has ended without giving up its claim", () =>
    run(
      Effect.gen(function* () {
        const org_id = yield* organization
        yield* buyer(org_id, "hash", false)
        // Another run of the organization is open.
        yield* buyer(org_id, "other")
        expect((yield* read([ask(org_id)])).buyers.size).toBe(0)
      })
    ))
})

describe("the runs that wait for a buyer which may end", () => {
  const waiting = Effect.fnUntraced(function* (
    org_id: string,
    joined: string,
    plan: object,
    changed: Partial<StoredRun> = {}
  ) {
    const sql = yield* SqlClient.SqlClient
    const run_id = yield* storeRun(org_id, { status: "created", ...changed })
    yield* sql`UPDATE runs SET plan = ${JSON.stringify(plan)}::text::json WHERE org_id = ${org_id} AND run_id = ${run_id}`
    yield* sql`INSERT INTO reuse_joins (run_id, org_id, joined) VALUES (${run_id}, ${org_id}, ${joined})`
    return run_id
  })
  const bought = Effect.fnUntraced(function* (org_id: string, providers: ReadonlyArray<string>) {
    const sql = yield* SqlClient.SqlClient
    const run_id = yield* storeRun(org_id, { status: "created" })
    yield* sql`UPDATE runs SET plan = ${JSON.stringify({ providers })}::text::json WHERE org_id = ${org_id} AND run_id = ${run_id}`
    return run_id
  })

  test("are given by buyer, with what their end needs", () =>
    run(
      Effect.gen(function* () {
        const org_id = yield* organization
        const [first, second] = [yield* bought(org_id, ["hunter", "prospeo"]), yield* bought(org_id, ["hunter"])]
        const third = yield* bought(org_id, ["hunter"])
        const limited = { providers: ["prospeo", "hunter"], reuse: { ...prefer, providers: ["hunter"] } }
        const same = yield* waiting(org_id, first, limited, { hold: 7n, key_id: "key_1" })
        const other = yield* waiting(
          org_id,
          first,
          { providers: ["hunter"], reuse: prefer },
          { endpoint: "/people", hold: 1n }
        )
        const single = yield* waiting(org_id, second, { providers: ["hunter"], reuse: prefer })
        yield* waiting(org_id, third, { providers: ["hunter"] })
        const { joined, results, buyers } = yield* read([], [first, second, newId("run")])
        const plain = { org_id, hold: 0n, key_id: null, input_hash: "hash", budget_id: null }
        const [capability, endpoint] = ["email.find", null]
        expect([...joined.keys()].toSorted()).toEqual([first, second].toSorted())
        expect(joined.get(first)?.toSorted((a, b) => (a.run_id === same ? -1 : b.run_id === same ? 1 : 0))).toEqual([
          {
            ...{ ...plain, run_id: same, joined: first, hold: 7n, key_id: "key_1", capability, endpoint },
            ...{ providers: ["hunter"], same_providers: true }
          },
          {
            ...{ ...plain, run_id: other, joined: first, hold: 1n, capability: null, endpoint: "/people" },
            ...{ providers: null, same_providers: false }
          }
        ])
        expect(joined.get(second)).toMatchObject([{ run_id: single, providers: null, same_providers: true }])
        expect([results.size, buyers.size]).toEqual([0, 0])
      })
    ))

  test("are none that have ended", () =>
    run(
      Effect.gen(function* () {
        const org_id = yield* organization
        const first = yield* bought(org_id, ["hunter"])
        const open = yield* waiting(org_id, first, { providers: ["hunter"] })
        yield* waiting(org_id, first, { providers: ["hunter"] }, { status: "cancelled", result: null })
        const { joined } = yield* read([], [first])
        expect(joined.get(first)?.map(({ run_id }) => run_id)).toEqual([open])
      })
    ))
})
