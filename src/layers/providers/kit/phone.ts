/**
 * A phone number as capabilities answer it: E.164, without the spaces, dots and brackets that providers print.
 *
 * A number without its country's prefix stays as it came: which country it belongs to is not ours to guess.
 */

export const international = (number: string | null): string | null => {
  if (number === null || !/^\+[\d\s().-]{7,}$/.test(number)) return number
  return `+${number.replace(/\D/g, "")}`
}
