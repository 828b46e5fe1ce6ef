/**
 * Two workspaces at one provider's account, in production: what a run has made belongs to its workspace, and another one's
 * run that names it is refused before a request leaves, a run exists or a hold is taken.
 */
import { afterAll, afterEach, beforeEach, expect, test } from "bun:test"
import { figures, type Tenant, withApp } from "../kit/app.ts"
import { answer, type Played } from "../layers/providers/stage.ts"
import { hasten, standIn } from "../layers/providers/standin.ts"

let ours: Tenant
let others: Tenant
const there = standIn()
const unhasten = hasten()
const app = withApp({ settings: there.settings })
afterAll(async () => {
  await there.stop()
  unhasten()
})
let number = 0
/** Two workspaces with an inbox each, and addresses that no other test has. */
let ids: { readonly ours: string; readonly others: string }
beforeEach(async () => {
  number += 1
  ids = { ours: `Sales-${number}@agentmail.to`, others: `other-${number}@agentmail.to` }
  ours = await app.tenant("20.00")
  others = await app.tenant("20.00")
  await create(ours, ids.ours)
  await create(others, ids.others)
  there.forget()
})
afterEach(async () => {
  await app.books()
})

const inbox = (inbox_id: string) => ({ inbox_id, display_name: "Sales", created_at: "2026-01-15T09:30:00Z" })
const create = async (org: Tenant, inbox_id: string, headers: Record<string, string> = {}) => {
  there.play("agentmail", answer(200, inbox(inbox_id)))
  const username = inbox_id.split("@")[0]
  const { status, body } = await org.run({ capability: "email.inbox_create", input: { username } }, headers)
  expect([status, body.result?.inbox_id]).toEqual([200, inbox_id])
  return body
}
const read = (org: Tenant, inbox_id: string) => org.run({ capability: "email.messages", input: { inbox_id } })
const mail = { to: "lead@example.com", subject: "Hello", text: "Hi there" }
const send = (org: Tenant, from: string, routing: Record<string, unknown> = {}) =>
  org.run({ capability: "email.send", input: { ...mail, from }, routing })
const list = (org: Tenant, more: Record<string, unknown> = {}) =>
  org.run({ capability: "email.inbox_list", input: {}, ...more })
const none: Played = answer(200, { count: 0, messages: [] })
const sent: Played = answer(200, { message_id: "<abc@agentmail.to>", thread_id: "thd_1" })
const paths = () => there.heard().map(({ method, path }) => `${method} ${decodeURIComponent(path)}`)

test("a workspace reads and sends from its own inbox, however the address is written", async () => {
  there.play("agentmail", none, sent, sent, sent)
  expect((await read(ours, ids.ours)).body.status).toBe("succeeded")
  for (const from of [ids.ours, `Sales <${ids.ours}>`, ids.ours.toLowerCase()]) {
    const { body } = await send(ours, from)
    expect(body).toMatchObject({ status: "succeeded", provider: "agentmail", billing: { charged: "0.012" } })
  }
  expect(paths()).toEqual([
    `GET /v0/inboxes/${ids.ours}/messages`,
    `POST /v0/inboxes/${ids.ours}/messages/send`,
    `POST /v0/inboxes/${ids.ours}/messages/send`,
    `POST /v0/inboxes/${ids.ours.toLowerCase()}/messages/send`
  ])
})

test("another workspace's inbox does not exist: nothing leaves, nothing is held, no run remains", async () => {
  const [before, runs] = [await others.wallet(), (await others.list()).body.items.length]
  const refused: Array<string> = []
  const check = async (answered: Promise<Awaited<ReturnType<typeof read>>>, path: string) => {
    const { status, body } = await answered
    expect([status, body.error.code, body.error.details[0].path]).toEqual([400, "invalid_request", path])
    expect(body.error.message).toMatch(/is not (an inbox|a sender) of this organization/)
    refused.push(path)
  }
  const name = ids.ours.split("@")[0] ?? ""
  const spellings = [ids.ours, ids.ours.toUpperCase(), `${ids.ours}/..`, `../${ids.ours}`, `nobody-${ids.ours}`, name]
  for (const inbox_id of spellings) await check(read(others, inbox_id), "input.inbox_id")
  const senders = [
    ids.ours,
    `Sales <${ids.ours.toUpperCase()}>`,
    `${ids.others} <${ids.ours}>`,
    name,
    `"${ids.others}" <${name}>`
  ]
  for (const from of senders) await check(send(others, from), "input.from")
  await check(send(others, ids.ours, { provider: "agentmail" }), "input.from")
  for (const provider of ["resend", "postmark"]) {
    await check(send(others, ids.ours, { provider }), "input.from")
    // These send from no inbox at all.
    expect((await send(others, ids.others, { provider })).body.error.code).toBe("provider_not_available")
  }
  expect(there.heard()).toEqual([])
  expect(await others.wallet()).toEqual(before)
  expect((await others.list()).body.items).toHaveLength(runs)
  figures("ownership", { refused: refused.length, requests: there.heard().length })
})

test("each lists its own inboxes from the records of owners, and the provider is not asked", async () => {
  for (const [org, mine] of [
    [ours, ids.ours],
    [others, ids.others]
  ] as const) {
    const made = { inbox_id: mine, address: mine, display_name: "Sales", created_at: "2026-01-15T09:30:00Z" }
    const { body } = await list(org)
    expect(body).toMatchObject({
      status: "succeeded",
      provider: "agentmail",
      result: { items: [made], total: 1, next_cursor: null },
      billing: { charged: "0.00" },
      attempts: [{ provider: "agentmail", outcome: "succeeded" }]
    })
    const raw = await list(org, { response: { include_raw: true } })
    for (const foreign of [ids.ours, ids.others].filter((one) => one !== mine)) expect(raw.text).not.toContain(foreign)
  }
  const nobody = await app.tenant()
  expect((await list(nobody)).body.result).toEqual({ items: [], total: 0, next_cursor: null })
  expect(there.heard()).toEqual([])
})

test("an assigned inbox is listed by its address and date, and one whose run was erased too", async () => {
  const assigned = `assigned-${number}@ours-${number}.example`
  await app.sql("INSERT INTO owned_resources (kind, resource_id, org_id) VALUES ('inbox', $1, $2)", [
    assigned,
    ours.org_id
  ])
  await app.sql("UPDATE runs SET result = NULL WHERE org_id = $1 AND capability = 'email.inbox_create'", [ours.org_id])
  const { body } = await list(ours)
  const bare = (id: string) => ({ inbox_id: id, address: id, display_name: null, created_at: expect.any(String) })
  expect(body.result).toEqual({
    items: [bare(assigned), bare(ids.ours.toLowerCase())],
    total: 2,
    next_cursor: null
  } as never)
  for (const { created_at } of body.result.items) expect(new Date(created_at).toISOString()).toBe(created_at)
})

test("pages of one's own inboxes have no gap, and no cursor leads to another workspace's", async () => {
  const more = Array.from({ length: 5 }, (_, index) => `p${index}-${number}@agentmail.to`)
  for (const id of more) await create(ours, id)
  there.forget()
  const page = async (cursor: string | null) =>
    (await org.run({ capability: "email.inbox_list", input: { limit: 2, ...(cursor === null ? {} : { cursor }) } }))
      .body
  let org = ours
  const seen: Array<string> = []
  let cursor: string | null = null
  do {
    const { result } = await page(cursor)
    expect(result.total).toBe(6)
    seen.push(...result.items.map((one: { inbox_id: string }) => one.inbox_id))
    cursor = result.next_cursor
  } while (cursor !== null)
  expect(seen.toSorted()).toEqual([ids.ours, ...more].toSorted())
  org = others
  const cursors = [more[0] ?? "", ids.ours, "agentmail:t1", "a", " ", "%", "'; --", "\u0000x"]
  for (const foreign of cursors) {
    const { result } = await page(foreign)
    for (const { inbox_id } of result?.items ?? []) expect(inbox_id).toBe(ids.others)
    expect([0, 1, undefined]).toContain(result?.total)
  }
  expect(there.heard()).toEqual([])
})

test("an inbox on a workspace's own domain is listed and sent from, by nobody else", async () => {
  const domain = `own-${number}.example`
  await app.sql("INSERT INTO owned_resources (kind, resource_id, org_id) VALUES ('domain', $1, $2)", [
    domain,
    ours.org_id
  ])
  const id = `hello@${domain}`
  there.play("agentmail", answer(200, inbox(id)))
  const made = await ours.run({ capability: "email.inbox_create", input: { username: "hello", domain } })
  expect(made.body.result.inbox_id).toBe(id)
  expect((await list(ours)).text).toContain(id)
  expect((await list(others)).text).not.toContain(domain)
  there.forget()
  for (const refused of [read(others, id), send(others, id), send(others, `x@${domain}`)])
    expect((await refused).body.error.code).toBe("invalid_request")
  expect(there.heard()).toEqual([])
  // Postmark and Resend send from the domain as well, and cost less. Only at the inbox provider are the message and its replies in the inbox.
  there.play("agentmail", sent)
  expect((await send(ours, `Hello <${id.toUpperCase()}>`)).body).toMatchObject({
    status: "succeeded",
    provider: "agentmail"
  })
  expect(there.heard().map(({ provider }) => provider)).toEqual(["agentmail"])
  // A request that names a provider sends as the domain's owner.
  there.play("postmark", answer(200, { To: "lead@example.com", MessageID: "m-1", ErrorCode: 0, Message: "OK" }))
  expect((await send(ours, id, { provider: "postmark" })).body).toMatchObject({ provider: "postmark" })
})

test("a repeat with its idempotency key makes no second inbox, and the first stays its workspace's", async () => {
  const id = `again-${number}@agentmail.to`
  const key = { "idempotency-key": `inbox-${number}` }
  const first = await create(ours, id, key)
  const again = await create(ours, id, key)
  expect(again.run_id).toBe(first.run_id)
  expect(paths()).toEqual(["POST /v0/inboxes"])
  // The same key of another organization is another key.
  const theirs = await create(others, `their-${id}`, key)
  expect(theirs.run_id).not.toBe(first.run_id)
  there.play("agentmail", none)
  expect((await read(ours, id)).body.status).toBe("succeeded")
  expect((await read(others, id)).body.error.code).toBe("invalid_request")
  const settled = (await ours.ledger()).filter((entry) => entry.type === "settle")
  expect(settled.map((entry) => entry.amount)).toEqual(["-2.40", "-2.40"])
})

test("what belongs to somebody stays theirs, whatever the provider answers", async () => {
  await create(others, ids.ours)
  there.forget()
  expect((await read(others, ids.ours)).body.error.code).toBe("invalid_request")
  there.play("agentmail", none)
  expect((await read(ours, ids.ours)).body.status).toBe("succeeded")
})

test("a failed creation makes nobody an owner", async () => {
  const inbox_id = `failed-${number}@agentmail.to`
  there.play("agentmail", answer(500, inbox(inbox_id)))
  const { body } = await ours.run({ capability: "email.inbox_create", input: { username: `failed-${number}` } })
  // A 500 to a call that acts: nobody knows whether the inbox was made.
  expect(body.error.code).toBe("outcome_unknown")
  expect((await read(ours, inbox_id)).body.error.code).toBe("invalid_request")
})

test("a domain that a workspace has registered is for its own inboxes only", async () => {
  const domain = `shop-${number}.com`
  const quote = { status: "SUCCESS", response: { avail: "yes", price: "9.73", premium: "no", minDuration: 1 } }
  there.play("porkbun", answer(200, quote), answer(200, { status: "SUCCESS", domain, cost: 973, orderId: 123456 }))
  const registered = await ours.run({
    capability: "domain.register",
    input: { domain, max_price: "9.73", agree_to_terms: true }
  })
  expect(registered.body.result).toMatchObject({ domain, registered: true })
  there.forget()
  const on = (org: Tenant, domain: string) =>
    org.run({ capability: "email.inbox_create", input: { username: "sales", domain } })
  for (const name of [domain, domain.toUpperCase(), "example.org"]) {
    const { status, body } = await on(others, name)
    expect([status, body.error.code, body.error.details[0].path]).toEqual([400, "invalid_request", "input.domain"])
  }
  expect(there.heard()).toEqual([])
  there.play("agentmail", answer(200, inbox(`sales@${domain}`)))
  expect((await on(ours, domain)).body.result.inbox_id).toBe(`sales@${domain}`)
  there.play("agentmail", answer(200, inbox(`free-${number}@agentmail.to`)))
  expect((await on(others, "agentmail.to")).status).toBe(200)
})

test("a run of one workspace is no run of the other", async () => {
  there.play("agentmail", none)
  const { run_id } = (await read(ours, ids.ours)).body
  expect((await ours.get(`/v1/runs/${run_id}`)).status).toBe(200)
  expect((await others.get(`/v1/runs/${run_id}`)).body.error.code).toBe("invalid_request")
})

test("nothing went anywhere else", () => expect(there.astray(app.url)).toEqual([]))
