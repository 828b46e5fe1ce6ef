/** Sign-in, shared by programs and browsers. Attempts are limited before the password is checked, because a check takes about a third of a second. */
import { Effect, Option, Redacted } from "effect"
import { Accounts } from "../../layers/accounts/Accounts.ts"
import { SignInAddresses } from "../../layers/accounts/SignInAddresses.ts"
import { problem, refusedWith } from "../../schema/Errors.ts"
import type { SignInRequest } from "../api/shapes/Credentials.ts"
import { allowAttempt } from "../middleware/Attempts.ts"
import { Limits } from "../middleware/Limits.ts"
import { RequestContext } from "../middleware/RequestContext.ts"

/** Whoever gets this has given the right password. */
export const notMember = (organization_id: string | null) =>
  organization_id === null
    ? problem("forbidden", "Your account is in no organization. Ask the owner or an admin of one for an invitation.")
    : problem("invalid_request", "You are not a member of the organization organization_id.", [
        {
          path: "organization_id",
          message: "is not an organization of yours; leave it out to sign in to the default one"
        }
      ])

/** Attempts with a code count for themselves, from every address: whoever guesses codes may know the password. */
const codeAccount = (email: string) => `code of ${email}`
export const allowCode = (limits: Limits["Service"], email: string, code: string | null) =>
  code === null ? Effect.void : allowAttempt(limits, codeAccount(email), Effect.succeed(false))

/** Whoever gets one of these has given the right password. `code` is an error code: of a person who is signed in, 401 would say that the session has ended. */
export const codeRefused = <C extends "unauthorized" | "invalid_request">(
  limits: Limits["Service"],
  email: string,
  code: C
) => {
  const refusal = (message: string) => refusedWith(code, `code ${message}`, [{ path: "code", message }])
  return {
    CodeNeeded: () =>
      refusal("is missing: the account has a second factor; send the code of its app, or a recovery code"),
    WrongCode: () =>
      Effect.andThen(
        limits.failedAttempt(codeAccount(email)),
        refusal("is wrong, too old, or was used before; wait for the app's next one")
      )
  }
}

export const makeSignIn = Effect.gen(function* () {
  const accounts = yield* Accounts
  const addresses = yield* SignInAddresses
  const limits = yield* Limits

  return Effect.fnUntraced(function* ({ email, password, organization_id, code = null }: SignInRequest) {
    const { address } = yield* RequestContext
    yield* allowAttempt(limits, email, addresses.isKnown(email, address))
    yield* allowCode(limits, email, code)
    const session = yield* accounts.signIn(email, Redacted.make(password), organization_id ?? null, code).pipe(
      Effect.catchTags({
        NotMember: () => Effect.fail(notMember(organization_id ?? null)),
        ...codeRefused(limits, email, "unauthorized")
      })
    )
    if (Option.isSome(session)) {
      yield* addresses.remember(session.value.session.user_id, address)
      return session.value
    }
    yield* limits.failedAttempt(email)
    return yield* refusedWith("unauthorized", "The e-mail or the password is wrong.")
  })
})
