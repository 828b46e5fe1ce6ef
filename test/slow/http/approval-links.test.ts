/** The link of an e-mail about a run that waits: it names a member, changes nothing when it is opened, and decides once. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type App, startApp, type Tenant, until, verify } from "../../kit/app.ts"
import { letter, smtpMailbox, type SmtpMailbox } from "../../kit/mailbox.ts"

describe("the link of a run that waits", () => {
  let app: App
  let mailbox: SmtpMailbox
  beforeAll(async () => {
    mailbox = await smtpMailbox()
    app = await startApp({ settings: mailbox.settings })
  })
  afterAll(async () => {
    await app.stop()
    await mailbox.stop()
  })

  /** An organization with one owner, whose runs wait, and the owner's link for one of them. */
  const begun = async () => {
    const org: Tenant = await app.tenant("5.00")
    const owner = await org.session()
    const [row] = await app.sql("SELECT user_id, email FROM users WHERE org_id = $1", [org.org_id])
    const [user_id, email] = [String(row?.["user_id"]), String(row?.["email"])]
    await app.call(owner, "POST", "/v1/approval-rules", { body: { name: "<b>every run</b>", role: "owner" } })
    const { run_id } = (await org.run(verify("linked"))).body
    const { subject, text } = await letter(mailbox, app, email)
    expect(subject).toBe("A run waits for your approval")
    const link = new URL(/http\S+token=\S+/.exec(text)?.[0] ?? "")
    const open = async () => {
      const answer = await fetch(`${app.url}${link.pathname}${link.search}`)
      return { status: answer.status, html: await answer.text() }
    }
    const send = async (decision: string, digest: string) => {
      const fields = { token: link.searchParams.get("token") ?? "", digest, decision }
      const answer = await fetch(`${app.url}${link.pathname}`, { method: "POST", body: new URLSearchParams(fields) })
      return answer.status
    }
    const state = async () => (await org.get(`/v1/approvals/${run_id}`)).body
    return { org, owner, user_id, run_id, open, send, state }
  }
  const digestIn = (html: string) => /name="digest" value="([0-9a-f]{64})"/.exec(html)?.[1] ?? ""

  test("shows what would run, decides when the form is sent, and only once", async () => {
    const { org, user_id, run_id, open, send, state } = await begun()
    const { status, html } = await open()
    expect([status, html.includes("email.verify"), html.includes("$0.0048"), html.includes("<b>every")]).toEqual([
      ...[200, true, true, false]
    ])
    expect((await state()).state).toBe("pending")
    expect(await send("approve", "another")).toBe(400)
    expect(await send("approve", digestIn(html))).toBe(200)
    expect(await state()).toMatchObject({ state: "approved", decided_by: user_id, via: "link" })
    expect([await send("deny", digestIn(html)), (await open()).status]).toEqual([400, 400])
    await until(
      "the run has ended",
      async () => (await org.get(`/v1/runs/${run_id}`)).body.status,
      (one) => one === "succeeded"
    )
  })

  test("is dead once its member has another role, or has left", async () => {
    const { org, user_id, open, send, state } = await begun()
    const { html } = await open()
    await org.session()
    await app.sql("UPDATE members SET role = 'admin' WHERE org_id = $1 AND user_id = $2", [org.org_id, user_id])
    expect([(await open()).status, await send("approve", digestIn(html))]).toEqual([400, 400])
    await app.sql("UPDATE members SET role = 'owner' WHERE org_id = $1 AND user_id = $2", [org.org_id, user_id])
    expect((await open()).status).toBe(200)
    await app.sql("DELETE FROM members WHERE org_id = $1 AND user_id = $2", [org.org_id, user_id])
    expect([(await open()).status, await send("approve", digestIn(html)), (await state()).state]).toEqual([
      ...[400, 400, "pending"]
    ])
  })

  test("has a limit for each client address, as every page that asks the database about a link", async () => {
    const strict = await startApp({ beside: app, role: "http", settings: { RUNGATE_RATE_LIMIT: "1" } })
    const door = async (method: string, path: string) => {
      const body = method === "GET" ? null : new URLSearchParams({ token: "x", digest: "", decision: "approve" })
      const asked = Array.from({ length: 60 }, () => fetch(`${strict.url}${path}`, { method, body }))
      return (await Promise.all(asked)).some(({ status }) => status === 429)
    }
    expect([
      await door("GET", "/approve-run?token=x"),
      await door("POST", "/approve-run"),
      await door("GET", "/join-organization?token=x"),
      await door("GET", "/invitation?token=x")
    ]).toEqual([true, true, true, true])
    await strict.stop()
  })
})
