/**
 * Compares the ledger of today with heads that a customer has kept: whether each is still an entry of the chain. Pure, one entry at a time, so a
 * long ledger needs no memory.
 *
 * The hashes are computed again from the entries. So whoever rewrites an entry must change all hashes after it, and with them the kept head.
 */
import { type ChainEntry, firstPrevious } from "./ChainEntry.ts"
import type { LedgerHead } from "./Receipt.ts"
import { type Check, failed, isHashed, ok, type Sha256, unknown } from "./Verification.ts"

export interface ChainState {
  readonly org_id: string
  /** The entries are whole from this one on: it follows the checkpoint of dropped months, or is the first. */
  readonly from: number
  /** The hash before it. Null if nobody knows it. */
  readonly base: string | null
  readonly last: { readonly seq: number; readonly hash: string } | null
  /** The hashes of entries that heads are about. */
  readonly hashes: ReadonlyMap<number, string>
  /** The first thing that is wrong with the chain itself. */
  readonly broken: string | null
}

export const beginChain = (org_id: string): ChainState => ({
  org_id,
  from: 1,
  base: firstPrevious,
  last: null,
  hashes: new Map(),
  broken: null
})

const wrongWith = (state: ChainState, entry: ChainEntry, sha256: Sha256): string | null => {
  const { seq, previous } = entry
  const { last } = state
  if (last !== null && seq <= last.seq) return `entry ${seq} comes after entry ${last.seq}`
  if (last?.seq === seq - 1 && previous !== last.hash)
    return `entry ${seq} does not contain the hash of entry ${seq - 1}`
  if (last === null && seq === 1 && previous !== firstPrevious) return "the first entry names an entry before it"
  return isHashed(state.org_id, entry, sha256) === false
    ? `the hash of entry ${seq} is not computed from the entry and the hash before it`
    : null
}

/** Adds the next entry. `wanted` are the numbers of entries that heads are about. */
export const nextEntry = (
  state: ChainState,
  entry: ChainEntry,
  wanted: ReadonlySet<number>,
  sha256: Sha256
): ChainState => {
  const { seq, hash, previous } = entry
  const follows = seq === (state.last?.seq ?? 0) + 1
  return {
    ...state,
    // A gap: the entries between were dropped with their months.
    ...(follows ? {} : { from: seq, base: previous }),
    last: { seq, hash },
    hashes: wanted.has(seq) ? new Map(state.hashes).set(seq, hash) : state.hashes,
    broken: state.broken ?? wrongWith(state, entry, sha256)
  }
}

export const headCheck = ({ from, base, last, hashes }: ChainState, { day, seq, hash }: LedgerHead): Check => {
  const rewritten = (today: string) =>
    failed(`The ledger was rewritten: on ${day} entry ${seq} had the hash ${hash}, and today it has ${today}.`)
  const now = hashes.get(seq) ?? (seq === from - 1 ? base : null)
  if (now === null && seq < from)
    return unknown(
      `The head of ${day} can't be compared: entry ${seq} was dropped with its month, and today's chain begins at entry ${from}.`
    )
  if (now === null)
    return failed(
      `The ledger lost entries: on ${day} it had entry ${seq}, and today it ends at entry ${last?.seq ?? 0}.`
    )
  if (now !== hash) return rewritten(now)
  if (from === 1) return ok(`The head of ${day} is in today's chain: entries 1 to ${seq} are those that were signed.`)
  return ok(
    seq < from
      ? `The head of ${day} is what today's chain continues from. Its entries were dropped with their months, so only their hash is left.`
      : `The head of ${day} is in today's chain: entries ${from} to ${seq} are those that were signed. Earlier ones were dropped with their months.`
  )
}

export const chainCheck = ({ broken, from, last }: ChainState): Check =>
  broken !== null
    ? failed(`Today's chain is broken: ${broken}.`)
    : ok(
        last === null
          ? "Today's ledger has no entries."
          : `Today's chain is whole from entry ${from} to entry ${last.seq}: every hash is computed from the entry and the hash before it.`
      )
