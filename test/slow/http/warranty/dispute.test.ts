/**
 * Disputes of the outcome warranty over real HTTP, with two processes on one database: a bounced address refunds its run once, within seven
 * days and the operator's share, and nothing else refunds anything.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { type App, startApp, type Tenant, until } from "../../../kit/app.ts"
import { calling, postTo } from "../../../http/mcp-request.ts"
import { indexedAndCounted } from "../../../kit/finished-work.ts"

const share = { RUNGATE_WARRANTY_SHARE: "0.5" }
let apps: readonly [App, App]
let app: App
let org: Tenant
let other: Tenant
beforeAll(async () => {
  const first = await startApp({ settings: share })
  apps = [first, await startApp({ beside: first, settings: share })]
  app = first
  ;[org, other] = [await app.tenant("50.00"), await app.tenant("5.00")]
  // The revenue of which refunds are a share: enough for all of this file, because what `org` pays itself is counted a moment later.
  const search = (title: string) => ({ capability: "people.search", input: { titles: [title], limit: 25 } })
  await Promise.all(Array.from("abcdefghijkl", (title) => other.run(search(title))))
  await indexedAndCounted(app)
})
afterAll(async () => {
  await apps[1].stop()
  await app.stop()
})
afterEach(async () => {
  await app.books()
})

const bounce = "bounce@sandbox.test"
const nobody = `run_${"0".repeat(26)}`
const check = (email = bounce) => org.run({ capability: "email.verify", input: { email } })
const send = (to: string = bounce, tenant = org) =>
  tenant.run({ capability: "email.send", input: { from: "me@example.com", to, subject: "Hello", text: "Hi" } })
const dispute = (run_id: string, evidence: string, tenant = org) =>
  tenant.post(`/v1/runs/${run_id}/dispute`, { reason: "bounced", evidence })
const refunds = async (tenant = org) => (await tenant.ledger()).filter(({ type }) => type === "refund")
/** A checked address, and the message to it that bounced. */
const bounced = async () => {
  const { body: run } = await check()
  expect(run.result.email_status).toBe("valid")
  const { body: sent } = await send()
  return { run_id: String(run.run_id), charged: String(run.billing.charged), send_id: String(sent.run_id) }
}
const booked = (run_id: string) =>
  until(
    "the refund is booked",
    async () => (await refunds()).filter(({ reference }) => reference === `warranty:${run_id}`),
    (found) => found.length > 0
  )

test("inspect shows the warranty, over HTTP and MCP, where there is one", async () => {
  const warranty = { days: 7, refund: "charge", description: expect.stringContaining("bounces within 7 days") }
  for (const capability of ["email.find", "email.verify"]) {
    expect((await org.post("/v1/inspect", { capability })).body).toMatchObject({ warranty })
    const answer = await postTo(app.url, calling("inspect", { capability }), { key: org.key })
    expect(await answer.text()).toContain("bounces within 7 days")
  }
  expect((await org.post("/v1/inspect", { capability: "email.send" })).text).not.toContain("warranty")
})

describe("a dispute", () => {
  test("is refused while the operator has not turned the warranty on", async () => {
    const off = await startApp({ beside: app, role: "http", settings: {} })
    const { run_id, send_id } = await bounced()
    const { status, body } = await dispute(run_id, send_id, org.over(off))
    expect([status, body.error.code, body.error.message]).toEqual([
      400,
      "invalid_request",
      expect.stringContaining("operator has not turned it on")
    ])
    expect((await dispute(nobody, send_id, org.over(off))).status).toBe(400)
    expect((await org.over(off).post("/v1/inspect", { capability: "email.find" })).text).not.toContain("warranty")
    await off.stop()
  })

  test("of an address that bounced refunds the whole charge once, and says so again", async () => {
    const { run_id, charged, send_id } = await bounced()
    const details = async () => (await org.get(`/v1/runs/${run_id}/details`)).body
    expect((await details()).warranty).toEqual({ until: expect.any(String), dispute: null })
    const first = await dispute(run_id, send_id)
    expect([first.status, first.body]).toEqual([
      200,
      {
        run_id,
        reason: "bounced",
        evidence: send_id,
        state: "refunded",
        note: expect.stringContaining("permanent bounce"),
        refund: charged,
        reference: `warranty:${run_id}`,
        ask_after: null,
        created_at: expect.any(String),
        decided_at: expect.any(String)
      }
    ])
    const entries = await booked(run_id)
    expect(entries).toMatchObject([{ amount: charged, note: expect.stringContaining(run_id) }])
    const { warranty, ledger } = await details()
    expect(warranty).toEqual({ until: null, dispute: first.body })
    expect(ledger.at(-1)).toMatchObject({ type: "refund", amount: charged, reference: `warranty:${run_id}` })
    expect((await org.get(`/v1/runs/${send_id}/details`)).body.warranty).toBeNull()
    expect((await dispute(run_id, send_id)).body).toEqual(first.body)
    expect((await dispute(run_id, "another text")).body).toEqual(first.body)
    expect((await org.get(`/v1/runs/${run_id}/dispute`)).body).toEqual(first.body)
    expect(await booked(run_id)).toEqual(entries)
  })

  test("that refunds a run ends the reuse of its result", async () => {
    const email = "reuse@bounce.sandbox.test"
    const asked = { capability: "email.verify", input: { email }, reuse: { mode: "prefer" } }
    const { body: before } = await org.run({ capability: "people.enrich", input: { email } })
    const { body: run } = await check(email)
    const { body: sent } = await send(email)
    const reusables = async () => {
      const { body: one } = await org.get(`/v1/history?q=${email}`)
      const { body: many } = await org.post("/v1/history", { subjects: [email] })
      return [one.reusable.map(({ run_id }: { run_id: string }) => run_id), many.items[0].reusable.run_id]
    }
    expect((await org.run(asked)).body.reused_from).toBe(run.run_id)
    expect(await reusables()).toEqual([[run.run_id, before.run_id], run.run_id])
    expect((await dispute(run.run_id, sent.run_id)).body.state).toBe("refunded")
    expect(await reusables()).toEqual([[before.run_id], before.run_id])
    const { body: quote } = await org.post("/v1/quote", asked)
    const { body: bought } = await org.run(asked)
    expect([quote.reused_from, bought.reused_from, bought.billing.charged]).toEqual([
      ...[undefined, undefined],
      run.billing.charged
    ])
  })

  test("fifty times at once, over two processes, refunds once", async () => {
    const { run_id, send_id } = await bounced()
    const before = (await refunds()).length
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => dispute(run_id, send_id, org.over(apps[n % 2 === 0 ? 0 : 1])))
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(answers.some(({ body }) => body.state === "refunded")).toBe(true)
    await booked(run_id)
    expect((await refunds()).length).toBe(before + 1)
    expect(await app.sql("SELECT count(*)::int AS n FROM warranty_refunds WHERE run_id = $1", [run_id])).toEqual([
      { n: 1 }
    ])
  })

  test("of an address that did not bounce refunds nothing, and may be repeated", async () => {
    // The sandbox calls most addresses valid, and always the same ones.
    const checked = await Promise.all(["ada", "bob", "cleo", "dan", "eve"].map((name) => check(`${name}@example.com`)))
    const { run_id, result } = checked.find(({ body }) => body.result.email_status === "valid")!.body
    const { body: sent } = await send(result.email)
    for (const _ of [1, 2])
      expect((await dispute(run_id, sent.run_id)).body).toMatchObject({ state: "not_bounced", refund: null })
  })

  test("with a text waits for the operator; markup and control characters stay text, and 2,000 characters are the most", async () => {
    const { run_id } = await bounced()
    const hostile = `<img src=x onerror=alert(1)>\u202e'; DROP TABLE runs; --`
    const { status, body, headers } = await dispute(run_id, hostile)
    expect([status, body.state, body.refund]).toEqual([200, "pending", null])
    expect(headers.get("content-type")).toContain("application/json")
    expect(body.evidence).toStartWith("<img src=x onerror=alert(1)>")
    expect((await dispute(run_id, "x".repeat(2_000))).status).toBe(200)
    for (const evidence of ["x".repeat(2_001), "", "\u0000", 5, null, { a: 1 }]) {
      const refused = await org.post(`/v1/runs/${run_id}/dispute`, { reason: "bounced", evidence })
      expect([refused.status, refused.body.error.details[0].path]).toEqual([400, "evidence"])
    }
    const reason = await org.post(`/v1/runs/${run_id}/dispute`, { reason: "I want money", evidence: "x" })
    expect([reason.status, reason.body.error.details[0].path]).toEqual([400, "reason"])
  })

  test("loses its evidence when its run is erased", async () => {
    const { body: run } = await check("somebody@bounce.sandbox.test")
    expect((await dispute(run.run_id, "somebody@bounce.sandbox.test is unknown there")).body.state).toBe("pending")
    await indexedAndCounted(app)
    const erased = await app.call(await org.session(), "DELETE", "/v1/history?q=somebody@bounce.sandbox.test")
    expect(erased.status).toBe(200)
    expect(await app.sql("SELECT evidence FROM warranty_disputes WHERE run_id = $1", [run.run_id])).toEqual([
      { evidence: null }
    ])
    expect((await dispute(run.run_id, "again")).body.error.message).toContain("its result was erased")
  })

  test("of another organization's run, or with its message, is like one of a run that does not exist", async () => {
    const { run_id, send_id } = await bounced()
    const theirs = await dispute(run_id, send_id, other)
    const none = await dispute(nobody, send_id, other)
    expect([theirs.status, theirs.body.error.code]).toEqual([400, "invalid_request"])
    const blind = (text: string) => text.replace(/run_\w+|req_\w+/g, "")
    expect(blind(theirs.text)).toBe(blind(none.text))
    const read = (id: string, tenant: Tenant) => tenant.get(`/v1/runs/${id}/dispute`)
    expect([(await dispute(run_id, send_id)).status, (await read(run_id, org)).status]).toEqual([200, 200])
    const [readTheirs, readNone] = [await read(run_id, other), await read(nobody, other)]
    expect([readTheirs.status, blind(readTheirs.text)]).toEqual([400, blind(readNone.text)])
    expect((await read(send_id, org)).body.error.message).toBe(`Nobody has disputed the run "${send_id}".`)
    const { body: foreign } = await send(bounce, other)
    const { run_id: open } = await bounced()
    const [withTheirs, withNone] = [await dispute(open, foreign.run_id), await dispute(open, nobody)]
    expect([withTheirs.status, blind(withTheirs.text)]).toEqual([400, blind(withNone.text)])
  })

  test("counts a message that waited for an approval from the approval, not from when it was asked for", async () => {
    const waiting = await app.tenant("5.00")
    const owner = await waiting.session()
    const asOwner = (path: string, body: unknown) => app.call(owner, "POST", path, { body })
    await asOwner("/v1/approval-rules", { name: "mail", capabilities: ["email.send"] })
    const verify = { capability: "email.verify", input: { email: bounce } }
    const { body: queued } = await send(bounce, waiting)
    const { body: run } = await waiting.run(verify)
    expect((await asOwner(`/v1/runs/${queued.run_id}/approve`, {})).body.state).toBe("approved")
    expect((await waiting.get(`/v1/runs/${queued.run_id}?wait=30`)).body.status).toBe("succeeded")
    const { body: late } = await waiting.run(verify)
    const { status, body } = await dispute(late.run_id, queued.run_id, waiting)
    expect([status, body.error?.message]).toEqual([400, expect.stringContaining("before")])
    expect((await dispute(run.run_id, queued.run_id, waiting)).body.state).toBe("refunded")
  })

  test("of a run that is not covered says why", async () => {
    const { run_id, send_id } = await bounced()
    const input = { email: bounce }
    const { body: reused } = await org.run({ capability: "email.verify", input, reuse: { mode: "prefer" } })
    expect(reused.reused_from).toStartWith("run_")
    const { body: early } = await send()
    const { body: late } = await check()
    const { body: elsewhere } = await send("somebody@example.com")
    const cases: ReadonlyArray<readonly [string, string, string]> = [
      [reused.run_id, send_id, "reused an earlier result"],
      [send_id, send_id, "only runs of email.find and email.verify"],
      [late.run_id, early.run_id, "before"],
      [run_id, late.run_id, "is no run that sent an e-mail"],
      [late.run_id, elsewhere.run_id, "sent nothing to the address"]
    ]
    for (const [id, evidence, why] of cases) {
      const { status, body } = await dispute(id, evidence)
      expect([status, body.error?.message]).toEqual([400, expect.stringContaining(why)])
    }
    await app.sql("UPDATE runs SET finished_at = finished_at - interval '7 days 1 minute' WHERE run_id = $1", [run_id])
    const old = await dispute(run_id, send_id)
    expect([old.status, old.body.error.message]).toEqual([400, expect.stringContaining("7 days after its end")])
  })
})
