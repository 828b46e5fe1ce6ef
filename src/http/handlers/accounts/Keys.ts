/** API keys and their rules. The raw key appears only in the answer that creates it. */
import { Clock, Effect, Option, Redacted, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Accounts, type KeyRow } from "../../../layers/accounts/Accounts.ts"
import type { KeyEnded, KeyRules } from "../../../layers/accounts/ApiKeys.ts"
import { Settings } from "../../../layers/platform/Settings.ts"
import { isUnrestricted, scopeFor } from "../../../schema/accounts/KeyAccess.ts"
import { allows } from "../../../schema/accounts/Role.ts"
import { defined } from "../../../schema/defined.ts"
import { problem, refused } from "../../../schema/Errors.ts"
import { looksLike } from "../../../schema/Ids.ts"
import { resetsAt, type BudgetPeriod } from "../../../schema/money/SpendDay.ts"
import { type KeyBudget, spentIn } from "../../../schema/wallet/KeyBudget.ts"
import type { MicroUsd } from "../../../schema/money/Money.ts"
import { Api } from "../../api/Api.ts"
import { pageOf } from "../ListPage.ts"
import { type Caller, CurrentCaller } from "../../api/shapes/Common.ts"
import { needsRole } from "../../access/Access.ts"
import { makeAsCaller } from "../../middleware/Bearer.ts"
import { ApiKey, type KeyScopeRequest } from "../../../schema/nouns/ApiKey.ts"
import { makeScopes, note, tooMany } from "./KeyScope.ts"
import { withCommands } from "../../../schema/Hints.ts"
import { createAllowance, signIn } from "../../../schema/Steps.ts"

const keyJson = Schema.encodeSync(ApiKey)

const budgetOf = (budget: KeyBudget, { today, time_zones }: KeyRow) => ({
  ...budget,
  spent: spentIn(budget, today),
  resets_at: resetsAt(budget.period, today, time_zones ?? [])
})

const keyView = (row: KeyRow) =>
  keyJson({
    ...row,
    id: row.key_id,
    revoked: row.revoked_at !== null,
    budget: row.budget === null ? null : budgetOf(row.budget, row)
  })

const needsPerson = problem(
  "forbidden",
  withCommands`An API key may revoke itself and no other key. Sign in with ${signIn} and use the session token.`
)
const unknownKey = (key_id: string) =>
  refused("path.key_id", "is not a key of this organization", `There is no API key "${key_id}".`)

const ended = (key_id: string, { replaced_by }: KeyEnded) =>
  replaced_by === null
    ? refused("path.key_id", "is revoked or expired", `${key_id} was revoked or has expired. Create another key.`)
    : refused(
        "path.key_id",
        `was replaced by ${replaced_by}`,
        `${key_id} was replaced by ${replaced_by}. Change or rotate that one.`
      )

const isAllowance = (key_id: string) =>
  Effect.fail(
    problem(
      "invalid_request",
      withCommands`${key_id} is the key of an allowance, which can't be changed or rotated. Create another with ${createAllowance}, and revoke this one.`,
      [{ path: "path.key_id", message: "is the key of an allowance" }]
    )
  )

interface RulesGiven {
  readonly expires_at?: Date | null
  readonly budget?: { readonly limit: MicroUsd; readonly period: BudgetPeriod } | null
  readonly allow?: KeyScopeRequest | null
}

export const KeysHandlers = HttpApiBuilder.group(
  Api,
  "keys",
  Effect.fnUntraced(function* (handlers) {
    const accounts = yield* Accounts
    const asCaller = yield* makeAsCaller
    const settings = yield* Settings
    const { mode } = settings
    const { environment, allowOf } = yield* makeScopes

    const rowOf = (org_id: string, key_id: string) =>
      looksLike("key", key_id) ? accounts.key(org_id, key_id) : Effect.succeed(Option.none<KeyRow>())

    /** Refuses members and viewers keys that somebody else created. Returns the key. */
    const checkOwn = Effect.fnUntraced(function* ({ org_id, user_id, role }: Caller, what: string, key_id: string) {
      const row = Option.getOrNull(yield* rowOf(org_id, key_id))
      if (role !== null && !allows(role, "admin") && row?.created_by !== user_id)
        yield* Effect.fail(needsRole("admin", role, `A ${role} may ${what} only keys that they created.`))
      return row
    })

    /** The person who asks, who may change the key. `scope`: what the request makes of its scope, undefined if it leaves it. */
    const ownKey = Effect.fnUntraced(function* (what: string, key_id: string, scope?: KeyScopeRequest | null) {
      const caller = yield* CurrentCaller
      const row = yield* checkOwn(caller, what, key_id)
      if (caller.role === "member" && scope === undefined && row !== null && isUnrestricted(row.allow))
        yield* Effect.fail(
          needsRole(
            "admin",
            caller.role,
            `An admin widened ${key_id}, so a member may only set its scope or revoke it.`
          )
        )
      return caller
    })

    const rulesOf = Effect.fnUntraced(function* ({ expires_at, budget, allow }: RulesGiven, role: Caller["role"]) {
      if (expires_at !== undefined && expires_at !== null && expires_at.getTime() <= (yield* Clock.currentTimeMillis))
        return yield* refused("expires_at", "must be in the future; to end a key now, revoke it")
      const rules: KeyRules = defined({
        expires_at,
        budget,
        allow: allow === undefined ? allow : scopeFor(role, allow === null ? null : yield* allowOf(allow))
      })
      return rules
    })

    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const { org_id } = yield* CurrentCaller
        return yield* pageOf("key", query, (before, limit) => accounts.keys(org_id, before, limit), keyView)
      }),

      get: Effect.fnUntraced(function* ({ params: { key_id } }) {
        const { org_id } = yield* CurrentCaller
        const row = yield* rowOf(org_id, key_id)
        return Option.isSome(row) ? keyView(row.value) : yield* unknownKey(key_id)
      }),

      create: Effect.fnUntraced(function* ({ payload }) {
        const { org_id, role } = yield* CurrentCaller
        if (payload.environment !== environment)
          return yield* refused(
            "environment",
            `must be "${environment}": this is ${mode === "sandbox" ? "the sandbox" : "production"}`
          )
        const rules = yield* rulesOf({ ...payload, allow: payload.allow ?? null }, role)
        const { id, token } = yield* accounts.createKey(org_id, payload.name, payload.environment, rules).pipe(
          asCaller,
          Effect.catch(() => Effect.fail(tooMany))
        )
        return { id, api_key: Redacted.value(token), note }
      }),

      change: Effect.fnUntraced(function* ({ params: { key_id }, payload }) {
        const { org_id, role } = yield* ownKey("change", key_id, payload.allow)
        const rules = yield* rulesOf(payload, role)
        if (!looksLike("key", key_id)) return yield* unknownKey(key_id)
        const row = yield* accounts
          .changeKey(org_id, key_id, { ...rules, ...defined({ name: payload.name }) })
          .pipe(
            asCaller,
            Effect.catchTags({ KeyEnded: (why) => ended(key_id, why), IsAllowance: () => isAllowance(key_id) })
          )
        return Option.isSome(row) ? keyView(row.value) : yield* unknownKey(key_id)
      }),

      rotate: Effect.fnUntraced(function* ({ params: { key_id }, payload }) {
        const { org_id } = yield* ownKey("rotate", key_id)
        if (!looksLike("key", key_id)) return yield* unknownKey(key_id)
        const newKey = yield* accounts.rotateKey(org_id, key_id, payload.grace_seconds ?? 0).pipe(
          asCaller,
          Effect.catchTags({
            KeyEnded: (why) => ended(key_id, why),
            IsAllowance: () => isAllowance(key_id),
            TooManyKeys: () => Effect.fail(tooMany)
          })
        )
        if (Option.isNone(newKey)) return yield* unknownKey(key_id)
        return { id: newKey.value.id, api_key: Redacted.value(newKey.value.token), note }
      }),

      revoke: Effect.fnUntraced(function* ({ params: { key_id } }) {
        const caller = yield* CurrentCaller
        if (caller.user_id === null && caller.key_id !== key_id) return yield* Effect.fail(needsPerson)
        yield* checkOwn(caller, "revoke", key_id)
        const row = looksLike("key", key_id)
          ? yield* asCaller(accounts.revokeKey(caller.org_id, key_id))
          : Option.none<KeyRow>()
        return Option.isSome(row) ? keyView(row.value) : yield* unknownKey(key_id)
      })
    })
  })
)
