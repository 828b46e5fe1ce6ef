import { afterEach, describe, expect, test } from "bun:test"
import { Client } from "pg"
import { type App, figures, startApp, until, withApp } from "../kit/app.ts"

const password = "correct horse battery"
const app = withApp({ settings: { RUNGATE_PUBLIC_URL: "https://rungate.example.com/" } })
afterEach(async () => {
  await app.books()
})

const signUp = (email: string, referral_code?: unknown, at: App = app) =>
  at.call(null, "POST", "/v1/auth/sign-up", { body: { email, password, organization: `Of ${email}`, referral_code } })
const program = async (token: string, at: App = app) => (await at.call(token, "GET", "/v1/referrals")).body
const referrals = async () => Number((await app.sql("SELECT count(*) AS count FROM referrals"))[0]?.["count"])

/**
 * What `work` makes of a statement that another process has begun and not ended: it must wait for it, and see it when it ends.
 */
const meanwhile = async <A>(
  begun: ReadonlyArray<readonly [string, ReadonlyArray<unknown>]>,
  work: () => Promise<A>
) => {
  const client = new Client({ connectionString: app.databaseUrl })
  await client.connect()
  try {
    await client.query("BEGIN")
    for (const [text, values] of begun) await client.query(text, [...values])
    let answered = false
    const answer = work().finally(() => {
      answered = true
    })
    const blocked =
      "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database() AND pid <> pg_backend_pid()"
    await until(
      "somebody waits",
      async () => ({ answered, waiting: (await app.sql(blocked)).length }),
      (seen) => seen.answered || seen.waiting > 0
    )
    expect(answered).toBe(false)
    await client.query("COMMIT")
    return await answer
  } finally {
    await client.end()
  }
}

describe("GET /v1/referrals", () => {
  test("shows a code, a link and the terms; nobody is referred yet", async () => {
    const org = await app.tenant()
    const { status, body } = await org.get("/v1/referrals")
    expect(status).toBe(200)
    expect(body).toEqual({
      code: expect.stringMatching(/^[2-9A-HJ-KM-NP-TV-Z]{8}$/),
      link: `https://rungate.example.com/join/${body.code}`,
      terms: {
        currency: "USD",
        deposit_min: "10.00",
        deposit_bonus: "1.00",
        share_percent: "10",
        months: 12,
        description: expect.stringContaining("10% of the net revenue")
      },
      earnings: { currency: "USD", credited: "0.00", pending: "0.00", referred_count: 0 },
      referred: { items: [] },
      referred_by: null,
      credits: []
    })
  })

  test("the first call mints the code, once for all who ask at the same time", async () => {
    const org = await app.tenant()
    const count = "SELECT count(*) AS count FROM referral_codes WHERE org_id = $1"
    expect((await app.sql(count, [org.org_id]))[0]).toEqual({ count: "0" })
    const session = await org.session()
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) => app.call(i % 2 === 0 ? org.key : session, "GET", "/v1/referrals"))
    )
    expect(new Set(answers.map((one) => one.status))).toEqual(new Set([200]))
    const codes = new Set(answers.map((one) => one.body.code))
    expect(codes.size).toBe(1)
    expect((await app.sql(count, [org.org_id]))[0]).toEqual({ count: "1" })
    const other = await app.tenant()
    expect(codes.has((await program(other.key)).code)).toBe(false)
  })

  test("a code that another process is about to mint is the code", async () => {
    const org = await app.tenant()
    const mint = ["INSERT INTO referral_codes (org_id, code) VALUES ($1, 'ABCDEFGH')", [org.org_id]] as const
    const { status, body } = await meanwhile([mint], () => org.get("/v1/referrals"))
    expect([status, body.code]).toEqual([200, "ABCDEFGH"])
  })

  test("needs a caller", async () => {
    expect((await app.call(null, "GET", "/v1/referrals")).status).toBe(401)
    expect((await app.call(null, "POST", "/v1/referrals", { body: {} })).status).toBe(405)
  })
})

describe("sign-up with a code", () => {
  test("makes a referral that both sides see, and nobody else", async () => {
    const [referrer, stranger] = await Promise.all([app.tenant(), app.tenant()])
    const { code } = await program(referrer.key)
    // As somebody would type it.
    const joined = await signUp("bob@example.com", ` ${code.toLowerCase()} `)
    expect(joined.status).toBe(200)
    expect((await program(joined.body.session_token)).referred_by).toEqual({
      bonus_state: "pending",
      deposit_bonus: "1.00",
      deposit_min: "10.00"
    })
    const seen = await program(referrer.key)
    expect(seen.earnings).toEqual({ currency: "USD", credited: "0.00", pending: "0.00", referred_count: 1 })
    expect(seen.referred.items).toEqual([
      {
        referral_id: expect.stringMatching(/^ref_[0-9a-z]{26}$/),
        organization: "Of bob@example.com",
        signed_up_at: expect.stringMatching(/Z$/),
        ends_at: expect.stringMatching(/Z$/),
        bonus: "pending",
        earned: "0.00"
      }
    ])
    const [one] = seen.referred.items
    const months = (text: string) => new Date(text).getUTCFullYear() * 12 + new Date(text).getUTCMonth()
    expect(months(one.ends_at) - months(one.signed_up_at)).toBe(12)
    // Of the other it learns the name, and no id, address or balance.
    expect(JSON.stringify(seen)).not.toContain(joined.body.organization.id)
    expect(Object.keys(one).sort()).toEqual(
      ["referral_id", "organization", "signed_up_at", "ends_at", "bonus", "earned"].sort()
    )
    expect((await program(stranger.key)).referred.items).toEqual([])
  })

  test("takes no code for none: null and a missing field", async () => {
    const before = await referrals()
    expect((await signUp("nora@example.com", null)).status).toBe(200)
    expect((await signUp("nick@example.com")).status).toBe(200)
    expect(await referrals()).toBe(before)
  })

  test.each(["", "NOSUCHCD", "22222222", "x".repeat(101), "'; DROP TABLE orgs; --", "../../..", "\u0000", 7, {}])(
    "refuses %j by the field's name, and makes nothing",
    async (code) => {
      const { status, body } = await signUp("mallory@example.com", code)
      expect([status, body.error.code]).toEqual([400, "invalid_request"])
      expect(body.error.details.map((one: { path: string }) => one.path)).toEqual(["referral_code"])
      expect(await app.sql("SELECT 1 FROM users WHERE email LIKE 'mallory%'")).toEqual([])
    }
  )

  test("keeps the promise of its day when the terms change", async () => {
    const { code } = await program((await app.tenant()).key)
    const early = await signUp("early@example.com", code)
    const later = await startApp({
      beside: app,
      settings: {
        RUNGATE_REFERRAL_DEPOSIT_MIN: "50",
        RUNGATE_REFERRAL_DEPOSIT_BONUS: "0.5",
        RUNGATE_REFERRAL_SHARE_PERCENT: "12.5",
        RUNGATE_REFERRAL_MONTHS: "1"
      }
    })
    try {
      const late = await signUp("late@example.com", code, later)
      const by = async (token: string, at: App) => (await program(token, at)).referred_by
      const promised = { bonus_state: "pending", deposit_bonus: "1.00", deposit_min: "10.00" }
      expect(await by(early.body.session_token, later)).toEqual(promised)
      expect(await by(late.body.session_token, app)).toEqual({
        ...promised,
        deposit_bonus: "0.50",
        deposit_min: "50.00"
      })
      const { terms } = await program(late.body.session_token, later)
      expect(terms).toMatchObject({ deposit_min: "50.00", deposit_bonus: "0.50", share_percent: "12.5", months: 1 })
      const rows = await app.sql("SELECT share_bps FROM referrals WHERE referred_org = ANY($1) ORDER BY share_bps", [
        [early.body.organization.id, late.body.organization.id]
      ])
      expect(rows).toEqual([{ share_bps: 1000 }, { share_bps: 1250 }])
      // Not even by hand.
      const change = app.sql("UPDATE referrals SET share_bps = 1 WHERE referred_org = $1", [early.body.organization.id])
      await expect(change).rejects.toThrow("terms of a referral never change")
    } finally {
      await later.stop()
    }
  })

  test.each([
    ["RUNGATE_REFERRAL_DEPOSIT_MIN", "-1"],
    ["RUNGATE_REFERRAL_DEPOSIT_BONUS", "5,00"],
    ["RUNGATE_REFERRAL_SHARE_PERCENT", "101"],
    ["RUNGATE_REFERRAL_SHARE_PERCENT", "1.234"],
    ["RUNGATE_REFERRAL_MONTHS", "1.5"],
    ["RUNGATE_REFERRAL_SECONDS", "0"]
  ])("a bad setting is named: %s=%s", async (name, value) => {
    await expect(startApp({ settings: { [name]: value } })).rejects.toThrow(name)
  })
})

describe("a code is for people who are new here", () => {
  test("not for its own organization's people, nor for anybody else's, however they spell their address", async () => {
    const account = await signUp("Grace.Hopper@gmail.com")
    const { code } = await program(account.body.session_token)
    const before = await referrals()
    const same = [
      "grace.hopper@gmail.com",
      "GRACE.HOPPER@GMAIL.COM",
      "gracehopper@gmail.com",
      "g.r.a.c.e.hopper@googlemail.com",
      "grace.hopper+referral@gmail.com",
      "GraceHopper+a+b@GoogleMail.com",
      "gracehopper@gmail.com."
    ]
    for (const email of same) {
      const { status, body } = await signUp(email, code)
      expect([email, status, body.error?.details?.[0]?.path]).toEqual([email, 400, "referral_code"])
    }
    expect(await referrals()).toBe(before)
    // Dots mean something everywhere else, and these are other people.
    const others = ["grace.hopper@example.org", "gracehopper@example.org", "hopper@gmail.com", "+grace@gmail.com"]
    for (const email of others) expect([email, (await signUp(email, code)).status]).toEqual([email, 200])
    expect(await referrals()).toBe(before + others.length)
    figures("T64 referral: self-referral", { spellings: same.length, refused: same.length, others: others.length })
  })

  test("two spellings of one address at once are one person", async () => {
    const { code } = await program((await app.tenant()).key)
    const before = await referrals()
    const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => signUp(`twin+${i}@example.net`, code)))
    expect(answers.map((one) => one.status).sort()).toEqual([200, ...Array.from({ length: 7 }, () => 400)])
    expect(await referrals()).toBe(before + 1)
    // The seven made nothing.
    expect(await app.sql("SELECT 1 AS one FROM users WHERE email LIKE 'twin%'")).toHaveLength(1)
    expect(await app.sql("SELECT 1 AS one FROM orgs WHERE name LIKE 'Of twin%'")).toHaveLength(1)
  })

  test("nor can the second slip in while the first is being written", async () => {
    const { code } = await program((await app.tenant()).key)
    const first = [
      ["SELECT pg_advisory_xact_lock(hashtextextended('referral ' || email_identity($1), 0))", ["racer@example.net"]],
      ["INSERT INTO orgs (org_id, name) VALUES ($1, 'Racer')", ["org_racer"]],
      ["INSERT INTO wallets (org_id, lane) VALUES ($1, 0)", ["org_racer"]],
      [
        "INSERT INTO users (user_id, org_id, email, password_hash) VALUES ('usr_racer', 'org_racer', $1, 'none')",
        ["racer@example.net"]
      ]
    ] as const
    const { status, body } = await meanwhile(first, () => signUp("racer+again@example.net", code))
    expect([status, body.error?.details?.[0]?.path]).toEqual([400, "referral_code"])
    expect(await app.sql("SELECT 1 AS one FROM users WHERE email LIKE 'racer%'")).toHaveLength(1)
  })

  test("there is no loop: who is here already can't be referred", async () => {
    const first = await signUp("loop-a@example.com")
    const second = await signUp("loop-b@example.com", (await program(first.body.session_token)).code)
    const { code } = await program(second.body.session_token)
    expect((await signUp("loop-a+again@example.com", code)).status).toBe(400)
    expect((await program(first.body.session_token)).referred_by).toBeNull()
    // Nor by a statement of anybody's.
    const write = (referred: string, referrer: string) =>
      app.sql(
        `INSERT INTO referrals (referral_id, referred_org, referrer_org, deposit_min, deposit_bonus, share_bps, ends_at)
         VALUES ('ref_x', $1, $2, 0, 0, 1000, now())`,
        [referred, referrer]
      )
    const [a, b] = [first.body.organization.id, second.body.organization.id]
    await expect(write(a, a)).rejects.toThrow("referral_of_another")
    await expect(write(b, (await app.tenant()).org_id)).rejects.toThrow("referrals_referred_org_key")
  })
})

describe("the page behind a link", () => {
  const open = (path: string) => fetch(`${app.url}${path}`, { redirect: "manual" })

  test("tells what the code gives and how to sign up with it, and not whose it is", async () => {
    const org = await app.tenant()
    const { code, link } = await program(org.key)
    const page = await open(new URL(link).pathname)
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"])
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'")
    const html = await page.text()
    for (const text of [code, "$1.00", "$10.00", "referral_code", "https://rungate.example.com/v1/auth/sign-up"])
      expect(html).toContain(text)
    expect(html).not.toContain(org.org_id)
    expect(await (await open(`/join/${code.toLowerCase()}`)).text()).toBe(html)
  })

  test("the command on it signs up, once the password is one", async () => {
    const { code } = await program((await app.tenant()).key)
    const html = await (await open(`/join/${code}`)).text()
    const json = /-d &#39;(.+)&#39;/.exec(html)?.[1]?.replaceAll("&quot;", '"') ?? ""
    const send = (body: unknown) => app.call(null, "POST", "/v1/auth/sign-up", { body })
    const refused = await send(JSON.parse(json))
    expect([refused.status, refused.body.error.details[0].path]).toEqual([400, "password"])
    expect((await send({ ...JSON.parse(json), password })).status).toBe(200)
  })

  test.each(["22222222", "x", "%3Cscript%3Ealert(1)%3C%2Fscript%3E", "..%2F..%2Fetc", "x".repeat(99)])(
    "an unknown code: %s",
    async (code) => {
      const page = await open(`/join/${code}`)
      expect([page.status, page.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"])
      const html = await page.text()
      expect(html).toContain("does not exist")
      expect(html).not.toContain("script")
    }
  )

  test("takes no other method, and nothing too long to be a code", async () => {
    expect((await open(`/join/${"x".repeat(5000)}`)).status).toBe(404)
    expect((await app.call(null, "POST", "/join/22222222", { body: {} })).status).toBe(405)
  })
})
