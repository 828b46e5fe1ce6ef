/**
 * The members of organizations and their roles.
 *
 * The database keeps the last owner: triggers of migration 0038 refuse a change that would leave an organization without one, also when two
 * requests arrive at once. Removing a member ends their sessions in the organization.
 */
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { type Role, roles } from "../../schema/accounts/Role.ts"
import { digest, randomText } from "../accounts/Secrets.ts"
import { rowsOf } from "../postgres/Rows.ts"

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
const membershipRows = rowsOf(MembershipRow.fields)

/** The change would leave the organization without an owner. */
export class LastOwner extends Schema.TaggedError<LastOwner>()("LastOwner", {}) {}

export interface Removed {
  readonly user_id: string
  /** Ids of the API keys that the member had created and that are revoked now. */
  readonly revoked_keys: ReadonlyArray<string>
}

const keyIdRows = rowsOf({ key_id: Schema.String })

const isLastOwner = (cause: unknown) =>
  typeof cause === "object" &&
  cause !== null &&
  "constraint" in cause &&
  cause.constraint === "organization_keeps_owner"

export class Members extends Context.Service<
  Members,
  {
    /** Oldest account first. */
    readonly list: (org_id: string, after: string | null, limit: number) => Effect.Effect<ReadonlyArray<MemberRow>>
    readonly find: (org_id: string, user_id: string) => Effect.Effect<MemberRow | null>
    /** The organizations of a user, oldest membership first. */
    readonly of: (user_id: string) => Effect.Effect<ReadonlyArray<MembershipRow>>
    /** Null if the user is no member. Withdraws invitations that the member may not send any more. */
    readonly setRole: (org_id: string, user_id: string, role: Role) => Effect.Effect<MemberRow | null, LastOwner>
    /** Null if the user is no member. Revokes the keys that the member created, except with `keepKeys`, and withdraws their invitations. */
    readonly remove: (org_id: string, user_id: string, keepKeys: boolean) => Effect.Effect<Removed | null, LastOwner>
    /** Replaces a session by one of another organization of its user. Null if the session has ended or the user is not its member. */
    readonly switchTo: (session: Redacted.Redacted, org_id: string) => Effect.Effect<Redacted.Redacted | null>
    /** Whether a user created an API key. */
    readonly created: (org_id: string, user_id: string, key_id: string) => Effect.Effect<boolean>
  }
>()("rungate/layers/members/Members") {
  static readonly layer = Layer.effect(
    Members,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const columns = sql.literal("m.user_id, u.email, m.role, m.created_at, u.pending, u.email_verified_at")

      const list = (org_id: string, after: string | null, limit: number) =>
        memberRows(sql`
        SELECT ${columns} FROM members m JOIN users u USING (user_id)
        WHERE m.org_id = ${org_id} AND (${after}::text IS NULL OR m.user_id > ${after}) ORDER BY m.user_id LIMIT ${limit}`)

      const find = Effect.fnUntraced(function* (org_id: string, user_id: string) {
        const [row] = yield* memberRows(sql`
          SELECT ${columns} FROM members m JOIN users u USING (user_id) WHERE m.org_id = ${org_id} AND m.user_id = ${user_id}`)
        return row ?? null
      })

      const of = (user_id: string) =>
        membershipRows(sql`
        SELECT m.org_id, o.name, m.role FROM members m JOIN orgs o USING (org_id)
        WHERE m.user_id = ${user_id} ORDER BY m.created_at, m.org_id`)

      /** An invitation must not outlive the right to send it. A member sends invitations for roles up to their own. */
      const withdraw = (org_id: string, user_id: string, may: ReadonlyArray<Role>) => sql`
        UPDATE member_invitations SET withdrawn_at = now(), send_at = NULL
        WHERE org_id = ${org_id} AND invited_by = ${user_id} AND accepted_at IS NULL AND withdrawn_at IS NULL
          AND NOT role = ANY(string_to_array(${may.join(",")}, ','))`

      const guarded = <A>(change: Effect.Effect<A, SqlError.SqlError>) =>
        sql.withTransaction(change).pipe(
          Effect.catchReason("SqlError", "ConstraintError", (reason) =>
            isLastOwner(reason.cause) ? Effect.fail(new LastOwner()) : Effect.die(reason)
          ),
          Effect.catchTag("SqlError", Effect.die)
        )

      const setRole = Effect.fn("Members.setRole")(function* (org_id: string, user_id: string, role: Role) {
        return yield* guarded(
          Effect.gen(function* () {
            yield* sql`
              UPDATE members SET role = ${role} WHERE org_id = ${org_id} AND user_id = ${user_id} AND role <> ${role}`
            const mayInvite = role === "owner" ? roles : role === "admin" ? roles.filter((one) => one !== "owner") : []
            yield* withdraw(org_id, user_id, mayInvite)
            return yield* find(org_id, user_id)
          })
        )
      })

      const remove = Effect.fn("Members.remove")(function* (org_id: string, user_id: string, keepKeys: boolean) {
        return yield* guarded(
          Effect.gen(function* () {
            const gone = yield* sql`
              DELETE FROM members WHERE org_id = ${org_id} AND user_id = ${user_id} RETURNING 1 AS gone`
            if (gone.length === 0) return null
            yield* withdraw(org_id, user_id, [])
            if (keepKeys) return { user_id, revoked_keys: [] }
            const keys = yield* keyIdRows(sql`
              UPDATE api_keys SET revoked_at = now()
              WHERE org_id = ${org_id} AND created_by = ${user_id} AND revoked_at IS NULL RETURNING key_id`)
            return { user_id, revoked_keys: keys.map(({ key_id }) => key_id).sort() }
          })
        )
      })

      const created = (org_id: string, user_id: string, key_id: string) => sql`
        SELECT 1 AS found FROM api_keys WHERE org_id = ${org_id} AND key_id = ${key_id} AND created_by = ${user_id}`

      const switchTo = Effect.fn("Members.switchTo")(function* (session: Redacted.Redacted, org_id: string) {
        const token = `rg_sess_${randomText(43)}`
        const opened = yield* sql`
          WITH old AS (
            UPDATE sessions s SET ended_at = now() FROM members m
            WHERE s.token_hash = ${digest(Redacted.value(session))} AND s.ended_at IS NULL AND s.expires_at > now()
              AND m.user_id = s.user_id AND m.org_id = ${org_id}
            RETURNING s.user_id, s.expires_at)
          INSERT INTO sessions (token_hash, user_id, org_id, expires_at)
          SELECT ${digest(token)}, user_id, ${org_id}, expires_at FROM old RETURNING 1 AS opened`
        return opened.length === 0 ? null : Redacted.make(token)
      })

      return Members.of({
        list: (org_id, after, limit) => Effect.orDie(list(org_id, after, limit)),
        find: (org_id, user_id) => Effect.orDie(find(org_id, user_id)),
        of: (user_id) => Effect.orDie(of(user_id)),
        setRole,
        remove,
        switchTo: (session, org_id) => Effect.orDie(switchTo(session, org_id)),
        created: (org_id, user_id, key_id) =>
          Effect.orDie(Effect.map(created(org_id, user_id, key_id), (rows) => rows.length > 0))
      })
    })
  )
}
