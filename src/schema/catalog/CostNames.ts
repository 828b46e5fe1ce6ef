/** Recognizes field names that say how much a request asks for, such as `limit` or `max_results`, in any naming style. */

export const nameSet = (text: string): ReadonlySet<string> => new Set(text.split(" "))

const counts = nameSet(
  "limit size count num nums amount quantity depth pages per rows results max maximum top take crawl batch total credits budget cost duration seconds length concurrency priority"
)
/** What a bound of this name limits is a property of the results, not how many there are. */
const bounded = nameSet("age price date year")

/** `maxCrawlPages`, `max_crawl_pages` and `max-crawl-pages` are the same words. */
export const wordsOf = (name: string): ReadonlyArray<string> =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== "")

/** A number of this name may change what a call costs. */
export const namesCount = (name: string): boolean => {
  const words = wordsOf(name)
  return words.some((word) => counts.has(word)) && !words.some((word) => bounded.has(word))
}

/** A name as a lenient reader compares it: `Limit`, `limit[]` and `LIMIT` are `limit`. */
export const foldedName = (name: string): string => {
  if (/^[a-z\d]*$/.test(name)) return name
  const plain = /^[\x20-\x7e]*$/.test(name) ? name : name.normalize("NFKC")
  return plain.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "")
}
