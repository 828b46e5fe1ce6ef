/** Members, roles and invitations, over the real API. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type App, type Reply, startApp, until, verify, withApp } from "../kit/app.ts"
import { letter, linkIn, smtpMailbox, type SmtpMailbox, tokenIn } from "../kit/mailbox.ts"

const password = "correct horse battery"
const another = "a password of another day"

const app = withApp()

let count = 0
const fresh = (name: string) => `${name}.${(count += 1)}@example.com`

const call = (token: string | null, method: string, path: string, body?: unknown) =>
  app.call(token, method, path, body === undefined ? {} : { body })

interface Person {
  readonly token: string
  readonly id: string
  readonly email: string
}
interface Organization extends Person {
  readonly org_id: string
}

/** An organization with its owner. */
const organization = async (email = fresh("owner")): Promise<Organization> => {
  const { body } = await call(null, "POST", "/v1/auth/sign-up", { email, password, organization: "Acme" })
  return { token: body.session_token, id: body.user.id, email, org_id: body.organization.id }
}
const invite = (by: Person, email: string, role: string) => call(by.token, "POST", "/v1/invitations", { email, role })
const tokenOf = (reply: Reply) => new URL(reply.body.link).searchParams.get("token") ?? ""
const accept = (token: string, secret = password) =>
  call(null, "POST", "/v1/invitations/accept", { token, password: secret })
const person = (reply: Reply): Person => ({
  token: reply.body.session_token,
  id: reply.body.user.id,
  email: reply.body.user.email
})
const join = async (owner: Person, role: string, email = fresh(role)): Promise<Person> =>
  person(await accept(tokenOf(await invite(owner, email, role))))
const setRole = (by: Person, who: Person, role: string) => call(by.token, "PATCH", `/v1/members/${who.id}`, { role })
const remove = (by: Person, who: Person, query = "") => call(by.token, "DELETE", `/v1/members/${who.id}${query}`)
const mint = (by: Person) => call(by.token, "POST", "/v1/api-keys", { name: "x", environment: "test" })
const roleOf = async (who: Person) => (await call(who.token, "GET", "/v1/auth/session")).body.role
const code = ({ status, body }: Reply) => [status, body?.error?.code]

describe("members", () => {
  test("who signs up owns the organization, and lists its members with their roles", async () => {
    const owner = await organization()
    const ada = await join(owner, "member")
    const listed = await call(ada.token, "GET", "/v1/members")
    expect(listed.status).toBe(200)
    expect(listed.body.items).toEqual([
      { id: owner.id, email: owner.email, role: "owner", verified: true, created_at: expect.stringMatching(/Z$/) },
      { id: ada.id, email: ada.email, role: "member", verified: true, created_at: expect.stringMatching(/Z$/) }
    ])
    const first = await call(owner.token, "GET", "/v1/members?limit=1")
    const second = await call(owner.token, "GET", `/v1/members?limit=1&cursor=${first.body.next_cursor}`)
    expect([first.body.items[0].id, second.body.items[0].id, second.body.next_cursor]).toEqual([owner.id, ada.id, null])
    expect(code(await call(owner.token, "GET", "/v1/members?cursor=x"))).toEqual([400, "invalid_request"])
  })

  test("a key of a member runs, and does nothing that a member may not do", async () => {
    const owner = await organization()
    const ada = await join(owner, "member")
    const { body: minted } = await mint(ada)
    const allow = async () => (await call(ada.token, "GET", `/v1/api-keys/${minted.id}`)).body.allow
    expect(await allow()).toEqual({ raw: true })
    expect((await call(minted.api_key, "POST", "/v1/quote", verify())).status).toBe(200)
    expect(code(await call(minted.api_key, "POST", "/v1/spend-guard", { daily_limit: "1.00" }))).toEqual([
      403,
      "forbidden"
    ])
    const change = (by: Person, body: unknown) => call(by.token, "PATCH", `/v1/api-keys/${minted.id}`, body)
    expect((await change(ada, { allow: { read_only: true } })).body.allow).toEqual({ read_only: true })
    expect((await change(ada, { name: "y" })).body.allow).toEqual({ read_only: true })
    for (const none of [null, {}, { raw: null }, { capabilities: null, mint: null }]) {
      expect((await change(ada, { allow: none })).body.allow).toEqual({ raw: true })
      const { body: other } = await call(ada.token, "POST", "/v1/api-keys", {
        name: "other",
        environment: "test",
        allow: none
      })
      expect((await call(ada.token, "GET", `/v1/api-keys/${other.id}`)).body.allow).toEqual({ raw: true })
    }
    expect((await change(owner, { allow: null })).body.allow).toBeNull()
    expect((await call(minted.api_key, "POST", "/v1/spend-guard", { daily_limit: "1.00" })).status).toBe(200)
  })

  test("a changed role counts from the next request", async () => {
    const owner = await organization()
    const ada = await join(owner, "viewer")
    expect((await mint(ada)).body.error.message).toContain("needs the role member, and yours is viewer")
    expect((await setRole(owner, ada, "member")).body.role).toBe("member")
    expect((await mint(ada)).status).toBe(200)
    expect(code(await setRole(ada, owner, "viewer"))).toEqual([403, "forbidden"])
    await setRole(owner, ada, "viewer")
    expect(code(await call(ada.token, "POST", "/v1/run", verify()))).toEqual([403, "forbidden"])
    expect(await roleOf(ada)).toBe("viewer")
  })

  test("a member revokes only keys of their own, an admin every key", async () => {
    const owner = await organization()
    const [ada, eve] = [await join(owner, "member"), await join(owner, "admin")]
    const [mine, theirs] = [(await mint(ada)).body, (await mint(owner)).body]
    const refused = await call(ada.token, "DELETE", `/v1/api-keys/${theirs.id}`)
    expect([refused.status, refused.body.error.message]).toEqual([403, expect.stringContaining("role admin")])
    expect((await call(ada.token, "DELETE", `/v1/api-keys/${mine.id}`)).body.revoked).toBe(true)
    expect((await call(eve.token, "DELETE", `/v1/api-keys/${theirs.id}`)).body.revoked).toBe(true)
  })

  test("a removed member's sessions end at once and their keys are revoked, also where a process knows them", async () => {
    const owner = await organization()
    const ada = await join(owner, "member")
    const [key, kept] = [(await mint(ada)).body, (await mint(owner)).body]
    await call(owner.token, "POST", "/v1/wallet/topups/checkout", { amount: "10.00" })
    // The caller of an API key is cached by POST /v1/run.
    expect((await call(key.api_key, "POST", "/v1/run", verify())).status).toBe(200)
    const removed = await remove(owner, ada)
    expect(removed.body).toEqual({
      id: ada.id,
      removed: true,
      revoked_keys: [key.id],
      keys: [{ id: key.id, name: "x", connected: false, change: "revoked" }]
    })
    expect(code(await call(ada.token, "GET", "/v1/wallet"))).toEqual([401, "unauthorized"])
    expect(code(await call(key.api_key, "POST", "/v1/run", verify()))).toEqual([401, "unauthorized"])
    expect((await call(kept.api_key, "GET", "/v1/wallet")).status).toBe(200)
    expect(code(await remove(owner, ada))).toEqual([404, "not_found"])
    const again = await call(null, "POST", "/v1/auth/sign-in", { email: ada.email, password })
    expect([...code(again), again.body.error.message]).toEqual([
      403,
      "forbidden",
      expect.stringContaining("invitation")
    ])
    expect(code(await call(null, "POST", "/v1/auth/sign-in", { email: ada.email, password: another }))).toEqual([
      401,
      "unauthorized"
    ])
  })

  test("keep_keys=true keeps the keys, and everybody may leave", async () => {
    const owner = await organization()
    const [ada, eve] = [await join(owner, "member"), await join(owner, "viewer")]
    const key = (await mint(ada)).body
    expect((await remove(owner, ada, "?keep_keys=true")).body.revoked_keys).toEqual([])
    expect((await call(key.api_key, "GET", "/v1/wallet")).status).toBe(200)
    expect((await remove(eve, eve)).body.removed).toBe(true)
    expect(code(await remove(owner, ada, "?keep_keys=yes"))).toEqual([400, "invalid_request"])
  })

  test("the last owner can neither be removed nor demoted", async () => {
    const owner = await organization()
    const eve = await join(owner, "admin")
    for (const reply of [await setRole(owner, owner, "admin"), await remove(owner, owner)])
      expect([...code(reply), reply.body.error.message]).toEqual([
        400,
        "invalid_request",
        expect.stringContaining("only owner")
      ])
    expect(code(await remove(eve, owner))).toEqual([403, "forbidden"])
    await setRole(owner, eve, "owner")
    expect((await setRole(owner, owner, "admin")).status).toBe(200)
    expect(await roleOf(owner)).toBe("admin")
  })

  test("two owners who demote or remove each other at once leave one owner", async () => {
    for (let round = 0; round < 6; round += 1) {
      const owner = await organization()
      const eve = await join(owner, "owner")
      const calls =
        round % 2 === 0
          ? [setRole(owner, eve, "viewer"), setRole(eve, owner, "viewer")]
          : [remove(owner, owner), remove(eve, eve)]
      const statuses = (await Promise.all(calls)).map(({ status }) => status)
      const owners = await app.sql("SELECT user_id FROM members WHERE org_id = $1 AND role = 'owner'", [owner.org_id])
      expect([owners.length, statuses.filter((status) => status === 200).length]).toEqual([1, 1])
    }
    // The database refuses it whoever asks.
    const owner = await organization()
    const demote = app.sql("UPDATE members SET role = 'viewer' WHERE org_id = $1", [owner.org_id])
    expect(demote).rejects.toThrow("is the only owner")
  })

  test("a sign-in and a removal at once leave no session behind", async () => {
    const owner = await organization()
    for (let round = 0; round < 5; round += 1) {
      const ada = await join(owner, "member")
      const signIns = Array.from({ length: 4 }, () =>
        call(null, "POST", "/v1/auth/sign-in", { email: ada.email, password })
      )
      const [removed, ...opened] = await Promise.all([remove(owner, ada), ...signIns])
      expect(removed?.status).toBe(200)
      for (const { body } of opened.filter(({ status }) => status === 200))
        expect((await call(body.session_token, "GET", "/v1/auth/session")).status).toBe(401)
      const left = "SELECT FROM sessions WHERE user_id = $1 AND ended_at IS NULL"
      expect(await app.sql(left, [ada.id])).toEqual([])
    }
  })

  test("members of another organization do not exist", async () => {
    const [owner, other] = [await organization(), await organization()]
    for (const id of [other.id, "usr_none", "%00", "x".repeat(3_000), "usr_01m81nzgvweh2hdt7twdxbzz2\u{1f600}"]) {
      const path = `/v1/members/${encodeURIComponent(id).replace("%2500", "%00")}`
      for (const reply of [
        await call(owner.token, "PATCH", path, { role: "admin" }),
        await call(owner.token, "DELETE", path)
      ])
        expect([id.slice(0, 30), reply.status < 500 && reply.status >= 400]).toEqual([id.slice(0, 30), true])
    }
    expect(code(await setRole(owner, other, "viewer"))).toEqual([404, "not_found"])
    expect(code(await remove(owner, other))).toEqual([404, "not_found"])
    expect(await roleOf(other)).toBe("owner")
  })
})

describe("invitations", () => {
  test("an invitation is for one address, works once, and replaces the one before", async () => {
    const owner = await organization()
    const email = fresh("ada")
    const first = await invite(owner, email, "viewer")
    expect(first.body).toEqual({
      id: expect.stringMatching(/^inv_[0-9a-z]{26}$/),
      email,
      role: "viewer",
      status: "open",
      invited_by: owner.email,
      created_at: expect.stringMatching(/Z$/),
      expires_at: expect.stringMatching(/Z$/),
      link: expect.stringMatching(/\/join-organization\?token=rg_join_[0-9A-Za-z]{43}$/)
    })
    const second = await invite(owner, email.toUpperCase(), "admin")
    expect(code(await accept(tokenOf(first)))).toEqual([400, "invalid_request"])
    const listed = await call(owner.token, "GET", "/v1/invitations")
    expect(listed.body.items.map((one: { id: string }) => one.id)).toEqual([second.body.id])
    expect(listed.text).not.toContain("rg_join_")
    const stored = JSON.stringify(await app.sql("SELECT * FROM member_invitations WHERE org_id = $1", [owner.org_id]))
    expect(stored).not.toContain(tokenOf(second))
    const joined = await accept(tokenOf(second))
    expect([joined.status, joined.body.role, joined.body.organization.id]).toEqual([200, "admin", owner.org_id])
    expect(code(await accept(tokenOf(second)))).toEqual([400, "invalid_request"])
    expect((await call(owner.token, "GET", "/v1/invitations")).body.items).toEqual([])
    expect((await invite(owner, email, "viewer")).body.error.details[0].path).toBe("email")
  })

  test("of many who accept one invitation at once, one does", async () => {
    const owner = await organization()
    const token = tokenOf(await invite(owner, fresh("race"), "member"))
    const statuses = (await Promise.all(Array.from({ length: 8 }, () => accept(token)))).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200).length).toBe(1)
    expect(statuses.filter((status) => status >= 500)).toEqual([])
    expect((await call(owner.token, "GET", "/v1/members")).body.items.length).toBe(2)
  })

  test("an account keeps its password, needs it, and is then in both organizations", async () => {
    const [owner, other] = [await organization(), await organization()]
    const token = tokenOf(await invite(owner, other.email, "member"))
    const wrong = await accept(token, another)
    expect(code(wrong)).toEqual([401, "unauthorized"])
    const joined = await accept(token)
    expect([joined.body.user.id, joined.body.organization.id, joined.body.role]).toEqual([
      other.id,
      owner.org_id,
      "member"
    ])
    const signIn = (more: object = {}) =>
      call(null, "POST", "/v1/auth/sign-in", { email: other.email, password, ...more })
    expect((await signIn()).body.organization.id).toBe(other.org_id)
    const chosen = await signIn({ organization_id: owner.org_id })
    expect([chosen.body.organization.id, chosen.body.role]).toEqual([owner.org_id, "member"])
    const own = await call(chosen.body.session_token, "GET", "/v1/auth/session")
    expect(own.body.organizations).toEqual([
      { id: other.org_id, name: "Acme", role: "owner" },
      { id: owner.org_id, name: "Acme", role: "member" }
    ])
    const stranger = await organization()
    expect((await signIn({ organization_id: stranger.org_id })).body.error.details[0].path).toBe("organization_id")
    // The session of one organization shows nothing of the other.
    expect((await call(chosen.body.session_token, "GET", "/v1/members")).body.items.length).toBe(2)
    await remove(owner, other)
    expect((await call(chosen.body.session_token, "GET", "/v1/wallet")).status).toBe(401)
    expect(await roleOf(other)).toBe("owner")
  })

  test("nobody invites above their own role, and a demoted admin's invitations end", async () => {
    const owner = await organization()
    const eve = await join(owner, "admin")
    expect(code(await invite(eve, fresh("x"), "owner"))).toEqual([403, "forbidden"])
    const sent = await invite(eve, fresh("y"), "admin")
    expect(sent.status).toBe(200)
    await setRole(owner, eve, "member")
    expect(code(await accept(tokenOf(sent)))).toEqual([400, "invalid_request"])
    expect(code(await invite(eve, fresh("z"), "viewer"))).toEqual([403, "forbidden"])
  })

  test("a withdrawn or expired invitation is none, and those of others do not exist", async () => {
    const [owner, other] = [await organization(), await organization()]
    const sent = await invite(owner, fresh("w"), "viewer")
    const drop = (by: Person) => call(by.token, "DELETE", `/v1/invitations/${sent.body.id}`)
    expect(code(await drop(other))).toEqual([404, "not_found"])
    expect((await drop(owner)).body).toEqual({ id: sent.body.id, deleted: true })
    expect(code(await drop(owner))).toEqual([404, "not_found"])
    expect(code(await accept(tokenOf(sent)))).toEqual([400, "invalid_request"])
    const late = await invite(owner, fresh("late"), "viewer")
    await app.sql("UPDATE member_invitations SET expires_at = now() WHERE invitation_id = $1", [late.body.id])
    expect(code(await accept(tokenOf(late)))).toEqual([400, "invalid_request"])
    expect((await call(owner.token, "GET", "/v1/invitations")).body.items[0].status).toBe("expired")
  })

  test.each([
    [{ email: "x", role: "viewer" }, "email"],
    [{ email: "a\u0000@example.com", role: "viewer" }, "email"],
    [{ email: `${"a".repeat(300)}@example.com`, role: "viewer" }, "email"],
    [{ email: "a@example.com", role: "root" }, "role"],
    [{ email: "a@example.com" }, "role"],
    [{ email: "a@example.com", role: "viewer", org_id: "org_x" }, "org_id"],
    [{ email: ["a@example.com"], role: "viewer" }, "email"]
  ])("refuses %j", async (body, path) => {
    const owner = await organization()
    const reply = await call(owner.token, "POST", "/v1/invitations", body)
    expect(code(reply)).toEqual([400, "invalid_request"])
    expect(JSON.stringify(reply.body.error.details)).toContain(path)
  })

  test("strange addresses and names are text: in answers, on pages and in the database", async () => {
    const strange = `"><script>alert(1)</script>`
    const { body } = await call(null, "POST", "/v1/auth/sign-up", {
      email: fresh("strange"),
      password,
      organization: strange
    })
    const owner = { token: body.session_token, id: body.user.id, email: body.user.email }
    const email = `'x'--&"b${count}@example.com`
    const sent = await invite(owner, email, "viewer")
    const opened = await fetch(sent.body.link.replace(/^https?:\/\/[^/]+/, app.url))
    const html = await opened.text()
    expect(html).not.toContain("<script>")
    expect(html).not.toContain(`&"b`)
    const joined = await accept(tokenOf(sent))
    expect(joined.body.user.email).toBe(email)
  })

  test("an organization sends only so many invitations", async () => {
    const owner = await organization()
    await app.sql(
      `INSERT INTO member_invitations (invitation_id, org_id, email, role, invited_by, expires_at)
       SELECT 'inv_' || $1 || n, $1, n || '@flood.example', 'viewer', $2, now() + interval '1 day' FROM generate_series(1, 49) n`,
      [owner.org_id, owner.id]
    )
    const replies = await Promise.all(Array.from({ length: 6 }, () => invite(owner, fresh("flood"), "viewer")))
    expect(replies.filter(({ status }) => status === 200).length).toBe(1)
    expect(replies.filter(({ body }) => body.error?.code === "rate_limited").length).toBe(5)
    await app.sql("UPDATE member_invitations SET created_at = now() - interval '2 hours' WHERE org_id = $1", [
      owner.org_id
    ])
    await app.sql(
      `INSERT INTO member_invitations (invitation_id, org_id, email, role, invited_by, created_at, expires_at)
       SELECT 'inv_' || $1 || n, $1, n || '@flood.example', 'viewer', $2, now() - interval '1 day', now() + interval '1 day'
       FROM generate_series(50, 99) n`,
      [owner.org_id, owner.id]
    )
    const full = await invite(owner, fresh("flood"), "viewer")
    expect([...code(full), full.body.error.message]).toEqual([
      400,
      "invalid_request",
      expect.stringContaining("open invitations")
    ])
  })

  test("the page of a link shows the invitation, changes nothing until it is sent, and accepts it", async () => {
    const owner = await organization()
    const sent = await invite(owner, fresh("page"), "member")
    const token = tokenOf(sent)
    const url = `${app.url}/join-organization`
    const opened = await fetch(`${url}?token=${token}`)
    expect([opened.status, opened.headers.get("content-security-policy")]).toEqual([
      200,
      expect.stringContaining("form-action 'self'")
    ])
    const html = await opened.text()
    expect(html).toContain("<strong>Acme</strong>")
    expect(html).toContain(sent.body.email)
    const send = (fields: Record<string, string>) =>
      fetch(url, { method: "POST", body: new URLSearchParams({ token, ...fields }) })
    const weak = await send({ password: "short" })
    expect([weak.status, await weak.text()]).toEqual([400, expect.stringContaining("at least 10 characters")])
    const joined = await send({ password })
    expect([joined.status, await joined.text()]).toEqual([200, expect.stringContaining("You are a member")])
    expect((await fetch(`${url}?token=${token}`)).status).toBe(400)
    expect((await call(owner.token, "GET", "/v1/members")).body.items.length).toBe(2)
  })
})

describe("with a mail server", () => {
  let mailbox: SmtpMailbox
  let mailing: App
  beforeAll(async () => {
    mailbox = await smtpMailbox()
    const settings = { RUNGATE_EMAIL_VERIFICATION: "on", RUNGATE_PUBLIC_URL: "https://rungate.example.com" }
    mailing = await startApp({ settings: { ...settings, ...mailbox.settings } })
  })
  afterAll(async () => {
    await mailing.stop()
    await mailbox.stop()
  })
  const ask = (token: string | null, method: string, path: string, body: unknown) =>
    mailing.call(token, method, path, { body })
  const signUp = async (email: string) => {
    const { body } = await ask(null, "POST", "/v1/auth/sign-up", { email, password, organization: "Acme" })
    await ask(null, "POST", "/v1/auth/verify-email", { token: tokenIn(await letter(mailbox, mailing, email)) })
    return body.session_token as string
  }

  test("the link is mailed and not answered, and whoever accepts it has shown the address", async () => {
    const owner = await signUp("owner@example.com")
    await signUp("known@example.com")
    const send = (email: string) => ask(owner, "POST", "/v1/invitations", { email, role: "member" })
    const [known, unknown] = [await send("known@example.com"), await send("unknown@example.com")]
    const shape = (reply: Reply) => [reply.status, Object.keys(reply.body).sort(), [...reply.headers.keys()].sort()]
    // The answer does not tell whether the address has an account.
    expect(shape(known)).toEqual(shape(unknown))
    expect(known.text).not.toContain("rg_join_")
    const mail = await letter(mailbox, mailing, "unknown@example.com")
    expect(mail.subject).toBe("You are invited to an organization")
    expect(linkIn(mail).origin + linkIn(mail).pathname).toBe("https://rungate.example.com/join-organization")
    // Nothing of the inviter's own text is in the mail.
    expect(mail.text).not.toContain("Acme")
    const preview = (token: string) => ask(null, "POST", "/v1/invitations/preview", { token })
    const shown = { organization: "Acme", email: "unknown@example.com", role: "member" }
    // Twice, because mail scanners look too.
    for (const _ of [1, 2]) expect((await preview(tokenIn(mail))).body).toEqual(shown)
    const joined = await ask(null, "POST", "/v1/invitations/accept", { token: tokenIn(mail), password })
    expect([joined.status, joined.body.verification, joined.body.role]).toEqual([200, undefined, "member"])
    expect(code(await preview(tokenIn(mail)))).toEqual([400, "invalid_request"])
    const minted = await ask(joined.body.session_token, "POST", "/v1/api-keys", { name: "x", environment: "test" })
    expect(minted.status).toBe(200)
  })

  test("a link that the service gave to its inviter shows no address, also after a mail server was set up", async () => {
    const before = await startApp({ beside: mailing, settings: { RUNGATE_SMTP_URL: "" } })
    try {
      const owner = await signUp("inviter@example.com")
      const link = await before.call(owner, "POST", "/v1/invitations", {
        body: { email: "victim@example.com", role: "member" }
      })
      const joined = await ask(null, "POST", "/v1/invitations/accept", { token: tokenOf(link), password })
      expect([joined.status, joined.body.verification]).toEqual([200, "pending"])
    } finally {
      await before.stop()
    }
  })

  test("an unverified person invites nobody", async () => {
    const { body } = await ask(null, "POST", "/v1/auth/sign-up", {
      email: "new@example.com",
      password,
      organization: "New"
    })
    const reply = await ask(body.session_token, "POST", "/v1/invitations", { email: "x@example.com", role: "viewer" })
    expect(code(reply)).toEqual([403, "forbidden"])
  })

  test("a mail that fails is sent again", async () => {
    const owner = await signUp("retry@example.com")
    mailbox.refuse(1)
    await ask(owner, "POST", "/v1/invitations", { email: "later@example.com", role: "viewer" })
    const waiting =
      "SELECT 1 FROM member_invitations WHERE email = 'later@example.com' AND attempts = 1 AND sent_at IS NULL"
    await until(
      "the first attempt has failed",
      () => mailing.sql(waiting),
      (rows) => rows.length > 0 && mailing.logs.some((line) => line.includes("will be retried"))
    )
    await mailing.sql("UPDATE member_invitations SET send_at = now() WHERE email = 'later@example.com'")
    await ask(owner, "POST", "/v1/invitations", { email: "waker@example.com", role: "viewer" })
    const mail = await letter(mailbox, mailing, "later@example.com")
    expect((await ask(null, "POST", "/v1/invitations/accept", { token: tokenIn(mail), password })).status).toBe(200)
  })
})

test("tokens of invitations, and passwords of invited accounts, are guessed no faster than at sign-in", async () => {
  const limited = await startApp({ settings: { RUNGATE_RATE_LIMIT: "1000", RUNGATE_TRUSTED_PROXIES: "1" } })
  let from = 0
  /** Each group of requests comes from an address of its own. */
  const ask = (path: string, body: object, token: string | null = null) =>
    limited.call(token, "POST", path, { body, headers: { "x-forwarded-for": `203.0.113.${from}` } })
  const statuses = async (count: number, body: (n: number) => object) => {
    from += 1
    const replies = await Promise.all(Array.from({ length: count }, (_, n) => ask("/v1/invitations/accept", body(n))))
    return Map.groupBy(replies, ({ status }) => status)
  }
  try {
    const guessed = await statuses(40, (n) => ({ token: `rg_join_${n}`, password }))
    expect([...guessed.keys()].sort()).toEqual([400, 429])
    // Two organizations invite one account. Its password has one limit, whichever link the guess comes with.
    const signUp = async (email: string) => {
      from += 1
      return (await ask("/v1/auth/sign-up", { email, password, organization: "Acme" })).body.session_token
    }
    await signUp("victim@example.com")
    const tokens: Array<string> = []
    for (const email of ["one@example.com", "two@example.com"])
      tokens.push(
        tokenOf(await ask("/v1/invitations", { email: "victim@example.com", role: "viewer" }, await signUp(email)))
      )
    const tried = await statuses(16, (n) => ({ token: tokens[n % 2], password: another }))
    expect(tried.get(401)?.length).toBe(10)
    expect(tried.get(429)?.length).toBe(6)
    // From many addresses, the account slows strangers down.
    let wrong = 10
    for (let round = 0; round < 4; round += 1)
      wrong += (await statuses(10, (n) => ({ token: tokens[n % 2], password: another }))).get(401)?.length ?? 0
    expect(wrong).toBeLessThan(50)
  } finally {
    await limited.stop()
  }
})
