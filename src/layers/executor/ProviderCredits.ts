/**
 * Keeps calls from accounts that have too few credits left, before a customer sees a refusal.
 *
 * A call through an account with much left is only counted in memory, and the sums are stored every few seconds. Below the head-room of 1,000
 * calls each call reserves its cost in the database first. An account that nobody reads or sets limits nothing, and costs nothing.
 */
import { Clock, Context, Effect, Layer, Schedule } from "effect"
import { costIn, emptyMinutes, headRoomCalls } from "../../schema/catalog/Credits.ts"
import type { MicroUsd } from "../../schema/money/Money.ts"
import { estimatedCost, type Price, priceMin } from "../../schema/money/Pricing.ts"
import { availableOf } from "../../schema/nouns/operator/Credits.ts"
import { Settings } from "../platform/Settings.ts"
import { sharedReading } from "../platform/sharedReading.ts"
import { logFailure } from "../postgres/Batch.ts"
import { providers } from "../providers/index.ts"
import { type CreditsRow, CreditsStore } from "./CreditsStore.ts"

export class ProviderCredits extends Context.Service<
  ProviderCredits,
  {
    /** Whether anything is known of the account. */
    readonly isLimited: (provider: string) => boolean
    /** Whether the account has too few credits left for the cheapest call at this price. */
    readonly isOut: (provider: string, price: Price | null, now: number) => boolean
    /**
     * Reserves the cost of a call. Null if less is left, else what ends the reservation with what the call cost. `hold_id` names the attempt of
     * the run. A resumed job was started, so it goes on whatever is left: its own reservation may be the last credits.
     */
    readonly reserve: (
      provider: string,
      run_id: string,
      hold_id: string,
      cost: MicroUsd,
      resumes?: boolean
    ) => Effect.Effect<((spent: MicroUsd) => Effect.Effect<void>) | null>
    /** The provider refused a call because the account is empty. */
    readonly markEmpty: (provider: string) => Effect.Effect<void>
    /** Stores what was counted, and reads what is left. */
    readonly refresh: Effect.Effect<void>
  }
>()("rungate/layers/executor/ProviderCredits") {
  static readonly layer = Layer.effect(
    ProviderCredits,
    Effect.gen(function* () {
      const store = yield* CreditsStore
      const { creditsMinutes, current, healthSeconds, markup, mode } = yield* Settings
      let accounts: ReadonlyMap<string, CreditsRow> = new Map()
      /** How far this machine's clock is ahead of the database's, which says when a balance was read. */
      let aheadMillis = 0
      /** What calls of this process have cost since the last refresh. */
      const spent = new Map<string, bigint>()
      /** On their way to the store, by the id with which each counts once. A sum whose answer is lost is sent again. */
      const sums = new Map<string, { readonly provider: string; readonly amount: bigint }>()
      const count = (provider: string, amount: bigint) => {
        if (amount > 0n) spent.set(provider, (spent.get(provider) ?? 0n) + amount)
      }

      /** What is left for more calls, and a cost in the account's unit. Null if that is unknown. */
      const leftOf = (provider: string, now: number) => {
        const account = accounts.get(provider)
        const available = account === undefined ? null : availableOf(account, now - aheadMillis)
        if (account === undefined || available === null) return null
        const sent = [...sums.values()].filter((sum) => sum.provider === provider)
        return {
          left: sent.reduce((left, { amount }) => left - amount, available - (spent.get(provider) ?? 0n)),
          inUnit: (cost: MicroUsd) => {
            const credit = current().accounts.get(provider)?.creditUsd
            return costIn(account.unit, credit ?? providers.find(({ slug }) => slug === provider)?.credit ?? null, cost)
          }
        }
      }

      const flush = Effect.gen(function* () {
        for (const [provider, amount] of spent) sums.set(`sum_${crypto.randomUUID()}`, { provider, amount })
        spent.clear()
        for (const [id, { provider, amount }] of [...sums]) {
          yield* store.spend(provider, id, amount)
          sums.delete(id)
        }
      })
      const load = Effect.gen(function* () {
        yield* flush
        // A balance that nobody reads any more is unknown. A refusal still counts.
        const isRead = (row: CreditsRow) => row.source === "set" || creditsMinutes > 0
        const rows = yield* store.list
        const now = yield* Clock.currentTimeMillis
        aheadMillis = rows[0] === undefined ? 0 : now - rows[0].seen_at.getTime()
        accounts = new Map(rows.map((row) => [row.provider, isRead(row) ? row : { ...row, balance: null }]))
      })
      const refresh = sharedReading(load)

      const isOut = (provider: string, price: Price | null, now: number) => {
        const account = leftOf(provider, now)
        if (account === null) return false
        const { left, inUnit } = account
        return left <= 0n || (price !== null && left < inUnit(estimatedCost(priceMin(price), markup)))
      }

      const reserve = Effect.fnUntraced(function* (
        provider: string,
        run_id: string,
        hold_id: string,
        cost: MicroUsd,
        resumes = false
      ) {
        const account = leftOf(provider, yield* Clock.currentTimeMillis)
        if (account === null) return () => Effect.void
        const { left, inUnit } = account
        const amount = inUnit(cost)
        const counted = (actual: MicroUsd) => Effect.sync(() => count(provider, inUnit(actual)))
        if (!resumes && (left <= 0n || left < amount)) return null
        if (!resumes && left >= amount * headRoomCalls) return counted
        if (!(yield* store.reserve(provider, hold_id, run_id, amount))) return resumes ? counted : null
        return (actual: MicroUsd) => store.spend(provider, hold_id, inUnit(actual))
      })

      const markEmpty = Effect.fnUntraced(function* (provider: string) {
        const now = (yield* Clock.currentTimeMillis) - aheadMillis
        const account = accounts.get(provider)
        // The other calls of this process stop at once, and those of other processes after their next refresh.
        if (account !== undefined)
          accounts = new Map(accounts).set(provider, { ...account, empty_until: new Date(now + emptyMinutes * 60_000) })
        yield* store.markEmpty(provider)
        if (account === undefined) yield* refresh
        yield* Effect.logError(
          `${provider}: the service's account has no credits left, so its offers are left out of routing. Buy credits, then run: rungate admin credits refresh ${provider}`
        )
      })

      // Simulated providers have no accounts, so these answers limit nothing in the sandbox.
      const answers = { isLimited: (provider: string) => accounts.has(provider), isOut, reserve }
      if (mode === "sandbox")
        return ProviderCredits.of({ ...answers, markEmpty: () => Effect.void, refresh: Effect.void })

      const refreshOrWarn = Effect.catchCause(refresh, logFailure("Reading provider credits failed; keeping the last"))
      yield* refreshOrWarn
      if (healthSeconds > 0)
        yield* refreshOrWarn.pipe(Effect.schedule(Schedule.spaced(`${healthSeconds} seconds`)), Effect.forkScoped)
      yield* Effect.addFinalizer(() =>
        Effect.catchCause(flush, logFailure("Storing what calls cost failed; the next reading of the balance has it"))
      )
      return ProviderCredits.of({
        ...answers,
        markEmpty: (provider) =>
          Effect.catchCause(markEmpty(provider), logFailure(`Recording that ${provider} has no credits left failed`)),
        refresh
      })
    })
  )
}
