/** How people write API keys: the handlers of keys and the configuration of an organization use this. */
import { Clock, Effect, Option, Schema } from "effect"
import { Accounts, type KeyRow } from "../../../layers/accounts/Accounts.ts"
import type { KeyEnded, KeyRules } from "../../../layers/accounts/ApiKeys.ts"
import { type Caller, scopeFor } from "../../../schema/accounts/KeyAccess.ts"
import { defined } from "../../../schema/defined.ts"
import { refused, refusedWith } from "../../../schema/Errors.ts"
import { looksLike } from "../../../schema/Ids.ts"
import { withCommands } from "../../../schema/Hints.ts"
import { ApiKey } from "../../../schema/nouns/ApiKey.ts"
import { createAllowance } from "../../../schema/Steps.ts"
import { budgetState } from "../../../schema/wallet/KeyBudget.ts"
import type { ApiKeyChange, ApiKeyRequest } from "../../api/accounts/Keys.ts"
import { CurrentCaller } from "../../api/shapes/Common.ts"
import { makeScopes, tooMany } from "./KeyScope.ts"

const keyJson = Schema.encodeSync(ApiKey)

export const keyView = (row: KeyRow) =>
  keyJson({
    ...row,
    id: row.key_id,
    revoked: row.revoked_at !== null,
    budget: row.budget === null ? null : budgetState(row.budget, row.today, row.time_zones ?? [])
  })

export const unknownKey = (key_id: string) =>
  refused("path.key_id", "is not a key of this organization", `There is no API key "${key_id}".`)

export const ended = (key_id: string, { replaced_by }: KeyEnded) =>
  replaced_by === null
    ? refused("path.key_id", "is revoked or expired", `${key_id} was revoked or has expired. Create another key.`)
    : refused(
        "path.key_id",
        `was replaced by ${replaced_by}`,
        `${key_id} was replaced by ${replaced_by}. Change or rotate that one.`
      )

export const isAllowance = (key_id: string) =>
  refusedWith(
    "invalid_request",
    withCommands`${key_id} is the key of an allowance, which can't be changed or rotated. Create another with ${createAllowance}, and revoke this one.`,
    [{ path: "path.key_id", message: "is the key of an allowance" }]
  )

type Change = typeof ApiKeyChange.Type

export const makeKeyWrites = Effect.gen(function* () {
  const accounts = yield* Accounts
  const { environment, allowOf } = yield* makeScopes

  const rulesOf = Effect.fnUntraced(function* ({ expires_at, budget, allow }: Change, role: Caller["role"]) {
    if (expires_at !== undefined && expires_at !== null && expires_at.getTime() <= (yield* Clock.currentTimeMillis))
      return yield* refused("expires_at", "must be in the future; to end a key now, revoke it")
    const rules: KeyRules = defined({
      expires_at,
      budget,
      allow: allow === undefined ? allow : scopeFor(role, allow === null ? null : yield* allowOf(allow))
    })
    return rules
  })

  const create = Effect.fnUntraced(function* (payload: typeof ApiKeyRequest.Type) {
    const { org_id, role } = yield* CurrentCaller
    if (payload.environment !== environment)
      return yield* refused(
        "environment",
        `must be "${environment}": this is ${environment === "test" ? "the sandbox" : "production"}`
      )
    const rules = yield* rulesOf({ ...payload, allow: payload.allow ?? null }, role)
    return yield* Effect.mapError(accounts.createKey(org_id, payload.name, environment, rules), () => tooMany)
  })

  const change = Effect.fnUntraced(function* (key_id: string, { name, ...payload }: Change) {
    const { org_id, role } = yield* CurrentCaller
    const rules = yield* rulesOf(payload, role)
    if (!looksLike("key", key_id)) return yield* unknownKey(key_id)
    const row = yield* Effect.catchTags(accounts.changeKey(org_id, key_id, { ...rules, ...defined({ name }) }), {
      KeyEnded: (why) => ended(key_id, why),
      IsAllowance: () => isAllowance(key_id)
    })
    return Option.isSome(row) ? row.value : yield* unknownKey(key_id)
  })

  return { environment, create, change }
})
