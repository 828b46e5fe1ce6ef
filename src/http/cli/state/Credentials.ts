/**
 * The address of the service and the user's credential. The environment wins over the saved profile.
 *
 * A saved key is only sent to the address that it was saved for. Sessions are in a separate file, because a session can do
 * more than a key: it creates keys and changes limits.
 */
import { join } from "node:path"
import { Config, Context, Effect, Layer, Redacted, Schema } from "effect"
import { demoEmail } from "../../../schema/accounts/AccountMail.ts"
import { baseOf } from "../../client/Transport.ts"
import type { CommandFailed } from "../terminal/CommandFailed.ts"
import { fail } from "../terminal/exits.ts"
import { Profile } from "../terminal/globals.ts"
import { localUrl } from "./LocalService.ts"
import * as PrivateFile from "./PrivateFile.ts"

export const defaultUrl = "http://127.0.0.1:8787"
export const defaultProfile = "default"

/** The saved key of a profile. */
const Saved = Schema.Struct({ url: Schema.String, api_key: Schema.String })
const SavedSession = Schema.Struct({
  url: Schema.String,
  session_token: Schema.String,
  expires_at: Schema.String,
  email: Schema.String
})
export type Saved = typeof Saved.Type
export type SavedSession = typeof SavedSession.Type

const stored = <S extends Schema.Codec<unknown>>(one: S) =>
  Schema.fromJsonString(Schema.Struct({ version: Schema.Literal(1), profiles: Schema.Record(Schema.String, one) }))
const Keys = stored(Saved)
const Sessions = stored(SavedSession)

const fileOf = (name: string) => Effect.map(PrivateFile.configFolder, (folder) => join(folder, name))
export const keysFile = fileOf("credentials.json")
export const sessionsFile = fileOf("sessions.json")

const none: Readonly<Record<string, never>> = {}

const unreadable = (path: string) =>
  fail("auth", `This version of rungate can't read ${path}. Remove it, then sign in again with rungate login.`)

/** All profiles by name. */
export const savedKeys = Effect.gen(function* () {
  const path = yield* keysFile
  const text = yield* PrivateFile.read(path)
  if (text === null) return none
  return yield* Schema.decodeEffect(Keys)(text).pipe(
    Effect.map(({ profiles }) => profiles),
    Effect.mapError(() => unreadable(path))
  )
})
export const savedSessions = Effect.gen(function* () {
  const path = yield* sessionsFile
  const text = yield* PrivateFile.read(path)
  if (text === null) return none
  return yield* Schema.decodeEffect(Sessions)(text).pipe(
    Effect.map(({ profiles }) => profiles),
    Effect.mapError(() => unreadable(path))
  )
})

const without = <A>(profiles: Readonly<Record<string, A>>, name: string): Readonly<Record<string, A>> =>
  Object.fromEntries(Object.entries(profiles).filter(([key]) => key !== name))

const textOf = (profiles: Readonly<Record<string, unknown>>) => `${JSON.stringify({ version: 1, profiles }, null, 2)}\n`

/** Saves the key of a profile; null deletes it. */
export const saveKey = Effect.fnUntraced(function* (name: string, saved: Saved | null) {
  const others = without(yield* savedKeys, name)
  yield* PrivateFile.write(yield* keysFile, textOf(saved === null ? others : { ...others, [name]: saved }))
})
/** Saves the session of a profile; null deletes it. */
export const saveSession = Effect.fnUntraced(function* (name: string, saved: SavedSession | null) {
  const others = without(yield* savedSessions, name)
  yield* PrivateFile.write(yield* sessionsFile, textOf(saved === null ? others : { ...others, [name]: saved }))
})

export interface CredentialsShape {
  /** Without a slash or /v1 at its end. */
  readonly url: string
  readonly profile: string
  /** The API key, else the session token, else null. */
  readonly key: Redacted.Redacted | null
  /** Where the key comes from. */
  readonly source: "environment" | "profile" | "session" | null
  /** Why there is no key, and what to do. */
  readonly missing: string
  /** The session token; fails when the user is not signed in. */
  readonly session: Effect.Effect<Redacted.Redacted, CommandFailed>
}

const checked = (url: string) =>
  URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) && new URL(url).username === ""
    ? Effect.succeed(baseOf(url))
    : fail("usage", "RUNGATE_URL must be an http or https URL without a user name, such as http://127.0.0.1:8787.")

const text = (name: string) =>
  Config.String(name).pipe(
    Config.withDefault(""),
    Effect.mapError(() => fail("usage", `${name} can't be read.`))
  )

const own = <A>(profiles: Readonly<Record<string, A>>, name: string): A | null =>
  Object.hasOwn(profiles, name) ? (profiles[name] ?? null) : null

export class Credentials extends Context.Service<Credentials, CredentialsShape>()(
  "rungate/http/cli/state/Credentials"
) {
  static readonly layer = Layer.effect(
    Credentials,
    Effect.gen(function* () {
      const profileGiven = yield* Profile
      const named = yield* text("RUNGATE_PROFILE")
      const profile = profileGiven ?? (named === "" ? defaultProfile : named)
      const urlGiven = yield* text("RUNGATE_URL")
      const keyGiven = (yield* text("RUNGATE_API_KEY")).trim()
      const fromEnvironment = keyGiven !== "" && profileGiven === null
      // A container may have no HOME, and needs none when the environment has key and address.
      const saved = fromEnvironment ? null : own(yield* savedKeys, profile)
      const signedIn = fromEnvironment ? null : own(yield* savedSessions, profile)
      const savedUrl = saved?.url ?? signedIn?.url ?? null
      // --profile selects the saved address too.
      const chosen = profileGiven !== null && savedUrl !== null ? savedUrl : urlGiven === "" ? savedUrl : urlGiven
      const url = yield* checked(chosen ?? (yield* localUrl) ?? defaultUrl)
      const here = <A extends { readonly url: string }>(one: A | null) =>
        one !== null && baseOf(one.url) === url ? one : null
      const key = fromEnvironment ? keyGiven : (here(saved)?.api_key ?? here(signedIn)?.session_token ?? null)
      const missing =
        savedUrl !== null && baseOf(savedUrl) !== url
          ? `Profile "${profile}" belongs to ${baseOf(savedUrl)}, so its key is not sent to ${url}. Set RUNGATE_API_KEY, or unset RUNGATE_URL.`
          : profile !== defaultProfile
            ? `There is no profile "${profile}". Create it with: rungate login --profile ${profile}`
            : "Set RUNGATE_API_KEY, or sign in with rungate login."
      const session = Effect.gen(function* () {
        const saved = here(own(yield* savedSessions, profile))
        if (saved !== null) return Redacted.make(saved.session_token)
        const demo =
          key?.startsWith("rg_test_") === true
            ? ` For the demo organization, sign in as ${demoEmail} with the password that you set by the link of the first start.`
            : ""
        return yield* fail("auth", `This command needs a session at ${url}. Sign in with: rungate login.${demo}`)
      })
      return Credentials.of({
        url,
        profile,
        key: key === null ? null : Redacted.make(key),
        source: fromEnvironment
          ? "environment"
          : here(saved) !== null
            ? "profile"
            : here(signedIn) !== null
              ? "session"
              : null,
        missing,
        session
      })
    })
  )
}
