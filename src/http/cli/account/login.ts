/**
 * `rungate login`: signs in by e-mail and password, or keeps a key. What is saved was tried first.
 *
 * A password is typed without echo or comes from stdin; only the session that it opens is kept.
 */
import { Effect, Option, Redacted, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { Client } from "../answers/Client.ts"
import { Credentials, saveKey, savedKeys, savedSessions, saveSession } from "../state/Credentials.ts"
import { fail } from "../terminal/exits.ts"
import { Screen } from "../terminal/Screen.ts"
import { askHidden, fromFile, fromStdin } from "../terminal/secret.ts"
import { decoded, failureOf } from "../answers/show.ts"

const Opened = Schema.Struct({
  session_token: Schema.String,
  expires_at: Schema.String,
  organization: Schema.Struct({ name: Schema.String }),
  user: Schema.Struct({ email: Schema.String }),
  /** The address is to be verified. */
  verification: Schema.optionalKey(Schema.String)
})

/** Asked for where it was not given, and somebody can be asked. */
const asked = Effect.fnUntraced(function* (given: string | null, question: string, flag: string) {
  if (given !== null) return given
  const screen = yield* Screen
  if (!screen.askable) return yield* fail("usage", `Give --${flag}, where nobody can be asked.`)
  const line = ((yield* screen.ask(`${question}:`)) ?? "").trim()
  if (line === "") return yield* fail("interrupted", "Nothing was typed; nothing was done.")
  return line
})

/** One profile is one account at one address. */
const sameAddress = Effect.gen(function* () {
  const { profile, url } = yield* Credentials
  const saved = [(yield* savedKeys)[profile]?.url, (yield* savedSessions)[profile]?.url]
  const other = saved.find((one) => one !== undefined && one !== url)
  if (other === undefined) return
  return yield* fail(
    "usage",
    `Profile "${profile}" is for ${other}: choose another one with --profile, or rungate logout first.`
  )
})

const keepKey = Effect.fnUntraced(function* (file: string | null) {
  const { profile, url } = yield* Credentials
  const { send } = yield* Client
  const screen = yield* Screen
  const token = Redacted.make(
    Redacted.value(yield* file === null ? fromStdin("API key") : fromFile(file, "API key")).trim()
  )
  if (!/^rg_(test|live)_[\w-]+$/.test(Redacted.value(token))) {
    return yield* fail("usage", "That is no API key: one begins with rg_test_ or rg_live_.")
  }
  const tried = yield* send("GET", "/v1/wallet", { token })
  if (tried.status === 401) return yield* fail("auth", `${url} refuses this key; nothing was saved.`)
  const failure = yield* failureOf(tried)
  if (failure !== null) return yield* failure
  yield* saveKey(profile, { url, api_key: Redacted.value(token) })
  yield* screen.say(`Saved the key for ${url} as profile "${profile}".`)
})

interface Given {
  readonly email: string | null
  readonly organization: string | null
  readonly referral_code: string | null
  readonly invitation: string | null
  readonly sign_up: boolean
  readonly password_stdin: boolean
}

const open = Effect.fnUntraced(function* (given: Given) {
  const { profile, url } = yield* Credentials
  const { send } = yield* Client
  const screen = yield* Screen
  if (!given.password_stdin && !screen.askable) {
    return yield* fail(
      "usage",
      "Where nobody can be asked: give --email and --password-stdin, or --with-token for a key."
    )
  }
  const email = yield* asked(given.email, "E-mail", "email")
  const organization = given.sign_up ? yield* asked(given.organization, "Organization", "organization") : null
  const password = yield* given.password_stdin ? fromStdin("Password") : askHidden("Password:")
  if (given.sign_up && !given.password_stdin) {
    const again = yield* askHidden("The same password again:")
    if (Redacted.value(again) !== Redacted.value(password)) {
      return yield* fail("usage", "These are two different passwords; nothing was done.")
    }
  }
  const common = { email, password: Redacted.value(password) }
  const answer = yield* given.sign_up
    ? send("POST", "/v1/auth/sign-up", {
        body: { ...common, organization, referral_code: given.referral_code, invitation: given.invitation }
      })
    : send("POST", "/v1/auth/sign-in", { body: common })
  if (answer.status === 401) {
    if (screen.askable) yield* screen.say(`If you forgot the password, ask for a new one at ${url}/forgot-password`)
    return yield* fail("auth", "The e-mail or the password is wrong.")
  }
  const failure = yield* failureOf(answer)
  if (failure !== null) return yield* failure
  const opened = decoded(Opened, answer.text)
  if (opened === null) return yield* fail("failed", `${url} answered what this version of rungate doesn't know.`)
  const { session_token, expires_at } = opened
  yield* saveSession(profile, { url, session_token, expires_at, email: opened.user.email })
  yield* screen.say(`Signed in to ${opened.organization.name} at ${url} as ${opened.user.email}, profile "${profile}".`)
  if (opened.verification !== undefined) {
    yield* screen.say(
      `Open the link that was mailed to ${opened.user.email}: before that you can look around, and not mint keys, run or pay. rungate api POST /v1/auth/verify-email/resend sends another one.`
    )
  }
})

const text = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional, Flag.map(Option.getOrNull))
const boolean = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))

export const login = Command.make(
  "login",
  {
    with_token: boolean("with-token", "read an API key from stdin and keep it"),
    key_file: text("key-file", "read an API key from this file and keep it"),
    sign_up: boolean("sign-up", "make an account first"),
    email: text("email", "asked for when it is left out"),
    password_stdin: boolean("password-stdin", "read the password from stdin"),
    organization: text("organization", "its name, with --sign-up"),
    referral_code: text("referral-code", "of who told you, with --sign-up"),
    invitation: text("invitation", "the token of your invitation's link, with --sign-up")
  },
  Effect.fnUntraced(function* ({ with_token, key_file, ...given }) {
    const { source } = yield* Credentials
    const screen = yield* Screen
    const keep = with_token || key_file !== null
    if (with_token && key_file !== null)
      return yield* fail("usage", "--with-token reads stdin, --key-file a file: choose one.")
    if (keep && (given.sign_up || given.email !== null || given.password_stdin)) {
      return yield* fail("usage", "--with-token and --key-file keep a key, the other flags sign in: choose one.")
    }
    if (!given.sign_up && [given.organization, given.referral_code, given.invitation].some((one) => one !== null)) {
      return yield* fail("usage", "--organization, --referral-code and --invitation belong to --sign-up.")
    }
    yield* sameAddress
    yield* keep ? keepKey(key_file) : open(given)
    if (source === "environment") {
      yield* screen.say("RUNGATE_API_KEY is set, and is used instead of the profile until you unset it.")
    }
  })
).pipe(
  Command.withDescription("Sign in, sign up, or keep an API key"),
  Command.withExamples([
    { command: "rungate login", description: "Asks for e-mail and password" },
    { command: "rungate login --with-token < key.txt", description: "Keeps a key" }
  ])
)
