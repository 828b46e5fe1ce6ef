/**
 * Circuit breakers: an offer is not called for a while after a refused account or several failures in a row.
 *
 * Each organization has its own breaker per offer, because its inputs can make a provider fail for it alone. A breaker opens
 * after five failures, or after two while another organization's breaker of the same offer is open. When the pause ends, the
 * next call closes the breaker or doubles the pause. Calls through an organization's own account have a breaker of their own, which
 * affects no other call. Breakers live in each process; health, which all processes share, ranks
 * offers.
 */
import { Clock, Context, Effect, Layer } from "effect"
import type { Failure } from "../../schema/catalog/Provider.ts"

export interface Trip {
  readonly reason: Failure["reason"]
  readonly detail: string
  /** Milliseconds since 1970. */
  readonly until: number
}

/** Failures in a row that open a breaker. Failures that the caller's own request caused do not count. */
const failuresMax = 5
/** The same while another organization's breaker is open. More than one, because single calls fail now and then. */
const sharedFailuresMax = 2
const pauseMillis = 30_000
/** Nobody repairs an account within a minute. */
const accountPauseMillis = 60_000
const pauseMillisMax = 30 * 60_000
/** Records of calls through organizations' own accounts. Beyond it the oldest record is dropped. */
const ownMax = 10_000
/** Organizations per offer. Beyond it the oldest record is dropped, which costs that organization a few failures. */
const organizationsMax = 1_000

interface Record {
  readonly failures: number
  readonly trips: number
  readonly trip: Trip | null
  /** It opened while another organization's breaker was open. Then any organization's success closes it. */
  readonly shared: boolean
}

export const healthy: Record = { failures: 0, trips: 0, trip: null, shared: false }

const isOpen = (record: Record, now: number): boolean => record.trip !== null && record.trip.until > now

/**
 * An organization's record after one more answer. `failure` is null when the provider delivered, a miss included. `others`:
 * whether the breaker of another organization is open.
 */
export const after = (record: Record, failure: Failure | null, now: number, others = false): Record => {
  if (failure === null) return healthy
  // The throttle handles rate limits: the provider works.
  if (failure.reason === "provider_rate_limited") return record
  // Calls that were in flight when the breaker opened must not double the pause ten times.
  if (isOpen(record, now)) return record
  const account = failure.reason === "provider_account"
  const failures = record.failures + 1
  // After a pause one failure is enough.
  if (!account && failures < (others ? sharedFailuresMax : failuresMax) && record.trips === 0)
    return { ...record, failures }
  const base = account ? accountPauseMillis : pauseMillis
  const until = now + Math.min(pauseMillisMax, base * 2 ** record.trips)
  const trip = { reason: failure.reason, detail: failure.detail, until }
  return { failures, trips: record.trips + 1, trip, shared: others }
}

export interface Broken {
  readonly provider: string
  readonly subject: string
  readonly org_id: string
  readonly trip: Trip
}

export class Breakers extends Context.Service<
  Breakers,
  {
    /** Why the offer is paused for this organization now; null when it may be called. */
    readonly tripped: (provider: string, subject: string, org_id: string, now: number) => Trip | null
    /** `subject` is a capability or a raw endpoint. */
    readonly record: (provider: string, subject: string, org_id: string, failure: Failure | null) => Effect.Effect<void>
    /** As `tripped` and `record`, for calls through an organization's own account. */
    readonly ownTripped: (account_id: string, subject: string, now: number) => Trip | null
    readonly recordOwn: (account_id: string, subject: string, failure: Failure | null) => Effect.Effect<void>
    readonly all: () => ReadonlyArray<Broken>
  }
>()("rungate/layers/executor/Breakers") {
  static readonly layer = Layer.sync(Breakers, () => {
    /** By offer, then by organization. */
    const offers = new Map<
      string,
      { readonly provider: string; readonly subject: string; readonly records: Map<string, Record> }
    >()
    const key = (provider: string, subject: string) => `${provider} ${subject}`

    /** By account and subject. */
    const own = new Map<string, Record>()

    const recordOwn = Effect.fnUntraced(function* (account_id: string, subject: string, failure: Failure | null) {
      const name = key(account_id, subject)
      const record = own.get(name)
      if (failure === null && record === undefined) return
      own.delete(name)
      if (failure === null) return
      own.set(name, after(record ?? healthy, failure, yield* Clock.currentTimeMillis))
      for (const [oldest] of own) {
        if (own.size <= ownMax) break
        own.delete(oldest)
      }
    })

    const succeeded = Effect.fnUntraced(function* (name: string, org_id: string) {
      const records = offers.get(name)?.records
      if (records === undefined) return
      let closed = (records.get(org_id) ?? healthy).trip !== null
      records.delete(org_id)
      for (const [other, record] of records) {
        if (!record.shared) continue
        closed = true
        records.delete(other)
      }
      if (records.size === 0) offers.delete(name)
      if (closed) yield* Effect.logInfo(`${name}: breaker closed, the provider answers again`)
    })

    const failed = Effect.fnUntraced(function* (
      records: Map<string, Record>,
      name: string,
      org_id: string,
      failure: Failure
    ) {
      const now = yield* Clock.currentTimeMillis
      const current = records.get(org_id) ?? healthy
      const others = [...records].filter(([other, record]) => other !== org_id && isOpen(record, now))
      const next = after(current, failure, now, others.length > 0)
      records.delete(org_id)
      records.set(org_id, next)
      for (const [oldest] of records) {
        if (records.size <= organizationsMax) break
        records.delete(oldest)
      }
      if (next.trip === null || next.trip === current.trip) return
      for (const [other, record] of others) if (!record.shared) records.set(other, { ...record, shared: true })
      const seconds = Math.round((next.trip.until - now) / 1_000)
      const scope = next.shared ? `for ${others.length + 1} organizations` : `for ${org_id}`
      const advice =
        failure.reason === "provider_account" ? ". Check the key and balance of your account at the provider" : ""
      yield* Effect.logWarning(
        `${name}: breaker open ${scope} for ${seconds} s (${failure.reason}: ${failure.detail})${advice}`
      )
    })

    return Breakers.of({
      tripped: (provider, subject, org_id, now) => {
        const record = offers.get(key(provider, subject))?.records.get(org_id) ?? healthy
        return isOpen(record, now) ? record.trip : null
      },
      record: (provider, subject, org_id, failure) =>
        Effect.suspend(() => {
          const name = key(provider, subject)
          if (failure === null) return succeeded(name, org_id)
          const offer = offers.get(name) ?? { provider, subject, records: new Map<string, Record>() }
          offers.set(name, offer)
          return failed(offer.records, name, org_id, failure)
        }),
      ownTripped: (account_id, subject, now) => {
        const record = own.get(key(account_id, subject)) ?? healthy
        return isOpen(record, now) ? record.trip : null
      },
      recordOwn,
      all: () =>
        [...offers.values()].flatMap(({ provider, subject, records }) =>
          [...records].flatMap(([org_id, { trip }]) => (trip === null ? [] : [{ provider, subject, org_id, trip }]))
        )
    })
  })
}
