/**
 * When a webhook is sent again after a failure, and when its endpoint is paused.
 *
 * The delays grow from seconds to most of a day and add up to three days, as the Standard Webhooks specification recommends.
 */
const minute = 60_000
const hour = 60 * minute

/** Milliseconds between an attempt and the next one. */
const delays = [5_000, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 20 * hour] as const

export const attemptsMax = delays.length + 1

/** Spreads the retries of many deliveries that failed at the same moment. */
const jitterShare = 0.1

/** `random` is from 0 to 1. Null after the last attempt. */
export const retryDelay = (attempts: number, random: number): number | null => {
  const delay = delays[attempts - 1]
  return delay === undefined ? null : Math.round(delay * (1 + jitterShare * (2 * random - 1)))
}

/** An endpoint is paused when it has accepted nothing for so long and a delivery was given up. */
const failingMillisMax = 2 * 24 * hour
/**
 * A failing endpoint is sent to one delivery at a time, so each of very many is tried less often. After so long the next failure pauses it,
 * or its deliveries would grow without a limit.
 */
const failingMillisEnd = 4 * 24 * hour

/** The answer of a receiver that wants no more webhooks. */
const gone = 410

/** Why an endpoint is paused after a failed attempt. Null if it is not. */
export const pauseReason = (
  failed: { readonly status: number | null; readonly attempts: number },
  failingMillis: number
): "gone" | "failing" | null => {
  if (failed.status === gone) return "gone"
  const since = failed.attempts >= attemptsMax ? failingMillisMax : failingMillisEnd
  return failingMillis >= since ? "failing" : null
}
