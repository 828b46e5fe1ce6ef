/** Runs that wait for a member's yes: what waits, who decides, that one answer counts, and that the money follows it. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { Context, Effect } from "effect"
import { Audit } from "../../../src/layers/audit/Audit.ts"
import { calling, postTo } from "../../http/mcp-request.ts"
import { type Tenant, until, verify, withApp } from "../../kit/app.ts"

const app = withApp({ settings: { RUNGATE_ORG_QUEUE: "10000" } })
afterEach(async () => {
  await app.books()
})

let org: Tenant
let [owner, other] = ["", ""]
const as = (token: string, method: string, path: string, body?: unknown) => app.call(token, method, path, { body })
const addRule = async (body: Record<string, unknown> = {}) => {
  const made = await as(owner, "POST", "/v1/approval-rules", { name: `rule ${Math.random()}`, ...body })
  if (made.status === 500) console.log(app.logs.slice(-3))
  expect([made.status, made.body.error?.message]).toEqual([200, undefined])
  return made.body
}
let people = 0
const ask = (more: Record<string, unknown> = {}, token = org.key) =>
  as(token, "POST", "/v1/run", { ...verify(`a${(people += 1)}`), ...more })
const approve = (run_id: string, token = owner, body = {}) => as(token, "POST", `/v1/runs/${run_id}/approve`, body)
const deny = (run_id: string, token = owner) => as(token, "POST", `/v1/runs/${run_id}/deny`, {})
const read = async (run_id: string, wait = 0) => (await org.get(`/v1/runs/${run_id}?wait=${wait}`)).body
const stateOf = async (run_id: string) => (await org.get(`/v1/approvals/${run_id}`)).body.state
/** Lets the time of an approval be over. The digest and the run stay. */
const expire = (run_id: string) =>
  app.sql(
    "UPDATE approvals SET requested_at = now() - interval '2 days', expires_at = now() - interval '1 second' WHERE run_id = $1",
    [run_id]
  )

beforeEach(async () => {
  org = await app.tenant("10.00")
  owner = await org.session()
  other = await org.session()
})

describe("a run that matches a rule", () => {
  test("waits with its hold, says at once what to tell, and runs once it is approved", async () => {
    await addRule({ name: "Verification", capabilities: ["email.verify"], min_hold: "0.0048" })
    const asked = await ask({ wait_seconds: 30 })
    expect([asked.status, asked.body]).toEqual([
      202,
      expect.objectContaining({ status: "queued", done: false, stoppable: true, attempts: [] })
    ])
    const { run_id, approval } = asked.body
    expect(approval).toMatchObject({ code: "approval_required", rule: "Verification", role: "admin" })
    expect(approval.url).toEndWith(`/approvals?run=${run_id}`)
    expect(approval.tell).toContain(approval.url)
    expect((await org.wallet()).reserved).toBe("0.0048")
    const [listed] = (await org.get("/v1/approvals?state=pending")).body.items
    expect(listed).toMatchObject({ run_id, hold: "0.0048", capability: "email.verify", key_id: org.key_id })
    expect(listed.providers.length).toBeGreaterThan(0)
    const listedAs = async (status: string) =>
      (await org.list(`?status=${status}`)).body.items.map((one: { readonly run_id: string }) => one.run_id)
    expect([await listedAs("queued"), await listedAs("running")]).toEqual([[run_id], []])

    const yes = await approve(run_id, owner, { digest: listed.digest })
    expect([yes.status, yes.body.state, yes.body.via]).toEqual([200, "approved", "session"])
    expect(await read(run_id, 30)).toMatchObject({ status: "succeeded", billing: { charged: "0.003" } })
    expect((await read(run_id)).approval).toBeUndefined()
    const receipt = await fetch(`${app.url}/v1/runs/${run_id}/receipt`, {
      headers: { authorization: `Bearer ${org.key}` }
    })
    const [, body = ""] = (await receipt.text()).split(".")
    const { rule, state, digest, via } = JSON.parse(Buffer.from(body, "base64url").toString()).approval
    expect({ rule, state, digest, via }).toEqual({
      ...{ rule: "Verification", state: "approved" },
      digest: listed.digest,
      via: "session"
    })
    expect((await org.wallet()).reserved).toBe("0.00")
    expect((await approve(run_id)).status).toBe(400)
    const kinds = () =>
      app.sql("SELECT kind FROM events WHERE run_id = $1 AND kind LIKE 'run.appro%' ORDER BY position", [run_id])
    await until("its events", kinds, (rows) => rows.length === 2)
    expect((await kinds()).map(({ kind }) => kind)).toEqual(["run.approval_required", "run.approved"])
  })

  test("does not wait if another rule, key, label or amount is meant, or if the rule is off or removed", async () => {
    await addRule({ min_hold: "0.0049" })
    await addRule({ keys: ["key_of_another"] })
    await addRule({ labels: { team: "sales" } })
    await addRule({ raw: true })
    const off = await addRule({ name: "all", active: false })
    expect((await ask()).status).toBe(200)
    expect((await ask({ metadata: { team: "sales" } })).status).toBe(202)
    expect((await as(owner, "PATCH", `/v1/approval-rules/${off.id}`, { active: true })).body).toMatchObject({
      name: "all",
      active: true,
      role: "admin"
    })
    expect((await ask()).status).toBe(202)
    expect((await as(owner, "DELETE", `/v1/approval-rules/${off.id}`)).status).toBe(200)
    expect((await ask()).status).toBe(200)
  })

  test("waits although two people changed its rule at once: each change stays", async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id } = await addRule({ active: false })
      const path = `/v1/approval-rules/${id}`
      const changes = [{ active: true }, { min_hold: "0.0048" }, { role: "owner" }]
      await Promise.all(changes.map((change, n) => as(n === 1 ? other : owner, "PATCH", path, change)))
      const { items } = (await as(owner, "GET", "/v1/approval-rules")).body
      expect(items[0]).toMatchObject({ id, active: true, min_hold: "0.0048", role: "owner" })
    }
    expect((await ask()).status).toBe(202)
  })

  test("keeps others from its recipient for as long as it waits, and for the guard's time after its start", async () => {
    const { id } = await addRule({ capabilities: ["email.send"] })
    const input = { from: "hello@example.com", to: "ada@example.com", subject: "Hello", text: "Hello" }
    const send = (more = {}) => as(org.key, "POST", "/v1/run", { capability: "email.send", input, ...more })
    const { run_id } = (await send()).body
    await as(owner, "PATCH", `/v1/approval-rules/${id}`, { active: false })
    // As if it had waited for two hours, which is longer than the guard's time.
    await app.sql("UPDATE contact_claims SET contacted_at = contacted_at - interval '2 hours' WHERE run_id = $1", [
      run_id
    ])
    const guarded = { unless_contacted_within_seconds: 3_600 }
    const early = (await send(guarded)).body.error
    expect([early.code, early.message]).toEqual([
      "contact_guard",
      expect.stringContaining(`ada@example.com will be contacted by ${run_id} if that is approved before 20`)
    ])
    expect((await approve(run_id)).status).toBe(200)
    expect(await read(run_id, 30)).toMatchObject({ status: "succeeded" })
    const late = (await send(guarded)).body.error
    expect([late.code, late.message]).toEqual([
      "contact_guard",
      expect.stringContaining(`ada@example.com was contacted by ${run_id} at 20`)
    ])
  })

  test("of a batch is counted there, with what to tell whom, over HTTP and MCP, until somebody has answered", async () => {
    await addRule({ capabilities: ["email.verify"] })
    const find = { capability: "email.find", input: { full_name: "Ada Lovelace", company_domain: "example.com" } }
    const runs = [verify("row1"), verify("row2"), find]
    const { body: started } = await as(org.key, "POST", "/v1/batches", { runs })
    const batch = async () => (await org.get(`/v1/batches/${started.id}`)).body
    const { approval } = await until(
      "the rows wait",
      batch,
      (one) => one.rows.open === 2 && one.approval?.waiting === 2
    )
    expect(approval).toEqual({
      ...{ code: "approval_required", waiting: 2, url: expect.stringMatching(/\/approvals$/) },
      tell: expect.stringContaining(`2 runs of the batch ${started.id} wait for a yes`)
    })
    expect(approval.tell).toContain(approval.url)
    expect((await org.get("/v1/batches")).body.items[0].approval).toEqual(approval)
    const mcp = await postTo(app.url, calling("run_batch", { batch_id: started.id, wait_seconds: 100 }), {
      key: org.key
    })
    const { next } = JSON.parse((await mcp.json()).result.content[0].text)
    expect(next).toContain(`Tell your person: ${approval.tell}`)
    const { items } = (await org.get("/v1/approvals?state=pending")).body
    const run_ids = items.map(({ run_id }: { run_id: string }) => run_id)
    await as(owner, "POST", "/v1/approvals/decide", { decision: "approve", run_ids })
    expect((await until("the end", batch, (one) => one.done)).approval).toBeUndefined()
  })

  test("contacts nobody whom another run has contacted while it waited, if it is guarded", async () => {
    await addRule({ labels: { team: "sales" } })
    const input = { from: "hello@example.com", to: "ada@example.com", subject: "Hello", text: "Hello" }
    const send = (more = {}) => as(org.key, "POST", "/v1/run", { capability: "email.send", input, ...more })
    const waits = { metadata: { team: "sales" } }
    const [guarded, open] = [
      (await send({ ...waits, unless_contacted_within_seconds: 3_600 })).body.run_id,
      (await send(waits)).body.run_id
    ]
    const other = (await send()).body
    expect(other.status).toBe("succeeded")
    expect((await approve(guarded)).status).toBe(200)
    const refused = await read(guarded, 30)
    expect(refused).toMatchObject({ status: "failed", attempts: [], billing: { charged: null } })
    expect([refused.error.code, refused.error.message]).toEqual([
      "contact_guard",
      expect.stringContaining(`ada@example.com was contacted by ${other.run_id} at 20`)
    ])
    expect((await approve(open)).status).toBe(200)
    expect(await read(open, 30)).toMatchObject({ status: "succeeded" })
  })

  test("of a batch that a person started is not approved by that person", async () => {
    await addRule({ role: "member" })
    const started = await as(owner, "POST", "/v1/batches", { runs: [verify("row")] })
    expect(started.status).toBe(202)
    const pending = () => org.get("/v1/approvals?state=pending")
    const [{ run_id }] = (await until("the row waits", pending, ({ body }) => body.items.length === 1)).body.items
    const own = await approve(run_id)
    expect([own.status, own.body.error?.code]).toEqual([403, "forbidden"])
    expect((await approve(run_id, other)).body.state).toBe("approved")
    expect(await read(run_id, 30)).toMatchObject({ status: "succeeded" })
  })

  test("of a batch that is cancelled has not started, so it is cancelled too", async () => {
    await addRule()
    const { body: batch } = await as(org.key, "POST", "/v1/batches", { runs: [verify("row1"), verify("row2")] })
    const pending = () => org.get("/v1/approvals?state=pending")
    const [{ run_id }] = (await until("the rows wait", pending, ({ body }) => body.items.length === 2)).body.items
    expect((await as(org.key, "POST", `/v1/batches/${batch.id}/cancel`)).status).toBe(200)
    const ended = await until(
      "the batch has ended",
      () => org.get(`/v1/batches/${batch.id}`),
      ({ body }) => body.done
    )
    expect(ended.body).toMatchObject({ status: "cancelled", charged: "0.00", rows: { total: 2, cancelled: 2 } })
    expect((await approve(run_id)).status).toBe(400)
    expect((await org.wallet()).reserved).toBe("0.00")
  })

  test("waits for its key's rule under the key's successor too", async () => {
    const { id, keys } = await addRule({ keys: [org.key_id, "key_of_nobody"] })
    expect(keys).toContain(org.key_id)
    const rotated = await as(owner, "POST", `/v1/api-keys/${org.key_id}/rotate`, { grace_seconds: 600 })
    expect(rotated.status).toBe(200)
    expect((await ask({}, rotated.body.key)).status).toBe(202)
    expect((await ask()).status).toBe(202)
    const [rule] = (await as(owner, "GET", "/v1/approval-rules")).body.items
    expect([rule.id, [...rule.keys].sort()]).toEqual([id, [org.key_id, rotated.body.id].sort()])
  })

  test("that nobody approves counts the whole request as stored", async () => {
    await addRule()
    const day = async () =>
      Number(
        (
          await app.sql("SELECT coalesce(sum(bytes), 0) AS bytes FROM free_storage WHERE org_id = $1", [org.org_id])
        )[0]?.["bytes"]
      )
    const large = { metadata: { note: "x".repeat(500), more: "y".repeat(500), most: "z".repeat(500) } }
    const { run_id } = (await ask(large)).body
    const before = await day()
    expect((await deny(run_id)).body.state).toBe("denied")
    expect((await day()) - before).toBeGreaterThan(2_500)
  })

  test("ends as cancelled when it is denied, when it expires and when it is cancelled, and its hold returns", async () => {
    await addRule()
    const [denied, expired, late, cancelled] = (await Promise.all([ask(), ask(), ask(), ask()])).map(
      ({ body }) => body.run_id
    )
    expect((await deny(denied)).body.state).toBe("denied")
    expect(await read(denied, 30)).toMatchObject({
      status: "cancelled",
      error: { code: "approval_denied" },
      controls: [{ control: "approval_rule", manage: "/v1/approval-rules" }]
    })
    expect((await org.post(`/v1/runs/${cancelled}/cancel`)).status).toBe(200)
    expect(await stateOf(cancelled)).toBe("cancelled")
    await expire(late)
    const answer = await approve(late)
    expect([answer.status, await stateOf(late)]).toEqual([400, "expired"])
    await expire(expired)
    expect(await read(expired, 30)).toMatchObject({ status: "cancelled", error: { code: "approval_expired" } })
    expect((await org.wallet()).reserved).toBe("0.00")
  })

  test("is the same run for a repeat with its Idempotency-Key", async () => {
    await addRule()
    const body = verify("same")
    const [first, second] = [
      await org.run(body, { "idempotency-key": "k" }),
      await org.run(body, { "idempotency-key": "k" })
    ]
    expect([second.body.run_id, second.body.approval]).toEqual([first.body.run_id, first.body.approval])
    expect((await org.get("/v1/approvals")).body.items).toHaveLength(1)
  })
})

describe("who decides", () => {
  test("is a member with the rule's role, never a key, and not who started the run unless the rule lets them", async () => {
    await addRule({ name: "four eyes", role: "owner" })
    const { run_id } = (await ask({}, owner)).body
    expect((await approve(run_id, org.key)).status).toBe(403)
    const own = await approve(run_id, owner)
    expect([own.status, own.body.error.message]).toEqual([403, expect.stringContaining("another member")])
    await app.sql(
      "UPDATE members SET role = 'admin' WHERE org_id = $1 AND user_id = (SELECT user_id FROM sessions ORDER BY created_at DESC LIMIT 1)",
      [org.org_id]
    )
    expect((await approve(run_id, other)).status).toBe(403)
    expect(await stateOf(run_id)).toBe("pending")
    expect((await approve(run_id, await org.session())).status).toBe(200)
    const [rule] = (await org.get("/v1/approval-rules")).body.items
    await as(owner, "PATCH", `/v1/approval-rules/${rule.id}`, { self_approval: true })
    expect((await approve((await ask({}, owner)).body.run_id, owner)).status).toBe(200)
  })

  test("is nobody of another organization, for whom the run does not exist", async () => {
    await addRule()
    const { run_id } = (await ask()).body
    const stranger = await (await app.tenant("1.00")).session()
    for (const path of [`/v1/runs/${run_id}/approve`, `/v1/runs/${run_id}/deny`]) {
      const { status, body } = await as(stranger, "POST", path, {})
      expect([status, body.error.message]).toEqual([400, expect.stringContaining("There is no approval of the run")])
    }
    const { body } = await as(stranger, "POST", "/v1/approvals/decide", { decision: "approve", run_ids: [run_id] })
    expect(body.items).toMatchObject([{ run_id, decided: false }])
    expect((await as(stranger, "GET", "/v1/approvals")).body.items).toEqual([])
    expect(await stateOf(run_id)).toBe("pending")
  })

  test("decides about what they saw", async () => {
    await addRule()
    const { run_id } = (await ask()).body
    const { status, body } = await approve(run_id, owner, { digest: "another" })
    expect([status, body.error.details[0].path, await stateOf(run_id)]).toEqual([400, "digest", "pending"])
  })
})

describe("who asks", () => {
  test("learns it from a quote, and an agent from its tool", async () => {
    await addRule({ name: "Verification", capabilities: ["email.verify"] })
    const quote = await org.post("/v1/quote", verify("quoted"))
    expect(quote.body).toMatchObject({ would: "run", approval_required: true, approval_rule: "Verification" })
    const { body } = await app.call(org.key, "POST", "/mcp", {
      body: {
        ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
        params: { name: "run", arguments: { ...verify("agent"), max_cost: "0.05" } }
      },
      headers: { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18" }
    })
    const text = JSON.stringify(body)
    expect(text).toContain("Tell your person: ")
    expect(text).toContain("/approvals?run=run_")
  })
})

describe("one answer counts", () => {
  test("of twenty at once, and the run runs once", async () => {
    await addRule()
    const { run_id } = (await ask()).body
    const answers = await Promise.all(Array.from({ length: 20 }, () => approve(run_id)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await read(run_id, 30)).toMatchObject({ status: "succeeded", attempts: [{ outcome: "succeeded" }] })
    expect(
      (await org.ledger()).filter(({ reference, type }) => reference === run_id && type === "settle")
    ).toHaveLength(1)
  })

  test("of a yes, a no, a cancellation and the end of its time", async () => {
    await addRule()
    for (const _ of [1, 2, 3, 4, 5]) {
      const { run_id } = (await ask()).body
      const [yes, no] = await Promise.all([
        approve(run_id),
        deny(run_id, other),
        org.post(`/v1/runs/${run_id}/cancel`),
        expire(run_id).catch(() => null)
      ])
      const run = await until(
        "the run has ended",
        () => read(run_id, 5),
        (one) => one.done
      )
      const state = await stateOf(run_id)
      expect([yes.status === 200, no.status === 200]).toEqual([state === "approved", state === "denied"])
      // Who approves and cancels before it starts has both.
      if (state !== "approved") expect(run.status).toBe("cancelled")
      expect(["approved", "denied", "cancelled", "expired"]).toContain(state)
    }
    expect((await org.wallet()).reserved).toBe("0.00")
  })

  test("of many runs, decided in one request", async () => {
    await addRule()
    const ids = (await Promise.all([1, 2, 3].map(() => ask()))).map(({ body }) => body.run_id)
    await deny(ids[2])
    const { body } = await as(owner, "POST", "/v1/approvals/decide", {
      decision: "approve",
      run_ids: [...ids, "run_x"]
    })
    expect(body.items.map((one: { decided: boolean }) => one.decided)).toEqual([true, true, false, false])
    for (const id of ids.slice(0, 2)) expect((await read(id, 30)).status).toBe("succeeded")
  })
})

describe("the database keeps the rule too", () => {
  const broken = async (statement: string, run_id: string) =>
    app.sql(statement, [run_id]).then(
      () => "done",
      (error: unknown) => String(error)
    )
  test("a run that waits neither starts nor ends without its approval, and an answer is final", async () => {
    await addRule()
    const { run_id } = (await ask()).body
    const start = "UPDATE open_runs SET state = 'queued' WHERE run_id = $1"
    expect(await broken(start, run_id)).toContain("run_waits_for_approval")
    expect(await broken("DELETE FROM open_runs WHERE run_id = $1", run_id)).toContain("run_waits_for_approval")
    expect(
      await broken(
        "UPDATE approvals SET state = 'approved', decided_at = now(), via = 'session', decided_by = 'usr_nobody' WHERE run_id = $1",
        run_id
      )
    ).toContain("another turn")
    await deny(run_id)
    expect(await broken("UPDATE approvals SET state = 'pending' WHERE run_id = $1", run_id)).toContain(
      "approval_is_final"
    )
  })

  test("the audit names a run that ran without its approval, and one that waits without one", async () => {
    await addRule()
    const [ran, left] = [(await ask()).body.run_id, (await ask()).body.run_id]
    const violations = async () =>
      (await Effect.runPromise(Context.get(app.context, Audit).run)).violations
        .filter(({ equation }) => equation.startsWith("E25"))
        .map(({ subject }) => subject)
    expect(await violations()).toEqual([])
    await approve(ran)
    await read(ran, 30)
    // As a mistake in the service would leave it: triggers are off.
    const off = (statement: string, run_id: string) =>
      app.sql(
        `SET session_replication_role = replica; ${statement.replace("$1", `'${run_id}'`)}; RESET session_replication_role`
      )
    await off("UPDATE approvals SET decided_at = requested_at + interval '50 seconds' WHERE run_id = $1", ran)
    await off("UPDATE approvals SET state = 'cancelled', decided_at = now() WHERE run_id = $1", left)
    expect((await violations()).toSorted()).toEqual([ran, left].toSorted())
    await off("UPDATE approvals SET decided_at = requested_at WHERE run_id = $1", ran)
    await off("UPDATE approvals SET state = 'pending', decided_at = NULL WHERE run_id = $1", left)
    expect(await violations()).toEqual([])
  })

  test("a yes is about the input and the offers that were shown", async () => {
    await addRule()
    const { run_id } = (await ask()).body
    await app.sql('UPDATE runs SET input = \'{"email":"mallory@example.com"}\' WHERE run_id = $1', [run_id])
    const start = `WITH yes AS (UPDATE approvals SET state = 'approved', decided_at = now(), via = 'session',
        decided_by = (SELECT user_id FROM members WHERE org_id = approvals.org_id AND role = 'owner' LIMIT 1) WHERE run_id = $1)
      UPDATE open_runs SET state = 'queued' WHERE run_id = $1`
    expect(await broken(start, run_id)).toContain("run_waits_for_approval")
    await deny(run_id)
    expect((await read(run_id, 30)).error.code).toBe("approval_denied")
  })
})

describe("a rule", () => {
  test("is refused with its field", async () => {
    const cases: ReadonlyArray<readonly [Record<string, unknown>, string]> = [
      [{ name: "" }, "name"],
      [{ name: "x", expires_after: 59 }, "expires_after"],
      [{ name: "x", role: "viewer" }, "role"],
      [{ name: "x", min_hold: "-1" }, "min_hold"],
      [{ name: "x", capabilities: [] }, "capabilities"],
      [{ name: "x", labels: { a: "y".repeat(3000) } }, ""],
      [{ name: "x", unknown: 1 }, "unknown"]
    ]
    for (const [body, path] of cases) {
      const { status, body: answer } = await as(owner, "POST", "/v1/approval-rules", body)
      expect([path, status, answer.error.details[0].path]).toEqual([path, 400, path])
    }
    await addRule({ name: "once" })
    expect((await as(owner, "POST", "/v1/approval-rules", { name: "once" })).status).toBe(400)
    expect((await as(org.key, "POST", "/v1/approval-rules", { name: "by key" })).status).toBe(403)
  })
})
