/** The outcome warranty on the page of a run, in a real browser: disputed, refunded, refused, and what a viewer sees. */
import { beforeAll, describe, expect, test } from "bun:test"
import type { Browser } from "playwright-core"
import { type App, until } from "../../kit/app.ts"
import { printedLink } from "../../http/operator/operator.ts"
import { indexedAndCounted } from "../../kit/finished-work.ts"
import { findings, hasBrowser, openTab } from "../../console/browser.ts"
import { withConsole } from "../../console/suite.ts"
import { hostile, invited, looked, owner, type Visitor } from "../../console/visitor.ts"

const bounce = "bounce@sandbox.test"

describe.skipIf(!hasBrowser)("the outcome warranty in the console", () => {
  let app: App
  let browser: Browser
  let person: Visitor
  withConsole(
    (opened) => {
      app = opened.app
      browser = opened.browser
    },
    { settings: { RUNGATE_WARRANTY_SHARE: "1" } }
  )
  beforeAll(async () => {
    person = await owner(browser, app.url, "disputes@example.com")
    await person.ask("POST", "/v1/wallet/topups/checkout", { amount: "10.00" })
  })

  const checked = async () => {
    const input = { email: bounce }
    const { run_id } = await person.ask("POST", "/v1/run", { capability: "email.verify", input })
    await indexedAndCounted(app)
    return String(run_id)
  }
  const sent = async () => {
    const input = { from: "me@example.com", to: bounce, subject: "Hello", text: "Hi" }
    return String((await person.ask("POST", "/v1/run", { capability: "email.send", input })).run_id)
  }
  const panel = ({ page }: Visitor) => page.getByRole("region", { name: "Outcome warranty" })

  test("a run is disputed with the message that bounced, and its page has the refund", async () => {
    const { page } = person
    const run_id = await checked()
    const send_id = await sent()
    await page.goto(`/runs/${run_id}`)
    await panel(person).getByText("If mail to the address bounces, the charge is refunded.").waitFor()
    await panel(person).getByRole("button", { name: "Dispute…" }).click()
    const dialog = page.getByRole("dialog", { name: "Dispute the run?" })
    const evidence = dialog.getByLabel("The run that sent the message, or what happened")
    // It sent nothing after itself. What was typed stays.
    await evidence.fill(run_id)
    await dialog.getByRole("button", { name: "Dispute the run" }).click()
    await dialog.getByText("which sent its message before").first().waitFor()
    expect(await evidence.inputValue()).toBe(run_id)
    expect(await findings(page)).toEqual([])
    await evidence.fill(send_id)
    await dialog.getByRole("button", { name: "Dispute the run" }).click()
    await panel(person).getByText("are back in the wallet").waitFor()
    await dialog.waitFor({ state: "detached" })
    expect(await panel(person).getByRole("button").count()).toBe(0)
    await page.getByRole("region", { name: "Money" }).getByText("were refunded by the outcome warranty").waitFor()
    await page.getByRole("tab", { name: "Ledger", exact: true }).click()
    const entries = page.getByRole("region", { name: "Ledger entries of the run" })
    await entries.getByRole("row").filter({ hasText: "refund" }).waitFor()
    expect((await entries.getByRole("row").allTextContents()).at(-1)).toContain("refund")
    await looked(person, `/runs/${run_id}`, "run-refunded", "email.verify")
    await app.books()
  })

  test("a text waits for the operator, whose refusal ends it, and a viewer only reads", async () => {
    const run_id = await checked()
    const { page } = person
    await page.goto(`/runs/${run_id}`)
    await panel(person).getByRole("button", { name: "Dispute…" }).click()
    const dialog = page.getByRole("dialog", { name: "Dispute the run?" })
    await dialog.getByLabel("The run that sent the message, or what happened").fill(hostile)
    await dialog.getByRole("button", { name: "Dispute the run" }).click()
    await panel(person).getByText("Not decided yet").waitFor()
    await panel(person).getByText("<img src=x onerror=alert(1)>").waitFor()
    const viewer = await invited(browser, app.url, person, "views-disputes@example.com", "viewer")
    await looked(viewer, `/runs/${run_id}`, "run-disputed", "email.verify")
    await panel(viewer).getByText("Not decided yet").waitFor()
    expect(await panel(viewer).getByRole("button").count()).toBe(0)
    await app.sql(
      "UPDATE warranty_disputes SET state = 'refused', note = 'no proof', decided_at = now() WHERE run_id = $1",
      [run_id]
    )
    await page.reload()
    await panel(person).getByText("Refused by the operator").waitFor()
    await panel(person).getByText("no proof").waitFor()
    expect(await panel(person).getByRole("button").count()).toBe(0)
    expect([viewer, person].flatMap(({ errors }) => errors)).toEqual([])
    await viewer.context.close()
  })

  test("the operator refuses one with a reason and refunds it after all, each after a question", async () => {
    const run_id = await checked()
    const evidence = { reason: "bounced", evidence: hostile }
    expect((await person.ask("POST", `/v1/runs/${run_id}/dispute`, evidence)).state).toBe("pending")
    const tab = await openTab(browser, app.url)
    const { page } = tab
    await page.goto(`/operator/sign-in#${await printedLink(app)}`)
    await page.getByRole("button", { name: "Open the operator console" }).click()
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
    await looked(tab, "/operator/disputes", "operator-disputes", "Disputes")
    await page.getByRole("button", { name: `Refuse… ${run_id}` }).click()
    const dialog = page.getByRole("dialog")
    const why = dialog.getByLabel("Why (the organization reads it)")
    await why.fill("no proof")
    expect(await findings(page)).toEqual([])
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
    const read = () => person.ask("GET", `/v1/runs/${run_id}/dispute`)
    expect((await read()).state).toBe("pending")
    await page.getByRole("button", { name: `Refuse… ${run_id}` }).click()
    await why.fill("no proof")
    await dialog.getByRole("button", { name: "Refuse the dispute" }).click()
    await page.getByText("No dispute waits for a decision.").waitFor()
    expect(await read()).toMatchObject({ state: "refused", note: "no proof" })
    await page.getByLabel("Which disputes").selectOption("all")
    await page.getByRole("button", { name: `Refund… ${run_id}` }).click()
    await why.fill("seen the bounce")
    await dialog.getByRole("button", { name: "Refund the run" }).click()
    await page.getByRole("button", { name: `Refund… ${run_id}` }).waitFor({ state: "detached" })
    const refunded = { state: "refunded", note: "seen the bounce", refund: expect.any(String) }
    expect(await read()).toMatchObject(refunded)
    const log = await app.sql("SELECT actor_name FROM audit_log WHERE action LIKE 'dispute.%' AND object = $1", [
      run_id
    ])
    expect(log.map(({ actor_name }) => actor_name)).toEqual(["grace", "grace"])
    expect(tab.errors).toEqual([])
    await tab.context.close()
    await until(
      "the refund is booked",
      () => person.ask("GET", `/v1/runs/${run_id}/details`),
      ({ ledger }) => ledger.some(({ type }: { type: string }) => type === "refund")
    )
    await app.books()
  })

  test("runs that it does not cover say nothing of it", async () => {
    const { page } = person
    const send_id = await sent()
    await page.goto(`/runs/${send_id}`)
    await page.getByRole("region", { name: "Providers that were considered" }).waitFor()
    expect(await panel(person).count()).toBe(0)
  })
})
