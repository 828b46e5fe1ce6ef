/** What tests of pages share: a look at a page in both themes and widths, and an organization with money, signed in. */
import { expect } from "bun:test"
import type { App } from "../kit/app.ts"
import { newId } from "../../src/layers/platform/Ids.ts"
import { contrastFindings, findings, sizes, type Tab } from "./browser.ts"
import { screenshot } from "./screenshots.ts"

export const password = "correct horse battery"

/** The page, wide and narrow, light and dark: no finding of axe, no error of a script, nothing wider than the window. */
export const lookedAt = async (tab: Tab, name: string): Promise<void> => {
  const { page } = tab
  const look = async (variant: string, check: typeof findings) => {
    await screenshot(page, `${name}-${variant}`)
    expect([name, variant, await check(page)]).toEqual([name, variant, []])
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
    expect([name, variant, overflow]).toEqual([name, variant, 0])
  }
  await page.setViewportSize(sizes.wide)
  await page.emulateMedia({ colorScheme: "light" })
  await page.locator(".skeleton").first().waitFor({ state: "detached" })
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

/** Requests of the console's own kind, with the cookie of the tab. */
export const poster = (app: App, tab: Tab) => async (path: string, data: unknown) => {
  const headers = { "x-rungate-console": "1", origin: app.url }
  return (await tab.context.request.post(path, { data, headers })).json()
}

/** Signs up through the page. With an amount, the wallet gets it. */
export const signedUp = async (app: App, tab: Tab, email: string, amount?: string): Promise<void> => {
  const { page } = tab
  await page.goto("/sign-up")
  await page.getByLabel("E-mail address").fill(email)
  await page.getByLabel("Password").fill(password)
  await page.getByLabel("Name of your organization").fill("Acme <b>&amp;</b>")
  await page.getByRole("button", { name: "Sign up" }).click()
  await page.getByRole("heading", { name: "Home" }).waitFor()
  if (amount !== undefined) await poster(app, tab)("/v1/wallet/topups/checkout", { amount })
}

/** Gives somebody this role in their organization, beside another owner, because an organization needs one. */
export const withRole = async (app: App, email: string, role: "viewer" | "member" | "admin"): Promise<void> => {
  const owner = newId("usr")
  await app.sql(
    "INSERT INTO users (user_id, org_id, email, password_hash) SELECT $1, org_id, $2, 'none' FROM users WHERE email = $3",
    [owner, `${owner}@example.com`, email]
  )
  await app.sql("UPDATE members SET role = 'owner' WHERE user_id = $1", [owner])
  await app.sql("UPDATE members SET role = $1 WHERE user_id = (SELECT user_id FROM users WHERE email = $2)", [
    role,
    email
  ])
}
