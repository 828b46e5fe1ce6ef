/**
 * The session of a person who has just given the password too: for changes of how the person signs in.
 *
 * Somebody who has stolen a session may try passwords here from many client addresses. So wrong passwords are counted for each user, apart from
 * those of sign-ins: the real user can still sign in without a delay.
 */
import { Effect, Redacted } from "effect"
import { Passwords, type WrongPassword } from "../../../layers/accounts/Passwords.ts"
import type { SessionRow } from "../../../layers/accounts/Accounts.ts"
import { refused } from "../../../schema/Errors.ts"
import { allowAttempt } from "../../middleware/Attempts.ts"
import { makeOwnSession } from "../../middleware/Bearer.ts"
import { Limits } from "../../middleware/Limits.ts"

const wrongPassword = refused("current_password", "is not your password")

type OwnSession = SessionRow & { readonly token: Redacted.Redacted }

export const makeWithPassword = Effect.gen(function* () {
  const limits = yield* Limits
  const passwords = yield* Passwords
  const session = yield* makeOwnSession
  const check = ({ user_id }: OwnSession, password: Redacted.Redacted) => passwords.check(user_id, password)
  /** `use` checks the password, by default without anything else. */
  return Effect.fnUntraced(function* (
    password: string,
    use: (mine: OwnSession, password: Redacted.Redacted) => Effect.Effect<void, WrongPassword> = check
  ) {
    const mine = yield* session
    // Several accounts may have one address while none has verified it.
    const account = `password of ${mine.user_id}`
    yield* allowAttempt(limits, account, Effect.succeed(false))
    yield* use(mine, Redacted.make(password)).pipe(
      Effect.catchTag("WrongPassword", () => Effect.andThen(limits.failedAttempt(account), wrongPassword))
    )
    return mine
  })
})
