/** The spend guard: how it is shown, and how a person or a key changes it. Its handler and the configuration of an organization use this. */
import { Effect, Schema } from "effect"
import { EventFeed } from "../../actors/events/EventFeed.ts"
import { AlertSettings } from "../../layers/events/AlertSettings.ts"
import { GuardStore } from "../../layers/guards/GuardStore.ts"
import { Books } from "../../layers/ledger/Books.ts"
import { WalletLimits } from "../../layers/ledger/WalletLimits.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { problem, refused } from "../../schema/Errors.ts"
import { withCommands } from "../../schema/Hints.ts"
import { zoneChangesOn, zoneOf } from "../../schema/money/SpendDay.ts"
import { zoneNames } from "../../schema/money/TimeZone.ts"
import { SpendGuard } from "../../schema/nouns/Wallet.ts"
import { signIn } from "../../schema/Steps.ts"
import { didYouMean } from "../../schema/suggestion.ts"
import type { SpendGuardRequest } from "../api/Wallet.ts"
import { CurrentCaller } from "../api/shapes/Common.ts"

const needsPerson = problem(
  "forbidden",
  withCommands`An API key may only lower a limit. To raise or remove one, or to change the time zone, sign in with ${signIn} and use the session token.`
)
const guardJson = Schema.encodeSync(SpendGuard)
type Change = typeof SpendGuardRequest.Type

export const makeSpendGuard = Effect.gen(function* () {
  const books = yield* Books
  const limits = yield* WalletLimits
  const alerts = yield* AlertSettings
  const guards = yield* GuardStore
  const feed = yield* EventFeed
  const { repeatGuard: repeat_guard } = yield* Settings

  const view = Effect.fnUntraced(function* (org_id: string) {
    const wallet = yield* books.wallet(org_id)
    const low_balance = yield* alerts.lowBalance(org_id)
    const contact_guard_days = yield* guards.contactDays(org_id)
    const time_zone = zoneOf(wallet.time_zones ?? [])
    return guardJson({ ...wallet, time_zone, low_balance, contact_guard_days, repeat_guard })
  })

  /** One transaction on behalf of the caller. `announce` it afterwards. */
  const change = Effect.fnUntraced(function* ({ low_balance, contact_guard_days: days, ...wanted }: Change) {
    const { org_id, user_id } = yield* CurrentCaller
    const { time_zone } = wanted
    if (time_zone !== undefined && !(yield* books.hasZone(time_zone)))
      return yield* refused("time_zone", `must be a name such as Europe/Berlin.${didYouMean(time_zone, zoneNames)}`)
    const may_loosen = user_id !== null
    const changed = yield* limits.change(org_id, { ...wanted, may_loosen })
    const loosens = days !== undefined && !may_loosen && (days ?? 0) < ((yield* guards.contactDays(org_id)) ?? 0)
    if (changed === "LooseningRefused" || loosens) return yield* Effect.fail(needsPerson)
    if (changed === "ZoneKept")
      return yield* refused("time_zone", `may change again on ${zoneChangesOn(yield* books.zones(org_id))}`)
    if (low_balance !== undefined) yield* alerts.setLowBalance(org_id, low_balance)
    if (days !== undefined) yield* guards.setContactDays(org_id, days)
    if ((wanted.daily_limit ?? null) !== null) yield* alerts.watch(org_id)
  })

  const announce = (org_id: string, { low_balance, daily_limit }: Change) =>
    low_balance === undefined && daily_limit === undefined ? Effect.void : feed.changed(org_id)

  return { view, change, announce }
})
