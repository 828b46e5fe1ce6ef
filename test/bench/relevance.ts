/**
 * How good a search is: nDCG@10, recall@10, MRR and "the right capability first", over labelled queries.
 *
 * A search is a function from a query to the labels of what it found, best first, so any search can be judged by the same
 * labels. Gains are exponential (2^grade - 1). Labels that the catalog does not hold are left out of the ideal.
 */
import { Effect } from "effect"
import { buildIndex, search } from "../../src/layers/search/Index.ts"
import { catalogDocuments, labelOf } from "../layers/search/corpus.ts"
import { type LabelledQuery, queries } from "../layers/search/queries.ts"

export type LabelledSearch = (query: string, limit: number) => ReadonlyArray<string>

export interface Relevance {
  readonly queries: number
  readonly ndcg: number
  readonly recall: number
  readonly mrr: number
  /** Of the queries whose best answer is a capability. */
  readonly capabilityFirst: number
}

const depth = 10

const gain = (grade: number) => 2 ** grade - 1
const discounted = (grades: ReadonlyArray<number>) =>
  grades.slice(0, depth).reduce((sum, grade, at) => sum + gain(grade) / Math.log2(at + 2), 0)

export const ndcgOf = (found: ReadonlyArray<string>, relevant: Readonly<Record<string, number>>): number => {
  const ideal = discounted(Object.values(relevant).sort((a, b) => b - a))
  return ideal === 0 ? 0 : discounted(found.map((label) => relevant[label] ?? 0)) / ideal
}

/** Of the relevant answers that fit into the first ten. */
export const recallOf = (found: ReadonlyArray<string>, relevant: Readonly<Record<string, number>>): number => {
  const hits = found.slice(0, depth).filter((label) => (relevant[label] ?? 0) > 0).length
  return hits / Math.min(depth, Math.max(1, Object.keys(relevant).length))
}

/** Of the first answer that is at least a good one. */
export const reciprocalRankOf = (found: ReadonlyArray<string>, relevant: Readonly<Record<string, number>>): number => {
  const at = found.findIndex((label) => (relevant[label] ?? 0) >= 2)
  return at < 0 ? 0 : 1 / (at + 1)
}

const mean = (values: ReadonlyArray<number>) =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length

export const relevanceOf = (
  labelled: ReadonlyArray<LabelledQuery>,
  known: ReadonlySet<string>,
  find: LabelledSearch
): Relevance => {
  const each = labelled.map(({ query, relevant, capability }) => {
    const found = find(query, depth)
    const held = Object.fromEntries(Object.entries(relevant).filter(([label]) => known.has(label)))
    return {
      ndcg: ndcgOf(found, held),
      recall: recallOf(found, held),
      rank: reciprocalRankOf(found, held),
      first: capability === undefined ? null : found[0] === capability ? 1 : 0
    }
  })
  return {
    queries: each.length,
    ndcg: mean(each.map(({ ndcg }) => ndcg)),
    recall: mean(each.map(({ recall }) => recall)),
    mrr: mean(each.map(({ rank }) => rank)),
    capabilityFirst: mean(each.flatMap(({ first }) => first ?? []))
  }
}

/** Two halves, so that a change that helps one part by accident shows. */
export const halves = (labelled: ReadonlyArray<LabelledQuery>) => ({
  odd: labelled.filter((_, at) => at % 2 === 1),
  even: labelled.filter((_, at) => at % 2 === 0)
})

const percent = (value: number) => `${(100 * value).toFixed(1)} %`.padStart(8)

export const printed = (name: string, result: Relevance): string =>
  [
    name.padEnd(26),
    String(result.queries).padStart(5),
    percent(result.ndcg),
    percent(result.recall),
    percent(result.mrr),
    percent(result.capabilityFirst)
  ].join("  ")

export const heading = [
  "".padEnd(26),
  "   of",
  ...["nDCG@10", "recall", "MRR", "first"].map((name) => name.padStart(8))
].join("  ")

/** The shipped catalog under our index, judged. */
export const judged = async () => {
  const documents = catalogDocuments()
  const index = await Effect.runPromise(buildIndex(documents))
  const known = new Set(documents.map(labelOf))
  const find: LabelledSearch = (query, limit) =>
    search(index, { query, limit }).flatMap(({ id }) => {
      const document = documents[id]
      return document === undefined ? [] : [labelOf(document)]
    })
  const { odd, even } = halves(queries)
  const labels = new Set(queries.flatMap(({ relevant }) => Object.keys(relevant)))
  return {
    documents: documents.length,
    missing: [...labels].filter((label) => !known.has(label)),
    all: relevanceOf(queries, known, find),
    odd: relevanceOf(odd, known, find),
    even: relevanceOf(even, known, find)
  }
}

export const ourRelevance = async (): Promise<ReadonlyArray<string>> => {
  const { documents, missing, all, odd, even } = await judged()
  return [
    `relevance over ${documents} documents of the catalog (${missing.length} labels name something that it lacks)`,
    heading,
    printed("all", all),
    printed("every other", odd),
    printed("the rest", even)
  ]
}

if (import.meta.main) for (const line of await ourRelevance()) console.log(line)
