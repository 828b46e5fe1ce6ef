/**
 * The hints of discover: what to try if nothing matched, and what to run if the query is data (an address, a phone number, a run id).
 *
 * Hints name only capabilities of the current catalog.
 */
import type { SearchDocument } from "./Document.ts"
import type { Hit, SearchIndex, SearchRequest } from "./Index.ts"
import { suggestionsOf } from "./Query.ts"
import { queryLengthMax, queryWords } from "./Tokens.ts"
import { type Hinted, hinted, withCommands, type Sentence } from "../../schema/Hints.ts"
import { getRun, history, inspectCapability, inspectEndpoint } from "../../schema/Steps.ts"

/** Nobody reads more hints than this. */
const hintsMax = 6
const suggestionsMax = 4
/** From this many words on, a query is a description and not a noun phrase. */
const descriptionWordsMin = 8

interface Subject {
  readonly what: string
  readonly pattern: RegExp
  readonly capabilities: ReadonlyArray<readonly [slug: string, purpose: string]>
}

/** In the order in which they are tried, because the URL of a profile is also a web address. Patterns are anchored and linear. */
const subjects: ReadonlyArray<Subject> = [
  {
    what: "an e-mail address",
    pattern: /^[^\s@/:]+@[^\s@/]+\.[^\s@/.]{2,}$/u,
    capabilities: [
      ["email.verify", "check it"],
      ["people.enrich", "learn whose it is"]
    ]
  },
  {
    what: "a professional network profile",
    pattern: /^(?:https?:\/\/)?(?:[a-z]{2,3}\.)?linkedin\.com\/in\/\S+$/iu,
    capabilities: [
      ["network.profile", "read it"],
      ["people.enrich", "enrich the person"],
      ["email.find", "find the work e-mail"]
    ]
  },
  {
    what: "a company's network page",
    pattern: /^(?:https?:\/\/)?(?:[a-z]{2,3}\.)?linkedin\.com\/company\/\S+$/iu,
    capabilities: [["company.enrich", "enrich the company"]]
  },
  {
    what: "a social profile or post",
    pattern:
      /^(?:https?:\/\/)?(?:[a-z]{1,6}\.)?(?:instagram|tiktok|twitter|x|youtube|facebook|threads|bsky|reddit)\.(?:com|net|app)\/\S+$/iu,
    capabilities: [
      ["social.profile", "read the profile"],
      ["social.posts", "list its posts"]
    ]
  },
  {
    what: "a web address",
    pattern: /^https?:\/\/\S+$/iu,
    capabilities: [
      ["web.scrape", "read the page"],
      ["company.enrich", "learn about the company behind it"]
    ]
  },
  {
    what: "a domain",
    pattern: /^(?=[^\s]*[a-z])[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,4}\.[a-z]{2,24}\/?$/iu,
    capabilities: [
      ["company.enrich", "learn about the company"],
      ["web.scrape", "read its home page"],
      ["domain.check", "see whether it is free"],
      ["seo.domain", "see how it ranks"]
    ]
  },
  {
    what: "a phone number",
    pattern: /^(?:\+|00)?\(?[0-9][0-9 ().-]{5,20}[0-9]$/u,
    capabilities: [["phone.lookup", "look it up"]]
  }
]

const runId = /^run_[0-9a-z]{1,40}$/iu

const capabilitiesOf = ({ documents, capabilities }: SearchIndex): ReadonlyArray<SearchDocument> =>
  capabilities.flatMap((id) => documents[id] ?? [])

/** The data in a query: the query as a whole, because a phone number may have spaces, or the first word that is data. */
const subjectOf = (query: string): readonly [Subject, string] | null => {
  const whole = query.slice(0, queryLengthMax).trim()
  for (const text of [whole, ...whole.split(/\s+/u)]) {
    const subject = subjects.find(({ pattern }) => pattern.test(text))
    // A capability's slug looks like a domain. The caller has excluded a query that is one.
    if (subject !== undefined) return [subject, text]
  }
  return null
}

/** What to search for instead of a query that is nothing but data: the capabilities that use such data. Null for any other query. */
export const queryForData = (query: string): string | null => {
  const whole = query.slice(0, queryLengthMax).trim()
  const subject = subjects.find(({ pattern }) => pattern.test(whole))
  return subject === undefined ? null : subject.capabilities.map(([slug]) => slug).join(" ")
}

const listed = (words: ReadonlyArray<string>): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words[words.length - 1]}`

const forData = (query: string, slugs: ReadonlySet<string>): ReadonlyArray<string | Sentence> => {
  const data = subjectOf(query)
  if (data === null) return []
  const [subject, text] = data
  if (slugs.has(text.toLowerCase())) return []
  const uses = subject.capabilities
    .filter(([slug]) => slugs.has(slug))
    .map(([slug, purpose]) => `${slug} to ${purpose}`)
  const earlier = withCommands`See your earlier runs about it, free of charge: ${history(text)}`
  return uses.length > 0
    ? [`The query contains ${subject.what}. Run ${listed(uses)}. Discover finds capabilities, not data.`, earlier]
    : [earlier]
}

const forNothing = (index: SearchIndex, { query, kind, provider }: SearchRequest): ReadonlyArray<string> => {
  const words = queryWords(query)
  const near = suggestionsOf(index, query, suggestionsMax)
  const categories = new Set(capabilitiesOf(index).map(({ slug }) => slug.split(".")[0] ?? slug))
  return [
    words.length === 0
      ? 'The query has no words to search for. Describe the job in a short noun phrase, such as "verify email".'
      : 'Nothing matched. Short noun phrases work best, such as "work email" or "company tech stack".',
    ...(near.length > 0 ? [`Did you mean ${listed(near.map((word) => `"${word}"`))}?`] : []),
    ...(words.length >= descriptionWordsMin
      ? ["Leave out names and conditions: they belong in the run's input, not in the query."]
      : []),
    ...(provider === undefined ? [] : [`Drop the provider filter "${provider.slice(0, 40)}" to search all providers.`]),
    ...(kind === undefined ? [] : [`Drop the kind filter "${kind}" to search capabilities and endpoints alike.`]),
    ...(categories.size > 0 ? [`The capabilities are about ${Array.from(categories).sort().join(", ")}.`] : [])
  ]
}

const forFound = (index: SearchIndex, hits: ReadonlyArray<Hit>): ReadonlyArray<string | Sentence> => {
  const first = index.documents[hits[0]?.id ?? -1]
  if (first === undefined) return []
  const inspect =
    first.kind === "capability" ? inspectCapability(first.slug) : inspectEndpoint(first.provider ?? "", first.slug)
  return [
    withCommands`Inspect before you run, for the input and the price: ${inspect}`,
    ...(first.kind === "capability" && !first.live
      ? [`${first.slug} is not live yet: in the sandbox it returns simulated data, in production it can't run.`]
      : [])
  ]
}

/** Sentences for the caller of a search: most useful first, at most `hintsMax`. */
export const hintsFor = (index: SearchIndex, request: SearchRequest, hits: ReadonlyArray<Hit>): Hinted => {
  const text = request.query.slice(0, queryLengthMax).trim()
  if (runId.test(text)) return hinted([withCommands`The query is the id of a run: ${getRun(text.toLowerCase())}`])
  const slugs = new Set(capabilitiesOf(index).map(({ slug }) => slug))
  const slug = text.toLowerCase()
  const exact = slugs.has(slug) ? [withCommands`The query is the slug of a capability: ${inspectCapability(slug)}`] : []
  const data = exact.length > 0 ? [] : forData(text, slugs)
  const rest = hits.length === 0 ? forNothing(index, request) : exact.length > 0 ? [] : forFound(index, hits)
  return hinted([...exact, ...data, ...rest].slice(0, hintsMax))
}
