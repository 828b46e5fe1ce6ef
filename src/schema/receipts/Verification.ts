/**
 * What a receipt's own contents prove, in plain words: whether its ledger entries form a chain, and whether its amounts add up. Pure.
 *
 * The signature is checked before. It says that the service made the receipt; these checks say that the receipt agrees with itself.
 */
import * as Money from "../money/Money.ts"
import { type ChainEntry, hashedText } from "./ChainEntry.ts"
import type { Receipt } from "./Receipt.ts"

/** `unknown`: what it needs is not there. */
export interface Check {
  readonly result: "ok" | "failed" | "unknown"
  readonly text: string
}

export const ok = (text: string): Check => ({ result: "ok", text })
export const failed = (text: string): Check => ({ result: "failed", text })
export const unknown = (text: string): Check => ({ result: "unknown", text })

/** SHA-256 of bytes given in hexadecimal, followed by a text. In hexadecimal. */
export type Sha256 = (previous: string, text: string) => string

/** Whether the hash is computed from the entry. Null if the hash before it is not known. */
export const isHashed = (org_id: string, entry: ChainEntry, sha256: Sha256): boolean | null =>
  entry.previous === null ? null : sha256(entry.previous, hashedText(org_id, entry)) === entry.hash

const entries = (count: number) => (count === 1 ? "1 ledger entry" : `${count} ledger entries`)

const hashChecks = ({ org_id, ledger }: Receipt, sha256: Sha256): ReadonlyArray<Check> => {
  if (ledger.length === 0) return [ok("The run has no ledger entries: it held no money.")]
  const wrong = ledger.filter((entry) => isHashed(org_id, entry, sha256) === false)
  const lost = ledger.filter(({ previous }) => previous === null)
  const apart = ledger.some(({ seq, previous }) => {
    const before = ledger.find((one) => one.seq === seq - 1)
    return before !== undefined && previous !== before.hash
  })
  if (wrong.length > 0)
    return [failed(`The hash of ledger entry ${wrong[0]?.seq} is not computed from the entry and the hash before it.`)]
  if (apart)
    return [failed("Two ledger entries follow each other, and the second one does not contain the hash of the first.")]
  const numbers = ledger.map(({ seq }) => seq).join(", ")
  const hashed = ledger.length - lost.length
  return [
    ...(hashed === 0
      ? []
      : [ok(`${entries(hashed)} (${numbers}): each hash is computed from the entry and the hash before it.`)]),
    ...(lost.length === 0
      ? []
      : [
          unknown(
            `${entries(lost.length)}: the entry before was dropped with its month, so the hash can't be computed.`
          )
        ])
  ]
}

/** With its sign. */
export const sumOf = (ledger: ReadonlyArray<ChainEntry>, type: ChainEntry["type"]): bigint =>
  Money.sum(ledger.filter((one) => one.type === type).map(({ amount }) => Money.signed(amount)))

const amountCheck = ({ ledger, hold, charge, run_id, status }: Receipt): Check => {
  const foreign = ledger.find((one) => one.run_id !== run_id)
  if (foreign !== undefined) return failed(`Ledger entry ${foreign.seq} is about another run.`)
  const charged = Money.dollars(charge ?? "0.00")
  const [reserved, settled, released] = [sumOf(ledger, "reserve"), sumOf(ledger, "settle"), sumOf(ledger, "release")]
  const held = -reserved
  const amounts = `held $${Money.usd(held)}, charged $${Money.usd(charged)}, released $${Money.usd(released)}`
  const adds = -settled === charged && held === charged + released && (held === 0n || held === Money.dollars(hold))
  return adds
    ? ok(`The run ended as ${status}: ${amounts}. The ledger entries add up to the charge.`)
    : failed(`The amounts do not add up: ${amounts}, by ledger entries of $${Money.usd(-settled)}.`)
}

const choiceCheck = ({ decision, attempts, provider, reused_from }: Receipt): Check => {
  if (decision === null)
    return unknown("The run was erased, so the receipt does not say how its providers were chosen.")
  const chosen = decision.offers.filter((one) => one.chosen).map((one) => one.provider)
  const stranger = attempts.find((one) => !chosen.includes(one.provider))
  if (stranger !== undefined) return failed(`${stranger.provider} was called, and the decision did not choose it.`)
  const left = decision.offers.length - chosen.length
  const nobody =
    reused_from === undefined ? "nobody was called" : `nobody was called: the result is that of ${reused_from}`
  const called = attempts.length === 0 ? nobody : `called: ${attempts.map((one) => one.provider).join(", ")}`
  return ok(
    `${chosen.join(", ")} ${chosen.length === 1 ? "was" : "were"} chosen and ${left} left out; ${called}${provider === null ? "" : `; served by ${provider}`}.`
  )
}

export const checksOf = (receipt: Receipt, sha256: Sha256): ReadonlyArray<Check> => [
  ...hashChecks(receipt, sha256),
  amountCheck(receipt),
  choiceCheck(receipt)
]
