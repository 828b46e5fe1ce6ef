/**
 * Who a person is at the OpenID provider. An account and a subject of the provider belong together for good: an account gets one by a
 * verified address, once, so the next owner of that address does not get the account.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AuditLog } from "../auditlog/AuditLog.ts"
import { storedAs } from "../postgres/Rows.ts"
import type { Role } from "../../schema/accounts/Role.ts"
import { Directory } from "./Directory.ts"
import { newId } from "../platform/Ids.ts"
import { hashed, randomPassword } from "./Secrets.ts"

export interface Identity {
  readonly issuer: string
  readonly subject: string
}

export interface Joining {
  readonly org_id: string
  readonly role: Role
}

/**
 * `unverified`: the account of the address has never verified it, so somebody else may have signed up with it. `other`: the account belongs
 * to another subject. `organization`: the organization of the domain does not exist. `elsewhere`: another cell has the account of the address.
 */
export class IdentityRefused extends Schema.TaggedError<IdentityRefused>()("IdentityRefused", {
  reason: Schema.Literals(["unverified", "other", "organization", "elsewhere"])
}) {}

const Account = Schema.Struct({ user_id: Schema.String, password_hash: Schema.String })
export type Account = typeof Account.Type
const accountRows = storedAs(Account.fields)
const addressRows = storedAs({ ...Account.fields, verified: Schema.Boolean })

export class Identities extends Context.Service<
  Identities,
  {
    /** The account of an identity that has signed in before. */
    readonly find: (identity: Identity) => Effect.Effect<Account | null>
    /**
     * The account of a verified address, which becomes the identity's. `joining`: the organization of the address's domain; a new person gets an
     * account in it. Null if there is no account, and nothing to join.
     */
    readonly link: (
      identity: Identity,
      email: string,
      joining: Joining | null,
      address: string
    ) => Effect.Effect<Account | null, IdentityRefused>
    /** Stores the identity of a user who signs up. Call it in the sign-up's transaction. */
    readonly store: (identity: Identity, user_id: string) => Effect.Effect<void>
  }
>()("rungate/layers/accounts/Identities") {
  static readonly layer = Layer.effect(
    Identities,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const log = yield* AuditLog
      const directory = yield* Directory

      const store = ({ issuer, subject }: Identity, user_id: string) => sql`
        INSERT INTO identities (issuer, subject, user_id) VALUES (${issuer}, ${subject}, ${user_id})
        ON CONFLICT DO NOTHING RETURNING 1 AS stored`

      const createUser = Effect.fnUntraced(function* (account: Account, email: string, { org_id, role }: Joining) {
        // The trigger that makes a new user a member reads the role here.
        yield* sql`SELECT set_config('rungate.member_role', ${role}, true)`
        yield* sql`
          INSERT INTO users (user_id, org_id, email, password_hash, email_verified_at)
          VALUES (${account.user_id}, ${org_id}, ${email}, ${account.password_hash}, now())`
      })

      return Identities.of({
        find: ({ issuer, subject }) =>
          accountRows.first(sql`
            SELECT u.user_id, u.password_hash FROM identities i JOIN users u USING (user_id)
            WHERE i.issuer = ${issuer} AND i.subject = ${subject}`),
        link: Effect.fn("Identities.link")(function* (identity, email, joining, address) {
          const [existing] = yield* addressRows.all(sql`
            SELECT user_id, password_hash, email_verified_at IS NOT NULL AS verified FROM users
            WHERE lower(email) = lower(${email}) AND NOT pending`)
          if (existing === undefined && joining === null) return null
          if (existing?.verified === false) return yield* new IdentityRefused({ reason: "unverified" })
          if (joining !== null) {
            const orgs = yield* Effect.orDie(sql`SELECT 1 AS existing FROM orgs WHERE org_id = ${joining.org_id}`)
            if (orgs.length === 0) return yield* new IdentityRefused({ reason: "organization" })
          }
          if (existing === undefined)
            yield* Effect.mapError(directory.claim(email), () => new IdentityRefused({ reason: "elsewhere" }))
          const account = existing ?? { user_id: newId("usr"), password_hash: yield* hashed(randomPassword()) }
          yield* log
            .by({ kind: "person", id: account.user_id, name: null, address })(
              Effect.gen(function* () {
                if (existing === undefined && joining !== null) yield* createUser(account, email, joining)
                const stored = yield* store(identity, account.user_id)
                if (stored.length === 0) return yield* new IdentityRefused({ reason: "other" })
                if (existing !== undefined && joining !== null)
                  yield* sql`
                    INSERT INTO members (org_id, user_id, role) VALUES (${joining.org_id}, ${account.user_id}, ${joining.role})
                    ON CONFLICT (org_id, user_id) DO NOTHING`
              })
            )
            .pipe(
              // Two first sign-ins at once, or a sign-up with the address in between. The next attempt finds the account.
              Effect.catchReason("SqlError", "UniqueViolation", () =>
                Effect.fail(new IdentityRefused({ reason: "other" }))
              ),
              Effect.catchTag("SqlError", Effect.die)
            )
          return { user_id: account.user_id, password_hash: account.password_hash }
        }),
        store: (identity, user_id) => Effect.asVoid(Effect.orDie(store(identity, user_id)))
      })
    })
  )
}
