/** What the database itself refuses of the outcome warranty, what the operator decides, and what the audit says of a tampered refund. */
import { beforeAll, describe, expect, test } from "bun:test"
import { Context, Effect } from "effect"
import { Lanes } from "../../../../src/actors/mailbox/Lanes.ts"
import { Audit } from "../../../../src/layers/audit/Audit.ts"
import { Signals } from "../../../../src/layers/queues/Signals.ts"
import { type Tenant, until, withApp } from "../../../kit/app.ts"
import { type Command, runMain } from "../../../chaos/processes.ts"
import { compiledCommand } from "../../../kit/compiled-command.ts"
import { indexedAndCounted } from "../../../kit/finished-work.ts"

const command: Command = [await compiledCommand()]
// One refund of a check is 30 % of the charges of a check and a message, two are more than 40 %.
const share = { RUNGATE_WARRANTY_SHARE: "0.4" }
const bounce = "bounce@sandbox.test"
let org: Tenant
let sent: string
const app = withApp({ settings: share })
beforeAll(async () => {
  org = await app.tenant("5.00")
})

const check = async () => (await org.run({ capability: "email.verify", input: { email: bounce } })).body
const dispute = (run_id: string, evidence: string) =>
  org.post(`/v1/runs/${run_id}/dispute`, { reason: "bounced", evidence })
const admin = async (...args: ReadonlyArray<string>) => {
  const { errors, output, ended } = runMain(["admin", "disputes", ...args], { ...app.settings }, command)
  const { code } = await ended
  return { code, out: output(), err: errors() }
}
const charges = async () => {
  await indexedAndCounted(app)
  const [row] = await app.sql("SELECT sum(charged)::bigint AS revenue FROM usage_days WHERE name = ''")
  return BigInt(String(row?.["revenue"]))
}
const refunded = async () => {
  const [row] = await app.sql("SELECT coalesce(sum(amount), 0)::bigint AS refunded FROM warranty_refunds")
  return BigInt(String(row?.["refunded"]))
}
const violations = async () =>
  (await Effect.runPromise(Context.get(app.context, Audit).run)).violations.map(
    ({ equation, subject }) => `${equation}: ${subject}`
  )

describe("the operator's share", () => {
  test("is never passed: disputes beyond it wait", async () => {
    const runs = await Promise.all(Array.from({ length: 8 }, check))
    const message = { from: "me@example.com", to: bounce, subject: "Hello", text: "Hi" }
    sent = (await org.run({ capability: "email.send", input: message })).body.run_id
    const revenue = await charges()
    const answers = await Promise.all(runs.map(({ run_id }) => dispute(run_id, sent)))
    const states = answers.map(({ body }) => body.state)
    expect(states).toContain("refunded")
    expect(states).toContain("pending")
    expect(answers.find(({ body }) => body.state === "pending")?.body.note).toContain("limit")
    expect((await refunded()) * 10n).toBeLessThanOrEqual(revenue * 4n)
    await app.books()
  })

  test("binds the operator as well, who otherwise accepts and refuses", async () => {
    const listed = await admin("--json")
    const [first] = JSON.parse(listed.out).items
    expect([listed.code, first]).toMatchObject([0, { org_id: org.org_id, state: "pending", refund: null }])
    const limited = await admin("accept", first.run_id, "--note", "seen the bounce")
    expect([limited.code === 0, limited.err]).toEqual([false, expect.stringContaining("RUNGATE_WARRANTY_SHARE")])
    await org.run({ capability: "people.search", input: { titles: ["x"], limit: 25 } })
    await charges()
    const heard = new Set<string>()
    const stop = Context.get(app.context, Signals).listen((ids) => ids.forEach((id) => heard.add(id)))
    const lanes = () => [...heard].filter((id) => id.startsWith("lane:"))
    // What this process says of a lane that it does not turn at the moment, to tell its signals from those of the command.
    await until(
      "this process's own signal",
      async () => {
        await Effect.runPromise(Context.get(app.context, Lanes).wake(0))
        return lanes()
      },
      (ids) => ids.length > 0
    )
    const own = lanes()[0]?.split(":")[2]
    const accepted = await admin("accept", first.run_id, "--note", "seen the bounce")
    await until("the command's wake-up", lanes, (ids) => ids.some((id) => !id.endsWith(`:${own}`)))
    stop()
    expect([accepted.code, accepted.out]).toEqual([0, expect.stringContaining(`refunded: ${first.run_id}`)])
    await until(
      "the refund is booked",
      () => org.ledger(),
      (entries) => entries.some(({ reference }) => reference === `warranty:${first.run_id}`)
    )
    const again = await admin("refuse", first.run_id, "--note", "no")
    expect([again.code === 0, again.err]).toEqual([false, expect.stringContaining("already refunded")])
    const { run_id } = await check()
    expect((await dispute(run_id, "<b>my mail server</b>\u001b[2J said so")).body.state).toBe("pending")
    const text = await admin()
    expect(text.out).toContain("<b>my mail server</b>\ufffd[2J said so")
    const refused = await admin("refuse", run_id, "--note", "no proof")
    expect([refused.code, refused.out]).toEqual([0, expect.stringContaining(`refused: ${run_id}`)])
    expect((await dispute(run_id, "please")).body).toMatchObject({ state: "refused", note: "no proof", refund: null })
    const shown = runMain(["runs", "dispute", run_id], { RUNGATE_URL: app.url, RUNGATE_API_KEY: org.key }, command)
    expect((await shown.ended).code).toBe(0)
    expect(JSON.parse(shown.output())).toMatchObject({ run_id, state: "refused", note: "no proof" })
    // It stands, whatever the evidence: no provider is asked. The operator may still change it.
    const message = { from: "me@example.com", to: bounce, subject: "Hello", text: "Hi" }
    const { body: later } = await org.run({ capability: "email.send", input: message })
    expect((await dispute(run_id, later.run_id)).body.state).toBe("refused")
    expect((await admin("accept", run_id, "--note", "seen after all")).out).toContain(`refunded: ${run_id}`)
    // The audit log has what people decided. Customers' own disputes are no changes by an operator.
    const log = await app.sql("SELECT object FROM audit_log WHERE action LIKE 'dispute.%' ORDER BY entry_id")
    expect(log.map(({ object }) => object)).toEqual([first.run_id, run_id, run_id])
  })
})

describe("the database", () => {
  test("refuses a refund that is not owed, and any change of one", async () => {
    const { run_id } = await check()
    const { body: other } = await org.run({ capability: "people.search", input: { titles: ["x"], limit: 1 } })
    const insert = (values: string) =>
      app.sql(`INSERT INTO warranty_refunds (run_id, org_id, amount, send_run, share_bps) VALUES (${values})`)
    const refused: ReadonlyArray<readonly [string, RegExp]> = [
      [`'${run_id}', '${org.org_id}', 3001, NULL, 4000`, /does not cover/],
      [`'${other.run_id}', '${org.org_id}', 1, NULL, 4000`, /does not cover/],
      [`'run_none', '${org.org_id}', 1, NULL, 4000`, /does not cover/],
      [`'${run_id}', '${org.org_id}', 1, 'run_none', 4000`, /sent nothing/],
      [`'${run_id}', '${org.org_id}', 1, NULL, 1`, /warranty_within_share/],
      [`'${run_id}', '${org.org_id}', 0, NULL, 4000`, /warranty_refunds_amount_check/]
    ]
    for (const [values, why] of refused) await expect(insert(values)).rejects.toThrow(why)
    for (const change of ["UPDATE warranty_refunds SET amount = 1", "DELETE FROM warranty_refunds"])
      await expect(app.sql(change)).rejects.toThrow(/never changes/)
    await expect(
      app.sql(
        `INSERT INTO ledger (org_id, seq, txn_id, type, amount, balance_after, reserved_after, reference, hash)
         VALUES ($1, 9999, 'txn_x', 'refund', 1, 1, 0, 'warranty:run_x', sha256(''))`,
        [org.org_id]
      )
    ).rejects.toThrow(/no refund of the warranty was decided/)
    await app.sql("UPDATE runs SET finished_at = finished_at - interval '8 days' WHERE run_id = $1", [run_id])
    await expect(insert(`'${run_id}', '${org.org_id}', 1, NULL, 4000`)).rejects.toThrow(/does not cover/)
    await app.sql("UPDATE runs SET finished_at = finished_at + interval '8 days' WHERE run_id = $1", [run_id])
  })

  test("E19 names a refund that nobody entered, and one above its run's charge", async () => {
    await app.books()
    const E19 = "E19 each refund of the warranty is one entry of at most its run's charge"
    const [row] = await app.sql("SELECT run_id FROM warranty_refunds LIMIT 1")
    await app.sql("ALTER TABLE warranty_refunds DISABLE TRIGGER USER")
    await app.sql("UPDATE warranty_refunds SET amount = amount + 1 WHERE run_id = $1", [row?.["run_id"]])
    expect(await violations()).toEqual([`${E19}: ${row?.["run_id"]}`])
    await app.sql("UPDATE warranty_refunds SET amount = amount - 1 WHERE run_id = $1", [row?.["run_id"]])
    const { run_id } = await check()
    await app.sql("INSERT INTO warranty_refunds (run_id, org_id, amount, share_bps) VALUES ($1, $2, 1, 4000)", [
      run_id,
      org.org_id
    ])
    expect(await violations()).toEqual([`${E19}: ${run_id}`])
    await app.sql("DELETE FROM warranty_refunds WHERE run_id = $1", [run_id])
    await app.sql("ALTER TABLE warranty_refunds ENABLE TRIGGER USER")
    await app.books()
  })
})

describe("the share of one organization", () => {
  const shared = withApp({ settings: share })
  const verified = async (by: Tenant) =>
    (await by.run({ capability: "email.verify", input: { email: bounce } })).body.run_id

  test("an organization with many bounces leaves refunds to another one", async () => {
    const [many, few] = [await shared.tenant("5.00"), await shared.tenant("5.00")]
    const runsOf = async (by: Tenant, count: number) => {
      const runs = await Promise.all(Array.from({ length: count }, () => verified(by)))
      const message = { from: "me@example.com", to: bounce, subject: "Hello", text: "Hi" }
      return { runs, message: (await by.run({ capability: "email.send", input: message })).body.run_id }
    }
    const [theirs, mine] = [await runsOf(many, 8), await runsOf(few, 3)]
    await indexedAndCounted(shared)
    const statesOf = async (by: Tenant, { runs, message }: typeof mine) => {
      const states: Array<string> = []
      for (const run_id of runs) {
        const { body } = await by.post(`/v1/runs/${run_id}/dispute`, { reason: "bounced", evidence: message })
        states.push(body.state)
      }
      return states
    }
    const first = await statesOf(many, theirs)
    expect([first[0], first.at(-1)]).toEqual(["refunded", "pending"])
    // The database refuses what the service would decide wrongly.
    const left = theirs.runs[first.indexOf("pending")]
    await expect(
      shared.sql(
        `INSERT INTO warranty_refunds (run_id, org_id, amount, send_run, share_bps)
         SELECT run_id, org_id, charged, $2, 4000 FROM runs WHERE run_id = $1`,
        [left, theirs.message]
      )
    ).rejects.toThrow(/above its own share/)
    expect(await statesOf(few, mine)).toContain("refunded")
    await shared.books()
  })
})
