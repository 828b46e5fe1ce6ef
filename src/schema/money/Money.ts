/**
 * Money: integer microdollars (1 USD = 1,000,000) in a branded `bigint`.
 *
 * No floating point is used. On the wire, money is a decimal string without exponent, with 2 to 6 decimals ("10.00", "0.0042").
 * Only ledger amounts carry a sign.
 */
import { Brand, Schema, SchemaGetter } from "effect"
import { unsignedPattern } from "./AmountText.ts"

export type MicroUsd = bigint & Brand.Brand<"MicroUsd">
/** Names a `bigint` as microdollars. It costs nothing at run time. */
export const MicroUsd = Brand.nominal<MicroUsd>()

export const zero = MicroUsd(0n)

/** A sign, ten digits, the point and six digits. */
const amountCharsMax = 18
const signedPattern = /^-?(0|[1-9]\d{0,9})(\.\d{1,6})?$/u

export const plus = (a: MicroUsd, b: MicroUsd): MicroUsd => MicroUsd(a + b)
export const minus = (a: MicroUsd, b: MicroUsd): MicroUsd => MicroUsd(a - b)
export const negate = (a: MicroUsd): MicroUsd => MicroUsd(-a)
/** `count` is a whole number of units, never a rate. */
export const times = (a: MicroUsd, count: number): MicroUsd => MicroUsd(a * BigInt(count))
/** `part / whole` of an amount, rounded up. */
export const share = (a: MicroUsd, part: bigint, whole: bigint): MicroUsd => MicroUsd((a * part + whole - 1n) / whole)
export const min = (a: MicroUsd, b: MicroUsd): MicroUsd => (a < b ? a : b)
export const max = (a: MicroUsd, b: MicroUsd): MicroUsd => (a > b ? a : b)
export const sum = (amounts: Iterable<MicroUsd>): MicroUsd => {
  let total = 0n
  for (const amount of amounts) total += amount
  return MicroUsd(total)
}

const centMicros = 10_000n
/** Payment processors count in cents. `cents` is a whole number. */
export const ofCents = (cents: number): MicroUsd => MicroUsd(BigInt(cents) * centMicros)
/** Whole cents. Null if the amount has a fraction of a cent. */
export const centsOf = (amount: MicroUsd): number | null =>
  amount % centMicros === 0n ? Number(amount / centMicros) : null

const parse = (text: string): MicroUsd => {
  const [whole = "0", fraction = ""] = text.replace("-", "").split(".")
  const micros = BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, "0"))
  return MicroUsd(text.startsWith("-") ? -micros : micros)
}

/** The wire form: `usd(MicroUsd(4200n))` is "0.0042". */
export const usd = (micros: bigint): string => {
  const abs = micros < 0n ? -micros : micros
  const fraction = String(abs % 1_000_000n)
    .padStart(6, "0")
    .replace(/0{1,4}$/, "")
  return `${micros < 0n ? "-" : ""}${abs / 1_000_000n}.${fraction}`
}

/** A decimal number of up to 15 digits is what was written. One with more may have been rounded. */
const exactDigits = 15
/** The wire form of an amount that came as a JSON number. Null for a number that is no exact amount. */
export const writtenUsd = (amount: number): string | null => {
  const text = String(amount)
  return unsignedPattern.test(text) && text.replace(".", "").length <= exactDigits ? text : null
}

/** Reads a literal of our own code, such as a price. Dies on anything but a plain decimal string. */
export const dollars = (text: string): MicroUsd => {
  if (!unsignedPattern.test(text)) throw new Error(`not an amount: ${text}`)
  return parse(text)
}

/** Reads an amount that may be negative. Dies on anything but a plain decimal string. */
export const signed = (text: string): MicroUsd => {
  if (!signedPattern.test(text)) throw new Error(`not an amount: ${text}`)
  return parse(text)
}

const codec = (pattern: RegExp, identifier: string, description: string) =>
  Schema.String.check(
    Schema.isPattern(pattern, { message: `must be ${description}` }).abort(),
    Schema.isMaxLength(amountCharsMax)
  )
    .annotate({ identifier, description })
    .pipe(
      Schema.decodeTo(Schema.BigInt.pipe(Schema.fromBrand("MicroUsd", MicroUsd)), {
        decode: SchemaGetter.transform(parse),
        encode: SchemaGetter.transform(usd)
      })
    )

/** An amount in a request or a price: "0.0042". */
export const Usd = codec(unsignedPattern, "Usd", 'a decimal string in USD such as "10.00", at most 6 decimals')
/** A ledger amount, which may be negative. */
export const SignedUsd = codec(signedPattern, "SignedUsd", 'a signed decimal string in USD such as "-0.0042"')
