/** What tests of single pages share: somebody who has signed up, requests with their session, and a look at a page from all sides. */
import { expect } from "bun:test"
import type { Browser } from "playwright-core"
import type { App } from "../app.ts"
import { contrastFindings, findings, openTab, sizes, type Tab } from "./browser.ts"
import { screenshot } from "./screenshots.ts"

const password = "correct horse battery"

export interface Visit extends Tab {
  /** Sends a request of the console's own pages. */
  readonly send: (method: string, path: string, data?: unknown) => Promise<ReturnType<typeof JSON.parse>>
  /** An API key of the organization. */
  readonly key: string
}

/** Somebody who has signed up and paid in, with an API key, in a tab of their own. */
export const visit = async (app: App, browser: Browser, email: string): Promise<Visit> => {
  const tab = await openTab(browser, app.url)
  const headers = { "x-rungate-console": "1", origin: app.url }
  const send = async (method: string, path: string, data?: unknown) => {
    const response = await tab.context.request.fetch(path, {
      method,
      headers,
      ...(data === undefined ? {} : { data })
    })
    expect([method, path, response.status() < 300 ? "" : await response.text()]).toEqual([method, path, ""])
    return response.json()
  }
  // By the form, because only the browser itself keeps a secure cookie of a service without https on this machine.
  await tab.page.goto("/sign-up")
  await tab.page.getByLabel("E-mail address").fill(email)
  await tab.page.getByLabel("Password").fill(password)
  await tab.page.getByLabel("Name of your organization").fill("Acme")
  await tab.page.getByRole("button", { name: "Sign up" }).click()
  await tab.page.getByRole("heading", { level: 1, name: "Home" }).waitFor()
  await send("POST", "/v1/wallet/topups/checkout", { amount: "25.00" })
  const { api_key } = await send("POST", "/v1/api-keys", { name: "agent", environment: "test" })
  return { ...tab, send, key: api_key }
}

/** The page as it is, wide and narrow, in both themes: no finding of axe-core, no error of a script, nothing wider than the window. */
export const looked = async (tab: Tab, name: string): Promise<void> => {
  const { page } = tab
  const look = async (variant: string, check: typeof findings) => {
    await screenshot(page, `${name}-${variant}`)
    expect([name, variant, await check(page)]).toEqual([name, variant, []])
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
    expect([name, variant, overflow]).toEqual([name, variant, 0])
  }
  await page.setViewportSize(sizes.wide)
  await page.emulateMedia({ colorScheme: "light" })
  await look("wide-light", findings)
  await page.emulateMedia({ colorScheme: "dark" })
  await look("wide-dark", contrastFindings)
  await page.setViewportSize(sizes.narrow)
  await look("narrow-dark", findings)
  await page.emulateMedia({ colorScheme: "light" })
  await look("narrow-light", contrastFindings)
  await page.setViewportSize(sizes.wide)
  expect([name, tab.errors]).toEqual([name, []])
}

/** Opens an address, and waits for its heading and for its data. */
export const opened = async (tab: Tab, path: string, heading: string): Promise<void> => {
  await tab.page.goto(path)
  await tab.page.getByRole("heading", { level: 1, name: heading }).waitFor()
  await tab.page.locator(".skeleton").first().waitFor({ state: "detached" })
}

/** From now on the person has this role in their organization. */
export const becomes = async (app: App, email: string, role: "admin" | "member" | "viewer"): Promise<void> => {
  await app.sql("UPDATE members SET role = $2 WHERE user_id = (SELECT user_id FROM users WHERE email = $1)", [
    email,
    role
  ])
}
