/** What tests of single pages share: somebody who has signed up, and requests with their session. */
import { expect } from "bun:test"
import type { Browser } from "playwright-core"
import type { App } from "../kit/app.ts"
import { openTab, type Tab } from "./browser.ts"
import { password } from "./visit.ts"

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

/** Opens an address, and waits for its heading and for its data. */
export const opened = async (tab: Tab, path: string, heading: string): Promise<void> => {
  await tab.page.goto(path)
  await tab.page.getByRole("heading", { level: 1, name: heading }).waitFor()
  await tab.page.locator(".skeleton").first().waitFor({ state: "detached" })
}
