/** The day that counts spending (schema/money/SpendDay.ts), as SQL. `zones` is a wallet's `time_zones`. */

/** The day of a time, as a date. */
export const dayOf = (time: string, zones?: string) =>
  zones === undefined ? `(${time} AT TIME ZONE 'UTC')::date` : `spend_day(${zones}, ${time})`

/** The time zones of an organization. */
export const zonesOf = (org_id: string) => `(SELECT z.time_zones FROM wallets z WHERE z.org_id = ${org_id})`

/** The first moment of a UTC day. */
export const startOf = (day: string) => `(${day})::timestamp AT TIME ZONE 'UTC'`

/** Today in UTC. */
export const today = dayOf("now()")

/** Today of a wallet, or its day at another time. */
export const todayOf = (wallet: string, time = "now()") => dayOf(time, `${wallet}.time_zones`)

/** What a wallet has spent today. */
export const spentToday = (wallet: string) =>
  `CASE WHEN ${wallet}.spent_day >= ${todayOf(wallet)} THEN ${wallet}.spent ELSE 0 END`
