/** What pages show when the API fails, refuses or is slow: the reason, the request's id, another try, and a skeleton meanwhile. */
import { beforeAll, describe, expect, test } from "bun:test"
import type { Browser, Route } from "playwright-core"
import type { App } from "../../kit/app.ts"
import { findings, hasBrowser } from "../../console/browser.ts"
import { withConsole } from "../../console/suite.ts"
import { owner, settled, type Visitor } from "../../console/visitor.ts"

/** Page, the request that its data comes from, and its heading. */
const pages = [
  ["/wallet", "/v1/wallet/audit", "Wallet"],
  ["/wallet", "/v1/wallet/transactions", "Wallet"],
  ["/wallet", "/v1/wallet/auto-topup", "Wallet"],
  ["/usage", "/v1/usage", "Usage"],
  ["/settings/keys", "/v1/api-keys", "API keys"],
  ["/settings/keys", "/v1/allowances", "API keys"],
  ["/settings/guard", "/v1/spend-guard", "Spend guard"],
  ["/settings/senders", "/v1/senders", "Senders"],
  ["/settings/webhooks", "/v1/webhook-endpoints", "Webhooks"],
  ["/settings/members", "/v1/members", "Members"],
  ["/settings/audit-log", "/v1/audit-log", "Audit log"],
  ["/settings/referrals", "/v1/referrals", "Referrals"],
  ["/settings/provider-accounts", "/v1/provider-accounts", "Provider accounts"],
  ["/settings/account", "/v1/auth/sessions", "Account"],
  ["/runs/run_1", "/v1/runs/run_1", "Run"],
  ["/batches/bat_1", "/v1/batches/bat_1", "Batch"],
  ["/catalog/no.such", "/v1/inspect", "Capability"],
  ["/catalog/hunter/no/such?method=GET", "/v1/inspect", "Endpoint"]
] as const

describe.skipIf(!hasBrowser)("pages whose data does not come", () => {
  let app: App
  let browser: Browser
  let person: Visitor
  withConsole((opened) => {
    app = opened.app
    browser = opened.browser
  })
  beforeAll(async () => {
    person = await owner(browser, app.url, "states@example.com")
  })

  /** Answers requests to this path as the test says, until the returned function is called. */
  const answering = async (path: string, answer: (route: Route) => Promise<void>) => {
    const isMeant = (url: URL) => url.pathname === path
    await person.page.route(isMeant, answer)
    return () => person.page.unroute(isMeant)
  }

  test.each(pages)("%s says that %s failed, and tries again", async (path, request, heading) => {
    const { page } = person
    const stop = await answering(request, (route) =>
      route.fulfill({
        status: 400,
        json: {
          error: { code: "invalid_request", message: "Refused <b>by this test</b>." },
          request_id: "req_01m81nzk95mq351g8pvrxgm8m4"
        }
      })
    )
    await page.goto(path)
    const alert = page.getByRole("alert").filter({ hasText: "Refused <b>by this test</b>." }).first()
    await alert.waitFor()
    await alert.getByText("req_01m81nzk95mq351g8pvrxgm8m4").waitFor()
    expect(await findings(page)).toEqual([])
    await stop()
    await alert.getByRole("button", { name: "Try again" }).click()
    await alert.waitFor({ state: "detached" })
    await settled(person, heading)
    expect([path, person.errors]).toEqual([path, []])
  })

  test("a page that the person may not see says so, and offers no other try", async () => {
    const { page } = person
    const stop = await answering("/v1/webhook-endpoints", (route) =>
      route.fulfill({
        status: 403,
        json: { error: { code: "forbidden", message: "This needs the role admin, and yours is viewer." } }
      })
    )
    await page.goto("/settings/webhooks")
    const alert = page.getByRole("alert").filter({ hasText: "You may not see this." })
    await alert.getByText("This needs the role admin, and yours is viewer.").waitFor()
    expect(await alert.getByRole("button", { name: "Try again" }).count()).toBe(0)
    await stop()
  })

  test("a refused sign-out is shown, until somebody dismisses it", async () => {
    const { page } = person
    const stop = await answering("/v1/auth/sign-out", (route) =>
      route.fulfill({ status: 503, json: { error: { code: "service_unavailable", message: "Try again later." } } })
    )
    await page.goto("/settings/account")
    await page.getByRole("button", { name: "Sign out here" }).click()
    const words = page.getByText("You are still signed in. Try again later.")
    await words.waitFor()
    const box = await words.boundingBox()
    expect(box?.width).toBeGreaterThan(100)
    expect(await findings(page)).toEqual([])
    await page.getByRole("button", { name: "Dismiss" }).click()
    await words.waitFor({ state: "detached" })
    await stop()
  })

  test("a slow answer has a skeleton in its place, and what was typed elsewhere stays", async () => {
    const { page } = person
    const { promise, resolve } = Promise.withResolvers<void>()
    const stop = await answering("/v1/wallet/audit", async (route) => {
      await promise
      await route.continue()
    })
    await page.goto("/wallet")
    await page.getByRole("region", { name: "Audit", exact: true }).getByRole("status", { name: "Loading" }).waitFor()
    await page.getByLabel("Amount in USD").fill("77.00")
    expect(await findings(page)).toEqual([])
    resolve()
    await page.getByText("Your books add up").waitFor()
    expect(await page.getByLabel("Amount in USD").inputValue()).toBe("77.00")
    await stop()
    expect(person.errors).toEqual([])
  })

  test("settings are one list, and each of its pages is marked as the present one", async () => {
    const { page } = person
    await page.goto("/")
    await settled(person, "Home")
    await page.keyboard.press("g")
    await page.keyboard.press("k")
    await settled(person, "API keys")
    const list = page.getByRole("navigation", { name: "Settings" })
    const names = await list.getByRole("link").allTextContents()
    expect(names.slice(0, 7)).toEqual([
      "API keys",
      "Spend guard",
      "Label budgets",
      "Senders",
      "Opt-outs",
      "Webhooks",
      "Members"
    ])
    for (const name of names) {
      await list.getByRole("link", { name, exact: true }).click()
      await page.waitForFunction(
        (name) => document.querySelector("nav[aria-label=Settings] [aria-current=page]")?.textContent === name,
        name
      )
    }
    await page.goto("/settings/keys/new")
    expect(await list.locator("[aria-current=page]").textContent()).toBe("API keys")
  })
})
