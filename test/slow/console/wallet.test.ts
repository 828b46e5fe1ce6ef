/** The pages of money in a real browser: wallet, usage and spend guard. */
import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import type { Browser, Page } from "playwright-core"
import { type App, verify } from "../../kit/app.ts"
import { findings, hasBrowser } from "../../console/browser.ts"
import { withConsole } from "../../console/suite.ts"
import { hostile, invited, looked, owner, settled, type Visitor } from "../../console/visitor.ts"

/** Clicks, and returns name and text of the file that the page saves. */
const saved = async (page: Page, click: () => Promise<void>) => {
  const [download] = await Promise.all([page.waitForEvent("download"), click()])
  return { name: download.suggestedFilename(), text: readFileSync(await download.path(), "utf8") }
}

describe.skipIf(!hasBrowser)("the pages of money", () => {
  let app: App
  let browser: Browser
  withConsole((opened) => {
    app = opened.app
    browser = opened.browser
  })

  /** Pays in, and runs twice with a key. */
  const withRuns = async (person: Visitor) => {
    await person.ask("POST", "/v1/wallet/topups/checkout", { amount: "25.00" })
    const { api_key } = await person.ask("POST", "/v1/api-keys", { name: hostile, environment: "test" })
    const run = async (local: string, more = {}) =>
      (
        await app.call(api_key, "POST", "/v1/run", {
          body: { ...verify(local), metadata: { campaign: "spring <script>" }, ...more }
        })
      ).body.run_id
    return [await run("first.one"), await run("second.one"), run] as const
  }

  test("an empty wallet: somebody pays in, and the entry comes into the ledger", async () => {
    const person = await owner(browser, app.url, "pays@example.com")
    const { page } = person
    await looked(person, "/wallet", "wallet-empty", "Wallet")
    await page.getByText("Every movement of money will be here").waitFor()
    await page.getByText("Your books add up").waitFor()
    await page.getByLabel("Amount in USD").fill("3.00")
    await page.getByRole("button", { name: "Credit a simulated amount" }).click()
    await page.getByText("must be at least 10.00").first().waitFor()
    await page.getByLabel("Amount in USD").fill("25.00")
    await page.getByRole("button", { name: "Credit a simulated amount" }).click()
    await page.getByRole("button", { name: "Show new entries" }).click()
    await page
      .getByRole("cell", { name: /simulated/ })
      .first()
      .waitFor()
    await page.getByRole("button", { name: "Save the signed hash of each day" }).click()
    await page.getByText("There is nothing to save yet.").first().waitFor()
    expect(person.errors).toEqual([])
    await person.context.close()
  })

  test("the ledger: running balance, filters in the address, files to keep", async () => {
    const person = await owner(browser, app.url, "ledger@example.com")
    const { page } = person
    const [first] = await withRuns(person)
    await looked(person, "/wallet", "wallet", "Wallet")
    const { items } = await person.ask("GET", "/v1/wallet/transactions?limit=200")
    const rows = page.getByRole("table").filter({ hasText: "Balance" }).last().locator("tbody tr")
    // The three entries of a run are one row, which says what it held, charged and released.
    const references: ReadonlyArray<string> = items.map(({ reference }: { readonly reference: string }) => reference)
    expect(await rows.count()).toBe(new Set(references).size)
    expect(items.length).toBeGreaterThan(new Set(references).size)
    const steps = rows.filter({ hasText: first }).getByRole("list", { name: "Steps of the run" }).getByRole("listitem")
    expect((await steps.allTextContents()).map((step) => /hold|charge|release/.exec(step)?.[0])).toEqual([
      "hold",
      "charge",
      "release"
    ])
    await page.getByLabel("Type of entry").selectOption("settle")
    await page.waitForURL(/type=settle/)
    await rows.filter({ hasText: "hold" }).first().waitFor({ state: "detached" })
    expect(await rows.count()).toBe(2)
    await page.getByLabel("Only entries of the run with this id").fill(first)
    await page.keyboard.press("Enter")
    await page.waitForURL(new RegExp(`run=${first}`))
    await page.getByRole("link", { name: first }).waitFor()
    const file = await saved(page, () => page.getByRole("button", { name: "Export CSV" }).click())
    expect([file.name, file.text.trim().split("\n").length]).toEqual(["transactions.csv", 2])
    // A list that is cut says so beside the button.
    await page.route("**/v1/wallet/transactions?*", async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, headers: { ...response.headers(), link: '</v1/next>; rel="next"' } })
    })
    await saved(page, () => page.getByRole("button", { name: "Export CSV" }).click())
    await page.getByRole("main").getByText("Saved the first 10,000 rows.").waitFor()
    await page.unroute("**/v1/wallet/transactions?*")
    const receipt = await saved(page, () => page.getByRole("button", { name: `Save the receipt of ${first}` }).click())
    expect([receipt.name, receipt.text.split(".").length]).toEqual([`${first}.jws`, 3])
    const chain = await saved(page, () =>
      page.getByRole("button", { name: "Save all entries with their hashes" }).click()
    )
    expect([chain.name, chain.text.trim().split("\n").length]).toEqual(["ledger-chain.jsonl", items.length])
    await page.getByLabel("Only entries of the run with this id").fill(hostile)
    await page.keyboard.press("Enter")
    await page.getByText("query.run_id is not the id of a run").waitFor()
    await page.getByLabel("Only entries of the run with this id").fill("")
    await page.keyboard.press("Enter")
    await page.getByRole("link", { name: first }).waitFor()
    await page.getByRole("button", { name: "Recompute now" }).click()
    await page.getByText("All hashes were computed again, and match.").waitFor()
    await page.getByText("The sums", { exact: true }).click()
    await page.getByRole("table", { name: "Balance: the sum of these entries" }).waitFor()
    expect(await findings(page)).toEqual([])
    expect(person.errors).toEqual([])
    await person.context.close()
  })

  test("the automatic top-up: set, and its last error as a banner", async () => {
    const person = await owner(browser, app.url, "auto@example.com")
    const { page } = person
    await page.goto("/wallet")
    await page.getByLabel("Charge the saved payment method").check()
    await page.getByLabel("When the balance is below").fill("5.00")
    await page.getByLabel("Charge, in USD").fill("20.00")
    await page.getByRole("button", { name: "Save the automatic top-up" }).click()
    await page.getByText("needs a completed checkout").waitFor()
    await person.ask("POST", "/v1/wallet/topups/checkout", { amount: "25.00" })
    await page.getByRole("button", { name: "Save the automatic top-up" }).click()
    await page.getByText("Saved: $20.00 is charged when the balance is below $5.00.").waitFor()
    const { organization } = await person.ask("GET", "/v1/auth/session")
    await app.sql("UPDATE auto_topups SET last_error = $2 WHERE org_id = $1", [organization.id, hostile])
    await looked(person, "/wallet", "wallet-declined", "Wallet")
    const banner = page.getByRole("region", { name: "The automatic top-up failed" })
    expect(await banner.textContent()).toContain("<img src=x onerror=alert(1)>")
    expect(person.errors).toEqual([])
    await person.context.close()
  })

  test("usage by two groups, as chart, table and file", async () => {
    const person = await owner(browser, app.url, "usage@example.com")
    const { page } = person
    await page.goto("/usage")
    await page.getByText("No run ended in this time.").waitFor()
    const [, , run] = await withRuns(person)
    await run("first.one", { reuse: { mode: "prefer" } })
    await page.reload()
    await page.getByText("1 run of this time reused an earlier result, which saved $0.003.").waitFor()
    await looked(person, "/usage", "usage", "Usage")
    await page.getByText("Charged by day as a table").waitFor()
    await page.getByLabel("Group by").selectOption("capability")
    await page.waitForURL(/by=capability/)
    await page.getByRole("link", { name: "email.verify" }).waitFor()
    await page.getByLabel("and by").selectOption("label")
    await page.getByLabel("Name of the label").fill("campaign")
    await page.getByRole("button", { name: "Group by this label" }).click()
    await page.waitForURL(/and=metadata.campaign/)
    await page.getByRole("cell", { name: "spring <script>" }).waitFor()
    await page.getByText("3 runs").waitFor()
    const file = await saved(page, () => page.getByRole("button", { name: "Export CSV" }).click())
    expect([file.name, file.text.split("\n")[0]]).toEqual([
      "usage.csv",
      "capability,metadata.campaign,runs,succeeded,no_match,failed,charged"
    ])
    expect(await findings(page)).toEqual([])
    await page.getByRole("link", { name: "email.verify" }).click()
    await page.waitForURL(/activity\?.*capability=email.verify/)
    await page.goto("/usage?from=2026-02-01&to=2026-01-01")
    await page.getByRole("alert").filter({ hasText: "must leave at least one day" }).waitFor()
    expect(person.errors).toEqual([])
    await person.context.close()
  })

  test("the spend guard: limits are set, refused and removed, and viewers only read them", async () => {
    const person = await owner(browser, app.url, "guards@example.com")
    const { page } = person
    await looked(person, "/settings/guard", "guard", "Spend guard")
    await page.getByLabel("Most that all runs may be charged").fill("5")
    await page.getByLabel("Balance below which you are told").fill("2.5")
    await page.getByLabel("Days within which nobody is contacted twice").fill("30")
    await page.getByRole("button", { name: "Save the limits" }).click()
    await page.getByText("Saved. The next run obeys these limits.").waitFor()
    expect(await person.ask("GET", "/v1/spend-guard")).toMatchObject({
      daily_limit: "5.00",
      per_run_limit: null,
      low_balance: "2.50",
      contact_guard_days: 30
    })
    await page.getByRole("meter", { name: "Part of the daily limit" }).waitFor()
    await page.getByLabel("Most that all runs may be charged").fill("")
    await page.keyboard.press("Enter")
    await page.getByText("No daily limit is set.").waitFor()
    const viewer = await invited(browser, app.url, person, "reads-guard@example.com", "viewer")
    await looked(viewer, "/settings/guard", "guard-viewer", "Spend guard")
    await viewer.page.getByText("An admin or an owner can set the spend guard.").waitFor()
    expect(await viewer.page.getByRole("button", { name: "Save the limits" }).count()).toBe(0)
    await viewer.page.goto("/wallet")
    await settled(viewer, "Wallet")
    await viewer.page.getByText("An admin or an owner can top up.").waitFor()
    expect([...person.errors, ...viewer.errors]).toEqual([])
    await viewer.context.close()
    await person.context.close()
  })
})
