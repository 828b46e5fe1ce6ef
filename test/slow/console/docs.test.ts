/** The docs for people, in a browser: reading, search, copying, themes, and the way from the console and back. */
import { beforeAll, describe, expect, test } from "bun:test"
import type { Browser } from "playwright-core"
import type { App } from "../../kit/app.ts"
import { hasBrowser, openTab } from "../../console/browser.ts"
import { withConsole } from "../../console/suite.ts"
import { lookedAt, signedUp } from "../../console/visit.ts"

describe.skipIf(!hasBrowser)("the docs", () => {
  let app: App
  let browser: Browser
  withConsole((opened) => {
    app = opened.app
    browser = opened.browser
  })
  let themed = ""
  beforeAll(() => {
    themed = "document.documentElement.dataset.theme"
  })

  test("are read by eye and keyboard, in both themes, narrow and wide", async () => {
    const tab = await openTab(browser, app.url)
    const { page } = tab
    await page.goto("/docs")
    await page.getByRole("heading", { level: 1, name: "Docs" }).waitFor()
    await lookedAt(tab, "docs")
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "The command" }).click()
    await page.getByRole("heading", { level: 1, name: "The command" }).waitFor()
    await lookedAt(tab, "docs-cli")
    // Its tables are the widest.
    await page.goto("/docs/errors")
    await lookedAt(tab, "docs-errors")
    await page.goto("/docs/cli")
    await page.getByRole("navigation", { name: "On this page" }).getByRole("link", { name: "Exit codes" }).click()
    expect(new URL(page.url()).hash).toBe("#exit-codes")
    await tab.context.close()
  })

  test("search finds a heading, and leads there by keyboard", async () => {
    const tab = await openTab(browser, app.url)
    const { page } = tab
    await page.goto("/docs/quickstart")
    await page.keyboard.press("/")
    await page.keyboard.type("exit cod")
    await page.getByRole("link", { name: "The command: Exit codes" }).waitFor()
    await page.keyboard.press("Enter")
    await page.waitForURL("**/docs/cli#exit-codes")
    await page.getByRole("searchbox").fill("nothinghasthisword")
    await page.getByText('Nothing in the docs has "nothinghasthisword".').waitFor()
    await page.keyboard.press("Escape")
    expect(await page.getByRole("searchbox").inputValue()).toBe("")
    expect(tab.errors).toEqual([])
    await tab.context.close()
  })

  test("a block of code is copied whole, and a theme is kept for the console too", async () => {
    const tab = await openTab(browser, app.url)
    const { page } = tab
    await tab.context.grantPermissions(["clipboard-read", "clipboard-write"])
    await page.goto("/docs/quickstart")
    const block = page.locator(".code").first()
    await block.getByRole("button", { name: "Copy" }).click()
    await block.getByRole("button", { name: "Copied" }).waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
      (await block.locator("code").innerText()).trimEnd()
    )
    expect(await page.evaluate(themed)).toBe("light")
    await page.getByRole("button", { name: "Light or dark" }).click()
    expect(await page.evaluate(themed)).toBe("dark")
    await page.goto("/sign-in")
    await page.getByRole("heading", { name: "Sign in" }).waitFor()
    expect(await page.evaluate(themed)).toBe("dark")
    await tab.context.close()
  })

  test("docs, reference and usage are one click away from the console", async () => {
    const tab = await openTab(browser, app.url)
    const { page } = tab
    await signedUp(app, tab, "reader@example.com")
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Usage" }).click()
    await page.getByRole("heading", { level: 1, name: "Usage" }).waitFor()
    await page.getByRole("link", { name: "Docs" }).click()
    await page.getByRole("heading", { level: 1, name: "Docs" }).waitFor()
    await page.getByRole("link", { name: "Console" }).click()
    await page.getByRole("heading", { name: "Home" }).waitFor()
    await page.getByRole("link", { name: "API reference" }).click()
    await page.waitForURL("**/docs/api")
    expect(tab.errors).toEqual([])
    await tab.context.close()
  })
})
