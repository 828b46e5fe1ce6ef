/** What the guards know for quotes, reports and later runs, and what is deleted of it. Each organization sees its own alone. */
import { describe, expect, test } from "bun:test"
import { Effect, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/layers/accounts/Accounts.ts"
import { GuardStore } from "../../../src/layers/guards/GuardStore.ts"
import { newId } from "../../../src/layers/platform/Ids.ts"
import { contactSecondsMax } from "../../../src/schema/guards/ContactGuard.ts"
import { repeatSeconds } from "../../../src/schema/guards/RepeatGuard.ts"
import { reuseSecondsMax } from "../../../src/schema/guards/Reuse.ts"
import { withStorage } from "../../kit/storage.ts"
import { type StoredRun, storeRun } from "../../kit/stored-runs.ts"

const run = withStorage()
const organization = Effect.flatMap(Accounts, (accounts) => accounts.createOrganization("guards", null))

const tried = Effect.fnUntraced(function* (org_id: string, caller: string, input_hash: string, seconds: number) {
  const [sql, run_id] = [yield* SqlClient.SqlClient, newId("run")]
  yield* sql`
    INSERT INTO repeat_tries (org_id, caller, input_hash, run_id, tried_at)
    VALUES (${org_id}, ${caller}, ${input_hash}, ${run_id}, now() - make_interval(secs => ${seconds}))`
  return run_id
})
const reusable = Effect.fnUntraced(function* (org_id: string, run_id: string, input_hash = "hash", seconds = 0) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO reusable_results (org_id, input_hash, run_id, finished_at)
    VALUES (${org_id}, ${input_hash}, ${run_id}, now() - make_interval(secs => ${seconds}))`
})
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)

describe("the tries of an input", () => {
  test("are those of the caller within ten minutes, with their times", () =>
    run(
      Effect.gen(function* () {
        const [store, sql] = [yield* GuardStore, yield* SqlClient.SqlClient]
        const [org_id, other] = [yield* organization, yield* organization]
        const young = yield* tried(org_id, "key_1", "hash", 5)
        const old = yield* tried(org_id, "key_1", "hash", repeatSeconds - 30)
        yield* tried(org_id, "key_1", "hash", repeatSeconds + 1)
        const session = yield* tried(org_id, "session", "hash", 5)
        yield* tried(org_id, "key_2", "hash", 5)
        yield* tried(org_id, "key_1", "other", 5)
        yield* tried(other, "key_1", "hash", 5)
        const triesOf = (key_id: string | null) => store.tries({ org_id, key_id, input_hash: "hash" })
        const times = yield* sql<{ run_id: string; at: bigint }>`
          SELECT run_id, (extract(epoch FROM tried_at) * 1000000)::bigint AS at FROM repeat_tries WHERE run_id IN (${young}, ${old})`
        const sorted = (rows: ReadonlyArray<{ readonly run_id: string; readonly at: bigint }>) =>
          rows.map(({ run_id, at }) => [run_id, at]).toSorted()
        expect(sorted(yield* triesOf("key_1"))).toEqual(sorted(times))
        expect((yield* triesOf(null)).map(({ run_id }) => run_id)).toEqual([session])
        expect(yield* triesOf("key_3")).toEqual([])
      })
    ))
})

describe("the contact guard", () => {
  test("is the organization's own, and can be changed and removed", () =>
    run(
      Effect.gen(function* () {
        const [store, sql] = [yield* GuardStore, yield* SqlClient.SqlClient]
        const [org_id, other] = [yield* organization, yield* organization]
        const [secret] = yield* sql<{ created_at: Date }>`SELECT created_at FROM contact_secret`
        const read = Effect.gen(function* () {
          const rule = yield* store.contactRule(org_id)
          expect(rule.claimed_since).toEqual(secret?.created_at ?? expect.unreachable("there is no secret"))
          return [yield* store.contactDays(org_id), rule.days]
        })
        yield* store.setContactDays(other, 3)
        expect(yield* read).toEqual([null, null])
        for (const days of [30, 30, 7, null, 1]) {
          yield* store.setContactDays(org_id, days)
          expect(yield* read).toEqual([days, days])
        }
        expect(yield* store.contactDays(other)).toBe(3)
      })
    ))

  test("that is set again to the same is no change for the audit log", () =>
    run(
      Effect.gen(function* () {
        const [store, sql, org_id] = [yield* GuardStore, yield* SqlClient.SqlClient, yield* organization]
        const versionOf = Effect.map(
          sql`SELECT xmin::text AS version FROM contact_guards WHERE org_id = ${org_id}`,
          ([row]) => row?.["version"]
        )
        yield* store.setContactDays(org_id, 30)
        const before = yield* versionOf
        yield* store.setContactDays(org_id, 30)
        expect(yield* versionOf).toBe(before)
        yield* store.setContactDays(org_id, 31)
        expect(yield* versionOf).not.toBe(before)
      })
    ))

  test("tells a quote the latest contacts of its recipients", () =>
    run(
      Effect.gen(function* () {
        const [store, sql, org_id] = [yield* GuardStore, yield* SqlClient.SqlClient, yield* organization]
        const before = newId("run")
        yield* store.setContactDays(org_id, 14)
        yield* sql`
          INSERT INTO contact_claims (org_id, identity, run_id) VALUES (${org_id}, contact_identity(${org_id}, 'e:ada@example.com'), ${before})`
        const contacts = {
          within_seconds: null,
          recipients: [{ shown: "Ada", identities: ["e:ada@example.com", "n:in/ada"] }]
        }
        const view = yield* store.contacts({ org_id, run_id: newId("run"), contacts })
        expect([...view.latest.values()].map(({ run_id }) => run_id)).toEqual([before])
        expect(view.days).toEqual(new Map([[org_id, 14]]))
      })
    ))
})

describe("what a quote would reuse", () => {
  const ask = (org_id: string) => ({
    ...{ org_id, run_id: newId("run"), input_hash: "hash" },
    reuse: { mode: "prefer" as const, max_age_seconds: 3_600 }
  })

  test("is an earlier result, or the run that is buying one, or nothing", () =>
    run(
      Effect.gen(function* () {
        const [store, sql, org_id] = [yield* GuardStore, yield* SqlClient.SqlClient, yield* organization]
        expect(yield* store.reusable(ask(org_id))).toBeNull()
        const buyer = newId("run")
        yield* sql`INSERT INTO reuse_claims (org_id, input_hash, run_id) VALUES (${org_id}, 'hash', ${buyer})`
        yield* sql`
          INSERT INTO open_runs (run_id, org_id, hold, state, side_effect) VALUES (${buyer}, ${org_id}, 0, 'queued', false)`
        expect(yield* store.reusable(ask(org_id))).toBe(buyer)
        const bought = yield* storeRun(org_id)
        yield* reusable(org_id, bought)
        expect(yield* store.reusable(ask(org_id))).toBe(bought)
        expect(yield* store.reusable(ask(yield* organization))).toBeNull()
      })
    ))
})

describe("what runs have saved", () => {
  test("is the sum of each UTC day, from the first day to the day before the last", () =>
    run(
      Effect.gen(function* () {
        const [store, sql] = [yield* GuardStore, yield* SqlClient.SqlClient]
        const [org_id, other] = [yield* organization, yield* organization]
        const save = (org: string, at: string, saved: bigint) => sql`
          INSERT INTO reuse_savings (run_id, org_id, reused_from, saved, created_at) VALUES (${newId("run")}, ${org}, 'run_0', ${saved}, ${at}::timestamptz)`
        for (const [at, saved] of [
          ["2026-03-01 23:59:59.999999Z", 1n],
          ["2026-03-02 00:00:00Z", 10n],
          ["2026-03-02 12:00:00Z", 5n],
          ["2026-03-03 23:30:00Z", 0n],
          ["2026-03-04 00:00:00Z", 100n]
        ] as const)
          yield* save(org_id, at, saved)
        yield* save(other, "2026-03-02 00:00:00Z", 1_000n)
        const saved = yield* store.saved(org_id, "2026-03-02", "2026-03-04")
        expect(saved.toSorted((a, b) => (a.day < b.day ? -1 : 1))).toEqual([
          { day: "2026-03-02", runs: 2n, saved: 15n },
          { day: "2026-03-03", runs: 1n, saved: 0n }
        ])
        expect(yield* store.saved(org_id, "2026-03-05", "2026-03-06")).toEqual([])
      })
    ))
})

describe("results of raw runs", () => {
  const raw = (org_id: string, changed: Partial<StoredRun> = {}) =>
    storeRun(org_id, { endpoint: "/people", hold: 20_000n, created_at: minutesAgo(5), ...changed })
  const idsOf = (rows: ReadonlyArray<{ readonly run_id: string }>) => rows.map(({ run_id }) => run_id)

  test("are the newest five of these inputs, with what they cost", () =>
    run(
      Effect.gen(function* () {
        const [store, org_id] = [yield* GuardStore, yield* organization]
        const ids: Array<string> = []
        for (const minutes of [1, 2, 3, 4, 5, 6]) {
          const input_hash = minutes % 2 === 0 ? "even" : "odd"
          const charged = minutes === 2 ? 20_000n : null
          const id = yield* raw(org_id, {
            created_at: minutesAgo(minutes),
            input_hash,
            charged,
            result: `{"n":${minutes}}`
          })
          yield* reusable(org_id, id, input_hash)
          ids.push(id)
        }
        const found = yield* Stream.runCollect(store.rawResults(org_id, 3_600, ["even", "odd", "none"]))
        expect(idsOf(found)).toEqual(ids.slice(0, 5))
        expect(found.slice(0, 2)).toEqual([
          { run_id: ids[0] ?? "", input_hash: "odd", charged: 0n, result: '{"n":1}' },
          { run_id: ids[1] ?? "", input_hash: "even", charged: 20_000n, result: '{"n":2}' }
        ])
        expect(idsOf(yield* Stream.runCollect(store.rawResults(org_id, 3_600, ["even"])))).toEqual(
          [1, 3, 5].map((at) => ids[at] ?? "")
        )
        expect(yield* Stream.runCollect(store.rawResults(org_id, 3_600, []))).toEqual([])
        expect(yield* Stream.runCollect(store.rawResults(yield* organization, 3_600, ["even", "odd"]))).toEqual([])
      })
    ))

  const unusable: ReadonlyArray<readonly [string, Partial<StoredRun>]> = [
    ["of a capability", { endpoint: null }],
    ["without a result", { result: null, status: "failed" }],
    ["that was erased", { erased_at: new Date() }],
    ["that is too old", { created_at: minutesAgo(70) }]
  ]
  test.each(unusable)("have none %s", (_name, changed) =>
    run(
      Effect.gen(function* () {
        const [store, org_id] = [yield* GuardStore, yield* organization]
        const [gone, kept, unlisted] = [yield* raw(org_id, changed), yield* raw(org_id), yield* raw(org_id)]
        for (const id of [gone, kept]) yield* reusable(org_id, id)
        expect(idsOf(yield* Stream.runCollect(store.rawResults(org_id, 3_600, ["hash"])))).toEqual([kept])
        expect(unlisted).not.toBe(kept)
      })
    )
  )
})

describe("the runs that tie identities of a person", () => {
  test("are those that delivered a result about one, of the organization and of those that are named", () =>
    run(
      Effect.gen(function* () {
        const [store, org_id, other] = [yield* GuardStore, yield* organization, yield* organization]
        const person = {
          capability: "people.enrich",
          input: '{"email":"ada@example.com"}',
          result: '{"network_url":"in/ada"}'
        }
        const one = yield* storeRun(org_id, person)
        const search = yield* storeRun(org_id, { ...person, capability: "people.search" })
        const others = [
          yield* storeRun(org_id, { ...person, capability: "email.verify" }),
          yield* storeRun(org_id, { ...person, status: "no_match" }),
          yield* storeRun(org_id, { ...person, result: null }),
          yield* storeRun(org_id, { ...person, erased_at: new Date() }),
          yield* storeRun(org_id, { ...person, endpoint: "/people" }),
          yield* storeRun(other, person)
        ]
        yield* storeRun(org_id, person)
        const found = yield* Stream.runCollect(store.personRuns(org_id, [one, search, ...others]))
        expect(found.toSorted((a, b) => (a.run_id < b.run_id ? -1 : 1))).toEqual(
          [
            { run_id: one, ...person },
            { run_id: search, ...person, capability: "people.search" }
          ].toSorted((a, b) => (a.run_id < b.run_id ? -1 : 1))
        )
      })
    ))
})

describe("what counts no longer", () => {
  test("is deleted, and what counts is kept", () =>
    run(
      Effect.gen(function* () {
        const [store, sql, org_id] = [yield* GuardStore, yield* SqlClient.SqlClient, yield* organization]
        const kept = [
          yield* tried(org_id, "key_1", "hash", 5),
          // A turn that is under way may have seen it when it was younger.
          yield* tried(org_id, "key_1", "hash", 2 * repeatSeconds - 60)
        ]
        yield* tried(org_id, "key_1", "hash", 2 * repeatSeconds + 1)
        for (const [run_id, seconds] of [
          ["run_kept", contactSecondsMax - 60],
          ["run_gone", contactSecondsMax + 1]
        ] as const)
          yield* sql`
            INSERT INTO contact_claims (org_id, identity, run_id, contacted_at)
            VALUES (${org_id}, contact_identity(${org_id}, 'e:ada@example.com'), ${run_id}, now() - make_interval(secs => ${seconds}))`
        yield* reusable(org_id, "run_kept", "hash", reuseSecondsMax - 60)
        yield* reusable(org_id, "run_gone", "hash", reuseSecondsMax + 1)
        yield* store.forget
        const left = (table: string) =>
          Effect.map(
            sql<{ run_id: string }>`SELECT run_id FROM ${sql.literal(table)} WHERE org_id = ${org_id}`,
            (rows) => rows.map(({ run_id }) => run_id).toSorted()
          )
        expect(yield* left("repeat_tries")).toEqual(kept.toSorted())
        expect(yield* left("contact_claims")).toEqual(["run_kept"])
        expect(yield* left("reusable_results")).toEqual(["run_kept"])
      })
    ))
})
