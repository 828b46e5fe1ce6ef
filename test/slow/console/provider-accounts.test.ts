/** The page of an organization's own accounts at providers, in a real browser. */
import { describe, expect, test } from "bun:test"
import type { Browser } from "playwright-core"
import type { App } from "../../kit/app.ts"
import { hasBrowser } from "../../console/browser.ts"
import { withConsole } from "../../console/suite.ts"
import { invited, looked, owner } from "../../console/visitor.ts"

const path = "/settings/provider-accounts"
const heading = "Provider accounts"

describe.skipIf(!hasBrowser)("the page of provider accounts", () => {
  let app: App
  let browser: Browser
  withConsole(
    (opened) => {
      app = opened.app
      browser = opened.browser
    },
    { settings: { RUNGATE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64") } }
  )

  test("an account is set, replaced and removed, and no page shows its key; who may not change it sees it", async () => {
    const person = await owner(browser, app.url, "accounts@example.com")
    const { page } = person
    await looked(person, path, "provider-accounts-empty", heading)
    await page.getByText("Your accounts will be here").waitFor()
    await page.getByLabel("Provider", { exact: true }).selectOption("hunter")
    await page.getByLabel("Key of your account").fill("short")
    await page.getByRole("button", { name: "Set the account" }).click()
    await page.getByRole("alert").waitFor()
    // What was typed stays after a refusal.
    expect(await page.getByLabel("Key of your account").inputValue()).toBe("short")
    await page.getByLabel("Key of your account").fill("a secret key <b>1f2e</b>")
    await page.getByLabel("Address of your account").fill("ftp://example.com/<script>")
    await page.getByRole("button", { name: "Set the account" }).click()
    await page
      .getByText(/must be/)
      .first()
      .waitFor()
    await page.getByLabel("Address of your account").fill("https://hunter.example.com/v2")
    await page.getByRole("button", { name: "Set the account" }).click()
    const account = page.getByRole("region", { name: "hunter", exact: true })
    await account.getByText("…</b>").waitFor()
    await account.getByText("https://hunter.example.com/v2").waitFor()
    expect(await page.content()).not.toContain("1f2e")
    // The form is empty again, so that a key does not stay on the screen.
    expect(await page.getByLabel("Key of your account").inputValue()).toBe("")

    await page.getByLabel("Provider", { exact: true }).selectOption("hunter")
    await page.getByLabel("Key of your account").fill("another key of hunter")
    await page.getByLabel("Use this service's account").check()
    await page.getByRole("button", { name: "Replace the account" }).click()
    await account.getByText("…nter").waitFor()
    await looked(person, path, "provider-accounts", heading)
    await account.getByText("falls back to this service's account").waitFor()

    const viewer = await invited(browser, app.url, person, "looks@example.com", "viewer")
    await looked(viewer, path, "provider-accounts-viewer", heading)
    await viewer.page.getByText("An admin or an owner can set the organization's account at a provider.").waitFor()
    expect(await viewer.page.getByRole("button", { name: /the account/ }).count()).toBe(0)
    await viewer.context.close()

    await account.getByRole("button", { name: "Remove the account" }).click()
    await page
      .getByRole("dialog", { name: "Remove your account at hunter?" })
      .getByRole("button", { name: "Remove the account" })
      .click()
    await page.getByText("Your accounts will be here").waitFor()
    expect((await person.ask("GET", "/v1/provider-accounts")).items).toEqual([])
    expect(person.errors).toEqual([])
    await person.context.close()
  })
})
