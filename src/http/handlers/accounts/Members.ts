/** Members and their roles. Auth.ts has checked the caller's role; what depends on the member is checked here. */
import { Effect, Schema } from "effect"
import { AccountMails } from "../../../actors/accounts/AccountMails.ts"
import { SecondFactors } from "../../../layers/accounts/SecondFactors.ts"
import { type FollowedKey, type MemberRow, Members, type NotOwner } from "../../../layers/members/Members.ts"
import { Settings } from "../../../layers/platform/Settings.ts"
import { problem, refused } from "../../../schema/Errors.ts"
import { withCommands } from "../../../schema/Hints.ts"
import { looksLike } from "../../../schema/Ids.ts"
import { Member } from "../../../schema/nouns/Member.ts"
import { listMembers } from "../../../schema/Steps.ts"
import { group } from "../group.ts"
import { listOf } from "../OrganizationNoun.ts"
import { CurrentCaller } from "../../api/shapes/Common.ts"
import { needsRole } from "../../access/Access.ts"
import { makeAsCaller } from "../../middleware/Bearer.ts"
import { unknownSession } from "../../middleware/CallerChecks.ts"
import { mustVerify } from "../../middleware/Verified.ts"

const unknown = (member_id: string) =>
  problem("not_found", withCommands`There is no member "${member_id}". List members with ${listMembers}.`, [
    { path: "path.member_id", message: "is not a member of this organization" }
  ])

const lastOwner = refused(
  "path.member_id",
  "is the only owner of this organization",
  "This is the only owner of the organization. Make another member an owner first."
)

const notOwner =
  (why: string) =>
  ({ has }: NotOwner) =>
    Effect.fail(has === null ? unknownSession : needsRole("owner", has, why))

const ownFactors = refused(
  "path.member_id",
  "is you. Remove your own second factor and passkeys on the console's Account page; without phone and recovery codes, ask another owner, or the operator of the service"
)
const elsewhere = refused(
  "path.member_id",
  "is in other organizations too, which rely on the second factor; only the operator of the service can remove it"
)

const memberJson = Schema.encodeSync(Member)
const keysView = (keys: ReadonlyArray<FollowedKey>) => keys.map(({ key_id, ...key }) => ({ id: key_id, ...key }))

export const MembersHandlers = group(
  "members",
  Effect.fnUntraced(function* (handlers) {
    const members = yield* Members
    const factors = yield* SecondFactors
    const mails = yield* AccountMails
    const asCaller = yield* makeAsCaller
    const settings = yield* Settings

    const view = (row: MemberRow) =>
      memberJson({ ...row, id: row.user_id, verified: !mustVerify(settings, row.pending) })

    return handlers.handleAll({
      list: listOf("usr", members.list, view),

      setRole: Effect.fnUntraced(function* ({ params: { member_id }, payload: { role } }) {
        const { org_id, user_id } = yield* CurrentCaller
        const row = looksLike("usr", member_id)
          ? yield* asCaller(members.setRole(org_id, member_id, role, user_id ?? "")).pipe(
              Effect.catchTags({
                LastOwner: () => lastOwner,
                NotOwner: notOwner("Only owners change roles.")
              })
            )
          : null
        if (row === null) return yield* Effect.fail(unknown(member_id))
        const { keys, ...member } = row
        return { ...view(member), keys: keysView(keys) }
      }),

      removeFactors: Effect.fnUntraced(function* ({ params: { member_id } }) {
        const { org_id, user_id } = yield* CurrentCaller
        if (user_id === member_id) return yield* ownFactors
        const removed = looksLike("usr", member_id)
          ? yield* asCaller(factors.reset(member_id, org_id)).pipe(Effect.catchTag("MemberElsewhere", () => elsewhere))
          : null
        if (removed === null) return yield* Effect.fail(unknown(member_id))
        yield* mails.wake
        return { id: member_id, ...removed }
      }),

      remove: Effect.fnUntraced(function* ({ params: { member_id }, query }) {
        const { org_id, user_id } = yield* CurrentCaller
        const keepsKeys = query.keep_keys === "true"
        const keys = looksLike("usr", member_id)
          ? yield* asCaller(members.remove(org_id, member_id, keepsKeys, user_id ?? "")).pipe(
              Effect.catchTags({
                LastOwner: () => lastOwner,
                NotOwner: notOwner(
                  user_id === member_id
                    ? "Only owners keep somebody's keys (keep_keys)."
                    : "Only owners remove other members."
                )
              })
            )
          : null
        if (keys === null) return yield* Effect.fail(unknown(member_id))
        const revoked_keys = keys.filter(({ change }) => change === "revoked").map(({ key_id }) => key_id)
        return { id: member_id, removed: true as const, revoked_keys, keys: keysView(keys) }
      })
    })
  })
)
