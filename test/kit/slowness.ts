/**
 * How many times slower this machine is than the one on which the tests' limits of time were chosen. All of them grow by it together, so
 * that a limit inside another one stays the smaller one.
 *
 * It is measured when a test process starts, or given as TEST_SLOWNESS. Processes that this one starts have the same.
 */

/** What the work below took on two shared cores of 2026 when the limits were chosen. */
const usualMillis = 20
/** More than that is no slow machine but one that stands still, and a test that hangs is noticed. */
const slownessMax = 4

/** A little of what the tests do all the time, in a process that has just started. */
const work = (): void => {
  const rows = Array.from({ length: 400 }, (_, n) => ({ n, text: `row ${n}`, list: [n, n + 1, n + 2] }))
  for (let round = 0; round < 150; round++) JSON.parse(JSON.stringify(rows))
}

const measured = (): number => {
  const began = performance.now()
  work()
  return (performance.now() - began) / usualMillis
}

/** Exported for its test. */
export const slownessOf = (given: string | undefined, measure: () => number): number => {
  if (given === undefined) return Math.min(slownessMax, Math.max(1, measure()))
  const slowness = Number(given)
  if (!(slowness >= 1 && slowness <= 100))
    throw new Error(`TEST_SLOWNESS must be a number from 1 to 100, not "${given}"`)
  return slowness
}

export const slowness = slownessOf(process.env["TEST_SLOWNESS"], measured)
process.env["TEST_SLOWNESS"] = String(slowness)

/** One limit for all tests and hooks, long enough for the longest on a busy machine. A test waits less for one thing (`untilSeconds`). */
export const testMillis = 180_000 * slowness
/** Less than a test has, so that a test which waits in vain says for what. */
export const untilSeconds = 25
