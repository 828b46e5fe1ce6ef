/**
 * Reads what the operator's accounts at providers have left, and logs when one is low, empty or expires soon.
 *
 * Every worker tries, and the database gives each reading to one of them. A reading that fails changes no balance, and is repeated.
 */
import { Clock, Effect, Layer } from "effect"
import { type CreditsClaim, CreditsStore } from "../../layers/executor/CreditsStore.ts"
import { Providers } from "../../layers/executor/Providers.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { DueWork, repeatedly } from "../../layers/postgres/DueWork.ts"
import { providers } from "../../layers/providers/index.ts"
import { type CreditsState, outlookOf } from "../../schema/catalog/Credits.ts"
import { usd } from "../../schema/money/Money.ts"

/** Accounts may be added while the service runs. */
const addEvery = "5 minutes"
const lostEvery = "1 minute"
/** An account that is low is read so many times more often. */
const lowTimes = 10

const warnings: Readonly<Partial<Record<CreditsState, string>>> = {
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

    /** Logged once for each state that an account gets into, by the process that reads it. */
    const logged = new Map<string, CreditsState>()
    const warn = Effect.fnUntraced(function* (slug: string) {
      const row = (yield* store.list).find(({ provider }) => provider === slug)
      if (row === undefined) return false
      const { state, available } = outlookOf(row, yield* Clock.currentTimeMillis)
      const warning = warnings[state]
      if (warning !== undefined && logged.get(slug) !== state)
        yield* Effect.logWarning(
          `${slug}: the service's account ${warning}: ${usd(available ?? 0n)} ${row.unit} left. See rungate admin credits list`
        )
      logged.set(slug, state)
      return state === "low" || state === "empty"
    })

    const readOne = Effect.fnUntraced(function* (claim: CreditsClaim) {
      const { provider: slug, source } = claim
      const provider = readable(slug)
      const soon = Math.max(1, creditsMinutes / lowTimes)
      if (source === "set") yield* store.count(claim, creditsMinutes)
      else if (provider === undefined) yield* store.failed(slug, "there is no account that can be read", creditsMinutes)
      else {
        const left = yield* credits(provider)
        yield* left === null || left._tag === "Failure"
          ? store.failed(slug, left?.detail ?? "it can't be read", creditsMinutes)
          : store.store(claim, left, creditsMinutes)
      }
      if (yield* warn(slug)) yield* store.sooner(slug, soon)
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
