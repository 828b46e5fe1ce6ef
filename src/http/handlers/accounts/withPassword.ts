/** The session of a person who has just given the password too: for changes of how the person signs in. */
import { Effect, Redacted } from "effect"
import { Passwords } from "../../../layers/accounts/Passwords.ts"
import { refused } from "../../../schema/Errors.ts"
import { allowAttempt } from "../../middleware/Attempts.ts"
import { makeOwnSession } from "../../middleware/Bearer.ts"
import { Limits } from "../../middleware/Limits.ts"

export const wrongPassword = refused("current_password", "is not your password")

export const makeWithPassword = Effect.gen(function* () {
  const limits = yield* Limits
  const passwords = yield* Passwords
  const session = yield* makeOwnSession
  return Effect.fnUntraced(function* (password: string) {
    const mine = yield* session
    yield* allowAttempt(limits, mine.email)
    if (!(yield* passwords.matches(mine.user_id, Redacted.make(password)))) return yield* wrongPassword
    return mine
  })
})
