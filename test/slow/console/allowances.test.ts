/** Allowances in the console, in a real browser: given, spent by a program, read and revoked. */
import { describe, expect, test } from "bun:test"
import type { Browser } from "playwright-core"
import { type App, verify } from "../../kit/app.ts"
import { findings, hasBrowser } from "../../console/browser.ts"
import { withConsole } from "../../console/suite.ts"
import { hostile, invited, looked, owner, settled } from "../../console/visitor.ts"

describe.skipIf(!hasBrowser)("allowances in the console", () => {
  let app: App
  let browser: Browser
  withConsole((opened) => {
    app = opened.app
    browser = opened.browser
  })

  test("one is given, its key is shown once, its child names it, and revoking says what returns", async () => {
    const person = await owner(browser, app.url, "allows@example.com")
    const { page } = person
    await person.ask("POST", "/v1/wallet/topups/checkout", { amount: "10.00" })
    await page.goto("/settings/keys")
    await page.getByText("No allowance is in use.").waitFor()
    await page.getByRole("link", { name: "Give an allowance" }).click()
    await settled(person, "Give an allowance")
    await page.getByLabel("Name", { exact: true }).fill(hostile)
    await page.getByLabel("Amount in USD").fill("10.01")
    await page.getByText("Limit what it may run").click()
    await page.getByLabel("May give allowances").check()
    await page.getByLabel("Narrow the list: Capabilities").fill("email.verify")
    await page.getByRole("checkbox", { name: "email.verify", exact: true }).check()
    await page.getByLabel("It ends").selectOption("3600")
    expect(await findings(page)).toEqual([])
    await page.getByRole("button", { name: "Give the allowance" }).click()
    // What was typed stays after a refusal.
    await page.getByRole("alert").getByText("$10.00 is available").waitFor()
    await page.getByText("is more than can be held").waitFor()
    await page.getByLabel("Amount in USD").fill("0.50")
    await page.getByRole("button", { name: "Give the allowance" }).click()
    const shown = page.getByRole("region", { name: "the key of the allowance", exact: true }).locator("pre")
    const api_key = (await shown.textContent()) ?? ""
    expect(api_key).toMatch(/^rg_test_/)
    expect((await person.ask("GET", "/v1/wallet")).available).toBe("9.50")
    await page.getByRole("button", { name: "I have stored the key" }).click()
    await settled(person, "API keys")
    expect(await page.content()).not.toContain(api_key)

    expect((await app.call(api_key, "POST", "/v1/run", { body: verify() })).status).toBe(200)
    const expires_at = new Date(Date.now() + 600_000).toISOString()
    const body = { name: "the child", amount: "0.10", expires_at }
    expect((await app.call(api_key, "POST", "/v1/allowances", { body })).status).toBe(200)
    const [child, parent] = (await person.ask("GET", "/v1/allowances")).items
    await looked(person, "/settings/keys", "allowances", "API keys")
    const table = page.getByRole("region", { name: "Allowances of the organization" })
    const row = (hasText: string) => table.getByRole("row").filter({ hasText })
    await row("the child")
      .getByRole("link", { name: /onerror/ })
      .waitFor()
    await row(parent.display).getByText("$0.003").waitFor()
    await row(parent.display).getByText("$0.397").waitFor()
    await row(parent.display).getByText("only email.verify, gives allowances").waitFor()
    // Its key is in no other list.
    expect(await page.getByText("No key is in use.").count()).toBe(1)

    await row("the child").getByRole("link", { name: "the child" }).click()
    await looked(person, `/settings/keys/${child.id}`, "allowance", "the child")
    await page.getByText("can't be changed or rotated").waitFor()
    expect(await page.getByRole("button", { name: /Rotate|Save/ }).count()).toBe(0)

    await page.goto("/settings/keys")
    await row(parent.display)
      .getByRole("button", { name: /^Revoke/ })
      .click()
    const dialog = page.getByRole("dialog", { name: /^Revoke rg_test_/ })
    await dialog.getByText("$0.397 returns at once to the wallet.").waitFor()
    await dialog.getByText("hold $0.10 more").waitFor()
    expect(await findings(page)).toEqual([])
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
    expect((await app.call(api_key, "GET", "/v1/wallet")).status).toBe(200)
    await row(parent.display)
      .getByRole("button", { name: /^Revoke/ })
      .click()
    await dialog.getByRole("button", { name: "Revoke the allowance" }).click()
    await page.getByText("No allowance is in use.").waitFor()
    expect((await app.call(api_key, "GET", "/v1/wallet")).status).toBe(401)
    expect(await person.ask("GET", "/v1/wallet")).toMatchObject({ reserved: "0.00", available: "9.997" })
    await page.getByLabel("Which keys").selectOption("all")
    await row(parent.display).getByText("ended", { exact: true }).waitFor()
    expect(await table.getByRole("button").count()).toBe(0)
    expect(person.errors).toEqual([])
    await person.context.close()
    await app.books()
  })

  test("a viewer reads them, and a member is refused another's", async () => {
    const person = await owner(browser, app.url, "allows-roles@example.com")
    await person.ask("POST", "/v1/wallet/topups/checkout", { amount: "10.00" })
    const expires_at = new Date(Date.now() + 600_000).toISOString()
    await person.ask("POST", "/v1/allowances", { name: "agent", amount: "0.50", expires_at })
    const viewer = await invited(browser, app.url, person, "views-allowances@example.com", "viewer")
    await viewer.page.goto("/settings/keys")
    await viewer.page.getByRole("link", { name: "agent", exact: true }).waitFor()
    expect(await viewer.page.getByRole("button", { name: /^Revoke/ }).count()).toBe(0)
    expect(await viewer.page.getByRole("link", { name: "Give an allowance" }).count()).toBe(0)
    await viewer.page.goto("/settings/keys/new-allowance")
    await viewer.page.getByText("Your role is viewer.").waitFor()
    const member = await invited(browser, app.url, person, "member-allowances@example.com", "member")
    await member.page.goto("/settings/keys")
    await member.page.getByRole("button", { name: "Revoke the allowance agent" }).click()
    await member.page.getByRole("dialog").getByRole("button", { name: "Revoke the allowance" }).click()
    await member.page.getByText("A member may revoke only allowances that they created.").waitFor()
    expect([viewer, member].flatMap(({ errors }) => errors)).toEqual([])
    for (const one of [viewer, member, person]) await one.context.close()
  })
})
