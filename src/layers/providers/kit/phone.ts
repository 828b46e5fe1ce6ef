/**
 * Converts a provider's phone number to E.164, without spaces, dots and brackets.
 *
 * A number without a country prefix stays unchanged, because its country is unknown.
 */

export const international = (number: string | null): string | null => {
  if (number === null || !/^\+[\d\s().-]{7,}$/.test(number)) return number
  return `+${number.replace(/\D/g, "")}`
}
