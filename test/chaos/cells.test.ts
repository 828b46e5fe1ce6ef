/**
 * Two cells with a database each, a directory, and a real HAProxy with the configuration that ships. Every request goes to the router, whose
 * default is the cell `a`.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Client } from "pg"
import { tagOf } from "../../src/schema/accounts/TokenText.ts"
import { type App, callUrl, type Reply, startApp, type Tenant } from "../kit/app.ts"
import { letter, linkIn, logMailbox } from "../kit/mailbox.ts"
import { freshDatabase } from "../kit/postgres.ts"
import { connect, posted } from "../http/oauth/agent.ts"
import { type Haproxy, hasHaproxy, startHaproxy } from "./haproxy.ts"
import { runMain } from "./processes.ts"

const password = "correct horse battery"
const wait = 600_000
const account = (email: string) => ({ email, password, organization: `of ${email}` })

describe.if(hasHaproxy)("cells", () => {
  let a: App
  let b: App
  let of_a: Tenant
  let of_b: Tenant
  let router: Haproxy
  let directory: string
  const call = (token: string | null, method: string, path: string, ask = {}) =>
    callUrl(router.url, token, method, path, ask)
  const post = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    call(null, "POST", path, { body, headers })
  const cellOf = ({ body }: Reply): string => /^rg_sess_([ab])-[0-9a-f]{12}_/.exec(body.session_token)?.[1] ?? ""
  const cells = async (app: App, ...args: ReadonlyArray<string>) => {
    const { ended, output, errors } = runMain(["admin", "cells", ...args], app.settings)
    const { code } = await ended
    expect([code, code === 0 ? "" : errors()]).toEqual([0, ""])
    return output()
  }
  /** Which cell gets new addresses. */
  const takes = async (open: string) => {
    const client = new Client({ connectionString: directory })
    await client.connect()
    await client.query("UPDATE rungate_directory.cells SET takes_accounts = name = $1", [open])
    await client.end()
  }

  beforeAll(async () => {
    directory = await freshDatabase()
    const start = (name: string) =>
      startApp({
        settings: { RUNGATE_CELL: name, RUNGATE_DIRECTORY_URL: directory, RUNGATE_TRUSTED_PROXIES: "1" }
      })
    a = await start("a")
    b = await start("b")
    of_a = await a.tenant()
    of_b = await b.tenant()
    await cells(a, "add", "--url", a.url)
    await cells(b, "add", "--url", b.url)
    router = await startHaproxy({ a: a.url, b: b.url })
  }, wait)
  afterAll(async () => {
    await router?.stop()
    await b?.stop()
    await a?.stop()
  }, wait)

  test("keys lead to their cells, and a tag in the map of moved organizations wins at once", async () => {
    const own = async ({ key }: Tenant) => (await call(key, "GET", "/v1/api-keys")).body.items[0].id
    expect([await own(of_a), await own(of_b)]).toEqual([of_a.key_id, of_b.key_id])
    await router.command(`add map moved.map ${tagOf(of_b.org_id)} cell_a`)
    expect((await call(of_b.key, "GET", "/v1/wallet")).status).toBe(401)
    expect(await own(of_a)).toBe(of_a.key_id)
    await router.command(`del map moved.map ${tagOf(of_b.org_id)}`)
    expect(await own(of_b)).toBe(of_b.key_id)
  })

  test("a token of an unknown cell, and one from before there were cells, are answered by the default cell", async () => {
    const token = of_b.key.replace("rg_test_b-", "rg_test_zz-")
    expect((await call(token, "GET", "/v1/wallet")).body.error.code).toBe("unauthorized")
    expect((await call(await of_a.session(), "GET", "/v1/auth/session")).body.organization.id).toBe(of_a.org_id)
  })

  test("sign-up makes the account in the cell of the address, and sign-in finds it from any cell", async () => {
    for (const open of ["b", "a"]) {
      await takes(open)
      const email = `ada-${open}@example.com`
      const signedUp = await post("/v1/auth/sign-up", account(email))
      expect([signedUp.status, signedUp.status === 200 ? cellOf(signedUp) : signedUp.text]).toEqual([200, open])
      expect((await call(signedUp.body.session_token, "GET", "/v1/auth/session")).body.user.email).toBe(email)
      for (const url of [router.url, a.url, b.url]) {
        const signedIn = await callUrl(url, null, "POST", "/v1/auth/sign-in", { body: { email, password } })
        expect([signedIn.status, cellOf(signedIn)]).toEqual([200, open])
      }
      const twice = await post("/v1/auth/sign-up", account(email.toUpperCase()))
      expect([twice.status, twice.body.error.details[0].path]).toEqual([400, "email"])
    }
    const list = JSON.parse(await cells(a, "list", "--json")).items
    expect(list.map(({ name, addresses }: { name: string; addresses: number }) => [name, addresses])).toEqual([
      ["a", 1],
      ["b", 1]
    ])
  })

  test("a wrong password and an address without an account read alike, whichever cell they are of", async () => {
    const answers = await Promise.all(
      ["ada-a@example.com", "ada-b@example.com", "nobody@example.com"].map((email) =>
        post("/v1/auth/sign-in", { email, password: "wrong horse battery" })
      )
    )
    for (const { status, body } of answers) {
      expect(status).toBe(401)
      expect(body.error).toEqual(answers[0]?.body.error)
    }
  })

  test("of two cells that get the same address at once, one makes the account", async () => {
    // As if both had passed it on to each other.
    const headers = { "rungate-passed-on": "test" }
    const answers = await Promise.all(
      [a, b].map((app) =>
        callUrl(app.url, null, "POST", "/v1/auth/sign-up", { body: account("twins@example.com"), headers })
      )
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
    const accounts = await Promise.all(
      [a, b].map((app) => app.sql("SELECT 1 FROM users WHERE email = 'twins@example.com'"))
    )
    expect(accounts.flat()).toHaveLength(1)
    const winner = answers.find(({ status }) => status === 200)
    const signedIn = await post("/v1/auth/sign-in", { email: "twins@example.com", password })
    expect(signedIn.body.user).toEqual(winner?.body.user)
  })

  test("the header by which cells pass requests on means nothing from outside", async () => {
    const signedIn = await post(
      "/v1/auth/sign-in",
      { email: "ada-b@example.com", password },
      { "rungate-passed-on": "b" }
    )
    expect(cellOf(signedIn)).toBe("b")
  })

  test("a browser's cookie leads to its cell, and the browser keeps the cell for passkeys", async () => {
    const browser = { "x-rungate-console": "1", "sec-fetch-site": "same-origin" }
    const body = { email: "ada-b@example.com", password }
    const signedIn = await post("/v1/auth/browser/sign-in", body, browser)
    expect(signedIn.status).toBe(200)
    const given = signedIn.headers.getSetCookie().map((line) => line.split(";")[0] ?? "")
    const session = given.find((line) => line.startsWith("__Host-rungate_session=")) ?? ""
    expect(session).toStartWith("__Host-rungate_session=rg_sess_b-")
    const own = await call(null, "GET", "/v1/auth/session", { headers: { ...browser, cookie: session } })
    expect(own.body.user.email).toBe(body.email)
    const kept = given.find((line) => line.startsWith("rungate_cell=")) ?? ""
    expect(kept).toMatch(/^rungate_cell=b-[0-9a-f]{12}$/)
    // A page that only its own cell has, and a request that names none.
    const { body: program } = await b.call(await of_b.session(), "GET", "/v1/referrals")
    const page = (cookie: string) => call(null, "GET", new URL(program.link).pathname, { headers: { cookie } })
    expect([(await page(kept)).status, (await page("")).status]).toEqual([200, 404])
  })

  test("links lead to their cells: a new password by mail, an invitation, a referral code", async () => {
    const email = "ada-b@example.com"
    expect((await post("/v1/auth/password-reset", { email })).status).toBe(202)
    const link = linkIn(await letter(logMailbox(), b, email))
    const token = link.searchParams.get("token") ?? ""
    expect(token).toMatch(/^rg_reset_b_/)
    expect((await fetch(`${router.url}${link.pathname}${link.search}`)).status).toBe(200)
    const page = await fetch(`${router.url}${link.pathname}`, {
      method: "POST",
      body: new URLSearchParams({ token, password: `${password} 2`, again: `${password} 2` })
    })
    expect(page.status).toBe(200)
    expect(cellOf(await post("/v1/auth/sign-in", { email, password: `${password} 2` }))).toBe("b")

    const session = await of_b.session()
    const invited = await b.call(session, "POST", "/v1/invitations", {
      body: { email: "bob@example.com", role: "member" }
    })
    const join = new URL(invited.body.link).searchParams.get("token")
    const joined = await post("/v1/invitations/accept", { token: join, password })
    expect([joined.status, cellOf(joined), joined.body.organization.id]).toEqual([200, "b", of_b.org_id])

    const { body } = await b.call(session, "GET", "/v1/referrals")
    const referral = new URL(body.link)
    expect(referral.searchParams.get("cell")).toBe(`b-${tagOf(of_b.org_id)}`)
    await takes("a")
    const referred = await post(`/v1/auth/sign-up${referral.search}`, {
      ...account("friend@example.com"),
      referral_code: body.code
    })
    expect([referred.status, cellOf(referred)]).toEqual([200, "b"])
    expect(cellOf(await post("/v1/auth/sign-in", { email: "friend@example.com", password }))).toBe("b")
  })

  test("an invitation of an address that has its account in another cell is refused, and says what to do", async () => {
    const session = await of_b.session()
    const body = { email: "ada-a@example.com", role: "member" }
    const invited = await b.call(session, "POST", "/v1/invitations", { body })
    const token = new URL(invited.body.link).searchParams.get("token")
    const refused = await post("/v1/invitations/accept", { token, password })
    expect([refused.status, refused.body.error.code]).toEqual([400, "invalid_request"])
    expect(refused.body.error.message).toContain("an account in another part of this service")
    expect(await b.sql("SELECT 1 FROM users WHERE email = 'ada-a@example.com'")).toEqual([])
  })

  test("an agent connects, refreshes and leaves by the router alone", async () => {
    const signedIn = await post("/v1/auth/sign-in", { email: "bob@example.com", password })
    const routed: App = { ...b, url: router.url, call }
    const { kept } = await connect(routed, signedIn.body.session_token)
    expect(kept.tokens?.access_token).toStartWith(`rg_test_b-${tagOf(of_b.org_id)}_`)
    const client_id = kept.client?.client_id ?? ""
    const refresh_token = kept.tokens?.refresh_token ?? ""
    const renewed = await posted(routed, "/oauth/token", { grant_type: "refresh_token", refresh_token, client_id })
    expect(renewed.status).toBe(200)
    expect((await call(renewed.body.access_token, "GET", "/v1/runs")).status).toBe(200)
    const revoked = await fetch(`${router.url}/oauth/revoke`, {
      method: "POST",
      body: new URLSearchParams({ token: renewed.body.refresh_token, client_id })
    })
    expect(revoked.status).toBe(200)
    expect((await call(renewed.body.access_token, "GET", "/v1/runs")).status).toBe(401)
  })

  test("an organization that moves keeps its key and its session, and its person signs in at the other cell", async () => {
    await takes("a")
    const email = "moves@example.com"
    const signedUp = await post("/v1/auth/sign-up", account(email))
    const session: string = signedUp.body.session_token
    const { organization } = (await call(session, "GET", "/v1/auth/session")).body
    const created = await call(session, "POST", "/v1/api-keys", { body: { name: "agent", environment: "test" } })
    expect([cellOf(signedUp), created.status]).toEqual(["a", 200])
    expect(await cells(a, "move", organization.id, "--to", "b", "--database", b.databaseUrl, "--yes")).toContain(
      "Moved"
    )
    const tag = tagOf(organization.id)
    expect(await cells(b, "moved")).toContain(`${tag} cell_b\n`)
    // Until the router has the new map, the cell that the organization has left says where it is.
    const left = await call(created.body.api_key, "GET", "/v1/wallet")
    expect([left.status, left.body.error.code]).toEqual([421, "organization_moved"])
    await router.command(`add map moved.map ${tag} cell_b`)
    expect((await call(created.body.api_key, "GET", "/v1/wallet")).status).toBe(200)
    expect((await call(session, "GET", "/v1/auth/session")).body.organization.id).toBe(organization.id)
    const again = await post("/v1/auth/sign-in", { email, password })
    expect([again.status, cellOf(again)]).toEqual([200, "b"])
    const [at] = await b.sql("SELECT count(*)::int AS here FROM users WHERE email = $1", [email])
    expect(at).toEqual({ here: 1 })
  })

  test("the operator prints the map of moved organizations, and repairs the directory", async () => {
    expect(await cells(a, "moved")).toStartWith("# tag of an organization    backend\n")
    const again = JSON.parse(await cells(b, "add", "--url", b.url, "--full", "--json"))
    expect(again).toMatchObject({ cell: "b", takes_accounts: false, elsewhere: 0 })
  })
})
