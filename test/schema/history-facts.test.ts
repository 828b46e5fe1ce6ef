/**
 * What history says of runs, from segments and from runs that no segment holds yet: the same as a plain look at all of them, wherever each is. Segments
 * overlap in time, as they do when runs took long; which of their runs are read is decided without reading them, and must never leave one out.
 */
import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import {
  type Candidate,
  cutsOf,
  summaryOf,
  type Group,
  type SegmentMatches,
  sifted,
  traitsOf,
  type Want,
  type Match
} from "../../src/layers/history/index/SubjectSummary.ts"
import { isLookup, isTouch, isUnknownTouch, type NoLookups } from "../../src/layers/history/index/Lookups.ts"
import {
  classesOf,
  classRuns,
  type RunKind,
  kindsOf,
  kindsPage,
  pagesOf,
  type Run,
  runsOf
} from "../../src/schema/segments/Docs.ts"
import { flagsIn, named, postingOf, recipient, runIn } from "../../src/schema/segments/Segment.ts"

/** A run of the organization: where it is (below 0 in no segment yet), and the flags of where the subject stands in it (0: nowhere). */
interface Placed {
  readonly run: Run
  readonly segment: number
  readonly flags: number
}

const not: NoLookups = { capabilities: ["email.send", "network.invite", "network.message"], providers: ["mailer"] }

const kind: fc.Arbitrary<RunKind> = fc.record({
  status: fc.constantFrom("succeeded", "succeeded", "failed", "running", "outcome_unknown"),
  capability: fc.constantFrom("email.find", "email.send", "network.invite", null),
  endpoint: fc.constantFrom(null, "/a", "/b"),
  provider: fc.constantFrom("acme", "mailer", null)
})
const charged = fc.constantFrom(0n, 1n, 10_000n, 999_999_999_999n)
const run_id = (n: number) => `run_${String(n).padStart(6, "0")}`

/** Segments follow each other, but for what `stray` says; some runs are young. */
const placed = fc
  .record({
    size: fc.constantFrom(1, 3, 8, 40),
    runs: fc.array(
      fc.record({
        kind,
        charged,
        flags: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 7 })),
        stray: fc.oneof(
          { weight: 6, arbitrary: fc.constant(0) },
          { weight: 1, arbitrary: fc.integer({ min: -9, max: 9 }) }
        ),
        young: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.boolean() })
      }),
      { maxLength: 120 }
    )
  })
  .map(({ size, runs }) =>
    runs.map(({ kind, charged, flags, stray, young }, n): Placed => {
      const segment = young ? -1 : Math.max(0, Math.floor(n / size) + stray)
      return { run: { run_id: run_id(n), created_at: n * 1_000, kind, charged }, segment, flags }
    })
  )
const want: fc.Arbitrary<Want> = fc.record({
  newest: fc.constantFrom(1, 2, 5, 26, 1_000),
  reusable: fc.constantFrom(1, 3, 50),
  groups: fc.boolean()
})

/** As the index holds them and the finder reads them: of each segment its pages, and the postings that a term has there. */
const indexed = (all: ReadonlyArray<Placed>) => {
  const runs = new Map<bigint, ReadonlyArray<Run>>()
  const held: Array<SegmentMatches> = []
  for (const [segment, of] of Map.groupBy(all, (one) => one.segment)) {
    if (segment < 0) continue
    const pages = pagesOf(of.map(({ run }) => run))
    const kinds = kindsOf(pages.classes[kindsPage] ?? new Uint8Array())
    const list = of.flatMap(({ flags }, n) => (flags === 0 ? [] : [postingOf(n, flags)]))
    const row = {
      ...{
        segment: BigInt(segment),
        family: "subjects",
        rules: 1,
        runs: of.length,
        blocks: 1,
        format: 2,
        checksum: null
      },
      ...{ first_run: of[0]?.run.run_id ?? "", last_run: of.at(-1)?.run.run_id ?? "" }
    }
    runs.set(row.segment, runsOf(pages))
    // Those without it are not among what is sifted.
    if (list.length === 0) continue
    const stretches = cutsOf(list).map(({ number, from, to }) => ({
      ...{ page: traitsOf(not)(row.segment, classesOf(pages.classes[number] ?? new Uint8Array(), kinds)), from, to }
    }))
    held.push({ row, list, stretches })
  }
  const young = all.flatMap(
    ({ run, segment, flags }): ReadonlyArray<Match> => (segment < 0 && flags !== 0 ? [{ run, flags }] : [])
  )
  const known = ({ row, number, of }: Candidate): Run => {
    const run = runs.get(row.segment)?.[number]
    if (run === undefined) throw new Error(`no run ${number} in segment ${row.segment}`)
    // Its page knows the same of it.
    expect({ ...of }).toEqual({ kind: run.kind, charged: run.charged })
    return { ...run, ...of }
  }
  return { held, young, known }
}

const groupName = ({ status, capability, endpoint }: Group) => JSON.stringify([status, capability, endpoint])
const inOrder = (groups: ReadonlyArray<Group>) => groups.toSorted((a, b) => (groupName(a) < groupName(b) ? -1 : 1))

/** By a plain look at all runs. */
const plainly = (all: ReadonlyArray<Placed>, { newest, reusable, groups: wanted }: Want) => {
  const matching = all.filter((one) => one.flags !== 0).toReversed()
  const runs = matching.map(({ run }) => run)
  const touches = matching.filter(({ run }) => isTouch(run.kind))
  const lookups = matching.filter(({ run, flags }) => (flags & named) !== 0 && isLookup(run, not))
  const groups = new Map<string, Group>()
  for (const { kind, charged } of runs) {
    const { status, capability, endpoint } = kind
    const name = JSON.stringify([status, capability, endpoint])
    const before = groups.get(name) ?? { status, capability, endpoint, count: 0, charged: 0n }
    groups.set(name, { ...before, count: before.count + 1, charged: before.charged + charged })
  }
  return {
    count: runs.length,
    groups: wanted ? inOrder([...groups.values()]) : [],
    newest: matching.slice(0, newest).map(({ run, flags }) => ({ run, flags })),
    oldest: wanted ? (runs.at(-1) ?? null) : null,
    touch: touches[0]?.run ?? null,
    contact: touches.find(({ flags }) => (flags & recipient) !== 0)?.run ?? null,
    unknown: matching.find(({ run, flags }) => isUnknownTouch(run.kind) && (flags & recipient) !== 0)?.run ?? null,
    reusable: lookups.slice(0, reusable).map(({ run }) => run)
  }
}

const told = (all: ReadonlyArray<Placed>, want: Want) => {
  const { held, young, known } = indexed(all)
  const facts = summaryOf(held, young, { from: sifted(held, want), runOf: known, want, not })
  return { ...facts, groups: inOrder(facts.groups) }
}

const plain: RunKind = { status: "succeeded", capability: "email.find", endpoint: null, provider: "acme" }
const at = (n: number, segment: number, more: Partial<Placed> = {}): Placed => ({
  ...{ run: { run_id: run_id(n), created_at: n, kind: plain, charged: 10n }, segment, flags: named, ...more }
})

describe("what history says of runs", () => {
  test("is what a plain look at all of them says, whichever segments hold them", () => {
    fc.assert(
      fc.property(placed, want, (all, asked) => {
        expect(told(all, asked)).toEqual(plainly(all, asked))
      }),
      { numRuns: 1_500 }
    )
  })

  test("a segment that began long ago may end with the newest, and one that is old may begin with the oldest", () => {
    // A run waited for a day: its segment is around one or two others, which have nothing to do with each other.
    const around = [at(0, 2), at(1, 0), at(2, 0), at(3, 1), at(4, 1), at(5, 1), at(7, 2)]
    const across = [...around.toSpliced(6, 0, at(6, 0)), at(8, -1, { flags: 4 })]
    for (const all of [around, across]) {
      for (const newest of [1, 2, 3, 4, 9]) {
        const asked = { newest, reusable: 2, groups: true }
        expect(told(all, asked)).toEqual(plainly(all, asked))
      }
    }
  })

  test("nothing is nothing", () => {
    const none = {
      count: 0,
      groups: [],
      newest: [],
      oldest: null,
      touch: null,
      contact: null,
      unknown: null,
      reusable: []
    }
    expect(told([], { newest: 5, reusable: 5, groups: true })).toEqual(none)
    expect(told([at(1, 0, { flags: 0 })], { newest: 5, reusable: 5, groups: true })).toEqual(none)
  })

  test("thousands of runs in a segment, over several of its pages, are counted and added up once each", () => {
    const kinds = fc.sample(kind, { numRuns: 30, seed: 7 })
    const all = Array.from({ length: 3 * classRuns + 100 }, (_, n): Placed => {
      const run: Run = { run_id: run_id(n), created_at: n, kind: kinds[n % 30] ?? plain, charged: BigInt(n % 11) }
      return { run, segment: n % 50 === 0 ? 1 : 0, flags: n % 5 === 0 ? 0 : 1 + (n % 7) }
    })
    const everywhere = all.map((one) => ({ ...one, flags: named }))
    // And where a term's first run is far behind.
    const late = all.map((one, n) => (n < 2 * classRuns + 3 ? { ...one, flags: 0 } : one))
    const asked = { newest: 200, reusable: 50, groups: true }
    // Touches and lookups are in pages of their own, the newest of neither kind.
    const send: RunKind = { ...plain, capability: "email.send" }
    const parted = all.map((one, n): Placed => {
      const kind = n < classRuns - 99 ? send : n < 2 * classRuns ? plain : { ...plain, status: "failed" }
      return { ...one, run: { ...one.run, kind, charged: 5n } }
    })
    for (const runs of [all, everywhere, late, parted]) expect(told(runs, asked)).toEqual(plainly(runs, asked))
  })
})

describe("which runs are read", () => {
  const disjoint = Array.from({ length: 40 }, (_, n) => at(n, Math.floor(n / 4)))
  const numbers = (all: ReadonlyArray<Candidate>) => all.map(({ row, number }) => [Number(row.segment), number])

  test("of segments that follow each other no more than are told", () => {
    const { held } = indexed(disjoint)
    const { newest, oldest, touch, reusable } = sifted(held, { newest: 6, reusable: 1, groups: true })
    // Of the second as many as may be wanted: it doesn't know how many the first has.
    expect(new Set(newest.map(({ row }) => row.segment))).toEqual(new Set([9n, 8n]))
    expect([numbers(oldest), numbers(reusable), touch]).toEqual([[[0, 0]], [[9, 3]], []])
    expect(sifted(held, { newest: 6, reusable: 1, groups: false }).oldest).toEqual([])
  })

  test("for a touch, a contact and a lookup only those that are one", () => {
    fc.assert(
      fc.property(placed, want, (all, asked) => {
        const { held } = indexed(all)
        const { touch, contact, reusable } = sifted(held, asked)
        const flagsOf = ({ row, number }: Candidate) => {
          const list = held.find((one) => one.row === row)?.list ?? []
          return flagsIn(list.find((posting) => runIn(posting) === number) ?? 0)
        }
        expect(touch.every(({ of }) => isTouch(of.kind))).toBe(true)
        expect(contact.every((one) => isTouch(one.of.kind) && (flagsOf(one) & recipient) !== 0)).toBe(true)
        expect(reusable.every((one) => isLookup(one.of, not) && (flagsOf(one) & named) !== 0)).toBe(true)
      }),
      { numRuns: 200 }
    )
  })
})
