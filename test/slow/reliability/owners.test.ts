/**
 * Two organizations at the same provider accounts, in production: senders, connected accounts and jobs belong to one of them, for
 * capabilities and raw calls alike, however a request spells the name.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { figures, type Reply, type Tenant, timed, withApp } from "../../kit/app.ts"
import { documentOf, endpointOf } from "../../kit/provider-documents.ts"
import { answer } from "../../layers/providers/stage.ts"
import { hasten, standIn } from "../../layers/providers/standin.ts"

const open = { type: "object", additionalProperties: true }
const string = { type: "string" }
const acme = documentOf("acme", [
  endpointOf({ path: "/jobs", method: "POST", body: open, resources: { makes: [{ kind: "job", at: "tasks.*.id" }] } }),
  endpointOf({
    path: "/jobs/{id}",
    path_params: { ...open, properties: { id: string } },
    resources: { uses: [{ kind: "job", field: "path.id" }] }
  }),
  endpointOf({
    path: "/results",
    query_params: open,
    resources: { uses: [{ kind: "job", field: "job_id", required: true }] }
  }),
  endpointOf({
    path: "/act",
    method: "POST",
    body: open,
    query_params: open,
    resources: {
      uses: [
        { kind: "account", field: "account_id", required: true },
        { kind: "job", field: "after.*.job" }
      ]
    }
  }),
  endpointOf({
    path: "/form",
    method: "POST",
    body: open,
    encoding: "form",
    resources: { uses: [{ kind: "account", field: "identity_ids.*", required: true }] }
  }),
  endpointOf({
    path: "/tasks",
    method: "POST",
    body_type: "task",
    body: open,
    resources: { uses: [{ kind: "job", field: "id", required: true }] }
  }),
  endpointOf({
    path: "/mail",
    method: "POST",
    body: open,
    resources: { uses: [{ kind: "sender", field: "From", required: true }] }
  }),
  endpointOf({
    path: "/mail/batch",
    method: "POST",
    body: { type: "array", items: open },
    resources: { uses: [{ kind: "sender", field: "*.From", required: true }] }
  })
])
const there = standIn({ slug: "acme", auth: { kind: "bearer" } })
const unhasten = hasten()

let ours: Tenant
let others: Tenant
const app = withApp({ settings: there.settings })
beforeAll(async () => {
  await app.catalog(acme)
})
afterAll(async () => {
  await there.stop()
  unhasten()
})
beforeEach(async () => {
  there.forget()
  ours = await app.tenant("9.00")
  others = await app.tenant("9.00")
})
afterEach(async () => {
  await app.books()
})

let number = 0
const fresh = (word: string) => `${word}-${(number += 1)}`
const owns = (org: Tenant, kind: string, id: string, provider = "") =>
  app.sql("INSERT INTO owned_resources (kind, resource_id, provider, org_id) VALUES ($1, $2, $3, $4)", [
    kind,
    id,
    provider,
    org.org_id
  ])
const proves = (org: Tenant, domain: string) =>
  app.sql("INSERT INTO senders (sender_id, org_id, domain, token, verified_at) VALUES ($1, $2, $3, 'x', now())", [
    fresh("snd"),
    org.org_id,
    domain
  ])
const call = (org: Tenant, endpoint: string, request: Record<string, unknown> = {}) =>
  org.run({ provider: "acme", endpoint, input: {}, ...request })
/** Refused at this path before anything left or was held. */
const expectRefused = async (asked: Promise<Reply>, path: string) => {
  const { status, body } = await asked
  expect([status, body.error?.code, body.error?.details?.[0]?.path]).toEqual([400, "invalid_request", path])
  expect(there.heard()).toEqual([])
  return String(body.error.message)
}
const expectDelivered = async (asked: Promise<Reply>) => {
  const { body } = await asked
  expect(body.error ?? null).toBe(null)
  expect(body.status).toBe("succeeded")
}
const idle = async (org: Tenant) => {
  expect((await org.wallet()).available).toBe("9.00")
  expect((await org.list()).body.items).toEqual([])
}
/** Starts jobs with these ids. */
const starts = async (org: Tenant, ...ids: ReadonlyArray<unknown>) => {
  there.play("acme", answer(200, { tasks: ids.map((id) => ({ id })) }))
  await expectDelivered(call(org, "/jobs"))
  there.forget()
}

describe("jobs", () => {
  test("belong to the organization whose raw run started them, and don't exist for another one", async () => {
    const id = fresh("job")
    await starts(ours, id)
    there.play("acme", answer(200, {}), answer(200, {}), answer(200, {}))
    await expectDelivered(call(ours, "/jobs/{id}", { path: { id } }))
    await expectDelivered(call(ours, "/results", { input: { job_id: id } }))
    await expectDelivered(call(ours, "/results", { query: { job_id: id } }))
    there.forget()
    const foreign = await expectRefused(call(others, "/jobs/{id}", { path: { id } }), "path.id")
    const unheardOf = await expectRefused(call(others, "/jobs/{id}", { path: { id: "nobody's" } }), "path.id")
    expect(foreign).toBe(unheardOf)
    await expectRefused(call(others, "/results", { input: { job_id: id } }), "input.job_id")
    await expectRefused(call(others, "/results", { query: { job_id: id } }), "query.job_id")
    await expectRefused(call(others, "/results"), "input.job_id")
    await idle(others)
  })

  test("of one provider are none of another's, and ids know case", async () => {
    const id = fresh("job")
    await owns(ours, "job", id, "firecrawl")
    await expectRefused(call(ours, "/jobs/{id}", { path: { id } }), "path.id")
    await starts(ours, id)
    await expectRefused(call(ours, "/jobs/{id}", { path: { id: id.toUpperCase() } }), "path.id")
  })

  test("every task and every item of a list counts", async () => {
    const [mine, theirs, account] = [fresh("job"), fresh("job"), fresh("acc")]
    await starts(ours, mine)
    await starts(others, theirs)
    await owns(ours, "account", account, "acme")
    there.play("acme", answer(200, {}))
    await expectDelivered(call(ours, "/tasks", { input: [{ id: mine }, { id: mine }] }))
    there.forget()
    await expectRefused(call(ours, "/tasks", { input: [{ id: mine }, { id: theirs }] }), "input.1.id")
    await expectRefused(call(ours, "/tasks", { input: [{ id: mine }, {}] }), "input.1.id")
    await expectRefused(call(ours, "/tasks", { input: { id: [mine, theirs] } }), "input.id.1")
    const after = [{ job: mine }, { job: theirs }]
    await expectRefused(call(ours, "/act", { input: { account_id: account, after } }), "input.after.1.job")
  })

  test("hostile ids of a provider are bounded, and a flood of them ends", async () => {
    const good = fresh("job")
    await starts(
      ours,
      "a\u0000b",
      "\ud800",
      "x".repeat(100_000),
      "",
      null,
      {},
      [[good]],
      1e300,
      2 ** 60,
      "sp ace",
      4711
    )
    const kept = async (org: Tenant) =>
      (await app.sql("SELECT resource_id FROM owned_resources WHERE org_id = $1 ORDER BY 1", [org.org_id])).map((row) =>
        String(row["resource_id"])
      )
    expect(await kept(ours)).toEqual(["4711", good])
    const flood = Array.from({ length: 10_000 }, () => fresh("flood"))
    const { millis } = await timed(() => starts(others, ...flood))
    expect((await kept(others)).length).toBe(1_000)
    figures("owners flood", { ids: flood.length, kept: 1_000, millis: Math.round(millis) })
    there.play("acme", answer(200, {}))
    await expectDelivered(call(others, "/jobs/{id}", { path: { id: flood[0] } }))
    there.forget()
    const many = Array.from({ length: 2_000 }, () => flood[0])
    await expectRefused(call(others, "/results", { input: { job_id: many } }), "input")
  })

  test("two organizations' runs that are answered one id at once: one owns it", async () => {
    const rounds = 20
    for (let round = 0; round < rounds; round += 1) {
      const ids = Array.from({ length: 20 }, () => fresh("same"))
      const [forward, backward] = [ids, [...ids].reverse()].map((list) =>
        answer(200, { tasks: list.map((id) => ({ id })) })
      )
      there.play("acme", forward ?? expect.unreachable(), backward ?? expect.unreachable())
      await Promise.all([expectDelivered(call(ours, "/jobs")), expectDelivered(call(others, "/jobs"))])
      there.forget()
      const rows = await app.sql(
        "SELECT resource_id, count(*)::int AS owners FROM owned_resources WHERE resource_id = ANY($1) GROUP BY 1",
        [ids]
      )
      expect(rows.map((row) => row["owners"])).toEqual(ids.map(() => 1))
    }
    await starts(ours, "first-come")
    await starts(others, "first-come")
    await expectRefused(call(others, "/jobs/{id}", { path: { id: "first-come" } }), "path.id")
  })
})

describe("a field that names an object has one spelling", () => {
  test("look-alikes, doubled names, brackets and values of other types are refused", async () => {
    const [mine, theirs] = [fresh("acc"), fresh("acc")]
    await owns(ours, "account", mine, "acme")
    await owns(others, "account", theirs, "acme")
    there.play("acme", answer(200, {}), answer(200, {}))
    await expectDelivered(call(ours, "/act", { input: { account_id: mine } }))
    await expectDelivered(call(ours, "/form", { input: { identity_ids: [mine] } }))
    there.forget()
    const inputs: ReadonlyArray<readonly [Record<string, unknown>, string]> = [
      [{ account_id: theirs }, "input.account_id"],
      [{ account_id: [mine, theirs] }, "input.account_id.1"],
      [{ account_id: [[theirs]] }, "input.account_id.0.0"],
      [{ account_id: `${mine},${theirs}` }, "input.account_id"],
      [{ account_id: `${mine} ` + theirs }, "input.account_id"],
      [{ account_id: { $ne: "" } }, "input.account_id"],
      [{ account_id: true }, "input.account_id"],
      [{ account_id: 1e300 }, "input.account_id"],
      [{ account_id: "" }, "input.account_id"],
      [{ account_id: null }, "input.account_id"],
      [{ account_id: [] }, "input.account_id"],
      [{}, "input.account_id"],
      [{ account_id: mine, accountId: theirs }, "input.accountId"],
      [{ account_id: mine, Account_ID: theirs }, "input.Account_ID"],
      [{ account_id: mine, "account_id[]": theirs }, "input.account_id[]"],
      [{ account_id: mine, "account_id[$in]": theirs }, "input.account_id[$in]"],
      [{ account_id: mine, " account_id": theirs }, "input. account_id"],
      [{ account_id: `${mine}\u0000` }, "input.account_id"],
      [{ account_id: mine.toUpperCase() }, "input.account_id"],
      [{ account_id: mine, after: { job: "x" } }, "input.after.job"],
      [{ account_id: mine, after: [[{ job: "x" }]] }, "input.after.0.0.job"],
      [{ account_id: mine, after: "x" }, "input.after"]
    ]
    for (const [input, path] of inputs) await expectRefused(call(ours, "/act", { input }), path)
    await expectRefused(
      call(ours, "/act", { input: { account_id: mine }, query: { account_id: theirs } }),
      "query.account_id"
    )
    await expectRefused(
      call(ours, "/form", { input: { identity_ids: [mine], "identity_ids[1]": theirs } }),
      "input.identity_ids[1]"
    )
    await expectRefused(call(ours, "/form", { input: { identity_ids: [mine, theirs] } }), "input.identity_ids.1")
    const written = (input: string) =>
      ours.post("/v1/run", undefined, { raw: `{"provider":"acme","endpoint":"/act","input":${input}}` })
    await expectRefused(written(`{"account_id":"${theirs}","account_id":"${mine}"}`), "input")
    await expectRefused(written(`{"account\\u005fid":"${theirs}","account_id":"${mine}"}`), "input")
    await expectRefused(written(`{"account_id":12345678901234567890}`), "input.account_id")
    await idle(others)
    figures("owners spellings", { tried: inputs.length + 6, left: there.heard().length })
  })

  test("numbers are the ids that their digits say", async () => {
    await owns(ours, "account", "4712", "acme")
    there.play("acme", answer(200, {}), answer(200, {}))
    await expectDelivered(call(ours, "/act", { input: { account_id: 4712 } }))
    await expectDelivered(call(ours, "/act", { input: { account_id: "4712" } }))
    there.forget()
    await expectRefused(call(others, "/act", { input: { account_id: 4712 } }), "input.account_id")
  })
})

describe("connected accounts", () => {
  const url = "https://www.linkedin.com/in/jane-doe"
  const member = answer(200, { provider_id: "ACoAAA1", first_name: "Jane", last_name: "Doe" })
  const invite = (org: Tenant, account_id: string, routing: Record<string, unknown> = {}) =>
    org.run({ capability: "network.invite", input: { network_url: url, account_id }, routing })
  const message = (org: Tenant, more: Record<string, unknown>) =>
    org.run({ capability: "network.message", input: { text: "Hello", ...more } })

  test("act for their own organization only, at the provider where they are connected", async () => {
    const account = fresh("acc")
    await owns(ours, "account", account, "unipile")
    for (const routing of [{}, { provider: "unipile" }, { provider: "edges" }]) {
      await expectRefused(invite(others, account, routing), "input.account_id")
      await expectRefused(message(others, { network_url: url, account_id: account }), "input.account_id")
    }
    await idle(others)
    expect((await invite(ours, account, { provider: "edges" })).body.error.code).toBe("provider_not_available")
    there.play("unipile", member, answer(201, { object: "UserInvitationSent", invitation_id: "inv_1" }))
    const { body } = await invite(ours, account)
    expect(body).toMatchObject({ status: "succeeded", provider: "unipile" })
    expect(there.heard("edges")).toEqual([])
  })

  test("a conversation belongs to the organization whose message began it", async () => {
    const [account, chat_id] = [fresh("acc"), fresh("chat")]
    await owns(ours, "account", account, "unipile")
    there.play("unipile", member, answer(201, { message_id: "m1", chat_id }))
    await expectDelivered(message(ours, { network_url: url, account_id: account }))
    there.forget()
    await expectRefused(message(others, { chat_id }), "input.chat_id")
    await idle(others)
    there.play("unipile", answer(201, { message_id: "m2" }))
    await expectDelivered(message(ours, { chat_id }))
  })
})

describe("senders", () => {
  const mail = { to: "lead@example.com", subject: "Hello", text: "Hi there" }
  const send = (org: Tenant, from: string, more: Record<string, unknown> = {}) =>
    org.run({ capability: "email.send", input: { ...mail, from, ...more }, routing: { provider: "postmark" } })
  const sent = answer(200, { ErrorCode: 0, MessageID: "m1", Message: "OK" })
  const raw = (org: Tenant, From: string, more: Record<string, unknown> = {}) =>
    call(org, "/mail", { input: { From, To: "lead@example.com", ...more } })

  test("without one nothing is sent, and the answer says what to do", async () => {
    const said = await expectRefused(send(ours, "ceo@bank.example"), "input.from")
    expect(said).toBe(
      'input.from is not a sender of this organization. Prove its domain with POST /v1/senders {"domain":"bank.example"}, or ask the operator to assign it: rungate admin resources assign <org> sender ceo@bank.example'
    )
    await expectRefused(raw(ours, "ceo@bank.example"), "input.From")
    await idle(ours)
  })

  test("a proven domain sends, its subdomains too; an assigned address is that address", async () => {
    const domain = `${fresh("shop")}.com`
    await proves(ours, domain)
    await owns(ours, "sender", "ada@partner.example")
    const mine = [
      `a@${domain}`,
      `A@${domain.toUpperCase()}`,
      `"Shop, Inc." <a@news.${domain}>`,
      "Ada <Ada@partner.example>"
    ]
    for (const from of mine) {
      there.forget()
      there.play("postmark", sent)
      there.play("acme", answer(200, {}))
      await expectDelivered(send(ours, from))
      await expectDelivered(raw(ours, from))
      expect(there.heard("postmark")[0]?.body).toMatchObject({ From: from })
    }
    there.forget()
    const foreign = [
      ...["bob@partner.example", "ada@x.partner.example", `a@x${domain}`, `a@${domain}.evil.example`, `a@${domain}.`],
      ...[`a@${domain}, b@bank.example`, `b@bank.example, a@${domain}`, `a@${domain}; b@bank.example`],
      ...[`b@bank.example <a@${domain}>`, `"b@bank.example" <a@${domain}>`, `<a@${domain}> <b@bank.example>`],
      ...[
        `a@${domain} <b@bank.example>`,
        `Bank: a@${domain};`,
        `b@bank.example (a@${domain})`,
        `<@${domain}:b@bank.example>`
      ],
      ...[`"a@${domain}"@bank.example`, `a@${domain}@bank.example`, `a@bank.example@${domain}`, `a@ｓhop.${domain}`],
      ...[
        `A <a@${domain}>\r\nSender: b@bank.example`,
        `A\r\nFrom: b@bank.example <a@${domain}>`,
        `=?utf-8?q?x?=@${domain}x`
      ]
    ]
    for (const from of foreign) {
      await expectRefused(send(ours, from), "input.from")
      await expectRefused(raw(ours, from), "input.From")
    }
    for (const from of mine) {
      await expectRefused(send(others, from), "input.from")
      await expectRefused(raw(others, from), "input.From")
    }
    await idle(others)
    figures("owners senders", { refused: 2 * (foreign.length + mine.length), left: there.heard().length })
  })

  test("that a run does not have any more when it is approved send nothing", async () => {
    const domain = `${fresh("shop")}.com`
    await proves(ours, domain)
    const session = await ours.session()
    const rule = await app.call(session, "POST", "/v1/approval-rules", { body: { name: "all" } })
    const waiting = [await send(ours, `a@${domain}`), await raw(ours, `a@${domain}`)]
    expect([rule.status, ...waiting.map(({ status }) => status)]).toEqual([200, 202, 202])
    await app.sql("DELETE FROM senders WHERE org_id = $1", [ours.org_id])
    await proves(others, domain)
    for (const { body } of waiting) {
      await app.call(session, "POST", `/v1/runs/${body.run_id}/approve`, { body: {} })
      const ended = (await ours.get(`/v1/runs/${body.run_id}?wait=20`)).body
      expect([ended.status, ended.error?.code, ended.attempts]).toEqual(["failed", "invalid_request", []])
      expect(ended.error.message).toContain("is not a sender of this organization")
    }
    expect(there.heard()).toEqual([])
    await app.call(session, "DELETE", `/v1/approval-rules/${rule.body.id}`)
    await idle(others)
  })

  test("a header names no other sender", async () => {
    const domain = `${fresh("shop")}.com`
    await proves(ours, domain)
    const from = `a@${domain}`
    for (const name of ["From", "from", "FROM ", "Sender", "Return-Path", "Resent-From", "From:", "X\r\nFrom"]) {
      await expectRefused(send(ours, from, { headers: { [name]: "b@bank.example" } }), `input.headers.${name}`)
      await expectRefused(
        raw(ours, from, {
          Headers: [
            { Name: "X-A", Value: "1" },
            { Name: name, Value: "b" }
          ]
        }),
        "input.Headers.1"
      )
      await expectRefused(raw(ours, from, { headers: { [name]: "b@bank.example" } }), `input.headers.${name}`)
    }
    await expectRefused(send(ours, from, { headers: { "X-A": "1\r\nFrom: b@bank.example" } }), "input.headers.X-A")
    await expectRefused(raw(ours, from, { Headers: [{ Name: "X-A", Value: "1\r\nFrom: b" }] }), "input.Headers.0")
    await expectRefused(raw(ours, from, { Headers: [{ Name: "X-A", name: "From", Value: "1" }] }), "input.Headers.0")
    await expectRefused(raw(ours, from, { Headers: "From: b@bank.example" }), "input.Headers")
    await expectRefused(raw(ours, from, { from: "b@bank.example" }), "input.from")
    there.play("postmark", sent)
    there.play("acme", answer(200, {}))
    const fine = { "List-Unsubscribe": "<https://example.com>", "Reply-To": "b@bank.example" }
    await expectDelivered(send(ours, from, { reply_to: "b@bank.example", headers: fine }))
    await expectDelivered(
      raw(ours, from, { ReplyTo: "b@bank.example", Headers: [{ Name: "Reply-To", Value: "b@bank.example" }] })
    )
  })

  test("every message of a batch has an owned sender", async () => {
    const domain = `${fresh("shop")}.com`
    await proves(ours, domain)
    const batch = (...froms: ReadonlyArray<string | null>) =>
      call(ours, "/mail/batch", { input: froms.map((From) => (From === null ? {} : { From })) })
    there.play("acme", answer(200, {}))
    await expectDelivered(batch(`a@${domain}`, `b@${domain}`))
    there.forget()
    await expectRefused(batch(`a@${domain}`, "b@bank.example"), "input.1.From")
    await expectRefused(batch(`a@${domain}`, null), "input.1.From")
    await expectRefused(call(ours, "/mail/batch", { input: [] }), "input")
  })

  test("an inbox on the organization's own domain sends through the inbox provider", async () => {
    const domain = `${fresh("shop")}.com`
    await owns(ours, "domain", domain)
    const inbox = `Sales@${domain}`
    there.play("agentmail", answer(200, { inbox_id: inbox, display_name: null, created_at: "2026-01-15T09:30:00Z" }))
    await expectDelivered(ours.run({ capability: "email.inbox_create", input: { username: "Sales", domain } }))
    there.forget()
    const from = `Sales <${inbox}>`
    await expectRefused(others.run({ capability: "email.send", input: { ...mail, from } }), "input.from")
    there.play("agentmail", answer(200, { message_id: "<m@x>", thread_id: "t" }))
    const { body } = await ours.run({
      capability: "email.send",
      input: { ...mail, from },
      routing: { provider: "agentmail" }
    })
    expect(body).toMatchObject({ status: "succeeded", provider: "agentmail" })
    expect(there.heard().map((one) => decodeURIComponent(one.path))).toEqual([`/v0/inboxes/${inbox}/messages/send`])
    // The domain is its own, so its other addresses send too, and no inbox is needed for that.
    there.play("postmark", sent)
    await expectDelivered(send(ours, `billing@${domain}`))
    const other = await ours.run({
      capability: "email.send",
      input: { ...mail, from: `b@${domain}` },
      routing: { provider: "agentmail" }
    })
    expect(other.body.error.code).toBe("provider_not_available")
  })
})

test("inspect tells which fields name something that must be owned", async () => {
  const { body } = await ours.post("/v1/inspect", { provider: "acme", endpoint: "/act" })
  expect(body.hints).toContain("In production account_id must name a connected account that your organization owns.")
  const mail = await ours.post("/v1/inspect", { provider: "acme", endpoint: "/mail" })
  expect(mail.body.hints.join(" ")).toContain(
    "From must name a sender that your organization owns; prove a domain with"
  )
})

test("nothing went anywhere else", () => expect(there.astray(app.url)).toEqual([]))
