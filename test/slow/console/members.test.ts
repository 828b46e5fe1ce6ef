/** The pages of people in a real browser: members and invitations, audit log, senders, referrals. */
import { describe, expect, test } from "bun:test"
import type { Browser } from "playwright-core"
import type { App } from "../../kit/app.ts"
import { findings, hasBrowser } from "../../console/browser.ts"
import { withConsole } from "../../console/suite.ts"
import { hostile, invited, looked, owner, settled } from "../../console/visitor.ts"

describe.skipIf(!hasBrowser)("the pages of people", () => {
  let app: App
  let browser: Browser
  withConsole((opened) => {
    app = opened.app
    browser = opened.browser
  })

  test("an owner invites somebody, changes the role, and removes the member", async () => {
    const person = await owner(browser, app.url, "owns@example.com")
    const { page } = person
    await looked(person, "/settings/members", "members", "Members")
    await page.getByLabel("E-mail address").fill("joins@example.com")
    await page.getByLabel("Role", { exact: true }).selectOption("viewer")
    await page.getByRole("button", { name: "Make a link to send" }).click()
    const link = await page
      .getByRole("region", { name: "the link of the invitation", exact: true })
      .locator("pre")
      .textContent()
    const guest = await browser.newContext({ baseURL: app.url })
    const joins = await guest.newPage()
    await joins.goto(new URL(link ?? "").pathname + new URL(link ?? "").search)
    await joins.getByLabel("Password").fill("correct horse battery")
    await joins.getByRole("button", { name: "Join" }).click()
    await joins.getByRole("heading", { level: 1, name: "Home" }).waitFor()
    await page.getByRole("button", { name: "I have sent the link" }).click()
    await page.reload()
    await page.getByLabel("Role of joins@example.com").selectOption("admin")
    const asks = page.getByRole("dialog", { name: "Make joins@example.com an admin?" })
    expect(await findings(page)).toEqual([])
    await asks.getByRole("button", { name: "Cancel" }).click()
    expect(await page.getByLabel("Role of joins@example.com").inputValue()).toBe("viewer")
    await page.getByLabel("Role of joins@example.com").selectOption("admin")
    await asks.getByRole("button", { name: "Make an admin" }).click()
    await asks.waitFor({ state: "detached" })
    await page.waitForFunction(() =>
      Array.from(document.querySelectorAll("select")).some((one) => one.value === "admin")
    )
    await joins.goto("/settings/audit-log")
    await joins.getByText("Member changed").waitFor()

    // An organization keeps an owner, so its only one is offered no other role, and not to leave.
    await page.getByRole("cell", { name: "owner, the only one" }).waitFor()
    expect(await page.getByLabel("Role of owns@example.com").count()).toBe(0)
    expect(await page.getByRole("button", { name: "Leave" }).count()).toBe(0)
    await page.setViewportSize({ width: 360, height: 740 })
    const remove = await page.getByRole("button", { name: "Remove joins@example.com" }).boundingBox()
    expect((remove?.x ?? 360) + (remove?.width ?? 0)).toBeLessThan(344)
    await page.getByRole("button", { name: "Remove joins@example.com" }).click()
    await page.getByRole("dialog", { name: "Remove joins@example.com?" }).getByLabel("Keep the API keys").check()
    await page.getByRole("button", { name: "Remove the member" }).click()
    await page.getByLabel("Role of joins@example.com").waitFor({ state: "detached" })
    await joins.reload()
    await joins.getByLabel("E-mail address").waitFor()
    expect(person.errors).toEqual([])
    await guest.close()
    await person.context.close()
  })

  test("invitations are listed and withdrawn, and a viewer only sees people", async () => {
    const person = await owner(browser, app.url, "invites@example.com")
    const { page } = person
    await person.ask("POST", "/v1/invitations", { email: "waits@example.com", role: "member" })
    const viewer = await invited(browser, app.url, person, "sees@example.com", "viewer")
    await page.goto("/settings/members")
    await page.getByRole("button", { name: "Withdraw the invitation of waits@example.com" }).click()
    await page
      .getByRole("dialog", { name: "Withdraw the invitation of waits@example.com?" })
      .getByRole("button", { name: "Withdraw the invitation" })
      .click()
    await page.getByText("Invitations that nobody has accepted yet will be here.").waitFor()

    // A service that mails the link does not answer with it, and the form stays for the next person.
    await page.route("**/v1/invitations", async (route) => {
      if (route.request().method() !== "POST") return route.continue()
      const answer = await route.fetch()
      const { link: _link, ...invitation } = await answer.json()
      return route.fulfill({ response: answer, json: invitation })
    })
    await page.getByLabel("E-mail address").fill("mailed@example.com")
    await page.getByRole("button", { name: "Make a link to send" }).click()
    await page.getByText("The invitation is on its way to mailed@example.com.").first().waitFor()
    await page.getByRole("button", { name: "Make a link to send" }).waitFor()
    await page.unroute("**/v1/invitations")
    await looked(viewer, "/settings/members", "members-viewer", "Members")
    await viewer.page.getByText("An admin or an owner can invite a person.").waitFor()
    expect(await viewer.page.getByRole("combobox").count()).toBe(0)
    await viewer.page.goto("/settings/audit-log")
    await viewer.page.getByText("An admin or an owner can list changes.").waitFor()
    await viewer.page.goto("/settings/members")
    await viewer.page.getByRole("button", { name: "Leave" }).click()
    await viewer.page.getByRole("button", { name: "Leave the organization" }).click()
    await viewer.page.waitForURL(/sign-in/)
    expect([...person.errors, ...viewer.errors]).toEqual([])
    await viewer.context.close()
    await person.context.close()
  })

  test("the audit log: who changed what, by filters in the address", async () => {
    const person = await owner(browser, app.url, "audited@example.com")
    const { page } = person
    await person.ask("POST", "/v1/api-keys", { name: hostile, environment: "test" })
    await person.ask("POST", "/v1/spend-guard", { daily_limit: "5.00" })
    await person.ask("POST", "/v1/api-keys", {
      name: "budgeted",
      environment: "test",
      budget: { limit: "25.00", period: "month" }
    })
    await looked(person, "/settings/audit-log", "audit-log", "Audit log")
    await page.getByText("API key created").first().waitFor()
    const budget = page.getByRole("row").filter({ hasText: "Budget of a key created" })
    await budget.getByText("$25.00").waitFor()
    await budget.getByText("Amount:").waitFor()
    await page.getByText("<img src=x onerror=alert(1)>").first().waitFor()
    await page.getByRole("combobox", { name: "What was changed" }).selectOption("spend_guard")
    await page.waitForURL(/action=spend_guard/)
    await page.getByText("API key created").first().waitFor({ state: "detached" })
    await page.getByText("Spend guard changed").waitFor()
    await page.locator("h1").click()
    await page.keyboard.press("/")
    await page.keyboard.type("nobody@example.com")
    await page.keyboard.press("Enter")
    await page.getByText("No change matches these filters.").waitFor()
    await page.getByRole("link", { name: "Show all changes" }).click()
    await page.getByText("API key created").first().waitFor()
    const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
    await page.goto(`/settings/audit-log?from=${day(1)}&to=${day(0)}`)
    await page.getByText("API key created").first().waitFor()
    expect(person.errors).toEqual([])
    await person.context.close()
  })

  test("account: sessions are listed, and another one is ended", async () => {
    const person = await owner(browser, app.url, "sessions@example.com")
    const { page } = person
    const elsewhere = await app.call(null, "POST", "/v1/auth/sign-in", {
      body: { email: "sessions@example.com", password: "correct horse battery" }
    })
    await looked(person, "/settings/account", "account-sessions", "Account")
    await page.getByText("this browser").waitFor()
    await page.getByRole("button", { name: /^End the session that began at/ }).click()
    await page.getByRole("button", { name: /^End the session that began at/ }).waitFor({ state: "detached" })
    expect((await app.call(elsewhere.body.session_token, "GET", "/v1/wallet")).status).toBe(401)
    expect((await person.ask("GET", "/v1/auth/sessions")).items).toHaveLength(1)
    expect(person.errors).toEqual([])
    await person.context.close()
  })

  test("senders: a domain is added, verified and removed", async () => {
    const person = await owner(browser, app.url, "sends@example.com")
    const { page } = person
    await page.goto("/settings/senders")
    await page.getByText("Your domains will be here").waitFor()
    await page.getByRole("textbox", { name: "Domain" }).fill("<script>alert(1)</script>")
    await page.getByRole("button", { name: "Add the domain" }).click()
    await page.getByRole("alert").waitFor()
    await page.getByRole("textbox", { name: "Domain" }).fill("acme-shop.com")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { level: 2, name: "acme-shop.com" }).waitFor()
    await looked(person, "/settings/senders", "senders", "Senders")
    await page.getByRole("button", { name: "Verify the DNS record" }).click()
    await page.getByText("verified", { exact: true }).waitFor()
    await page.getByRole("button", { name: "Remove the domain" }).click()
    await page
      .getByRole("dialog", { name: "Remove acme-shop.com?" })
      .getByRole("button", { name: /^Remove/ })
      .click()
    await page.getByText("Your domains will be here").waitFor()
    expect(person.errors).toEqual([])
    await person.context.close()
  })

  test("referrals: the code, and who signed up with it", async () => {
    const person = await owner(browser, app.url, "refers@example.com")
    const { page } = person
    const { code } = await person.ask("GET", "/v1/referrals")
    await looked(person, "/settings/referrals", "referrals-empty", "Referrals")
    await page.getByText(code, { exact: true }).waitFor()
    const signedUp = await app.call(null, "POST", "/v1/auth/sign-up", {
      body: {
        email: "referred@example.com",
        password: "correct horse battery",
        organization: hostile,
        referral_code: code
      }
    })
    expect(signedUp.status).toBe(200)
    await looked(person, "/settings/referrals", "referrals", "Referrals")
    await settled(person, "Referrals")
    await page.getByRole("cell", { name: /onerror/ }).waitFor()
    await page.getByRole("cell", { name: "pending" }).waitFor()
    expect(person.errors).toEqual([])
    await person.context.close()
  })
})
