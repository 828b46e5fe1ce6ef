/** The pages of webhooks in a real browser, with a receiver on loopback. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import type { Browser } from "playwright-core"
import { type App, until } from "../../kit/app.ts"
import { receiver } from "../../kit/webhook-receiver.ts"
import { findings, hasBrowser } from "../../console/browser.ts"
import { withConsole } from "../../console/suite.ts"
import { invited, looked, owner, settled, type Visitor } from "../../console/visitor.ts"

describe.skipIf(!hasBrowser)("the pages of webhooks", () => {
  let app: App
  let browser: Browser
  let hooks: ReturnType<typeof receiver>
  withConsole(
    (opened) => {
      app = opened.app
      browser = opened.browser
    },
    { settings: { RUNGATE_WEBHOOK_ALLOW_PRIVATE: "1" } }
  )
  beforeEach(() => {
    hooks = receiver()
  })
  afterEach(() => hooks.stop())

  const topUp = (person: Visitor) => person.ask("POST", "/v1/wallet/topups/checkout", { amount: "25.00" })
  const got = (count: number) =>
    until(
      `${count} webhooks`,
      () => hooks.got.length,
      (length) => length >= count
    )
  const deliveries = async (person: Visitor, id: string, status: string) =>
    until(
      `a delivery that is ${status}`,
      async () => (await person.ask("GET", `/v1/webhook-endpoints/${id}/deliveries?status=${status}`)).items.length,
      (length) => length > 0
    )

  test("an endpoint is added, gets an event, and shows request and answer; the event is sent again", async () => {
    const person = await owner(browser, app.url, "hooks@example.com")
    const { page } = person
    await looked(person, "/settings/webhooks", "webhooks-empty", "Webhooks")
    await page.getByRole("link", { name: "Add an endpoint" }).first().click()
    await settled(person, "Add a webhook endpoint")
    expect(await findings(page)).toEqual([])
    await page.getByLabel("Address").fill("ftp://example.com/<script>")
    await page.getByRole("button", { name: "Add the endpoint" }).click()
    await page.getByRole("alert").waitFor()
    await page.getByLabel("Address").fill(hooks.url)
    await page.getByLabel("run.finished").uncheck()
    await page.getByLabel("wallet.changed").check()
    await page.getByRole("button", { name: "Add the endpoint" }).click()
    const secret = await page
      .getByRole("region", { name: "the webhook secret", exact: true })
      .locator("pre")
      .textContent()
    expect(secret).toMatch(/^whsec_/)
    await page.getByRole("button", { name: "I have stored the secret" }).click()
    await page.waitForURL(/settings\/webhooks\/whe_/)
    const id = new URL(page.url()).pathname.split("/").at(-1) ?? ""
    await page.getByText("Deliveries will be here, newest first.").waitFor()
    await topUp(person)
    await got(1)
    await deliveries(person, id, "delivered")
    await looked(person, `/settings/webhooks/${id}`, "webhook", "Webhook endpoint")
    await page.locator("summary").filter({ hasText: "wallet.changed" }).click()
    await page.getByText("HTTP 200").waitFor()
    await page.getByText('"type": "wallet.changed"').waitFor()
    expect(await findings(page)).toEqual([])
    await page.getByRole("button", { name: "Send this event again" }).click()
    await got(2)
    expect(new Set(hooks.got.map((one) => one.id)).size).toBe(1)
    await page.getByLabel("Status of deliveries").selectOption("failed")
    await page.waitForURL(/status=failed/)
    await page.getByText("No delivery is failed.").waitFor()
    expect(person.errors).toEqual([])
    await person.context.close()
  })

  test("pause, resume, events of a time again, a new secret, and removal", async () => {
    const person = await owner(browser, app.url, "manages@example.com")
    const { page } = person
    const made = await person.ask("POST", "/v1/webhook-endpoints", { url: hooks.url, events: ["wallet.changed"] })
    await topUp(person)
    await got(1)
    await deliveries(person, made.id, "delivered")
    await page.goto(`/settings/webhooks/${made.id}`)
    await page.getByRole("button", { name: "Pause the endpoint" }).click()
    await page.getByText("Events wait.").waitFor()
    await looked(person, `/settings/webhooks/${made.id}`, "webhook-paused", "Webhook endpoint")
    await page.getByText("Send the events of a time again").click()
    expect(await page.getByRole("button", { name: "Send these events again" }).isDisabled()).toBe(true)
    await page.getByRole("button", { name: "Resume the endpoint" }).click()
    await page.getByText("active", { exact: true }).waitFor()
    await page.getByLabel("From (your time zone)").fill("2026-01-01T00:00")
    await page.getByLabel("Which events").selectOption({ label: "All, delivered ones too" })
    await page.getByRole("button", { name: "Send these events again" }).click()
    await page
      .getByRole("dialog", { name: "Send these events again?" })
      .getByRole("button", { name: "Send them again" })
      .click()
    await page.getByText("1 event is sent again.").first().waitFor()
    await got(2)

    await page.getByRole("button", { name: "Rotate the secret" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Rotate the secret" }).click()
    const secret = await page
      .getByRole("region", { name: "the new webhook secret", exact: true })
      .locator("pre")
      .textContent()
    expect([secret?.startsWith("whsec_"), secret === made.secret]).toEqual([true, false])
    await page.getByText("Webhooks are signed with the previous secret too").waitFor()
    await page.getByRole("button", { name: "I have stored the new secret" }).click()
    await page.getByRole("button", { name: "Remove the endpoint" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Remove the endpoint" }).click()
    await page.getByText("Endpoints will be here, each with its deliveries.").waitFor()
    expect(person.errors).toEqual([])
    await person.context.close()
  })

  test("an endpoint that fails says since when, and a viewer can't change it", async () => {
    const person = await owner(browser, app.url, "fails@example.com")
    hooks.state.status = 500
    const made = await person.ask("POST", "/v1/webhook-endpoints", { url: hooks.url, events: ["wallet.changed"] })
    await topUp(person)
    await got(1)
    await until(
      "the failure",
      () => person.ask("GET", `/v1/webhook-endpoints/${made.id}`),
      (endpoint) => endpoint.failing_since !== null
    )
    const viewer = await invited(browser, app.url, person, "views-hooks@example.com", "viewer")
    await looked(viewer, `/settings/webhooks/${made.id}`, "webhook-failing", "Webhook endpoint")
    await viewer.page.getByText("The endpoint has accepted nothing since").waitFor()
    expect(await viewer.page.getByRole("button", { name: /Pause|Rotate|Remove|Save|Send/ }).count()).toBe(0)
    await looked(viewer, "/settings/webhooks", "webhooks", "Webhooks")
    expect([...person.errors, ...viewer.errors]).toEqual([])
    await viewer.context.close()
    await person.context.close()
  })
})
