/**
 * Reads what the operator's accounts at providers have left, and logs when one is low, empty or expires soon.
 *
 * Every worker tries, and the database gives each reading to one of them. A reading that fails changes no balance, and is repeated.
 */
import { Clock, Effect, Layer } from "effect"
import { type CreditsRow, CreditsStore } from "../../layers/executor/CreditsStore.ts"
import { Providers } from "../../layers/executor/Providers.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { DueWork, repeatedly } from "../../layers/postgres/DueWork.ts"
import { providers } from "../../layers/providers/index.ts"
import { microsOf } from "../../schema/catalog/Credits.ts"
import { outlookOf } from "../../schema/nouns/operator/Credits.ts"

/** Accounts may be added while the service runs. */
const addEvery = "5 minutes"
const lostEvery = "1 minute"
/** An account that is low is read so many times more often. */
const lowTimes = 10

const warnings: Readonly<Partial<Record<ReturnType<typeof outlookOf>["state"], string>>> = {
  low: "is low",
  empty: "is empty, so its offers are left out of routing",
  expiring: "expires soon"
}

export const CreditsReader = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* CreditsStore
    const { credits } = yield* Providers
    const { creditsMinutes, current, mode } = yield* Settings
    const { whenDue } = yield* DueWork
    if (mode === "sandbox" || creditsMinutes === 0) return

    const readable = (slug: string) =>
      providers.find((one) => one.slug === slug && one.credits !== undefined && current().accounts.has(slug))

    const readOne = Effect.fnUntraced(function* (claim: CreditsRow) {
      const { provider: slug, source } = claim
      const provider = readable(slug)
      // A release may learn to read an account whose balance was set by hand before.
      if (source === "set" && provider === undefined) return yield* store.count(claim, creditsMinutes)
      if (provider === undefined)
        return yield* store.failed(slug, "there is no account that can be read", creditsMinutes)
      const left = yield* credits(provider)
      if (left === null || left._tag === "Failure")
        return yield* store.failed(slug, left?.detail ?? "it can't be read", creditsMinutes)
      const now = yield* Clock.currentTimeMillis
      const { unit, expires_at = null, renews = false } = left
      const read = { unit, balance: microsOf(left.balance), expires_at, renews }
      const { state } = outlookOf({ ...claim, ...read, source: "read", read_at: claim.seen_at, empty_until: null }, now)
      const isLow = state === "low" || state === "empty"
      yield* store.store(claim, read, isLow ? Math.max(1, creditsMinutes / lowTimes) : creditsMinutes)
      // Logged by the reading that finds it, once.
      const warning = state === outlookOf(claim, now).state ? undefined : warnings[state]
      if (warning !== undefined)
        yield* Effect.logWarning(
          `${slug}: the service's account ${warning}: ${left.balance} ${left.unit} left. See rungate admin credits list`
        )
    })

    const pass = Effect.gen(function* () {
      for (let claim = yield* store.claim; claim !== null; claim = yield* store.claim) yield* readOne(claim)
    })
    const add = Effect.suspend(() => store.add(providers.flatMap(({ slug }) => (readable(slug) ? [slug] : []))))

    yield* repeatedly("accounts with credits", addEvery, add)
    yield* repeatedly("reservations of credits of lost runs", lostEvery, store.endLost)
    yield* whenDue("readings of credits", CreditsStore.due, pass)
  })
)
