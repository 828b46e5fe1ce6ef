/** Top-ups. Amounts are validated here. The wallet actor decides what happens to the money. */
import { Effect, Schema } from "effect"
import { TopUps } from "../../actors/payments/TopUps.ts"
import { PaymentStore } from "../../layers/payments/PaymentStore.ts"
import { addressOf, Settings } from "../../layers/platform/Settings.ts"
import { AutoTopup } from "../../schema/nouns/Wallet.ts"
import { problem, refused, refusedWith } from "../../schema/Errors.ts"
import { dollars, type MicroUsd, usd, zero } from "../../schema/money/Money.ts"
import { group } from "./group.ts"
import { CurrentCaller } from "../api/shapes/Common.ts"
import { actor } from "../middleware/Bearer.ts"
import { cancelPath, successPath } from "../middleware/Paths.ts"
import { withCommands } from "../../schema/Hints.ts"
import { topUp } from "../../schema/Steps.ts"

const topUpMin = dollars("10.00")
/** The maximum of one top-up. It catches typing errors, and no processor accepts a higher payment. */
const topUpMax = dollars("999999.99")
const thresholdMax = dollars("1000000.00")
const oneCent = dollars("0.01")

const autoTopupJson = Schema.encodeSync(AutoTopup)

const tryAgain = problem(
  "service_unavailable",
  "The command is stored and will be applied; read the wallet again in a few seconds."
)
const unavailable = ({ message }: { readonly message: string }) => refusedWith("service_unavailable", message)

const payable = (amount: MicroUsd, max: MicroUsd, why: string) => {
  if (amount < topUpMin) return refused("amount", `must be at least ${usd(topUpMin)}`)
  if (amount > max) return refused("amount", `must be at most ${usd(max)}${why}`)
  return amount % oneCent === 0n ? Effect.void : refused("amount", "must be whole cents")
}

export const TopUpsHandlers = group(
  "topups",
  Effect.fnUntraced(function* (handlers) {
    const topUps = yield* TopUps
    const store = yield* PaymentStore
    const settings = yield* Settings

    const autoTopup = Effect.fnUntraced(function* (org_id: string) {
      const row = yield* store.autoTopup(org_id)
      return autoTopupJson(row ?? { enabled: false, threshold: zero, amount: zero, last_error: null })
    })

    return handlers.handleAll({
      checkout: Effect.fnUntraced(function* ({ payload: { amount } }) {
        const { org_id } = yield* CurrentCaller
        yield* payable(amount, topUpMax, "")
        const back = addressOf(settings)
        return yield* topUps
          .checkout({ org_id, amount, success_url: `${back}${successPath}`, cancel_url: `${back}${cancelPath}` })
          .pipe(
            Effect.catchTags({
              TooManyCheckouts: () =>
                refusedWith(
                  "rate_limited",
                  "This organization opened too many checkouts in the last hour; pay on one of them, or try again later."
                ),
              ProcessorUnavailable: unavailable,
              NoReplyYet: () => Effect.fail(tryAgain)
            })
          )
      }),

      autoTopup: Effect.fnUntraced(function* () {
        const { org_id } = yield* CurrentCaller
        return yield* autoTopup(org_id)
      }),

      setAutoTopup: Effect.fnUntraced(function* ({ payload }) {
        const { org_id } = yield* CurrentCaller
        const dailyMax = settings.autoTopupDailyMax
        const current = yield* autoTopup(org_id)
        // A client may send back what GET shows before anything was set.
        if (!payload.enabled && !current.enabled && payload.amount === zero) return current
        // The operator may have lowered the maximum below the amount of one that has to be switched off.
        yield* payload.enabled
          ? payable(payload.amount, dailyMax, ", the daily maximum of automatic top-ups")
          : payable(payload.amount, topUpMax, "")
        if (payload.threshold > thresholdMax) yield* refused("threshold", `must be at most ${usd(thresholdMax)}`)
        yield* topUps.setAutoTopup(org_id, payload, yield* actor).pipe(
          Effect.catchTags({
            NoSavedMethod: () =>
              refused(
                "enabled",
                "needs a completed checkout with a saved payment method",
                withCommands`There is no saved payment method; complete a checkout first: ${topUp}.`
              ),
            ProcessorUnavailable: unavailable,
            NoReplyYet: () => Effect.fail(tryAgain)
          })
        )
        return yield* autoTopup(org_id)
      })
    })
  })
)
