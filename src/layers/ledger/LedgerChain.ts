/**
 * The ledger's hash chain (E9): each entry's hash covers the entry and the hash before it, per wallet.
 *
 * Hashed here and not in the database, where it would cost the turn time. `ledger_hash` (migrations/0008_chain.ts) says the same in
 * SQL and shares no code with this, so the auditor, who uses that one, checks this one as well.
 */
import type { Entry } from "../../schema/wallet/Wallet.ts"

export interface Unlinked extends Entry {
  readonly org_id: string
  readonly txn_id: string
}
export interface Linked extends Unlinked {
  /** SHA-256, 32 bytes. */
  readonly hash: Uint8Array
}

/** Stands before a wallet's first entry. */
const start = new Uint8Array(32)

/**
 * One text per entry. No two entries share it: the reference, which may hold any character, is preceded by its length, and the
 * note, which may too, stands last; what is before them can't hold a `|`.
 */
const canonical = (entry: Unlinked, created_micros: bigint): string => {
  const { org_id, seq, txn_id, type, amount, balance_after, reserved_after, run_id, reference, note } = entry
  const fixed = `${org_id}|${seq}|${txn_id}|${type}|${amount}|${balance_after}|${reserved_after}|${run_id ?? "-"}`
  const texts = `${Buffer.byteLength(reference)}|${reference}|${note === null ? "-" : `+${note}`}`
  return `${fixed}|${created_micros}|${texts}`
}

/**
 * Links new entries, in order, to their wallets' heads (none for a wallet without entries). `created_micros` is when all of them
 * were made, in microseconds since 1970. Answers the entries with their hashes and the heads as they then are.
 */
export const link = (
  heads: ReadonlyMap<string, Uint8Array>,
  entries: ReadonlyArray<Unlinked>,
  created_micros: bigint
): { readonly entries: ReadonlyArray<Linked>; readonly heads: ReadonlyMap<string, Uint8Array> } => {
  const after = new Map(heads)
  const linked = entries.map((entry): Linked => {
    const previous = after.get(entry.org_id) ?? start
    const hash = new Bun.CryptoHasher("sha256").update(previous).update(canonical(entry, created_micros)).digest()
    after.set(entry.org_id, hash)
    return { ...entry, hash }
  })
  return { entries: linked, heads: after }
}
