/**
 * `rungate login`: signs in with e-mail and password, or saves an API key. Credentials are tested before they are saved.
 *
 * A password is typed without echo or read from stdin. Only the session is saved, never the password.
 */
import { Effect, Redacted } from "effect"
import { Command } from "effect/cli"
import { InvitationsApi } from "../../api/accounts/Members.ts"
import { SessionsApi } from "../../api/accounts/Sessions.ts"
import { publicErrorIn } from "../../api/shapes/PublicError.ts"
import { NewSession } from "../../../schema/nouns/Session.ts"
import { RunsApi } from "../../api/Runs.ts"
import type { Answer } from "../answers/Client.ts"
import { call } from "../answers/operation.ts"
import { Credentials, savedKeys, savedSessions } from "../state/Credentials.ts"
import { fail, bad } from "../terminal/exits.ts"
import { Screen } from "../terminal/Screen.ts"
import { askHidden, fromFile, fromStdin } from "../terminal/secret.ts"
import { read, succeeded } from "../answers/show.ts"
import { boolean, text, type FlagsOf, withExamples } from "../terminal/flags.ts"

/** The given value, else the answer to a prompt. */
const answerTo = Effect.fnUntraced(function* (given: string | null, question: string, flag: string) {
  if (given !== null) return given
  const screen = yield* Screen
  if (!screen.askable) return yield* bad(`Give --${flag}, because there is no terminal to ask at.`)
  const line = ((yield* screen.ask(`${question}:`)) ?? "").trim()
  if (line === "") return yield* fail("interrupted", "Cancelled: the input was empty. Nothing was changed.")
  return line
})

/** A profile belongs to one address. */
const sameAddress = Effect.gen(function* () {
  const { profile, url } = yield* Credentials
  const saved = [yield* savedKeys.of(profile), yield* savedSessions.of(profile)]
  const other = saved.find((one) => one !== null && one.url !== url) ?? null
  if (other === null) return
  return yield* bad(
    `Profile "${profile}" belongs to ${other.url}. Choose another profile with --profile, or run rungate logout first.`
  )
})

const keepKey = Effect.fnUntraced(function* (file: string | null) {
  const { profile, url } = yield* Credentials
  const screen = yield* Screen
  const token = Redacted.make(
    Redacted.value(yield* file === null ? fromStdin("API key") : fromFile(file, "API key")).trim()
  )
  if (!/^rg_(test|live)_[\w-]+$/.test(Redacted.value(token))) {
    return yield* bad("This is not an API key. API keys begin with rg_test_ or rg_live_.")
  }
  // Every key may list runs, also one that reads its own only.
  const tried = yield* call(RunsApi.endpoints.list, { query: { limit: "1" } }, { token })
  if (tried.status === 401) return yield* fail("auth", `${url} rejected this key. Nothing was saved.`)
  yield* succeeded(tried)
  yield* savedKeys.save(profile, { url, api_key: Redacted.value(token) })
  yield* screen.say(`Saved the key for ${url} as profile "${profile}".`)
})

const flags = {
  with_token: boolean("with-token", "read an API key from stdin and save it"),
  key_file: text("key-file", "read an API key from this file and save it"),
  sign_up: boolean("sign-up", "create an account"),
  email: text("email", "e-mail address; prompted for by default"),
  password_stdin: boolean("password-stdin", "read the password from stdin"),
  organization: text("organization", "name of the new organization, with --sign-up"),
  referral_code: text("referral-code", "referral code, with --sign-up"),
  invitation: text("invitation", "token from the invitation link, with --sign-up"),
  organization_id: text("organization-id", "organization to sign in to, if you are a member of several"),
  code: text("code", "code of your authenticator app, or a recovery code, if your account has a second factor"),
  join: text("join", "token from an invitation to an organization; accepts it")
}
type Given = Omit<FlagsOf<typeof flags>, "with_token" | "key_file">

/** Whether the account has a second factor whose code is missing or wrong. */
const isAboutCode = ({ text }: Answer) =>
  publicErrorIn(text)?.error.details?.some(({ path }) => path === "code") === true

/** Sends a password, and once more with a code if the account has a second factor and none was given. */
const withCode = Effect.fnUntraced(function* <E, R>(
  code: string | null,
  send: (code: string | null) => Effect.Effect<Answer, E, R>
) {
  const answer = yield* send(code)
  return code === null && isAboutCode(answer)
    ? yield* send(yield* answerTo(null, "Code of your authenticator app", "code"))
    : answer
})

/** Accepts an invitation to an organization. The password is that of the invited address, or of the new account. */
const enter = Effect.fnUntraced(function* (given: Given, token: string) {
  const password = yield* given.password_stdin ? fromStdin("Password") : askHidden("Password (yours, or a new one):")
  const payload = { token, password: Redacted.value(password) }
  yield* keepSession(
    yield* withCode(given.code, (code) => call(InvitationsApi.endpoints.accept, { payload: { ...payload, code } }))
  )
})

const open = Effect.fnUntraced(function* (given: Given) {
  const { url } = yield* Credentials
  const screen = yield* Screen
  if (!given.password_stdin && !screen.askable) {
    return yield* bad(
      "There is no terminal to ask at. Give --email and --password-stdin, or --with-token for an API key."
    )
  }
  if (given.join !== null) return yield* enter(given, given.join)
  const email = yield* answerTo(given.email, "E-mail", "email")
  const organization = given.sign_up ? yield* answerTo(given.organization, "Organization", "organization") : null
  const password = yield* given.password_stdin ? fromStdin("Password") : askHidden("Password:")
  if (given.sign_up && !given.password_stdin) {
    const again = yield* askHidden("Repeat the password:")
    if (Redacted.value(again) !== Redacted.value(password)) {
      return yield* bad("The passwords differ. Nothing was changed.")
    }
  }
  const common = { email, password: Redacted.value(password) }
  const { organization_id, referral_code, invitation } = given
  const answer = yield* organization === null
    ? withCode(given.code, (code) =>
        call(SessionsApi.endpoints.signIn, { payload: { ...common, organization_id, code } })
      )
    : call(SessionsApi.endpoints.signUp, { payload: { ...common, organization, referral_code, invitation } })
  if (answer.status === 401 && !isAboutCode(answer)) {
    if (screen.askable) yield* screen.say(`Forgot the password? Reset it at ${url}/forgot-password`)
    return yield* fail("auth", "The e-mail or the password is wrong.")
  }
  yield* keepSession(answer)
})

/** Saves the session of an answer that opened one. */
const keepSession = Effect.fnUntraced(function* (answer: Answer) {
  const { profile, url } = yield* Credentials
  const screen = yield* Screen
  const opened = yield* read(NewSession, answer)
  const { session_token, expires_at } = opened
  yield* savedSessions.save(profile, { url, session_token, expires_at, email: opened.user.email })
  yield* screen.say(`Signed in to ${opened.organization.name} at ${url} as ${opened.user.email}, profile "${profile}".`)
  if (opened.verification !== undefined) {
    yield* screen.say(
      `Verify ${opened.user.email} with the link in the e-mail. Until then you can't create keys, run or pay. Send another e-mail with: rungate api POST /v1/auth/verify-email/resend`
    )
  }
})

export const login = Command.make(
  "login",
  flags,
  Effect.fnUntraced(function* ({ with_token, key_file, ...given }) {
    const { source } = yield* Credentials
    const screen = yield* Screen
    const keep = with_token || key_file !== null
    const { sign_up, email, organization_id, join, code } = given
    const isSigningIn =
      sign_up || given.password_stdin || [email, organization_id, join, code].some((one) => one !== null)
    const isNew = [given.organization, given.referral_code, given.invitation].some((one) => one !== null)
    const conflicts: ReadonlyArray<readonly [boolean, string]> = [
      [with_token && key_file !== null, "Give only one of --with-token (stdin) and --key-file (a file)."],
      [keep && isSigningIn, "--with-token and --key-file save a key. They can't be combined with the sign-in flags."],
      [sign_up && code !== null, "Give only one of --sign-up and --code: a new account has no second factor."],
      [!sign_up && isNew, "--organization, --referral-code and --invitation need --sign-up."],
      [
        join !== null && (sign_up || email !== null || organization_id !== null),
        "Give --join without --sign-up, --email and --organization-id: the invitation names them."
      ],
      [
        sign_up && organization_id !== null,
        "Give only one of --sign-up and --organization-id: a sign-up creates an organization."
      ]
    ]
    const conflict = conflicts.find(([isTrue]) => isTrue)
    if (conflict !== undefined) return yield* bad(conflict[1])
    yield* sameAddress
    yield* keep ? keepKey(key_file) : open(given)
    if (source === "environment") {
      yield* screen.say("RUNGATE_API_KEY is set and overrides the profile. Unset it to use the profile.")
    }
  })
).pipe(
  Command.withDescription("Sign in, sign up, or save an API key"),
  withExamples({
    "rungate login": "Prompts for e-mail and password",
    "rungate login --with-token < key.txt": "Saves a key"
  })
)
