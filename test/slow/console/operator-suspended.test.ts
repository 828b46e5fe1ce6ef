/** A suspended wallet in the operator console: the mark and its reason, and a resume that asks first and checks the books. */
import { beforeAll, describe, expect, test } from "bun:test"
import type { Browser } from "playwright-core"
import { type App, type Tenant, verify } from "../../kit/app.ts"
import { checkedBooks, spoil } from "../../kit/wallet-damage.ts"
import { printedLink } from "../../http/operator/operator.ts"
import { hasBrowser, openTab } from "../../console/browser.ts"
import { withConsole } from "../../console/suite.ts"
import { lookedAt } from "../../console/visit.ts"

describe.skipIf(!hasBrowser)("a suspended wallet in the operator console", () => {
  let app: App
  let browser: Browser
  let org: Tenant
  withConsole((opened) => {
    app = opened.app
    browser = opened.browser
  })
  beforeAll(async () => {
    org = await app.tenant("5.00")
  })

  test("has a mark with the reason, and takes runs again when its books add up", async () => {
    await spoil(app, org, "spoilt")
    await checkedBooks(app)
    const tab = await openTab(browser, app.url)
    const { page } = tab
    await page.goto(`/operator/sign-in#${await printedLink(app)}`)
    await page.getByRole("button", { name: "Open the operator console" }).click()
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()

    await page.getByText("1 violation was found").waitFor()
    await page.getByText("The wallet of").getByRole("link").waitFor()
    await lookedAt(tab, "operator-overview-suspended")

    await page.goto("/operator/organizations")
    const row = page.getByRole("row").filter({ hasText: org.org_id })
    await row.getByText("suspended", { exact: true }).waitFor()
    await row.getByText(/^E9 /).waitFor()
    await lookedAt(tab, "operator-organizations-suspended")
    await row.getByRole("link").click()
    const panel = page.getByRole("region", { name: "Suspended" })
    await panel.getByText(/^E9 /).waitFor()
    await lookedAt(tab, "operator-organization-suspended")

    await panel.getByRole("button", { name: "Resume…" }).click()
    const asked = page.getByRole("dialog", { name: "Resume the wallet of" })
    await asked.getByText("it takes new runs at once").waitFor()
    expect((await org.run(verify("asked"))).body.error.code).toBe("wallet_suspended")
    await asked.getByRole("button", { name: "Check the books and resume" }).click()
    await asked.getByRole("alert").getByText("still do not add up").waitFor()

    await spoil(app, org, "test credit")
    await asked.getByRole("button", { name: "Check the books and resume" }).click()
    await asked.waitFor({ state: "hidden" })
    await panel.waitFor({ state: "detached" })
    expect((await org.run(verify("resumed"))).body.status).toBe("succeeded")
    expect(tab.errors).toEqual([])
    await tab.context.close()
  })
})
