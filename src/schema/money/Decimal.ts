/**
 * Exact decimals for prices finer than a microdollar. They are parsed from plain decimal strings, added and multiplied, and rounded once.
 *
 * A price is a sum of products of small numbers. Rounding each step would add up to a visible error.
 */
import * as Money from "./Money.ts"

export interface Decimal {
  readonly digits: bigint
  /** Digits behind the point. */
  readonly scale: number
}

export const zero: Decimal = { digits: 0n, scale: 0 }
export const one: Decimal = { digits: 1n, scale: 0 }

/** `text` must have passed its schema: digits, optionally with a point and more digits. */
export const parse = (text: string): Decimal => {
  const [whole = "0", fraction = ""] = text.split(".")
  return { digits: BigInt(whole + fraction), scale: fraction.length }
}

export const integer = (digits: bigint): Decimal => ({ digits, scale: 0 })

const atScale = ({ digits, scale }: Decimal, wanted: number): bigint => digits * 10n ** BigInt(wanted - scale)

export const plus = (a: Decimal, b: Decimal): Decimal => {
  const scale = Math.max(a.scale, b.scale)
  return { digits: atScale(a, scale) + atScale(b, scale), scale }
}

export const times = (a: Decimal, b: Decimal): Decimal => ({ digits: a.digits * b.digits, scale: a.scale + b.scale })

export const max = (a: Decimal, b: Decimal): Decimal => {
  const scale = Math.max(a.scale, b.scale)
  return atScale(a, scale) < atScale(b, scale) ? b : a
}

export const sum = (terms: Iterable<Decimal>): Decimal => {
  let total = zero
  for (const term of terms) total = plus(total, term)
  return total
}

export const product = (factors: Iterable<Decimal>): Decimal => {
  let total = one
  for (const factor of factors) total = times(total, factor)
  return total
}

/** a × numerator ÷ denominator, rounded up to `decimals` digits behind the point. */
export const scaledUp = (a: Decimal, numerator: Decimal, denominator: Decimal, decimals: number): Decimal => {
  const divisor = denominator.digits * 10n ** BigInt(a.scale + numerator.scale)
  const digits = a.digits * numerator.digits * 10n ** BigInt(denominator.scale + decimals)
  return { digits: (digits + divisor - 1n) / divisor, scale: decimals }
}

export const isEqual = (a: Decimal, b: Decimal): boolean =>
  atScale(a, a.scale + b.scale) === atScale(b, a.scale + b.scale)

/** An amount in USD, rounded up to a microdollar. */
export const micros = ({ digits, scale }: Decimal): Money.MicroUsd => {
  const divisor = 10n ** BigInt(scale)
  return Money.MicroUsd((digits * 1_000_000n + divisor - 1n) / divisor)
}

/** The plain decimal string without trailing zeros: "0.000125", "20". */
export const text = ({ digits, scale }: Decimal): string => {
  const all = String(digits).padStart(scale + 1, "0")
  const whole = all.slice(0, all.length - scale)
  const fraction = all.slice(all.length - scale).replace(/0+$/, "")
  return fraction === "" ? whole : `${whole}.${fraction}`
}

/** The exact amount in USD with two decimals at least, as all amounts are shown: "0.000125", "20.00". */
export const usd = (amount: string): string => {
  const [whole = "0", fraction = ""] = text(parse(amount)).split(".")
  return `${whole}.${fraction.padEnd(2, "0")}`
}
