/**
 * A made-up catalog of any size that reads like the real one: its endpoints' own words, recombined, with new names as a
 * marketplace has them, so that the vocabulary grows with the catalog. The same size always gives the same catalog.
 */
import type { SearchDocument } from "../../src/layers/search/Document.ts"

/** A number in [0, 1) from a seed; the same sequence everywhere (mulberry32). */
export const randomFrom = (seed: number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const syllables =
  "ba be bo da de do fa fi ga go ka ki ko la le lo ma me mi mo na ne no pa pe po ra re ri ro sa se so ta te to va ve vi vo za zu".split(
    " "
  )

const wordsOf = (text: string) => text.match(/[A-Za-z0-9]+/g) ?? []

export const synthetic = (real: ReadonlyArray<SearchDocument>, size: number): ReadonlyArray<SearchDocument> => {
  const random = randomFrom(size)
  const pick = <T>(from: ReadonlyArray<T>): T => from[Math.floor(random() * from.length)]!
  const endpoints = real.filter(({ kind }) => kind === "endpoint")
  const capabilities = real.filter(({ kind }) => kind === "capability").map(({ slug }) => slug)
  const sentences = endpoints.flatMap(({ description }) =>
    description.split(/(?<=[.!?])\s+/).filter((one) => one !== "")
  )
  /** As often as they are used. */
  const words = endpoints.flatMap(({ title, description }) => wordsOf(`${title} ${description}`))
  const name = () => Array.from({ length: 2 + Math.floor(random() * 3) }, () => pick(syllables)).join("")
  const made = Array.from({ length: Math.ceil(size / 3) }, name)
  const documents = [...real]
  while (documents.length < size) {
    const base = pick(endpoints)
    const other = pick(endpoints)
    const own = [pick(made), ...(random() < 0.3 ? [name()] : [])]
    const title = [
      ...wordsOf(base.title).map((word) => (random() < 0.25 ? pick(words) : word)),
      ...wordsOf(other.title).slice(0, 1)
    ]
    const described = Array.from({ length: 1 + Math.floor(random() * 4) }, () => pick(sentences))
    const actor = random() < 0.7
    documents.push({
      ...base,
      id: documents.length,
      slug: actor
        ? `${own[0]}/${title.slice(0, 4).join("-").toLowerCase()}`
        : `${base.slug}/${pick(words).toLowerCase()}`,
      provider: actor ? "apify" : base.provider,
      providers: actor ? ["Apify"] : base.providers,
      title: title.join(" "),
      description: `${base.description.slice(0, 200)} ${described.join(" ")} ${own.join(" ")}`,
      tags: [...base.tags, ...other.tags.slice(0, 1)],
      live: random() < 0.95,
      wrapped_by: random() < 0.01 ? [pick(capabilities)] : []
    })
  }
  return documents.slice(0, size)
}

/** What people type: words of an entry, jobs in plain language, unfinished words, typos. */
export const syntheticQueries = (documents: ReadonlyArray<SearchDocument>, size: number): ReadonlyArray<string> => {
  const random = randomFrom(42)
  const pick = <T>(from: ReadonlyArray<T>): T => from[Math.floor(random() * from.length)]!
  const phrases = [
    "find me the work email of a",
    "get company info by domain",
    "scrape",
    "list all",
    "google search results for",
    "verify email",
    "how do I get the linkedin profile of",
    "backlinks of a",
    "search for",
    "tech stack of a",
    "instagram followers",
    "ads of"
  ]
  const misspelt = (word: string) => {
    const at = 1 + Math.floor(random() * Math.max(1, word.length - 2))
    const edited = [
      word.slice(0, at) + word.slice(at + 1),
      word.slice(0, at) + pick([..."etaoinsr"]) + word.slice(at),
      word.slice(0, at) + (word[at + 1] ?? "") + (word[at] ?? "") + word.slice(at + 2)
    ]
    return pick(edited)
  }
  return Array.from({ length: size }, () => {
    const { title, description } = pick(documents)
    const source = wordsOf(random() < 0.7 ? title : description)
    const length = 1 + Math.floor(random() * 7)
    const words = Array.from({ length }, () => pick(source.length > 0 ? source : ["data"])).map((word) =>
      random() < 0.1 && word.length > 3 ? misspelt(word) : word
    )
    if (random() < 0.3) words.unshift(...pick(phrases).split(" ").slice(0, 7))
    if (random() < 0.3) words[words.length - 1] = (words[words.length - 1] ?? "").slice(0, 4)
    return words.slice(0, 7).join(" ").toLowerCase()
  })
}
