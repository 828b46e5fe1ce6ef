/** The tries of an input, as a turn reads and writes them: whose they are, which ones count, and what undoes a turn that was wrong. */
import { describe, expect, test } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/layers/accounts/Accounts.ts"
import {
  askingRuns,
  noRepeatEffects,
  type Repeated,
  type RepeatEffects,
  repeatKey,
  repeatsOf,
  type RepeatView,
  triesAreSeen,
  triesColumn,
  writeRepeats
} from "../../../src/layers/guards/RepeatTurn.ts"
import { newId } from "../../../src/layers/platform/Ids.ts"
import { texts } from "../../../src/layers/postgres/Rows.ts"
import { withStorage } from "../../kit/storage.ts"
import { storeRun } from "../../kit/stored-runs.ts"

const run = withStorage()
const organization = Effect.flatMap(Accounts, (accounts) => accounts.createOrganization("repeats", null))
const input = (org_id: string, key_id: string | null = "key_1", input_hash: string | null = "hash"): Repeated => ({
  ...{ org_id, key_id, input_hash }
})
const tried = (one: Repeated, run_id = newId("run")) => ({ ...one, run_id })
type Tried = ReturnType<typeof tried>

const write = (effects: Partial<RepeatEffects>) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`WITH one AS (SELECT 1)${writeRepeats(sql, { ...noRepeatEffects, ...effects })} SELECT 1 AS done`
  )
const age = Effect.fnUntraced(function* ({ org_id, run_id }: Tried, seconds: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    UPDATE repeat_tries SET tried_at = now() - make_interval(secs => ${seconds}) WHERE org_id = ${org_id} AND run_id = ${run_id}`
})
const stored = Effect.fnUntraced(function* (org_id: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ run_id: string }>`SELECT run_id FROM repeat_tries WHERE org_id = ${org_id}`
  return rows.map(({ run_id }) => run_id).toSorted()
})
const idsOf = (...some: ReadonlyArray<Tried>) => some.map(({ run_id }) => run_id).toSorted()

/** What a turn reads for commands with their runs, and for direct ones. */
const read = Effect.fnUntraced(function* (
  commands: ReadonlyArray<{ readonly org_id: string; readonly run_id?: string; readonly tag: string }>,
  direct: ReadonlyArray<Repeated> = [],
  limit = 5
) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ org_id: string; tries: ReadonlyArray<string> | null }>`
    SELECT m.org_id, ${triesColumn(sql, limit, direct)}
    FROM unnest(${texts(commands.map((one) => one.org_id))}, ${texts(commands.map((one) => one.run_id ?? null))},
                ${texts(commands.map((one) => one.tag))}) AS m(org_id, run_id, tag)
    LEFT JOIN runs r ON r.org_id = m.org_id AND r.run_id = m.run_id`
  return { rows, view: repeatsOf(rows) }
})
const readIds = (view: RepeatView, one: Repeated) =>
  (view.get(repeatKey(one)) ?? []).map(({ run_id }) => run_id).toSorted()

/** A stored run that asks to be admitted. */
const asking = Effect.fnUntraced(function* ({ org_id, key_id, input_hash }: Repeated) {
  return { org_id, run_id: yield* storeRun(org_id, { key_id, input_hash, status: "created" }), tag: "Reserve" }
})

describe("an input", () => {
  test("is one for each organization, API key and digest; all sessions of an organization are one caller", () => {
    const all = [
      input("org_1"),
      input("org_2"),
      input("org_1", "key_2"),
      input("org_1", null),
      input("org_1", "key_1", "other")
    ]
    expect(new Set(all.map(repeatKey)).size).toBe(all.length)
    expect(repeatKey(input("org_1", null))).toBe(repeatKey({ ...input("org_1", null) }))
  })

  test("is looked at for the runs that ask to be admitted", () => {
    const runs = new Map([
      ["run_1", input("org_1")],
      ["run_2", input("org_2")]
    ])
    const commands = [
      { tag: "Reserve", run_id: "run_1" },
      { tag: "Settle", run_id: "run_2" },
      { tag: "Reserve", run_id: "run_3" },
      { tag: "Reserve", run_id: null }
    ]
    expect(askingRuns(commands, runs)).toEqual([input("org_1")])
  })
})

describe("the tries that a turn reads", () => {
  /** Tries of many inputs, of which `mine` are two. */
  const fixture = Effect.gen(function* () {
    const [org_id, other] = [yield* organization, yield* organization]
    const mine = [tried(input(org_id)), tried(input(org_id))] as const
    const session = tried(input(org_id, null))
    const others = [tried(input(org_id, "key_2")), tried(input(org_id, "key_1", "other")), tried(input(other)), session]
    const old = tried(input(org_id))
    yield* write({ tried: [...mine, ...others, old] })
    yield* age(mine[0], 590)
    yield* age(old, 601)
    return { org_id, other, mine, session }
  })

  test("are those of the last ten minutes of the same input, for a stored run", () =>
    run(
      Effect.gen(function* () {
        const { org_id, other, mine, session } = yield* fixture
        const { view } = yield* read([yield* asking(input(org_id))])
        expect([...view.keys()]).toEqual([repeatKey(input(org_id))])
        expect(readIds(view, input(org_id))).toEqual(idsOf(...mine))
        const both = (yield* read([yield* asking(input(org_id, null)), yield* asking(input(other, "key_9"))])).view
        expect([...both.keys()]).toEqual([repeatKey(input(org_id, null))])
        expect(readIds(both, input(org_id, null))).toEqual(idsOf(session))
      })
    ))

  test("are the same for a direct run, once however many runs have the input", () =>
    run(
      Effect.gen(function* () {
        const { org_id, mine, session } = yield* fixture
        const direct = [input(org_id), input(org_id), input(org_id, null), input(org_id, "key_9")]
        const { view } = yield* read([{ org_id, tag: "Direct" }], direct)
        expect(readIds(view, input(org_id))).toEqual(idsOf(...mine))
        expect(readIds(view, input(org_id, null))).toEqual(idsOf(session))
        expect(view.size).toBe(2)
        // The row of another organization's wallet has none of them.
        const both = yield* read(
          [
            { org_id, tag: "Direct" },
            { org_id: yield* organization, tag: "Direct" }
          ],
          direct
        )
        expect(both.rows.map(({ tries }) => tries?.length)).toEqual([3, 0])
      })
    ))

  test("have the time of each", () =>
    run(
      Effect.gen(function* () {
        const [sql, { org_id, mine }] = [yield* SqlClient.SqlClient, yield* fixture]
        const { view } = yield* read([yield* asking(input(org_id))])
        const times = yield* sql<{ run_id: string; at: bigint }>`
          SELECT run_id, (extract(epoch FROM tried_at) * 1000000)::bigint AS at FROM repeat_tries
          WHERE run_id = ANY(${texts(idsOf(...mine))}) ORDER BY run_id`
        const found = view.get(repeatKey(input(org_id))) ?? []
        expect(found.toSorted((a, b) => (a.run_id < b.run_id ? -1 : 1))).toEqual(times.map((row) => ({ ...row })))
      })
    ))

  test("are none for other commands, for a run of an old release without a digest, and without a guard", () =>
    run(
      Effect.gen(function* () {
        const { org_id } = yield* fixture
        const asks = yield* asking(input(org_id))
        const nothing = [
          yield* read([
            { ...asks, tag: "Settle" },
            { ...asks, tag: "Cancel" },
            { org_id, tag: "Credit" }
          ]),
          yield* read([yield* asking(input(org_id, "key_1", null))]),
          yield* read([asks, { org_id, tag: "Direct" }], [input(org_id)], 0)
        ]
        for (const { rows, view } of nothing) {
          expect(rows.map(({ tries }) => tries)).toEqual(rows.map(() => null))
          expect(view.size).toBe(0)
        }
      })
    ))

  test("are joined from the rows of several commands, each once", () => {
    const rows = [
      { org_id: "org_1", tries: ["key_1 hash run_1 5", "key_1 hash run_2 7"] },
      { org_id: "org_1", tries: null },
      { org_id: "org_1", tries: ["key_1 hash run_2 7", "key_1 hash run_3 9", "session hash run_4 1"] },
      { org_id: "org_2", tries: ["key_1 hash run_5 2"] }
    ]
    const tryOf = (run_id: string, at: bigint) => ({ run_id, at })
    expect(repeatsOf(rows)).toEqual(
      new Map([
        [repeatKey(input("org_1")), [tryOf("run_1", 5n), tryOf("run_2", 7n), tryOf("run_3", 9n)]],
        [repeatKey(input("org_1", null)), [tryOf("run_4", 1n)]],
        [repeatKey(input("org_2")), [tryOf("run_5", 2n)]]
      ])
    )
    expect(repeatsOf([{ org_id: "org_1", tries: null }]).size).toBe(0)
  })
})

describe("what a turn writes", () => {
  test("adds tries, and a run that tries again is a new try", () =>
    run(
      Effect.gen(function* () {
        const org_id = yield* organization
        const [one, two] = [tried(input(org_id)), tried(input(org_id, null))]
        yield* write({ tried: [one, two] })
        expect(yield* stored(org_id)).toEqual(idsOf(one, two))
        yield* age(one, 700)
        yield* write({ tried: [one] })
        const { view } = yield* read([yield* asking(one)])
        expect(readIds(view, one)).toEqual(idsOf(one))
        yield* write({})
        expect(yield* stored(org_id)).toEqual(idsOf(one, two))
      })
    ))

  test("clears all tries of an input of which a run has succeeded, apart from new ones, and of no other input", () =>
    run(
      Effect.gen(function* () {
        const [org_id, other] = [yield* organization, yield* organization]
        const [first, second, again] = [tried(input(org_id)), tried(input(org_id)), tried(input(org_id))]
        const kept = [
          tried(input(org_id, "key_2")),
          tried(input(org_id, null)),
          tried(input(org_id, "key_1", "other"))
        ] as const
        const theirs = tried(input(other))
        yield* write({ tried: [first, second, again, ...kept, theirs] })
        const young = tried(input(org_id))
        yield* write({ cleared: [input(org_id)], tried: [again, young] })
        expect(yield* stored(org_id)).toEqual(idsOf(again, young, ...kept))
        yield* write({ cleared: [input(org_id), input(org_id, null)] })
        expect(yield* stored(org_id)).toEqual(idsOf(kept[0], kept[2]))
        expect(yield* stored(other)).toEqual(idsOf(theirs))
      })
    ))

  test("removes the try of a run that was admitted and never started, and no other one", () =>
    run(
      Effect.gen(function* () {
        const [org_id, other] = [yield* organization, yield* organization]
        const [gone, kept] = [tried(input(org_id)), tried(input(org_id))]
        const same = [
          { ...gone, key_id: null },
          { ...gone, input_hash: "other" },
          { ...gone, org_id: other }
        ]
        yield* write({ tried: [gone, kept, ...same] })
        yield* write({ removed: [gone] })
        expect(yield* stored(org_id)).toEqual(idsOf(kept, gone, gone))
        const { view } = yield* read([yield* asking(input(org_id))])
        expect(readIds(view, input(org_id))).toEqual(idsOf(kept))
        expect(yield* stored(other)).toEqual(idsOf(gone))
      })
    ))
})

describe("a turn", () => {
  const micros = Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      sql<{ now: bigint }>`SELECT (extract(epoch FROM now()) * 1000000)::bigint AS now`,
      ([row]) => row?.now ?? 0n
    )
  )
  const viewOf = (...some: ReadonlyArray<Tried>): RepeatView => {
    const view = new Map<string, Array<{ run_id: string; at: bigint }>>()
    for (const one of some)
      view.set(repeatKey(one), [...(view.get(repeatKey(one)) ?? []), { run_id: one.run_id, at: 0n }])
    return view
  }
  /** Whether the statement of a turn may commit that has seen these tries. */
  const commits = Effect.fnUntraced(function* (asked: ReadonlyArray<Repeated>, seen: RepeatView, now?: bigint) {
    const sql = yield* SqlClient.SqlClient
    const condition = triesAreSeen(sql, asked, seen, now ?? (yield* micros))
    return (yield* sql`SELECT 1 AS one WHERE true ${condition}`).length === 1
  })

  test("commits if it has seen every try of its inputs, and is undone if there is one more or less", () =>
    run(
      Effect.gen(function* () {
        const [org_id, other] = [yield* organization, yield* organization]
        const [one, two, theirs] = [tried(input(org_id)), tried(input(org_id)), tried(input(other))]
        yield* write({ tried: [one, two, theirs, tried(input(org_id, null)), tried(input(org_id, "key_1", "other"))] })
        expect(yield* commits([input(org_id)], viewOf(one, two))).toBe(true)
        expect(yield* commits([input(org_id)], viewOf(one))).toBe(false)
        expect(yield* commits([input(org_id)], viewOf(one, two, tried(input(org_id))))).toBe(false)
        // A turn that has read nothing assumes that nothing has failed.
        expect(yield* commits([input(org_id)], new Map())).toBe(false)
        expect(yield* commits([input(yield* organization)], new Map())).toBe(true)
        // Several runs with one input, and several inputs.
        expect(yield* commits([input(org_id), input(org_id), input(other)], viewOf(one, two, theirs))).toBe(true)
        expect(yield* commits([input(org_id), input(other)], viewOf(one, two))).toBe(false)
        // What it has read of inputs that it does not admit does not count.
        expect(yield* commits([input(org_id)], viewOf(one, two, theirs))).toBe(true)
      })
    ))

  test("counts the tries of the ten minutes before it began", () =>
    run(
      Effect.gen(function* () {
        const org_id = yield* organization
        const [old, young] = [tried(input(org_id)), tried(input(org_id))]
        yield* write({ tried: [old, young] })
        yield* age(old, 570)
        expect(yield* commits([input(org_id)], viewOf(old, young))).toBe(true)
        const later = (yield* micros) + 60_000_000n
        expect(yield* commits([input(org_id)], viewOf(young), later)).toBe(true)
        expect(yield* commits([input(org_id)], viewOf(old, young), later)).toBe(false)
      })
    ))

  test("looks at nothing for runs without a digest", () =>
    run(
      Effect.gen(function* () {
        const org_id = yield* organization
        const one = tried(input(org_id))
        yield* write({ tried: [one] })
        expect(yield* commits([], new Map())).toBe(true)
        expect(yield* commits([input(org_id, "key_1", null)], new Map())).toBe(true)
        expect(yield* commits([input(org_id, "key_1", null), input(org_id)], viewOf(one))).toBe(true)
        expect(yield* commits([input(org_id, "key_1", null), input(org_id)], new Map())).toBe(false)
      })
    ))
})
