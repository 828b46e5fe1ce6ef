/** Links that people get by mail or from a colleague, opened in a browser: the console answers them. */
import { describe, expect, test } from "bun:test"
import type { Browser } from "playwright-core"
import type { App } from "../../kit/app.ts"
import { hasBrowser, openTab } from "../../console/browser.ts"
import { withConsole } from "../../console/suite.ts"
import { lookedAt } from "../../console/visit.ts"
import { opened, visit } from "../../console/visits.ts"

describe.skipIf(!hasBrowser)("links in a browser", () => {
  let app: App
  let browser: Browser
  withConsole((opened) => {
    app = opened.app
    browser = opened.browser
  })

  test("an invitation says what it is for, and makes a member", async () => {
    const owner = await visit(app, browser, "owner@links.example")
    const { link } = await owner.send("POST", "/v1/invitations", { email: "ada@links.example", role: "viewer" })
    await owner.context.close()
    const { pathname, search } = new URL(link)
    const tab = await openTab(browser, app.url)
    const { page } = tab
    await opened(tab, `${pathname}${search}`, "Join an organization")
    await page.getByText("You can join Acme as a viewer").waitFor()
    await page.getByText("The invitation is for ada@links.example").waitFor()
    await lookedAt(tab, "join-organization")
    await page.getByLabel("Password").fill("correct horse battery")
    await page.getByRole("button", { name: "Join" }).click()
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor()
    expect(tab.errors).toEqual([])
    await tab.context.close()
  })

  test("a used or invented invitation says so", async () => {
    const tab = await openTab(browser, app.url)
    await opened(tab, "/join-organization?token=rg_join_nothing", "Join an organization")
    await tab.page.getByRole("alert").getByText("is not a valid invitation").waitFor()
    await tab.context.close()
  })

  test("a referral link fills its code in, and says what it gives", async () => {
    const owner = await visit(app, browser, "referrer@links.example")
    const { link, code } = await owner.send("GET", "/v1/referrals")
    await owner.context.close()
    const tab = await openTab(browser, app.url)
    await opened(tab, new URL(link).pathname, "You are invited to Rungate")
    expect(await tab.page.getByLabel("Referral code (optional)").inputValue()).toBe(code)
    await tab.page.getByText("An organization that signs up with this code").waitFor()
    await tab.context.close()
  })

  test("the start page names what can be run, and from which price", async () => {
    const tab = await openTab(browser, app.url)
    await opened(tab, "/", "One API and one prepaid wallet")
    const { page } = tab
    await page.getByRole("heading", { name: /\d+ capabilities of \d+ providers/ }).waitFor()
    // How far that number was tried stands beside it, here and in the catalog.
    const untried = page.getByText("No adapter has been tried against a paid account yet.")
    await untried.waitFor()
    await page.getByRole("link", { name: "How each was verified" }).waitFor()
    await page.getByRole("figure", { name: "An example of a run" }).getByText("email.find", { exact: true }).waitFor()
    const long = page.getByText("Look up an entity in government registers")
    expect(await long.evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true)
    await lookedAt(tab, "start-offer")
    await tab.context.close()
  })
})
