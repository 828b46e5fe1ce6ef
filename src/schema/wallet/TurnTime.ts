/**
 * How old a turn's time may be when the turn is written.
 *
 * A turn takes the database's time when it reads. It dates its entries by that time, and counts the budgets of a day. A process that was frozen
 * in between would do so by a time long ago, so the statement that writes a turn compares that time with its own, and a late turn begins again.
 */

/** Minutes between a turn's reading and its writing, at most. */
export const turnMinutesMax = 10
/** The same for a turn that has read nothing and reckons its time from an earlier reading: seconds. */
export const recalledSecondsMax = 2
