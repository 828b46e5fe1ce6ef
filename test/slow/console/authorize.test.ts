/** The consent page in a real browser: somebody signs in on the way to it, sees who asks as text, and the browser leaves only after a decision. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { Browser } from "playwright-core"
import { clientId, shownName } from "../../../src/schema/oauth/Client.ts"
import type { App } from "../../kit/app.ts"
import { hasBrowser } from "../../console/browser.ts"
import { withConsole } from "../../console/suite.ts"
import { password } from "../../console/visit.ts"
import { hostile, invited, looked, owner, settled } from "../../console/visitor.ts"

describe.skipIf(!hasBrowser)("the consent page", () => {
  let app: App
  let browser: Browser
  /** The program that asked. */
  let program: ReturnType<typeof Bun.serve>
  const came: Array<URL> = []
  withConsole((opened) => {
    app = opened.app
    browser = opened.browser
  })
  beforeAll(async () => {
    program = Bun.serve({
      port: 0,
      fetch: ({ url }) => {
        if (url.includes("/callback")) came.push(new URL(url))
        return new Response("<h1>Connected</h1>", { headers: { "content-type": "text/html" } })
      }
    })
  })
  afterAll(() => program.stop(true))

  const client_name = shownName(`Agent ${hostile}`)
  const addressOf = (more: Readonly<Record<string, string>> = {}) => {
    const redirect_uri = `http://127.0.0.1:${program.port}/callback`
    const request = {
      response_type: "code",
      client_id: clientId({ client_name, redirect_uris: [redirect_uri] }),
      redirect_uri,
      code_challenge: "a".repeat(43),
      code_challenge_method: "S256",
      state: "7",
      ...more
    }
    return `/authorize?${new URLSearchParams(request)}`
  }

  test("leads through sign-in, shows who asks as text, and gives a code with the budget", async () => {
    const person = await owner(browser, app.url, "consents@example.com")
    const { page } = person
    await person.ask("POST", "/v1/auth/sign-out")
    await page.goto(addressOf())
    await settled(person, "Sign in")
    await page.getByLabel("E-mail address").fill("consents@example.com")
    await page.getByLabel("Password").fill(password)
    await page.getByRole("button", { name: "Sign in", exact: true }).click()
    await settled(person, "Connect an agent")
    await page.getByText(client_name).waitFor()
    await page.getByText(`a program on your machine (127.0.0.1:${program.port})`).waitFor()
    await looked(person, addressOf(), "authorize", "Connect an agent")
    expect(came).toEqual([])
    await page.getByLabel("Budget in USD").fill("5.00")
    await page.getByRole("button", { name: "Allow" }).click()
    await page.getByRole("heading", { name: "Connected" }).waitFor()
    expect(came.map(({ searchParams }) => [searchParams.get("state"), searchParams.get("code")?.slice(0, 8)])).toEqual([
      ["7", "rg_code_"]
    ])
    const [code] = await app.sql("SELECT budget::text, period, scope FROM oauth_codes")
    expect(code).toEqual({ budget: "5000000", period: "month", scope: "run" })
    await page.goto(addressOf())
    await page.getByRole("button", { name: "Deny" }).click()
    await page.getByRole("heading", { name: "Connected" }).waitFor()
    expect(came.at(-1)?.searchParams.get("error")).toBe("access_denied")
    expect(person.errors).toEqual([])
    await person.context.close()
  })

  test("sends nobody anywhere for a wrong request, a viewer, or inside a frame", async () => {
    const many = came.length
    const person = await owner(browser, app.url, "wrong@example.com")
    await person.page.goto(addressOf({ redirect_uri: "https://evil.example/" }))
    await settled(person, "This request to connect is not valid")
    expect(await person.page.getByRole("button", { name: /Allow|Deny/ }).count()).toBe(0)
    const viewer = await invited(browser, app.url, person, "views-consent@example.com", "viewer")
    await viewer.page.goto(addressOf())
    await viewer.page.getByText("Your role is viewer.").waitFor()
    expect(await viewer.page.getByRole("button", { name: "Allow" }).count()).toBe(0)
    const { headers } = await fetch(`${app.url}${addressOf()}`, { headers: { accept: "text/html" } })
    expect([headers.get("content-security-policy"), headers.get("x-frame-options")]).toEqual([
      expect.stringContaining("frame-ancestors 'none'"),
      "DENY"
    ])
    expect([came.length, person.errors, viewer.errors]).toEqual([many, [], []])
    for (const one of [person, viewer]) await one.context.close()
  })
})
