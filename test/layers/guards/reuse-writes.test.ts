/** What a turn writes of reuse: one run buys an input, others wait, ask again or take a result, and each row is written or deleted once. */
import { describe, expect, test } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/layers/accounts/Accounts.ts"
import { GuardStore } from "../../../src/layers/guards/GuardStore.ts"
import {
  reuseClaimHeld,
  noReuseEffects,
  type ReuseEffects,
  type ReuseEnd,
  writeReuse
} from "../../../src/layers/guards/ReuseTurn.ts"
import { newId } from "../../../src/layers/platform/Ids.ts"
import { withStorage } from "../../kit/storage.ts"
import { storeRun } from "../../kit/stored-runs.ts"

const run = withStorage()
const organization = Effect.flatMap(Accounts, (accounts) => accounts.createOrganization("reuse", null))
const lane = 1

interface Ended {
  readonly org_id: string
  readonly run_id: string
  readonly reuse?: ReuseEnd
}
/** Writes what a turn would, and says whether no other run buys what it has claimed. */
const write = Effect.fnUntraced(function* (effects: Partial<ReuseEffects>, ended: ReadonlyArray<Ended> = []) {
  const sql = yield* SqlClient.SqlClient
  const all = { ...noReuseEffects, ...effects }
  const rows = yield* sql<{ mine: boolean }>`
    WITH one AS (SELECT 1)${writeReuse(sql, lane, all, ended)} SELECT true${reuseClaimHeld(sql, all)} AS mine`
  return rows[0]?.mine
})
const open = (org_id: string, run_id: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`INSERT INTO open_runs (run_id, org_id, hold, state, side_effect) VALUES (${run_id}, ${org_id}, 0, 'queued', false)`
  )
/** The rows of a table that belong to the organization, by these columns. */
const rowsOf = Effect.fnUntraced(function* (table: string, columns: string, org_id: string) {
  const sql = yield* SqlClient.SqlClient
  const rows =
    yield* sql`SELECT ${sql.literal(columns)} FROM ${sql.literal(table)} WHERE org_id = ${org_id} ORDER BY 1, 2`
  return rows.map((row) => Object.values(row))
})
const claims = (org_id: string) => rowsOf("reuse_claims", "input_hash, run_id", org_id)
const joins = (org_id: string) => rowsOf("reuse_joins", "run_id, joined", org_id)
const claimOf = (org_id: string, input_hash = "hash") => ({ org_id, run_id: newId("run"), input_hash })

describe("a claim", () => {
  test("is made for an input that nobody buys, in each organization", () =>
    run(
      Effect.gen(function* () {
        const [org_id, other] = [yield* organization, yield* organization]
        const [one, two, theirs] = [claimOf(org_id), claimOf(org_id, "other"), claimOf(other)]
        expect(yield* write({ claimed: [one, two, theirs] })).toBe(true)
        expect(yield* claims(org_id)).toEqual([
          ["hash", one.run_id],
          ["other", two.run_id]
        ])
        expect(yield* claims(other)).toEqual([["hash", theirs.run_id]])
        expect(yield* write({})).toBe(true)
      })
    ))

  test("of an open run is not taken by another one, whose turn is undone", () =>
    run(
      Effect.gen(function* () {
        const org_id = yield* organization
        const [one, two, three] = [claimOf(org_id), claimOf(org_id), claimOf(org_id, "other")]
        yield* write({ claimed: [one] })
        yield* open(org_id, one.run_id)
        expect(yield* write({ claimed: [three, two] })).toBe(false)
        expect((yield* claims(org_id))[0]).toEqual(["hash", one.run_id])
      })
    ))

  test("of a run that is open no more is taken over", () =>
    run(
      Effect.gen(function* () {
        const org_id = yield* organization
        const [one, two] = [claimOf(org_id), claimOf(org_id)]
        yield* write({ claimed: [one] })
        // Another run of the organization is open.
        yield* open(org_id, newId("run"))
        expect(yield* write({ claimed: [two] })).toBe(true)
        expect(yield* claims(org_id)).toEqual([["hash", two.run_id]])
      })
    ))

  test("ends with the run, and no other one does", () =>
    run(
      Effect.gen(function* () {
        const org_id = yield* organization
        const [one, two] = [claimOf(org_id), claimOf(org_id, "other")]
        yield* write({ claimed: [one, two] })
        yield* write({ unclaimed: [one.run_id, newId("run")] })
        expect(yield* claims(org_id)).toEqual([["other", two.run_id]])
      })
    ))
})

describe("a run that waits", () => {
  test("is stored with the run that it waits for, until it waits no more", () =>
    run(
      Effect.gen(function* () {
        const org_id = yield* organization
        const [one, two, buyer] = [newId("run"), newId("run"), newId("run")]
        const joined = [one, two].map((run_id) => ({ org_id, run_id, joined: buyer }))
        yield* write({ joined })
        expect(yield* joins(org_id)).toEqual([one, two].toSorted().map((run_id) => [run_id, buyer]))
        yield* write({ parted: [one, buyer] })
        expect(yield* joins(org_id)).toEqual([[two, buyer]])
      })
    ))

  test("asks again in the next turn of its lane", () =>
    run(
      Effect.gen(function* () {
        const [org_id, other] = [yield* organization, yield* organization]
        const again = [org_id, other].map((org) => ({ org_id: org, run_id: newId("run") }))
        yield* write({ again })
        const mailOf = (org: string) => rowsOf("mailbox", "run_id, tag, lane", org)
        expect(yield* mailOf(org_id)).toEqual([[again[0]?.run_id, "Reserve", lane]])
        expect(yield* mailOf(other)).toEqual([[again[1]?.run_id, "Reserve", lane]])
      })
    ))

  test("for a run that is open no more asks again, unless it has ended itself", () =>
    run(
      Effect.gen(function* () {
        const [store, sql] = [yield* GuardStore, yield* SqlClient.SqlClient]
        const [org_id, other] = [yield* organization, yield* organization]
        yield* sql`UPDATE wallets SET lane = 5 WHERE org_id = ${org_id}`
        yield* sql`UPDATE wallets SET lane = 6 WHERE org_id = ${other}`
        const [live, dead] = [newId("run"), newId("run")]
        yield* open(org_id, live)
        const created = (org: string) => storeRun(org, { status: "created" })
        const waiting = { org_id, run_id: yield* created(org_id), joined: live }
        const orphan = { org_id, run_id: yield* created(org_id), joined: dead }
        const ended = { org_id, run_id: yield* storeRun(org_id), joined: dead }
        const theirs = { org_id: other, run_id: yield* created(other), joined: dead }
        yield* created(org_id)
        yield* write({ joined: [waiting, orphan, ended, theirs] })
        yield* store.forget
        expect(yield* joins(org_id)).toEqual([[waiting.run_id, live]])
        expect(yield* joins(other)).toEqual([])
        expect(yield* rowsOf("mailbox", "run_id, tag, lane", org_id)).toEqual([[orphan.run_id, "Reserve", 5]])
        expect(yield* rowsOf("mailbox", "run_id, tag, lane", other)).toEqual([[theirs.run_id, "Reserve", 6]])
        // Once is enough.
        yield* store.forget
        expect(yield* rowsOf("mailbox", "run_id, tag", org_id)).toHaveLength(1)
      })
    ))
})

describe("a result", () => {
  test("is listed once for its input", () =>
    run(
      Effect.gen(function* () {
        const [org_id, other] = [yield* organization, yield* organization]
        const results = [claimOf(org_id), claimOf(org_id, "other"), claimOf(other)]
        for (const _ of [1, 2]) yield* write({ results })
        const listed = (org: string) =>
          rowsOf("reusable_results", "input_hash, run_id, finished_at > now() - interval '1 minute'", org)
        expect(yield* listed(org_id)).toEqual([
          ["hash", results[0]?.run_id, true],
          ["other", results[1]?.run_id, true]
        ])
        expect(yield* listed(other)).toEqual([["hash", results[2]?.run_id, true]])
      })
    ))

  test("that was taken is a saving of what it cost, and an end without one is none", () =>
    run(
      Effect.gen(function* () {
        const org_id = yield* organization
        const end = (reuse?: Partial<ReuseEnd>): Ended => ({
          ...{ org_id, run_id: newId("run") },
          ...(reuse === undefined
            ? {}
            : { reuse: { reused_from: null, copies: null, shares: null, saved: 0n, ...reuse } })
        })
        const [paid, free] = [end({ reused_from: "run_1", saved: 15_000n }), end({ reused_from: "run_2" })]
        yield* write({}, [end(), paid, end({ saved: 7n }), free])
        expect(yield* rowsOf("reuse_savings", "reused_from, run_id, saved", org_id)).toEqual([
          ["run_1", paid.run_id, 15_000n],
          ["run_2", free.run_id, 0n]
        ])
      })
    ))
})

test("a turn writes all of it in one statement", () =>
  run(
    Effect.gen(function* () {
      const org_id = yield* organization
      const [old, young] = [claimOf(org_id), claimOf(org_id, "young")]
      const [waiting, asking] = [newId("run"), newId("run")]
      yield* write({ claimed: [old], joined: [{ org_id, run_id: asking, joined: old.run_id }] })
      const effects: ReuseEffects = {
        ...{ claimed: [young], unclaimed: [old.run_id], parted: [asking] },
        ...{
          joined: [{ org_id, run_id: waiting, joined: young.run_id }],
          again: [{ org_id, run_id: asking }],
          results: [old]
        }
      }
      expect(yield* write(effects)).toBe(true)
      expect(yield* claims(org_id)).toEqual([["young", young.run_id]])
      expect(yield* joins(org_id)).toEqual([[waiting, young.run_id]])
      expect(yield* rowsOf("mailbox", "run_id, tag", org_id)).toEqual([[asking, "Reserve"]])
      expect(yield* rowsOf("reusable_results", "input_hash, run_id", org_id)).toEqual([["hash", old.run_id]])
    })
  ))
