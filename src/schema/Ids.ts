/**
 * Prefixed identifiers: `run_`, `org_`, `key_`, `txn_`, `req_` and others, followed by 26 characters that sort by creation time.
 *
 * An id has 48 bits of milliseconds and 80 random bits in Crockford's base 32. A list ordered by id is ordered by age, and an
 * index on it grows at its end.
 */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

export type Prefix =
  | "run"
  | "org"
  | "usr"
  | "key"
  | "txn"
  | "req"
  | "cmd"
  | "wrk"
  | "cs"
  | "pay"
  | "ref"
  | "snd"
  | "lbl"
  | "apr"
  | "val"
  | "opt"
  | "inv"
  | "evt"
  | "aud"
  | "whe"
  | "whd"
  | "bud"
  | "bat"
  | "opl"
  | "ops"
  | "opi"
  | "pac"
  | "con"
  | "psk"

/** Two letters for each ten bits, so that 16 letters cost eight look-ups. */
const pairs = Array.from({ length: 1024 }, (_, bits) => alphabet.charAt(bits >> 5) + alphabet.charAt(bits & 31))

/** One buffer of random numbers serves many ids, because reading a few bytes at a time from the system is slow. */
const pool = new Uint16Array(4096)
let used = pool.length

const randomPair = (): string => {
  if (used === pool.length) {
    crypto.getRandomValues(pool)
    used = 0
  }
  const bits = (pool[used] ?? 0) & 1023
  used += 1
  return pairs[bits] ?? ""
}

/** The ten letters of a millisecond. */
const timeText = (millis: number): string => {
  let text = ""
  for (let rest = millis, n = 0; n < 5; n += 1, rest = Math.floor(rest / 1024))
    text = `${pairs[rest % 1024] ?? ""}${text}`
  return text
}

/** `millis` is the time of creation in milliseconds since 1970. */
export const makeId = (prefix: Prefix, millis: number): string => {
  let random = ""
  for (let i = 0; i < 8; i++) random += randomPair()
  return `${prefix}_${timeText(millis)}${random}`
}

/** When an id was made, in milliseconds since 1970. Null for a text that is no id. */
export const createdMillisOf = (id: string): number | null => {
  const letters = /^[a-z]+_([0-9a-z]{10})[0-9a-z]{16}$/.exec(id)?.[1]
  if (letters === undefined) return null
  let millis = 0
  for (const letter of letters) millis = millis * 32 + alphabet.indexOf(letter)
  return millis
}

/**
 * A text as one segment of a path. An address loses `.` and `..`, an empty segment is ignored, and the request would be another one, so they
 * become ids of nothing. A lone surrogate can't be encoded, so it becomes U+FFFD.
 */
export const segmentOf = (text: string): string => encodeURIComponent(text.toWellFormed().replace(/^\.{0,2}$/, "($&)"))

/** Whether a text could be an id with this prefix. Any other text needs no query. */
export const looksLike = (prefix: Prefix, text: string): boolean =>
  text.startsWith(`${prefix}_`) &&
  text.length === prefix.length + 27 &&
  /^[0-9a-z]+$/.test(text.slice(prefix.length + 1))
