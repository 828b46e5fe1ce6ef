/** Pages of the operator's lists, and the organization that a request names in its path or as a filter. */
import { Effect, Option } from "effect"
import { Accounts } from "../../../layers/accounts/Accounts.ts"
import type { OrganizationRow } from "../../../layers/accounts/organizations/OrganizationList.ts"
import { notACursor, problem } from "../../../schema/Errors.ts"
import { withCommands } from "../../../schema/Hints.ts"
import { type Prefix, looksLike } from "../../../schema/Ids.ts"
import { shownName } from "../../../schema/json/StorableText.ts"
import { listOrganizations } from "../../../schema/Steps.ts"
import { cut } from "../ListPage.ts"

const sentenceOf = (org_id: string) =>
  withCommands`There is no organization "${shownName(org_id)}". List organizations with ${listOrganizations}.`

export const makeOrganizationOf = Effect.map(Accounts, (accounts) => {
  const find = (org_id: string) =>
    looksLike("org", org_id) ? accounts.organization(org_id) : Effect.succeed(Option.none<OrganizationRow>())
  return {
    inPath: Effect.fnUntraced(function* (org_id: string) {
      const row = yield* find(org_id)
      return Option.isSome(row) ? row.value : yield* Effect.fail(problem("not_found", sentenceOf(org_id)))
    }),
    /** The filter of a list. A list of an organization that does not exist would look as if it had nothing. */
    inQuery: Effect.fnUntraced(function* (org_id: string | undefined) {
      if (org_id === undefined) return null
      if (Option.isSome(yield* find(org_id))) return org_id
      const fault = { path: "query.org_id", message: "is not an organization" }
      return yield* Effect.fail(problem("invalid_request", sentenceOf(org_id), [fault]))
    })
  }
})

/** The id that the page comes after. Null for the first page. */
export const cursorOf = (kind: Prefix, cursor: string | undefined) =>
  cursor === undefined ? Effect.succeed(null) : looksLike(kind, cursor) ? Effect.succeed(cursor) : notACursor

/** A page of rows that were read with one more than `limit`. The next one comes after its last id. */
export const pageOf = <Row, A>(
  rows: ReadonlyArray<Row>,
  limit: number,
  idOf: (row: Row) => string,
  view: (row: Row) => A
): { readonly items: ReadonlyArray<A>; readonly next_cursor: string | null } => {
  const page = cut(rows, limit, idOf)
  return { items: page.rows.map(view), next_cursor: page.next }
}
