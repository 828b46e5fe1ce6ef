/** The page History in a browser: one subject, a list, erasure, and what it says to somebody who may not erase. */
import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { parse } from "papaparse"
import type { Browser } from "playwright-core"
import type { App } from "../../kit/app.ts"
import { findings, hasBrowser } from "../../console/browser.ts"
import { screenshot } from "../../console/screenshots.ts"
import { withConsole } from "../../console/suite.ts"
import { lookedAt, withRole } from "../../console/visit.ts"
import { opened, visit, type Visit } from "../../console/visits.ts"

const ada = "ada.lovelace@history.example"

describe.skipIf(!hasBrowser)("History in a browser", () => {
  let app: App
  let browser: Browser
  withConsole((opened) => {
    app = opened.app
    browser = opened.browser
  })

  const addressOf = (q: string) => `/history?${new URLSearchParams({ q })}`

  /** A lookup and a message about Ada, and a message to somebody else that mentions her. */
  const withRuns = async ({ key }: Visit) => {
    const run = async (body: unknown): Promise<string> => (await app.call(key, "POST", "/v1/run", { body })).body.run_id
    const verified = await run({ capability: "email.verify", input: { email: ada } })
    const sent = await run({
      capability: "email.send",
      input: { from: "me@sender.example", to: [ada], subject: "Hello", text: "Hello Ada" }
    })
    const mentioned = await run({
      capability: "email.send",
      input: { from: "me@sender.example", to: ["bob@history.example"], subject: "Hello", text: `Ask ${ada} <script>` }
    })
    return { verified, sent, mentioned }
  }

  test("a subject was contacted and bought, and every run is on the timeline", async () => {
    const tab = await visit(app, browser, "history@example.com")
    const { page } = tab
    const { verified, sent, mentioned } = await withRuns(tab)
    await opened(tab, "/history", "History")
    await lookedAt(tab, "history-empty")
    await page.keyboard.press("/")
    await page.keyboard.type(`  ${ada.toUpperCase()} `)
    await page.keyboard.press("Enter")
    await page.waitForURL(/\/history\?q=/)
    await page.getByRole("heading", { name: "Timeline" }).waitFor()
    await page.getByText(`Read as e-mail address: ${ada}`).waitFor()
    const line = page.getByRole("region", { name: "Timeline" })
    const links = await line
      .getByRole("link")
      .evaluateAll((all) => all.map((one) => one.getAttribute("href")?.replace("/runs/", "")))
    expect(links).toEqual([mentioned, sent, verified])
    expect(await line.getByText("message: email").count()).toBe(2)
    expect(await line.getByText("bought").count()).toBe(1)
    await page.getByText("1 result", { exact: true }).waitFor()
    await lookedAt(tab, "history-subject")

    await page.getByRole("link", { name: "email.verify" }).first().click()
    await page.waitForURL(`${app.url}/runs/${verified}`)
    await page.goBack()
    await page.getByRole("heading", { name: "Timeline" }).waitFor()
    await opened(tab, addressOf("nobody@history.example"), "History")
    await page.getByText("Nothing is on record.").waitFor()
    await opened(tab, addressOf('"><img src=x onerror=alert(1)>'), "History")
    await page.getByText("Read as phrase").waitFor()
    expect(tab.errors).toEqual([])
    await tab.context.close()
  })

  test("a list is pasted, looked up and saved as CSV", async () => {
    const tab = await visit(app, browser, "list@example.com")
    const { page } = tab
    await withRuns(tab)
    await opened(tab, "/history", "History")
    const lines = [ada, "=cmd()", "new@history.example", ada, "", "<b>phrase</b>"]
    await page.getByRole("textbox", { name: /E-mail address, domain/ }).evaluate((box, text) => {
      const data = new DataTransfer()
      data.setData("text/plain", text)
      box.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }))
    }, lines.join("\r\n"))
    await page.getByRole("button", { name: "Look up 4 subjects" }).click()
    await page.getByText(/on record, .* new, 1 contacted/).waitFor()
    const table = page.getByRole("table")
    expect(await table.getByRole("row").count()).toBe(5)
    await table.getByRole("row", { name: /ada\.lovelace.*yes/ }).waitFor()
    await lookedAt(tab, "history-list")

    const saving = page.waitForEvent("download")
    await page.getByRole("button", { name: "Export CSV" }).click()
    const text = readFileSync((await (await saving).path()) ?? "", "utf8")
    const { data } = parse<Record<string, string>>(text.trim(), { header: true })
    expect(data.map((row) => [row["subject"], row["contacted"]])).toEqual([
      [ada, "yes"],
      ["'=cmd()", "no"],
      ["new@history.example", "no"],
      ["<b>phrase</b>", "no"]
    ])
    expect(tab.errors).toEqual([])
    await tab.context.close()
  })

  test("erasing says how many runs it reaches, and erases them", async () => {
    const tab = await visit(app, browser, "erase@example.com")
    const { page } = tab
    const { sent } = await withRuns(tab)
    await opened(tab, addressOf(ada), "History")
    await page.getByRole("button", { name: "Erase this subject" }).click()
    const dialog = page.getByRole("dialog", { name: "Erase 3 runs?" })
    await dialog.getByText(ada).waitFor()
    await dialog.getByText("Charges and ledger entries stay.").waitFor()
    await screenshot(page, "history-erase")
    expect(await findings(page)).toEqual([])
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
    const kept = await app.call(tab.key, "GET", `/v1/history?${new URLSearchParams({ q: ada })}`)
    expect(kept.body.count).toBe(3)

    await page.getByRole("button", { name: "Erase this subject" }).click()
    await page.getByRole("button", { name: "Erase 3 runs" }).click()
    await page.getByRole("heading", { name: "Erased 3 runs" }).waitFor()
    await page.getByRole("button", { name: "Close" }).click()
    await page.getByText("Nothing is on record.").waitFor()
    const { body } = await app.call(tab.key, "GET", `/v1/runs/${sent}`)
    expect([body.status, JSON.stringify(body).includes(ada)]).toEqual(["succeeded", false])

    const labelled = { capability: "email.verify", input: { email: "eve@acme.example" }, metadata: { asked_by: ada } }
    expect((await app.call(tab.key, "POST", "/v1/run", { body: labelled })).status).toBe(200)
    await page.getByRole("button", { name: "Erase this subject" }).click()
    await page.getByRole("button", { name: "Erase labels and batch rows" }).click()
    await page.getByRole("heading", { name: "Erased 1 run" }).waitFor()
    expect(await findings(page)).toEqual([])
    await app.books()
    await tab.context.close()
  })

  test("a member reads, and learns who can erase", async () => {
    const email = "member@example.com"
    const tab = await visit(app, browser, email)
    await withRuns(tab)
    await withRole(app, email, "member")
    await opened(tab, addressOf(ada), "History")
    await tab.page.getByText("An admin or an owner can erase a subject.").waitFor()
    expect(await tab.page.getByRole("button", { name: "Erase this subject" }).count()).toBe(0)
    await tab.context.close()
  })

  test("a refusal names the problem, and a service that can't be reached leaves what was typed", async () => {
    const tab = await visit(app, browser, "failing@example.com")
    const { page } = tab
    await opened(tab, `${addressOf("not a phone number")}&kind=phone`, "History")
    await page.getByRole("alert").getByText("can't be read as phone").waitFor()
    await page.getByRole("button", { name: "Look up a list" }).click()
    const box = page.getByLabel("Subjects, one a line")
    await box.fill("one@example.com\ntwo@example.com")
    await tab.context.setOffline(true)
    await page.getByRole("button", { name: "Look up 2 subjects" }).click()
    await page.getByRole("alert").getByText("The service can't be reached").waitFor()
    expect(await box.inputValue()).toBe("one@example.com\ntwo@example.com")
    await tab.context.close()
  })
})
