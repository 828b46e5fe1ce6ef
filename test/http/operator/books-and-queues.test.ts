/** The books of all wallets, and commands that failed too often: why, and their retry. */
import { beforeAll, describe, expect, test } from "bun:test"
import { oneBackend, type Tenant, until, withApp } from "../../kit/app.ts"
import { type OperatorTab, operatorOf } from "./operator.ts"

describe.each(oneBackend)("on %s", (backend) => {
  let org: Tenant
  let tab: OperatorTab
  const app = withApp({ backend })
  beforeAll(async () => {
    org = await app.tenant("5.00")
    tab = await operatorOf(app, "grace")
  })

  /** A command as the mailbox has it after it was dead-lettered. */
  const deadLetter = async (payload: unknown, tag = "Credit") => {
    const [row] = await app.sql(
      `INSERT INTO mailbox (lane, org_id, tag, payload, attempts, parked)
       SELECT lane, org_id, $2, $3::json, 5, 'some <b>internal</b> reason' FROM wallets WHERE org_id = $1 RETURNING id::text`,
      [org.org_id, tag, JSON.stringify(payload)]
    )
    return String(row?.["id"])
  }
  const waiting = async () => (await tab.get("/dead-letters")).body.items

  test("the audit names every equation, and a recorded one is what customers read", async () => {
    const audit = await tab.get("/books/audit")
    expect([audit.status, audit.body.adds_up]).toEqual([200, true])
    const ids: ReadonlyArray<string> = audit.body.equations.map((one: { id: string }) => one.id)
    for (const id of ["E1", "E7", "E9", "U1", "commands"]) expect(ids).toContain(id)
    expect(audit.body.sheet.balances).toBe("5.00")
    const recorded = await tab.post("/books/checks")
    expect([recorded.status, recorded.body.violations]).toEqual([200, 0])
    const { body } = await tab.get("/books")
    expect(body.checks[0]).toEqual(recorded.body)
    expect((await org.get("/v1/wallet/audit")).body.last_full_check).toMatchObject({ adds_up: true })
    const [entry] = await app.sql("SELECT actor, actor_name FROM audit_log WHERE action = 'books_check.created'")
    expect(entry).toEqual({ actor: "operator", actor_name: "grace" })
  })

  test("a dead-lettered command says why, is retried once, and then applied", async () => {
    const credit = { type: "bonus", amount: "1.00", reference: "late-1", note: "late" }
    const id = await deadLetter(credit)
    const { body: queues } = await tab.get("/queues")
    expect([queues.backend, queues.dead_letters]).toEqual([backend, 1])
    expect(await waiting()).toMatchObject([
      { id, org_id: org.org_id, command: "Credit", attempts: 5, why: "some <b>internal</b> reason" }
    ])
    const replies = await Promise.all([1, 2, 3].map(() => tab.post(`/dead-letters/${id}/retry`)))
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 404, 404])
    await until("the credit is booked", org.wallet, ({ balance }) => balance === "6.00")
    expect(await waiting()).toEqual([])
    const entries = await app.sql(
      "SELECT actor, actor_name, after FROM audit_log WHERE action = 'command.retried' AND org_id = $1",
      [org.org_id]
    )
    expect(entries).toEqual([{ actor: "operator", actor_name: "grace", after: { command: "Credit" } }])
    await app.books()
  })

  test("a command that fails again is dead-lettered again, and its lane goes on", async () => {
    const id = await deadLetter({ type: "nonsense" })
    expect((await tab.post(`/dead-letters/${id}/retry`)).status).toBe(200)
    const [again] = await until("it is dead-lettered again", waiting, (items) => items.length === 1)
    expect([again.id, again.why === "some <b>internal</b> reason"]).toEqual([id, false])
    await org.credit("1.00")
    await app.sql("DELETE FROM mailbox WHERE parked IS NOT NULL")
  })

  test("an id of nothing is not found, and a cursor of something else is refused", async () => {
    for (const id of ["0", "1", "-1", "1e3", "x", "9".repeat(40), "%F0%9F%92%A5"]) {
      const { status } = await tab.post(`/dead-letters/${id}/retry`)
      expect([id, status]).toEqual([id, 404])
    }
    expect((await tab.get("/dead-letters?cursor=x")).body.error.details[0].path).toBe("query.cursor")
  })

  test("lanes show what waits, also those without a command", async () => {
    const { body } = await tab.get("/queues")
    expect(body.lanes.length).toBeGreaterThan(0)
    expect(body.lanes.map((one: { lane: number }) => one.lane)).toEqual(body.lanes.map((_: unknown, at: number) => at))
  })
})
