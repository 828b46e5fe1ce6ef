/**
 * The members of organizations and their roles.
 *
 * The database keeps the last owner: triggers of schema/members.sql refuse a change that would leave an organization without one, also when two
 * requests arrive at once. Removing a member ends their sessions in the organization. What the keys of somebody who is demoted or removed
 * may do is changed in the same transaction (`keys_follow_role`).
 */
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { allows, inviterOf, type Role, roles } from "../../schema/accounts/Role.ts"
import { digest, newToken, tokenHash } from "../accounts/Secrets.ts"
import { Settings } from "../platform/Settings.ts"
import { rowsOf, storedAs } from "../postgres/Rows.ts"
import { constraintOf } from "../postgres/connection/SqlState.ts"

export const MemberRow = Schema.Struct({
  user_id: Schema.String,
  email: Schema.String,
  role: Schema.Literals(roles),
  created_at: Schema.Date,
  /** The user has not verified the e-mail address. */
  pending: Schema.Boolean,
  /** Null for a pending user, and for a user who signed up while e-mail verification was off. */
  email_verified_at: Schema.NullOr(Schema.Date)
})
export type MemberRow = typeof MemberRow.Type
const memberRows = rowsOf(MemberRow.fields)

/** An organization that a user belongs to. */
export const MembershipRow = Schema.Struct({
  org_id: Schema.String,
  name: Schema.String,
  role: Schema.Literals(roles)
})
export type MembershipRow = typeof MembershipRow.Type
const membershipRows = storedAs(MembershipRow.fields)

/** The change would leave the organization without an owner. */
export class LastOwner extends Schema.TaggedError<LastOwner>()("LastOwner", {}) {}
/** Only owners do this. `has`: the caller's role. Null if the caller is no member any more. */
export class NotOwner extends Schema.TaggedError<NotOwner>()("NotOwner", {
  has: Schema.NullOr(Schema.Literals(roles))
}) {}

const FollowedKey = Schema.Struct({
  key_id: Schema.String,
  name: Schema.String,
  /** It is the access token of a connection. */
  connected: Schema.Boolean,
  change: Schema.Literals(["narrowed", "revoked"])
})
/** A key of somebody who was demoted or removed, and what happened to it. */
export type FollowedKey = typeof FollowedKey.Type
const followedRows = rowsOf(FollowedKey.fields)
const roleRows = rowsOf({ user_id: Schema.String, role: Schema.Literals(roles) })

export interface Demoted extends MemberRow {
  readonly keys: ReadonlyArray<FollowedKey>
}

export class Members extends Context.Service<
  Members,
  {
    /** Oldest account first. */
    readonly list: (org_id: string, after: string | null, limit: number) => Effect.Effect<ReadonlyArray<MemberRow>>
    readonly find: (org_id: string, user_id: string) => Effect.Effect<MemberRow | null>
    /** The organizations of a user, oldest membership first. */
    readonly of: (user_id: string) => Effect.Effect<ReadonlyArray<MembershipRow>>
    /** Null if the user is no member. Withdraws invitations that the member may not send any more, and takes from keys what the role may not do. */
    readonly setRole: (
      org_id: string,
      user_id: string,
      role: Role,
      by: string
    ) => Effect.Effect<Demoted | null, LastOwner | NotOwner>
    /**
     * Null if the user is no member. Members may remove themselves, and owners everybody. Withdraws their invitations, ends their connections,
     * and revokes the keys that they created. With `keepKeys`, which is for owners, these keys stay with a scope of a member's at most.
     */
    readonly remove: (
      org_id: string,
      user_id: string,
      keepKeys: boolean,
      by: string
    ) => Effect.Effect<ReadonlyArray<FollowedKey> | null, LastOwner | NotOwner>
    /** Replaces a session by one of another organization of its user. Null if the session has ended or the user is not its member. */
    readonly switchTo: (session: Redacted.Redacted, org_id: string) => Effect.Effect<Redacted.Redacted | null>
  }
>()("rungate/layers/members/Members") {
  static readonly layer = Layer.effect(
    Members,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { cell } = yield* Settings
      const columns = sql.literal("m.user_id, u.email, m.role, m.created_at, u.pending, u.email_verified_at")

      const find = Effect.fnUntraced(function* (org_id: string, user_id: string) {
        const [row] = yield* memberRows(sql`
          SELECT ${columns} FROM members m JOIN users u USING (user_id) WHERE m.org_id = ${org_id} AND m.user_id = ${user_id}`)
        return row ?? null
      })

      /** An invitation must not outlive the right to send it. One that is on its way waits, or is waited for (MemberInvitations.ts). */
      const withdraw = (org_id: string, user_id: string, may: ReadonlyArray<Role>) => sql`
        UPDATE member_invitations SET withdrawn_at = now(), send_at = NULL
        WHERE org_id = ${org_id} AND invited_by = ${user_id} AND accepted_at IS NULL AND withdrawn_at IS NULL
          AND NOT role = ANY(string_to_array(${may.join(",")}, ','))`

      const guarded = <A>(change: Effect.Effect<A, NotOwner | SqlError.SqlError>) =>
        sql.withTransaction(change).pipe(
          Effect.catchReason("SqlError", "ConstraintError", (reason) =>
            constraintOf(reason) === "organization_keeps_owner" ? Effect.fail(new LastOwner()) : Effect.die(reason)
          ),
          Effect.catchTag("SqlError", Effect.die)
        )

      /**
       * The member's role. Locks first what follows it, in the order of a connection's refresh and of a key's change, so none is a deadlock.
       * `owner` must be one still: the session's role was read before a change that may have been under way.
       */
      const lockedRole = Effect.fnUntraced(function* (org_id: string, user_id: string, owner: string | null) {
        yield* sql`SELECT 1 AS locked FROM oauth_grants WHERE org_id = ${org_id} AND user_id = ${user_id} ORDER BY grant_id FOR UPDATE`
        yield* sql`
          SELECT 1 AS locked FROM api_keys WHERE org_id = ${org_id} AND created_by = ${user_id} AND revoked_at IS NULL ORDER BY key_id FOR UPDATE`
        yield* sql`SELECT 1 AS locked FROM oauth_codes WHERE org_id = ${org_id} AND user_id = ${user_id} ORDER BY code_hash FOR UPDATE`
        const rows = yield* roleRows(sql`
          SELECT user_id, role FROM members WHERE org_id = ${org_id} AND user_id IN (${user_id}, ${owner}) ORDER BY user_id FOR NO KEY UPDATE`)
        const roleOf = (id: string) => rows.find((row) => row.user_id === id)?.role
        const has = owner === null ? "owner" : roleOf(owner)
        if (has !== "owner") return yield* new NotOwner({ has: has ?? null })
        return roleOf(user_id)
      })

      /** `role` null: that of somebody who is removed, and whose keys stay. */
      const followed = (org_id: string, user_id: string, role: Role | null) =>
        followedRows(sql`
          SELECT key_id, name, connected, change FROM keys_follow_role(${org_id}, ${user_id}, ${role}::text) ORDER BY key_id`)

      return Members.of({
        list: (org_id, after, limit) =>
          Effect.orDie(
            memberRows(sql`
              SELECT ${columns} FROM members m JOIN users u USING (user_id)
              WHERE m.org_id = ${org_id} AND (${after}::text IS NULL OR m.user_id > ${after}) ORDER BY m.user_id LIMIT ${limit}`)
          ),
        find: (org_id, user_id) => Effect.orDie(find(org_id, user_id)),
        of: (user_id) =>
          membershipRows.all(sql`
            SELECT m.org_id, o.name, m.role FROM members m JOIN orgs o USING (org_id)
            WHERE m.user_id = ${user_id} ORDER BY m.created_at, m.org_id`),
        setRole: Effect.fn("Members.setRole")(function* (org_id, user_id, role, by) {
          return yield* guarded(
            Effect.gen(function* () {
              const before = yield* lockedRole(org_id, user_id, by)
              if (before === undefined) return null
              const keys = before === role ? [] : yield* followed(org_id, user_id, role)
              yield* sql`
                UPDATE members SET role = ${role} WHERE org_id = ${org_id} AND user_id = ${user_id} AND role <> ${role}`
              const mayInvite = roles.filter((one) => allows(role, inviterOf(one)))
              yield* withdraw(org_id, user_id, mayInvite)
              const row = yield* find(org_id, user_id)
              return row === null ? null : { ...row, keys }
            })
          )
        }),
        remove: Effect.fn("Members.remove")(function* (org_id, user_id, keepKeys, by) {
          return yield* guarded(
            Effect.gen(function* () {
              const owner = by === user_id && !keepKeys ? null : by
              if ((yield* lockedRole(org_id, user_id, owner)) === undefined) return null
              // Without keys: as for a viewer, who may have none.
              const keys = yield* followed(org_id, user_id, keepKeys ? null : "viewer")
              yield* sql`DELETE FROM members WHERE org_id = ${org_id} AND user_id = ${user_id}`
              yield* withdraw(org_id, user_id, [])
              return keys
            })
          )
        }),
        switchTo: Effect.fn("Members.switchTo")(function* (session, org_id) {
          const token = newToken(cell, "sess", org_id)
          const hash = tokenHash(session)
          // Whoever ends all sessions of the user locks the user first too, and then finds this one or its successor. Whoever removes the member
          // locks the member before the sessions.
          const opened = yield* sql`
            WITH me AS (
              SELECT user_id FROM users WHERE user_id = (SELECT user_id FROM sessions WHERE token_hash = ${hash}) FOR SHARE
            ), member AS (
              SELECT user_id FROM members WHERE org_id = ${org_id} AND user_id = (SELECT user_id FROM me) FOR KEY SHARE
            ), old AS (
              UPDATE sessions s SET ended_at = now() FROM member m
              WHERE s.token_hash = ${hash} AND s.user_id = m.user_id AND s.ended_at IS NULL AND s.expires_at > now()
              RETURNING s.user_id, s.expires_at)
            INSERT INTO sessions (token_hash, user_id, org_id, expires_at)
            SELECT ${digest(token)}, user_id, ${org_id}, expires_at FROM old RETURNING 1 AS opened`
          return opened.length === 0 ? null : Redacted.make(token)
        }, Effect.orDie)
      })
    })
  )
}
