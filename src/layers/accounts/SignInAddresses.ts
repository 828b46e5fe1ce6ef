/**
 * Stores the IP addresses from which a user has signed in. The per-account limit on password attempts does not apply to
 * them, so somebody who guesses passwords can't lock the user out.
 *
 * Only a digest of user and address is stored, for 90 days.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { digest } from "./Secrets.ts"
import { hasRows, storedAs } from "../postgres/Rows.ts"

const keptDays = 90

const digestOf = (user_id: string, address: string) => digest(`${user_id} ${address}`)

const users = storedAs({ user_id: Schema.String })

export class SignInAddresses extends Context.Service<
  SignInAddresses,
  {
    /** Whether the user with this e-mail address has signed in from this IP address. False without such a user. */
    readonly isKnown: (email: string, address: string) => Effect.Effect<boolean>
    readonly remember: (user_id: string, address: string) => Effect.Effect<void>
  }
>()("rungate/layers/accounts/SignInAddresses") {
  static readonly layer = Layer.effect(
    SignInAddresses,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      return SignInAddresses.of({
        isKnown: Effect.fnUntraced(function* (email, address) {
          // Strangers may have signed up with an address that somebody else has verified.
          const user = yield* users.first(sql`
            SELECT user_id FROM users WHERE lower(email) = lower(${email}) ORDER BY pending, user_id DESC LIMIT 1`)
          if (user === null) return false
          return yield* hasRows(sql`
            SELECT 1 AS existing FROM sign_in_addresses
            WHERE user_id = ${user.user_id} AND address = ${digestOf(user.user_id, address)}
              AND seen_at > now() - make_interval(days => ${keptDays})`)
        }),
        remember: Effect.fnUntraced(function* (user_id, address) {
          yield* sql`
            INSERT INTO sign_in_addresses (user_id, address) VALUES (${user_id}, ${digestOf(user_id, address)})
            ON CONFLICT (user_id, address) DO UPDATE SET seen_at = now()`
          yield* sql`
            DELETE FROM sign_in_addresses
            WHERE user_id = ${user_id} AND seen_at < now() - make_interval(days => ${keptDays})`
        }, Effect.orDie)
      })
    })
  )
}
