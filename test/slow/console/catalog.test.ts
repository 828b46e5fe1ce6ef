/** The catalog in a real browser: search while typing, pages of capabilities and endpoints, and Try it with its quote, errors and result. */
import { beforeAll, describe, expect, test } from "bun:test"
import type { Browser } from "playwright-core"
import type { App } from "../../kit/app.ts"
import { findings, hasBrowser, openTab, type Tab } from "../../console/browser.ts"
import { screenshot } from "../../console/screenshots.ts"
import { withConsole } from "../../console/suite.ts"
import { lookedAt, poster, signedUp, withRole } from "../../console/visit.ts"

describe.skipIf(!hasBrowser)("the catalog", () => {
  let app: App
  let browser: Browser
  let tab: Tab
  withConsole(
    (opened) => {
      app = opened.app
      browser = opened.browser
    },
    { settings: { RUNGATE_WARRANTY_SHARE: "0.01" } }
  )
  beforeAll(async () => {
    tab = await openTab(browser, app.url)
    await signedUp(app, tab, "catalog@example.com", "25.00")
  })

  const runs = async () => Number((await app.sql("SELECT count(*) AS runs FROM runs"))[0]?.["runs"])

  test("lists the capabilities, and searches while somebody types; the address has the words", async () => {
    const { page } = tab
    await page.goto("/catalog")
    await page.getByRole("region", { name: "Capabilities" }).waitFor()
    await page.getByText(/at \d+ providers\. .*No adapter has been tried against a paid account yet/).waitFor()
    await lookedAt(tab, "catalog")
    await page.keyboard.press("/")
    await page.keyboard.type("work email of a person")
    await page.waitForURL(/q=work\+email\+of\+a\+person/)
    await page.getByText(/found for “work email of a person”/).waitFor()
    const found = page.getByRole("region", { name: "Found in the catalog" })
    expect(await found.getByRole("row").nth(1).textContent()).toContain("email.find")
    await lookedAt(tab, "catalog-found")
    await page.getByLabel("Kind").selectOption("endpoint")
    await page.waitForURL(/kind=endpoint/)
    await found.getByRole("cell", { name: "raw endpoint" }).first().waitFor()
    await page.getByLabel("Kind").selectOption("")
    // By keyboard: the first row, and back to the same search.
    await page.locator("h1").click()
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { level: 1, name: "Find a work e-mail address" }).waitFor()
    await page.getByText("Warranty: If mail to an address that a run called valid bounces within 7 days").waitFor()
    await page.goBack()
    await page.getByText(/found for “work email of a person”/).waitFor()
    expect(await page.getByRole("searchbox").inputValue()).toBe("work email of a person")
  })

  test("shows hostile words as text, and says when nothing fits", async () => {
    const { page } = tab
    for (const words of ["<img src=x onerror=alert(1)>", "qzxw vjkq", "\u{1f600}'; DROP TABLE runs; --"]) {
      await page.goto(`/catalog?q=${encodeURIComponent(words)}`)
      await page.getByText(`found for “${words}”`, { exact: false }).waitFor()
    }
    await page.goto("/catalog?q=qzxw+vjkq")
    await page.getByText("Nothing fits these words.").waitFor()
    expect(tab.errors).toEqual([])
  })

  test("a provider's page has its capabilities and endpoints", async () => {
    const { page } = tab
    await page.goto("/catalog?provider=hunter")
    await page.getByRole("region", { name: "Raw endpoints" }).waitFor()
    await page.getByText("This sandbox simulates its answers.").waitFor()
    await lookedAt(tab, "catalog-provider")
    await page.goto("/catalog?provider=nobody")
    await page.getByText("There is no such provider.").waitFor()
  })

  test("Try it: quotes before it runs, runs for at most that, and shows the result in place", async () => {
    const { page } = tab
    await page.goto("/catalog/email.find")
    await page.getByRole("heading", { level: 1, name: "Find a work e-mail address" }).waitFor()
    // What goes together is said once.
    const needs = "Needs full name, or first name and last name; and company domain or company name."
    await page.getByText(needs, { exact: true }).waitFor()
    await page.getByText(/Fill in the required fields/).waitFor()
    await lookedAt(tab, "capability")
    const before = await runs()
    await page.getByLabel("Full name").fill("Ada <b>Lovelace</b>")
    await page.getByLabel("Company domain").fill("example.com")
    const button = page.getByRole("button", { name: /^Run for at most \$/ })
    await button.waitFor()
    expect(await runs()).toBe(before)
    const hold = ((await button.textContent()) ?? "").replace("Run for at most $", "")
    await button.click()
    const result = page.getByRole("region", { name: "Result of the run" })
    await result.getByText("succeeded").first().waitFor()
    // As fields, and as JSON behind a tab.
    await result.getByText("E-mail status", { exact: true }).or(result.getByText("Email status")).waitFor()
    await result.getByRole("tab", { name: "JSON" }).click()
    await result.getByRole("region", { name: "the result" }).getByText('"email_status"').waitFor()
    const [run] = await app.sql("SELECT plan::json -> 'seen' ->> 'max_cost' AS cap FROM runs ORDER BY created_at DESC")
    expect(run?.["cap"]).toBe(hold)
    await lookedAt(tab, "capability-result")
    // A result does not stay under the error of another request.
    await page.getByLabel("Company domain").fill("not a domain")
    await page
      .getByText(/must be|is not/)
      .first()
      .waitFor()
    await result.waitFor({ state: "detached" })
    await page.getByLabel("Company domain").fill("example.com")
    await result.getByRole("link", { name: "Open the run" }).click()
    await page.getByRole("button", { name: "Run again" }).click()
    await page.getByRole("link", { name: "Change the request first" }).click()
    await page.waitForURL(/\/catalog\/email\.find\?from=run_/)
    expect(await page.getByLabel("Full name").inputValue()).toBe("Ada <b>Lovelace</b>")
    expect(await runs()).toBe(before + 1)
    expect(tab.errors).toEqual([])
  })

  test("shows what the service says beside each field, and what the form can't read", async () => {
    const { page } = tab
    await page.goto("/catalog/people.search")
    await page.getByLabel("Limit").fill("ten")
    await page.getByText("must be a number").waitFor()
    await page.getByText("Correct the fields above to see the price.").waitFor()
    await page.getByLabel("Limit").fill("100000")
    await page.getByLabel(/^Titles/).fill("head of sales\ncto")
    const problem = page
      .getByLabel("Limit")
      .locator("xpath=..")
      .getByText(/must be <=/)
    await problem.waitFor()
    expect(await page.getByLabel("Limit").getAttribute("aria-invalid")).toBe("true")
    await screenshot(page, "capability-problem")
    expect(await findings(page)).toEqual([])
    await page.getByLabel("Limit").fill("3")
    await page.getByRole("button", { name: /^Run for at most/ }).waitFor()
    // What was typed stays, as JSON and back.
    await page.getByRole("button", { name: "Edit as JSON" }).click()
    const json = page.getByLabel("Request as JSON")
    expect(JSON.parse(await json.inputValue())).toEqual({ input: { limit: 3, titles: ["head of sales", "cto"] } })
    await json.fill("{")
    await page.getByText(/is not JSON/).waitFor()
    await json.fill('{"input": {"name": "Ada"}, "routing": {}}')
    await page.getByText(/which is not input/).waitFor()
    await json.fill('{"input": {"name": "Ada"}}')
    await page.getByRole("button", { name: "Back to the form" }).click()
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Ada")
    expect(tab.errors).toEqual([])
  })

  test("an endpoint has a form for path, query and body, and its own price", async () => {
    const { page } = tab
    await page.goto("/catalog/sec_edgar/submissions/CIK{cik}.json?method=GET")
    await page.getByRole("button", { name: "Fill in the example" }).click()
    expect(await page.getByLabel(/^CIK \(required\)/).inputValue()).not.toBe("")
    await page.getByRole("button", { name: "Run, free of charge" }).waitFor()
    await lookedAt(tab, "endpoint")
    await page.getByRole("button", { name: "Run, free of charge" }).click()
    await page.getByRole("region", { name: "Result of the run" }).getByText("succeeded").first().waitFor()
    await page.goto("/catalog/hunter/no/such/path?method=GET")
    await page
      .getByRole("alert")
      .getByText(/has no endpoint/)
      .waitFor()
    await page.goto("/catalog/no.such")
    await page
      .getByRole("alert")
      .getByText(/There is no capability/)
      .waitFor()
    expect(tab.errors).toEqual([])
  })

  test("a run that a limit would stop is not offered, and links to the limit", async () => {
    const { page } = tab
    await poster(app, tab)("/v1/spend-guard", { per_run_limit: "0.000001" })
    await page.goto("/catalog/email.verify")
    await page.getByRole("button", { name: "Fill in the example" }).click()
    await page.getByText("The run would be blocked now.").waitFor()
    await page.getByRole("link", { name: "Change the limit per run" }).waitFor()
    expect(await page.getByRole("button", { name: "Run", exact: true }).isDisabled()).toBe(true)
    await poster(app, tab)("/v1/spend-guard", { per_run_limit: null })
  })

  test("with an empty wallet it says so, and a viewer sees the price and no button", async () => {
    const poor = await openTab(browser, app.url)
    await signedUp(app, poor, "poor@example.com")
    await poor.page.goto("/catalog/email.verify")
    await poor.page.getByRole("button", { name: "Fill in the example" }).click()
    await poor.page.getByRole("link", { name: "Top up the wallet" }).waitFor()
    await withRole(app, "poor@example.com", "viewer")
    await poor.page.reload()
    await poor.page.getByRole("button", { name: "Fill in the example" }).click()
    await poor.page.getByText("Your role is viewer.", { exact: false }).waitFor()
    await poor.page.getByText("At most").first().waitFor()
    expect(await poor.page.getByRole("button", { name: /^Run/ }).count()).toBe(0)
    await lookedAt(poor, "capability-viewer")
    await poor.context.close()
  })

  test("says what two answers that agree cost, and which rule makes the run wait", async () => {
    const mine = await openTab(browser, app.url)
    const { page } = mine
    await signedUp(app, mine, "rules@example.com", "5.00")
    await poster(app, mine)("/v1/approval-rules", { name: "Look twice", capabilities: ["email.verify"] })
    await page.goto("/catalog/email.verify")
    await page.getByText('Each run waits for the yes of a member first (rule "Look twice").').waitFor()
    await page.getByRole("button", { name: "Fill in the example" }).click()
    await page.getByText('The run waits for the yes of a member first (rule "Look twice").').waitFor()
    const quote = page.getByRole("region", { name: "Quote" })
    const from = async () => Number(/From\$([\d.]+)/.exec((await quote.textContent()) ?? "")?.[1])
    const one = await from()
    await page.getByText("Routing and limits", { exact: true }).click()
    await page.getByRole("checkbox", { name: "email_status" }).check()
    await page.getByLabel("Providers that have to give the same").selectOption("2")
    await quote.getByText("called until two agree, which are both charged").waitFor()
    expect(await from()).toBeGreaterThan(one)
    await lookedAt(mine, "capability-rules")
    await mine.context.close()
  })

  test("a lost answer is asked for again without a second run", async () => {
    const { page } = tab
    await page.goto("/catalog/email.verify")
    await page.getByRole("button", { name: "Fill in the example" }).click()
    const button = page.getByRole("button", { name: /^Run for at most/ })
    await button.waitFor()
    const before = await runs()
    let lost = 0
    await page.route("**/v1/run", async (route) => {
      if (lost > 0) return route.continue()
      lost += 1
      // The service carries it out, and the answer never arrives.
      await route.fetch()
      return route.abort()
    })
    await button.click()
    await page.getByText(/The service can't be reached/).waitFor()
    await button.click()
    await page.getByRole("region", { name: "Result of the run" }).getByText("succeeded").first().waitFor()
    expect(await runs()).toBe(before + 1)
    await page.unroute("**/v1/run")
  })
})
