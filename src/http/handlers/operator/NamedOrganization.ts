/** The organization that a request of an operator names in its path or as a filter. */
import { Effect, Option } from "effect"
import { Accounts } from "../../../layers/accounts/Accounts.ts"
import type { OrganizationRow } from "../../../layers/accounts/organizations/OrganizationList.ts"
import { refusedWith } from "../../../schema/Errors.ts"
import { withCommands } from "../../../schema/Hints.ts"
import { looksLike } from "../../../schema/Ids.ts"
import { shownName } from "../../../schema/json/StorableText.ts"
import { listOrganizations } from "../../../schema/Steps.ts"

const sentenceOf = (org_id: string) =>
  withCommands`There is no organization "${shownName(org_id)}". List organizations with ${listOrganizations}.`

export const makeOrganizationOf = Effect.map(Accounts, (accounts) => {
  const find = (org_id: string) =>
    looksLike("org", org_id) ? accounts.organization(org_id) : Effect.succeed(Option.none<OrganizationRow>())
  return {
    inPath: Effect.fnUntraced(function* (org_id: string) {
      const row = yield* find(org_id)
      return Option.isSome(row) ? row.value : yield* refusedWith("not_found", sentenceOf(org_id))
    }),
    /** The filter of a list. A list of an organization that does not exist would look as if it had nothing. */
    inQuery: Effect.fnUntraced(function* (org_id: string | undefined) {
      if (org_id === undefined) return null
      if (Option.isSome(yield* find(org_id))) return org_id
      const fault = { path: "query.org_id", message: "is not an organization" }
      return yield* refusedWith("invalid_request", sentenceOf(org_id), [fault])
    })
  }
})
