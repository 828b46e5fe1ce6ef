/** Formats amounts, times and durations for display. */

/** Such as "$0.012"; null stays null. */
export const dollars = (amount: string | null): string | null =>
  amount === null ? null : amount.startsWith("-") ? `-$${amount.slice(1)}` : `$${amount}`

/** Local time to the second: 2026-11-21 11:48:03. */
export const timeOf = (iso: string): string => {
  const at = new Date(iso)
  if (Number.isNaN(at.getTime())) return iso
  const two = (value: number) => String(value).padStart(2, "0")
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join("-")
  return `${day} ${[at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(":")}`
}

/** The same in UTC, which means the same on every machine. */
export const utcOf = (iso: string): string => `${iso.slice(0, 19)}Z`

export const durationOf = (millis: number): string =>
  millis < 1000 ? `${millis} ms` : `${(millis / 1000).toFixed(millis < 10_000 ? 1 : 0)} s`

const units = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"]
] as const

/** The time between both, such as "5 min". Both are in milliseconds since 1970. */
export const agoOf = (then: number, now: number): string => {
  const seconds = Math.max(0, Math.round((now - then) / 1000))
  const unit = units.find(([size]) => seconds >= 2 * size)
  return unit === undefined ? `${seconds} s` : `${Math.floor(seconds / unit[0])} ${unit[1]}`
}
