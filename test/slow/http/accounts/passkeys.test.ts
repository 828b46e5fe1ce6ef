/** Passkeys over the real API, with an authenticator in software, and attacks on them. */
import { describe, expect, test } from "bun:test"
import { Client as Postgres } from "pg"
import { issuedAt, newChallenge } from "../../../../src/layers/accounts/Passkeys.ts"
import { type Reply, startApp, until, withApp } from "../../../kit/app.ts"
import { authenticatorAt, type Credential, type Forged } from "../../../kit/authenticator.ts"

const password = "correct horse battery"
const origin = "https://rungate.example"
const app = withApp({ settings: { RUNGATE_PUBLIC_URL: origin } })
const device = authenticatorAt(origin)

let count = 0
const post = (token: string | null, path: string, body?: unknown) =>
  app.call(token, "POST", `/v1/auth${path}`, body === undefined ? {} : { body })
const fromPage = (path: string, body?: unknown) =>
  app.call(null, "POST", `/v1/auth/browser/passkey${path}`, {
    ...(body === undefined ? {} : { body }),
    headers: { origin, "x-rungate-console": "1" }
  })
const person = async () => {
  const email = `pia.${(count += 1)}@example.com`
  const { body } = await post(null, "/sign-up", { email, password, organization: "Acme" })
  return { email, token: String(body.session_token), id: String(body.user.id), org_id: String(body.organization.id) }
}
const started = async (token: string) => (await post(token, "/passkeys/start", { current_password: password })).body
const add = async (token: string, forge: Forged = {}) => {
  const { credential, body } = device.create(await started(token), forge)
  return { credential, body, reply: await post(token, "/passkeys", { name: "Laptop", ...body }) }
}
const withPasskey = async () => {
  const who = await person()
  const { credential, reply } = await add(who.token)
  expect(reply.status).toBe(200)
  return { ...who, credential, passkey_id: String(reply.body.id) }
}
const signIn = async (credential: Credential, forge: Forged = {}, more: object = {}) =>
  fromPage("", { ...device.get((await fromPage("/start")).body, credential, forge), ...more })
const sessionOf = ({ headers }: Reply) =>
  /__Host-rungate_session=(rg_sess_\w+)/.exec(headers.get("set-cookie") ?? "")?.[1] ?? null
const expectRefused = (reply: Reply) => expect([reply.status, sessionOf(reply)]).toEqual([401, null])
const list = async (token: string) => (await app.call(token, "GET", "/v1/auth/passkeys")).body.items
const logOf = async (id: string) =>
  (
    await app.sql(
      "SELECT action, actor FROM audit_log WHERE object = $1 AND action LIKE 'passkey.%' ORDER BY created_at",
      [id]
    )
  ).map(({ action, actor }) => `${action} by ${actor}`)
const mailsTo = async (email: string) =>
  (await app.sql("SELECT kind FROM mails WHERE address = $1 ORDER BY mail_id", [email])).map(({ kind }) => kind)

describe("a passkey", () => {
  test("signs in without the password, and is listed with its last use", async () => {
    const { email, token, id, credential, passkey_id } = await withPasskey()
    expect(await list(token)).toMatchObject([{ id: passkey_id, name: "Laptop", last_used_at: null }])
    const reply = await signIn(credential)
    expect([reply.status, reply.body.user]).toEqual([200, { id, email }])
    const session = sessionOf(reply) ?? ""
    expect((await app.call(session, "GET", "/v1/auth/session")).body.user.id).toBe(id)
    const [shown] = await list(session)
    expect(shown.last_used_at).toMatch(/^20/)
    expect(await logOf(id)).toEqual(["passkey.created by person"])
    expect(await mailsTo(email)).toEqual(["passkey.created"])
    expect((await post(null, "/sign-in", { email, password })).status).toBe(200)
  })

  test("needs the password and a verified person to be added", async () => {
    const { token } = await person()
    const wrong = await post(token, "/passkeys/start", { current_password: "another password" })
    expect([wrong.status, wrong.body.error.details[0].path]).toEqual([400, "current_password"])
    for (const forge of [
      { verified: false },
      { origin: "https://evil.example" },
      { rp_id: "evil.example" },
      { type: "webauthn.get" }
    ])
      expect((await add(token, forge)).reply.status).toBe(400)
    const { reply: large } = await add(token, { padding: 2_000 })
    expect([large.status, large.body.error.details?.[0]?.path]).toEqual([400, "attestation"])
    expect((await add(token, { signed_id: "c2lnbmVk" })).reply.status).toBe(400)
    expect(await list(token)).toEqual([])
    const key = await app.tenant()
    expect((await key.get("/v1/auth/passkeys")).status).toBe(403)
  })

  test("is not added by a session that ends meanwhile, so it does not outlive a new password", async () => {
    const { email, token, id } = await person()
    const stolen = String((await post(null, "/sign-in", { email, password })).body.session_token)
    const { body } = device.create(await started(stolen))
    // Statements of one process may share a connection, and would wait for each other there.
    const second = await startApp({ beside: app })
    const other = new Postgres({ connectionString: app.databaseUrl })
    await other.connect()
    try {
      // The change of the password waits for this lock in its middle, and the passkey waits for the change.
      await other.query("BEGIN")
      await other.query("SELECT 1 FROM sessions WHERE token_hash = sha256($1::bytea) FOR UPDATE", [stolen])
      const change = { current_password: password, new_password: "a password of another day" }
      const changing = second.call(token, "POST", "/v1/auth/password", { body: change })
      const waits = () =>
        app.sql("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()")
      await until("the change waits", waits, ({ length }) => length > 0)
      const adding = post(stolen, "/passkeys", { name: "Eve", ...body })
      await until("the passkey waits for it", waits, ({ length }) => length > 1)
      await other.query("COMMIT")
      expect([(await changing).status, (await adding).status]).toEqual([200, 400])
      expect(await app.sql("SELECT 1 FROM passkeys WHERE user_id = $1", [id])).toEqual([])
    } finally {
      await other.end()
      await second.stop()
    }
  })

  test("is renamed and removed by its person only, and signs in no more", async () => {
    const mine = await withPasskey()
    const other = await person()
    const path = `/v1/auth/passkeys/${mine.passkey_id}`
    const rename = (token: string, name: string) => app.call(token, "PATCH", path, { body: { name } })
    expect((await rename(other.token, "theirs")).status).toBe(404)
    expect((await app.call(other.token, "DELETE", path)).status).toBe(404)
    expect((await rename(mine.token, "line\nfeed")).status).toBe(400)
    expect((await rename(mine.token, "Phone")).body.name).toBe("Phone")
    expect((await app.call(mine.token, "DELETE", path)).body).toEqual({ id: mine.passkey_id, deleted: true })
    expectRefused(await signIn(mine.credential))
    expect((await post(null, "/sign-in", { email: mine.email, password })).status).toBe(200)
    expect(await logOf(mine.id)).toEqual([
      "passkey.created by person",
      "passkey.renamed by person",
      "passkey.removed by person"
    ])
    expect(await mailsTo(mine.email)).toEqual(["passkey.created", "passkey.removed"])
  })

  test("chooses an organization of its person, and no other one", async () => {
    const { credential, org_id } = await withPasskey()
    const stranger = await person()
    expect((await signIn(credential, {}, { organization_id: org_id })).body.organization.id).toBe(org_id)
    const reply = await signIn(credential, {}, { organization_id: stranger.org_id })
    expect([reply.status, sessionOf(reply)]).toEqual([400, null])
  })

  test("is one of at most twenty", async () => {
    const { id, token } = await withPasskey()
    await app.sql(
      "INSERT INTO passkeys (passkey_id, user_id, credential_id, public_key, name, counter) SELECT 'psk_' || n || $1, $1, 'c' || n || '_' || $1, 'k', 'n', 0 FROM generate_series(1, 19) n",
      [id]
    )
    expect((await add(token)).reply.body.error.message).toContain("20 passkeys")
  })
})

describe("a sign-in with a passkey", () => {
  test("is refused for another origin, RP, key, person or kind, and without a verified person", async () => {
    const { credential } = await withPasskey()
    const other = await withPasskey()
    const forged: ReadonlyArray<Forged> = [
      { origin: "https://evil.example" },
      { origin: "http://rungate.example" },
      { rp_id: "evil.example" },
      { verified: false },
      { type: "webauthn.create" },
      { key: other.credential.key },
      { id: other.credential.id },
      { id: other.credential.id, user_handle: other.credential.user_handle },
      { user_handle: other.credential.user_handle },
      { id: "unknown" }
    ]
    for (const forge of forged) expectRefused(await signIn(credential, forge))
    expect((await signIn(credential)).status).toBe(200)
  })

  test("takes a challenge once, also at once, and none of another use or service", async () => {
    const { token, credential } = await withPasskey()
    const start = (await fromPage("/start")).body
    const body = device.get(start, credential)
    const replies = await Promise.all([1, 2, 3].map(() => fromPage("", body)))
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 401, 401])
    expectRefused(await fromPage("", device.get(start, credential)))
    expectRefused(await signIn(credential, { challenge: (await started(token)).challenge }))
    expectRefused(await signIn(credential, { challenge: Buffer.alloc(56, 255).toString("base64url") }))
    expectRefused(await signIn(credential, { challenge: "x" }))
    expect((await signIn(credential)).status).toBe(200)
  })

  test("takes a start of a registration once, and only of the same person", async () => {
    const { token } = await person()
    const other = await person()
    const start = await started(token)
    const send = (by: string) => post(by, "/passkeys", { name: "Laptop", ...device.create(start).body })
    expect((await send(other.token)).status).toBe(400)
    expect((await send(token)).status).toBe(200)
    expect((await send(token)).status).toBe(400)
    expect(await list(token)).toHaveLength(1)
  })

  test("notices a copy by its count, and takes no credential of another person", async () => {
    const { credential } = await withPasskey()
    expect((await signIn(credential, { counter: 9 })).status).toBe(200)
    expectRefused(await signIn(credential, { counter: 9 }))
    expectRefused(await signIn(credential, { counter: 4 }))
    const eve = await person()
    expect((await add(eve.token, { id: credential.id })).reply.status).toBe(400)
    expect((await signIn(credential, { counter: 10 })).status).toBe(200)
    await expect(app.sql("UPDATE passkeys SET counter = counter - 1 WHERE counter > 1")).rejects.toThrow(
      "never come back"
    )
    await expect(app.sql("UPDATE users SET last_challenge = 0 WHERE last_challenge > 0")).rejects.toThrow(
      "never come back"
    )
  })

  test("comes from a page of this service, and stores nothing for strangers", async () => {
    const { credential } = await withPasskey()
    const rows = () =>
      app.sql(
        "SELECT (SELECT count(*) FROM users) AS users, (SELECT count(*) FROM sessions) AS sessions, (SELECT count(*) FROM passkeys) AS passkeys, (SELECT sum(last_challenge) FROM users) AS challenges"
      )
    const before = await rows()
    const start = (await fromPage("/start")).body
    for (let more = 0; more < 20; more += 1) await fromPage("/start")
    const elsewhere = await app.call(null, "POST", "/v1/auth/browser/passkey", {
      body: device.get(start, credential),
      headers: { origin: "https://evil.example", "x-rungate-console": "1" }
    })
    expect([elsewhere.status, sessionOf(elsewhere)]).toEqual([403, null])
    expect(await rows()).toEqual(before)
  })
})

describe("without a host name", () => {
  const local = withApp()
  test("passkeys say what they need, and localhost is enough", async () => {
    const ask = async (url: string) => {
      const headers = { origin: url, "x-rungate-console": "1" }
      return (await fetch(`${url}/v1/auth/browser/passkey/start`, { method: "POST", headers })).json()
    }
    expect((await ask(local.url)).error.message).toContain("RUNGATE_PUBLIC_URL")
    expect((await ask(local.url.replace("127.0.0.1", "localhost"))).rp_id).toBe("localhost")
  })
})

describe("brute force", () => {
  const limited = withApp({ settings: { RUNGATE_PUBLIC_URL: origin, RUNGATE_RATE_LIMIT: "50" } })
  test("of passkeys is limited as sign-ins are", async () => {
    const ask = (body: unknown) =>
      limited.call(null, "POST", "/v1/auth/browser/passkey", { body, headers: { origin, "x-rungate-console": "1" } })
    const nothing = { credential_id: "x", client_data: "x", authenticator_data: "x", signature: "x", user_handle: "x" }
    const statuses: Array<number> = []
    for (let more = 0; more < 12; more += 1) statuses.push((await ask(nothing)).status)
    expect([statuses[0], statuses.at(-1)]).toEqual([401, 429])
  })
})

test("a challenge is of one key and use, for five minutes", () => {
  const key = Buffer.alloc(32, 1)
  const challenge = newChallenge(key, "sign in", 1_000_000)
  expect(newChallenge(key, "sign in", 1_000_000)).not.toBe(challenge)
  expect(issuedAt(key, "sign in", challenge, 1_299_999)).toBe(1_000_000n)
  expect(issuedAt(key, "sign in", challenge, 1_300_000)).toBeNull()
  expect(issuedAt(key, "register usr_1", challenge, 1_000_001)).toBeNull()
  expect(issuedAt(Buffer.alloc(32, 2), "sign in", challenge, 1_000_001)).toBeNull()
  expect(issuedAt(key, "sign in", `${challenge}AA`, 1_000_001)).toBeNull()
})
