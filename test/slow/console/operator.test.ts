/** The operator console in a real browser: the printed link, each page by eye of axe-core, and changes that ask first. */
import { beforeAll, describe, expect, test } from "bun:test"
import type { Browser } from "playwright-core"
import { type App, type Tenant } from "../../kit/app.ts"
import { printedLink } from "../../http/operator/operator.ts"
import { hasBrowser, openTab, type Tab } from "../../console/browser.ts"
import { withConsole } from "../../console/suite.ts"
import { looked } from "../../console/visitor.ts"

const hostile = `<img src=x onerror="document.title='owned'">`

describe.skipIf(!hasBrowser)("the operator console", () => {
  let app: App
  let browser: Browser
  let org: Tenant
  withConsole((opened) => {
    app = opened.app
    browser = opened.browser
  })
  beforeAll(async () => {
    org = await app.tenant("5.00")
    await app.sql("UPDATE orgs SET name = $2 WHERE org_id = $1", [org.org_id, hostile])
  })

  const signedIn = async (): Promise<Tab> => {
    const tab = await openTab(browser, app.url)
    await tab.page.goto(`/operator/sign-in#${await printedLink(app)}`)
    await tab.page.getByRole("button", { name: "Open the operator console" }).click()
    await tab.page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
    return tab
  }

  test("without a session, every page says how to get one", async () => {
    const tab = await openTab(browser, app.url)
    await looked(tab, "/operator", "operator-signed-out", "Operator console")
    await tab.page.goto("/operator/queues")
    await tab.page.getByText("rungate admin console").waitFor()
    await tab.context.close()
  })

  test("a used link is refused, and says what to do", async () => {
    const tab = await openTab(browser, app.url)
    await looked(tab, "/operator/sign-in#x", "operator-sign-in", "Operator console")
    await tab.page.getByRole("button", { name: "Open the operator console" }).click()
    await tab.page.getByRole("alert").getByText("was used").waitFor()
    await tab.context.close()
  })

  test("pages of the operator", async () => {
    await app.sql(
      `INSERT INTO mailbox (lane, org_id, tag, payload, attempts, parked)
       SELECT lane, org_id, 'Credit', '{}', 5, $2 FROM wallets WHERE org_id = $1`,
      [org.org_id, hostile]
    )
    const tab = await signedIn()
    const paths = new Set<string>()
    tab.page.on("request", (request) => void paths.add(new URL(request.url()).pathname))
    await looked(tab, "/operator", "operator-overview", "Overview")
    const business = tab.page.getByRole("region", { name: "Business" })
    for (const title of ["Revenue", "Runs", "Errors", "Unknown outcomes"])
      await business.getByRole("heading", { name: title, exact: true }).waitFor()
    await business.getByText(/margin \$/).waitFor()
    await looked(tab, "/operator/organizations", "operator-organizations", "Organizations")
    await looked(tab, `/operator/organizations/${org.org_id}`, "operator-organization", hostile)
    await looked(tab, "/operator/queues", "operator-queues", "Queues")
    await tab.page.getByText(hostile).first().waitFor()
    await looked(tab, "/operator/books", "operator-books", "Books")
    await tab.page.getByText("No command is dead-lettered").waitFor()
    await looked(tab, "/operator/providers", "operator-providers", "Providers")
    await tab.page.getByRole("link", { name: "Provider credits" }).click()
    await looked(tab, "/operator/credits", "operator-credits", "Provider credits")
    await tab.page.getByLabel("Provider of the bill").fill("hunter")
    await tab.page.getByLabel("First day (UTC)").fill("2026-11-01")
    await tab.page.getByLabel("Last day").fill("2026-11-30")
    const bill = (text: string) =>
      tab.page
        .locator("input[type=file]")
        .setInputFiles({ name: "bill.csv", mimeType: "text/csv", buffer: Buffer.from(text) })
    await bill("Date,Amount\n2026-11-20,12;50\n")
    await tab.page.getByRole("button", { name: "Compare the bill" }).click()
    await tab.page
      .getByRole("alert")
      .getByText('The file has "12;50" for an amount, in row 1, column "Amount".')
      .waitFor()
    await bill(`Date,Amount\n2026-11-20T10:00:00Z,"$1,000.50"\n`)
    await tab.page.getByRole("button", { name: "Compare the bill" }).click()
    await tab.page.getByText("Billed 1000.50, recorded 0.00 credit.").first().waitFor()
    await tab.page.getByRole("cell", { name: "not recorded" }).waitFor()
    await looked(tab, "/operator/payments", "operator-payments", "Payments")
    await looked(tab, "/operator/unknown", "operator-unknown", "Unknown outcomes")
    await looked(tab, "/operator/disputes", "operator-no-disputes", "Disputes")
    await looked(tab, "/operator/invitations", "operator-invitations", "Invitations")
    await looked(tab, "/operator/opt-outs", "operator-opt-outs", "Opt-outs")
    await tab.page.getByLabel("Addresses, domains or profiles").fill("opted-out.example")
    await tab.page.getByRole("button", { name: "Add to the list" }).click()
    await tab.page.getByText("Added 1. The list had 0 already.").first().waitFor()
    await tab.page.getByRole("button", { name: "Remove the opt-out of opted-out.example" }).click()
    await tab.page.getByRole("button", { name: "Remove the opt-out", exact: true }).click()
    await tab.page.getByText("Opt-outs will be here.").waitFor()
    await looked(tab, "/operator/catalog", "operator-catalog", "Catalog")
    await looked(tab, "/operator/audit-log", "operator-audit-log", "Audit log")
    const current = tab.page.getByRole("navigation").locator("[aria-current]")
    expect(await current.allTextContents()).toEqual(["Audit log"])
    // An operator needs no session of an organization, and one that has ended covers no page of theirs.
    expect([...paths]).toContain("/v1/operator/opt-outs")
    expect([...paths]).not.toContain("/v1/auth/session")
    expect(await tab.page.title()).not.toContain("owned")
    await app.sql("DELETE FROM mailbox WHERE parked IS NOT NULL")
    await tab.page.getByRole("button", { name: "Sign out" }).click()
    await tab.page.getByText("rungate admin console").waitFor()
    await tab.context.close()
  })

  test("a credit asks with amount and organization, is booked once, and shows in the ledger", async () => {
    const tab = await signedIn()
    const { page } = tab
    await page.goto("/operator/organizations")
    await page.getByLabel("Find organizations").fill(org.org_id)
    await page.keyboard.press("Enter")
    await page.getByRole("link", { name: hostile }).click()
    await page.getByLabel("Amount in USD").fill("2.50")
    await page.getByLabel("Reason").fill("sorry for the wait")
    await page.getByRole("button", { name: "Check the amount" }).click()
    const asked = page.getByRole("dialog")
    await asked.getByRole("heading", { name: "Credit $2.50" }).waitFor()
    expect((await org.wallet()).balance).toBe("5.00")
    await page.keyboard.press("Escape")
    await asked.waitFor({ state: "hidden" })
    await page.getByRole("button", { name: "Check the amount" }).click()
    await page.getByRole("button", { name: "Credit $2.50" }).click()
    await page.getByRole("region", { name: "Newest entries of the ledger" }).getByText("sorry for the wait").waitFor()
    expect((await org.wallet()).balance).toBe("7.50")
    await tab.context.close()
  })

  test("a dead-lettered command is retried in three clicks from the overview", async () => {
    await app.sql(
      `INSERT INTO mailbox (lane, org_id, tag, payload, attempts, parked)
       SELECT lane, org_id, 'Credit', $2::json, 5, 'the reason' FROM wallets WHERE org_id = $1`,
      [org.org_id, JSON.stringify({ type: "bonus", amount: "1.00", reference: "late", note: "late" })]
    )
    const tab = await signedIn()
    const { page } = tab
    await page.getByRole("link", { name: "Show queues" }).click()
    const letter = page.getByRole("listitem").filter({ hasText: "the reason" })
    await letter.getByRole("button", { name: "Retry…" }).click()
    await page.getByRole("button", { name: "Retry the command" }).click()
    await letter.waitFor({ state: "detached" })
    expect(tab.errors).toEqual([])
    await tab.context.close()
  })

  test("a list that can't be read says why, and is read again", async () => {
    const tab = await signedIn()
    const { page } = tab
    for (const [path, request, heading] of [
      ["/operator/organizations", "/v1/operator/organizations", "Organizations"],
      ["/operator/queues", "/v1/operator/dead-letters", "Queues"]
    ] as const) {
      const isMeant = (url: URL) => url.pathname === request
      await page.route(isMeant, (route) =>
        route.fulfill({ status: 400, json: { error: { code: "invalid_request", message: "Refused by this test." } } })
      )
      await page.goto(path)
      await page.getByRole("heading", { level: 1, name: heading }).waitFor()
      const alert = page.getByRole("alert").filter({ hasText: "Refused by this test." })
      await alert.waitFor()
      await page.unroute(isMeant)
      await alert.getByRole("button", { name: "Try again" }).click()
      await alert.waitFor({ state: "detached" })
    }
    await tab.context.close()
  })

  test("letters go to pages, and the palette searches organizations", async () => {
    const tab = await signedIn()
    const { page } = tab
    await page.keyboard.press("?")
    await page.getByRole("heading", { name: "Keyboard shortcuts" }).waitFor()
    await page.keyboard.press("Escape")
    await page.keyboard.press("g")
    await page.keyboard.press("b")
    await page.getByRole("heading", { level: 1, name: "Books" }).waitFor()
    await page.keyboard.press("Control+k")
    await page.getByPlaceholder("Page, or name of an organization").fill(org.org_id)
    await page.getByRole("option", { name: "Organizations" }).click()
    await page.getByRole("link", { name: hostile }).waitFor()
    expect(await page.getByLabel("Find organizations").inputValue()).toBe(org.org_id)
    expect(tab.errors).toEqual([])
    await tab.context.close()
  })

  test("a session that ends keeps what was typed, and the service refuses the change", async () => {
    const tab = await signedIn()
    const { page } = tab
    await page.goto(`/operator/organizations/${org.org_id}`)
    await page.getByLabel("Amount in USD").fill("3.00")
    await page.getByLabel("Reason").fill("too late")
    const before = await org.wallet()
    await app.sql("UPDATE operator_sessions SET ended_at = now() WHERE ended_at IS NULL")
    await page.getByRole("button", { name: "Check the amount" }).click()
    await page.getByRole("button", { name: "Credit $3.00" }).click()
    await page.getByRole("alert").getByText("rungate admin console").waitFor()
    expect(await org.wallet()).toEqual(before)
    const ended = page.getByRole("dialog", { name: "Your session has ended" })
    await ended.getByRole("button", { name: "I have signed in again" }).click()
    await ended.getByRole("alert").getByText("has no session of an operator yet").waitFor()
    const other = await tab.context.newPage()
    await other.goto(`${app.url}/operator/sign-in#${await printedLink(app)}`)
    await other.getByRole("button", { name: "Open the operator console" }).click()
    await other.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
    await ended.getByRole("button", { name: "I have signed in again" }).click()
    await ended.waitFor({ state: "detached" })
    expect(await page.getByLabel("Reason").inputValue()).toBe("too late")
    await tab.context.close()
  })
})
