/** Amounts as the API writes them: decimal text of US dollars with up to six places. No amount passes through a floating-point number here. */

const amountForm = /^-?\d+(\.\d{1,6})?$/
const isAmount = (text: string): text is `${number}` => amountForm.test(text)
const microsPlaces = 6

/** Millionths of a dollar. Null for a text that is no amount. */
export const microsOf = (text: string): bigint | null => {
  const amount = text.trim()
  const [whole = "", fraction = ""] = amount.split(".")
  return isAmount(amount) ? BigInt(whole + fraction.padEnd(microsPlaces, "0")) : null
}

/** Formats a decimal text as it stands, without making it a number. */
const dollars = new Intl.NumberFormat("en", {
  ...{ style: "currency", currency: "USD", signDisplay: "negative" },
  maximumFractionDigits: microsPlaces
})

/** At least two places, and never fewer than the amount has: `0.0468` stays `$0.0468`. */
export const exactDollars = (text: string): string => {
  const amount = text.trim()
  return isAmount(amount) ? dollars.format(amount).replace("-", "−") : text
}

/** Whole cents, without the rest of a cent: for summaries, where pointing at the amount shows all of it. */
export const centsDollars = (text: string): string => {
  const micros = microsOf(text)
  if (micros === null) return text
  const rest = micros % 10_000n
  if (micros - rest === 0n && rest !== 0n) return rest < 0n ? "> −$0.01" : "< $0.01"
  return exactDollars(amountOf(micros - rest))
}

/** Dollars as a number, for the height of a bar or a point of a line only. */
export const heightOf = (text: string): number => Number(microsOf(text) ?? 0n) / 1_000_000

/** An amount at the axis of a chart whose labels are `step` dollars apart: in full, so that no two labels look the same. */
export const axisDollars = (value: number, step: number): string =>
  Number.isInteger(step) ? `$${Math.round(value).toLocaleString("en")}` : exactDollars(value.toFixed(microsPlaces))

/** A part of a whole from 0 to 1, for the width of a bar. */
export const shareOf = (part: string, whole: string): number => {
  const [a, b] = [microsOf(part) ?? 0n, microsOf(whole) ?? 0n]
  return b <= 0n ? 0 : Number((a * 10_000n) / b) / 10_000
}

/** Millionths of a dollar as the API writes an amount, without digits that say nothing. */
export const amountOf = (micros: bigint): string => {
  const digits = String(micros)
    .replace("-", "")
    .padStart(microsPlaces + 1, "0")
  const fraction = digits.slice(-microsPlaces).replace(/0{1,4}$/, "")
  return `${micros < 0n ? "-" : ""}${digits.slice(0, -microsPlaces)}.${fraction}`
}

export const sumOf = (amounts: ReadonlyArray<string>): string =>
  amountOf(amounts.reduce((sum, one) => sum + (microsOf(one) ?? 0n), 0n))

export const isLess = (a: string, b: string): boolean => (microsOf(a) ?? 0n) < (microsOf(b) ?? 0n)
