/**
 * The day that counts spending: of the daily limit, of budgets, automatic top-ups and free storage. It is the UTC day of the database, so that
 * midnight is the same instant for every process. Pure.
 *
 * Nobody else computes when a day begins or ends, or says so in a text. `layers/postgres/SpendDay.ts` says the same to PostgreSQL.
 */
export const dayMillis = 86_400_000

/** `2026-11-21`. */
export const dayAt = (millis: number): string => new Date(millis).toISOString().slice(0, 10)

const startOf = (day: string): number => Date.parse(`${day}T00:00:00Z`)

/** The first moment after a day. */
export const dayEnd = (day: string): Date => new Date(startOf(day) + dayMillis)

export const budgetPeriods = ["day", "week", "month", "total"] as const
export type BudgetPeriod = (typeof budgetPeriods)[number]

const isoWeekday = (day: string): number => (new Date(startOf(day)).getUTCDay() + 6) % 7

/** The first day of the period in which `day` lies. Weeks start on Monday. Null for `total`. */
export const periodStart = (period: BudgetPeriod, day: string): string | null => {
  switch (period) {
    case "day":
      return day
    case "week":
      return dayAt(startOf(day) - isoWeekday(day) * dayMillis)
    case "month":
      return `${day.slice(0, 8)}01`
    case "total":
      return null
  }
}

/** When the sum of the period in which `day` lies begins anew. Null for `total`. */
export const resetsAt = (period: BudgetPeriod, day: string): Date | null => {
  switch (period) {
    case "day":
      return dayEnd(day)
    case "week":
      return new Date(startOf(day) + (7 - isoWeekday(day)) * dayMillis)
    case "month": {
      const date = new Date(startOf(day))
      return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1))
    }
    case "total":
      return null
  }
}

/** When a day ends, in words. */
export const midnight = "00:00 UTC"

const resets: Readonly<Record<BudgetPeriod, string>> = {
  day: `it resets at ${midnight}`,
  week: `it resets on Monday at ${midnight}`,
  month: `it resets on the first of the month at ${midnight}`,
  total: "it never resets"
}

/** When a limit of a period resets, for messages. */
export const resetText = (period: BudgetPeriod): string => resets[period]
