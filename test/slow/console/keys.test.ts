/** The pages of API keys in a real browser. */
import { describe, expect, test } from "bun:test"
import type { Browser, Page } from "playwright-core"
import { type App, verify } from "../../kit/app.ts"
import { findings, hasBrowser } from "../../console/browser.ts"
import { withConsole } from "../../console/suite.ts"
import { hostile, invited, looked, owner, settled } from "../../console/visitor.ts"

describe.skipIf(!hasBrowser)("the pages of API keys", () => {
  let app: App
  let browser: Browser
  withConsole((opened) => {
    app = opened.app
    browser = opened.browser
  })

  const shownKey = async (page: Page, label: string) =>
    (await page.getByRole("region", { name: label, exact: true }).locator("pre").textContent()) ?? ""

  test("somebody makes a key with budget and scope, and it obeys them", async () => {
    const person = await owner(browser, app.url, "keys@example.com")
    const { page } = person
    await person.ask("POST", "/v1/wallet/topups/checkout", { amount: "25.00" })
    await looked(person, "/settings/keys", "keys-empty", "API keys")
    await page.getByRole("link", { name: "Create a key" }).first().click()
    await settled(person, "Create an API key")
    await page.getByLabel("Name", { exact: true }).fill(hostile)
    await page.getByLabel("Budget in USD").fill("5.00")
    await page.getByLabel("Period of the budget").selectOption({ label: "per calendar month" })
    await page.getByText("Limit what the key may run").click()
    await page.getByLabel("Narrow the list: Capabilities").fill("email.verify")
    await page.getByRole("checkbox", { name: "email.verify", exact: true }).check()
    await page.getByLabel("Narrow the list: Capabilities").fill("")
    await page.getByText("1 chosen").waitFor()
    await page.getByLabel("Most that one run may hold").fill("0.5")
    expect(await findings(page)).toEqual([])
    await page.getByRole("button", { name: "Create the key" }).click()
    const api_key = await shownKey(page, "the API key")
    expect(api_key).toMatch(/^rg_test_/)
    const run = await app.call(api_key, "POST", "/v1/run", { body: verify() })
    expect(run.status).toBe(200)
    const other = { capability: "email.find", input: { full_name: "Ada Lovelace", company_domain: "example.com" } }
    expect((await app.call(api_key, "POST", "/v1/run", { body: other })).status).toBe(403)
    await page.getByRole("button", { name: "I have stored the key" }).click()
    await page.waitForURL(/settings\/keys\/key_/)
    // The address changes before the page does.
    await page.locator("pre", { hasText: api_key }).waitFor({ state: "detached" })
    expect(await page.content()).not.toContain(api_key)
    await looked(person, new URL(page.url()).pathname, "key", /onerror/)
    await page.getByText("of $5.00 per month").waitFor()
    await page.getByText("only email.verify, at most $0.50 per run").waitFor()
    expect(person.errors).toEqual([])
    await person.context.close()
  })

  test("rules change, rotation shows the new key until it is stored, and revocation asks", async () => {
    const person = await owner(browser, app.url, "rotates@example.com")
    const { page } = person
    const made = await person.ask("POST", "/v1/api-keys", {
      name: "agent",
      environment: "test",
      budget: { limit: "1.00", period: "day" }
    })
    await page.goto(`/settings/keys/${made.id}`)
    await settled(person, "agent")
    await page.getByLabel("Budget in USD").fill("many")
    await page.getByRole("button", { name: "Save the rules" }).click()
    expect(await page.getByLabel("Budget in USD").evaluate((field) => field.matches(":invalid"))).toBe(true)
    await page.getByLabel("Budget in USD").fill("")
    await page.getByLabel("Works until").fill("2020-01-01T12:00")
    await page.getByRole("button", { name: "Save the rules" }).click()
    await page.getByText("must be in the future").first().waitFor()
    await page.getByLabel("Works until").fill("2096-01-31T12:00")
    await page.getByRole("button", { name: "Save the rules" }).click()
    await page.getByText("Saved. The next run obeys these rules.").waitFor()
    expect(await person.ask("GET", `/v1/api-keys/${made.id}`)).toMatchObject({
      budget: null,
      allow: null,
      expires_at: await page.evaluate(() => new Date("2096-01-31T12:00").toISOString())
    })

    await page.getByRole("button", { name: "Rotate the key" }).click()
    const dialog = page.getByRole("dialog", { name: /^Rotate rg_test_/ })
    await dialog.getByLabel("The old key works").selectOption("0")
    expect(await findings(page)).toEqual([])
    await dialog.getByRole("button", { name: "Rotate the key" }).click()
    const replaced = await shownKey(page, "the new API key")
    expect((await app.call(made.api_key, "GET", "/v1/wallet")).status).toBe(401)
    expect((await app.call(replaced, "GET", "/v1/wallet")).status).toBe(200)
    expect(await person.ask("GET", `/v1/api-keys/${made.id}`)).toMatchObject({
      replaced_by: expect.stringMatching(/^key_/)
    })
    await page.getByRole("button", { name: "I have stored the new key" }).click()
    await page.getByRole("button", { name: "Revoke the key" }).click()
    const revokes = page.getByRole("dialog", { name: /^Revoke rg_test_/ })
    await page.keyboard.press("Escape")
    await revokes.waitFor({ state: "detached" })
    expect((await app.call(replaced, "GET", "/v1/wallet")).status).toBe(200)
    await page.getByRole("button", { name: "Revoke the key" }).click()
    await revokes.getByRole("button", { name: "Revoke the key" }).click()
    await page.getByText("revoked", { exact: true }).waitFor()
    expect((await app.call(replaced, "GET", "/v1/wallet")).status).toBe(401)
    expect(await page.getByRole("button", { name: "Save the rules" }).count()).toBe(0)

    await page.goto("/settings/keys")
    await page.getByText("No key is in use.").waitFor()
    await page.getByLabel("Which keys").selectOption("all")
    await page.waitForURL(/show=all/)
    await page.getByRole("link", { name: "agent" }).nth(1).waitFor()
    await looked(person, "/settings/keys?show=all", "keys", "API keys")
    await page.locator("h1").click()
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    await page.waitForURL(/settings\/keys\/key_/)
    expect(person.errors).toEqual([])
    await person.context.close()
  })

  test("a viewer reads keys, a member is refused another's key, and nobody sees another organization's", async () => {
    const person = await owner(browser, app.url, "roles@example.com")
    const { id } = await person.ask("POST", "/v1/api-keys", { name: "agent", environment: "test" })
    const viewer = await invited(browser, app.url, person, "views-keys@example.com", "viewer")
    await viewer.page.goto(`/settings/keys/${id}`)
    await settled(viewer, "agent")
    await viewer.page.getByText("Your role is viewer.").waitFor()
    expect(await viewer.page.getByRole("button", { name: /Rotate|Revoke|Save/ }).count()).toBe(0)
    await viewer.page.goto("/settings/keys/new")
    await viewer.page.getByText("A member, an admin or an owner can create an API key.").waitFor()
    const member = await invited(browser, app.url, person, "member-keys@example.com", "member")
    await member.page.goto(`/settings/keys/${id}`)
    await member.page.getByRole("button", { name: "Revoke the key" }).click()
    await member.page.getByRole("dialog").getByRole("button", { name: "Revoke the key" }).click()
    await member.page.getByText("A member may revoke only keys that they created.").waitFor()
    const stranger = await owner(browser, app.url, "stranger@example.com")
    await stranger.page.goto(`/settings/keys/${id}`)
    await stranger.page.getByText(`There is no API key "${id}".`).waitFor()
    expect(await findings(stranger.page)).toEqual([])
    expect([viewer, member, stranger].flatMap(({ errors }) => errors)).toEqual([])
    for (const one of [viewer, member, stranger, person]) await one.context.close()
  })
})
