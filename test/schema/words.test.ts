/** Words and phrases in segments, as pure functions: what is cut up, packed, joined and asked for agrees with a plain look at the texts. */
import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { PostingsBuilder } from "../../src/schema/segments/PostingsBuilder.ts"
import { blocksOf } from "../../src/schema/segments/Merge.ts"
import {
  blocksFor,
  decoded,
  elsewhere,
  flagsIn,
  inAll,
  named,
  postingOf,
  postingsIn,
  runIn,
  termSpace
} from "../../src/schema/segments/Segment.ts"
import { addTerms, holdsWords, phraseOf, seedOf, wordsOf } from "../../src/schema/words/Term.ts"

const seed = seedOf("org_words")
const holds = (json: unknown, text: string) => {
  const sought = phraseOf(text, seed)
  return sought !== null && holdsWords(wordsOf(json, seed), sought.words)
}

interface Run {
  readonly input: unknown
  readonly result: unknown
}
type Packed = {
  readonly blocks: number
  readonly runs: number
  readonly rows: ReadonlyArray<{ readonly block: number; readonly bytes: Uint8Array }>
}

/** A segment of these runs, in so many blocks. */
const packed = (runs: ReadonlyArray<Run>, blocks?: number): Packed => {
  const terms = new PostingsBuilder()
  runs.forEach(({ input, result }, run) => {
    addTerms(terms, input, seed, postingOf(run, named))
    addTerms(terms, result, seed, postingOf(run, elsewhere))
  })
  const from = terms.postings()
  const count = blocks ?? blocksFor(from.terms.length, 2_000)
  return {
    blocks: count,
    runs: runs.length,
    rows: [...blocksOf([{ from, runs: Int32Array.from(runs.keys()) }], count)]
  }
}

/** The runs that a segment gives for a phrase, with the flags of where. */
const found = ({ blocks, runs, rows }: Packed, text: string) => {
  const lists = (phraseOf(text, seed)?.terms ?? []).map((term) => {
    const block = Math.floor(term / (termSpace / blocks))
    const row = rows.find((one) => one.block === block)
    return row === undefined ? null : postingsIn(row.bytes, { term, block, blocks, runs })
  })
  return lists.length === 0 ? [] : inAll(lists).map((hit) => [runIn(hit), flagsIn(hit)])
}

const expected = (runs: ReadonlyArray<Run>, text: string) =>
  runs.flatMap(({ input, result }, run) => {
    const flags = (holds(input, text) ? named : 0) | (holds(result, text) ? elsewhere : 0)
    return flags === 0 ? [] : [[run, flags]]
  })

const word = fc.constantFrom("ada", "Lovelace", "the", "growth", "of", "straße", "山田", "ΟΔΥΣΣΕΥΣ", "x1", "in_one")
const glue = fc.constantFrom(" ", ", ", "  ", "@", ".", "/", "\n", " - ", ": ", "-", "\u00a0", "’")
const text = fc.array(fc.tuple(word, glue), { maxLength: 8 }).map((parts) => parts.flat().join(""))
const value: fc.Arbitrary<unknown> = fc.oneof(
  text,
  fc.record({ a: text, b: fc.array(text, { maxLength: 3 }), n: fc.integer() }),
  fc.constant(null)
)
const runs = fc.array(fc.record({ input: value, result: value }), { minLength: 1, maxLength: 40 })
const short = fc.array(word, { minLength: 1, maxLength: 2 }).map((words) => words.join(" "))

describe("words and phrases", () => {
  test.each([
    ["Ada Lovelace", { note: "by ada  LOVELACE, 1843" }, true],
    ["ada lovelace", { first: "Ada", last: "Lovelace" }, false],
    ["ada lovelace", ["ada", "lovelace"], false],
    ["ada", "Adam", false],
    ["ann", "hannah", false],
    ["große straße", "GROSSE STRASSE 1", true],
    ["o'neil-smith & co.", "O'Neil-Smith & Co. KG", true],
    ["José", "Jose\u0301", true],
    ["ada one", "ada@one.example", false],
    ["ada@one", "mail ada@one.example now", true],
    ["one example", "one.example", false],
    ["4155550177", { phone: 4_155_550_177 }, true],
    ["quick brown fox", "a quick, brown fox", true],
    ["quick brown fox", "brown fox, quick brown", false],
    ["company name", { company_name: "none" }, false],
    ["true", { flag: true }, false],
    ["---", "---", false],
    ["soft hyphen", "so\u00adft hy\u200bphen", true],
    ["𝒜da", "𝒜DA", true]
  ])("%j in %j: %p", (sought, json, held) => expect(holds(json, sought)).toBe(held))

  test("another organization's terms are others", () => {
    expect(phraseOf("ada lovelace", seedOf("org_a"))?.terms).not.toEqual(
      phraseOf("ada lovelace", seedOf("org_b"))?.terms
    )
  })

  test("of half a million different words, hardly two share a term", () => {
    const terms = new Set<number>()
    for (let n = 0; n < 500_000; n++) terms.add(phraseOf(`w${n.toString(36)}`, seed)?.terms[0] ?? 0)
    expect(terms.size).toBeGreaterThan(499_998)
    expect(Math.max(...[...terms].slice(0, 1_000))).toBeLessThan(termSpace)
  })
})

describe("segments", () => {
  test("a phrase of one or two words is where its terms are, whatever the blocks", () => {
    fc.assert(
      fc.property(
        runs,
        fc.array(short, { minLength: 1, maxLength: 6 }),
        fc.constantFrom(1, 2, 64),
        (all, asked, blocks) => {
          const segment = packed(all, blocks)
          for (const one of asked) {
            const truth = expected(all, one)
            // Both words of a pair may be the same: then it is one term, and exact all the same.
            expect([one, found(segment, one)]).toEqual([one, truth])
          }
        }
      ),
      { numRuns: 150 }
    )
  })

  test("a longer phrase is at most where its pairs are", () => {
    fc.assert(
      fc.property(runs, fc.array(word, { minLength: 3, maxLength: 5 }), (all, words) => {
        const candidates = new Set(found(packed(all), words.join(" ")).map(([run]) => run))
        for (const [run] of expected(all, words.join(" "))) expect(candidates.has(run)).toBe(true)
      }),
      { numRuns: 100 }
    )
  })

  test("joined segments say what one of all their runs would, and nothing of those left out", () => {
    fc.assert(
      fc.property(
        fc.array(runs, { minLength: 1, maxLength: 5 }),
        fc.array(fc.boolean(), { maxLength: 200 }),
        (groups, out) => {
          let next = 0
          let seen = 0
          const kept: Array<Run> = []
          const parts = groups.map((group) => {
            const { rows, ...size } = packed(group)
            const numbers = group.map((run) => {
              if (out[seen++]) return -1
              kept.push(run)
              return next++
            })
            return { from: decoded(rows, size), runs: Int32Array.from(numbers) }
          })
          for (const blocks of [1, 16]) expect([...blocksOf(parts, blocks)]).toEqual([...packed(kept, blocks).rows])
        }
      ),
      { numRuns: 100 }
    )
  })
})
