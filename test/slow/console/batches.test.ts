/** Batches in a browser: a CSV becomes a batch, once; its rows end in sight; and it can be cancelled. */
import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { parse } from "papaparse"
import type { Browser } from "playwright-core"
import { type App, until } from "../../kit/app.ts"
import { heldProvider, rehearseHeld } from "../../kit/held-provider.ts"
import { findings, hasBrowser } from "../../console/browser.ts"
import { withConsole } from "../../console/suite.ts"
import { lookedAt, withRole } from "../../console/visit.ts"
import { opened, visit, type Visit } from "../../console/visits.ts"

const csvOf = (lines: ReadonlyArray<string>) => `${lines.join("\n")}\n`
const fileOf = (text: string | Buffer, name = "people.csv") => ({
  name,
  mimeType: "text/csv",
  buffer: Buffer.from(text)
})

describe.skipIf(!hasBrowser)("Batches in a browser", () => {
  const held = heldProvider()
  let app: App
  let browser: Browser
  withConsole(
    (opened) => {
      app = opened.app
      browser = opened.browser
    },
    { held }
  )

  const choose = async ({ page }: Visit, file: ReturnType<typeof fileOf>) => {
    await page.locator("input[type=file]").setInputFiles(file)
  }
  const batches = async ({ key }: Visit) => (await app.call(key, "GET", "/v1/batches")).body.items
  const runButton = ({ page }: Visit) => page.getByRole("button", { name: /^Run [\d,]+ rows? for at most/ })

  test("a file is mapped, priced and run once, and its results are saved", async () => {
    const tab = await visit(app, browser, "batches@example.com")
    const { page } = tab
    await opened(tab, "/batches", "Batches")
    await page.getByText("Batches will be here, newest first.").waitFor()
    await lookedAt(tab, "batches-empty")
    await page.getByRole("link", { name: "New batch" }).click()
    await page.getByRole("heading", { level: 1, name: "New batch" }).waitFor()
    const file = fileOf(
      csvOf([
        "Notes;E-Mail",
        "<script>alert(1)</script>;a1@batch.example",
        "=cmd();a2@batch.example",
        "wrong;no address",
        "again;a1@batch.example"
      ])
    )
    await choose(tab, file)
    await page.getByText("4 rows, 2 columns").waitFor()
    await page.getByLabel("Capability").selectOption("email.verify")
    await page.waitForURL(/capability=email.verify/)
    // The column is guessed by its name.
    const column = page.getByLabel("email (required)")
    await column.waitFor()
    expect(await column.inputValue()).toBe("E-Mail")
    await page.getByText("1 of 4 rows will be refused").waitFor()
    await page.getByText("1 row repeats the input of an earlier row").waitFor()
    await runButton(tab).waitFor()
    await lookedAt(tab, "batch-new")
    await column.selectOption("")
    await page.getByText("Choose a column for at least one field.").waitFor()
    await column.selectOption("E-Mail")
    await page.getByLabel("Limit of the whole batch in USD").fill("0.50")
    await page.getByRole("button", { name: "Run 4 rows for at most $0.50" }).click()
    await page.waitForURL(/\/batches\/bat_/)
    await page.getByText("finished", { exact: true }).waitFor()
    await page.getByRole("heading", { level: 1, name: "people.csv" }).waitFor()
    await page.getByRole("region", { name: "Results" }).getByRole("row").nth(4).waitFor()
    await lookedAt(tab, "batch-finished")
    const [batch] = await batches(tab)
    expect(batch).toMatchObject({ max_total: "0.50", metadata: { file: "people.csv" }, rows: { total: 4, invalid: 1 } })

    await page.getByLabel("Status of the rows").selectOption("invalid")
    await page.waitForURL(/status=invalid/)
    const rows = page.getByRole("region", { name: "Results" }).getByRole("row")
    await rows.nth(2).waitFor({ state: "detached" })
    await rows.nth(1).waitFor()
    expect(await rows.count()).toBe(2)

    const download = async (kind: string) => {
      await page.getByRole("button", { name: /Download results/ }).click()
      await page.getByRole("menuitem", { name: kind }).click()
    }
    const savedRows = async (act: () => Promise<void>) => {
      const saving = page.waitForEvent("download")
      await act()
      const text = readFileSync((await (await saving).path()) ?? "", "utf8")
      return parse<Record<string, string>>(text.trim(), { header: true }).data
    }
    const statuses = (rows: ReadonlyArray<Record<string, string>>) =>
      rows.map((row) => [row["Notes"], row["E-Mail"], row["status"] === "invalid"])
    const beside = [
      ["<script>alert(1)</script>", "a1@batch.example", false],
      ["'=cmd()", "a2@batch.example", false],
      ["wrong", "no address", true],
      ["again", "a1@batch.example", false]
    ]
    expect(await savedRows(() => download("CSV of the results"))).toHaveLength(4)
    expect(statuses(await savedRows(() => download("CSV beside the columns")))).toEqual(beside)
    // After a reload the page asks for the file.
    await page.reload()
    await page.getByRole("heading", { level: 1, name: "people.csv" }).waitFor()
    await download("CSV beside the columns")
    const ask = page.getByRole("dialog", { name: "Choose the file of this batch" })
    await ask.getByLabel("CSV of the batch").setInputFiles(fileOf("E-Mail\none@batch.example\n", "other.csv"))
    await ask.getByRole("alert").getByText("other.csv has 1 row, and the batch has 4").waitFor()
    expect(await findings(page)).toEqual([])
    const again = await savedRows(() => ask.getByLabel("CSV of the batch").setInputFiles(file))
    expect(statuses(again)).toEqual(beside)

    // The same file after a reload, with another limit: nothing is started or paid.
    await opened(tab, "/batches/new?capability=email.verify", "New batch")
    await choose(tab, file)
    await runButton(tab).click()
    await page.getByText("This file was run before").waitFor()
    expect(await findings(page)).toEqual([])
    expect(await batches(tab)).toHaveLength(1)
    await page.getByRole("link", { name: "Show that batch" }).click()
    await page.waitForURL(`${app.url}/batches/${batch.id}`)

    await opened(tab, "/batches/new?capability=email.verify", "New batch")
    await choose(tab, file)
    await runButton(tab).click()
    await page.getByRole("button", { name: /^Run it again, and pay again/ }).click()
    await page.waitForURL(/\/batches\/bat_/)
    expect(await batches(tab)).toHaveLength(2)
    await opened(tab, "/batches", "Batches")
    await lookedAt(tab, "batches")
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    await page.waitForURL(/\/batches\/bat_/)
    expect(tab.errors).toEqual([])
    await tab.context.close()
  })

  test("files that can't be read are refused with what to change", async () => {
    const tab = await visit(app, browser, "files@example.com")
    const { page } = tab
    await opened(tab, "/batches/new?capability=email.verify", "New batch")
    const refusals: ReadonlyArray<readonly [string | Buffer, string]> = [
      ["", "needs a header line and at least one row"],
      ["email\n", "needs a header line and at least one row"],
      ['email\n"open', "a quote that is not closed or not doubled"],
      [Buffer.from([0x50, 0x4b, 3, 4, 0, 0, 0, 0]), "is no CSV"],
      [`email\n${"a@b.example\n".repeat(10_001)}`, "has 10,001 rows"]
    ]
    for (const [content, message] of refusals) {
      await choose(tab, fileOf(content, "bad.csv"))
      await page.getByRole("alert").getByText(message).waitFor()
    }
    await choose(tab, fileOf(Buffer.from("name,email\nZo\xeb,zoe@batch.example\n", "latin1")))
    await page.getByText("It was read as Windows-1252").waitFor()
    await opened(tab, "/batches/new?capability=no.such", "New batch")
    await page.getByText("There is no capability no.such").waitFor()
    await page.goto("/batches/bat_none")
    await page.getByRole("alert").getByText('There is no batch "bat_none".').waitFor()
    await tab.context.close()
  })

  test("a running batch shows its progress, and is cancelled after a question", async () => {
    const tab = await visit(app, browser, "cancels@example.com")
    const { page } = tab
    // More than an organization has under way at once.
    const runs = Array.from({ length: 300 }, (_, n) => rehearseHeld(`p${n}`))
    const { id } = await tab.send("POST", "/v1/batches", { runs, max_total: "9.00" })
    await opened(tab, `/batches/${id}`, "Batch")
    await page.getByRole("progressbar", { name: "Rows that have ended" }).waitFor()
    await page.getByRole("button", { name: "Cancel the batch" }).click()
    const dialog = page.getByRole("dialog", { name: "Cancel this batch?" })
    await dialog.getByText("Runs that have started go on").waitFor()
    expect(await findings(page)).toEqual([])
    await dialog.getByRole("button", { name: "Cancel the batch" }).click()
    const cancelled = page.getByText("cancelled", { exact: true }).filter({ visible: true })
    await until(
      "the batch to be cancelled",
      () => {
        held.release()
        return cancelled.count()
      },
      (count) => count > 0
    )
    await app.books()
    await tab.context.close()
  })

  test("blocked rows are run again with a higher limit, and the list shows their new results", async () => {
    const tab = await visit(app, browser, "retries@example.com")
    const { page } = tab
    const runs = Array.from({ length: 4 }, (_, n) => ({
      capability: "email.verify",
      input: { email: `p${n}@retry.example` }
    }))
    const { id } = await tab.send("POST", "/v1/batches", { runs, max_total: "0.0065" })
    await opened(tab, `/batches/${id}`, "Batch")
    await page.getByRole("button", { name: "Run 3 blocked rows again" }).click()
    const dialog = page.getByRole("dialog", { name: "Run 3 blocked rows again?" })
    const limit = dialog.getByLabel("Limit of the whole batch in USD")
    expect(await limit.inputValue()).toBe("0.0065")
    await limit.fill("0.50")
    expect(await findings(page)).toEqual([])
    await lookedAt(tab, "batch-retry")
    await dialog.getByRole("button", { name: "Run 3 blocked rows for at most $0.497" }).click()
    await page.getByText("4 of 4 rows", { exact: true }).waitFor()
    await until(
      "all rows to have succeeded",
      () => page.getByRole("region", { name: "Results" }).getByRole("row").filter({ hasText: "succeeded" }).count(),
      (count) => count === 4
    )
    expect(await page.getByRole("button", { name: /blocked/ }).count()).toBe(0)
    await app.books()
    await tab.context.close()
  })

  test("a viewer sees the price, and who can run", async () => {
    const email = "viewer@example.com"
    const tab = await visit(app, browser, email)
    await withRole(app, email, "viewer")
    await opened(tab, "/batches/new?capability=email.verify", "New batch")
    await choose(tab, fileOf("email\na@viewer.example\n"))
    await tab.page.getByText("Your role is viewer").waitFor()
    expect(await tab.page.getByRole("button", { name: /^Run/ }).count()).toBe(0)
    await tab.context.close()
  })
})
