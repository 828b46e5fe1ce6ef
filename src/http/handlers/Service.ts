/** What a client should know before it signs in. It contains no customer data. */
import { Effect } from "effect"
import { Settings } from "../../layers/platform/Settings.ts"
import { describeTerms } from "../../schema/wallet/Referral.ts"
import { group } from "./group.ts"
import { environmentOf } from "../middleware/CallerChecks.ts"

export const ServiceHandlers = group(
  "service",
  Effect.fnUntraced(function* (handlers) {
    const settings = yield* Settings
    return handlers.handleAll({
      get: () =>
        Effect.succeed({
          environment: environmentOf(settings.mode),
          sign_up: settings.signUp,
          openid: settings.openId === null ? null : new URL(settings.openId.issuer).host,
          sends_mail: settings.current().mail !== null,
          referral_terms: describeTerms(settings.referral).referred
        })
    })
  })
)
