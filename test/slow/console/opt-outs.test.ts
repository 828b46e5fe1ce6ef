/** The list of opt-outs in a real browser: what an import has left out, and the export of somebody who may only read. */
import { describe, expect, test } from "bun:test"
import type { Browser } from "playwright-core"
import type { App } from "../../kit/app.ts"
import { hasBrowser } from "../../console/browser.ts"
import { withConsole } from "../../console/suite.ts"
import { hostile, invited, owner } from "../../console/visitor.ts"

describe.skipIf(!hasBrowser)("the page of opt-outs", () => {
  let app: App
  let browser: Browser
  withConsole((opened) => {
    app = opened.app
    browser = opened.browser
  })

  test("names rows of an import that have no value, and lets a viewer export", async () => {
    const person = await owner(browser, app.url, "opts-out@example.com")
    const { page } = person
    await page.goto("/settings/opt-outs")
    const buffer = Buffer.from(`value\nada@example.com\n"${hostile.replaceAll('"', '""')}"\n`)
    await page.locator("input[type=file]").setInputFiles({ name: "list.csv", mimeType: "text/csv", buffer })
    await page.getByRole("button", { name: "Import the file" }).click()
    await page.getByText("Added 1. The list had 0 already. 1 row has no value that can be read:").first().waitFor()
    await page.getByText(`row 2: ${JSON.stringify(hostile)} is no address, domain, phone number or profile`).waitFor()
    const viewer = await invited(browser, app.url, person, "views-opt-outs@example.com", "viewer")
    await viewer.page.goto("/settings/opt-outs")
    await viewer.page.getByText("Your role is viewer.").waitFor()
    const saved = viewer.page.waitForEvent("download")
    await viewer.page.getByRole("button", { name: "Export the list" }).click()
    expect((await saved).suggestedFilename()).toBe("opt-outs.csv")
    expect(await viewer.page.getByRole("button", { name: "Import the file" }).count()).toBe(0)
    expect([...person.errors, ...viewer.errors]).toEqual([])
    for (const one of [viewer, person]) await one.context.close()
  })
})
