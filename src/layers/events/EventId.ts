/**
 * Event ids: `evt_`, thirteen letters of the event's position, and thirteen that prove that the id belongs to the organization.
 *
 * An id needs no query to be read. One that was made up, or that another organization got, is recognized at once.
 */
import { looksLike } from "../../schema/Ids.ts"

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
const half = 13

const lettersOf = (value: bigint): string => {
  let text = ""
  for (let rest = value; text.length < half; rest >>= 5n) text = alphabet.charAt(Number(rest & 31n)) + text
  return text
}

const proofOf = (about: string): string => {
  const hash = new Bun.CryptoHasher("sha256").update(about).digest()
  return Array.from(hash.subarray(0, half), (byte) => alphabet.charAt(byte & 31)).join("")
}

export const eventId = (org_id: string, position: bigint): string => {
  const letters = lettersOf(position)
  return `evt_${letters}${proofOf(`${org_id} ${letters}`)}`
}

/** The position of an id of this organization; null for any other text. */
export const positionOf = (org_id: string, id: string): bigint | null => {
  if (!looksLike("evt", id)) return null
  const letters = id.slice(4, 4 + half)
  let position = 0n
  for (const letter of letters) {
    const digit = alphabet.indexOf(letter)
    if (digit < 0) return null
    position = position * 32n + BigInt(digit)
  }
  return position < 2n ** 63n && eventId(org_id, position) === id ? position : null
}

/** Ids of a run's events that are not in the log, because nobody listened when they happened. They have no position. */
export const unloggedId = (run_id: string, step: number): string =>
  `evt_${"0".repeat(half)}${proofOf(`${run_id} ${step}`)}`
