/** Alerts over real HTTP: once per crossing, as an event and by e-mail, on two processes. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type App, oneBackend, startApp, type Tenant, until, verify } from "../../../kit/app.ts"
import { listen, type Received } from "../../../kit/event-stream.ts"
import { letter, smtpMailbox, type SmtpMailbox } from "../../../kit/mailbox.ts"

const price = 0.003
const times = (count: number, work: () => Promise<unknown>) => Promise.all(Array.from({ length: count }, work))
const ofType = (events: ReadonlyArray<Received>, type: string) => events.filter((event) => event.type === type)

describe.each(oneBackend)("alerts, queues on %s", (backend) => {
  let apps: readonly [App, App]
  let mailbox: SmtpMailbox
  beforeAll(async () => {
    mailbox = await smtpMailbox()
    const settings = mailbox.settings
    const first = await startApp({ backend, settings })
    apps = [first, await startApp({ beside: first, settings })]
  })
  afterAll(async () => {
    await apps[1].stop()
    await apps[0].stop()
    await mailbox.stop()
  })
  const member = async (org: Tenant) => {
    const session = await org.session()
    const [row] = await apps[0].sql("SELECT email FROM users WHERE org_id = $1", [org.org_id])
    return { session, email: String(row?.["email"]) }
  }
  const logged = (org: Tenant, kind: string) =>
    apps[0].sql("SELECT data FROM events WHERE org_id = $1 AND kind = $2 ORDER BY position", [org.org_id, kind])

  test("wallet.low comes once per crossing, and again after the balance was above the threshold", async () => {
    const org = await apps[0].tenant("1.00")
    const { email } = await member(org)
    const reader = await listen(apps[1].url, org.key, "/v1/events?types=wallet.low,run.finished")
    const { body } = await org.post("/v1/spend-guard", { low_balance: "0.99" })
    expect(body.low_balance).toBe("0.99")
    // Twenty runs on two processes cross it together.
    let index = 0
    await times(20, () => org.over(index++ % 2 === 0 ? apps[0] : apps[1]).run(verify()))
    await reader.wait("all runs", (events) => ofType(events, "run.finished").length === 20)
    await reader.wait("the alert", (events) => ofType(events, "wallet.low").length === 1)
    const [low] = ofType(reader.events, "wallet.low")
    expect(low?.data).toMatchObject({ balance: "0.988", low_balance: "0.99" })
    expect((await letter(mailbox, apps[0], email)).subject).toBe("Your balance is below $0.99")

    await org.credit("0.05")
    await org.run(verify())
    expect(ofType(reader.events, "wallet.low")).toHaveLength(1)
    await times(20, () => org.run(verify()))
    await reader.wait("the second crossing", (events) => ofType(events, "wallet.low").length === 2)
    await letter(mailbox, apps[0], email, 2)
    expect((await logged(org, "wallet.low")).length).toBe(2)
    expect(mailbox.letters(apps[0], email)).toHaveLength(2)
    reader.close()
  })

  test("a threshold above the balance is told at once, and null turns it off", async () => {
    const org = await apps[0].tenant("1.00")
    await org.post("/v1/spend-guard", { low_balance: "5.00" })
    await until(
      "the alert",
      () => logged(org, "wallet.low"),
      (events) => events.length === 1
    )
    expect((await org.post("/v1/spend-guard", { low_balance: null })).body.low_balance).toBeNull()
    expect((await org.get("/v1/spend-guard")).body.low_balance).toBeNull()
    for (const low_balance of ["-1.00", "1e3", 5, "99999999999999999999.00", "0.0000001", ["1.00"], ""]) {
      const { status, body } = await org.post("/v1/spend-guard", { low_balance })
      expect([low_balance, status, body.error?.details[0].path.split(".")[0]]).toEqual([
        low_balance,
        400,
        "low_balance"
      ])
    }
  })

  test("budget.reached tells 50, 80 and 100 percent of the day's limit, each once", async () => {
    const org = await apps[0].tenant("5.00")
    const { session, email } = await member(org)
    const limit = (daily_limit: string) => apps[0].call(session, "POST", "/v1/spend-guard", { body: { daily_limit } })
    await limit("0.03")
    // A run may hold $0.0048 and costs $0.003, so the guard lets nine of them in, one after the other.
    for (let run = 0; run < 9; run++) await org.over(run % 2 === 0 ? apps[0] : apps[1]).run(verify())
    const percents = async () =>
      (await logged(org, "budget.reached")).map(({ data }) => (data as { percent: number }).percent)
    await until("80 percent", percents, (all) => all.includes(80))
    expect(await percents()).toEqual([50, 80])
    const spent = Number((await org.get("/v1/spend-guard")).body.spent_today)
    expect(spent).toBeCloseTo(9 * price, 6)
    // Lowering the limit to what is spent reaches it; raising it re-arms the parts above.
    await limit("0.027")
    await until("100 percent", percents, (all) => all.length === 3)
    await limit("0.06")
    await times(3, () => org.run(verify()))
    await until("the higher limit", percents, (all) => all.length > 3)
    const all = await percents()
    expect(all.slice(0, 3)).toEqual([50, 80, 100])
    const subjects = () => mailbox.letters(apps[0], email).map(({ subject }) => subject.split(" ")[0])
    // Parts that are reached in one step share an e-mail, which names the highest.
    const sent = await until("the e-mails", subjects, (all) => ["50", "80", "100"].every((part) => all.includes(part)))
    expect(sent.filter((part) => part === "80")).toHaveLength(1)
    expect(sent.filter((part) => part === "100")).toHaveLength(1)
  })

  test("a limit counts as reached when the guard refuses a run", async () => {
    const org = await apps[0].tenant("5.00")
    await org.post("/v1/spend-guard", { daily_limit: "0.006" })
    expect((await org.run(verify())).status).toBe(200)
    for (let run = 0; run < 3; run++) expect((await org.run(verify())).body.error.code).toBe("budget_exceeded")
    const percents = async () =>
      (await logged(org, "budget.reached")).map(({ data }) => (data as { percent: number }).percent)
    await until("it is told", percents, (all) => all.includes(100))
    expect((await org.over(apps[1]).run(verify())).body.error.code).toBe("budget_exceeded")
    const inbox = () => apps[0].sql("SELECT 1 FROM event_inbox WHERE org_id = $1", [org.org_id])
    await until("the refusals are read", inbox, (rows) => rows.length === 0)
    expect(await percents()).toEqual([50, 100])
  })

  test("an e-mail that is still on its way is not sent to a person who has left the organization", async () => {
    const org = await apps[0].tenant("1.00")
    const { session, email } = await member(org)
    await org.session()
    const { items } = (await apps[0].call(session, "GET", "/v1/members")).body
    const leaver = items.find((one: { email: string }) => one.email !== email)
    await apps[0].sql(
      `INSERT INTO alert_mails (org_id, kind, data, address, send_at)
       SELECT $1, 'topup.failed', '{"amount": "5.00", "reason": null}', address, now() + interval '1 hour' FROM unnest($2::text[]) address`,
      [org.org_id, [leaver.email, email]]
    )
    expect((await apps[0].call(session, "DELETE", `/v1/members/${leaver.id}`)).status).toBe(200)
    await apps[0].sql("UPDATE alert_mails SET send_at = now() WHERE org_id = $1", [org.org_id])
    const waiting = () => apps[0].sql("SELECT FROM alert_mails WHERE org_id = $1 AND ended_at IS NULL", [org.org_id])
    await until("the end of both e-mails", waiting, (rows) => rows.length === 0)
    expect([mailbox.letters(apps[0], email).length, mailbox.letters(apps[0], leaver.email).length]).toEqual([1, 0])
  })

  test("an organization without members, and one without a log, lose nothing", async () => {
    const org = await apps[0].tenant("1.00")
    await org.post("/v1/spend-guard", { low_balance: "0.999" })
    await org.run(verify())
    await until(
      "the alert without a listener",
      () => logged(org, "wallet.low"),
      (events) => events.length === 1
    )
    // Only alerts are logged while nobody listens.
    expect(await logged(org, "run.finished")).toHaveLength(0)
    expect(await apps[0].sql("SELECT 1 FROM alert_mails WHERE org_id = $1", [org.org_id])).toHaveLength(0)
  })
})
