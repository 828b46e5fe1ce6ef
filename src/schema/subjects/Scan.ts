/**
 * Finds the subjects that a longer text mentions, such as a page, a message or a biography.
 *
 * It is one pass. Every place that may begin a subject is read within a bounded window, and the scan continues after what it found. So the
 * time is linear in the length of the text.
 */
import { readAddress } from "./Email.ts"
import { lengthMax } from "./Form.ts"
import { readMention } from "./Handle.ts"
import { readInternational, readPhone } from "./Phone.ts"
import { accountReading, emailReading, phoneReading, type Reading, urlReading } from "./Subject.ts"
import { readUrl, type Url } from "./Url.ts"

/** Everything that a mention can begin with. */
const trigger = /:\/\/|@|www\.|\+\(?[1-9]|00[1-9]|\.[a-z]{2,24}\//gi

const wordLike = /[\p{L}\p{N}_]/u
const localLike = /[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~.-]/u
const hostLike = /[\p{L}\p{N}\p{M}.-]/u
const asciiHost = /[a-z0-9.-]/i
/** Characters that end a URL in a text, a page or a source file. */
const urlEnd = /[\s"<>`{}|\\^\p{Cc}，。、；：！？（）【】《》「」『』“”‘’«»…]|[,;](?=https?:\/\/|www\.)/giu
const digitLike = /[\d\s().\-‐‑–/·\u00a0]/
const trailing = new Set([".", ",", ":", ";", "!", "?", "'", "*", "_", "~"])
const closers: ReadonlyMap<string, string> = new Map([
  [")", "("],
  ["]", "["]
])

const localMax = 64
const hostMax = 253
const mentionMax = 64
const phoneMax = 32
/** Maximum number of trailing groups of digits that are dropped, such as a date or a second number. */
const groupsMax = 5

const forward = (text: string, from: number, max: number, like: RegExp): number => {
  const end = Math.min(text.length, from + max)
  let at = from
  while (at < end && like.test(text.charAt(at))) at++
  return at
}
const backward = (text: string, from: number, min: number, like: RegExp): number => {
  let at = from
  while (at > min && like.test(text.charAt(at - 1))) at--
  return at
}

const count = (text: string, character: string): number => text.split(character).length - 1

/** Removes the punctuation of the sentence, and closing brackets that the text did not open. */
const cut = (candidate: string): string => {
  let end = candidate.length
  /** For each closing bracket at the end, how many more there are than opening ones. */
  const surplus = new Map<string, number>()
  for (; end > 0; end--) {
    const last = candidate.charAt(end - 1)
    const open = closers.get(last)
    if (open === undefined) {
      if (!trailing.has(last)) break
      continue
    }
    const extra = surplus.get(last) ?? count(candidate, last) - count(candidate, open)
    if (extra <= 0) break
    surplus.set(last, extra - 1)
  }
  return candidate.slice(0, end)
}

/** Words after @ that are no accounts: at-rules, decorators and keywords in pages and source code. */
const syntax = new Set(
  "media import font-face keyframes supports charset layer context type id graph override param return returns property namespace page".split(
    " "
  )
)

type Report = (reading: Reading) => void

const addressAt = (
  text: string,
  at: number,
  done: number
): { readonly reading: Reading; readonly end: number } | null => {
  const start = backward(text, at, Math.max(done, at - localMax), localLike)
  if (start === at) return null
  let end = forward(text, at + 1, hostMax, hostLike)
  // Remote repositories: git@host:path.
  if (text.charAt(end) === ":" && /[\w~/]/.test(text.charAt(end + 1))) return null
  while (end > at && /[.-]/.test(text.charAt(end - 1))) end--
  if (end <= at + 3) return null
  const local = text
    .slice(start, at)
    .replace(/^.*[/=`{|}&?]/, "")
    .replace(/^['*_.!#~-]+/, "")
  const email = readAddress(`${local}@${text.slice(at + 1, end)}`)
  return email === null || email.host.fileLike ? null : { reading: emailReading(email), end }
}

const mentionAt = (text: string, at: number): { readonly reading: Reading; readonly end: number } | null => {
  const before = text.charAt(at - 1)
  if (before !== "" && (wordLike.test(before) || /[@./\\&=+-]/.test(before))) return null
  let end = forward(text, at + 1, mentionMax, /[\p{L}\p{N}\p{M}_.-]/u)
  if (end === at + 1 + mentionMax || /[@/\\]/.test(text.charAt(end))) return null
  while (end > at && /[.-]/.test(text.charAt(end - 1))) end--
  const name = text.slice(at + 1, end)
  if (name.length < 2 || !/\p{L}/u.test(name) || syntax.has(name.toLowerCase())) return null
  const account = readMention(`@${name}`)
  return account === null ? null : { reading: accountReading(account), end }
}

/** How many places may still be read. A phone number costs as much as ten other places. */
export interface Budget {
  left: number
}
export const phoneCost = 10

/** Reads a phone number at a position. Its last groups of digits may belong to something else, so they are dropped one by one. */
const phoneAt = (
  text: string,
  at: number,
  budget: Budget
): { readonly reading: Reading; readonly end: number } | null => {
  const before = text.charAt(at - 1)
  if (before !== "" && (wordLike.test(before) || /[+=.,:/-]/.test(before))) return null
  const plus = text.charAt(at) === "+"
  let end = forward(text, at + 1, phoneMax, digitLike)
  const behind = text.charAt(end)
  if (/\d/.test(behind)) while (end > at && /\d/.test(text.charAt(end - 1))) end--
  else if (/[^\P{L}x]/iu.test(behind) && /\d/.test(text.charAt(end - 1))) return null
  for (let tries = 0; tries < groupsMax; tries++) {
    while (end > at && !/\d/.test(text.charAt(end - 1))) end--
    const candidate = text.slice(at, end)
    if (candidate.replace(/\D/g, "").length < 8) return null
    budget.left -= phoneCost
    const number = plus ? readInternational(candidate) : readPhone(candidate, { named: false, place: null })
    if (number !== null) return { reading: phoneReading(number), end }
    while (end > at && /\d/.test(text.charAt(end - 1))) end--
  }
  return null
}

/** Reports the e-mail addresses inside a URL, as in an unsubscribe link. */
export const mentionsOfUrl = (url: string, report: Report) => {
  if (!url.includes("@") && !url.includes("%40")) return
  const slash = url.indexOf("/", url.indexOf("://") + 3)
  const rest = slash < 0 ? "" : url.slice(slash).replace(/%40/g, "@")
  for (let at = rest.indexOf("@"), done = 0; at >= 0; at = rest.indexOf("@", at + 1)) {
    const address = addressAt(rest, at, done)
    if (address !== null) {
      report(address.reading)
      done = address.end
    }
  }
}

const evident = ({ host, bareHost }: Url): boolean =>
  host.endingExists && !host.fileLike && (host.domains.length > 0 || !bareHost)

interface Page {
  readonly url: Url | null
  readonly address: string
  readonly end: number
}

/** Starting points tried per sequence of characters without blanks, so that a long one is not read once for each. */
const triesMax = 8

/** Reads a URL at a position. Null if no URL can begin here. */
const pageAt = (text: string, at: number, word: string, done: number): Page | null => {
  const schemed = word === "://"
  const letters = schemed ? /(?:^|[^a-z])(https?)$/i.exec(text.slice(Math.max(done, at - 6), at))?.[1] : ""
  const start = word.startsWith(".")
    ? backward(text, at, Math.max(done, at - hostMax), asciiHost)
    : at - (letters?.length ?? 0)
  const before = text.charAt(start - 1)
  if (!schemed && (wordLike.test(before) || /[@/\\.\-+=%&]/.test(before))) return null
  urlEnd.lastIndex = at + 1
  const end = urlEnd.exec(text)?.index ?? text.length
  if (end - start > lengthMax || letters === undefined) return { url: null, address: "", end }
  const candidate = cut(text.slice(start, end).replaceAll("&amp;", "&"))
  const url = readUrl(candidate)
  return {
    url: url !== null && (schemed || evident(url)) ? url : null,
    address: schemed ? candidate : `http://${candidate}`,
    end
  }
}

/** Calls `report` for each subject that the text mentions, in the order of the text, until the budget is spent. */
export const scan = (text: string, report: Report, budget: Budget): void => {
  trigger.lastIndex = 0
  /** Where the last mention ended. */
  let done = 0
  /** The sequence of characters in which no URL was found yet, and how many starting points were tried. */
  let sequence = { end: 0, tries: 0 }
  for (let match = trigger.exec(text); match !== null && budget.left > 0; match = trigger.exec(text)) {
    const at = match.index
    const [word] = match
    const first = word.charAt(0)
    let end = 0
    if (first !== "+" && first !== "0") budget.left--
    if (first === "@" || first === "+" || first === "0") {
      const hit = first === "@" ? (addressAt(text, at, done) ?? mentionAt(text, at)) : phoneAt(text, at, budget)
      if (hit !== null) report(hit.reading)
      end = hit?.end ?? 0
    } else if (at >= sequence.end || sequence.tries < triesMax) {
      const page = pageAt(text, at, word, done)
      if (page?.url) {
        report(urlReading(page.url))
        mentionsOfUrl(page.address, report)
        end = page.end
      } else if (page !== null) {
        const tries = page.end - at > lengthMax ? triesMax : page.end > sequence.end ? 1 : sequence.tries + 1
        sequence = { end: Math.max(sequence.end, page.end), tries }
        // The rest of a URL with another scheme is no e-mail address, and may contain a password.
        if (first === ":" && page.address === "" && tries < triesMax) end = page.end
      }
    }
    if (end > 0) done = end
    trigger.lastIndex = Math.max(end, at + 1)
  }
}
