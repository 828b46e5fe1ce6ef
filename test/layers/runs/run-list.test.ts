/** The list of an organization's runs by filters, also by those that few runs pass, and what is read of a single run. */
import { beforeAll, describe, expect, test } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/layers/accounts/Accounts.ts"
import { newId } from "../../../src/layers/platform/Ids.ts"
import { type ListFilter, ScannedRuns } from "../../../src/layers/runs/RunList.ts"
import { RunStore } from "../../../src/layers/runs/RunStore.ts"
import { UsageRollups } from "../../../src/layers/usage/UsageRollups.ts"
import { makeId } from "../../../src/schema/Ids.ts"
import { dollars } from "../../../src/schema/money/Money.ts"
import { newRun, planOfOne } from "../../kit/new-runs.ts"
import { withStorage } from "../../kit/storage.ts"
import { type StoredRun, storeRun } from "../../kit/stored-runs.ts"
import { credit, takeTurn } from "../../kit/turns.ts"

const run = withStorage()
const organization = Effect.flatMap(Accounts, (accounts) => accounts.createOrganization("run-list", null))

const minute = 60_000
const now = Date.now()
const minutesAgo = (minutes: number) => new Date(now - minutes * minute)
const [red, blue] = [JSON.stringify({ team: "red" }), JSON.stringify({ team: "blue", step: "1" })]

/** Ended runs, the oldest first. */
const ended: Readonly<Record<string, Partial<StoredRun>>> = {
  red: { created_at: minutesAgo(300), key_id: "key_1", metadata: red },
  blue: {
    created_at: minutesAgo(240),
    capability: "email.verify",
    provider: "prospeo",
    status: "failed",
    metadata: blue
  },
  raw: { created_at: minutesAgo(180), endpoint: "/people", provider: "acme", key_id: "key_2" },
  // The clocks of the process that made the id and of the database differ.
  early: { created_at: minutesAgo(120), run_id: makeId("run", now - 150 * minute), status: "no_match", metadata: red },
  late: { created_at: minutesAgo(100), run_id: makeId("run", now - 70 * minute), provider: "prospeo", key_id: "key_1" }
}
/** Runs that have not ended. They follow the others, in this order. */
const open = ["running", "retried", "queued", "created"] as const
const all = [...open.toReversed(), ...Object.keys(ended).toReversed()]

let org_id = ""
/** The names of the runs by their ids. */
let names: ReadonlyMap<string, string> = new Map()
let idOf: (name: string) => string = () => ""

const fixture = Effect.gen(function* () {
  const [store, sql] = [yield* RunStore, yield* SqlClient.SqlClient]
  const org = yield* organization
  const other = yield* organization
  const ids: Array<readonly [string, string]> = []
  for (const [name, changed] of Object.entries(ended)) {
    ids.push([yield* storeRun(org, changed), name])
    yield* storeRun(other, { ...changed, run_id: newId("run") })
  }
  const plan = { ...planOfOne, providers: ["zerobounce"] }
  const admitted = open.map((_, at) => newRun(org, { run_id: makeId("run", now + at), plan, provider: "zerobounce" }))
  const last = admitted[3] ?? expect.unreachable("four runs were made")
  for (const one of admitted.slice(0, 3)) yield* store.admit(one)
  yield* takeTurn(org, "none", false)
  yield* store.admit(last)
  for (const [at, name] of open.entries()) ids.push([admitted[at]?.run_id ?? "", name])
  const openAs = (name: string) => ids.find(([, other]) => other === name)?.[0] ?? ""
  const attempt = JSON.stringify([{ provider: "zerobounce", outcome: "rate_limited", duration_ms: 1, detail: null }])
  yield* sql`
    UPDATE open_runs SET state = 'running', worker_id = 'wrk', lease_token = 'cmd', attempts = ${attempt}::text::json
    WHERE run_id = ${openAs("running")}`
  yield* sql`UPDATE open_runs SET attempts = ${attempt}::text::json WHERE run_id = ${openAs("retried")}`
  return { org, ids }
})
beforeAll(async () => {
  const made = await run(fixture)
  org_id = made.org
  names = new Map(made.ids)
  idOf = (name) => made.ids.find(([, other]) => other === name)?.[0] ?? expect.unreachable(`no run is ${name}`)
})

const nothing = {
  ...{ status: null, capability: null, provider: null, endpoint: null, key_id: null },
  ...{ from: null, to: null, metadata: null, keys: null, before: null, limit: 50 }
}
type Filter = Partial<ListFilter>
const listed = Effect.fnUntraced(function* (filter: Filter = {}) {
  const rows = yield* (yield* RunStore).list({ ...nothing, org_id, ...filter })
  return rows.map(({ run_id }) => names.get(run_id) ?? `a run of another organization: ${run_id}`)
})
const without = (...some: ReadonlyArray<string>) => all.filter((name) => !some.includes(name))

const filters: ReadonlyArray<readonly [string, Filter, ReadonlyArray<string>]> = [
  ["nothing", {}, all],
  ["status succeeded", { status: "succeeded" }, ["late", "raw", "red"]],
  ["status failed", { status: "failed" }, ["blue"]],
  ["status created", { status: "created" }, ["created"]],
  ["status queued", { status: "queued" }, ["queued"]],
  // A run that waits for another try has reached a provider, so it runs.
  ["status running", { status: "running" }, ["retried", "running"]],
  ["capability", { capability: "email.verify" }, ["blue"]],
  ["provider", { provider: "prospeo" }, ["late"]],
  ["provider of open runs, which nobody has served yet", { provider: "zerobounce" }, []],
  ["endpoint", { endpoint: "/people" }, ["raw"]],
  ["key", { key_id: "key_1" }, ["late", "red"]],
  ["two values", { key_id: "key_1", provider: "prospeo" }, ["late"]],
  ["an open status and a provider", { status: "running", provider: "hunter" }, []],
  ["a label", { metadata: { team: "red" } }, ["early", "red"]],
  ["two labels", { metadata: { team: "blue", step: "1" } }, ["blue"]],
  ["labels of different runs", { metadata: { team: "red", step: "1" } }, []],
  ["a label and a status", { metadata: { team: "red" }, status: "no_match" }, ["early"]],
  ["no labels", { metadata: {} }, without("created", "queued", "retried", "running", "late", "raw")],
  ["a time from which on", { from: minutesAgo(180) }, without("blue", "red")],
  ["a time before", { to: minutesAgo(180) }, ["blue", "red"]],
  ["a span of time", { from: minutesAgo(240), to: minutesAgo(120) }, ["raw", "blue"]],
  ["a time that a late id follows", { to: minutesAgo(99) }, ["late", "early", "raw", "blue", "red"]],
  [
    "a time that an early id precedes",
    { from: minutesAgo(120) },
    ["created", "queued", "retried", "running", "late", "early"]
  ],
  ["a time before 1970", { from: new Date(-1_000) }, all],
  ["an open status in the future", { status: "queued", from: new Date(now + 120 * minute) }, []],
  ["a label in the past", { metadata: { team: "red" }, to: minutesAgo(299) }, ["red"]]
]

describe("a list by", () => {
  test.each(filters)("%s has the runs that pass, the newest first", async (_name, filter, expected) => {
    expect(await run(listed(filter))).toEqual([...expected])
  })

  test.each(filters)("%s goes on after a run, in pages of two", async (_name, filter) => {
    const whole = await run(listed(filter))
    const pages: Array<string> = []
    for (let before: string | null = null; ; ) {
      const page: ReadonlyArray<string> = await run(listed({ ...filter, before, limit: 2 }))
      expect(page.length).toBeLessThanOrEqual(2)
      pages.push(...page)
      const last = page.at(-1)
      if (last === undefined) break
      before = idOf(last)
    }
    expect(pages).toEqual([...whole])
  })
})

describe("a list that few runs pass", () => {
  const scarce = filters.filter(([, { status, capability, provider, endpoint, key_id, metadata }]) => {
    const isOpen = open.some((one) => one === status && one !== "created")
    const values = [status, capability, provider, endpoint, key_id]
    return !isOpen && metadata === undefined && values.some((value) => value !== undefined)
  })
  /** So few runs are compared with the filters before the rollups are asked. */
  const fewScanned = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provideService(effect, ScannedRuns, 1)
  const expectSamePages = Effect.fnUntraced(function* (filter: Filter) {
    const whole = yield* listed(filter)
    for (const limit of [1, 2, 50])
      for (const at of [-1, ...whole.keys()]) {
        const before = at < 0 ? null : idOf(whole[at] ?? "")
        const page = yield* fewScanned(listed({ ...filter, limit, before }))
        expect(page).toEqual(whole.slice(at + 1, at + 1 + limit))
      }
  })

  test("is the same while some runs wait to be counted, and after all are counted", () =>
    run(
      Effect.gen(function* () {
        const [sql, rollups] = [yield* SqlClient.SqlClient, yield* UsageRollups]
        const byName = (...some: ReadonlyArray<string>) => some.map(idOf)
        const [first, second] = [byName("red", "blue", "late"), byName("raw", "early")]
        // What is deleted from the queue of the history index waits to be counted.
        yield* sql`INSERT INTO history_queue (org_id, run_ids) VALUES (${org_id}, ${first}::text[])`
        yield* sql`DELETE FROM history_queue WHERE org_id = ${org_id}`
        while ((yield* rollups.count) > 0);
        yield* sql`INSERT INTO history_queue (org_id, run_ids) VALUES (${org_id}, ${second}::text[])`
        for (const [, filter] of scarce) yield* expectSamePages(filter)
        yield* sql`DELETE FROM history_queue WHERE org_id = ${org_id}`
        while ((yield* rollups.count) > 0);
        for (const [, filter] of scarce) yield* expectSamePages(filter)
      })
    ))

  test("reads no more runs than the rollups name", () =>
    run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`
          UPDATE usage_days SET day = day - 40 WHERE org_id = ${org_id}
            AND group_id IN (SELECT group_id FROM usage_groups WHERE org_id = ${org_id} AND status = 'no_match')`
        // The rollups say that no such run ended since. The empty list shows that newer runs were not read.
        expect(yield* fewScanned(listed({ status: "no_match" }))).toEqual([])
        expect(yield* listed({ status: "no_match" })).toEqual(["early"])
      })
    ))
})

describe("a single run", () => {
  test("is read with its result and with what its organization can spend", () =>
    run(
      Effect.gen(function* () {
        const [store, sql] = [yield* RunStore, yield* SqlClient.SqlClient]
        const org = yield* organization
        yield* credit(org, "5.00")
        const one = newRun(org, { hold: dollars("0.50"), quoted: dollars("0.40") })
        yield* store.admit(one)
        const other = yield* storeRun(org, {
          result: '{"email":"ada@example.com"}',
          created_at: minutesAgo(60 * 24 * 90)
        })
        yield* takeTurn(org)
        const found = yield* Effect.forEach([one.run_id, other, newId("run")], (id) => store.find(org, id), {
          concurrency: "unbounded"
        })
        expect(found).toMatchObject([
          { run_id: one.run_id, status: "running", result: null, quoted: dollars("0.40"), available: dollars("4.50") },
          { run_id: other, status: "succeeded", result: '{"email":"ada@example.com"}', available: dollars("4.50") },
          null
        ])
        expect(JSON.parse(found[0]?.attempts ?? "")).toMatchObject([{ provider: "hunter", outcome: "started" }])
        yield* sql`UPDATE open_runs SET state = 'queued', worker_id = NULL, lease_token = NULL, attempts = '[]' WHERE run_id = ${one.run_id}`
        expect(yield* store.find(org, one.run_id)).toMatchObject({ status: "queued" })
      })
    ))

  test("of another organization is not found", () =>
    run(
      Effect.gen(function* () {
        const [store, other] = [yield* RunStore, yield* organization]
        expect(yield* store.find(other, idOf("red"))).toBeNull()
        expect(yield* store.find(org_id, idOf("red"))).toMatchObject({ run_id: idOf("red"), org_id })
        // Two organizations that ask at the same time get an answer each.
        const answers = yield* Effect.forEach([org_id, other, org_id], (org) => store.find(org, idOf("blue")), {
          concurrency: "unbounded"
        })
        expect(answers.map((row) => row?.org_id ?? null)).toEqual([org_id, null, org_id])
      })
    ))

  test("has the organization that reserved money for it as its owner", () =>
    run(
      Effect.gen(function* () {
        const store = yield* RunStore
        const org = yield* organization
        yield* credit(org, "5.00")
        const [one, other] = [newRun(org, { hold: dollars("0.50") }), newRun(org, { hold: dollars("0.10") })]
        for (const each of [one, other]) yield* store.admit(each)
        expect(yield* store.ownerOf(one.run_id)).toBeNull()
        yield* takeTurn(org)
        expect(yield* store.ownerOf(one.run_id)).toBe(org)
        expect(yield* store.ownerOf(newId("run"))).toBeNull()
      })
    ))
})
