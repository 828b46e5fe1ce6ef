/**
 * Converts a provider's cost report into microdollars: the reported amount, or credits multiplied by the price of a credit.
 *
 * Decimals are exact, rounded up once, and at most a million dollars. A report that can't be read gives null, and settlement then uses the rate card. A reported
 * zero is zero.
 */
import * as Money from "../money/Money.ts"
import type { Cost } from "./Provider.ts"

interface Decimal {
  readonly digits: bigint
  readonly scale: number
}

/** Plain decimals only, because no provider reports costs with an exponent or a sign. */
const decimal = (text: string): Decimal | null => {
  const [, whole, fraction = ""] = /^(\d{1,12})(?:\.(\d{1,18}))?$/.exec(text) ?? []
  return whole === undefined ? null : { digits: BigInt(whole + fraction), scale: fraction.length }
}

/** A higher report is a mistake, or an attack. It must fit every column and command, so that the run can end. */
const costMax = Money.dollars("1000000.00")

const oneDollar: Decimal = { digits: 1n, scale: 0 }

/** `credit` is the operator's price of a provider credit in USD. Null if it is unknown. */
export const measuredOf = (cost: Cost | null, credit: string | null): Money.MicroUsd | null => {
  const amount = cost === null ? null : decimal(cost.amount)
  if (cost === null || amount === null) return null
  if (amount.digits === 0n) return Money.zero
  const price = cost.unit === "USD" ? oneDollar : credit === null ? null : decimal(credit)
  if (price === null) return null
  const divisor = 10n ** BigInt(amount.scale + price.scale)
  const micros = Money.MicroUsd((amount.digits * price.digits * 1_000_000n + divisor - 1n) / divisor)
  return Money.min(micros, costMax)
}
