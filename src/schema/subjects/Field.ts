/**
 * Tells from a field's name what its value is, because providers name the same thing in dozens of ways.
 *
 * Names are split into words (`mobilePhone`, `mobile_phone`, `mobile-phone`), and the words decide.
 */
import { network, platformCalled } from "./Platforms.ts"

export interface Field {
  /** The value is a phone number, in any form. */
  readonly phone: boolean
  /** The name says nothing itself, so the value is what its parent's name says: `{"phone": {"number": …}}`. */
  readonly generic: boolean
  /** The value is a host, a URL or an e-mail address. */
  readonly host: boolean
  /** The value is an account's name. */
  readonly handle: boolean
  /** The platform in the name, `network` for the professional one. Null for none. */
  readonly platform: string | null
  /** The value is the name of a platform. */
  readonly tellsPlatform: boolean
  /** The value is the slug of a page on the professional network. */
  readonly slug: "in" | "company" | null
  /** The name refers to a company. */
  readonly company: boolean
  /** How likely the value is the country of the phone numbers beside it. 0 if it is none. */
  readonly country: number
  /** The value is a calling code. */
  readonly calling: boolean
  /** The value helps to read the values beside it: it is a country, a calling code or a platform. */
  readonly tellsAround: boolean
  /** The name itself may be a subject, as in `{"ada@example.com": {…}}`. */
  readonly subject: boolean
}

const set = (text: string): ReadonlySet<string> => new Set(text.split(" "))
const phones = set(
  "phone phones phonenumber phonenumbers mobile mobiles mobilephone tel telephone telephones telefon telefono fax faxes whatsapp cell cellphone cellular landline msisdn dial hotline e164"
)
/** Last words of names whose value is about a number but is not the number, such as `phone_type`. */
const about = set(
  "id ids count type types status country state region verified valid score quality credits ext extension carrier provider name code prefix at date time source confidence price cost total available revealed note label model os app url uri link friendly"
)
const generics = set(
  "number numbers value values raw formatted sanitized international national e164 local primary main work home personal direct company input normalized original display text user handle username address"
)
const hosts = set("domain domains host hosts hostname website websites homepage email emails mail")
const handles = set("handle handles username usernames screenname nickname account profile user")
const strictHandles = set("handle handles username usernames screenname uniqueid")
const slugs = set("slug username handle vanity publicid publicidentifier identifier vanityname universalname")
const platformTellers = set(
  "platform platforms network socialnetwork provider service site channel source type social typename"
)
const companyWords = set("company organization organisation org employer business school")

const wordsOf = (name: string): ReadonlyArray<string> =>
  name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "")

const countryOf = (words: ReadonlyArray<string>, joined: string): number => {
  if (words.includes("calling") || words.includes("dial")) return 0
  if (joined === "countrycode" || joined.endsWith("countrycode") || joined === "countryiso" || joined === "countryiso2")
    return 4
  if (joined === "country" || joined === "countryname" || joined === "locationcountry") return 3
  if (words.includes("country") && words.length <= 3) return 2
  return joined === "region" ? 1 : 0
}

const blank: Field = {
  phone: false,
  generic: false,
  host: false,
  handle: false,
  platform: null,
  tellsPlatform: false,
  slug: null,
  company: false,
  country: 0,
  calling: false,
  tellsAround: false,
  subject: false
}

const nameMax = 64
const subjectLike = /@|:\/\/|[\w-]\.[a-z]{2}|^\+\d/i

const read = (name: string): Field => {
  const subject = name.length <= 2_000 && subjectLike.test(name)
  if (name.length > nameMax) return { ...blank, subject }
  const words = wordsOf(name)
  const joined = words.join("")
  const last = words.at(-1) ?? ""
  const platformWord = words.find((word) => word.length > 1 && platformCalled(word) !== null)
  const platform = platformCalled(joined) ?? (platformWord === undefined ? null : platformCalled(platformWord))
  const rest = words.filter((word) => word !== platformWord && !companyWords.has(word))
  const restJoined = rest.join("")
  const onNetwork = platform === network && joined !== "network"
  const company = words.some((word) => companyWords.has(word))
  const alone = platform !== null && joined.length > 1 && (platformCalled(joined) !== null || rest.length === 0)
  const names = platform !== null && (alone || handles.has(last) || strictHandles.has(restJoined))
  const tellsPlatform = platformTellers.has(joined) || joined.endsWith("platform")
  const country = countryOf(words, joined)
  const calling =
    joined === "countrycode" ||
    joined.endsWith("callingcode") ||
    joined === "dialcode" ||
    joined === "dialingcode" ||
    joined === "callingcountrycode" ||
    joined === "phonecountrycode"
  const slugged = joined.startsWith("public") && slugs.has(joined) ? "in" : company ? "company" : "in"
  return {
    phone: words.some((word) => phones.has(word)) && !about.has(last) && words[0] !== "has" && words[0] !== "is",
    generic: words.length <= 2 && words.every((word) => generics.has(word)),
    host: words.some((word) => hosts.has(word)) && !about.has(last),
    handle:
      platform === null
        ? strictHandles.has(joined) || strictHandles.has(last) || joined.endsWith("screenname")
        : names && !onNetwork,
    platform,
    tellsPlatform,
    slug:
      joined === "publicidentifier" ||
      joined === "networkurl" ||
      (onNetwork && (alone || slugs.has(restJoined) || restJoined === "url"))
        ? slugged
        : null,
    company,
    country,
    calling,
    tellsAround: country > 0 || calling || tellsPlatform,
    subject
  }
}

/** A cache, because results repeat the same names. It is bounded, because callers choose names. */
const cache = new Map<string, Field>()
const cacheMax = 4_000

export const fieldOf = (name: string): Field => {
  const cached = cache.get(name)
  if (cached !== undefined) return cached
  const field = read(name)
  if (name.length <= nameMax) {
    if (cache.size >= cacheMax) cache.clear()
    cache.set(name, field)
  }
  return field
}
export const nameless: Field = blank
const entry: Field = { ...blank, subject: true }
/** The field of a name in a map. Such a name says nothing about its value, but may be a subject. */
export const entryOf = (name: string): Field => (name.length <= 2_000 && subjectLike.test(name) ? entry : blank)
