/** The scope (`allow`) of a key in a request, and what else requests for API keys and for allowances have in common. */
import { Effect } from "effect"
import { keysMax } from "../../../layers/accounts/Accounts.ts"
import { Catalog } from "../../../layers/catalog/Catalog.ts"
import { Endpoints } from "../../../layers/catalog/Endpoints.ts"
import { Settings } from "../../../layers/platform/Settings.ts"
import type { Allow } from "../../../schema/accounts/KeyAccess.ts"
import { withoutNulls } from "../../../schema/defined.ts"
import { problem, refused } from "../../../schema/Errors.ts"
import { withCommands } from "../../../schema/Hints.ts"
import { revokeKey } from "../../../schema/Steps.ts"
import { didYouMean } from "../../../schema/suggestion.ts"
import type { KeyScopeRequest } from "../../../schema/nouns/ApiKey.ts"

export const note = "Store this key now; it is not shown again."

export const tooMany = problem(
  "invalid_request",
  withCommands`This organization has ${keysMax} API keys in use, which is the most. Revoke one with ${revokeKey} first.`
)

export const makeScopes = Effect.gen(function* () {
  const catalog = yield* Catalog
  const endpoints = yield* Endpoints
  const { mode } = yield* Settings
  const capabilities = catalog.entries.map((one) => one.capability.slug)

  /** Refuses a name that does not exist, because a misspelled one would close the key without a word. */
  const allNamed = Effect.fnUntraced(function* (
    field: string,
    what: string,
    given: ReadonlyArray<string> | undefined,
    existing: ReadonlyArray<string>
  ) {
    for (const [index, name] of (given ?? []).entries()) {
      if (existing.includes(name)) continue
      yield* refused(`allow.${field}.${index}`, `There is no ${what} "${name}".${didYouMean(name, existing)}`)
    }
  })

  const allowOf = Effect.fnUntraced(function* (given: KeyScopeRequest) {
    const allow: Allow = withoutNulls(given)
    yield* allNamed("capabilities", "capability", allow.capabilities, capabilities)
    yield* allNamed("providers", "provider", allow.providers, [...endpoints.snapshot().providers.keys()])
    return allow
  })

  return { environment: mode === "sandbox" ? ("test" as const) : ("live" as const), allowOf }
})
