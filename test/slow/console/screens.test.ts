/**
 * Pictures of every page, compared with approved ones: wide and light, wide and dark, narrow and light, some in the first look only. After a change that is meant,
 * `CONSOLE_APPROVE=1 npx bun test test/slow/console/screens.test.ts` approves what the pages look like now: look at the pictures before you commit them.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { Browser, CDPSession, Page } from "playwright-core"
import { type App, until, verify } from "../../kit/app.ts"
import { printedLink } from "../../http/operator/operator.ts"
import { receiver } from "../../kit/webhook-receiver.ts"
import { hasBrowser, openTab, sizes, type Tab } from "../../console/browser.ts"
import { unlike } from "../../console/pictures.ts"
import { hasFonts, still, watched } from "../../console/stillness.ts"
import { withConsole } from "../../console/suite.ts"
import { visit } from "../../console/visits.ts"

/** Name of the picture and address of the page. `$run` and its like stand for what the test has made. */
const customerPages = [
  ["home", "/"],
  ["activity", "/activity"],
  ["activity-groups", "/activity?group=capability"],
  ["run", "/runs/$run"],
  ["run-result", "/runs/$run?tab=result"],
  ["run-blocked", "/runs/$blocked"],
  ["batches", "/batches"],
  ["batch", "/batches/$batch"],
  ["batch-new", "/batches/new"],
  ["catalog", "/catalog"],
  ["capability", "/catalog/email.verify"],
  ["endpoint-task", "/catalog/dataforseo/v3/keywords_data/google_ads/search_volume/live?method=POST"],
  ["endpoint", "/catalog/sec_edgar/submissions/CIK{cik}.json?method=GET"],
  ["history", "/history?q=jane.doe%40example.com"],
  ["wallet", "/wallet"],
  ["usage", "/usage"],
  ["keys", "/settings/keys"],
  ["key", "/settings/keys/$key"],
  ["key-new", "/settings/keys/new"],
  ["allowance-new", "/settings/keys/new-allowance"],
  ["guard", "/settings/guard"],
  ["label-budgets", "/settings/label-budgets"],
  ["opt-outs", "/settings/opt-outs"],
  ["senders", "/settings/senders"],
  ["webhooks", "/settings/webhooks"],
  ["webhook", "/settings/webhooks/$hook"],
  ["webhook-new", "/settings/webhooks/new"],
  ["members", "/settings/members"],
  ["audit-log", "/settings/audit-log"],
  ["referrals", "/settings/referrals"],
  ["provider-accounts", "/settings/provider-accounts"],
  ["code", "/settings/code"],
  ["account", "/settings/account"],
  ["missing", "/no/such/page"]
] as const
const publicPages = [
  ["start", "/"],
  ["sign-in", "/sign-in"],
  ["sign-up", "/sign-up"],
  ["forgot", "/forgot"],
  ["status", "/status"],
  ["problems", "/problems"]
] as const
/** In one look, because their parts are on other pages too. */
const oneLook = new Set(["missing", "endpoint-task", "run-result", "status", "problems"])
/** Text that arrives after everything else of the page, without a skeleton in its place. */
const lastText = new Map([["start", "capabilities of"]])
const operatorPages = [
  ["operator-overview", "/operator"],
  ["operator-organizations", "/operator/organizations"],
  ["operator-organization", "/operator/organizations/$org"],
  ["operator-books", "/operator/books"],
  ["operator-queues", "/operator/queues"],
  ["operator-providers", "/operator/providers"],
  ["operator-credits", "/operator/credits"],
  ["operator-payments", "/operator/payments"],
  ["operator-unknown", "/operator/unknown"],
  ["operator-disputes", "/operator/disputes"],
  ["operator-invitations", "/operator/invitations"],
  ["operator-catalog", "/operator/catalog"],
  ["operator-audit-log", "/operator/audit-log"]
] as const

interface Looker extends Tab {
  readonly session: CDPSession
  readonly settled: () => Promise<void>
}

describe.skipIf(!hasBrowser)("pages look as they were approved", () => {
  let app: App
  let browser: Browser
  let hooks: ReturnType<typeof receiver>
  let customer: Looker
  let stranger: Looker
  let operator: Looker
  let hasAllFonts = true
  const made = new Map<string, string>()

  const looker = async (tab: Tab): Promise<Looker> => ({
    ...tab,
    session: await tab.context.newCDPSession(tab.page),
    settled: watched(tab.page)
  })

  /** One organization in which every page has something to show, made in a fixed order. */
  const customerMade = async (): Promise<Tab> => {
    const person = await visit(app, browser, "ada@example.com")
    const { send, key } = person
    const run = async (body: unknown): Promise<string> => (await app.call(key, "POST", "/v1/run", { body })).body.run_id
    const hook = await send("POST", "/v1/webhook-endpoints", { url: hooks.url, events: ["run.finished"] })
    made.set("run", await run({ ...verify(), metadata: { campaign: "spring" } }))
    await until(
      "a delivered event",
      async () => (await send("GET", `/v1/webhook-endpoints/${hook.id}/deliveries?status=delivered`)).items.length,
      (count) => count === 1
    )
    await send("PATCH", `/v1/webhook-endpoints/${hook.id}`, { status: "paused" })
    await run({ capability: "email.find", input: { full_name: "Ada Lovelace", company_domain: "example.com" } })
    await send("POST", "/v1/spend-guard", { per_run_limit: "0.000001" })
    made.set("blocked", await run(verify("other")))
    await send("POST", "/v1/spend-guard", { per_run_limit: "1.00", daily_limit: "10.00" })
    const emails = ["a1@batch.example", "a2@batch.example", "not an address", "a3@batch.example"]
    const runs = emails.map((email) => ({ capability: "email.verify", input: { email } }))
    const batch = await send("POST", "/v1/batches", { runs, max_total: "0.50", metadata: { file: "people.csv" } })
    await until(
      "the batch's end",
      () => send("GET", `/v1/batches/${batch.id}`),
      ({ status }) => status === "finished"
    )
    const expires_at = new Date(Date.now() + 7_200_000).toISOString()
    await send("POST", "/v1/allowances", { name: "Researcher", amount: "0.50", expires_at })
    await send("POST", "/v1/senders", { domain: "acme-shop.com" })
    await send("POST", "/v1/invitations", { email: "grace@example.com", role: "member" })
    for (const value of ["ada@acme.example", "example.org"])
      await send("POST", "/v1/opt-outs", { values: [value], reason: "asked by phone" })
    await send("PUT", "/v1/label-budgets", { label: "customer", limit: "5.00", period: "day" })
    await send("PUT", "/v1/label-budgets", { label: "customer", value: "acme", limit: "25.00", period: "month" })
    await send("PUT", "/v1/provider-accounts/hunter", { api_key: "a key of hunter" })
    const signed = () => app.sql("SELECT 1 FROM wallet_head_days")
    await until("heads of the ledger", signed, ({ length }) => length > 0)
    // When a key was last used is written later.
    const agent = await until(
      "the use of the key",
      async () => (await send("GET", "/v1/api-keys")).items.find(({ name }: { name: string }) => name === "agent"),
      ({ last_used_at }) => last_used_at !== null
    )
    made.set("hook", hook.id).set("batch", batch.id).set("key", agent.id)
    const [row] = await app.sql("SELECT org_id FROM users WHERE email = 'ada@example.com'")
    made.set("org", String(row?.["org_id"]))
    await app.sql("INSERT INTO referral_codes (org_id, code) VALUES ($1, 'spring24')", [row?.["org_id"]])
    await app.sql(
      "INSERT INTO provider_credits (provider, balance, low_below, source) VALUES ('hunter', 1600000000, NULL, 'set'), ('lusha', 40000000, 50000000, 'set'), ('findymail', NULL, NULL, 'read')"
    )
    return person
  }
  const operatorSignedIn = async (): Promise<Tab> => {
    const tab = await openTab(browser, app.url)
    await tab.page.goto(`/operator/sign-in#${await printedLink(app)}`)
    await tab.page.getByRole("button", { name: "Open the operator console" }).click()
    await tab.page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
    return tab
  }

  withConsole(
    (opened) => {
      app = opened.app
      browser = opened.browser
    },
    {
      settings: {
        RUNGATE_STATUS_PAGE: "on",
        RUNGATE_WEBHOOK_ALLOW_PRIVATE: "1",
        RUNGATE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64")
      }
    }
  )
  beforeAll(async () => {
    hooks = receiver()
    customer = await looker(await customerMade())
    stranger = await looker(await openTab(browser, app.url))
    operator = await looker(await operatorSignedIn())
    hasAllFonts = await hasFonts(stranger.page)
    if (!hasAllFonts)
      console.log("SKIPPED: pictures of pages, because the fonts Liberation are not installed (fonts-liberation)")
  })
  afterAll(() => hooks.stop())

  const looks = [
    ["light", "wide", "light"],
    ["dark", "wide", "dark"],
    ["narrow", "narrow", "light"]
  ] as const

  const heightOf = (page: Page) => page.evaluate(() => document.documentElement.scrollHeight)

  const expectApproved = async ({ page, session, settled, errors }: Looker, name: string, address: string) => {
    if (!hasAllFonts) return
    const unliked: Array<string> = []
    const path = address.replace(/\$(\w+)/, (_, what) => made.get(what) ?? "")
    await page.setViewportSize(sizes.wide)
    await page.emulateMedia({ colorScheme: "light" })
    await page.goto(path)
    const last = lastText.get(name)
    if (last !== undefined) await page.getByText(last).first().waitFor()
    for (const [look, size, colorScheme] of oneLook.has(name) ? looks.slice(0, 1) : looks) {
      await page.setViewportSize(sizes[size])
      await page.emulateMedia({ colorScheme })
      // What arrives or moves on between waiting and the picture is in order at the next one.
      for (let tries = 3; tries > 0; tries--) {
        await settled()
        await still(page)
        // As high as the page, so that the bar at the bottom covers nothing.
        if (look === "narrow") await page.setViewportSize({ ...sizes[size], height: await heightOf(page) })
        const difference = await unlike(page, session, `${name}-${look}`)
        if (difference === null) break
        if (tries === 1) unliked.push(difference)
      }
    }
    expect(unliked).toEqual([])
    expect([name, errors]).toEqual([name, []])
  }

  test.each(customerPages)("%s", (name, address) => expectApproved(customer, name, address))
  test.each(publicPages)("%s", (name, address) => expectApproved(stranger, name, address))
  test.each(operatorPages)("%s", (name, address) => expectApproved(operator, name, address))
})
