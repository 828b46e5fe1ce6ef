/** A person in a browser: signs up or joins without forms, asks the API as the page would, and looks at pages in every form. */
import { expect } from "bun:test"
import type { Browser } from "playwright-core"
import { openTab, type Tab } from "./browser.ts"
import { lookedAt, password } from "./visit.ts"

/** A name that would run a script, or break a page, if it were not shown as text. */
export const hostile = `<img src=x onerror=alert(1)> "quoted" ' & x`

export interface Visitor extends Tab {
  /** Asks the API as this person. Returns the body. */
  readonly ask: (method: string, path: string, body?: unknown) => Promise<ReturnType<typeof JSON.parse>>
}

const asked = async (tab: Tab, method: string, path: string, body?: unknown) =>
  tab.page.evaluate(
    async ([method, path, body]) => {
      const response = await fetch(path ?? "", {
        method: method ?? "GET",
        headers: { "x-rungate-console": "1", ...(body === undefined ? {} : { "content-type": "application/json" }) },
        ...(body === undefined ? {} : { body })
      })
      const text = await response.text()
      return text === "" ? null : JSON.parse(text)
    },
    [method, path, body === undefined ? undefined : JSON.stringify(body)]
  )

const visitorIn = async (browser: Browser, url: string): Promise<Visitor> => {
  const tab = await openTab(browser, url)
  // A script of a hostile string would ask this way.
  tab.page.on("dialog", (dialog) => {
    tab.errors.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  await tab.page.goto("/sign-in")
  return { ...tab, ask: (method, path, body) => asked(tab, method, path, body) }
}

/** Somebody who has just signed up, so the owner of an organization. */
export const owner = async (browser: Browser, url: string, email: string): Promise<Visitor> => {
  const visitor = await visitorIn(browser, url)
  const session = await visitor.ask("POST", "/v1/auth/browser/sign-up", { email, password, organization: hostile })
  expect(session.user?.email).toBe(email)
  return visitor
}

/** Somebody whom the owner invited with this role. */
export const invited = async (browser: Browser, url: string, by: Visitor, email: string, role: string) => {
  const invitation = await by.ask("POST", "/v1/invitations", { email, role })
  expect(invitation).toHaveProperty("link")
  const visitor = await visitorIn(browser, url)
  const token = new URL(invitation.link).searchParams.get("token")
  const session = await visitor.ask("POST", "/v1/auth/browser/accept-invitation", { token, password })
  expect(session.role).toBe(role)
  return visitor
}

/** Waits until nothing on the page loads any more. */
export const settled = async ({ page }: Tab, heading: string | RegExp): Promise<void> => {
  await page.getByRole("heading", { level: 1, name: heading }).waitFor()
  await page.waitForFunction(() => document.querySelector(".skeleton") === null)
}

/** Opens the address, and looks at the page in both themes and widths. */
export const looked = async (tab: Tab, path: string, name: string, heading: string | RegExp): Promise<void> => {
  await tab.page.goto(path)
  await settled(tab, heading)
  await lookedAt(tab, name)
}
