/** `rungate logout`: ends the session and deletes the saved credentials of the profile. */
import { Effect, Redacted } from "effect"
import { Command } from "effect/cli"
import { SessionsApi } from "../../api/accounts/Sessions.ts"
import { call } from "../answers/operation.ts"
import { Credentials, savedKeys, savedSessions } from "../state/Credentials.ts"
import { Screen } from "../terminal/Screen.ts"

export const logout = Command.make(
  "logout",
  {},
  Effect.fnUntraced(function* () {
    const { profile, url, source } = yield* Credentials
    const screen = yield* Screen
    const key = yield* savedKeys.of(profile)
    const session = yield* savedSessions.of(profile)
    if (key === null && session === null) {
      yield* screen.say(`Profile "${profile}" has no saved credentials.`)
    }
    if (session !== null) {
      // The local copy is deleted even when the service is unreachable; there the session expires.
      const ended =
        session.url === url &&
        (yield* call(SessionsApi.endpoints.signOut, {}, { token: Redacted.make(session.session_token) }).pipe(
          Effect.map(({ status }) => status < 500),
          Effect.orElseSucceed(() => false)
        ))
      yield* savedSessions.save(profile, null)
      yield* screen.say(
        ended
          ? `Signed out ${session.email}.`
          : `Deleted the saved session of ${session.email}. ${session.url} was not reached, so the session stays valid there until ${session.expires_at}.`
      )
    }
    if (key !== null) {
      yield* savedKeys.save(profile, null)
      yield* screen.say(
        `Deleted the saved key of profile "${profile}". The key stays valid until it is revoked (rungate keys revoke).`
      )
    }
    if (source === "environment")
      yield* screen.say("RUNGATE_API_KEY is still set, so commands keep using it. Unset it to sign out completely.")
  })
).pipe(Command.withDescription("End the session and delete the saved credentials"))
