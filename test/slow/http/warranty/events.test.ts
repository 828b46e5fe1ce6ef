/**
 * Bounces that providers report by themselves: a signed event disputes the runs that called the address valid, and nothing else does.
 * The events are the examples of Resend's and Postmark's documentation, signed by the library that receivers use.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { Webhook } from "standardwebhooks"
import { type App, startApp, type Tenant, until, withApp } from "../../../kit/app.ts"
import { faultyPostgres } from "../../../faults/postgres.ts"
import { answer } from "../../../layers/providers/stage.ts"
import { standIn } from "../../../layers/providers/standin.ts"
import { indexedAndCounted } from "../../../kit/finished-work.ts"

const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`
const login = "rungate:pa55word-of-events"
const there = standIn()
const settings = {
  ...there.settings,
  RUNGATE_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64"),
  // While a secret is replaced, both are listed.
  RUNGATE_PROVIDER_RESEND_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 8).toString("base64")}, ${secret}`,
  RUNGATE_PROVIDER_POSTMARK_WEBHOOK_SECRET: login
}
let org: Tenant
let other: Tenant
const app = withApp({ settings: { ...settings, RUNGATE_WARRANTY_SHARE: "1" } })
beforeAll(async () => {
  other = await app.tenant("5.00")
})
afterAll(async () => {
  await there.stop()
})
beforeEach(async () => {
  there.forget()
  org = await app.tenant("5.00")
  await owned(org)
})
afterEach(async () => {
  await app.sql("DELETE FROM owned_resources")
  await app.books()
})

type Sender = "postmark" | "resend"
const address = "gone@blackhole.example"
const owned = ({ org_id }: Tenant) =>
  app.sql("INSERT INTO owned_resources (kind, resource_id, org_id) VALUES ('sender', 'me@acme.example', $1)", [org_id])
const check = async (tenant = org) => {
  there.play("leadmagic", answer(200, { email_status: "valid", credits_consumed: 0.25 }))
  const input = { email: address }
  const { body } = await tenant.run({ capability: "email.verify", input, routing: { provider: "leadmagic" } })
  expect(body.result.email_status).toBe("valid")
  return String(body.run_id)
}
/** A message, as its provider knows it: what an event gives back is what the provider was sent. */
const send = async (
  provider: Sender,
  to: string = address,
  meanwhile: (sent: Told) => Promise<unknown> = async () => {}
) => {
  const message_id = crypto.randomUUID()
  const accepted = { postmark: { MessageID: message_id, ErrorCode: 0, Message: "OK" }, resend: { id: message_id } }
  there.play(provider, async ({ text }) => {
    await meanwhile({ message_id, tags: JSON.parse(text).tags })
    return answer(200, accepted[provider])
  })
  const input = { from: "me@acme.example", to, subject: "Hello", text: "Hi", tags: { campaign: "spring" } }
  const { body } = await org.run({ capability: "email.send", input, routing: { provider } })
  expect(body.status).toBe("succeeded")
  const sent = JSON.parse(there.heard(provider).at(-1)?.text ?? "null")
  const tags: Record<string, string> =
    provider === "postmark"
      ? sent.Metadata
      : Object.fromEntries(sent.tags.map(({ name, value }: { name: string; value: string }) => [name, value]))
  expect(tags).toEqual({ campaign: "spring", rungate_run: body.run_id })
  return { run_id: String(body.run_id), message_id, tags }
}

interface Told {
  readonly message_id: string
  readonly tags: unknown
  readonly to?: string
}
const resendEvent = ({ message_id, tags, to = address }: Told, change: object = {}, bounce: object = {}) => ({
  type: "email.bounced",
  created_at: "2024-11-22T23:41:12.126Z",
  data: {
    broadcast_id: "8b146471-e88e-4322-86af-016cd36fd216",
    created_at: "2024-11-22T23:41:11.894719+00:00",
    email_id: message_id,
    from: "Acme <me@acme.example>",
    to: [to],
    subject: "Sending this example",
    template_id: "43f68331-0622-4e15-8202-246a0388854b",
    bounce: {
      message: "The recipient's email address is on the suppression list",
      subType: "Suppressed",
      type: "Permanent",
      ...bounce
    },
    tags,
    ...change
  }
})
const postmarkEvent = ({ message_id, tags, to = address }: Told, change: object = {}) => ({
  RecordType: "Bounce",
  MessageStream: "outbound",
  ID: 4323372036854775807n.toString(),
  Type: "HardBounce",
  TypeCode: 1,
  Name: "Hard bounce",
  Tag: "Test",
  MessageID: message_id,
  Metadata: tags,
  ServerID: 23,
  Description: "The server was unable to deliver your message (ex: unknown user, mailbox not found).",
  Details: "Test bounce details",
  Email: to,
  From: "me@acme.example",
  BouncedAt: "2019-11-05T16:33:54.9070259Z",
  DumpAvailable: true,
  Inactive: true,
  CanActivate: true,
  Subject: "Test subject",
  ...change
})

const svix = (body: string, { at = new Date(), key = secret, id = "msg_p5jXN8AQM9LWM0D4loKWxJek" } = {}) => ({
  "svix-id": id,
  "svix-timestamp": String(Math.floor(at.getTime() / 1000)),
  "svix-signature": new Webhook(key).sign(id, at, body)
})
const basic = (credentials = login) => ({ authorization: `Basic ${btoa(credentials)}` })
const post = async (provider: string, body: string, headers: Record<string, string>, to: App = app) => {
  const reply = await fetch(`${to.url}/v1/webhooks/${provider}`, { method: "POST", body, headers })
  return { status: reply.status, body: await reply.json() }
}
const tell = async (provider: Sender, event: object, to: App = app) => {
  const body = JSON.stringify(event)
  return post(provider, body, provider === "resend" ? svix(body) : basic(), to)
}
const received = (disputed: number) => ({ status: 200, body: { received: true, disputed } })
/** What the provider says when it is asked, as often as it is asked. The refund is a share of what was counted. */
const confirms = async (provider: Sender, message_id: string) => {
  const bounce = { Type: "HardBounce", MessageID: message_id, Email: address }
  const email = { object: "email", id: message_id, to: [address], cc: [], bcc: [], last_event: "bounced" }
  const word = answer(200, provider === "postmark" ? { TotalCount: 1, Bounces: [bounce] } : email)
  there.play(provider, word, word, word, word)
  await indexedAndCounted(app)
}
const refunds = async (run_id: string) =>
  (await org.ledger()).filter(({ reference }) => reference === `warranty:${run_id}`)
const booked = (run_id: string) =>
  until(
    "the refund is booked",
    () => refunds(run_id),
    (found) => found.length > 0
  )
const disputeOf = async (run_id: string, tenant = org) => (await tenant.get(`/v1/runs/${run_id}/dispute`)).body
const asked = (provider: Sender) => there.heard(provider).filter(({ method }) => method === "GET").length

describe.each(["resend", "postmark"] as const)("%s tells of a bounce, and", (provider) => {
  const eventOf = provider === "resend" ? resendEvent : postmarkEvent

  test("each run that called the address valid is refunded once, however often the event comes", async () => {
    const theirs = await check(other)
    const [first, second] = [await check(), await check()]
    const sent = await send(provider)
    const late = await check()
    await confirms(provider, sent.message_id)
    expect(await tell(provider, eventOf(sent))).toEqual(received(2))
    for (const run_id of [first, second]) {
      expect((await booked(run_id)).length).toBe(1)
      expect(await disputeOf(run_id)).toMatchObject({ state: "refunded", evidence: sent.run_id })
    }
    expect(await tell(provider, eventOf(sent))).toEqual(received(2))
    expect(await tell(provider, eventOf({ ...sent, to: address.toUpperCase() }))).toEqual(received(2))
    expect([(await refunds(first)).length, (await refunds(second)).length, asked(provider)]).toEqual([1, 1, 2])
    for (const [run_id, tenant] of [
      [late, org],
      [theirs, other]
    ] as const)
      expect((await disputeOf(run_id, tenant)).error.code).toBe("not_found")
  })

  // A raw request through the same account may carry anybody's run id as its tag, and its events are genuine.
  test("an event that is not true of the run it names disputes nothing", async () => {
    const run_id = await check()
    const sent = await send(provider)
    const elsewhere = await send(provider, "somebody@else.example")
    const { body: raw } = await org.run({ capability: "people.search", input: { titles: ["x"], limit: 1 } })
    const tagged = (rungate_run: unknown) => ({ ...sent, tags: { rungate_run } })
    const forged: ReadonlyArray<readonly [string, Told]> = [
      ["no tag", { ...sent, tags: {} }],
      ["no tags", { ...sent, tags: null }],
      ["a tag that is no id", tagged("' OR true --")],
      ["a tag that is no text", tagged({ $ne: null })],
      ["a run that does not exist", tagged(`run_${"0".repeat(26)}`)],
      ["a run that sent nothing", tagged(run_id)],
      ["another kind of run", tagged(raw.run_id)],
      ["a message to another address", { ...sent, tags: elsewhere.tags }],
      ["another message", { ...sent, message_id: crypto.randomUUID() }],
      ["an address that got no message", { ...elsewhere, to: address }]
    ]
    for (const [name, told] of forged) expect([name, await tell(provider, eventOf(told))]).toEqual([name, received(0)])
    expect((await disputeOf(run_id)).error.code).toBe("not_found")
    expect(asked(provider)).toBe(0)
  })

  test("the provider is still asked: its word decides, and a repeat before the wait is over changes nothing", async () => {
    const run_id = await check()
    const sent = await send(provider)
    const delivered = { id: sent.message_id, to: [address], last_event: "delivered" }
    there.play(provider, answer(200, provider === "postmark" ? { TotalCount: 0, Bounces: [] } : delivered))
    expect(await tell(provider, eventOf(sent))).toEqual(received(1))
    const first = await until(
      "the provider has answered",
      () => disputeOf(run_id),
      ({ state }) => state === "not_bounced"
    )
    expect(await tell(provider, eventOf(sent))).toEqual(received(1))
    expect(await disputeOf(run_id)).toEqual(first)
    expect([await refunds(run_id), asked(provider)]).toEqual([[], 1])
  })
})

test("only permanent bounces of one address count, and other events are received", async () => {
  const run_id = await check()
  const [byResend, byPostmark] = [await send("resend"), await send("postmark")]
  const others: ReadonlyArray<readonly [Sender, object]> = [
    ["resend", resendEvent(byResend, {}, { type: "Transient" })],
    ["resend", resendEvent(byResend, {}, { type: "Undetermined" })],
    ["resend", resendEvent(byResend, { bounce: null })],
    ["resend", resendEvent(byResend, { to: [address, "other@example.com"] })],
    ["resend", resendEvent(byResend, { to: [] })],
    ["resend", { ...resendEvent(byResend), type: "email.delivered" }],
    ["resend", {}],
    ["resend", []],
    ["postmark", postmarkEvent(byPostmark, { Type: "SoftBounce", TypeCode: 4096 })],
    ["postmark", postmarkEvent(byPostmark, { Type: "Transient", TypeCode: 2 })],
    ["postmark", postmarkEvent(byPostmark, { RecordType: "SpamComplaint" })],
    ["postmark", postmarkEvent(byPostmark, { Email: null })],
    ["postmark", { RecordType: "Delivery" }]
  ]
  for (const [provider, event] of others) expect(await tell(provider, event)).toEqual(received(0))
  const [text, secretly] = ["no JSON at all", "__proto__"]
  expect(await post("resend", text, svix(text))).toEqual(received(0))
  const named = JSON.stringify({ type: secretly })
  expect(await post("resend", named, svix(named))).toEqual(received(0))
  expect((await disputeOf(run_id)).error.code).toBe("not_found")
  // Resend's reference lists tags as pairs, its examples as an object.
  await confirms("resend", byResend.message_id)
  const pairs = [{ name: "rungate_run", value: byResend.run_id }]
  expect(await tell("resend", resendEvent({ ...byResend, tags: pairs }))).toEqual(received(1))
  await booked(run_id)
})

describe("an event that its provider did not sign", () => {
  test("is refused: wrong secret, changed body, old, early, unsigned, and another's login", async () => {
    const body = JSON.stringify(resendEvent({ message_id: "m", tags: {} }))
    const minutes = (n: number) => new Date(Date.now() + n * 60_000)
    const key = `whsec_${Buffer.alloc(32, 9).toString("base64")}`
    const refused: ReadonlyArray<readonly [string, string, Record<string, string>]> = [
      ["resend", body, svix(body, { key })],
      ["resend", body, svix(`${body} `)],
      ["resend", body, { ...svix(body), "svix-id": "msg_another" }],
      ["resend", body, svix(body, { at: minutes(-6) })],
      ["resend", body, svix(body, { at: minutes(6) })],
      ["resend", body, { ...svix(body), "svix-signature": "v1," }],
      ["resend", body, { ...svix(body), "svix-signature": "" }],
      ["resend", body, {}],
      ["resend", body, basic()],
      ["postmark", body, {}],
      ["postmark", body, svix(body)],
      ["postmark", body, basic("rungate:pa55word-of-event")],
      ["postmark", body, basic("")],
      ["postmark", body, { authorization: `Bearer ${btoa(login)}` }],
      ["postmark", body, { authorization: `Basic ${login}` }]
    ]
    for (const [provider, text, headers] of refused) {
      const { status, body: problem } = await post(provider, text, headers)
      expect([status, problem.error.code]).toEqual([400, "invalid_request"])
      expect(problem.error.message).toContain(`RUNGATE_PROVIDER_${provider.toUpperCase()}_WEBHOOK_SECRET`)
      expect(JSON.stringify(problem)).not.toContain("pa55word")
    }
    const deep = "[".repeat(10_000)
    expect((await post("resend", deep, svix(deep))).status).toBe(400)
    const large = "x".repeat(1_100_000)
    expect((await post("resend", large, {})).status).toBe(413)
  })

  test("costs no statement, and a provider without a secret has no such address", async () => {
    const wire = await faultyPostgres(app.databaseUrl)
    const { RUNGATE_PROVIDER_POSTMARK_WEBHOOK_SECRET: _, ...without } = settings
    const front = await startApp({ role: "http", beside: app, settings: { ...without, DATABASE_URL: wire.url } })
    const [run_id, sent] = [await check(), await send("resend")]
    const reads = ({ text }: { readonly text: string }) =>
      /\b(runs|runs_recent|ledger|orgs|warranty_\w+|history_\w+)\b/.test(text)
    wire.arm(reads, 0, "before")
    const body = JSON.stringify(resendEvent({ message_id: "m", tags: { rungate_run: `run_${"0".repeat(26)}` } }))
    const flood = await Promise.all(Array.from({ length: 100 }, () => post("resend", body, {}, front)))
    expect(new Set(flood.map(({ status }) => status))).toEqual(new Set([400]))
    const unknown = await post("nobody", body, {}, front)
    expect([unknown.status, unknown.body.error.code]).toEqual([404, "not_found"])
    for (const provider of ["postmark", "hunter", "__proto__", "%2e%2e"]) {
      const { status, body: problem } = await post(provider, body, basic(), front)
      expect([provider, status, problem.error]).toEqual([provider, 404, unknown.body.error])
    }
    // This process has no share, and so no warranty: it believes the event, and reads nothing for it either.
    expect(await tell("resend", resendEvent(sent), front)).toEqual(received(0))
    expect(wire.disarm().counted.length).toBe(0)
    expect((await disputeOf(run_id)).error.code).toBe("not_found")
    wire.arm(reads, 0, "before")
    await org.over(front).get(`/v1/runs/${run_id}`)
    expect(wire.disarm().counted.length).toBeGreaterThan(0)
    await front.stop()
    await wire.stop()
  })
})

test("an event that comes before the run has ended is to come again", async () => {
  const run_id = await check()
  let early: Awaited<ReturnType<typeof tell>> | undefined
  const sent = await send("resend", address, async (told) => {
    early = await tell("resend", resendEvent(told))
  })
  expect([early?.status, early?.body.error.code]).toEqual([503, "service_unavailable"])
  await confirms("resend", sent.message_id)
  expect(await tell("resend", resendEvent(sent))).toEqual(received(1))
  await booked(run_id)
})

test("a run whose seven days are over, and a message through the organization's own account, are left alone", async () => {
  const run_id = await check()
  const sent = await send("resend")
  await indexedAndCounted(app)
  await app.sql("UPDATE runs SET finished_at = finished_at - interval '7 days 1 minute' WHERE run_id = $1", [run_id])
  expect(await tell("resend", resendEvent(sent))).toEqual(received(0))
  await check()
  const account = { body: { api_key: "key-of-the-customer" } }
  expect((await app.call(await org.session(), "PUT", "/v1/provider-accounts/resend", account)).status).toBe(200)
  const own = await send("resend")
  expect(await tell("resend", resendEvent(own))).toEqual(received(0))
})

test("an event about a message that waited for an approval disputes what was bought meanwhile", async () => {
  const owner = await org.session()
  const asOwner = (path: string, body: unknown) => app.call(owner, "POST", path, { body })
  await asOwner("/v1/approval-rules", { name: "mail", capabilities: ["email.send"] })
  const message_id = crypto.randomUUID()
  there.play("resend", answer(200, { id: message_id }))
  const input = { from: "me@acme.example", to: address, subject: "Hello", text: "Hi" }
  const { body: queued } = await org.run({ capability: "email.send", input, routing: { provider: "resend" } })
  const run_id = await check()
  expect((await asOwner(`/v1/runs/${queued.run_id}/approve`, {})).body.state).toBe("approved")
  expect((await org.get(`/v1/runs/${queued.run_id}?wait=30`)).body.status).toBe("succeeded")
  await confirms("resend", message_id)
  const tags = { rungate_run: queued.run_id }
  expect(await tell("resend", resendEvent({ message_id, tags }))).toEqual(received(1))
  await booked(run_id)
})
