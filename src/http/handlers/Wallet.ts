/** The wallet. Reads come from the ledger's tables, and every change is a command to the wallet actor. */
import { Effect, Option, Schema, Struct } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { CommandClient } from "../../actors/mailbox/CommandClient.ts"
import { encodeGuard } from "../../actors/mailbox/Commands.ts"
import { EventFeed } from "../../actors/events/EventFeed.ts"
import { Accounts } from "../../layers/accounts/Accounts.ts"
import { AlertSettings } from "../../layers/events/AlertSettings.ts"
import { Audit } from "../../layers/audit/Audit.ts"
import { forOwner } from "../../layers/audit/wallet.ts"
import { Books } from "../../layers/ledger/Books.ts"
import type { EntryRow } from "../../layers/ledger/EntryList.ts"
import { GuardStore } from "../../layers/guards/GuardStore.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { Reads } from "../../layers/standby/Reads.ts"
import { SpendGuard, Transaction, Wallet, WalletAudit } from "../../schema/nouns/Wallet.ts"
import { notACursor, problem, refused } from "../../schema/Errors.ts"
import { looksLike } from "../../schema/Ids.ts"
import { plus } from "../../schema/money/Money.ts"
import { zoneChangesOn, zoneOf, type Zones } from "../../schema/money/SpendDay.ts"
import { fromOf, toOf } from "../../schema/Period.ts"
import { zoneNames } from "../../schema/money/TimeZone.ts"
import { didYouMean } from "../../schema/suggestion.ts"
import { seesWallet } from "../../schema/accounts/KeyAccess.ts"
import { type KeyBudget, leftIn } from "../../schema/wallet/KeyBudget.ts"
import { type EntryType, entryTypes } from "../../schema/wallet/Wallet.ts"
import { Api } from "../api/Api.ts"
import { CurrentCaller, listLimitDefault } from "../api/shapes/Common.ts"
import { csvAnswer, wantsCsv } from "./CsvPage.ts"
import { actor, makeAsCaller } from "../middleware/Bearer.ts"
import { cut } from "./ListPage.ts"
import { withCommands } from "../../schema/Hints.ts"
import { signIn } from "../../schema/Steps.ts"

const tryAgain = problem(
  "service_unavailable",
  "The command is stored and will be applied; read the wallet again in a few seconds."
)

const needsPerson = problem(
  "forbidden",
  withCommands`An API key may only lower a limit. To raise or remove one, or to change the time zone, sign in with ${signIn} and use the session token.`
)

const noBudget = problem(
  "forbidden",
  'This API key reads its own budget in place of the wallet (allow.read is "own"), and it has no budget. A person gives it one, or allow.read "organization", with PATCH /v1/api-keys/{key_id} or rungate keys update.'
)

/** What is left of a key's budget, and what its open runs hold, in the form of a wallet. */
const currency = "USD" as const
const walletJson = Schema.encodeSync(Wallet)
const transactionJson = Schema.encodeSync(Transaction)
const guardJson = Schema.encodeSync(SpendGuard)
const auditJson = Schema.encodeSync(WalletAudit)

const budgetAsWallet = (budget: KeyBudget, today: string) => {
  const left = leftIn(budget, today)
  return walletJson({ currency, balance: plus(left, budget.reserved), reserved: budget.reserved, available: left })
}

const entryType = (text: string): EntryType => entryTypes.find((type) => type === text) ?? "refund"

const transactionOf = (row: EntryRow) => transactionJson({ ...row, id: row.txn_id, type: entryType(row.type) })

/** A cursor is the number of the last entry shown. */
const cursorOf = (text: string | undefined) => {
  if (text === undefined) return Effect.succeed(null)
  if (/^[1-9]\d{0,17}$/.test(text)) return Effect.succeed(BigInt(text))
  return notACursor
}

const filterOf = Effect.fnUntraced(function* (
  query: { readonly type?: EntryType; readonly run_id?: string; readonly from?: string; readonly to?: string },
  zones: Zones
) {
  const { type = null, run_id = null } = query
  if (run_id !== null && !looksLike("run", run_id))
    return yield* refused("query.run_id", "is not the id of a run, such as run_01m81nzk95mq351g8pvrxgm8m4")
  const from = query.from === undefined ? null : fromOf(query.from, zones)
  const to = query.to === undefined ? null : toOf(query.to, zones)
  if (from !== null && to !== null && from >= to) return yield* refused("query.to", "must be after from")
  return { type, run_id, from, to }
})

export const WalletHandlers = HttpApiBuilder.group(
  Api,
  "wallet",
  Effect.fnUntraced(function* (handlers) {
    const books = yield* Books
    const accounts = yield* Accounts
    const reads = yield* Reads
    const auditor = yield* Audit
    const commands = yield* CommandClient
    const alerts = yield* AlertSettings
    const asCaller = yield* makeAsCaller
    const feed = yield* EventFeed
    const settings = yield* Settings
    const guards = yield* GuardStore

    const guard = Effect.fnUntraced(function* (org_id: string) {
      const wallet = yield* books.wallet(org_id)
      const low = yield* alerts.lowBalance(org_id)
      const contact_guard_days = yield* guards.contactDays(org_id)
      const time_zone = zoneOf(wallet.time_zones ?? [])
      return guardJson({
        ...wallet,
        time_zone,
        low_balance: low,
        contact_guard_days,
        repeat_guard: settings.repeatGuard
      })
    })

    return handlers.handleAll({
      get: Effect.fnUntraced(function* () {
        const { org_id, key_id, access } = yield* CurrentCaller
        if (!seesWallet(access)) {
          const key = key_id === null ? null : Option.getOrNull(yield* accounts.key(org_id, key_id))
          if (key === null || key.budget === null) return yield* Effect.fail(noBudget)
          return budgetAsWallet(key.budget, key.today)
        }
        const { balance, reserved } = yield* books.wallet(org_id)
        return walletJson({ currency, balance, reserved, available: balance - reserved })
      }),

      transactions: Effect.fnUntraced(function* ({ query }) {
        const { org_id } = yield* CurrentCaller
        const dated = query.from !== undefined || query.to !== undefined
        const filter = yield* filterOf(query, dated ? yield* books.zones(org_id) : [])
        const page = Effect.fnUntraced(function* (cursor: string | null, limit: number) {
          const rows = yield* reads.entries(org_id, yield* cursorOf(cursor ?? undefined), limit + 1, filter)
          return cut(rows, limit, ({ seq }) => String(seq))
        })
        if (yield* wantsCsv) {
          const { limit = null, cursor = null } = query
          const columns = Struct.keys(Transaction.fields)
          return yield* csvAnswer({ name: "transactions.csv", columns, cells: transactionOf, limit, cursor, page })
        }
        const { rows, next } = yield* page(query.cursor ?? null, query.limit ?? listLimitDefault)
        return { items: rows.map(transactionOf), next_cursor: next }
      }),

      audit: Effect.fnUntraced(function* () {
        const { org_id } = yield* CurrentCaller
        return auditJson({ ...forOwner(yield* auditor.wallet(org_id)), last_full_check: yield* auditor.last })
      }),

      guard: Effect.fnUntraced(function* () {
        const { org_id } = yield* CurrentCaller
        return yield* guard(org_id)
      }),

      setGuard: Effect.fnUntraced(function* ({ payload }) {
        const { org_id, user_id } = yield* CurrentCaller
        const { low_balance, contact_guard_days: days, ...limits } = payload
        const loosens =
          days !== undefined && user_id === null && (days ?? 0) < ((yield* guards.contactDays(org_id)) ?? 0)
        if (loosens) return yield* Effect.fail(needsPerson)
        const { time_zone } = limits
        if (time_zone !== undefined && !(yield* books.hasZone(time_zone)))
          return yield* refused("time_zone", `must be a name such as Europe/Berlin.${didYouMean(time_zone, zoneNames)}`)
        const { verdict } = yield* commands
          .ask({
            org_id,
            run_id: null,
            tag: "SetGuard",
            payload: encodeGuard({ ...limits, may_loosen: user_id !== null, actor: yield* actor })
          })
          .pipe(Effect.catch(() => Effect.fail(tryAgain)))
        if (verdict === "LooseningRefused") return yield* Effect.fail(needsPerson)
        if (verdict === "ZoneKept")
          return yield* refused("time_zone", `may change again on ${zoneChangesOn(yield* books.zones(org_id))}`)
        if (low_balance !== undefined) yield* asCaller(alerts.setLowBalance(org_id, low_balance))
        if (days !== undefined) yield* asCaller(guards.setContactDays(org_id, days))
        if ((limits.daily_limit ?? null) !== null) yield* alerts.watch(org_id)
        if (low_balance !== undefined || limits.daily_limit !== undefined) yield* feed.changed(org_id)
        return yield* guard(org_id)
      })
    })
  })
)
