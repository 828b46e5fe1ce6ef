/** The first steps of somebody new, in a real browser. It is the only test of the fast tier that needs one; test/slow/console has the others. */
import { describe, expect, test } from "bun:test"
import type { Browser } from "playwright-core"
import type { App } from "../kit/app.ts"
import { hasBrowser, openTab } from "./browser.ts"
import { screenshot } from "./screenshots.ts"
import { withConsole } from "./suite.ts"
import { signedUp } from "./visit.ts"

describe.skipIf(!hasBrowser)("the console", () => {
  let app: App
  let browser: Browser
  withConsole((opened) => {
    app = opened.app
    browser = opened.browser
  })

  test("somebody signs up, makes the first key, tops up, runs, and the checklist goes away", async () => {
    const tab = await openTab(browser, app.url)
    const { page } = tab
    await signedUp(app, tab, "first@example.com")
    expect(await page.evaluate(() => document.cookie)).toBe("")
    await page.getByRole("button", { name: "Create the key" }).click()
    const key = (await page.getByRole("region", { name: "the API key" }).locator("pre").textContent()) ?? ""
    expect(key).toMatch(/^rg_test_/)
    await screenshot(page, "first-key")
    await page.getByRole("button", { name: "I have stored the key" }).click()
    await page.getByRole("button", { name: "Credit a simulated amount" }).click()
    await page.getByText("Top up the wallet (done)").waitFor()
    const run = await app.call(key, "POST", "/v1/run", {
      body: { capability: "email.verify", input: { email: "jane.doe@example.com" } }
    })
    expect(run.status).toBe(200)
    await page.reload()
    await page
      .getByRole("heading", { name: "Spending of 7 days" })
      .or(page.getByText("Spending and runs by day"))
      .waitFor()
    await page.getByText("First steps").waitFor({ state: "detached" })
    expect(tab.errors).toEqual([])
    await tab.context.close()
  })
})
