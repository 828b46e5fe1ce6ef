/**
 * Offers that had better not be asked for a while: an account that is refused, or a provider that fails time after time.
 *
 * Kept in each process, because it protects the process it stands in; health, which all processes share, ranks offers. When
 * the time is up the next call is the test: it closes the breaker or doubles the time.
 */
import { Clock, Context, Effect, Layer } from "effect"
import type { Failure } from "../schema/Provider.ts"

export interface Trip {
  readonly reason: Failure["reason"]
  readonly detail: string
  /** Milliseconds since 1970. */
  readonly until: number
}

/** Failures in a row, of a kind that says something about the provider, before it is left alone. */
const failuresMax = 5
const pauseMillis = 30_000
/** Nobody repairs an account within a minute. */
const accountPauseMillis = 60_000
const pauseMillisMax = 30 * 60_000

interface Record {
  readonly failures: number
  readonly trips: number
  readonly trip: Trip | null
}

const healthy: Record = { failures: 0, trips: 0, trip: null }

/** What one more answer makes of a record; null is an answer that was delivered, a miss included. Pure. */
export const after = (record: Record, failure: Failure | null, now: number): Record => {
  // A rate limit is the gate's business: the provider works.
  if (failure === null) return healthy
  if (failure.reason === "provider_rate_limited") return record
  // Calls that were on their way when it tripped say nothing new: ten of them must not make a minute of hours.
  if (record.trip !== null && record.trip.until > now) return record
  const account = failure.reason === "provider_account"
  const failures = record.failures + 1
  // After a pause one failure is enough: nothing has changed.
  if (!account && failures < failuresMax && record.trips === 0) return { ...record, failures }
  const base = account ? accountPauseMillis : pauseMillis
  const until = now + Math.min(pauseMillisMax, base * 2 ** record.trips)
  return { failures, trips: record.trips + 1, trip: { reason: failure.reason, detail: failure.detail, until } }
}

export class Breakers extends Context.Service<
  Breakers,
  {
    /** Why the offer is left alone now; null when it may be asked. */
    readonly tripped: (provider: string, subject: string, now: number) => Trip | null
    /** `subject` is a capability or a raw endpoint. */
    readonly record: (provider: string, subject: string, failure: Failure | null) => Effect.Effect<void>
    readonly all: () => ReadonlyArray<{ readonly provider: string; readonly subject: string; readonly trip: Trip }>
  }
>()("rungate/layers/Breakers") {
  static readonly layer = Layer.sync(Breakers, () => {
    const records = new Map<string, Record & { readonly provider: string; readonly subject: string }>()
    const key = (provider: string, subject: string) => `${provider} ${subject}`
    return Breakers.of({
      tripped: (provider, subject, now) => {
        const trip = records.get(key(provider, subject))?.trip ?? null
        return trip !== null && trip.until > now ? trip : null
      },
      record: Effect.fnUntraced(function* (provider, subject, failure) {
        const name = key(provider, subject)
        const known = records.get(name)
        if (failure === null && known === undefined) return
        const now = yield* Clock.currentTimeMillis
        const next = after(known ?? healthy, failure, now)
        if (failure === null) {
          records.delete(name)
          if (known?.trip !== null && known !== undefined) yield* Effect.logInfo(`${name}: answers again`)
          return
        }
        records.set(name, { ...next, provider, subject })
        if (next.trip !== null && next.trip !== known?.trip) {
          const seconds = Math.round((next.trip.until - now) / 1_000)
          const advice = failure.reason === "provider_account" ? "; check the account" : ""
          yield* Effect.logWarning(
            `${name}: left alone for ${seconds} s (${failure.reason}: ${failure.detail})${advice}`
          )
        }
      }),
      all: () =>
        [...records.values()].flatMap(({ provider, subject, trip }) =>
          trip === null ? [] : [{ provider, subject, trip }]
        )
    })
  })
}
