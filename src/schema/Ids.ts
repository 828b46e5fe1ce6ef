/**
 * Prefixed identifiers: `run_`, `org_`, `key_`, `txn_`, `req_` … and 26 characters that sort by time of creation.
 *
 * 48 bits of milliseconds and 80 random bits in Crockford's base 32, so that a list ordered by id is ordered by age and an
 * index on it grows at its end.
 */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

export type Prefix = "run" | "org" | "usr" | "key" | "txn" | "req" | "cmd" | "wrk" | "cs"

/** One buffer of random bytes serves many ids: asking the system for ten bytes at a time is what costs. */
const pool = new Uint8Array(4096)
let used = pool.length

const random5 = (): number => {
  if (used === pool.length) {
    crypto.getRandomValues(pool)
    used = 0
  }
  const byte = pool[used] ?? 0
  used += 1
  return byte & 31
}

/** `millis` is the time of creation in milliseconds since 1970. */
export const makeId = (prefix: Prefix, millis: number): string => {
  let time = ""
  let rest = millis
  for (let i = 0; i < 10; i++) {
    time = alphabet.charAt(rest % 32) + time
    rest = Math.floor(rest / 32)
  }
  let random = ""
  for (let i = 0; i < 16; i++) random += alphabet.charAt(random5())
  return `${prefix}_${time}${random}`
}

/** Whether a text could be an id of that kind: a look-up of anything else is not worth a query. */
export const looksLike = (prefix: Prefix, text: string): boolean =>
  text.startsWith(`${prefix}_`) && text.length === prefix.length + 27 && /^[0-9a-z]+$/.test(text.slice(prefix.length + 1))
