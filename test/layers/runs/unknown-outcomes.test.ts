/** Runs whose last call has an unknown outcome: which one is looked up when, what a finding changes, and what an operator sees. */
import { beforeEach, describe, expect, test } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/layers/accounts/Accounts.ts"
import { newId } from "../../../src/layers/platform/Ids.ts"
import { UnknownOutcomes } from "../../../src/layers/runs/UnknownOutcomes.ts"
import { withStorage } from "../../kit/storage.ts"
import { type StoredRun, storeRun } from "../../kit/stored-runs.ts"

const run = withStorage()
beforeEach(() => run(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`DELETE FROM unknown_outcomes`)))

const organization = Effect.flatMap(Accounts, (accounts) => accounts.createOrganization("unknown", null))
const mail = { provider: "resend", capability: "email.send" }
const minuteSeconds = 60
const daySeconds = 86_400

interface Unknown {
  /** Seconds since the call. */
  readonly age?: number
  /** Seconds since the next look-up is due. Null for a provider without one. */
  readonly due?: number | null
  readonly looks?: number
  readonly provider?: string
}

/** A failed run of the organization whose last call has an unknown outcome. */
const unknown = Effect.fnUntraced(function* (
  org_id: string,
  { age = 60, due = 1, looks = 0, provider = "resend" }: Unknown = {},
  changed: Partial<StoredRun> = {}
) {
  const sql = yield* SqlClient.SqlClient
  const run_id = yield* storeRun(org_id, { ...mail, provider, status: "failed", result: null, ...changed })
  yield* sql`
    INSERT INTO unknown_outcomes (run_id, org_id, provider, why, at, look_after, looks)
    VALUES (${run_id}, ${org_id}, ${provider}, 'no_answer', now() - make_interval(secs => ${age}),
            now() - make_interval(secs => ${due}::float8), ${looks})`
  return run_id
})
const hintsOf = Effect.fnUntraced(function* (run_id: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ hints: string | null }>`SELECT hints::text AS hints FROM runs WHERE run_id = ${run_id}`
  return JSON.parse(row?.hints ?? "null")
})

describe("a look-up", () => {
  const claimed = Effect.flatMap(UnknownOutcomes, (store) => store.claim([mail]))

  test("takes the run that is due longest, with what the provider has to be asked", () =>
    run(
      Effect.gen(function* () {
        const store = yield* UnknownOutcomes
        const [first, second] = [yield* organization, yield* organization]
        const attempt = { provider: "resend", outcome: "timeout", duration_ms: 1, detail: null }
        const own = { ...attempt, account: "own" }
        for (const org_id of [first, second]) yield* storeRun(org_id, { ...mail, attempts: JSON.stringify([own]) })
        // The last call counts.
        const later = yield* unknown(first, { due: 30 }, { attempts: JSON.stringify([own, attempt]) })
        const run_id = yield* unknown(
          second,
          { due: 90, age: 120 },
          { input: '{"to":"ada@example.com"}', attempts: JSON.stringify([attempt, own]) }
        )
        for (const org_id of [first, second]) yield* storeRun(org_id, { ...mail, attempts: JSON.stringify([own]) })
        const due = yield* store.claim([{ provider: "postmark", capability: "email.send" }, mail])
        expect(due).toMatchObject({ run_id, org_id: second, own: true, ...mail, input: '{"to":"ada@example.com"}' })
        expect(due?.age_seconds).toBeGreaterThanOrEqual(120)
        expect(due?.age_seconds).toBeLessThan(120 + 60)
        expect(yield* claimed).toMatchObject({ run_id: later, org_id: first, own: false })
        expect(yield* claimed).toBeNull()
      })
    ))

  test.each([
    ["another provider's run", { provider: "postmark" }, {}],
    ["another capability's run", {}, { capability: "email.verify" }],
    ["an erased run", {}, { erased_at: new Date(), input: "null" }],
    ["a run that is not due yet", { due: -60 }, {}],
    ["a run whose provider has no look-up", { due: null }, {}],
    ["a run that is older than seven days", { age: 7 * daySeconds + 60 }, {}]
  ] as const)("takes no %s", (_name, outcome, changed) =>
    run(
      Effect.gen(function* () {
        yield* unknown(yield* organization, outcome, changed)
        expect(yield* claimed).toBeNull()
      })
    )
  )

  test("takes runs of up to seven days, and none with a finding", () =>
    run(
      Effect.gen(function* () {
        const [store, org_id] = [yield* UnknownOutcomes, yield* organization]
        const found = yield* unknown(org_id)
        const old = yield* unknown(org_id, { age: 7 * daySeconds - 60 })
        yield* store.resolve(found, "delivered", "seen")
        expect(yield* claimed).toMatchObject({ run_id: old })
        expect(yield* claimed).toBeNull()
      })
    ))

  test.each([
    [0, 1],
    [1, 5],
    [2, 15],
    [3, 60],
    [4, 360],
    [5, 360],
    [40, 360]
  ])("after %p others, the next one is due %p minutes later", (looks, minutes) =>
    run(
      Effect.gen(function* () {
        const [sql, org_id] = [yield* SqlClient.SqlClient, yield* organization]
        const run_id = yield* unknown(org_id, { looks })
        const other = yield* unknown(org_id, { due: -daySeconds, looks })
        const waitsOf = (id: string) =>
          Effect.map(
            sql`SELECT extract(epoch FROM look_after - now())::int AS wait, looks FROM unknown_outcomes WHERE run_id = ${id}`,
            ([row]) => row
          )
        // In one transaction the database's time stands still.
        const after = yield* sql.withTransaction(Effect.andThen(claimed, waitsOf(run_id)))
        expect(after).toEqual({ wait: minutes * minuteSeconds, looks: looks + 1 })
        expect(yield* waitsOf(other)).toMatchObject({ looks })
      })
    )
  )

  test("that failed is reported once for each run", () =>
    run(
      Effect.gen(function* () {
        const [store, org_id] = [yield* UnknownOutcomes, yield* organization]
        const [first, second] = [yield* unknown(org_id), yield* unknown(org_id)]
        const answers = []
        for (const run_id of [first, first, second, newId("run")]) answers.push(yield* store.lookFailed(run_id))
        expect(answers).toEqual([true, false, true, false])
      })
    ))
})

describe("a finding", () => {
  const today = new Date().toISOString().slice(0, 10)

  test("is recorded once, and is the first of the run's hints", () =>
    run(
      Effect.gen(function* () {
        const [store, sql, org_id] = [yield* UnknownOutcomes, yield* SqlClient.SqlClient, yield* organization]
        const [run_id, other] = [yield* unknown(org_id), yield* unknown(org_id)]
        yield* sql`UPDATE runs SET hints = '["an earlier hint"]' WHERE run_id = ${run_id}`
        expect(yield* store.resolve(run_id, "delivered", "seen in the log", "resend says")).toBe(true)
        expect(yield* store.resolve(run_id, "not_delivered", "a second one")).toBe(false)
        expect(yield* store.find(run_id)).toMatchObject({
          finding: "delivered",
          note: "seen in the log",
          next_look: null
        })
        const [first, second, ...more] = yield* hintsOf(run_id)
        expect([second, more]).toEqual(["an earlier hint", []])
        expect(first).toMatch(/^resend says on \d{4}-\d\d-\d\d: it was carried out\. Do not run it again\.$/)
        expect([yield* hintsOf(other), (yield* store.find(other))?.finding]).toEqual([null, null])
        expect(yield* store.resolve(newId("run"), "delivered", "no such run")).toBe(false)
      })
    ))

  test("names the operator if nobody else found it, and the day", () =>
    run(
      Effect.gen(function* () {
        const [store, org_id] = [yield* UnknownOutcomes, yield* organization]
        const run_id = yield* unknown(org_id)
        yield* store.resolve(run_id, "not_delivered", "asked")
        const [hint] = yield* hintsOf(run_id)
        expect(hint).toMatch(
          /^The operator of this service found out on .* it was not carried out\. It can be run again\.$/
        )
        // The test may begin a moment before midnight.
        expect([today, new Date().toISOString().slice(0, 10)]).toContain(/\d{4}-\d\d-\d\d/.exec(hint)?.[0] ?? "no day")
      })
    ))

  test.each([
    ["delivered", 2],
    ["not_delivered", 1]
  ] as const)("of %s leaves %p of the organization's contacts", (finding, left) =>
    run(
      Effect.gen(function* () {
        const [store, sql] = [yield* UnknownOutcomes, yield* SqlClient.SqlClient]
        const [org_id, other] = [yield* organization, yield* organization]
        const [run_id, another] = [yield* unknown(org_id), yield* unknown(org_id)]
        for (const [org, id] of [
          [org_id, run_id],
          [org_id, another],
          [other, run_id]
        ])
          yield* sql`
            INSERT INTO contact_claims (org_id, identity, run_id) VALUES (${org}, contact_identity(${org}, 'e:ada@example.com'), ${id})`
        yield* store.resolve(run_id, finding, "seen")
        const rows = yield* sql<{ org_id: string; run_id: string }>`SELECT org_id, run_id FROM contact_claims`
        const ours = rows.filter((row) => row.org_id === org_id)
        expect(ours).toHaveLength(left)
        expect(ours.map((row) => row.run_id)).toContain(another)
        expect(rows.filter((row) => row.org_id === other)).toHaveLength(1)
      })
    )
  )

  test("is given for the runs that have one", () =>
    run(
      Effect.gen(function* () {
        const [store, org_id] = [yield* UnknownOutcomes, yield* organization]
        const ids = [yield* unknown(org_id), yield* unknown(org_id), yield* unknown(org_id), yield* unknown(org_id)]
        const [first = "", second = "", open = "", unasked = ""] = ids
        for (const run_id of [first, unasked]) yield* store.resolve(run_id, "delivered", "seen")
        yield* store.resolve(second, "not_delivered", "seen")
        expect(yield* store.findings([first, second, open])).toEqual(
          new Map([
            [first, "delivered"],
            [second, "not_delivered"]
          ])
        )
        expect(yield* store.findings([])).toEqual(new Map())
      })
    ))
})

describe("the list of unknown outcomes", () => {
  const ids = Effect.fnUntraced(function* (
    filter: { org_id?: string; resolved?: boolean; before?: string },
    limit = 10
  ) {
    const { org_id = null, resolved = false, before } = filter
    const asked = { org_id, resolved, ...(before === undefined ? {} : { before }) }
    return (yield* (yield* UnknownOutcomes).list(asked, limit)).map(({ run_id }) => run_id)
  })

  test("has those without a finding, the newest first, of one organization or of all, in pages", () =>
    run(
      Effect.gen(function* () {
        const store = yield* UnknownOutcomes
        const [org_id, other] = [yield* organization, yield* organization]
        const made: Array<string> = []
        for (const age of [500, 400, 300]) made.push(yield* unknown(org_id, { age }))
        const [old = "", middle = "", young = ""] = made
        const theirs = yield* unknown(other, { age: 350 })
        yield* store.resolve(middle, "delivered", "seen")
        expect(yield* ids({})).toEqual([young, theirs, old])
        expect(yield* ids({ resolved: true })).toEqual([young, theirs, middle, old])
        expect(yield* ids({ org_id })).toEqual([young, old])
        expect(yield* ids({ org_id, resolved: true }, 2)).toEqual([young, middle])
        expect(yield* ids({ org_id, resolved: true, before: middle })).toEqual([old])
        expect(yield* ids({ before: theirs })).toEqual([old])
        expect(yield* ids({ before: old })).toEqual([])
      })
    ))

  test("shows a run's target, its provider's job and the time of its next look-up", () =>
    run(
      Effect.gen(function* () {
        const [store, sql, org_id] = [yield* UnknownOutcomes, yield* SqlClient.SqlClient, yield* organization]
        const run_id = yield* unknown(org_id)
        yield* sql`UPDATE unknown_outcomes SET provider_state = '{"ticket":1}' WHERE run_id = ${run_id}`
        const row = yield* store.find(run_id)
        expect(row).toMatchObject({
          ...{ run_id, org_id, ...mail, endpoint: null, why: "no_answer", provider_state: '{"ticket":1}' },
          ...{ finding: null, note: null, found_at: null }
        })
        expect(row?.next_look).toBeInstanceOf(Date)
        expect(yield* store.list({ org_id, resolved: false }, 1)).toMatchObject([row ?? {}])
        expect(yield* store.find(newId("run"))).toBeNull()
      })
    ))

  test.each([
    ["an erased run", {}, { erased_at: new Date() }],
    ["a run older than seven days", { age: 7 * daySeconds + 60 }, {}],
    ["a run whose provider has no look-up", { due: null }, {}]
  ] as const)("has no next look-up of %s", (_name, outcome, changed) =>
    run(
      Effect.gen(function* () {
        const run_id = yield* unknown(yield* organization, outcome, changed)
        expect(yield* (yield* UnknownOutcomes).find(run_id)).toMatchObject({ run_id, next_look: null })
      })
    )
  )
})
