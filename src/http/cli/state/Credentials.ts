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
import { type CommandFailed, fail, bad } from "../terminal/exits.ts"
import { Profile } from "../terminal/globals.ts"
import { localUrl } from "./LocalService.ts"
import * as PrivateFile from "./PrivateFile.ts"

export const defaultUrl = "http://127.0.0.1:8787"
export const defaultProfile = "default"

/** A private file with something of each profile, by its name. A person may have edited the addresses in it. */
const profilesIn = <A extends { readonly url: string }>(name: string, one: Schema.Codec<A>) => {
  const Stored = Schema.fromJsonString(
    Schema.Struct({ version: Schema.Literal(1), profiles: Schema.Record(Schema.String, one) })
  )
  const file = Effect.map(PrivateFile.configFolder, (folder) => join(folder, name))
  const all = Effect.gen(function* () {
    const path = yield* file
    const text = yield* PrivateFile.read(path)
    if (text === null) return new Map<string, A>()
    const { profiles } = yield* Schema.decodeEffect(Stored)(text).pipe(
      Effect.mapError(() =>
        fail("auth", `This version of rungate can't read ${path}. Remove it, then sign in again with rungate login.`)
      )
    )
    return new Map(Object.entries(profiles).map(([profile, one]) => [profile, { ...one, url: baseOf(one.url) }]))
  })
  return {
    file,
    all,
    /** Null when the profile has none. */
    of: (profile: string) => Effect.map(all, (profiles) => profiles.get(profile) ?? null),
    /** Null deletes it. */
    save: Effect.fnUntraced(function* (profile: string, saved: A | null) {
      const profiles = new Map(yield* all)
      profiles.delete(profile)
      if (saved !== null) profiles.set(profile, saved)
      const text = JSON.stringify({ version: 1, profiles: Object.fromEntries(profiles) }, null, 2)
      yield* PrivateFile.write(yield* file, `${text}\n`)
    })
  }
}

export const savedKeys = profilesIn("credentials.json", Schema.Struct({ url: Schema.String, api_key: Schema.String }))
export const savedSessions = profilesIn(
  "sessions.json",
  Schema.Struct({
    url: Schema.String,
    session_token: Schema.String,
    expires_at: Schema.String,
    email: Schema.String
  })
)

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
    : bad("RUNGATE_URL must be an http or https URL without a user name, such as http://127.0.0.1:8787.")

const text = (name: string) =>
  Config.String(name).pipe(
    Config.withDefault(""),
    Effect.mapError(() => bad(`${name} can't be read.`))
  )

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
      const saved = fromEnvironment ? null : yield* savedKeys.of(profile)
      const signedIn = fromEnvironment ? null : yield* savedSessions.of(profile)
      const savedUrl = saved?.url ?? signedIn?.url ?? null
      // --profile selects the saved address too.
      const chosen = profileGiven !== null && savedUrl !== null ? savedUrl : urlGiven === "" ? savedUrl : urlGiven
      const url = yield* checked(chosen ?? (yield* localUrl) ?? defaultUrl)
      const here = <A extends { readonly url: string }>(one: A | null) => (one?.url === url ? one : null)
      const key = fromEnvironment ? keyGiven : (here(saved)?.api_key ?? here(signedIn)?.session_token ?? null)
      const missing =
        savedUrl !== null && savedUrl !== url
          ? `Profile "${profile}" belongs to ${savedUrl}, so its key is not sent to ${url}. Set RUNGATE_API_KEY, or unset RUNGATE_URL.`
          : profile !== defaultProfile
            ? `There is no profile "${profile}". Create it with: rungate login --profile ${profile}`
            : "Set RUNGATE_API_KEY, or sign in with rungate login."
      const session = Effect.gen(function* () {
        const saved = here(yield* savedSessions.of(profile))
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
