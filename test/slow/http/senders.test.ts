/**
 * Sending domains over the API: added, proven by a real DNS server's TXT record, listed, removed; and rehearsed in the sandbox.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { createSocket } from "node:dgram"
import { type App, startApp, type Tenant } from "../../kit/app.ts"
import { answer } from "../../layers/providers/stage.ts"
import { standIn } from "../../layers/providers/standin.ts"
import { dueToday } from "../../kit/input-samples.ts"

/** A name server on loopback: TXT records by name, and a code in place of an answer. `mute`: it never answers. */
const nameServer = async () => {
  const records = new Map<string, ReadonlyArray<string>>()
  const codes = new Map<string, number | "mute">()
  const asked: Array<string> = []
  const socket = createSocket("udp4")
  socket.on("message", (query, from) => {
    const labels: Array<string> = []
    let at = 12
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.subarray(at + 1, at + 1 + length).toString("latin1"))
      at += length + 1
    }
    const name = labels.join(".").toLowerCase()
    asked.push(name)
    const code = codes.get(name)
    if (code === "mute") return
    const answers = (records.get(name) ?? []).map((record) => {
      const text = Buffer.from(record, "utf8")
      const parts: Array<Buffer> = []
      for (let begin = 0; begin < text.length; begin += 255) {
        const part = text.subarray(begin, begin + 255)
        parts.push(Buffer.from([part.length]), part)
      }
      const data = Buffer.concat(parts)
      return Buffer.concat([
        Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 0, data.length >> 8, data.length & 255]),
        data
      ])
    })
    const status = code ?? (answers.length === 0 ? 3 : 0)
    const head = Buffer.from([query[0] ?? 0, query[1] ?? 0, 0x81, 0x80 | status, 0, 1, 0, answers.length, 0, 0, 0, 0])
    socket.send(Buffer.concat([head, query.subarray(12, at + 5), ...answers]), from.port, from.address)
  })
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve))
  return { records, codes, asked, address: `127.0.0.1:${socket.address().port}`, stop: () => socket.close() }
}

const there = standIn()
let dns: Awaited<ReturnType<typeof nameServer>>
let app: App
let sandbox: App
beforeAll(async () => {
  dns = await nameServer()
  app = await startApp({ settings: { ...there.settings, RUNGATE_DNS_SERVERS: dns.address } })
  sandbox = await startApp()
})
afterAll(async () => {
  await Promise.all([app.stop(), sandbox.stop()])
  await there.stop()
  dns.stop()
})

let org: Tenant
let session: string
let domain: string
let number = 0
beforeEach(async () => {
  org = await app.tenant("5.00")
  session = await org.session()
  domain = `shop-${(number += 1)}.com`
  there.forget()
})

const add = (token: string, name: string, to = app) => to.call(token, "POST", "/v1/senders", { body: { domain: name } })
const verify = (token: string, id: string, to = app) => to.call(token, "POST", `/v1/senders/${id}/verify`)
const added = async (token: string, name = domain) => {
  const { status, body } = await add(token, name)
  expect(status).toBe(200)
  return body
}
const send = (tenant: Tenant, from: string) =>
  tenant.run({ capability: "email.send", input: { from, to: "lead@example.com", subject: "Hello", text: "Hi" } })

describe("a domain is proven by its DNS record", () => {
  test("from adding it to sending from it, and to removing it", async () => {
    const sender = await added(session)
    expect(sender).toEqual({
      id: expect.stringMatching(/^snd_[0-9a-z]{26}$/),
      domain,
      status: "pending",
      record: {
        type: "TXT",
        name: `_rungate-challenge.${domain}`,
        value: expect.stringMatching(/^rungate-verification=[0-9a-f]{32}$/)
      },
      verified_at: null,
      created_at: expect.any(String)
    })
    expect((await send(org, `ada@${domain}`)).body.error.details[0].path).toBe("input.from")
    const early = await verify(session, sender.id)
    expect([early.status, early.body.error.code]).toEqual([400, "invalid_request"])
    expect(early.body.error.message).toStartWith(
      `${domain} is not verified yet. There is no TXT record at _rungate-challenge.${domain}. Create a TXT record there with the value ${sender.record.value}`
    )
    dns.records.set(sender.record.name, ["v=spf1 -all", sender.record.value])
    const done = await verify(session, sender.id)
    expect(done.body).toEqual({ ...sender, status: "verified", verified_at: expect.any(String) })
    const lookups = dns.asked.length
    // What is verified stays so, and nobody is asked again.
    expect((await verify(session, sender.id)).body).toEqual(done.body)
    expect(dns.asked.length).toBe(lookups)
    expect((await org.get("/v1/senders")).body).toEqual({ items: [done.body], next_cursor: null })
    there.play("resend", answer(200, { id: "m1" }))
    there.play("postmark", answer(200, { ErrorCode: 0, MessageID: "m1", Message: "OK" }))
    expect((await send(org, `Ada <ada@news.${domain}>`)).body.status).toBe("succeeded")
    const gone = await app.call(session, "DELETE", `/v1/senders/${sender.id}`)
    expect(gone.body).toEqual({ id: sender.id, deleted: true })
    expect((await send(org, `ada@${domain}`)).body.error.details[0].path).toBe("input.from")
    expect((await app.call(session, "DELETE", `/v1/senders/${sender.id}`)).status).toBe(400)
    expect((await added(session)).record.value).not.toBe(sender.record.value)
  })

  test("the same domain again is the same sender, in any spelling", async () => {
    const first = await added(session, `bücher-${domain}`)
    expect(first.domain).toMatch(/^xn--[a-z0-9-]+\.com$/)
    for (const spelling of [`BÜCHER-${domain}`, ` bücher-${domain}. `, first.domain.toUpperCase()])
      expect((await added(session, spelling)).id).toBe(first.id)
    const many = await Promise.all(Array.from({ length: 8 }, () => added(session, `same-${domain}`)))
    expect(new Set(many.map((one) => one.id)).size).toBe(1)
  })

  test("another organization's record proves nothing, and a record of its own does: both send", async () => {
    const other = await app.tenant("5.00")
    const otherSession = await other.session()
    const [ours, theirs] = [await added(session), await added(otherSession)]
    expect(theirs.record.value).not.toBe(ours.record.value)
    dns.records.set(ours.record.name, [ours.record.value])
    expect((await verify(session, ours.id)).body.status).toBe("verified")
    const refused = await verify(otherSession, theirs.id)
    expect([refused.status, refused.body.error.message]).toEqual([
      400,
      expect.stringContaining(`None of the 1 TXT records has it: "${ours.record.value}"`)
    ])
    expect((await verify(otherSession, ours.id)).body.error.details[0].path).toBe("path.sender_id")
    dns.records.set(ours.record.name, [ours.record.value, theirs.record.value])
    expect((await verify(otherSession, theirs.id)).body.status).toBe("verified")
    for (const tenant of [org, other]) {
      there.play("resend", answer(200, { id: "m1" }))
      there.play("postmark", answer(200, { ErrorCode: 0, MessageID: "m1", Message: "OK" }))
      expect((await send(tenant, `ada@${domain}`)).body.status).toBe("succeeded")
    }
  })

  test.if(dueToday(1))(
    "what a name server answers is bounded and harmless, and its failure is no refusal",
    async () => {
      const sender = await added(session)
      const { name, value } = sender.record
      const hostile = [`\u001b[2J${value}`, `${value}x`, value.toUpperCase(), "x".repeat(400)]
      for (const record of hostile) {
        dns.records.set(name, [record])
        const { status, body } = await verify(session, sender.id)
        expect([status, body.error.code]).toEqual([400, "invalid_request"])
        expect(body.error.message).not.toContain("\u001b")
        expect(body.error.message.length).toBeLessThan(800)
      }
      for (const code of [2, 5]) {
        dns.codes.set(name, code)
        const { status, body } = await verify(session, sender.id)
        expect([status, body.error.code]).toEqual([503, "service_unavailable"])
        expect(body.error.message).toContain("try again")
      }
      dns.codes.set(name, "mute")
      const silent = await verify(session, sender.id)
      expect([silent.status, silent.body.error.code]).toEqual([503, "service_unavailable"])
      expect((await org.get("/v1/senders")).body.items[0].status).toBe("pending")
    }
  )
})

test.each([
  ...["co.uk", "github.io", "com", "gmail.com", "mail.gmail.com", "localhost", "127.0.0.1", "[::1]", "0x7f.1"],
  ...["ada@example.com", "https://example.com", "example.com/x", "example.com:53", "exa mple.com", "-a.com", "a..com"],
  ...[
    "_dmarc.example.com",
    "*.example.com",
    "example.com\u0000",
    "\ud800.com",
    "x".repeat(64).concat(".com"),
    "a.nosuchtld"
  ]
])("%p is no domain that an organization can own", async (name) => {
  const { status, body } = await add(session, name)
  expect([status, body.error.code, body.error.details[0].path]).toEqual([400, "invalid_request", "domain"])
})

test("an API key changes nothing", async () => {
  const sender = await added(session)
  for (const [method, path] of [
    ["POST", "/v1/senders"],
    ["POST", `/v1/senders/${sender.id}/verify`],
    ["DELETE", `/v1/senders/${sender.id}`]
  ] as const) {
    const body = path === "/v1/senders" ? { domain } : undefined
    const { status, body: said } = await app.call(org.key, method, path, { body })
    expect([status, said.error.code]).toEqual([403, "forbidden"])
  }
  expect((await org.get("/v1/senders")).body.items).toEqual([sender])
})

test("an organization has a hundred senders at most, however they arrive; they are listed page by page", async () => {
  const names = Array.from({ length: 105 }, (_, index) => `n${index}-${domain}`)
  const answers = await Promise.all(names.map((name) => add(session, name)))
  expect(answers.filter((one) => one.status === 200).length).toBe(100)
  const refused = answers.find((one) => one.status !== 200)
  expect([refused?.status, refused?.body.error.message]).toEqual([400, expect.stringContaining("at most 100 senders")])
  const ids: Array<string> = []
  let cursor = ""
  do {
    const { body } = await org.get(`/v1/senders?limit=40${cursor}`)
    ids.push(...body.items.map((one: { id: string }) => one.id))
    cursor = body.next_cursor === null ? "" : `&cursor=${body.next_cursor}`
  } while (cursor !== "")
  expect([ids.length, ids]).toEqual([100, [...new Set(ids)].sort().reverse()])
  expect((await org.get("/v1/senders?cursor=x")).body.error.details[0].path).toBe("query.cursor")
})

test("in the sandbox verification succeeds without DNS, and everything may send", async () => {
  const tenant = await sandbox.tenant("5.00")
  const token = await tenant.session()
  const { body: sender } = await add(token, "acme.example", sandbox)
  expect(sender).toMatchObject({ status: "pending", sandbox: true })
  const { body } = await verify(token, sender.id, sandbox)
  expect(body).toMatchObject({ id: sender.id, status: "verified", sandbox: true })
  expect((await send(tenant, "anybody@anywhere.example")).body.status).toBe("succeeded")
})
