/** Segments of the index, as pure functions: what is packed comes back, parts become what a plain look at all their runs gives, and joins end. */
import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { rules } from "../../src/layers/history/index/Drafts.ts"
import { joinable, runsMax } from "../../src/layers/history/index/HistoryIndex.ts"
import { families, type Family, partOf } from "../../src/layers/history/index/Segments.ts"
import type { SegmentRow } from "../../src/layers/history/index/SegmentRow.ts"
import { Reader, Writer } from "../../src/schema/segments/Bytes.ts"
import { segmentFormat } from "../../src/schema/segments/Checksum.ts"
import { DamagedBytes } from "../../src/schema/segments/damaged.ts"
import {
  classesOf,
  classPageOf,
  classRuns,
  docAt,
  docPageOf,
  docRuns,
  docsOf,
  kindsOf,
  kindsPage,
  type Pages,
  pagesOf,
  type Run,
  runsOf
} from "../../src/schema/segments/Docs.ts"
import { PostingsBuilder } from "../../src/schema/segments/PostingsBuilder.ts"
import { blocksOf } from "../../src/schema/segments/Merge.ts"
import {
  blocksFor,
  decoded,
  flagsIn,
  inAll,
  inAny,
  named,
  type Postings,
  postingOf,
  postingsIn,
  runIn,
  termSpace
} from "../../src/schema/segments/Segment.ts"

const dice = (seed: number) => () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}

/** Half surrogates as well: a provider's name for something is anything. */
const anyText = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("\ud83d", "\ude00x", '"', "\\", "\u0000", "[]"))
const orNull = fc.option(anyText, { nil: null })
const kind = fc.record({ status: anyText, capability: orNull, endpoint: orNull, provider: orNull })
const id = fc.stringMatching(/^run_[0-9a-z]{26}$/)
const time = fc.integer({ min: 0, max: 7_258_118_400_000 })
const charge = fc.bigInt({ min: 0n, max: 1_000_000_000_000n })
const few = fc.array(fc.record({ run_id: id, kind, charged: charge, created_at: time }), { maxLength: 80 })
/** Thousands of runs in little time: drawn from some kinds and charges. */
const many = fc
  .record({
    seed: fc.integer({ min: 1 }),
    count: fc.constantFrom(1_000, classRuns - 1, classRuns, classRuns + 1, 2 * classRuns + 7),
    kinds: fc.array(kind, { minLength: 1, maxLength: 60 }),
    charges: fc.array(charge, { minLength: 1, maxLength: 60 })
  })
  .map(({ seed, count, kinds, charges }) => {
    const roll = dice(seed)
    const pick = <A>(from: ReadonlyArray<A>): A => from[Math.floor(roll() * from.length)] as A
    return Array.from(
      { length: count },
      (_, n): Run => ({
        run_id: `run_${n}`,
        kind: pick(kinds),
        charged: pick(charges),
        created_at: Math.floor(roll() * 7e12)
      })
    )
  })

const expectRoundTrip = (runs: ReadonlyArray<Run>) => {
  const pages = pagesOf(runs)
  expect(runsOf(pages)).toEqual([...runs])
  expect([pages.classes.length, pages.docs.length]).toEqual([
    1 + Math.ceil(runs.length / classRuns),
    Math.ceil(runs.length / docRuns)
  ])
  return pages
}

describe("runs of a segment", () => {
  test("come back as they were put in, whatever their kinds are called", () => {
    fc.assert(
      fc.property(few, (runs) => {
        expectRoundTrip(runs)
      }),
      { numRuns: 150 }
    )
  })

  test("come back when they are thousands, one by one as well", () => {
    fc.assert(
      fc.property(many, (runs) => {
        const { classes, docs } = expectRoundTrip(runs)
        const kinds = kindsOf(classes[kindsPage] ?? new Uint8Array())
        for (const [n, { run_id, created_at, kind, charged }] of runs.entries()) {
          if (n % 97 > 1 && n !== runs.length - 1) continue
          const page = classesOf(classes[classPageOf(n)] ?? new Uint8Array(), kinds)
          expect(page.classes[page.of[n % classRuns] ?? -1]).toEqual({ kind, charged })
          expect(docAt(docs[docPageOf(n)] ?? new Uint8Array(), n % docRuns)).toEqual({ run_id, created_at })
        }
        for (const [n, page] of docs.entries()) {
          const all = docsOf(page)
          expect(all[0]?.run_id).toBe(runs[n * docRuns]?.run_id)
          expect([docAt(page, all.length - 1), docAt(page, all.length)]).toEqual([all.at(-1) ?? null, null])
        }
      }),
      { numRuns: 20 }
    )
  })

  test("come back when each is a class of its own", () => {
    const own = (n: number): Run => ({
      run_id: `run_${n}`,
      kind: { status: "succeeded", capability: null, endpoint: `/${n % 1_300}`, provider: `p${n % 7}` },
      charged: 10n ** 12n - BigInt(n),
      created_at: n
    })
    const runs = Array.from({ length: 2 * classRuns + 952 }, (_, n) => own(n))
    const { classes } = expectRoundTrip(runs)
    const kinds = kindsOf(classes[kindsPage] ?? new Uint8Array())
    const pages = classes.slice(1).map((page) => classesOf(page, kinds))
    const each = [classRuns, classRuns, 952]
    expect(pages.map((page) => [page.classes.length, page.of.length])).toEqual(each.map((count) => [count, count]))
  })

  test.each([1, 255, 256, 257, 1_023])("come back when a page has %p classes", (classes) => {
    const alike = { status: "succeeded", capability: "email.find", endpoint: null, provider: "acme" }
    const runs = Array.from({ length: 2 * classRuns }, (_, n): Run => {
      return { run_id: `run_${n}`, kind: alike, charged: BigInt(n % classes), created_at: n }
    })
    expectRoundTrip(runs)
  })

  test("take a byte each to be counted, when they are alike", () => {
    const alike = { status: "succeeded", capability: "email.find", endpoint: null, provider: "acme" }
    const runs = Array.from({ length: 4 * classRuns }, (_, n): Run => {
      return { run_id: `run_${n}`, kind: { ...alike }, charged: BigInt(n % 3), created_at: n }
    })
    const bytes = pagesOf(runs).classes.reduce((sum, page) => sum + page.length, 0)
    expect(bytes).toBeLessThan(1.05 * runs.length)
  })
})

describe("damaged pages of a segment are an error, and never another answer", () => {
  const runs = Array.from({ length: 40 }, (_, n): Run => {
    const kind = {
      status: "succeeded",
      capability: n % 2 === 0 ? "email.find" : null,
      endpoint: null,
      provider: "acme"
    }
    return { run_id: `run_${n}`, kind, charged: BigInt(n), created_at: n }
  })
  const { classes, docs } = pagesOf(runs)
  const [kinds = new Uint8Array(), page = new Uint8Array()] = classes
  const bytes = (text: string) => new TextEncoder().encode(text)
  const cases: ReadonlyArray<readonly [string, Pages]> = [
    ["no page of kinds", { classes: [], docs }],
    ["no page of classes", { classes: [kinds], docs }],
    ["a page of kinds that is cut off", { classes: [kinds.subarray(0, -1), page], docs }],
    ["kinds that are none", { classes: [bytes('{"status":"succeeded"}'), page], docs }],
    ["a kind without a status", { classes: [bytes('[[null,"email.find",null,"acme"]]'), page], docs }],
    ["fewer kinds than the page names", { classes: [bytes('[["succeeded",null,null,"acme"]]'), page], docs }],
    ["fewer classes than runs", { classes: [kinds, page.subarray(0, -1)], docs }],
    ["classes that are cut off", { classes: [kinds, page.subarray(0, 5)], docs }],
    ["a class that the page does not have", { classes: [kinds, Uint8Array.from([...page.subarray(0, -1), 40])], docs }],
    ["docs that end within a time", { classes, docs: docs.map((one) => one.subarray(0, -1)) }],
    ["docs that end within an id", { classes, docs: docs.map((one) => one.subarray(0, 3)) }]
  ]
  test.each(cases)("%s", (_, pages) => {
    expect(() => runsOf(pages)).toThrow(DamagedBytes)
    expect(() => runsOf(pages)).toThrow("Rebuild the index: rungate admin reindex-history")
  })

  test("a block that is cut off", () => {
    const builder = new PostingsBuilder()
    for (let run = 0; run < 9; run++) builder.add(0, 5, postingOf(run, named))
    const [block] = blocksOf([partOf(builder.postings(), 9)], 1)
    const cut = block?.bytes.subarray(0, -1) ?? new Uint8Array()
    const size = { blocks: 1, runs: 9 }
    expect(() => postingsIn(cut, { term: 5, block: 0, ...size })).toThrow(DamagedBytes)
    expect(() => postingsIn(cut, { term: 4, block: 0, ...size })).not.toThrow()
    expect(() => decoded([{ block: 0, bytes: cut }], size)).toThrow(DamagedBytes)
  })

  test("a term of a run that the segment does not have", () => {
    const builder = new PostingsBuilder()
    builder.add(0, 5, postingOf(9, named))
    expect(() => [...blocksOf([partOf(builder.postings(), 9)], 1)]).toThrow(DamagedBytes)
    const [block] = blocksOf([partOf(builder.postings(), 10)], 1)
    const bytes = block?.bytes ?? new Uint8Array()
    for (const runs of [9, 10]) {
      const size = { blocks: 1, runs }
      const reads = [
        () => postingsIn(bytes, { term: 5, block: 0, ...size })?.length,
        () => decoded([{ block: 0, bytes }], size).postings.length
      ]
      for (const read of reads)
        if (runs === 10) expect(read()).toBe(1)
        else expect(read).toThrow("a term names run 9 of 9")
    }
  })
})

test("numbers up to 2^53 and texts come back, however many", () => {
  const number = fc.oneof(
    fc.maxSafeNat(),
    fc.constantFrom(0, 127, 128, 2 ** 31 - 1, 2 ** 31, 2 ** 48, Number.MAX_SAFE_INTEGER)
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(number, fc.string({ maxLength: 20 })), { maxLength: 400 }), (all) => {
      const writer = new Writer()
      for (const [value, text] of all) {
        writer.put(value)
        writer.text(text)
      }
      const reader = new Reader(writer.take())
      expect(all.map(() => [reader.next(), reader.text()])).toEqual(all)
      expect([reader.done, writer.take().length]).toEqual([true, 0])
    })
  )
})

type Entry = readonly [term: number, run: number, flags: number]
const flags = fc.integer({ min: 1, max: 7 })
/** Terms at the edges of blocks, and few of them, so that runs share them. */
const term = fc.oneof(
  fc.constantFrom(0, 1, 7, 2 ** 42 - 1, 2 ** 42, 2 ** 47 - 1, 2 ** 47, 2 ** 47 + 5, termSpace - 1),
  fc.integer({ min: 0, max: termSpace - 1 })
)
const entries = fc.array(fc.tuple(term, fc.integer({ min: 0, max: 60 }), flags), { maxLength: 250 })

const gathered = (all: Iterable<Entry>): Postings => {
  const terms = new PostingsBuilder()
  for (const [term, run, where] of all) terms.add(Math.floor(term / 65_536), term % 65_536, postingOf(run, where))
  return terms.postings()
}
const byRun = (all: ReadonlyArray<Entry>) => all.toSorted(([, a], [, b]) => a - b)
/** Of each term the runs, and of each run the flags, by a plain look. */
const plainly = (all: ReadonlyArray<Entry>) => {
  const sums = new Map<number, Map<number, number>>()
  for (const [term, run, where] of all) {
    const runs = sums.get(term) ?? new Map<number, number>()
    sums.set(term, runs.set(run, (runs.get(run) ?? 0) | where))
  }
  const numbers = (a: readonly [number, unknown], b: readonly [number, unknown]) => a[0] - b[0]
  return [...sums].sort(numbers).map(([term, runs]) => [term, [...runs].sort(numbers)])
}
const listsOf = ({ terms, starts, postings }: Postings) =>
  Array.from(terms, (term, n) => [
    term,
    Array.from(postings.subarray(starts[n], starts[n + 1]), (posting) => [runIn(posting), flagsIn(posting)])
  ])

describe("terms of a segment", () => {
  test("runs that took long: parts whose numbers interleave become one list each, without those left out", () => {
    fc.assert(
      fc.property(
        entries,
        fc.array(fc.nat({ max: 4 }), { minLength: 61, maxLength: 61 }),
        fc.array(fc.boolean(), { minLength: 61, maxLength: 61 }),
        fc.constantFrom(1, 2, 64, 1_024),
        (all, partOf, out, blocks) => {
          const kept = [...out.keys()].filter((run) => out[run] === false)
          const numbers = new Map(kept.map((run, n) => [run, n]))
          const parts = [0, 1, 2, 3, 4].map((part) => {
            const runs = [...partOf.keys()].filter((run) => partOf[run] === part)
            const places = new Map(runs.map((run, n) => [run, n]))
            const own = byRun(all).flatMap(([term, run, where]): ReadonlyArray<Entry> => {
              const place = places.get(run)
              return place === undefined ? [] : [[term, place, where]]
            })
            return { from: gathered(own), runs: Int32Array.from(runs, (run) => numbers.get(run) ?? -1) }
          })
          const rows = [...blocksOf(parts, blocks)]
          const size = { blocks, runs: numbers.size }
          const left = all.flatMap(([term, run, where]): ReadonlyArray<Entry> => {
            const number = numbers.get(run)
            return number === undefined ? [] : [[term, number, where]]
          })
          const truth = plainly(left)
          expect(listsOf(decoded(rows, size))).toEqual(truth)
          // Empty ones as well: an absent row is damage.
          expect(rows.map((row) => row.block)).toEqual(Array.from({ length: blocks }, (_, n) => n))
          // One by one, those that are in no run as well.
          for (const term of new Set(all.map(([one]) => one))) {
            const block = Math.floor(term / (termSpace / blocks))
            const bytes = rows.find((row) => row.block === block)?.bytes
            const found = bytes === undefined ? null : postingsIn(bytes, { term, block, ...size })
            const told = found?.map((posting) => [runIn(posting), flagsIn(posting)]) ?? null
            expect([term, told]).toEqual([term, truth.find(([one]) => one === term)?.[1] ?? null])
          }
        }
      ),
      { numRuns: 200 }
    )
  })

  test("blocks are a power of two, and stay small", () => {
    for (const [runs, bytes] of [
      [1_024, 4_096],
      [1_025, 800]
    ] as const)
      for (const terms of [0, 1, 114, 115, 1_000, 500_000, 10 ** 9]) {
        const blocks = blocksFor(terms, runs)
        expect([terms, Math.log2(blocks) % 1, blocks <= 16_384]).toEqual([terms, 0, true])
        if (blocks < 16_384) expect((terms * 7) / blocks).toBeLessThanOrEqual(bytes)
      }
  })

  const list = fc.option(
    fc
      .uniqueArray(fc.tuple(fc.integer({ min: 0, max: 40 }), flags), { selector: ([run]) => run, maxLength: 30 })
      .map((runs) => runs.toSorted(([a], [b]) => a - b).map(([run, where]) => postingOf(run, where))),
    { nil: null }
  )
  const lists = fc.array(list, { maxLength: 5 })
  const flagsOf = (all: ReadonlyArray<number> | null, run: number) =>
    flagsIn(all?.find((posting) => runIn(posting) === run) ?? 0)
  const everyRun = Array.from({ length: 41 }, (_, run) => run)
  const together = (of: (run: number) => number) =>
    everyRun.map((run) => postingOf(run, of(run))).filter((posting) => flagsIn(posting) !== 0)

  test("any of them, and all of them in one place, are what a plain look gives", () => {
    fc.assert(
      fc.property(lists, (all) => {
        expect(inAny(all)).toEqual(together((run) => all.reduce((sum, one) => sum | flagsOf(one, run), 0)))
        expect(inAll(all)).toEqual(
          together((run) => (all.length === 0 ? 0 : all.reduce((both, one) => both & flagsOf(one, run), 7)))
        )
      }),
      { numRuns: 500 }
    )
  })
})

describe.each(families)("joins of %s", (family: Family) => {
  const most = runsMax[family]
  const row = (n: number, runs: number, by = rules[family]): SegmentRow => {
    return {
      ...{ segment: BigInt(n), family, rules: by, runs, blocks: 1, format: segmentFormat, checksum: null },
      ...{ first_run: String(n), last_run: String(n) }
    }
  }

  test("a question looks at a few dozen segments, and each run is written anew a few times", () => {
    const runsOfAll = 4 * most + 5_000
    for (const flush of [7, 64, 1_000]) {
      let segments: ReadonlyArray<SegmentRow> = []
      let [written, manyAtOnce, next] = [0, 0, 0]
      for (let all = 0; all < runsOfAll; all += flush) {
        segments = [...segments, row(next++, flush)]
        for (;;) {
          const join = joinable(segments, family)
          if (join.length === 0) break
          expect(join.length).toBeGreaterThan(1)
          const runs = join.reduce((sum, one) => sum + one.runs, 0)
          expect(runs).toBeLessThan(2 * most)
          written += runs
          segments = [...segments.filter((one) => !join.includes(one)), row(next++, runs)]
        }
        manyAtOnce = Math.max(manyAtOnce, segments.length)
      }
      expect([flush, manyAtOnce < 80, written / runsOfAll < 6]).toEqual([flush, true, true])
      expect(segments.filter((one) => one.runs >= most).length).toBeGreaterThan(1)
    }
  })

  test("what other rules made, and what is large enough, is never joined; others when there are many of a size", () => {
    const many = (count: number, runs: number, by?: number, from = 0) =>
      Array.from({ length: count }, (_, n) => row(from + n, runs, by))
    expect(joinable(many(100, 5, rules[family] - 1), family)).toEqual([])
    expect(joinable(many(100, 5, rules[family] + 1), family)).toEqual([])
    expect(joinable(many(100, most), family)).toEqual([])
    expect(joinable(many(15, 5), family)).toEqual([])
    expect(joinable([...many(15, 5), ...many(15, 16, undefined, 20)], family)).toEqual([])
    expect(joinable(many(16, 15), family)).toHaveLength(16)
    expect(joinable([...many(20, 5, 0), ...many(16, 15, undefined, 50)], family)).toEqual(many(16, 15, undefined, 50))
    // So large together that they need not be many; no more of them than that takes, the oldest first.
    const large = many(5, most / 2 + 1)
    expect(joinable(large, family)).toEqual(large.slice(0, 2))
    expect(joinable(large.slice(0, 1), family)).toEqual([])
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 2 * most }), fc.constantFrom(0, rules[family], 99)), {
          maxLength: 80
        }),
        (all) => {
          const segments = all.map(([runs, by], n) => row(n, runs, by))
          const join = joinable(segments, family)
          expect(join.length).not.toBe(1)
          for (const one of join) expect([one.rules, one.runs < most]).toEqual([rules[family], true])
          expect(new Set(join.map((one) => Math.floor(Math.log2(one.runs) / 4 + 1e-9))).size).toBeLessThan(2)
          expect(join.reduce((sum, one) => sum + one.runs, 0)).toBeLessThan(2 * most)
        }
      ),
      { numRuns: 300 }
    )
  })
})

test("terms that come in any order, many of them alike in their upper half, are sorted, each with its runs", () => {
  const high = fc.constantFrom(0, 1, 255, 256, 257, 0x7fff_ffff, 0xffff_ff00, 0xffff_ffff)
  const low = fc.constantFrom(0, 1, 2, 0xffff)
  const terms = fc.array(fc.array(fc.tuple(high, low, fc.constantFrom(1, 2, 4)), { maxLength: 12 }), { maxLength: 40 })
  const gathered = new PostingsBuilder()
  fc.assert(
    fc.property(terms, (runs) => {
      gathered.clear()
      const plain = new Map<number, Map<number, number>>()
      runs.forEach((of, run) => {
        for (const [upper, lower, where] of of) {
          gathered.add(upper, lower, postingOf(run, where))
          const term = upper * 65_536 + lower
          const known = plain.get(term) ?? new Map<number, number>()
          plain.set(term, known.set(run, (known.get(run) ?? 0) | where))
        }
      })
      const { terms, starts, postings } = gathered.postings()
      const expected = [...plain].sort(([a], [b]) => a - b)
      expect([...terms]).toEqual(expected.map(([term]) => term))
      expect(expected.map((_, n) => [...postings.subarray(starts[n], starts[n + 1])])).toEqual(
        expected.map(([, of]) => Array.from(of, ([run, where]) => postingOf(run, where)))
      )
    }),
    { numRuns: 500 }
  )
})
