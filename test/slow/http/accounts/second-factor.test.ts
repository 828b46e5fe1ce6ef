/** Codes of an authenticator app as the second step of a password, over the real API, and attacks on them. */
import { describe, expect, test } from "bun:test"
import { TOTP } from "otpauth"
import { removedSentence } from "../../../../src/http/client/Words.ts"
import { stepOf } from "../../../../src/layers/accounts/SecondFactors.ts"
import { type Reply, startApp, until, withApp } from "../../../kit/app.ts"
import { operatorOf, ownPage } from "../../../http/operator/operator.ts"

const password = "correct horse battery"
const keyOf = (text: string) => Buffer.from(text.padEnd(32, "x")).toString("base64")
const old = keyOf("old")
const next = keyOf("next")
const app = withApp({ settings: { RUNGATE_ENCRYPTION_KEY: old } })

let count = 0
const post = (token: string | null, path: string, body: unknown) => app.call(token, "POST", `/v1/auth${path}`, { body })
const person = async () => {
  const email = `ada.${(count += 1)}@example.com`
  const { body } = await post(null, "/sign-up", { email, password, organization: "Acme" })
  return { email, token: String(body.session_token), id: String(body.user.id), org_id: String(body.organization.id) }
}
/** A code of `steps` half minutes from now. The service takes one step before and after. */
const codeOf = (uri: string, steps = 0) => {
  const [, secret = ""] = /secret=([A-Z2-7]+)/.exec(uri) ?? []
  return new TOTP({ secret }).generate({ timestamp: Date.now() + steps * 30_000 })
}
const guarded = async () => {
  const who = await person()
  const started = await post(who.token, "/second-factor", { current_password: password })
  expect(started.status).toBe(200)
  const confirmed = await post(who.token, "/second-factor/confirm", { code: codeOf(started.body.uri) })
  expect(confirmed.status).toBe(200)
  return { ...who, uri: String(started.body.uri), codes: confirmed.body.recovery_codes as ReadonlyArray<string> }
}
const signIn = (email: string, code?: string, secret = password) =>
  post(null, "/sign-in", { email, password: secret, ...(code === undefined ? {} : { code }) })
const refusal = ({ status, body }: Reply) => [status, body.error?.details?.[0]?.path]
const logOf = (id: string) =>
  app
    .sql(
      "SELECT action, actor FROM audit_log WHERE object = $1 AND action ~ '^(second_factor|recovery_code)' ORDER BY created_at",
      [id]
    )
    .then((rows) => rows.map(({ action, actor }) => `${action} by ${actor}`))

describe("a second factor", () => {
  test("is needed to add a passkey, which would stand for its code", async () => {
    const host = app.url.replace("127.0.0.1", "localhost")
    const { token, uri, codes } = await guarded()
    const start = async (code?: string) => {
      const body = JSON.stringify({ current_password: password, ...(code === undefined ? {} : { code }) })
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
      const answer = await fetch(`${host}/v1/auth/passkeys/start`, { method: "POST", headers, body })
      return [answer.status, (await answer.json()).error?.details?.[0]?.path]
    }
    // 401 would tell the console that the session has ended.
    expect(await start()).toEqual([400, "code"])
    expect(await start("000000")).toEqual([400, "code"])
    expect(await start(codeOf(uri, 1))).toEqual([200, undefined])
    expect(await start(codes[0])).toEqual([200, undefined])
    expect(await start(codes[0])).toEqual([400, "code"])
  })

  test("counts once a code is confirmed; then a password alone opens nothing, through any door", async () => {
    const who = await person()
    const started = await post(who.token, "/second-factor", { current_password: password })
    expect(started.body.uri).toContain(`secret=${started.body.secret}`)
    expect((await signIn(who.email)).status).toBe(200)
    expect(refusal(await post(who.token, "/second-factor/confirm", { code: "000000" }))).toEqual([400, "code"])
    const { body } = await post(who.token, "/second-factor/confirm", { code: codeOf(started.body.uri) })
    expect(new Set(body.recovery_codes).size).toBe(10)
    expect(refusal(await signIn(who.email))).toEqual([401, "code"])
    const origin = { headers: { origin: app.url, "x-rungate-console": "1" } }
    const browser = await app.call(null, "POST", "/v1/auth/browser/sign-in", {
      body: { email: who.email, password },
      ...origin
    })
    expect([...refusal(browser), browser.headers.get("set-cookie")]).toEqual([401, "code", null])
    const host = await person()
    const invited = await app.call(host.token, "POST", "/v1/invitations", {
      body: { email: who.email, role: "member" }
    })
    const token = new URL(invited.body.link).searchParams.get("token")
    const accept = (more: object) =>
      app.call(null, "POST", "/v1/invitations/accept", { body: { token, password, ...more } })
    expect(refusal(await accept({}))).toEqual([401, "code"])
    expect((await accept({ code: codeOf(started.body.uri, 1) })).body.organization.id).toBe(host.org_id)
    expect((await app.call(who.token, "GET", "/v1/auth/second-factor")).body).toEqual({
      enabled: true,
      recovery_codes: 10
    })
    expect(await logOf(who.id)).toEqual(["second_factor.created by person"])
  })

  test("does not tell whether an account has one to who does not know its password", async () => {
    const { email, uri } = await guarded()
    expect(refusal(await signIn(email, undefined, "another password"))).toEqual([401, undefined])
    const code = codeOf(uri, 1)
    expect(refusal(await signIn(email, code, "another password"))).toEqual([401, undefined])
    // That code is not used up.
    expect((await signIn(email, code)).status).toBe(200)
  })

  test("takes each code once, also at once, and none that is older than the last", async () => {
    const { email, uri } = await guarded()
    const code = codeOf(uri, 1)
    const replies = await Promise.all([1, 2, 3, 4].map(() => signIn(email, code)))
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401])
    expect(refusal(await signIn(email, code))).toEqual([401, "code"])
    expect(refusal(await signIn(email, codeOf(uri)))).toEqual([401, "code"])
    const back = app.sql("UPDATE second_factors SET last_step = last_step - 1 WHERE confirmed_at IS NOT NULL")
    await expect(back).rejects.toThrow("never come back")
  })

  test("takes each recovery code once, and stores none of them", async () => {
    const { email, id, token, codes } = await guarded()
    const [first = "", second = ""] = codes
    const replies = await Promise.all([1, 2, 3].map(() => signIn(email, first)))
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 401, 401])
    expect((await signIn(email, second)).status).toBe(200)
    expect((await app.call(token, "GET", "/v1/auth/second-factor")).body.recovery_codes).toBe(8)
    const [row] = await app.sql("SELECT second_factors::text AS text FROM second_factors WHERE user_id = $1", [id])
    for (const code of codes) expect(row?.["text"]).not.toContain(code)
    expect(await logOf(id)).toEqual([
      "second_factor.created by person",
      "recovery_code.used by person",
      "recovery_code.used by person"
    ])
  })

  test("is set up with the password, is not replaced, and goes with password and code only", async () => {
    const { email, id, token, uri, codes } = await guarded()
    const start = (current_password: string) => post(token, "/second-factor", { current_password })
    expect(refusal(await start("another password"))).toEqual([400, "current_password"])
    expect((await start(password)).body.error.message).toContain("Remove it first")
    const remove = (current_password: string, code: string) =>
      post(token, "/second-factor/remove", { current_password, code })
    expect(refusal(await remove("another password", codeOf(uri, 1)))).toEqual([400, "current_password"])
    expect(refusal(await remove(password, "123456"))).toEqual([400, "code"])
    expect((await remove(password, codes[0] ?? "")).body).toEqual({ removed: true })
    expect((await signIn(email)).status).toBe(200)
    expect(await logOf(id)).toEqual([
      "second_factor.created by person",
      "recovery_code.used by person",
      "second_factor.removed by person"
    ])
    const key = await app.tenant()
    expect((await key.get("/v1/auth/second-factor")).status).toBe(403)
  })

  test("stays when the password is set anew by mail, and goes with its user", async () => {
    const { email, id } = await guarded()
    await app.sql(
      "UPDATE users SET password_hash = (SELECT password_hash FROM users WHERE email <> $1 LIMIT 1) WHERE email = $1",
      [email]
    )
    expect(refusal(await signIn(email))).toEqual([401, "code"])
    const [rule] = await app.sql(
      "SELECT confdeltype FROM pg_constraint WHERE conrelid = 'second_factors'::regclass AND confrelid = 'users'::regclass"
    )
    expect([id.slice(0, 4), rule?.["confdeltype"]]).toEqual(["usr_", "c"])
  })
})

describe("its secret", () => {
  test("is encrypted, and encrypted again with a new key", async () => {
    const { id, uri, email } = await guarded()
    const [, secret = "none"] = /secret=([A-Z2-7]+)/.exec(uri) ?? []
    const stored = async () =>
      String((await app.sql("SELECT secret FROM second_factors WHERE user_id = $1", [id]))[0]?.["secret"])
    const before = await stored()
    expect(before).toStartWith("v1.")
    expect(before).not.toContain(secret)
    const later = await startApp({ beside: app, settings: { RUNGATE_ENCRYPTION_KEY: `${next},${old}` } })
    try {
      await until("the secret is encrypted with the new key", stored, (now) => now !== before)
      const body = { email, password, code: codeOf(uri, 1) }
      expect((await later.call(null, "POST", "/v1/auth/sign-in", { body })).status).toBe(200)
    } finally {
      await later.stop()
    }
  })
})

describe("without an encryption key", () => {
  const plain = withApp()
  test("no secret is stored, and the answer says what to do", async () => {
    const sign = { email: "nia@example.com", password, organization: "Acme" }
    const { body } = await plain.call(null, "POST", "/v1/auth/sign-up", { body: sign })
    const reply = await plain.call(body.session_token, "POST", "/v1/auth/second-factor", {
      body: { current_password: password }
    })
    expect([reply.status, reply.body.error.message]).toEqual([400, expect.stringContaining("RUNGATE_ENCRYPTION_KEY")])
    const stored = plain.sql("INSERT INTO second_factors (user_id, secret) VALUES ($1, 'JBSWY3DP')", [body.user.id])
    await expect(stored).rejects.toThrow("second_factors_secret_check")
  })
})

describe("whoever has lost phone and recovery codes", () => {
  /** Somebody with a second factor who belongs to the organization of `host` alone. */
  const memberOf = async (host: string, role: string) => {
    const email = `lou.${(count += 1)}@example.com`
    const invited = await app.call(host, "POST", "/v1/invitations", { body: { email, role } })
    const token = new URL(invited.body.link).searchParams.get("token")
    const { body } = await app.call(null, "POST", "/v1/invitations/accept", { body: { token, password } })
    const mine = { email, token: String(body.session_token), id: String(body.user.id) }
    const started = await post(mine.token, "/second-factor", { current_password: password })
    await post(mine.token, "/second-factor/confirm", { code: codeOf(started.body.uri) })
    await app.sql(
      "INSERT INTO passkeys (passkey_id, user_id, credential_id, public_key, name, counter) VALUES ('psk_' || $1, $1, $1, 'k', 'n', 0)",
      [mine.id]
    )
    return mine
  }
  const remove = (by: string, id: string) => app.call(by, "DELETE", `/v1/members/${id}/second-factors`)
  const mailsTo = async (email: string) =>
    (await app.sql("SELECT kind FROM mails WHERE address = $1 ORDER BY kind", [email])).map(({ kind }) => kind)

  test("gets a way back from an owner: sessions end, and the mail and the audit log say it", async () => {
    const host = await person()
    const member = await memberOf(host.token, "owner")
    expect(refusal(await signIn(member.email))).toEqual([401, "code"])
    expect((await remove(host.token, member.id)).body).toEqual({
      id: member.id,
      second_factor: true,
      passkeys: 1,
      sessions_ended: 1
    })
    expect((await app.call(member.token, "GET", "/v1/auth/session")).status).toBe(401)
    expect((await signIn(member.email)).status).toBe(200)
    const log = await app.sql(
      "SELECT action, actor_id FROM audit_log WHERE object = $1 AND action ~ 'removed|ended' ORDER BY action",
      [member.id]
    )
    expect(log).toEqual(
      ["passkey.removed", "second_factor.removed", "sessions.ended"].map((action) => ({ action, actor_id: host.id }))
    )
    expect(await mailsTo(member.email)).toEqual([
      "passkey.created",
      "passkey.removed",
      "second_factor.created",
      "second_factor.removed"
    ])
    // Nothing is left, so nothing ends.
    expect((await remove(host.token, member.id)).body).toMatchObject({ second_factor: false, sessions_ended: 0 })
  })

  test("does not get it from an admin, from a stranger, alone, or where other organizations rely on it", async () => {
    const host = await person()
    const member = await memberOf(host.token, "admin")
    const stranger = await person()
    expect((await remove(member.token, host.id)).status).toBe(403)
    expect((await remove(stranger.token, member.id)).status).toBe(404)
    expect(refusal(await remove(host.token, host.id))).toEqual([400, "path.member_id"])
    await app.sql("INSERT INTO members (org_id, user_id, role) VALUES ($1, $2, 'viewer')", [stranger.org_id, member.id])
    expect(refusal(await remove(host.token, member.id))).toEqual([400, "path.member_id"])
    expect(refusal(await remove(stranger.token, member.id))).toEqual([400, "path.member_id"])
    expect(refusal(await signIn(member.email))).toEqual([401, "code"])
    const { cookie } = await operatorOf(app)
    const byOperator = (id: string) =>
      app.call(null, "DELETE", `/v1/operator/users/${id}/second-factors`, { headers: { ...ownPage(app), cookie } })
    expect((await byOperator(member.id)).body).toMatchObject({ second_factor: true, passkeys: 1 })
    expect((await byOperator("usr_01m81nzgvweh2hdt7twdxbzz25")).status).toBe(404)
    expect((await signIn(member.email)).status).toBe(200)
  })
})

describe("brute force", () => {
  const limited = withApp({
    settings: { RUNGATE_RATE_LIMIT: "50", RUNGATE_TRUSTED_PROXIES: "1", RUNGATE_ENCRYPTION_KEY: old }
  })

  test("of codes is slowed over all addresses, those that have signed in before too", async () => {
    const email = "eve@example.com"
    const send = (token: string | null, path: string, body: unknown, from: number) =>
      limited.call(token, "POST", `/v1/auth${path}`, { body, headers: { "x-forwarded-for": `203.0.113.${from}` } })
    const { body: session } = await send(null, "/sign-up", { email, password, organization: "Acme" }, 1)
    const mine = String(session.session_token)
    const { body: started } = await send(mine, "/second-factor", { current_password: password }, 1)
    const { body: on } = await send(mine, "/second-factor/confirm", { code: codeOf(started.uri) }, 1)
    const attempt = async (code: string, from: number) =>
      (await send(null, "/sign-in", { email, password, code }, from)).status
    expect(await attempt(on.recovery_codes[0], 1)).toBe(200)
    const guesses = await Promise.all(
      Array.from({ length: 30 }, (_, guess) => attempt("none", 10 + Math.floor(guess / 8)))
    )
    expect(new Set(guesses)).toEqual(new Set([401]))
    expect([await attempt("none", 1), await attempt("none", 1)]).toEqual([401, 429])
    // Who has the password and no code learns nothing more, and is not in the way of its owner.
    expect((await send(null, "/sign-in", { email, password }, 20)).status).toBe(401)
    expect(await attempt(on.recovery_codes[1], 20)).toBe(200)
  })
})

test("the step of a code is the one that it is valid for, and newer than the last", () => {
  // RFC 6238, appendix B: the last six digits of SHA-1 at these times.
  const secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
  const at: ReadonlyArray<readonly [number, string]> = [
    [59, "287082"],
    [1_111_111_109, "081804"],
    [20_000_000_000, "353130"]
  ]
  for (const [seconds, code] of at) {
    const step = BigInt(Math.floor(seconds / 30))
    expect(stepOf(secret, code, seconds * 1_000, 0n)).toBe(step)
    expect(stepOf(secret, code, seconds * 1_000, step)).toBeNull()
    expect(stepOf(secret, code, (seconds + 30) * 1_000, 0n)).toBe(step)
    expect(stepOf(secret, code, (seconds + 90) * 1_000, 0n)).toBeNull()
  }
})

test("commands and pages say what was removed", () => {
  const removed = { id: "usr_1", second_factor: true, passkeys: 1, sessions_ended: 2 }
  expect(removedSentence(removed)).toBe("Removed the second factor and 1 passkey of usr_1, and ended 2 sessions.")
  expect(removedSentence({ ...removed, second_factor: false })).toStartWith("Removed 1 passkey of usr_1")
  expect(removedSentence({ ...removed, second_factor: false, passkeys: 0 })).toContain("Nothing was changed")
})
