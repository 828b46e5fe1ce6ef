/** `rungate whoami`: shows the service, the credential in use and its owner. Prints no secret. */
import { Effect, Option, Redacted, Schema } from "effect"
import { Command } from "effect/cli"
import { ApiKey } from "../../../schema/nouns/ApiKey.ts"
import { KeysApi } from "../../api/accounts/Keys.ts"
import { SessionsApi } from "../../api/accounts/Sessions.ts"
import { displayOf } from "../../../schema/accounts/TokenText.ts"
import { OwnSession } from "../../../schema/nouns/Session.ts"
import { factLines } from "../answers/draw.ts"
import { call } from "../answers/operation.ts"
import { Credentials } from "../state/Credentials.ts"
import { fail } from "../terminal/exits.ts"
import { Screen } from "../terminal/Screen.ts"
import { formatOf, json, lines, read, wire } from "../answers/show.ts"
import { timeOf } from "../terminal/values.ts"

const Keys = Schema.Struct({ items: Schema.Array(ApiKey) })

/** The key by its display form; null when it is not among the newest 200. */
const keyNamed = Effect.fnUntraced(function* (key: Redacted.Redacted) {
  const answer = yield* call(KeysApi.endpoints.list, { query: { limit: "200" } })
  // A key that reads its own runs only does not see the list.
  if (answer.status === 403) return null
  const { items } = yield* read(Keys, answer)
  return items.find((one) => one.display === displayOf(Redacted.value(key))) ?? null
})

/** The user of the profile's session; null without a valid session. */
const signedIn = Effect.gen(function* () {
  const { session } = yield* Credentials
  const token = Option.getOrNull(yield* Effect.option(session))
  if (token === null) return null
  const answer = yield* call(SessionsApi.endpoints.session, {}, { token })
  return answer.status >= 400 ? null : wire(OwnSession, answer.text)
})

/** The output of --json. Unknown values are null. */
export const identity = Effect.gen(function* () {
  const { url, profile, key, source, missing } = yield* Credentials
  if (key === null) return yield* fail("auth", missing)
  const named = source === "session" ? null : yield* keyNamed(key)
  const session = yield* signedIn
  if (source === "session" && session === null) {
    return yield* fail(
      "auth",
      `${url} rejected the session of profile "${profile}". It may have expired. Sign in again with: rungate login`
    )
  }
  return {
    url,
    profile: source === "environment" ? null : profile,
    source,
    api_key:
      source === "session"
        ? null
        : { id: named?.id ?? null, name: named?.name ?? null, display: displayOf(Redacted.value(key)) },
    environment: named?.environment ?? /^rg_(test|live)_/.exec(Redacted.value(key))?.[1] ?? null,
    session:
      session === null
        ? null
        : {
            ...session.user,
            organization: session.organization,
            role: session.role ?? null,
            expires_at: session.expires_at
          }
  }
})

export const whoami = Command.make(
  "whoami",
  { json },
  Effect.fnUntraced(function* (flags) {
    const screen = yield* Screen
    const who = yield* identity
    if (formatOf(screen, flags) === "json") return yield* screen.out(`${JSON.stringify(who)}\n`)
    const { api_key, session } = who
    const rows = factLines(
      [
        ["service", who.url],
        [
          "credential",
          { environment: "RUNGATE_API_KEY", profile: `profile "${who.profile}"`, session: "a session" }[
            who.source ?? "session"
          ]
        ],
        ...(api_key === null ? [] : [["key", `${api_key.display} ${api_key.name ?? ""}`] as const]),
        ["environment", who.environment],
        ...(session === null
          ? []
          : [
              [
                "signed in",
                `${session.email}, ${session.organization.name}${session.role === null ? "" : ` (${session.role})`}`
              ] as const,
              ["until", timeOf(session.expires_at)] as const
            ])
      ],
      { screen }
    )
    yield* lines(rows, "")
  })
).pipe(Command.withDescription("Show the service and the credential in use"))
