/**
 * What the handlers of a noun of which an organization has many, such as its senders, have in common: its list, one of them, its removal, and
 * the answer to an id that is none of the organization's. No statement runs for a text that can't be such an id.
 */
import { Effect } from "effect"
import { type Problem, refused } from "../../schema/Errors.ts"
import { type CommandHint, withCommands } from "../../schema/Hints.ts"
import { looksLike, type Prefix } from "../../schema/Ids.ts"
import { CurrentCaller } from "../api/shapes/Common.ts"
import { pageOf, type PageQuery } from "./ListPage.ts"

/** The list of the caller's organization, in the order in which `read` gives it. */
export const listOf =
  <Row, Item extends { readonly id: string }, E, R>(
    prefix: Prefix,
    read: (org_id: string, before: string | null, limit: number) => Effect.Effect<ReadonlyArray<Row>, E, R>,
    view: (row: Row) => Item
  ) =>
  ({ query }: { readonly query: PageQuery }) =>
    Effect.flatMap(CurrentCaller, ({ org_id }) =>
      pageOf(prefix, query, (before, limit) => read(org_id, before, limit), view)
    )

/** `path` is the name of its id in paths. */
export const organizationNoun = <const Path extends string>(
  prefix: Prefix,
  noun: string,
  path: Path,
  lists: CommandHint
) => {
  const unknown = (id: string): Effect.Effect<never, Problem<"invalid_request">> =>
    refused(
      `path.${path}`,
      `is not ${/^[aeiou]/.test(noun) ? "an" : "a"} ${noun} of this organization`,
      withCommands`There is no ${noun} "${id}"; ${lists} lists them.`
    )
  /** The one with this id. */
  const one = <Row, E, R>(find: (org_id: string, id: string) => Effect.Effect<Row | null, E, R>) =>
    Effect.fnUntraced(function* (id: string) {
      const { org_id } = yield* CurrentCaller
      return (looksLike(prefix, id) ? yield* find(org_id, id) : null) ?? (yield* unknown(id))
    })
  /** `by` makes the change in the name of the caller, for the audit log. */
  const removal = <E, R, E2, R2>(
    by: (change: Effect.Effect<boolean, E, R>) => Effect.Effect<boolean, E2, R2>,
    remove: (org_id: string, id: string) => Effect.Effect<boolean, E, R>
  ) =>
    Effect.fnUntraced(function* ({ params }: { readonly params: { readonly [name in Path]: string } }) {
      const id: string = params[path]
      const { org_id } = yield* CurrentCaller
      const isRemoved = looksLike(prefix, id) && (yield* by(remove(org_id, id)))
      return isRemoved ? { id, deleted: true as const } : yield* unknown(id)
    })
  return { unknown, one, removal }
}
