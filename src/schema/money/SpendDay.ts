/**
 * The day that counts spending. That of the daily limit, of budgets and of usage is a day of the organization's time zone. That of automatic
 * top-ups and of free storage is UTC's. Pure.
 *
 * Nobody else computes when a day begins or ends, or says so in a text. `layers/postgres/SpendDay.ts` says the same to PostgreSQL, whose word
 * counts in the turn, so that zones of another version in this process change nothing.
 */
export const dayMillis = 86_400_000

/**
 * A change of the time zone, at the time `since` in microseconds and on the day `on`. The day, week and month of `on` keep their end in the
 * zone `before`. So no change gives a second full budget, or a part of one, while a period runs.
 */
export interface ZoneChange {
  readonly zone: string
  readonly before: string
  readonly on: string
  readonly since: number
}

/** The changes of an organization's time zone, oldest first. Empty: it has counted days in UTC always. */
export type Zones = ReadonlyArray<ZoneChange>
const utc: Zones = []

/** `Europe/Berlin`. */
export const zoneOf = (zones: Zones = utc): string => zones.at(-1)?.zone ?? "UTC"

const utcDay = (millis: number): string => new Date(millis).toISOString().slice(0, 10)
const utcStart = (day: string): number => Date.parse(`${day}T00:00:00Z`)
const dayLater = (day: string, days = 1): string => utcDay(utcStart(day) + days * dayMillis)

const dayIn = (zone: string, millis: number): string =>
  Temporal.Instant.fromEpochMilliseconds(Math.floor(millis)).toZonedDateTimeISO(zone).toPlainDate().toString()
const startIn = (zone: string, day: string): number =>
  Temporal.PlainDate.from(day).toZonedDateTime(zone).epochMilliseconds

export const budgetPeriods = ["day", "week", "month", "total"] as const
export type BudgetPeriod = (typeof budgetPeriods)[number]

const isoWeekday = (day: string): number => (new Date(utcStart(day)).getUTCDay() + 6) % 7

/** The first day of the period in which `day` lies. Weeks start on Monday. Null for `total`. */
export const periodStart = (period: BudgetPeriod, day: string): string | null => {
  switch (period) {
    case "day":
      return day
    case "week":
      return dayLater(day, -isoWeekday(day))
    case "month":
      return `${day.slice(0, 8)}01`
    case "total":
      return null
  }
}

/** The first day after the period in which `day` lies. Null for `total`. */
const nextStart = (period: BudgetPeriod, day: string): string | null => {
  switch (period) {
    case "day":
      return dayLater(day)
    case "week":
      return dayLater(day, 7 - isoWeekday(day))
    case "month":
      // No month has 32 days, and every one has 28.
      return `${dayLater(`${day.slice(0, 8)}28`, 4).slice(0, 8)}01`
    case "total":
      return null
  }
}

/** A day of the calendar, which JavaScript would make of 2026-02-31 too. */
export const isDay = (text: string): boolean =>
  /^2\d{3}-\d\d-\d\d$/.test(text) && !Number.isNaN(utcStart(text)) && utcDay(utcStart(text)) === text

/** A month such as 2026-11, or a day such as 2026-11-21: its first moment, and the first one after it. Null for anything else. */
export const namedPeriod = (text: string, zones: Zones = utc): { readonly from: Date; readonly to: Date } | null => {
  const [period, day] = /^\d{4}-\d\d$/.test(text) ? (["month", `${text}-01`] as const) : (["day", text] as const)
  const next = isDay(day) ? nextStart(period, day) : null
  return next === null ? null : { from: new Date(dayStart(day, zones)), to: new Date(dayStart(next, zones)) }
}

/** The first days after the day, the week and the month of a change. */
const nextStarts = ({ on }: ZoneChange): ReadonlyArray<string> =>
  budgetPeriods.flatMap((period) => nextStart(period, on) ?? [])

/** `2026-11-21`. */
export const dayAt = (millis: number, zones: Zones = utc): string => {
  const change = zones.findLast(({ since }) => since <= millis * 1_000)
  if (change === undefined) return utcDay(millis)
  const { on } = change
  const before = dayIn(change.before, millis)
  const ends = nextStarts(change).flatMap((next) => (before < next ? [dayLater(next, -1)] : []))
  const day = [dayIn(change.zone, millis), ...ends].reduce((first, one) => (one < first ? one : first))
  return day > on ? day : on
}

/** The first moment of a day, in milliseconds. */
export const dayStart = (day: string, zones: Zones = utc): number => {
  const starts = zones.map((change) => {
    const kept = nextStarts(change).flatMap((next) => (next <= day ? [startIn(change.before, next)] : []))
    return Math.max(change.since / 1_000, startIn(change.zone, day), ...kept)
  })
  const all = [utcStart(day), ...starts]
  return all.find((start, index) => start * 1_000 < (zones[index]?.since ?? Infinity)) ?? utcStart(day)
}

/** The first moment after a day. */
export const dayEnd = (day: string, zones: Zones = utc): Date => new Date(dayStart(dayLater(day), zones))

/** When the sum of the period in which `day` lies begins anew. Null for `total`. */
export const resetsAt = (period: BudgetPeriod, day: string, zones: Zones = utc): Date | null => {
  const next = nextStart(period, day)
  return next === null ? null : new Date(dayStart(next, zones))
}

/**
 * The zones after a change to `zone` at the time `micros`, on the day `day`. On the day of a change it may be corrected. Null: too early, because
 * a week or month that the last change has kept is not over.
 */
export const withZone = (zones: Zones, zone: string, day: string, micros: bigint): Zones | null => {
  const last = zones.at(-1)
  const before = zoneOf(zones)
  if (before === zone) return zones
  if (last === undefined) return [{ zone, before, on: day, since: Number(micros) }]
  if (dayIn(last.before, Number(micros / 1_000n)) <= last.on) return [...zones.slice(0, -1), { ...last, zone }]
  return nextStarts(last).some((next) => day < next)
    ? null
    : [...zones, { zone, before, on: day, since: Number(micros) }]
}

/** The day on which the time zone may change again. */
export const zoneChangesOn = (zones: Zones): string | null => {
  const last = zones.at(-1)
  return last === undefined ? null : nextStarts(last).reduce((latest, one) => (one > latest ? one : latest))
}

/** When a UTC day ends, in words. */
export const midnight = "00:00 UTC"

const resets: Readonly<Record<BudgetPeriod, string>> = {
  day: "it resets at",
  week: "it resets on Monday at",
  month: "it resets on the first of the month at",
  total: "it never resets"
}

/** When a limit of a period resets, for messages. */
export const resetText = (period: BudgetPeriod, zones: Zones = utc): string =>
  period === "total" ? resets.total : `${resets[period]} 00:00 ${zoneOf(zones)}`
