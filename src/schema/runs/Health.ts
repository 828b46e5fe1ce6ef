/**
 * Health of an offer or a raw endpoint: counts of attempts, the metrics derived from them, and a verdict. Pure.
 *
 * A window holds only counts, so windows of different times, lanes and processes can be added exactly. Latencies are counted in
 * logarithmic buckets. A percentile is accurate to the width of a bucket, a fifth of its value.
 */
import { Schema } from "effect"

export const Metrics = Schema.Struct({
  success_rate: Schema.NullOr(Schema.Number),
  latency_ms_p50: Schema.NullOr(Schema.Int),
  latency_ms_p95: Schema.NullOr(Schema.Int),
  sample_size: Schema.Int
})
type Metrics = typeof Metrics.Type

export const Health = Schema.Struct({
  status: Schema.Literals(["healthy", "stable", "degraded", "outage", "unknown"]),
  ...Metrics.fields,
  source: Schema.Literals(["measured", "provider_reported"])
})
type Health = typeof Health.Type
export type HealthStatus = Health["status"]

export interface Window {
  readonly attempts: number
  readonly successes: number
  /** Successes by latency bucket. Failures are left out, because their latency does not show how fast the provider is. */
  readonly latencies: ReadonlyMap<number, number>
}

/** The measurements of one offer or endpoint. */
export interface Measured {
  /** Over the last 30 days: the recent window of the specification. */
  readonly metrics: Metrics
  readonly health: Health
  /** What routing expects of the next call: the metrics of 30 days, or of the last hour if that is worse. */
  readonly expected: Metrics
}

/** Outcomes that count as success. A provider that reports `no_match` works. */
const successOutcomes = ["succeeded", "inconclusive", "no_match"]
const failureOutcomes = [
  "provider_error",
  "provider_timeout",
  "provider_rate_limited",
  "provider_account",
  "invalid_response",
  "outcome_unknown"
]

/** Whether the provider worked. Null for outcomes that do not show it, such as an invalid request or a lost worker. */
export const providerWorked = (outcome: string): boolean | null =>
  successOutcomes.includes(outcome) ? true : failureOutcomes.includes(outcome) ? false : null

export const offerSubject = (capability: string, provider: string): string => `${capability} ${provider}`
/** `method` is `-` if only the path is known. */
export const endpointSubject = (provider: string, method: string, path: string): string =>
  `endpoint ${provider} ${method} ${path}`

/** Lengths of the windows in which attempts are counted. The last hour is the sum of 5-minute windows, the 30 days of UTC days. */
export const spans = ["5m", "1d"] as const
export type Span = (typeof spans)[number]
export const spanSeconds: Readonly<Record<Span, number>> = { "5m": 300, "1d": 86_400 }
export const hourSeconds = 3_600
export const monthSeconds = 30 * 86_400

/** The start of the window that contains a time, in seconds since 1970. */
export const windowStart = (span: Span, millis: number): number =>
  Math.floor(millis / 1_000 / spanSeconds[span]) * spanSeconds[span]

/** Four buckets per doubling of the latency, so a bucket is 19 % wide. Bucket 0 is less than a millisecond. */
const bucketsPerDoubling = 4
/** Nine hours: longer than any call may take. */
const bucketMax = 100

export const latencyBucket = (millis: number): number =>
  millis < 1 ? 0 : Math.min(bucketMax, 1 + Math.floor(bucketsPerDoubling * Math.log2(millis)))

/** The middle of a bucket, in whole milliseconds. */
export const bucketMillis = (bucket: number): number =>
  bucket <= 0 ? 0 : Math.round(2 ** ((bucket - 0.5) / bucketsPerDoubling))

export const noAttempts: Window = { attempts: 0, successes: 0, latencies: new Map() }

export const attemptsOf = (ok: boolean, bucket: number, count: number): Window => ({
  attempts: count,
  successes: ok ? count : 0,
  latencies: ok ? new Map([[bucket, count]]) : new Map()
})

export const sum = (windows: Iterable<Window>): Window => {
  const latencies = new Map<number, number>()
  let attempts = 0
  let successes = 0
  for (const window of windows) {
    attempts += window.attempts
    successes += window.successes
    for (const [bucket, count] of window.latencies) latencies.set(bucket, (latencies.get(bucket) ?? 0) + count)
  }
  return { attempts, successes, latencies }
}

/** The percentile by the nearest-rank method. */
const percentile = (window: Window, share: number): number | null => {
  const rank = Math.max(1, Math.ceil(window.successes * share))
  let seen = 0
  for (const [bucket, count] of [...window.latencies].sort(([a], [b]) => a - b)) {
    seen += count
    if (seen >= rank) return bucketMillis(bucket)
  }
  return null
}

const rateOf = (window: Window): number => window.successes / window.attempts

export const metricsOf = (window: Window): Metrics => ({
  success_rate: window.attempts === 0 ? null : Math.round(rateOf(window) * 10_000) / 10_000,
  latency_ms_p50: percentile(window, 0.5),
  latency_ms_p95: percentile(window, 0.95),
  sample_size: window.attempts
})

const goodRate = 0.95
const badRate = 0.8
/** Fewer attempts than this give no verdict. */
const samplesMin = 5
const stableSamplesMin = 20

/**
 * The last attempts: the newest windows with at least five attempts, and older ones while nothing succeeded. So an outage of a busy provider
 * shows within minutes, while its last hour still has many successes.
 */
export const lastOf = (newestFirst: ReadonlyArray<Window>): Window => {
  let last = noAttempts
  for (const window of newestFirst) {
    if (last.attempts >= samplesMin && last.successes + window.successes > 0) break
    last = sum([last, window])
  }
  return last
}

/** The first status that applies, from bad to good, because current failures outweigh a good record. */
export const verdict = (last: Window, hour: Window, month: Window): HealthStatus => {
  if (last.attempts >= samplesMin && last.successes === 0) return "outage"
  if (hour.attempts >= samplesMin && rateOf(hour) < badRate) return "degraded"
  if (hour.successes > 0 && rateOf(hour) >= goodRate) return "healthy"
  if (month.attempts >= stableSamplesMin && rateOf(month) >= goodRate) return "stable"
  return "unknown"
}

/** `newestFirst` are the windows of the last hour. */
export const measured = (newestFirst: ReadonlyArray<Window>, month: Window): Measured => {
  const last = lastOf(newestFirst)
  const hour = sum(newestFirst)
  const status = verdict(last, hour, month)
  const metrics = metricsOf(month)
  return {
    metrics,
    health: { status, ...metrics, source: "measured" },
    expected: status === "outage" ? metricsOf(last) : status === "degraded" ? metricsOf(hour) : metrics
  }
}

export const unmeasured: Measured = measured([], noAttempts)

/** While there are no measurements, uses the run counts of the last 30 days that the provider publishes. */
export const orReported = (
  health: Health,
  reported: { readonly succeeded: number; readonly total: number } | null
): Health => {
  if (health.sample_size > 0 || reported === null || reported.total <= 0) return health
  const attempts = reported.total
  const month: Window = { ...noAttempts, attempts, successes: Math.min(Math.max(0, reported.succeeded), attempts) }
  const bad = rateOf(month) < badRate && attempts >= samplesMin
  const status = bad ? "degraded" : verdict(noAttempts, noAttempts, month)
  return { ...metricsOf(month), status, source: "provider_reported" }
}
