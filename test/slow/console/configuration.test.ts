/** The page of the configuration as code, in a real browser. */
import { describe, expect, test } from "bun:test"
import type { Browser } from "playwright-core"
import type { App } from "../../kit/app.ts"
import { hasBrowser } from "../../console/browser.ts"
import { withConsole } from "../../console/suite.ts"
import { looked, owner } from "../../console/visitor.ts"

describe.skipIf(!hasBrowser)("the page of the configuration as code", () => {
  let app: App
  let browser: Browser
  withConsole((opened) => {
    app = opened.app
    browser = opened.browser
  })

  test("a mistake has its line, and a file is shown, applied with its secret, and changes nothing again", async () => {
    const person = await owner(browser, app.url, "code@example.com")
    const { page } = person
    await looked(person, "/settings/code", "configuration", "As code")
    const file = page.getByLabel("Configuration", { exact: true })
    const show = page.getByRole("button", { name: "Show the changes" })
    await file.fill("keys:\n  - name: agent\n    budgt: 5\n")
    await show.click()
    await page.getByText("Line 3: keys[0].budgt: Unknown field `budgt`.").waitFor()
    await file.fill('keys:\n  - name: agent\n    budget: { limit: "5.00", period: day }\n')
    await show.click()
    const changes = page.getByRole("region", { name: "Changes: 1" })
    await changes.getByText("budget: limit $5.00, period day").waitFor()
    // What is shown was compared without pruning.
    await page.getByLabel("Revoke or remove what a section does not name").check()
    await changes.waitFor({ state: "hidden" })
    await page.getByLabel("Revoke or remove what a section does not name").uncheck()
    await show.click()
    await changes.getByRole("button", { name: "Apply…" }).click()
    await page.getByRole("button", { name: "Apply", exact: true }).click()
    const secret = page.getByRole("region", { name: /The secret of agent/ })
    expect(await secret.textContent()).toMatch(/rg_test_\w{43}/)
    // Another file is applied before the secret is stored.
    await file.fill("keys:\n  - name: other\n")
    await show.click()
    await changes.getByText("+ keys other").waitFor()
    await changes.getByRole("button", { name: "Apply…" }).click()
    await page.getByRole("button", { name: "Apply", exact: true }).click()
    const other = page.getByRole("region", { name: /The secret of other/ })
    await other.getByRole("button", { name: "I have stored it" }).click()
    expect(await secret.textContent()).toMatch(/rg_test_\w{43}/)
    await secret.getByRole("button", { name: "I have stored it" }).click()
    expect(await page.content()).not.toContain("rg_test_")
    await show.click()
    await page.getByRole("region", { name: "Nothing to change" }).waitFor()
  })
})
