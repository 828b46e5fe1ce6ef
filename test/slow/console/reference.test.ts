/** The API reference at /docs/api, in a browser: it shows the operations, keeps its policy, and asks no other origin. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { Browser } from "playwright-core"
import { hasBrowser, openBrowser, openTab } from "../../console/browser.ts"
import { screenshot } from "../../console/screenshots.ts"
import { withApp } from "../../kit/app.ts"
import { testMillis } from "../../kit/slowness.ts"

const app = withApp()

describe.skipIf(!hasBrowser)("the API reference", () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())

  test("shows the API, keeps its policy and asks no other origin", async () => {
    const tab = await openTab(browser, app.url)
    const { page } = tab
    page.setDefaultTimeout(testMillis)
    const elsewhere: Array<string> = []
    page.on("request", (request) => {
      const { origin, protocol } = new URL(request.url())
      if (origin !== app.url && !["data:", "blob:"].includes(protocol)) elsewhere.push(request.url())
    })
    await page.goto("/docs/api")
    await page.getByRole("heading", { name: "Run a capability or a raw endpoint" }).first().waitFor()
    await screenshot(page, "reference")
    // What leads to the makers of the page.
    for (const foreign of ["Share", "Generate SDKs", "Ask AI", "Open API Client", "Deploy", "Powered by Scalar"])
      expect([foreign, await page.getByText(foreign, { exact: true }).filter({ visible: true }).count()]).toEqual([
        foreign,
        0
      ])
    await page.evaluate(() => document.fonts.ready)
    expect([elsewhere, tab.errors]).toEqual([[], []])
    await page.getByRole("link", { name: "Docs", exact: true }).click()
    await page.waitForURL("**/docs")
    await page.evaluate(() => localStorage.setItem("rungate.theme", "dark"))
    await page.goto("/docs/api")
    await page.locator("body.dark-mode").waitFor()
    await screenshot(page, "reference-dark")
    await tab.context.close()
  })
})
