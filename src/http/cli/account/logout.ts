/** `rungate logout`: ends the session and forgets what the profile saved. */
import { Effect, Redacted } from "effect"
import { Command } from "effect/cli"
import { Client } from "../answers/Client.ts"
import { Credentials, saveKey, savedKeys, savedSessions, saveSession } from "../state/Credentials.ts"
import { Screen } from "../terminal/Screen.ts"

export const logout = Command.make(
  "logout",
  {},
  Effect.fnUntraced(function* () {
    const { profile, url, source } = yield* Credentials
    const { send } = yield* Client
    const screen = yield* Screen
    const key = (yield* savedKeys)[profile]
    const session = (yield* savedSessions)[profile]
    if (key === undefined && session === undefined) {
      yield* screen.say(`Nothing is saved in profile "${profile}".`)
    }
    if (session !== undefined) {
      // It is forgotten here even where the service can't be told; there it ends by itself.
      const ended =
        session.url === url &&
        (yield* send("POST", "/v1/auth/sign-out", { token: Redacted.make(session.session_token) }).pipe(
          Effect.map(({ status }) => status < 500),
          Effect.orElseSucceed(() => false)
        ))
      yield* saveSession(profile, null)
      yield* screen.say(
        ended
          ? `Signed out ${session.email}.`
          : `Forgot the session of ${session.email}; ${session.url} was not told, where it ends by itself at ${session.expires_at}.`
      )
    }
    if (key !== undefined) {
      yield* saveKey(profile, null)
      yield* screen.say(
        `Forgot the key of profile "${profile}". It stays valid until somebody revokes it (rungate keys revoke).`
      )
    }
    if (source === "environment") yield* screen.say("RUNGATE_API_KEY is still set.")
  })
).pipe(Command.withDescription("End the session and forget what the profile saved"))
