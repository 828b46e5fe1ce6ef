/** Provider credits: what accounts have left, balances set by hand, and readings that are due now. */
import { Clock, Effect, Schema } from "effect"
import { type CreditsRow, CreditsStore } from "../../../layers/executor/CreditsStore.ts"
import { Margins } from "../../../layers/ledger/Margins.ts"
import { Settings } from "../../../layers/platform/Settings.ts"
import { providers } from "../../../layers/providers/index.ts"
import { costIn } from "../../../schema/catalog/Credits.ts"
import { refused, refusedWith } from "../../../schema/Errors.ts"
import { MicroUsd } from "../../../schema/money/Money.ts"
import { BillMatch, matchBill } from "../../../schema/nouns/operator/Bill.ts"
import { outlookOf, ProviderCredits } from "../../../schema/nouns/operator/Credits.ts"
import { didYouMean } from "../../../schema/suggestion.ts"
import { makeAsOperator } from "../../access/OperatorCookie.ts"
import { group } from "../group.ts"

/** More runs than a month has. A longer bill is compared in parts. */
const runsMax = 200_000

const billJson = Schema.encodeSync(BillMatch)
const creditsJson = Schema.encodeSync(ProviderCredits)
const view = (row: CreditsRow, now: number) => creditsJson({ ...row, ...outlookOf(row, now) })

const providerOf = Effect.fnUntraced(function* (slug: string) {
  const slugs = providers.map((one) => one.slug)
  const unknown = refusedWith("not_found", `There is no provider "${slug}".${didYouMean(slug, slugs)}`)
  return providers.find((one) => one.slug === slug) ?? (yield* unknown)
})

export const OperatorCreditsHandlers = group(
  "operatorCredits",
  Effect.fnUntraced(function* (handlers) {
    const asOperator = yield* makeAsOperator
    const store = yield* CreditsStore
    const margins = yield* Margins
    const { current } = yield* Settings
    const list = Effect.gen(function* () {
      const [rows, now] = [yield* store.list, yield* Clock.currentTimeMillis]
      return { items: rows.map((row) => view(row, now)) }
    })
    return handlers.handleAll({
      list: () => list,

      set: Effect.fnUntraced(function* ({ params, payload: { balance, unit = "credit", expires_at, low_below } }) {
        const { slug, credits, credit } = yield* providerOf(params.provider)
        if (balance === undefined) {
          if (low_below === undefined) return yield* refused("balance", "is missing; give balance or low_below")
          if (expires_at !== undefined) return yield* refused("expires_at", "belongs to a balance; give balance too")
        } else {
          if (credits !== undefined)
            return yield* refused("balance", `can't be set: the service reads it at ${slug}. Set low_below alone`)
          if (unit === "credit" && credit === null) return yield* refused("unit", `must be USD: ${slug} has no credits`)
        }
        const entered = balance === undefined ? null : { unit, balance, expires_at: expires_at ?? null }
        return view(yield* asOperator(store.set(slug, entered, low_below)), yield* Clock.currentTimeMillis)
      }),

      refresh: Effect.fnUntraced(function* ({ payload: { provider = null } }) {
        if (provider !== null) yield* providerOf(provider)
        yield* store.refresh(provider)
        return yield* list
      }),

      matchBill: Effect.fnUntraced(function* ({ payload: { provider, from, to, unit = "credit", lines } }) {
        const { slug, credit } = yield* providerOf(provider)
        const price = current().accounts.get(slug)?.creditUsd ?? credit
        if (unit === "credit" && price === null) return yield* refused("unit", `must be USD: ${slug} has no credits`)
        const outside = lines.findIndex(({ date }) => date < from || date > to)
        if (outside >= 0) return yield* refused(`lines.${outside}.date`, `must be from ${from} to ${to}`)
        const costs = yield* margins.costs(slug, from, to, runsMax + 1)
        if (costs.length > runsMax)
          return yield* refused("to", `is too late: more than ${runsMax} runs; give fewer days`)
        const recorded = costs.map((one) => ({ ...one, cost: costIn(unit, price, MicroUsd(one.cost)) }))
        return billJson({ provider: slug, unit, ...matchBill(lines, recorded) })
      })
    })
  })
)
