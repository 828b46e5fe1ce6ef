/** Who may sign up, passwords, and ending sessions: what a stranger can't do, what an owner can. */
import { describe, expect, test } from "bun:test"
import { Effect, Redacted } from "effect"
import { compiledCommand } from "../kit/compiled-command.ts"
import { type Command, runCommand } from "../kit/run-command.ts"
import { type App, startApp, until, withApp } from "../kit/app.ts"
import { letter, smtpMailbox, tokenIn } from "../kit/mailbox.ts"
import { settingsOf } from "../../src/layers/platform/Settings.ts"

const password = "correct horse battery"
const another = "a password of another day"
const calls = (at: () => App) => {
  const post = (path: string, body?: unknown, token: string | null = null) =>
    at().call(token, "POST", `/v1/auth/${path}`, body === undefined ? {} : { body })
  return {
    post,
    signUp: (email: string, more: object = {}) => post("sign-up", { email, password, organization: "Org", ...more }),
    signIn: (email: string, secret = password) => post("sign-in", { email, password: secret }),
    alive: async (token: string) => (await at().call(token, "GET", "/v1/wallet")).status === 200
  }
}

describe("an account's owner", () => {
  const app = withApp()
  const { post, signUp, signIn, alive } = calls(() => app)
  let people = 0
  const account = async () => {
    const email = `owner${++people}@example.com`
    const { body } = await signUp(email)
    return { email, token: body.session_token as string }
  }
  const open = async (email: string): Promise<string> => (await signIn(email)).body.session_token

  test("changes the password, which ends all other sessions", async () => {
    const { email, token } = await account()
    const other = await open(email)
    const wrong = await post("password", { current_password: "not the password", new_password: another }, token)
    expect([wrong.status, wrong.body.error.details[0].path]).toEqual([400, "current_password"])
    const short = await post("password", { current_password: password, new_password: "short" }, token)
    expect([short.status, short.body.error.details[0].path]).toEqual([400, "new_password"])
    expect(await alive(other)).toBe(true)
    const { status, body } = await post("password", { current_password: password, new_password: another }, token)
    expect([status, body]).toEqual([200, { password_changed: true }])
    expect([await alive(token), await alive(other)]).toEqual([true, false])
    expect([(await signIn(email)).status, (await signIn(email, another)).status]).toEqual([401, 200])
  })

  test("two changes at once: one holds, and no session of the old password is opened behind it", async () => {
    const { email, token } = await account()
    const next = ["the first of two passwords", "the second of two passwords"]
    const change = (new_password: string) => post("password", { current_password: password, new_password }, token)
    const [changes, ins] = await Promise.all([
      Promise.all(next.map(change)),
      Promise.all(Array.from({ length: 8 }, () => signIn(email)))
    ])
    expect(changes.map(({ status }) => status).sort()).toEqual([200, 400])
    const sessions = await Promise.all(
      ins.filter(({ status }) => status === 200).map(({ body }) => alive(body.session_token))
    )
    expect(sessions.filter(Boolean)).toEqual([])
    const works = await Promise.all(next.map(async (secret) => (await signIn(email, secret)).status))
    expect(works.sort()).toEqual([200, 401])
  })

  test("ends all sessions, and nobody else's", async () => {
    const [mine, theirs] = [await account(), await account()]
    const more = await open(mine.email)
    const { status, body } = await app.call(mine.token, "DELETE", "/v1/auth/sessions")
    expect([status, body]).toEqual([200, { sessions_ended: 2 }])
    expect([await alive(mine.token), await alive(more), await alive(theirs.token)]).toEqual([false, false, true])
    expect((await signIn(mine.email)).status).toBe(200)
  })

  test.each(["", "/", ".", "%2e", "none/..", "?", "#"])(
    "ends no session without an id: /v1/auth/sessions/%s",
    async (id) => {
      const mine = await account()
      const { status, body } = await app.call(mine.token, "DELETE", `/v1/auth/sessions/${id}`)
      expect([status, body.error?.code, body.error?.message]).toEqual([404, "not_found", expect.stringContaining("id")])
      expect(await alive(mine.token)).toBe(true)
    }
  )

  test("lists the open sessions of the user, and ends one of them", async () => {
    const [mine, theirs] = [await account(), await account()]
    const more = await open(mine.email)
    const list = async (token: string) => (await app.call(token, "GET", "/v1/auth/sessions")).body.items
    const [newest, first] = await list(mine.token)
    expect([newest.current, first.current, (await list(more))[0].current]).toEqual([false, true, true])
    expect(newest.id).toMatch(/^ses_[0-9a-f]{32}$/)
    const [foreign] = await list(theirs.token)
    for (const id of [foreign.id, "none", "ses_", `${newest.id}0`, newest.id.toUpperCase()]) {
      const refused = await app.call(mine.token, "DELETE", `/v1/auth/sessions/${id}`)
      expect([id, refused.status, refused.body.error.code]).toEqual([id, 404, "not_found"])
    }
    const ended = await app.call(mine.token, "DELETE", `/v1/auth/sessions/${newest.id}`)
    expect([ended.status, ended.body]).toEqual([200, { id: newest.id, ended: true }])
    expect([await alive(mine.token), await alive(more), await alive(theirs.token)]).toEqual([true, false, true])
    expect((await app.call(mine.token, "DELETE", `/v1/auth/sessions/${newest.id}`)).status).toBe(404)
    expect((await list(mine.token)).map((one: { id: string }) => one.id)).toEqual([first.id])
    expect((await app.call(mine.token, "DELETE", `/v1/auth/sessions/${first.id}`)).status).toBe(200)
    expect(await alive(mine.token)).toBe(false)
  })

  test.each([
    ["sign-up", { email: "a\u0000b@example.com", password, organization: "X" }, "email"],
    ["sign-up", { email: "nul@example.com", password: `${password}\u0000`, organization: "X" }, "password"],
    ["sign-up", { email: "nul@example.com", password, organization: "X\u0000" }, "organization"],
    ["sign-up", { email: "nul@example.com", password, organization: "X".repeat(201) }, "organization"],
    ["sign-up", { email: "nul@example.com", password, organization: "X", invitation: "\u0000" }, "invitation"],
    ["sign-up", { email: "nul@example.com", password, organization: "X", invitation: "x".repeat(201) }, "invitation"],
    ["sign-in", { email: "a\u0000b@example.com", password }, "email"],
    ["sign-in", { email: "nul@example.com", password: "\u0000" }, "password"],
    ["sign-in", { email: "nul@example.com", password: "x".repeat(501) }, "password"],
    ["verify-email", { token: "\u0000" }, "token"],
    ["verify-email", { token: "x".repeat(201) }, "token"],
    ["verify-email", { token: "rg_verify_unknown" }, "token"],
    ["password-reset", { email: "a\u0000b@example.com" }, "email"],
    ["password-reset", { email: `${"x".repeat(250)}@example.com` }, "email"],
    ["password-reset/confirm", { token: "\u0000", new_password: password }, "token"],
    ["password-reset/confirm", { token: "rg_reset_unknown", new_password: "\u0000".repeat(12) }, "new_password"],
    ["password-reset/confirm", { token: "rg_reset_unknown", new_password: password }, "token"]
  ])("%s refuses %j by the field's name", async (path, body, field) => {
    const answer = await post(path, body)
    expect([answer.status, answer.body.error.code]).toEqual([400, "invalid_request"])
    expect(answer.body.error.details.map((one: { path: string }) => one.path)).toContain(field)
  })

  test("half a surrogate in a name is refused at its field", async () => {
    const { status, body } = await signUp("half@example.com", { organization: "half \ud83d" })
    expect([status, body.error.details[0].path]).toEqual([400, "organization"])
  })
})

describe("who may sign up", () => {
  const command = async (app: App, ...args: ReadonlyArray<string>) => {
    const compiled: Command = [await compiledCommand()]
    const settings = {
      RUNGATE_MODE: "production",
      DATABASE_URL: app.databaseUrl,
      RUNGATE_PUBLIC_URL: "https://rungate.example.com"
    }
    const { errors, output, ended } = runCommand(compiled, ["admin", ...args], settings)
    const { code } = await ended
    return { code, out: output().trim(), err: errors() }
  }

  test("closed: nobody, with or without an invitation", async () => {
    const app = await startApp({ settings: { RUNGATE_SIGN_UP: "closed" } })
    try {
      for (const invitation of [null, "rg_invite_x"]) {
        const { status, body } = await calls(() => app).signUp("ada@example.com", { invitation })
        expect([status, body.error.code]).toEqual([403, "forbidden"])
        expect(body.error.message).toContain("closed")
      }
      expect(await app.sql("SELECT 1 FROM orgs")).toEqual([])
    } finally {
      await app.stop()
    }
  })

  describe("invite", () => {
    const app = withApp({ settings: { RUNGATE_MODE: "production" } })
    const { post, signUp, signIn } = calls(() => app)
    const invite = async (email: string): Promise<string> => {
      const { code, out } = await command(app, "invite", email, "--json")
      expect(code).toBe(0)
      return new URL(JSON.parse(out).link).searchParams.get("token") ?? ""
    }

    test("is what production does by itself, and says whom to ask", async () => {
      const { status, body } = await signUp("ada@example.com")
      expect([status, body.error.code]).toEqual([403, "forbidden"])
      expect(body.error.message).toContain("rungate admin invite")
      expect(app.logs.join("\n")).toContain("Mail is off: RUNGATE_SMTP_URL is not set")
    })

    test("an invitation is for its address, once, for a week; who redeems it counts as verified", async () => {
      const said = await command(app, "invite", "ada@example.com")
      expect([said.code, said.out]).toEqual([
        0,
        expect.stringMatching(/^https:\/\/rungate\.example\.com\/invitation\?token=rg_invite_\w{43}$/)
      ])
      expect(said.err).toContain("only to ada@example.com.")
      const invitation = new URL(said.out).searchParams.get("token") ?? ""
      const [stored] = await app.sql("SELECT * FROM invitations")
      expect(JSON.stringify(stored)).not.toContain(invitation)
      const refused = async (email: string, token: string) => {
        const { status, body } = await signUp(email, { invitation: token })
        expect([status, body.error.details[0].path]).toEqual([400, "invitation"])
      }
      await refused("bob@example.com", invitation)
      await refused("ada@example.com", `${invitation}x`)
      const answers = await Promise.all(
        ["ADA@example.com", "ada@example.com"].map((email) => signUp(email, { invitation }))
      )
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
      const { body } = answers.find(({ status }) => status === 200)!
      expect(body.verification).toBeUndefined()
      const key = await app.call(body.session_token, "POST", "/v1/api-keys", {
        body: { name: "x", environment: "live" }
      })
      expect(key.status).toBe(200)
      await refused("ada@example.com", invitation)
      const again = await command(app, "invite", "Ada@Example.com")
      expect([again.code, again.err]).toEqual([5, expect.stringContaining("has an account")])
      const nonsense = await command(app, "invite", "not an address")
      expect([nonsense.code, nonsense.out]).toEqual([5, ""])

      const late = await invite("late@example.com")
      const [week] = await app.sql(
        "SELECT round(extract(epoch FROM expires_at - created_at) / 86400)::int AS days FROM invitations WHERE used_at IS NULL"
      )
      expect(week).toEqual({ days: 7 })
      await app.sql("UPDATE invitations SET expires_at = now() WHERE email = 'late@example.com'")
      await refused("late@example.com", late)
    })

    test("a person signs up on the page behind the link", async () => {
      const token = await invite("page@example.com")
      const html = await (await fetch(`${app.url}/invitation?token=${token}`)).text()
      expect(html).toContain("page@example.com")
      const send = (fields: Record<string, string>) =>
        fetch(`${app.url}/invitation`, { method: "POST", body: new URLSearchParams({ token, ...fields }) })
      const fields = { organization: "<b>Page & Co</b>", password, again: password }
      for (const wrong of [
        { again: another },
        { password: "short", again: "short" },
        { organization: "" },
        { token: "x" }
      ])
        expect((await send({ ...fields, ...wrong })).status).toBe(400)
      const done = await send(fields)
      expect([done.status, await done.text()]).toEqual([200, expect.stringContaining("page@example.com")])
      expect((await signIn("page@example.com")).body.organization.name).toBe("<b>Page & Co</b>")
      expect((await send(fields)).status).toBe(400)
      expect((await fetch(`${app.url}/invitation?token=${token}`)).status).toBe(400)
    })

    test("operators see who is verified", async () => {
      const { body } = await signIn("page@example.com")
      const shown = await command(app, "show", body.organization.id, "--json")
      expect(JSON.parse(shown.out).people).toEqual([
        {
          id: body.user.id,
          email: "page@example.com",
          role: "owner",
          created_at: expect.stringMatching(/Z$/),
          verification: "verified",
          email_verified_at: expect.stringMatching(/Z$/)
        }
      ])
      expect((await command(app, "show", body.organization.id)).out).toMatch(
        /page@example\.com .*verified .*owner .*20/
      )
    })

    test("a reset without a mail server sends nothing, and the log has neither its link nor the address", async () => {
      expect((await post("password-reset", { email: "page@example.com" })).status).toBe(202)
      const log = await until(
        "what became of the mail",
        () => app.logs.join("\n"),
        (text) => /mail \d+ \(reset_password\) could not be sent/.test(text) || text.includes("Mail to ")
      )
      expect(log).not.toMatch(/rg_reset_|page@example\.com/)
      expect(log).toMatch(
        /mail \d+ \(reset_password\) could not be sent and will be retried: RUNGATE_SMTP_URL is not set/
      )
    })
  })
})

test("attempts with links, passwords and resets are limited by address and account", async () => {
  const app = await startApp({ settings: { RUNGATE_RATE_LIMIT: "50" } })
  const { post } = calls(() => app)
  try {
    const statuses = async (times: number, work: () => Promise<{ readonly status: number }>) => {
      const found: Array<number> = []
      for (let n = 0; n < times; n++) found.push((await work()).status)
      return found.filter((status) => status === 429).length
    }
    expect(await statuses(11, () => post("password-reset", { email: "eve@example.com" }))).toBe(1)
    expect(await statuses(11, () => post("verify-email", { token: "rg_verify_guess" }))).toBe(1)
    const limited = await post("password-reset/confirm", { token: "rg_verify_guess", new_password: password })
    expect([limited.status, Number(limited.headers.get("retry-after")) > 0]).toEqual([429, true])
    // Many tokens from one address, which is what guessing is.
    let guess = 0
    const guesses = () => post("password-reset/confirm", { token: `rg_reset_${guess++}`, new_password: password })
    expect(await statuses(30, guesses)).toBeGreaterThan(15)
    const page = await fetch(`${app.url}/verify-email`, { method: "POST", body: new URLSearchParams({ token: "x" }) })
    expect([page.status, await page.text()]).toEqual([429, expect.stringContaining("Too many attempts")])
  } finally {
    await app.stop()
  }
})

test("a mail that the server refuses is sent again, and sign-up does not wait for it", async () => {
  const mailbox = await smtpMailbox()
  const app = await startApp({ settings: { RUNGATE_EMAIL_VERIFICATION: "on", ...mailbox.settings } })
  const { post, signUp } = calls(() => app)
  try {
    mailbox.refuse(1)
    expect((await signUp("ada@example.com", { organization: "Win $1000 at http://evil.example" })).status).toBe(200)
    await until(
      "the refusal in the log",
      () => app.logs.join("\n"),
      (text) => text.includes("could not be sent and will be retried")
    )
    expect(app.logs.join("\n")).not.toContain("ada@example.com")
    await app.sql("UPDATE mails SET send_at = now()")
    // Any mail that is asked for has the process look.
    await post("password-reset", { email: "nobody@example.com" })
    const sent = await letter(mailbox, app, "ada@example.com")
    expect((await post("verify-email", { token: tokenIn(sent) })).status).toBe(200)
    // Nobody writes to strangers in the operator's name.
    expect(sent.text).not.toContain("evil")
    expect(mailbox.raw[0]).toContain("From: Rungate <no-reply@example.com>")
    const [row] = await app.sql("SELECT attempts, outcome FROM mails WHERE kind = 'sign_up'")
    expect(row).toEqual({ attempts: 2, outcome: "sent" })
  } finally {
    await app.stop()
    await mailbox.stop()
  }
})

describe("settings", () => {
  const read = (settings: Record<string, string>) => Effect.runPromise(settingsOf(settings))
  const production = { RUNGATE_MODE: "production" }
  const smtp = { RUNGATE_SMTP_URL: "smtps://post:s3cret@smtp.example.com" }

  test("have the defaults of their mode", async () => {
    expect(await read({})).toMatchObject({ signUp: "open", emailVerification: false, mail: null })
    expect(await read(production)).toMatchObject({ signUp: "invite", emailVerification: true, mail: null })
    const settings = await read({
      ...production,
      ...smtp,
      RUNGATE_SIGN_UP: "open",
      RUNGATE_PUBLIC_URL: "https://run.example.com"
    })
    expect(settings).toMatchObject({
      signUp: "open",
      emailVerification: true,
      mail: { from: "Rungate <no-reply@run.example.com>" }
    })
    expect(Redacted.value(settings.mail!.url)).toContain("s3cret")
    expect(Bun.inspect(settings)).not.toContain("s3cret")
  })

  test.each([
    [{ RUNGATE_SIGN_UP: "maybe" }, "RUNGATE_SIGN_UP must be"],
    [{ RUNGATE_EMAIL_VERIFICATION: "yes" }, "RUNGATE_EMAIL_VERIFICATION must be"],
    [{ RUNGATE_SMTP_URL: "https://smtp.example.com" }, "RUNGATE_SMTP_URL must be"],
    [{ ...smtp, RUNGATE_MAIL_FROM: "a@example.com\r\nBcc: everybody@example.com" }, "RUNGATE_MAIL_FROM must be"],
    [{ ...production, RUNGATE_SIGN_UP: "open" }, "RUNGATE_SIGN_UP=open needs RUNGATE_SMTP_URL"],
    [{ ...production, RUNGATE_EMAIL_VERIFICATION: "on" }, "RUNGATE_EMAIL_VERIFICATION=on needs RUNGATE_SMTP_URL"]
  ])("%j is a mistake that is named", async (settings, message) => {
    await expect(read(settings)).rejects.toThrow(message)
  })
})
