/** Approvals in a real browser: a rule is added, a run waits, and a member approves it on the list and on the run's page. */
import { describe, expect, test } from "bun:test"
import type { Browser } from "playwright-core"
import { type App, until, verify } from "../../kit/app.ts"
import { hasBrowser } from "../../console/browser.ts"
import { withConsole } from "../../console/suite.ts"
import { looked, owner } from "../../console/visitor.ts"

describe.skipIf(!hasBrowser)("the page of approvals", () => {
  let app: App
  let browser: Browser
  withConsole((opened) => {
    app = opened.app
    browser = opened.browser
  })

  test("adds a rule, and approves and denies runs that wait", async () => {
    const person = await owner(browser, app.url, "approves@example.com")
    const { page } = person
    await page.goto("/approvals")
    await page.getByText("No run waits for an approval.").waitFor()
    await page.getByRole("textbox", { name: "Name" }).fill("Every run")
    await page.getByRole("button", { name: "Add the rule" }).click()
    await page.getByRole("cell", { name: "Every run" }).waitFor()
    await person.ask("POST", "/v1/wallet/topups/checkout", { amount: "25.00" })
    const { api_key: key } = await person.ask("POST", "/v1/api-keys", { name: "agent", environment: "test" })
    const call = (method: string, path: string, body?: unknown) => app.call(key, method, path, { body })
    await until(
      "the top-up",
      () => call("GET", "/v1/wallet"),
      (wallet) => wallet.body.available === "25.00"
    )
    const [one, two] = [
      (await call("POST", "/v1/run", verify("one"))).body,
      (await call("POST", "/v1/run", verify("two"))).body
    ]
    await page.getByRole("button", { name: "Approve" }).first().waitFor()
    await looked(person, `/approvals?run=${one.run_id}`, "approvals", "Approvals")
    await page
      .getByRole("row")
      .filter({ hasText: one.run_id.slice(-6) })
      .getByRole("button", { name: "Approve" })
      .click()
    await page.getByRole("button", { name: "Approve the run" }).click()
    expect((await call("GET", `/v1/runs/${one.run_id}?wait=30`)).body.status).toBe("succeeded")
    const away = { status: 403, json: { error: { code: "forbidden", message: "Not now.", details: [] } } }
    await page.route(`**/v1/approvals/${two.run_id}`, (route) => route.fulfill(away), { times: 1 })
    await page.goto(`/runs/${two.run_id}`)
    await page.getByText("Waits for an approval").waitFor()
    await page.getByRole("alert").getByText("Not now.").waitFor()
    await page.reload()
    await page.getByRole("button", { name: "Deny" }).click()
    await page.getByText("approval_denied").waitFor()
    expect((await call("GET", `/v1/approvals/${two.run_id}`)).body.state).toBe("denied")
    await person.context.close()
  })
})
