/**
 * Invitations to join an organization. Each is for one e-mail address, works once, and expires after a week. Only the token's digest is
 * stored.
 *
 * With a mail server, the link is created when its e-mail is sent, so nobody but its recipient sees it. Without one, the link is returned to
 * the person who invites. A new invitation of an address replaces the one before.
 */
import { Context, Effect, Layer, Option, type Redacted, Redacted as Secret, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AuditLog } from "../auditlog/AuditLog.ts"
import { Accounts, type NewSession } from "../accounts/Accounts.ts"
import { type AddressElsewhere, Directory } from "../accounts/Directory.ts"
import { hashed, matches, newLinkToken, tokenHash } from "../accounts/Secrets.ts"
import { type CodeNeeded, SecondFactors, type WrongCode } from "../accounts/SecondFactors.ts"
import { Mails } from "../accounts/Mails.ts"
import { newId } from "../platform/Ids.ts"
import { Settings } from "../platform/Settings.ts"
import { hasRows, oneRowOf, rowsOf } from "../postgres/Rows.ts"
import { Invitation } from "../../schema/nouns/Member.ts"
import { allows, inviterOf, type Role, roles } from "../../schema/accounts/Role.ts"

const { status: _status, ...invitation } = Invitation.fields
export const InvitationRow = Schema.Struct(invitation)
export type InvitationRow = typeof InvitationRow.Type
const invitationRows = rowsOf(InvitationRow.fields)

/** What a link is for, as its page shows it. */
export const OpenInvitation = Schema.Struct({
  invitation_id: Schema.String,
  org_id: Schema.String,
  organization: Schema.String,
  email: Schema.String,
  role: Schema.Literals(roles),
  /** Whether the link was mailed: then accepting it proves the address. Without a mail server the inviter gets the link. */
  mailed: Schema.Boolean
})
export type OpenInvitation = typeof OpenInvitation.Type
const openRows = rowsOf(OpenInvitation.fields)

export class AlreadyMember extends Schema.TaggedError<AlreadyMember>()("AlreadyMember", {}) {}
export class TooManyInvitations extends Schema.TaggedError<TooManyInvitations>()("TooManyInvitations", {
  limit: Schema.Literals(["open", "hour"])
}) {}
/** The sender may not invite to this role. `has`: the sender's role. Null if the sender is no member any more. */
export class MayNotInvite extends Schema.TaggedError<MayNotInvite>()("MayNotInvite", {
  has: Schema.NullOr(Schema.Literals(roles))
}) {}
/** The token is unknown, used, expired or withdrawn. One error for all, so that it reveals nothing about tokens. */
export class NotInvited extends Schema.TaggedError<NotInvited>()("NotInvited", {}) {}
/** The address has an account, and the password is not its password. */
export class WrongAccountPassword extends Schema.TaggedError<WrongAccountPassword>()("WrongAccountPassword", {}) {}
/** The address has no account yet, and the password is too short for a new one. */
export class WeakPassword extends Schema.TaggedError<WeakPassword>()("WeakPassword", {}) {}

const days = 7
/** Open invitations of one organization, and invitations in an hour. They keep a person from mailing strangers in masses. */
export const invitationsMax = 100
export const invitationsPerHour = 50

const accountRows = rowsOf({ user_id: Schema.String, password_hash: Schema.String })
const senderRows = rowsOf({ role: Schema.Literals(roles) })
const countsRow = oneRowOf({ open: Schema.BigInt, recent: Schema.BigInt, member: Schema.Boolean })

export interface NewMemberInvitation {
  readonly org_id: string
  readonly email: string
  readonly role: Role
  readonly invited_by: string
  /** Whether the link is mailed. If not, its token is returned. */
  readonly mailed: boolean
}

export interface Accepting {
  readonly password: Redacted.Redacted
  /** Of the account's second factor. */
  readonly code: string | null
  readonly passwordLengthMin: number
  /** The client address, for the audit log. */
  readonly client: string
}

export class MemberInvitations extends Context.Service<
  MemberInvitations,
  {
    readonly invite: (
      invitation: NewMemberInvitation
    ) => Effect.Effect<
      { readonly row: InvitationRow; readonly token: Redacted.Redacted | null },
      MayNotInvite | AlreadyMember | TooManyInvitations
    >
    /** Invitations that were neither accepted nor withdrawn, newest first. */
    readonly list: (org_id: string, before: string | null, limit: number) => Effect.Effect<ReadonlyArray<InvitationRow>>
    /** False if there is no such open invitation. */
    readonly withdraw: (org_id: string, invitation_id: string) => Effect.Effect<boolean>
    readonly open: (token: Redacted.Redacted) => Effect.Effect<Option.Option<OpenInvitation>>
    /** Makes the invited person a member, with a new account or the one that the address has, and opens a session. */
    readonly accept: (
      token: Redacted.Redacted,
      accepting: Accepting
    ) => Effect.Effect<
      NewSession,
      NotInvited | WrongAccountPassword | WeakPassword | AddressElsewhere | CodeNeeded | WrongCode
    >
  }
>()("rungate/layers/members/MemberInvitations") {
  static readonly layer = Layer.effect(
    MemberInvitations,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { cell, emailVerification } = yield* Settings
      const directory = yield* Directory
      const accounts = yield* Accounts
      const factors = yield* SecondFactors
      const mails = yield* Mails
      const log = yield* AuditLog
      const columns = sql.literal(
        "i.invitation_id AS id, i.email, i.role, u.email AS invited_by, i.created_at, i.expires_at"
      )

      const refusal = Effect.fnUntraced(function* (org_id: string, email: string) {
        const { open, recent, member } = yield* countsRow(sql`
          SELECT (SELECT count(*) FROM member_invitations WHERE org_id = ${org_id} AND accepted_at IS NULL AND withdrawn_at IS NULL
                    AND expires_at > now() AND lower(email) <> lower(${email})) AS open,
                 (SELECT count(*) FROM member_invitations WHERE org_id = ${org_id} AND created_at > now() - interval '1 hour') AS recent,
                 EXISTS (SELECT FROM members m JOIN users u USING (user_id)
                         WHERE m.org_id = ${org_id} AND lower(u.email) = lower(${email}) AND NOT u.pending) AS member`)
        if (member) return new AlreadyMember()
        if (open >= BigInt(invitationsMax)) return new TooManyInvitations({ limit: "open" })
        return recent >= BigInt(invitationsPerHour) ? new TooManyInvitations({ limit: "hour" }) : null
      })

      const open = Effect.fnUntraced(function* (token: Redacted.Redacted) {
        const [row] = yield* openRows(sql`
          SELECT i.invitation_id, i.org_id, o.name AS organization, i.email, i.role, i.attempts > 0 AS mailed
          FROM member_invitations i JOIN orgs o USING (org_id)
          WHERE i.token_hash = ${tokenHash(token)} AND i.accepted_at IS NULL AND i.withdrawn_at IS NULL AND i.expires_at > now()`)
        return Option.fromNullishOr(row)
      }, Effect.orDie)

      const accountOf = (email: string) =>
        accountRows(sql`SELECT user_id, password_hash FROM users WHERE lower(email) = lower(${email}) AND NOT pending`)

      /** Uses the invitation up. If the transaction fails, it still works. */
      const consume = Effect.fnUntraced(function* ({ invitation_id, org_id }: OpenInvitation) {
        const rows = yield* sql`
          UPDATE member_invitations SET accepted_at = now()
          WHERE org_id = ${org_id} AND invitation_id = ${invitation_id} AND accepted_at IS NULL AND withdrawn_at IS NULL
            AND expires_at > now() RETURNING 1 AS used`
        if (rows.length === 0) return yield* new NotInvited()
      })

      const joinWithAccount = Effect.fnUntraced(function* (invitation: OpenInvitation, user_id: string) {
        yield* consume(invitation)
        yield* sql`
          INSERT INTO members (org_id, user_id, role) VALUES (${invitation.org_id}, ${user_id}, ${invitation.role})
          ON CONFLICT (org_id, user_id) DO NOTHING`
      })

      const joinWithNewAccount = Effect.fnUntraced(function* (
        invitation: OpenInvitation,
        user_id: string,
        password_hash: string,
        pending: boolean
      ) {
        yield* consume(invitation)
        // The trigger that makes a new user a member reads the role here.
        yield* sql`SELECT set_config('rungate.member_role', ${invitation.role}, true)`
        yield* sql`
          INSERT INTO users (user_id, org_id, email, password_hash, pending, email_verified_at)
          VALUES (${user_id}, ${invitation.org_id}, ${invitation.email}, ${password_hash}, ${pending},
                  CASE WHEN ${invitation.mailed} THEN now() END)`
        if (pending) yield* mails.signedUp(user_id, invitation.email)
      })

      const opened = (user_id: string, password_hash: string, org_id: string, proven: boolean) =>
        // The password was changed, or the member removed, in the milliseconds since.
        Effect.flatMap(accounts.open(user_id, password_hash, org_id, proven), (session) =>
          session === null ? Effect.fail(new NotInvited()) : Effect.succeed(session)
        )

      return MemberInvitations.of({
        invite: Effect.fn("MemberInvitations.invite")(function* (invitation) {
          const { org_id, email, role, invited_by, mailed } = invitation
          const token = mailed ? null : newLinkToken(cell, "join", org_id)
          const invitation_id = newId("inv")
          const work = Effect.gen(function* () {
            // A change of the sender's role waits for the commit, so that it then finds the invitation. It locks the member first, too.
            const [sender] = yield* senderRows(sql`
              SELECT role FROM members WHERE org_id = ${org_id} AND user_id = ${invited_by} FOR SHARE`)
            if (sender === undefined || !allows(sender.role, inviterOf(role)))
              return yield* new MayNotInvite({ has: sender?.role ?? null })
            // Locks the organization's row, so that concurrent requests can't exceed the limits together.
            yield* sql`SELECT 1 FROM orgs WHERE org_id = ${org_id} FOR NO KEY UPDATE`
            const refused = yield* refusal(org_id, email)
            if (refused !== null) return yield* refused
            yield* sql`
              UPDATE member_invitations SET withdrawn_at = now(), send_at = NULL
              WHERE org_id = ${org_id} AND lower(email) = lower(${email}) AND accepted_at IS NULL AND withdrawn_at IS NULL`
            yield* sql`
              INSERT INTO member_invitations (invitation_id, org_id, email, role, invited_by, token_hash, expires_at, send_at)
              VALUES (${invitation_id}, ${org_id}, ${email}, ${role}, ${invited_by}, ${token === null ? null : tokenHash(token)},
                      now() + make_interval(days => ${days}), CASE WHEN ${mailed} THEN now() END)`
            const [row] = yield* invitationRows(sql`
              SELECT ${columns} FROM member_invitations i JOIN users u ON u.user_id = i.invited_by
              WHERE i.org_id = ${org_id} AND i.invitation_id = ${invitation_id}`)
            return row ?? (yield* Effect.die(new Error("the invitation was not stored")))
          })
          const row = yield* sql.withTransaction(work).pipe(Effect.catchTag("SqlError", Effect.die))
          return { row, token }
        }),
        list: (org_id, before, limit) =>
          Effect.orDie(
            invitationRows(sql`
              SELECT ${columns} FROM member_invitations i JOIN users u ON u.user_id = i.invited_by
              WHERE i.org_id = ${org_id} AND i.accepted_at IS NULL AND i.withdrawn_at IS NULL
                AND (${before}::text IS NULL OR i.invitation_id < ${before}) ORDER BY i.invitation_id DESC LIMIT ${limit}`)
          ),
        withdraw: (org_id, invitation_id) =>
          hasRows(sql`
            UPDATE member_invitations SET withdrawn_at = now(), send_at = NULL
            WHERE org_id = ${org_id} AND invitation_id = ${invitation_id} AND accepted_at IS NULL AND withdrawn_at IS NULL
            RETURNING 1 AS withdrawn`),
        open,
        accept: Effect.fn("MemberInvitations.accept")(function* (token, given) {
          const openInvitation = yield* open(token)
          if (Option.isNone(openInvitation)) return yield* new NotInvited()
          const invitation = openInvitation.value
          const [account] = yield* Effect.orDie(accountOf(invitation.email))
          const by = (user_id: string) => log.by({ kind: "person", id: user_id, name: null, address: given.client })
          if (account !== undefined) {
            const { user_id, password_hash } = account
            if (!(yield* matches(given.password, password_hash))) return yield* new WrongAccountPassword()
            const proven = yield* factors.check(user_id, given.code)
            return yield* Effect.andThen(
              joinWithAccount(invitation, user_id),
              opened(user_id, password_hash, invitation.org_id, proven)
            ).pipe(by(user_id), Effect.catchTag("SqlError", Effect.die))
          }
          if (Secret.value(given.password).length < given.passwordLengthMin) return yield* new WeakPassword()
          const pending = emailVerification && !invitation.mailed
          if (!pending) yield* directory.claim(invitation.email)
          const password_hash = yield* hashed(given.password)
          const user_id = newId("usr")
          return yield* Effect.andThen(
            joinWithNewAccount(invitation, user_id, password_hash, pending),
            opened(user_id, password_hash, invitation.org_id, false)
          ).pipe(
            by(user_id),
            // The address got an account since it was looked up. Accepting again asks for its password.
            Effect.catchReason("SqlError", "UniqueViolation", () => Effect.fail(new WrongAccountPassword())),
            Effect.catchTag("SqlError", Effect.die)
          )
        })
      })
    })
  )
}
