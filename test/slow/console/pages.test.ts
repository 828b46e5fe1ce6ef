/** The console in a real browser: each page by keyboard and by eye of axe-core, in both themes, narrow and wide. */
import { describe, expect, test } from "bun:test"
import type { Browser } from "playwright-core"
import { type App, until, verify } from "../../kit/app.ts"
import { contrastFindings, findings, hasBrowser, openTab, sizes, type Tab } from "../../console/browser.ts"
import { screenshot } from "../../console/screenshots.ts"
import { withConsole } from "../../console/suite.ts"

const password = "correct horse battery"

describe.skipIf(!hasBrowser)("the console in a browser", () => {
  let app: App
  let browser: Browser
  withConsole((opened) => {
    app = opened.app
    browser = opened.browser
  })

  const dark = (tab: Tab) => tab.page.emulateMedia({ colorScheme: "dark" })
  const light = (tab: Tab) => tab.page.emulateMedia({ colorScheme: "light" })

  /** The page, wide and narrow, in both themes: no finding, no error of a script, nothing wider than the window. */
  const looked = async (tab: Tab, path: string, name: string, heading: string) => {
    const { page } = tab
    const look = async (variant: string, check: typeof findings) => {
      await screenshot(page, `${name}-${variant}`)
      expect([name, variant, await check(page)]).toEqual([name, variant, []])
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
      expect([name, variant, overflow]).toEqual([name, variant, 0])
    }
    await page.setViewportSize(sizes.wide)
    await light(tab)
    await page.goto(path)
    await page.getByRole("heading", { level: 1, name: heading }).waitFor()
    await page.locator(".skeleton").first().waitFor({ state: "detached" })
    await look("wide-light", findings)
    await dark(tab)
    await look("wide-dark", contrastFindings)
    await page.setViewportSize(sizes.narrow)
    await look("narrow-dark", findings)
    await light(tab)
    await look("narrow-light", contrastFindings)
    expect([name, tab.errors]).toEqual([name, []])
  }

  const publicPages = [
    ["/", "start", "One API"],
    ["/sign-in", "sign-in", "Sign in"],
    ["/sign-up", "sign-up", "Sign up"],
    ["/join/ABCD1234", "sign-up-code", "You are invited"],
    ["/forgot", "forgot", "Forgot your password"],
    ["/reset-password?token=x", "reset", "Set a new password"],
    ["/verify-email?token=x", "verify", "Verify your e-mail address"],
    ["/join-organization?token=x", "join", "Join an organization"]
  ] as const

  test.each(publicPages)("%s for people who are signed out", async (path, name, heading) => {
    const tab = await openTab(browser, app.url)
    await looked(tab, path, name, heading)
    await tab.context.close()
  })

  const signedUp = async (tab: Tab, email: string) => {
    await tab.page.goto("/sign-up")
    await tab.page.getByLabel("E-mail address").fill(email)
    await tab.page.getByLabel("Password").fill(password)
    await tab.page.getByLabel("Name of your organization").fill("Acme <b>&amp;</b>")
    await tab.page.getByRole("button", { name: "Sign up" }).click()
    await tab.page.getByRole("heading", { name: "Home" }).waitFor()
  }

  test("pages of a session", async () => {
    const tab = await openTab(browser, app.url)
    await signedUp(tab, "looks@example.com")
    await looked(tab, "/", "home", "Home")
    await looked(tab, "/settings/account", "account", "Account")
    await tab.context.close()
  })

  test("a wrong address leads to pages that have a part of it, and to the search of all", async () => {
    const tab = await openTab(browser, app.url)
    const { page } = tab
    const missing = "This page does not exist"
    await looked(tab, "/keys", "missing-signed-out", missing)
    await page.getByRole("main").getByRole("link", { name: "Sign in" }).waitFor()
    await signedUp(tab, "lost@example.com")
    await looked(tab, "/no/such/page", "missing", missing)
    await page.getByText("/no/such/page", { exact: true }).waitFor()
    await page.getByRole("main").getByRole("link", { name: "Activity" }).waitFor()
    await page.goto("/keys")
    await page.getByRole("button", { name: "Search pages, runs and capabilities" }).click()
    await page.getByPlaceholder("Capability, page, run id or key").waitFor()
    await page.keyboard.press("Escape")
    await page.getByRole("main").getByRole("link", { name: "API keys" }).click()
    await page.getByRole("heading", { level: 1, name: "API keys" }).waitFor()
    await tab.context.close()
  })

  /** A fallback of Suspense on the way would keep React from showing the page for 300 ms. */
  test("the first thing that a page of a session shows is its heading", async () => {
    const tab = await openTab(browser, app.url)
    const { page } = tab
    await signedUp(tab, "reveals@example.com")
    await page.addInitScript(() => {
      const observer = new MutationObserver(() => {
        if (document.querySelector("main") === null) return
        observer.disconnect()
        document.documentElement.dataset["first"] = document.querySelector("main h1")?.textContent ?? "no heading"
      })
      observer.observe(document, { childList: true, subtree: true })
    })
    // After a second without an answer a page shows that it loads, which may happen on a busy machine.
    for (const [path, heading] of [
      ["/", "Home"],
      ["/wallet", "Wallet"]
    ] as const)
      await until(
        `${path} in one step`,
        async () => {
          await page.goto(path)
          await page.getByRole("heading", { level: 1, name: heading }).waitFor()
          return page.evaluate(() => document.documentElement.dataset["first"])
        },
        (first) => first === heading
      )
    await tab.context.close()
  })

  /** Signs up, pays in, and makes runs that end in different ways. */
  const withRuns = async (tab: Tab, email: string) => {
    await signedUp(tab, email)
    const headers = { "x-rungate-console": "1", origin: app.url }
    const post = async (path: string, data: unknown) => (await tab.context.request.post(path, { data, headers })).json()
    await post("/v1/wallet/topups/checkout", { amount: "25.00" })
    const { api_key } = await post("/v1/api-keys", { name: "agent", environment: "test" })
    const run = async (body: unknown) => (await app.call(api_key, "POST", "/v1/run", { body })).body.run_id
    const found = await run({ ...verify(), metadata: { campaign: "spring <script>" } })
    await run({ capability: "email.find", input: { full_name: "Ada Lovelace", company_domain: "example.com" } })
    await post("/v1/spend-guard", { per_run_limit: "0.000001" })
    const blocked = await run(verify("other"))
    await post("/v1/spend-guard", { per_run_limit: null })
    return { found, blocked, api_key, run }
  }

  test("activity: filters in the address, groups, live rows, and a run's page", async () => {
    const tab = await openTab(browser, app.url)
    const { page } = tab
    const { found, blocked, run } = await withRuns(tab, "runs@example.com")
    await looked(tab, "/activity", "activity", "Activity")
    await looked(tab, "/activity?group=capability", "activity-groups", "Activity")
    await looked(tab, `/runs/${found}`, "run", "email.verify")
    await looked(tab, `/runs/${blocked}`, "run-blocked", "email.verify")
    await page.getByRole("link", { name: "Change the limit per run" }).waitFor()

    await page.setViewportSize(sizes.wide)
    await page.goto("/activity")
    await page.getByText("live", { exact: true }).waitFor()
    const rows = page.getByRole("row")
    expect(await rows.count()).toBe(4)
    // Rows of one capability are told apart by what they were about, and by who ran them.
    await rows.filter({ hasText: "Ada Lovelace, example.com" }).getByText("agent").waitFor()
    await page.getByLabel("From").fill("2026-13-01")
    expect(await page.getByLabel("From").getAttribute("aria-invalid")).toBe("true")
    expect(page.url()).not.toContain("from=")
    await page.getByLabel("From").fill("2020-01-31")
    await page.waitForURL(/from=2020-01-31/)
    await page.getByLabel("From").fill("")
    await page.waitForURL(/activity$/)
    await run(verify("arrives.meanwhile"))
    await rows.nth(4).waitFor()
    // Rows don't move under the pointer.
    await rows.nth(3).hover()
    await run(verify("waits.for.the.pointer"))
    await page.getByRole("button", { name: "Show new runs" }).click()
    await rows.nth(5).waitFor()
    await page.getByLabel("Status").selectOption("blocked")
    await page.waitForURL(/status=blocked/)
    await page.waitForFunction(() => document.querySelectorAll("[role=row]").length === 2)
    await page.keyboard.press("Tab")
    await page.locator("h1").click()
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    await page.waitForURL(`${app.url}/runs/${blocked}`)
    await page.goBack()
    await page.waitForURL(/activity\?status=blocked/)
    await page.getByLabel("Find runs by id").fill("campaign=spring <script>")
    await page.getByLabel("Status").selectOption("")
    await page.getByLabel("Find runs by id").press("Enter")
    await page.waitForURL(/metadata.campaign=/)
    await page.getByRole("button", { name: /label campaign/ }).waitFor()
    await page.goto("/activity?q=status%3Dblocked")
    await page.waitForURL(/activity\?status=blocked/)
    await page.getByLabel("Find runs by id").fill("ada@example.com")
    await page.getByLabel("Find runs by id").press("Enter")
    await page.getByRole("link", { name: "Look it up in History" }).click()
    await page.waitForURL(/history\?q=ada/)
    expect(tab.errors).toEqual([])
    await tab.context.close()
  })

  test("activity: a page of runs that was refused is read again when a person asks for it", async () => {
    const tab = await openTab(browser, app.url)
    const { page } = tab
    await withRuns(tab, "refused@example.com")
    let refusals = 0
    let isRefused = true
    await page.route(/\/v1\/runs\?/, async (route) => {
      const isFirst = !route.request().url().includes("cursor=")
      if (!isFirst && isRefused) {
        refusals += 1
        return route.fulfill({ status: 400, json: { error: { code: "invalid_request", message: "No such page." } } })
      }
      const response = await route.fetch(
        isFirst
          ? {}
          : {
              url: route
                .request()
                .url()
                .replace(/&cursor=\w+/, "")
            }
      )
      return route.fulfill({ response, json: { ...(await response.json()), next_cursor: isFirst ? "later" : null } })
    })
    await page.goto("/activity")
    const again = page.getByRole("button", { name: "Try again" })
    await again.waitFor()
    // Whatever the refusal starts has started after two frames.
    await page.evaluate(() => new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen))))
    await page.keyboard.press("j")
    await page.locator("[aria-current=true][role=row]").waitFor()
    expect(refusals).toBe(1)
    isRefused = false
    await again.click()
    await page.locator("[aria-rowcount='7']").waitFor()
    await again.waitFor({ state: "detached" })
    await tab.context.close()
  })

  test("activity: rows that could not be read again are read when a person asks for it", async () => {
    const tab = await openTab(browser, app.url)
    const { page } = tab
    const { run } = await withRuns(tab, "again@example.com")
    await page.goto("/activity")
    await page.getByText("live", { exact: true }).waitFor()
    await page.locator("[aria-rowcount='4']").waitFor()
    let isRefused = true
    await page.route(/\/v1\/runs\?/, (route) =>
      isRefused
        ? route.fulfill({ status: 400, json: { error: { code: "invalid_request", message: "Not now." } } })
        : route.continue()
    )
    await run(verify("arrives.meanwhile"))
    const again = page.getByRole("button", { name: "Try again" })
    await again.waitFor()
    isRefused = false
    await again.click()
    await page.locator("[aria-rowcount='5']").waitFor()
    await again.waitFor({ state: "detached" })
    await tab.context.close()
  })

  test("keyboard: palette, shortcuts, go to a page, and the focus comes back", async () => {
    const tab = await openTab(browser, app.url)
    const { page } = tab
    await signedUp(tab, "keys@example.com")
    await page.keyboard.press("Control+k")
    // What can be run comes first.
    await page.getByRole("option", { name: "Search for people" }).waitFor()
    expect(await page.locator("[cmdk-group-heading]").first().textContent()).toBe("Run a capability")
    await page.getByPlaceholder("Capability, page, run id or key").fill("acc")
    await screenshot(page, "palette")
    expect(await findings(page)).toEqual([])
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { level: 1, name: "Account" }).waitFor()
    await page.keyboard.press("?")
    await page.getByRole("heading", { name: "Keyboard shortcuts" }).waitFor()
    expect(await findings(page)).toEqual([])
    await page.keyboard.press("Escape")
    await page.keyboard.press("g")
    await page.keyboard.press("h")
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor()
    expect(tab.errors).toEqual([])
    await tab.context.close()
  })

  test("a session that ends keeps the page and what was typed, and goes on after signing in", async () => {
    const tab = await openTab(browser, app.url)
    const { page } = tab
    await signedUp(tab, "ends@example.com")
    const name = page.getByLabel("Name of the key")
    await name.fill("typed before the end")
    await app.sql("UPDATE sessions SET ended_at = now() WHERE user_id = (SELECT user_id FROM users WHERE email = $1)", [
      "ends@example.com"
    ])
    await page.getByRole("button", { name: "Create the key" }).click()
    const dialog = page.getByRole("dialog", { name: "Your session has ended" })
    await dialog.waitFor()
    await screenshot(page, "session-ended")
    expect(await findings(page)).toEqual([])
    await dialog.getByLabel("Password").fill(password)
    await dialog.getByRole("button", { name: "Sign in", exact: true }).click()
    await dialog.waitFor({ state: "detached" })
    expect(await name.inputValue()).toBe("typed before the end")
    await page.getByRole("button", { name: "Create the key" }).click()
    await page.getByLabel("the API key", { exact: true }).first().waitFor()
    await tab.context.close()
  })

  test("signing in returns to the page that was asked for, and to no other site", async () => {
    const tab = await openTab(browser, app.url)
    const { page } = tab
    await signedUp(tab, "returns@example.com")
    await page.getByRole("button", { name: /^Organization/ }).click()
    await page.getByRole("menuitem", { name: /Sign out/ }).click()
    await page.getByRole("link", { name: "Sign in" }).waitFor()
    for (const [address, lands] of [
      ["/settings/account", "/settings/account"],
      ["/sign-in?next=//evil.example/x", "/"],
      ["/sign-in?next=javascript:alert(1)", "/"]
    ] as const) {
      await page.goto(address)
      await page.getByLabel("E-mail address").fill("returns@example.com")
      await page.getByLabel("Password").fill(password)
      await page.getByRole("button", { name: "Sign in", exact: true }).click()
      await page.waitForURL(`${app.url}${lands}`)
      await tab.context.clearCookies()
    }
    await tab.context.close()
  })
})
