/** Recognizes field names that say how much a request asks for, such as `limit` or `max_results`, in any naming style. */

export const nameSet = (text: string): ReadonlySet<string> => new Set(text.split(" "))

const counts = nameSet(
  "limit size count num nums amount quantity depth pages per rows results max maximum top take crawl batch total credits budget cost duration seconds length concurrency priority"
)
/** A limit with one of these words filters the results and does not limit their number, as in `max_price`. */
const bounded = nameSet("age price date year")

/** The words of a name: the same for `maxCrawlPages`, `max_crawl_pages` and `max-crawl-pages`. */
export const wordsOf = (name: string): ReadonlyArray<string> =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== "")

/** Whether a number with this name may change the price of a call. */
export const namesCount = (name: string): boolean => {
  const words = wordsOf(name)
  return words.some((word) => counts.has(word)) && !words.some((word) => bounded.has(word))
}

/** A name as a lenient provider compares it: `Limit`, `limit[]` and `LIMIT` are `limit`. */
export const foldedName = (name: string): string => {
  if (/^[a-z\d]*$/.test(name)) return name
  const plain = /^[\x20-\x7e]*$/.test(name) ? name : name.normalize("NFKC")
  return plain.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "")
}
