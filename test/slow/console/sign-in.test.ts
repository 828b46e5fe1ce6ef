/** Ways to sign in beside a password alone, in a real browser: an OpenID provider, and the code of a second factor. */
import { afterAll, describe, expect, test } from "bun:test"
import { Redacted } from "effect"
import { TOTP } from "otpauth"
import type { Browser } from "playwright-core"
import type { App } from "../../kit/app.ts"
import { startOpenIdProvider } from "../../kit/openid-provider.ts"
import { findings, hasBrowser, openTab } from "../../console/browser.ts"
import { newLinkToken, tokenHash } from "../../../src/layers/accounts/Secrets.ts"
import { withConsole } from "../../console/suite.ts"
import { password } from "../../console/visit.ts"
import { owner } from "../../console/visitor.ts"

const provider = await startOpenIdProvider()
afterAll(provider.stop)

describe.skipIf(!hasBrowser)("signing in", () => {
  let app: App
  let browser: Browser
  withConsole(
    (opened) => {
      app = opened.app
      browser = opened.browser
    },
    {
      settings: {
        ...provider.settings,
        RUNGATE_OIDC_OPERATORS: "groups:operators",
        RUNGATE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64")
      }
    }
  )

  test("with an OpenID provider, as a customer and as an operator", async () => {
    provider.state.person = { sub: "grace", email: "grace@example.com", email_verified: true, groups: ["operators"] }
    const page = await (await browser.newContext({ baseURL: app.url })).newPage()
    await page.goto("/usage")
    await page.getByRole("button", { name: "Sign in with 127.0.0.1" }).click()
    await page.getByRole("heading", { level: 1, name: "Usage" }).waitFor()
    await page.goto("/operator/sign-in")
    await page.getByRole("button", { name: "Sign in with 127.0.0.1" }).click()
    await page.waitForURL("**/operator")
    await page.getByText("grace@example.com").first().waitFor()
    expect(await findings(page)).toEqual([])
  })

  test("with a code, once the second factor is on", async () => {
    const { page } = await owner(browser, app.url, "ada@example.com")
    await page.goto("/settings/account")
    const panel = page.getByRole("region", { name: "Second factor" })
    await panel.getByLabel("Current password").fill(password)
    await panel.getByRole("button", { name: "Set up a second factor" }).click()
    const shown = (name: string) => page.getByRole("region", { name, exact: true }).locator("pre").textContent()
    const secret = (await shown("the key for your app")) ?? ""
    const code = (later: number) => new TOTP({ secret }).generate({ timestamp: Date.now() + later * 30_000 })
    await panel.getByLabel("Code of your app").fill(code(0))
    expect(await findings(page)).toEqual([])
    await panel.getByRole("button", { name: "Turn it on" }).click()
    const [first = "", second = ""] = ((await shown("your recovery codes")) ?? "").split("\n")
    // Somebody stores them in another tab, and comes back: the page reads the state again.
    await page.clock.setFixedTime(Date.now() + 60_000)
    await page.evaluate(() => window.dispatchEvent(new Event("visibilitychange")))
    await page.getByRole("region", { name: "Passkeys" }).getByLabel("Code of your app").waitFor()
    expect(await shown("your recovery codes")).toContain(first)
    await page.getByRole("button", { name: "Sign out here" }).click()
    await page.getByRole("link", { name: "Sign in", exact: true }).first().click()
    await page.getByLabel("E-mail address").fill("ada@example.com")
    await page.getByLabel("Password").fill(password)
    await page.getByRole("button", { name: "Sign in", exact: true }).click()
    await page.getByLabel("Code of your app").fill("000000")
    await page.getByRole("button", { name: "Sign in", exact: true }).click()
    await page.getByText("was used before").first().waitFor()
    expect(await findings(page)).toEqual([])
    await page.getByLabel("Code of your app").fill(first)
    await page.getByRole("button", { name: "Sign in", exact: true }).click()
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor()
    await page.goto("/settings/account")
    await page.getByText("On. 9 recovery codes are left.").waitFor()
    await page.getByRole("button", { name: "Remove", exact: true }).click()
    const asks = page.getByRole("dialog", { name: "Remove your second factor?" })
    await asks.getByLabel("Current password").fill(password)
    await asks.getByLabel("Code of your app").fill("000000")
    await asks.getByRole("button", { name: "Remove it" }).click()
    await asks.getByText("was used before").first().waitFor()
    await asks.getByLabel("Code of your app").fill(second)
    await asks.getByRole("button", { name: "Remove it" }).click()
    await page.getByRole("button", { name: "Set up a second factor" }).waitFor()
  })

  /** The address of a link like the one that a first start prints, or a mail has. */
  const resetLink = async (email: string) => {
    const token = newLinkToken(null, "reset", null)
    await app.sql(
      `INSERT INTO mail_tokens (token_hash, purpose, user_id, expires_at)
       SELECT $2, 'reset_password', user_id, now() + interval '1 hour' FROM users WHERE email = $1`,
      [email, tokenHash(token)]
    )
    return `/reset-password?token=${Redacted.value(token)}`
  }
  const setPassword = async (email: string) => {
    const tab = await openTab(browser, app.url)
    const { page } = tab
    await page.goto(await resetLink(email))
    await page.getByLabel("New password").fill(`another ${password}`)
    await page.getByRole("button", { name: "Set the password" }).click()
    return tab
  }

  test("with the link that sets a password, which ends the sessions of other devices", async () => {
    const elsewhere = await owner(browser, app.url, "lin@example.com")
    const { page } = await setPassword("lin@example.com")
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor()
    expect((await elsewhere.ask("GET", "/v1/auth/session")).error.code).toBe("unauthorized")
  })

  test("with the link that sets a password, and the code of a second factor", async () => {
    const visitor = await owner(browser, app.url, "max@example.com")
    const { secret } = await visitor.ask("POST", "/v1/auth/second-factor", { current_password: password })
    const code = new TOTP({ secret }).generate()
    const { recovery_codes } = await visitor.ask("POST", "/v1/auth/second-factor/confirm", { code })
    const { page } = await setPassword("max@example.com")
    await page.getByRole("heading", { level: 1, name: "Your password is set" }).waitFor()
    await page.getByText("Sign in with the new password to go on.").waitFor()
    expect(await findings(page)).toEqual([])
    await page.getByLabel("Code of your app").fill(recovery_codes[0])
    await page.getByRole("button", { name: "Sign in", exact: true }).click()
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor()
  })

  test("with a passkey, which is made, named and removed on the Account page", async () => {
    // Passkeys need a host name.
    const url = app.url.replace("127.0.0.1", "localhost")
    const { page } = await owner(browser, url, "pia@example.com")
    const devices = await page.context().newCDPSession(page)
    await devices.send("WebAuthn.enable")
    await devices.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        protocol: "ctap2",
        transport: "internal",
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true
      }
    })
    await page.goto("/settings/account")
    const panel = page.getByRole("region", { name: "Passkeys" })
    await panel.getByLabel("Name, such as Laptop").fill("Laptop")
    await panel.getByLabel("Current password").fill(password)
    await panel.getByRole("button", { name: "Add a passkey" }).click()
    await panel.getByRole("cell", { name: "Laptop", exact: true }).waitFor()
    expect(await findings(page)).toEqual([])
    await panel.getByRole("button", { name: "Rename Laptop" }).click()
    const asks = page.getByRole("dialog", { name: "Rename Laptop?" })
    await asks.getByLabel("Name, such as Laptop").fill("Phone")
    await asks.getByRole("button", { name: "Rename it" }).click()
    await panel.getByRole("cell", { name: "Phone", exact: true }).waitFor()
    await page.getByRole("button", { name: "Sign out here" }).click()
    await page.getByRole("link", { name: "Sign in", exact: true }).first().click()
    await page.getByRole("button", { name: "Sign in with a passkey" }).click()
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor()
    await page.goto("/settings/account")
    await panel.getByRole("button", { name: "Remove Phone" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Remove it" }).click()
    await panel.getByRole("cell", { name: "Phone", exact: true }).waitFor({ state: "detached" })
    await page.getByRole("button", { name: "Sign out here" }).click()
    await page.getByRole("link", { name: "Sign in", exact: true }).first().click()
    await page.getByRole("button", { name: "Sign in with a passkey" }).click()
    await page.getByText("The passkey did not sign in").first().waitFor()
    expect(await findings(page)).toEqual([])
  })
})
