/** Ways to sign in beside a password alone, in a real browser: an OpenID provider, and the code of a second factor. */
import { afterAll, describe, expect, test } from "bun:test"
import { TOTP } from "otpauth"
import type { Browser, Page } from "playwright-core"
import type { App } from "../../kit/app.ts"
import { startOpenIdProvider } from "../../kit/openid-provider.ts"
import { findings, hasBrowser } from "../../console/browser.ts"
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

  /** Opens the link of a mail to somebody who has forgotten the password, and sets another one. */
  const resetsPassword = async (page: Page, email: string, token: string) => {
    await app.sql(
      "INSERT INTO mail_tokens (token_hash, purpose, user_id, expires_at) SELECT sha256($1::bytea), 'reset_password', user_id, now() + interval '1 hour' FROM users WHERE email = $2",
      [Buffer.from(token), email]
    )
    await page.goto(`/reset-password?token=${token}`)
    await page.getByLabel("New password").fill("another password of mine")
    await page.getByRole("button", { name: "Set the password" }).click()
  }

  test("with the link for a new password, without typing it again", async () => {
    await owner(browser, app.url, "rita@example.com")
    const page = await (await browser.newContext({ baseURL: app.url })).newPage()
    await resetsPassword(page, "rita@example.com", "r".repeat(43))
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor()
    await page.goto("/settings/account")
    await page.getByText("rita@example.com").first().waitFor()
  })

  test("after the link for a new password, with the code of the second factor", async () => {
    const { page } = await owner(browser, app.url, "cora@example.com")
    await page.goto("/settings/account")
    const panel = page.getByRole("region", { name: "Second factor" })
    await panel.getByLabel("Current password").fill(password)
    await panel.getByRole("button", { name: "Set up a second factor" }).click()
    const secret =
      (await page.getByRole("region", { name: "the key for your app", exact: true }).locator("pre").textContent()) ?? ""
    await panel.getByLabel("Code of your app").fill(new TOTP({ secret }).generate())
    await panel.getByRole("button", { name: "Turn it on" }).click()
    await page.getByRole("region", { name: "your recovery codes", exact: true }).waitFor()
    await resetsPassword(page, "cora@example.com", "c".repeat(43))
    await page.getByRole("heading", { level: 1, name: "Your password is set" }).waitFor()
    await page.getByRole("link", { name: "Sign in", exact: true }).last().click()
    await page.getByLabel("E-mail address").waitFor()
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
