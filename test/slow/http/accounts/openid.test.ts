/** Sign-in by OpenID Connect, over real HTTP with a provider that signs its tokens, and attacks on it. */
import { afterAll, beforeEach, describe, expect, test } from "bun:test"
import { type App, withApp } from "../../../kit/app.ts"
import { browserAt, type OpenIdProvider, type Person, startOpenIdProvider } from "../../../kit/openid-provider.ts"

const provider: OpenIdProvider = await startOpenIdProvider()
afterAll(provider.stop)
beforeEach(() => {
  provider.state.forge = null
  provider.state.info = {}
})

const org_id = "org_01m81nzgh66f8vfxqbkda58gtf"
const settings = {
  ...provider.settings,
  RUNGATE_OIDC_DOMAINS: `acme.example=${org_id}`,
  RUNGATE_OIDC_ROLES: "groups:platform=admin,groups:sales=member",
  RUNGATE_OIDC_OPERATORS: "groups:operators",
  RUNGATE_EMAIL_VERIFICATION: "on",
  RUNGATE_SIGN_UP: "open"
}
const app = withApp({ settings })

let count = 0
const fresh = (name: string, domain = "example.com") => `${name}.${(count += 1)}@${domain}`
const verified = (email: string, more: Partial<Person> = {}): Person => ({
  sub: `sub of ${email}`,
  email,
  email_verified: true,
  ...more
})

/** Signs a person in with a browser of their own. */
const signIn = async (person: Person, over: App = app, next = "/") => {
  provider.state.person = person
  const browser = browserAt(over.url)
  const reply = await browser.go(await browser.callback(next))
  const session = browser.cookies.get("__Host-rungate_session")
  const mine = session === undefined ? undefined : (await over.call(session, "GET", "/v1/auth/session")).body
  return { ...reply, browser, session, mine }
}
const expectRefused = async (person: Person, words: string) => {
  const reply = await signIn(person)
  expect([reply.status, reply.session]).toEqual([403, undefined])
  expect(reply.text).toContain(words)
}
const accountOf = (email: string) => app.sql("SELECT user_id FROM users WHERE email = $1 AND NOT pending", [email])
const withPassword = async (email: string, isVerified: boolean) => {
  const { body } = await app.call(null, "POST", "/v1/auth/sign-up", {
    body: { email, password: "correct horse battery", organization: "Own" }
  })
  if (isVerified)
    await app.sql("UPDATE users SET pending = false, email_verified_at = now() WHERE user_id = $1", [body.user.id])
  return body
}
const openAcme = () => app.sql("INSERT INTO orgs (org_id, name) VALUES ($1, 'Acme') ON CONFLICT DO NOTHING", [org_id])

describe("who signs in", () => {
  test("a new person gets an organization of their own, and comes back to the same account by another address", async () => {
    const email = fresh("ada")
    const first = await signIn(verified(email, { name: "Ada L." }), app, "/usage?period=day")
    expect([first.status, first.location]).toEqual([303, "/usage?period=day"])
    expect(first.mine).toMatchObject({ organization: { name: "Ada L." }, user: { email }, role: "owner" })
    expect(first.mine.verification).toBeUndefined()
    expect(first.cookies.join()).toMatch(
      /__Host-rungate_session=rg_sess_\w+; Path=\/; Max-Age=\d+; HttpOnly; Secure; SameSite=Strict/
    )
    const again = await signIn({ sub: `sub of ${email}`, email: fresh("married"), email_verified: false })
    expect(again.mine.user).toEqual(first.mine.user)
    const log = await app.sql(
      "SELECT actor, actor_id, org_id, after FROM audit_log WHERE action = 'identity.created' AND object = $1",
      [first.mine.user.id]
    )
    expect(log).toEqual([
      {
        actor: "person",
        actor_id: first.mine.user.id,
        org_id: first.mine.organization.id,
        after: { issuer: provider.url, subject: `sub of ${email}` }
      }
    ])
  })

  test("people of a domain join its organization with the role of their claim", async () => {
    await openAcme()
    const roleFor = async (claims: Partial<Person>) => {
      const { mine } = await signIn(verified(fresh("bea", "ACME.example"), claims))
      return [mine.organization.id, mine.role]
    }
    expect(await roleFor({ groups: ["sales", "platform"] })).toEqual([org_id, "admin"])
    expect(await roleFor({ groups: "sales" })).toEqual([org_id, "member"])
    expect(await roleFor({ groups: ["others"] })).toEqual([org_id, "viewer"])
    expect(await roleFor({})).toEqual([org_id, "viewer"])
  })

  test("whoever was removed from the organization of the domain does not come back by signing in", async () => {
    await openAcme()
    const email = fresh("cat", "acme.example")
    const { mine } = await signIn(verified(email))
    await app.sql("DELETE FROM members WHERE user_id = $1", [mine.user.id])
    await expectRefused(verified(email), "Your account is in no organization")
  })

  test("an account with the same verified address is linked once, and keeps its organization and password", async () => {
    const email = fresh("dan")
    const { user } = await withPassword(email, true)
    const { mine } = await signIn(verified(email.toUpperCase(), { sub: "dan" }))
    expect([mine.user.id, mine.organization.name]).toEqual([user.id, "Own"])
    const body = { email, password: "correct horse battery" }
    expect((await app.call(null, "POST", "/v1/auth/sign-in", { body })).status).toBe(200)
    // The address has another owner now.
    await expectRefused(verified(email, { sub: "dan's successor" }), "belongs to another person")
  })

  test("the address may come from the userinfo endpoint", async () => {
    const email = fresh("eve")
    provider.state.info = { email, email_verified: true }
    expect((await signIn({ sub: `sub of ${email}` })).mine.user.email).toBe(email)
  })

  test("an operator signs in by a claim, and the audit log has the address", async () => {
    const reply = await signIn(verified("grace@example.com", { groups: ["operators"] }), app, "/operator")
    expect(reply.location).toBe("/operator")
    expect(reply.session).toBeUndefined()
    const cookie = `__Host-rungate_operator=${reply.browser.cookies.get("__Host-rungate_operator")}`
    const mine = await app.call(null, "GET", "/v1/operator/session", { headers: { cookie } })
    expect([mine.status, mine.body.operator]).toEqual([200, "grace@example.com"])
    const other = await signIn(verified(fresh("mallory"), { groups: ["operators-emeriti"] }), app, "/operator")
    expect([other.status, other.browser.cookies.size]).toEqual([403, 0])
    const unproven = await signIn({ sub: "x", email: "grace@example.com", groups: ["operators"] }, app, "/operator")
    expect([unproven.status, unproven.browser.cookies.size]).toEqual([403, 0])
  })
})

describe("an operator who needs a second factor", () => {
  const strict = withApp({ settings: { ...settings, RUNGATE_OIDC_OPERATOR_FACTORS: "amr:mfa,acr:gold" } })
  const as = (claims: Partial<Person>) =>
    signIn(verified("grace@example.com", { groups: ["operators"], ...claims }), strict, "/operator")

  test("signs in only if the provider says that there was one, and asks the provider for it", async () => {
    expect((await as({})).text).toContain("RUNGATE_OIDC_OPERATOR_FACTORS")
    for (const claims of [{ amr: ["pwd"] }, { acr: "mfa" }]) expect((await as(claims)).status).toBe(403)
    for (const claims of [{ amr: ["pwd", "mfa"] }, { acr: "gold" }])
      expect((await as(claims)).location).toBe("/operator")
    const asked = async (next: string) =>
      new URL((await browserAt(strict.url).go(`${strict.url}/auth/openid?next=${next}`)).location ?? "").searchParams
    expect((await asked("/operator")).get("acr_values")).toBe("gold")
    expect((await asked("/usage")).has("acr_values")).toBe(false)
    expect((await signIn(verified(fresh("ned")), strict)).status).toBe(303)
  })
})

describe("the address to return to", () => {
  const long = "a".repeat(1_998)
  test.each([
    [
      "of other letters than ASCII's is sent as a header can have it",
      "/history?q=名 é\u{1f600}",
      "/history?q=%E5%90%8D%20%C3%A9%F0%9F%98%80"
    ],
    ["that is encoded already stays", "/history?q=%E5%90%8D&a=%2F", "/history?q=%E5%90%8D&a=%2F"],
    ["of two thousand characters comes back whole", `/usage?${long}\u{1f600}`, `/usage?${long}%F0%9F%98%80`],
    ["that fills no cookie by its letters, but by their codes, is the start page", `/${"\u{1f600}".repeat(900)}`, "/"],
    ["that no cookie can keep is the start page", `/usage?${"a".repeat(4_000)}`, "/"]
  ])("%s", async (_name, next, address) => {
    const email = fresh("lena")
    const { status, location, mine } = await signIn(verified(email), app, next)
    expect([status, location, mine?.user.email]).toEqual([303, address, email])
  })
})

describe("who does not", () => {
  test("an address that the provider has not verified signs nobody in, links nothing and joins nothing", async () => {
    await openAcme()
    for (const email_verified of [false, undefined, "true", 1]) {
      const email = fresh("fay", "acme.example")
      await expectRefused(
        { sub: email, email, ...(email_verified === undefined ? {} : { email_verified }) },
        "does not say that it has verified"
      )
      expect(await accountOf(email)).toEqual([])
    }
    const email = fresh("gil")
    await withPassword(email, true)
    await expectRefused({ sub: "gil", email, email_verified: false }, "does not say that it has verified")
  })

  test("an account whose address nobody has verified is not linked, so who signed up with it first gets nothing", async () => {
    const trusted = fresh("hal")
    await withPassword(trusted, false)
    await app.sql("UPDATE users SET pending = false WHERE email = $1", [trusted])
    await expectRefused(verified(trusted), "nobody has verified the address here")
    const [user] = await accountOf(trusted)
    const store = app.sql("INSERT INTO identities (issuer, subject, user_id) VALUES ('https://x', 'y', $1)", [
      user?.["user_id"]
    ])
    await expect(store).rejects.toThrow("has not verified")
    const pending = fresh("ian")
    const squatter = await withPassword(pending, false)
    const { mine } = await signIn(verified(pending))
    expect(mine.user.id).not.toBe(squatter.user.id)
  })

  test("an address that lower case makes another person's is no account's", async () => {
    const email = fresh("kit")
    await withPassword(email, true)
    await expectRefused(verified(email.replace("kit", "\u212ait"), { sub: "kelvin" }), "The sign-in did not work")
    expect(await app.sql("SELECT 1 FROM identities WHERE subject = 'kelvin'")).toEqual([])
  })

  test("a foreign domain joins no organization, whatever the address looks like", async () => {
    await openAcme()
    for (const email of [
      fresh("jo", "notacme.example"),
      fresh("jo", "acme.example.evil.example"),
      fresh("jo", "sub.acme.example")
    ]) {
      const { mine } = await signIn(verified(email, { groups: ["platform"] }))
      expect(mine.organizations.map(({ id }: { id: string }) => id)).not.toContain(org_id)
    }
    expect((await signIn(verified("a@acme.example@evil.example"))).status).toBe(403)
  })

  test.each([
    ["another nonce", (claims: Person) => provider.sign({ ...claims, nonce: "of another sign-in" })],
    ["no nonce", ({ nonce: _nonce, ...claims }: Person) => provider.sign(claims)],
    ["another audience", (claims: Person) => provider.sign({ ...claims, aud: "another client" })],
    ["another issuer", (claims: Person) => provider.sign(claims, { issuer: "https://evil.example" })],
    ["another key", (claims: Person) => provider.sign(claims, { by: provider.foreignKey })],
    [
      "no signature",
      async (claims: Person) => {
        const [, payload] = (await provider.sign(claims)).split(".")
        return `${Buffer.from(JSON.stringify({ alg: "none" })).toString("base64url")}.${payload}.`
      }
    ]
  ])("an ID token with %s is refused", async (_, forge) => {
    provider.state.forge = forge
    const email = fresh("kim")
    await expectRefused(verified(email), "The sign-in did not work")
    expect(await accountOf(email)).toEqual([])
  })

  test("an answer works in the browser that asked, and once", async () => {
    provider.state.person = verified(fresh("lou"))
    const mine = browserAt(app.url)
    const callback = await mine.callback()
    const stranger = browserAt(app.url)
    expect((await stranger.go(callback)).status).toBe(403)
    // An attacker's own sign-in is under way in this browser.
    await stranger.callback()
    expect((await stranger.go(callback)).status).toBe(403)
    expect((await mine.go(callback)).status).toBe(303)
    expect([...mine.cookies.keys()]).toEqual(["__Host-rungate_session"])
    expect((await mine.go(callback)).status).toBe(403)
    const kept = browserAt(app.url)
    const used = await kept.callback()
    const binding = [...kept.cookies]
    expect((await kept.go(used)).status).toBe(303)
    // Even with the cookie, the provider redeems the code once.
    const thief = browserAt(app.url)
    for (const [name, value] of binding) thief.cookies.set(name, value)
    expect((await thief.go(used)).status).toBe(403)
    expect(thief.cookies.size).toBe(0)
  })

  test("of two tabs the one that began last signs in, also after the other one has come back", async () => {
    provider.state.person = verified(fresh("tia"))
    const browser = browserAt(app.url)
    const [first, last] = [await browser.callback(), await browser.callback()]
    expect((await browser.go(first)).status).toBe(403)
    // What another site opens here is no answer either.
    expect((await browser.go("/auth/openid/callback?code=x&state=y")).status).toBe(403)
    expect((await browser.go(last)).status).toBe(303)
    expect([...browser.cookies.keys()]).toEqual(["__Host-rungate_session"])
  })

  test("the address to return to is one of this service", async () => {
    for (const next of ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)"])
      expect((await signIn(verified(fresh("max")), app, next)).location).toBe("/")
  })
})

describe("a closed service", () => {
  const closed = withApp({
    settings: {
      ...settings,
      RUNGATE_SIGN_UP: "invite",
      RUNGATE_OIDC_DOMAINS: `gone.example=org_01m81nzgh66f8vfxqbkda58gtx`
    }
  })

  test("creates no account for a foreign domain, and names a setting that is wrong", async () => {
    expect((await closed.call(null, "GET", "/v1/service")).body.openid).toBe(new URL(provider.url).host)
    const foreign = await signIn(verified("nan@other.example"), closed)
    expect([foreign.status, foreign.session]).toEqual([403, undefined])
    expect(foreign.text).toContain("by invitation")
    expect((await signIn(verified("nan@gone.example"), closed)).text).toContain("RUNGATE_OIDC_DOMAINS")
  })
})
