/**
 * Computes the ledger's hash chain (E9): each entry's hash covers the entry and the wallet's previous hash.
 *
 * The process hashes, because the database would spend a turn's time on it. The auditor recomputes the chain with the SQL function
 * `ledger_hash` (postgres/schema/wallets.sql), which shares no code with this module.
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

/** The previous hash of a wallet's first entry. */
const start = new Uint8Array(32)

/**
 * The hashed text of an entry. Two different entries never share one: the reference and the note may hold any character, so the
 * reference follows its length and the note stands last. No earlier field can hold a `|`.
 */
const canonical = (entry: Unlinked, created_micros: bigint): string => {
  const { org_id, seq, txn_id, type, amount, balance_after, reserved_after, run_id, reference, note } = entry
  const fixed = `${org_id}|${seq}|${txn_id}|${type}|${amount}|${balance_after}|${reserved_after}|${run_id ?? "-"}`
  const texts = `${Buffer.byteLength(reference)}|${reference}|${note === null ? "-" : `+${note}`}`
  return `${fixed}|${created_micros}|${texts}`
}

/**
 * Chains new entries, in order, to the newest hashes of their wallets. `created_micros` is the creation time of all entries, in
 * microseconds since 1970. Returns the entries with their hashes, and the heads of the wallets that have new ones.
 */
export const link = (
  wallets: ReadonlyMap<string, { readonly head: Uint8Array | null }>,
  entries: ReadonlyArray<Unlinked>,
  created_micros: bigint
): { readonly entries: ReadonlyArray<Linked>; readonly heads: ReadonlyMap<string, Uint8Array> } => {
  const after = new Map<string, Uint8Array>()
  const linked = entries.map((entry): Linked => {
    const previous = after.get(entry.org_id) ?? wallets.get(entry.org_id)?.head ?? start
    const hash = new Bun.CryptoHasher("sha256").update(previous).update(canonical(entry, created_micros)).digest()
    after.set(entry.org_id, hash)
    return { ...entry, hash }
  })
  return { entries: linked, heads: after }
}
