/**
 * A light stemmer for English: plural, -ing, -ed, final e and y, and a few word families that are common in catalogs.
 *
 * A stem stays a prefix of its words where possible, so that prefix search still finds it. Words with different meanings ("file" and
 * "filing", "market" and "marketplace") keep different stems. Stems are only compared with other stems.
 */

/** Base words, each with words that the rules below would not reduce to it. */
const families: Readonly<Record<string, string>> = {
  find: "finder finding found",
  verify: "verifier verification verifying",
  validate: "validator validation",
  scrape: "scraper",
  crawl: "crawler",
  check: "checker",
  track: "tracker",
  extract: "extractor extraction",
  enrich: "enricher enrichment",
  generate: "generator generation generative",
  search: "searcher",
  register: "registration",
  translate: "translator translation",
  transcribe: "transcription transcriber",
  download: "downloader",
  analyze: "analyse analyser analyzer analysis analysing",
  monitor: "monitoring",
  detect: "detector detection",
  available: "availability",
  invite: "invitation",
  ad: "ads advert advertise advertiser advertisement advertising",
  recommend: "recommendation",
  person: "people",
  send: "sender sent",
  use: "used using",
  identify: "identifier identification",
  classify: "classifier classification",
  summarize: "summary summarizer summarization summarise",
  competitor: "competition competitive compete",
  popular: "popularity",
  similar: "similarity",
  upload: "uploader",
  create: "creation creator",
  delete: "deletion",
  subscribe: "subscriber subscription"
}

/** Words that look like a form of another word but are none. */
const whole = new Set(
  "news filing series whois bing embed during sibling redis kubernetes always https status campus pricing".split(" ")
)

const vowel = /[aeiouy]/
const doubled = /([bdfgmnprt])\1$/

const singular = (word: string): string => {
  if (word.length < 4 || !word.endsWith("s") || /(?:ss|us|is)$/.test(word)) return word
  if (word.endsWith("ies")) return word.length > 4 ? `${word.slice(0, -3)}y` : word.slice(0, -1)
  return /(?:sses|shes|ches|xes|zzes|uses)$/.test(word) && word.length > 5 ? word.slice(0, -2) : word.slice(0, -1)
}

const shortened = (word: string, ending: number): string | null => {
  const rest = word.slice(0, -ending)
  if (rest.length < 3 || !vowel.test(rest)) return null
  return doubled.test(rest) ? rest.slice(0, -1) : rest
}

const uninflected = (word: string): string => {
  if (word.endsWith("ing")) return shortened(word, 3) ?? word
  if (word.endsWith("ied")) return `${word.slice(0, -3)}y`
  if (word.endsWith("ed") && !word.endsWith("eed")) return shortened(word, 2) ?? word
  return word
}

/** Unifies the last letter, so that scrape and scraping, movie and movies, company and companies have one stem. */
const trimmed = (word: string): string => {
  if (word.length < 4) return word
  if (word.endsWith("ie")) return word.slice(0, -1)
  if (word.endsWith("e")) return word.slice(0, -1)
  return /[^aeiou]y$/.test(word) ? `${word.slice(0, -1)}i` : word
}

const byRule = (word: string): string => trimmed(uninflected(word))

const bases = new Map(
  Object.entries(families).flatMap(([base, words]) => words.split(" ").map((word) => [word, byRule(base)] as const))
)

/** Words whose stem follows no rule, by word. A misspelt one is compared with the word itself, because its stem is useless. */
export const irregular: ReadonlyMap<string, string> = bases

/** The stem of a lower-case word. A word with digits or letters beyond a-z is its own stem. */
export const stem = (word: string): string => {
  if (!/^[a-z]{3,}$/.test(word)) return word
  const one = whole.has(word) ? word : singular(word)
  return bases.get(word) ?? bases.get(one) ?? (whole.has(one) ? one : byRule(one))
}
