/**
 * Scores against an independent BM25F: the same formula, written over plain strings and maps, one document at a time.
 */
import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { Effect } from "effect"
import { fields, type SearchDocument } from "../../../src/layers/search/Document.ts"
import { buildIndex, search, type SearchIndex } from "../../../src/layers/search/Index.ts"
import { slotsOf } from "../../../src/layers/search/Query.ts"
import { capabilityFactor, notLiveFactor } from "../../../src/layers/search/Ranking.ts"
import type { Concept } from "../../../src/layers/search/synonyms.ts"
import { termsOf } from "../../../src/layers/search/Tokens.ts"

const concepts: ReadonlyArray<Concept> = [
  { words: "car, automobile, motor vehicle", queryOnly: "ride" },
  { words: "red, crimson", weight: 0.5 }
]
const phrases = concepts.map(({ words }) => ({
  name: `#${words.split(",")[0]}`,
  phrases: words.split(",").map((text) => termsOf(text))
}))

/** A field's terms, and the concepts that stand in each of its texts. */
const wordsOf = (texts: ReadonlyArray<string>) => {
  const plain = texts.map((text) => termsOf(text))
  const found = plain.flatMap((terms) =>
    terms.flatMap((_, at) =>
      phrases.flatMap(({ name, phrases }) =>
        phrases.filter((phrase) => phrase.every((word, offset) => terms[at + offset] === word)).map(() => name)
      )
    )
  )
  return { length: plain.flat().length, all: [...plain.flat(), ...found] }
}

const naive = (documents: ReadonlyArray<SearchDocument>) => {
  const read = documents.map((document) => fields.map(({ textsOf }) => wordsOf(textsOf(document))))
  const averages = fields.map(
    (_, field) => read.reduce((sum, texts) => sum + texts[field]!.length, 0) / documents.length
  )
  const holders = (term: string) => read.filter((texts) => texts.some(({ all }) => all.includes(term))).length
  return (term: string, id: number) => {
    let tf = 0
    for (const [field, { weight, dilution }] of fields.entries()) {
      const { all, length } = read[id]![field]!
      const average = averages[field]!
      const count = all.filter((word) => word === term).length
      tf += (weight * count) / (1 - dilution + dilution * (average === 0 ? 1 : length / average))
    }
    const rarity = Math.log(1 + (documents.length - holders(term) + 0.5) / (holders(term) + 0.5))
    return (rarity * tf * 2.2) / (tf + 1.2)
  }
}

/** Of each slot the best alternative; weak slots only where a strong one has something. */
const naiveScores = (index: SearchIndex, query: string): ReadonlyArray<number> => {
  const score = naive(index.documents)
  const slots = slotsOf(index, query)
  const named = index.postings.vocabulary.terms
  return index.documents.map(({ id, kind, live }) => {
    const sum = (weak: boolean) =>
      slots
        .filter((slot) => slot.weak === weak)
        .map(({ alternatives }) =>
          Math.max(...alternatives.map(({ term, weight }) => weight * score(named[term]!, id)))
        )
        .reduce((total, one) => total + one, 0)
    const strong = sum(false)
    const base = strong === 0 ? 0 : strong + sum(true)
    return base * (kind === "capability" ? capabilityFactor : 1) * (live ? 1 : notLiveFactor)
  })
}

const word = fc.constantFrom(
  ..."red crimson car automobile motor vehicle blue boat fast find list engine engines wheel apple data api".split(" ")
)
const text = fc.array(word, { maxLength: 8 }).map((words) => words.join(" "))
const document = fc.record({
  kind: fc.constantFrom("capability" as const, "endpoint" as const),
  slug: fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join("/")),
  title: text,
  description: text,
  tags: fc.array(word, { maxLength: 3 }),
  live: fc.boolean()
})
const corpus = fc.array(document, { minLength: 1, maxLength: 12 }).map((list) =>
  list.map(
    (one, id): SearchDocument => ({
      ...one,
      id,
      provider: one.kind === "capability" ? null : "acme",
      providers: [],
      method: one.kind === "capability" ? null : "GET",
      wrapped_by: []
    })
  )
)

describe("scores", () => {
  test("are those of a naive BM25F", async () => {
    await fc.assert(
      fc.asyncProperty(corpus, fc.array(word, { minLength: 1, maxLength: 5 }), async (documents, words) => {
        const query = words.join(" ")
        const index = await Effect.runPromise(buildIndex(documents, { synonyms: concepts, yieldEvery: 1 }))
        const expected = naiveScores(index, query)
        const highest = Math.max(...expected)
        const hits = search(index, { query, limit: 50 })
        expect(hits.map(({ id }) => id).sort()).toEqual(
          documents
            .map(({ id }) => id)
            .filter((id) => expected[id]! > 0)
            .sort()
        )
        for (const { id, score } of hits) expect(Math.abs(score - expected[id]! / highest)).toBeLessThan(2e-4)
      }),
      { numRuns: 200 }
    )
  })

  test("fall from 1 and are the same every time, with any limit", async () => {
    await fc.assert(
      fc.asyncProperty(corpus, text, fc.integer({ min: 1, max: 12 }), async (documents, query, limit) => {
        const index = await Effect.runPromise(buildIndex(documents, { synonyms: concepts }))
        const all = search(index, { query, limit: 50 })
        expect(search(index, { query, limit: 50 })).toEqual(all)
        expect(search(index, { query, limit })).toEqual(all.slice(0, limit))
        if (all.length > 0) expect(all[0]!.score).toBe(1)
        for (const [at, { score }] of all.entries()) {
          expect(score).toBeGreaterThan(0)
          expect(score).toBeLessThanOrEqual(all[at - 1]?.score ?? 1)
        }
      })
    )
  })

  test("do not depend on how often the build pauses", async () => {
    await fc.assert(
      fc.asyncProperty(corpus, text, async (documents, query) => {
        const one = await Effect.runPromise(buildIndex(documents, { yieldEvery: 1 }))
        const other = await Effect.runPromise(buildIndex(documents, { yieldEvery: 1000 }))
        expect(search(one, { query, limit: 50 })).toEqual(search(other, { query, limit: 50 }))
      }),
      { numRuns: 50 }
    )
  })
})
