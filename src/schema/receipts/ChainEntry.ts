/**
 * A ledger entry with everything that its hash covers, so that anybody can compute the hash again. Pure.
 *
 * The text that is hashed is also computed in layers/ledger/LedgerChain.ts, for each turn, and in SQL, for the audit. A test compares them.
 */
import { Schema } from "effect"
import { entryTypes } from "../wallet/Wallet.ts"
import { signed } from "../money/Money.ts"
import { such } from "../nouns/Noun.ts"

const Amount = Schema.String.check(Schema.isPattern(/^-?(0|[1-9]\d{0,9})\.\d{2,6}$/u), Schema.isMaxLength(18))
const Hash = such("0".repeat(64)).check(Schema.isPattern(/^[0-9a-f]{64}$/u), Schema.isMaxLength(64))
const Time = Schema.String.check(Schema.isPattern(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/u), Schema.isMaxLength(27))

export const ChainEntry = Schema.Struct({
  seq: Schema.Int,
  id: Schema.String,
  type: Schema.Literals(entryTypes),
  amount: Amount,
  balance_after: Amount,
  reserved_after: Amount,
  run_id: Schema.NullOr(Schema.String),
  reference: Schema.String,
  note: Schema.NullOr(Schema.String),
  /** In microseconds, because the hash covers them. */
  created_at: Time,
  hash: Hash,
  /** The hash of the entry before. Null if that entry was dropped with its month. */
  previous: Schema.NullOr(Hash)
}).annotate({
  identifier: "ChainEntry",
  examples: [
    {
      seq: 1,
      id: "txn_01m81nzka7esv3bpvycnp7tj2e",
      type: "bonus",
      amount: "50.00",
      balance_after: "50.00",
      reserved_after: "0.00",
      run_id: null,
      reference: "bonus:org_01m81nzk5dej20zws915h61fdz:welcome-1",
      note: "welcome",
      created_at: "2026-11-22T09:30:00.123456Z",
      hash: "5f0c6b1e9a7d44e28b8f3c1d0a9e7b6c5d4e3f2a1b0c9d8e7f6a5b4c3d2e1f00",
      previous: "0".repeat(64)
    }
  ]
})
export type ChainEntry = typeof ChainEntry.Type

/** The previous hash of a wallet's first entry. */
export const firstPrevious = "0".repeat(64)

const microsOf = (time: string): bigint =>
  BigInt(Date.parse(`${time.slice(0, 19)}Z`)) * 1_000n + BigInt(time.slice(20, 26))

/** The time of microseconds since 1970. */
export const timeOf = (micros: bigint): string => {
  const seconds = new Date(Number(micros / 1_000_000n) * 1_000).toISOString().slice(0, 19)
  return `${seconds}.${String(micros % 1_000_000n).padStart(6, "0")}Z`
}

/** The text whose SHA-256, after the 32 bytes of the hash before, is the entry's hash. */
export const hashedText = (org_id: string, entry: ChainEntry): string => {
  const { seq, id, type, amount, balance_after, reserved_after, run_id, reference, note, created_at } = entry
  const amounts = [amount, balance_after, reserved_after].map(signed).join("|")
  const length = new TextEncoder().encode(reference).length
  const texts = `${length}|${reference}|${note === null ? "-" : `+${note}`}`
  return `${org_id}|${seq}|${id}|${type}|${amounts}|${run_id ?? "-"}|${microsOf(created_at)}|${texts}`
}
