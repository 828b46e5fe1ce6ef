/** The page of a run in a real browser: its money, why, tabs, running again after a quote, and what a viewer and a stranger see. */
import { beforeAll, describe, expect, test } from "bun:test"
import type { Browser } from "playwright-core"
import { type App, startApp, verify } from "../../kit/app.ts"
import { findings, hasBrowser, openTab, type Tab } from "../../console/browser.ts"
import { screenshot } from "../../console/screenshots.ts"
import { withConsole } from "../../console/suite.ts"
import { lookedAt, poster, signedUp, withRole } from "../../console/visit.ts"

const find = {
  capability: "email.find",
  input: { full_name: "Ada <img src=x onerror=alert(1)> Lovelace", company_domain: "example.com" },
  routing: { max_cost: "0.02" },
  metadata: { campaign: "</script><b>spring" }
}

describe.skipIf(!hasBrowser)("the page of a run", () => {
  let app: App
  let browser: Browser
  let tab: Tab
  let key: string
  withConsole((opened) => {
    app = opened.app
    browser = opened.browser
  })
  beforeAll(async () => {
    tab = await openTab(browser, app.url)
    await signedUp(app, tab, "run@example.com", "25.00")
    key = (await poster(app, tab)("/v1/api-keys", { name: "agent", environment: "test" })).api_key
  })

  const ran = async (body: unknown): Promise<string> => (await app.call(key, "POST", "/v1/run", { body })).body.run_id
  const opened = async (run_id: string, heading: string) => {
    await tab.page.goto(`/runs/${run_id}`)
    await tab.page.getByRole("heading", { level: 1, name: heading }).waitFor()
  }

  test("shows quote, hold, charge and release, and every offer with its reason", async () => {
    const { page } = tab
    const run_id = await ran(find)
    const { body } = await app.call(key, "GET", `/v1/runs/${run_id}/details`)
    await opened(run_id, "email.find")
    const money = page.getByRole("region", { name: "Money" })
    const released = Number(body.billing.released) > 0 ? ["Released"] : []
    for (const word of ["Quoted", "Held", "Charged", ...released])
      await money.getByText(word, { exact: true }).waitFor()
    await money.getByTitle(`${body.billing.held} USD`).first().waitFor()
    const offers = page.getByRole("region", { name: "Providers that were considered" }).getByRole("row")
    await offers.first().waitFor()
    expect(await offers.count()).toBe(body.decision.offers.length + 1)
    await offers.filter({ hasText: "above the most that one call may cost" }).first().waitFor()
    await money.getByRole("link", { name: "Ledger" }).click()
    await page.waitForURL(/tab=ledger/)
    await page.getByRole("region", { name: "Ledger entries of the run" }).waitFor()
    await page.reload()
    await page.getByRole("tab", { name: "Ledger", selected: true }).waitFor()
    await lookedAt(tab, "run-details")
  })

  test("tabs have input, result, raw answer, ledger entries, events and the signed receipt", async () => {
    const { page } = tab
    const run_id = await ran({ ...find, response: { include_raw: true } })
    const { body } = await app.call(key, "GET", `/v1/runs/${run_id}/details`)
    await opened(run_id, "email.find")
    const opens = async (name: string) => {
      await page.getByRole("tab", { name, exact: true }).click()
      expect(await findings(page)).toEqual([])
      await screenshot(page, `run-tab-${name.toLowerCase()}`)
    }
    await opens("Input")
    expect(JSON.parse((await page.getByRole("region", { name: "the input" }).textContent()) ?? "")).toEqual(find.input)
    await page.getByText("</script><b>spring").waitFor()
    await opens("Result")
    await page.getByRole("tab", { name: "JSON" }).click()
    await page.getByRole("region", { name: "the result" }).waitFor()
    await opens("Raw")
    await page.getByRole("region", { name: "the provider's answer" }).waitFor()
    await page.getByRole("tab", { name: "Ledger" }).click()
    const entries = page.getByRole("region", { name: "Ledger entries of the run" }).getByRole("row")
    await entries.nth(body.ledger.length).waitFor()
    await opens("Ledger")
    await page.getByRole("tab", { name: "Events" }).click()
    await page.getByText("It ended: succeeded.").waitFor()
    await opens("Events")
    await page.getByRole("tab", { name: "Receipt" }).click()
    const signed = page.getByRole("region", { name: "the signed receipt" })
    expect(await signed.textContent()).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/)
    await page.getByRole("region", { name: "what the receipt says" }).getByText(run_id).first().waitFor()
    await opens("Receipt")
    // By keyboard: the arrow keys move between tabs.
    await page.getByRole("tab", { name: "Receipt" }).focus()
    await page.keyboard.press("Home")
    await page.getByRole("region", { name: "the input" }).waitFor()
    expect(tab.errors).toEqual([])
  })

  test("runs again for the amount that the button says, and copies the request", async () => {
    const { page } = tab
    await tab.context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: app.url })
    const run_id = await ran(find)
    await opened(run_id, "email.find")
    await page.getByRole("button", { name: "Copy as" }).click()
    await page.getByRole("menuitem", { name: "MCP tool call" }).click()
    await page.getByRole("button", { name: "Run again" }).waitFor()
    const copied = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()))
    expect(copied).toMatchObject({ name: "run", arguments: { capability: "email.find", max_cost: "0.02" } })
    const { body: quote } = await app.call(key, "POST", "/v1/quote", { body: find })
    await page.getByRole("button", { name: "Run again" }).click()
    const dialog = page.getByRole("dialog", { name: "Run again" })
    const confirm = dialog.getByRole("button", { name: `Run for at most $${quote.hold}` })
    await confirm.waitFor()
    await screenshot(page, "run-again")
    expect(await findings(page)).toEqual([])
    const before = await app.sql("SELECT count(*) AS runs FROM runs")
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "hidden" })
    expect(await app.sql("SELECT count(*) AS runs FROM runs")).toEqual(before)
    await page.getByRole("button", { name: "Run again" }).click()
    await confirm.click()
    await page.waitForURL((url) => url.pathname.startsWith("/runs/") && !url.pathname.endsWith(run_id))
    await page.getByText("succeeded").first().waitFor()
    expect(tab.errors).toEqual([])
  })

  test("of a blocked run links to the control, and says that running again would be blocked too", async () => {
    const { page } = tab
    await poster(app, tab)("/v1/spend-guard", { per_run_limit: "0.000001" })
    const run_id = await ran(verify("limited"))
    await opened(run_id, "email.verify")
    await page.getByRole("link", { name: "Change the limit per run" }).waitFor()
    const money = page.getByRole("region", { name: "Money" })
    await money.getByText("Nothing was held or charged.").waitFor()
    expect(await money.getByText("own account").count()).toBe(0)
    await page.getByRole("button", { name: "Run again" }).click()
    const dialog = page.getByRole("dialog", { name: "Run again" })
    await dialog.getByText("The run would be blocked now.").waitFor()
    expect(await dialog.getByRole("button", { name: /^Run for at most/ }).isDisabled()).toBe(true)
    await page.keyboard.press("Escape")
    await poster(app, tab)("/v1/spend-guard", { per_run_limit: null })
    expect(tab.errors).toEqual([])
  })

  test("of a reused result links to the run that bought it", async () => {
    const { page } = tab
    const body = { ...verify("reused"), reuse: { mode: "prefer" } }
    const [bought, reused] = [await ran(body), await ran(body)]
    await opened(reused, "email.verify")
    await page.getByText("No provider was called and nothing was charged.").waitFor()
    await page.getByRole("link", { name: "an earlier run" }).click()
    await page.waitForURL((url) => url.pathname === `/runs/${bought}`)
    expect(tab.errors).toEqual([])
  })

  test("follows a run that has not ended, and tells screen readers when it ends", async () => {
    // Nobody takes turns here, so the run stays open until a worker starts.
    const idle = await startApp({ role: "http" })
    const waits = await openTab(browser, idle.url)
    await signedUp(idle, waits, "waits@example.com")
    const { api_key } = await poster(idle, waits)("/v1/api-keys", { name: "agent", environment: "test" })
    const body = { ...verify("open"), async: true }
    const { run_id } = (await idle.call(api_key, "POST", "/v1/run", { body })).body
    await waits.page.goto(`/runs/${run_id}`)
    await waits.page.getByText("Nothing is held yet.").waitFor()
    await lookedAt(waits, "run-open")
    await waits.page.getByRole("tab", { name: "Receipt" }).click()
    await waits.page.getByText("A run has a receipt as soon as it has ended.").waitFor()
    const worker = await startApp({ beside: idle, role: "worker" })
    // The wallet is empty.
    await waits.page.getByText(/The run has ended: failed/).waitFor({ state: "attached" })
    await waits.page.getByRole("link", { name: "Top up the wallet" }).waitFor()
    expect(waits.errors).toEqual([])
    await waits.context.close()
    await worker.stop()
    await idle.stop()
  })

  test("a viewer reads everything and starts nothing, and a stranger's run does not exist", async () => {
    const run_id = await ran(find)
    await withRole(app, "run@example.com", "viewer")
    await opened(run_id, "email.find")
    await tab.page.getByRole("region", { name: "Providers that were considered" }).waitFor()
    expect(await tab.page.getByRole("button", { name: "Run again" }).count()).toBe(0)
    await tab.page.getByText("A member, an admin or an owner can run a capability or a raw endpoint.").waitFor()
    const stranger = await openTab(browser, app.url)
    await signedUp(app, stranger, "stranger@example.com")
    await stranger.page.goto(`/runs/${run_id}`)
    await stranger.page
      .getByRole("alert")
      .getByText(/There is no run/)
      .waitFor()
    await stranger.context.close()
  })
})
