/** API keys. The raw key appears only in the answer that creates it. */
import { Effect, Option, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Accounts, keysMax, type KeyRow } from "../../layers/accounts/Accounts.ts"
import { Members } from "../../layers/members/Members.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { problem } from "../../schema/Errors.ts"
import { looksLike } from "../../schema/Ids.ts"
import { Api } from "../api/Api.ts"
import { CurrentCaller, listLimitDefault } from "../api/shapes/Common.ts"
import { needsRole } from "../access/Access.ts"
import { makeAsCaller } from "../middleware/Bearer.ts"
import { requireVerified } from "../middleware/Verified.ts"
import { withCommands } from "../../schema/Hints.ts"
import { revokeKey, signIn } from "../../schema/Steps.ts"

const needsPerson = problem(
  "forbidden",
  withCommands`An API key may revoke itself and no other key. Sign in with ${signIn} and use the session token.`
)
const tooMany = problem(
  "invalid_request",
  withCommands`This organization has ${keysMax} API keys in use, which is the most. Revoke one with ${revokeKey} first.`
)

const view = (row: KeyRow) => ({
  id: row.key_id,
  name: row.name,
  environment: row.environment,
  display: row.display,
  last_used_at: row.last_used_at?.toISOString() ?? null,
  revoked: row.revoked_at !== null,
  created_at: row.created_at.toISOString()
})

export const KeysHandlers = HttpApiBuilder.group(
  Api,
  "keys",
  Effect.fnUntraced(function* (handlers) {
    const accounts = yield* Accounts
    const members = yield* Members
    const asCaller = yield* makeAsCaller
    const settings = yield* Settings
    const { mode } = settings
    const environment = mode === "sandbox" ? "test" : "live"

    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const { org_id } = yield* CurrentCaller
        const limit = query.limit ?? listLimitDefault
        const rows = yield* accounts.keys(org_id, query.cursor ?? null, limit + 1)
        const page = rows.slice(0, limit)
        return { items: page.map(view), next_cursor: rows.length > limit ? (page.at(-1)?.key_id ?? null) : null }
      }),

      create: Effect.fnUntraced(function* ({ payload }) {
        const caller = yield* CurrentCaller
        if (caller.user_id === null) {
          return yield* Effect.fail(
            problem(
              "forbidden",
              withCommands`An API key can't create keys; sign in with ${signIn} and use the session token.`
            )
          )
        }
        if (payload.environment !== environment) {
          const message = `must be "${environment}": this is ${mode === "sandbox" ? "the sandbox" : "production"}`
          return yield* Effect.fail(
            problem("invalid_request", `environment ${message}`, [{ path: "environment", message }])
          )
        }
        yield* requireVerified(settings)
        const { id, token } = yield* accounts.createKey(caller.org_id, payload.name, payload.environment).pipe(
          asCaller,
          Effect.catch(() => Effect.fail(tooMany))
        )
        return { id, api_key: Redacted.value(token), note: "Store this key now; it is not shown again." }
      }),

      revoke: Effect.fnUntraced(function* ({ params }) {
        const { org_id, key_id, user_id, role } = yield* CurrentCaller
        if (user_id === null && key_id !== params.key_id) return yield* Effect.fail(needsPerson)
        if (role === "member" && !(yield* members.created(org_id, user_id ?? "", params.key_id)))
          return yield* Effect.fail(needsRole("admin", role, "A member may revoke only keys that they created."))
        const row = looksLike("key", params.key_id)
          ? yield* asCaller(accounts.revokeKey(org_id, params.key_id))
          : Option.none<KeyRow>()
        if (Option.isSome(row)) return view(row.value)
        return yield* Effect.fail(
          problem("invalid_request", `There is no API key "${params.key_id}".`, [
            { path: "path.key_id", message: "is not a key of this organization" }
          ])
        )
      })
    })
  })
)
