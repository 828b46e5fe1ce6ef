/** The day that counts spending (schema/money/SpendDay.ts), as SQL. */

/** The day of a time, as a date. */
export const dayOf = (time: string) => `(${time} AT TIME ZONE 'UTC')::date`

/** The first moment of a day. */
export const startOf = (day: string) => `(${day})::timestamp AT TIME ZONE 'UTC'`

export const today = dayOf("now()")

/** What a wallet has spent today. */
export const spentToday = (wallet: string) => `CASE WHEN ${wallet}.spent_day = ${today} THEN ${wallet}.spent ELSE 0 END`
