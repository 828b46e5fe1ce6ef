/** API keys and their rules. The raw key appears only in the answer that creates it. */
import { Effect, Option, Redacted } from "effect"
import { Accounts, type KeyRow } from "../../../layers/accounts/Accounts.ts"
import { type Caller, isUnrestricted } from "../../../schema/accounts/KeyAccess.ts"
import { allows } from "../../../schema/accounts/Role.ts"
import { problem } from "../../../schema/Errors.ts"
import { withCommands } from "../../../schema/Hints.ts"
import { looksLike } from "../../../schema/Ids.ts"
import type { KeyScopeRequest } from "../../../schema/nouns/ApiKey.ts"
import { signIn } from "../../../schema/Steps.ts"
import { needsRole } from "../../access/Access.ts"
import { group } from "../group.ts"
import { CurrentCaller } from "../../api/shapes/Common.ts"
import { makeAsCaller } from "../../middleware/Bearer.ts"
import { listOf } from "../OrganizationNoun.ts"
import { note, tooMany } from "./KeyScope.ts"
import { ended, isAllowance, keyView, makeKeyWrites, unknownKey } from "./KeyWrites.ts"

const needsPerson = problem(
  "forbidden",
  withCommands`An API key may revoke itself and no other key. Sign in with ${signIn} and use the session token.`
)
export const KeysHandlers = group(
  "keys",
  Effect.fnUntraced(function* (handlers) {
    const accounts = yield* Accounts
    const asCaller = yield* makeAsCaller
    const writes = yield* makeKeyWrites

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

    return handlers.handleAll({
      list: listOf("key", accounts.keys, keyView),

      get: Effect.fnUntraced(function* ({ params: { key_id } }) {
        const { org_id } = yield* CurrentCaller
        const row = yield* rowOf(org_id, key_id)
        return Option.isSome(row) ? keyView(row.value) : yield* unknownKey(key_id)
      }),

      create: Effect.fnUntraced(function* ({ payload }) {
        const { id, token } = yield* asCaller(writes.create(payload))
        return { id, api_key: Redacted.value(token), note }
      }),

      change: Effect.fnUntraced(function* ({ params: { key_id }, payload }) {
        yield* ownKey("change", key_id, payload.allow)
        return keyView(yield* asCaller(writes.change(key_id, payload)))
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
