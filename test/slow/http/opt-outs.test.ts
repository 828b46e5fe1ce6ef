/** Opt-outs: whom no run may contact any more, by which list, and how that is proved. */
import { afterEach, describe, expect, test } from "bun:test"
import { createHash } from "node:crypto"
import { Client } from "pg"
import { type Tenant, until, withApp } from "../../kit/app.ts"
import { operatorOf } from "../../http/operator/operator.ts"

const app = withApp()
afterEach(async () => {
  await app.books()
})

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")
const send = (to: unknown, more: Record<string, unknown> = {}) => ({
  capability: "email.send",
  input: { from: "hello@example.com", to, subject: "Hello", text: "Hello", ...more }
})
const message = (input: Record<string, unknown>) => ({
  capability: "network.message",
  input: { text: "Hello", account_id: "acc", ...input }
})
const codeOf = ({ status, body }: Awaited<ReturnType<Tenant["run"]>>) => [status, body.status, body.error?.code]
const blocked = [409, "blocked", "opt_out"]
const sent = [200, "succeeded", undefined]
const optOut = async (org: Tenant, ...values: ReadonlyArray<string>) => {
  const answer = await org.post("/v1/opt-outs", { values })
  expect([answer.status, answer.body.refused]).toEqual([200, 0])
  return answer.body
}
const list = async (org: Tenant) => (await org.get("/v1/opt-outs")).body.items

describe("an opt-out", () => {
  test("blocks each run that names the recipient, wherever, charges nothing, and no other run", async () => {
    const org = await app.tenant("5.00")
    expect(await optOut(org, "Ada+News@Example.com")).toMatchObject({ added: 1, already: 0 })
    const forms = [
      send("ada+news@example.com"),
      send(["bob@example.com", "ADA+news@EXAMPLE.com"]),
      send("bob@example.com", { cc: ["ada+news@example.com"] }),
      send("bob@example.com", { bcc: ["bob@example.com", "ada+news@example.com"] })
    ]
    for (const form of forms) {
      const run = await org.run(form)
      expect(codeOf(run)).toEqual(blocked)
      expect(run.body.controls).toEqual([{ control: "opt_out", manage: "/v1/opt-outs" }])
    }
    expect(codeOf(await org.run(send("ada@example.com")))).toEqual(sent)
    expect((await org.ledger()).filter(({ type }) => type === "reserve")).toHaveLength(1)
    expect(await list(org)).toMatchObject([
      { kind: "email", hint: "a•••@example.com", digest: sha256("ada+news@example.com"), source: "api" }
    ])
    const quote = await org.post("/v1/quote", forms[3])
    expect(quote.body).toMatchObject({ would: "block", controls: [{ control: "opt_out" }], error: { code: "opt_out" } })
  })

  test("of a domain covers its addresses and subdomains, in any alphabet, and no domain beside it", async () => {
    const org = await app.tenant("5.00")
    await optOut(org, "Müller.example", "@acme.example")
    for (const to of ["a@xn--mller-kva.example", "a@mail.eu.acme.example", "a@ACME.example"])
      expect(codeOf(await org.run(send(to)))).toEqual(blocked)
    for (const to of ["a@notacme.example", "a@acme.example.org"]) expect(codeOf(await org.run(send(to)))).toEqual(sent)
  })

  test("of a profile covers every form of it, and what a run has tied to it", async () => {
    const org = await app.tenant("5.00")
    const network_url = "https://www.linkedin.com/in/grace-hopper"
    const { body: person } = await org.run({ capability: "network.profile", input: { network_url } })
    const [provider_member_id] = Object.values(person.result.provider_ids)
    await optOut(org, "linkedin.com/in/Grace-Hopper/?x=1")
    expect(codeOf(await org.run(message({ network_url })))).toEqual(blocked)
    expect(codeOf(await org.run(message({ provider_member_id })))).toEqual(blocked)
    expect(codeOf(await org.run(message({ provider_member_id: "somebody" })))).toEqual(sent)
  })

  test("of a profile covers a raw call that names the person by an id or a conversation, and nobody else's", async () => {
    const org = await app.tenant("5.00")
    const network_url = "https://www.linkedin.com/in/grace-hopper"
    const { body: person } = await org.run({ capability: "network.profile", input: { network_url } })
    const [id] = Object.values(person.result.provider_ids)
    const { body: first } = await org.run(message({ network_url }))
    await optOut(org, network_url)
    const into = (chat_id: string) =>
      org.run({
        ...{ provider: "unipile", endpoint: "/api/v1/chats/{chat_id}/messages", method: "POST" },
        ...{ path: { chat_id }, input: { text: "Hello again" } }
      })
    expect(codeOf(await into(first.result.chat_id))).toEqual(blocked)
    expect(codeOf(await into("another"))).toEqual(sent)
    const toId = (one: unknown) =>
      org.run({
        ...{ provider: "unipile", endpoint: "/api/v1/chats", method: "POST" },
        input: { account_id: "acc", attendees_ids: [one], text: "Hello" }
      })
    expect(codeOf(await toId(id))).toEqual(blocked)
    expect(codeOf(await toId("somebody"))).toEqual(sent)
  })

  test("stops raw calls that send, and leaves other raw calls alone", async () => {
    const org = await app.tenant("5.00")
    await optOut(org, "ada@example.com")
    const raw = (provider: string, endpoint: string, input: unknown) =>
      org.run({ provider, endpoint, method: "POST", input })
    const mail = { from: "a@example.com", subject: "Hello", text: "Hello" }
    const one = await raw("resend", "/emails", { ...mail, to: ["Ada <ada@example.com>"] })
    expect(codeOf(one)).toEqual(blocked)
    expect(codeOf(await raw("resend", "/emails", { ...mail, to: "bob@example.com" }))[1]).not.toBe("blocked")
    expect(
      codeOf(
        await raw("resend", "/emails/batch", [
          { ...mail, to: "bob@example.com" },
          { ...mail, to: "x@example.com", cc: ["ada@example.com"] }
        ])
      )
    ).toEqual(blocked)
    const postmark = {
      From: "a@example.com",
      To: "bob@example.com, Ada <ADA@example.com>",
      Subject: "Hello",
      TextBody: "x"
    }
    expect(codeOf(await raw("postmark", "/email", postmark))).toEqual(blocked)
    expect((await org.run({ capability: "email.verify", input: { email: "ada@example.com" } })).body.status).toBe(
      "succeeded"
    )
  })

  test("stops rows of a batch, and no others", async () => {
    const org = await app.tenant("5.00")
    await optOut(org, "ada@example.com")
    const runs = ["bob@example.com", "ada@example.com"].map((to) => send(to))
    const { body: batch } = await org.post("/v1/batches", { runs, max_total: "1.00" })
    const { rows } = await until(
      "the end of the batch",
      async () => (await org.get(`/v1/batches/${batch.id}`)).body,
      (one) => one.rows.open === 0
    )
    expect(rows).toMatchObject({ succeeded: 1, blocked: 1 })
  })

  test("survives the erasure of the person, and the receipt of the refused run still names the entry", async () => {
    const org = await app.tenant("5.00")
    await optOut(org, "ada@example.com")
    const { body: run } = await org.run(send("ada@example.com"))
    const [entry] = await list(org)
    const match = { list: "organization", kind: "email", digest: sha256("ada@example.com"), since: entry.created_at }
    expect(run.error.message).toBe(
      `ada@example.com is on the opt-out list of this organization: the address with the SHA-256 ${match.digest} is entry ${entry.id}, since ${match.since}; leave this recipient out`
    )
    const receiptOf = async () => {
      const { text } = await org.get(`/v1/runs/${run.run_id}/receipt`)
      return JSON.parse(Buffer.from(text.split(".")[1] ?? "", "base64url").toString())
    }
    expect((await receiptOf()).opt_out).toEqual({ opt_out_id: entry.id, ...match })
    const session = await org.session()
    const erased = await app.call(session, "DELETE", "/v1/history?q=ada@example.com")
    expect(erased.body.erased).toBe(1)
    expect((await org.get(`/v1/runs/${run.run_id}`)).body.error.message).toBe("erased")
    expect(codeOf(await org.run(send("ada@example.com")))).toEqual(blocked)
    // The evidence is that of the time, also after the entry is gone.
    expect((await app.call(session, "DELETE", `/v1/opt-outs/${entry.id}`)).body).toEqual({
      id: entry.id,
      deleted: true
    })
    expect(await receiptOf()).toMatchObject({ error: "opt_out", opt_out: { opt_out_id: entry.id, ...match } })
    expect((await org.get(`/v1/runs/${run.run_id}/details`)).body.opt_out).toEqual({ opt_out_id: entry.id, ...match })
    expect(codeOf(await org.run(send("ada@example.com")))).toEqual(sent)
  })
})

describe("the list of an organization", () => {
  test("is its own: others neither see, change nor check it", async () => {
    const [org, other] = [await app.tenant("5.00"), await app.tenant("5.00")]
    await optOut(org, "ada@example.com")
    const [{ id }] = await list(org)
    expect(await list(other)).toEqual([])
    expect(codeOf(await other.run(send("ada@example.com")))).toEqual(sent)
    expect((await app.call(await other.session(), "DELETE", `/v1/opt-outs/${id}`)).status).toBe(404)
    for (const bad of ["opt_x", "%00", "' OR 1=1"])
      expect(
        (await app.call(await org.session(), "DELETE", `/v1/opt-outs/${encodeURIComponent(bad)}`)).status
      ).toBeOneOf([400, 404])
    const { body } = await other.post("/v1/opt-outs/check", { values: ["ada@example.com"] })
    expect(body.items).toMatchObject([{ kind: "email", opted_out: false, opt_out_id: null }])
    expect(await list(org)).toHaveLength(1)
  })

  test("names the value that is wrong, and takes a thousand at most", async () => {
    const org = await app.tenant("5.00")
    for (const [values, path] of [
      [["ada@example.com", "what is this"], "values.1"],
      [["co.uk"], "values.0"],
      [["email:abc"], "values.0"],
      [[], "values"],
      [Array.from({ length: 1_001 }, (_, n) => `p${n}@example.com`), "values"]
    ] as const) {
      const { status, body } = await org.post("/v1/opt-outs", { values })
      expect([status, body.error.details[0].path]).toEqual([400, path])
    }
    expect(await list(org)).toEqual([])
    expect(await optOut(org, "ada@example.com", "ADA@example.com", "+1 415 555 0123")).toMatchObject({
      added: 2,
      already: 1
    })
  })

  test("is exported with digests, which another list imports, and again without a change", async () => {
    const [org, other] = [await app.tenant("5.00"), await app.tenant("5.00")]
    await optOut(org, "ada@example.com", "acme.example", "linkedin.com/in/ada")
    const { text: csv } = await org.get("/v1/opt-outs/export")
    expect(csv.split("\n")).toHaveLength(5)
    expect(csv).not.toContain("ada@")
    const csvBody = (tenant: Tenant, text: string) =>
      app.call(tenant.key, "POST", "/v1/opt-outs/import", { raw: text, headers: { "content-type": "text/csv" } })
    expect((await csvBody(other, csv)).body).toEqual({ added: 3, already: 0, refused: 0, refusals: [] })
    expect((await csvBody(other, csv)).body).toEqual({ added: 0, already: 3, refused: 0, refusals: [] })
    expect(codeOf(await other.run(send("ada@example.com")))).toEqual(blocked)
    expect(codeOf(await other.run(send("x@mail.acme.example")))).toEqual(blocked)
    const { body } = await other.post("/v1/opt-outs/check", { values: ["bob@acme.example", "bob@example.com", "?"] })
    expect(body.items).toMatchObject([{ opted_out: true }, { opted_out: false }, { kind: null, opted_out: false }])
    // A list of addresses as other systems have them, one of which is none.
    const plain = await csvBody(other, "Email,Name\nada@example.com,Ada\nnobody,\ngrace@example.com,Grace\n")
    expect(plain.body).toEqual({
      ...{ added: 1, already: 1, refused: 1 },
      refusals: [`row 2: "nobody" is no address, domain, phone number or profile`]
    })
    expect((await list(other)).map(({ source }: { source: string }) => source)).toEqual(
      Array.from({ length: 4 }, () => "import")
    )
  })
})

test("texts that an export marks as no formulas are imported as they were", async () => {
  const [org, other] = [await app.tenant(), await app.tenant()]
  await org.post("/v1/opt-outs", { values: ["+14155550123"], reason: "-- by phone" })
  const { text: raw } = await org.get("/v1/opt-outs/export")
  expect(raw).toContain("'+14•••23")
  await app.call(other.key, "POST", "/v1/opt-outs/import", { raw, headers: { "content-type": "text/csv" } })
  expect(await list(other)).toMatchObject([{ hint: "+14•••23", reason: "-- by phone" }])
})

describe("a long import", () => {
  test("holds the wallet for a few entries at a time, and is counted before", async () => {
    const org = await app.tenant("5.00")
    const text = Array.from({ length: 1_201 }, (_, n) => `p${n}@long.example`).join("\n")
    const imported = await app.call(org.key, "POST", "/v1/opt-outs/import", {
      raw: text,
      headers: { "content-type": "text/csv" }
    })
    expect(imported.body).toEqual({ added: 1_201, already: 0, refused: 0, refusals: [] })
    const groups = await app.sql(
      "SELECT count(*)::int AS entries FROM opt_outs WHERE org_id = $1 GROUP BY xmin::text ORDER BY 1",
      [org.org_id]
    )
    expect(groups.map(({ entries }) => entries)).toEqual([201, 500, 500])
    expect(codeOf(await org.run(send("p1200@long.example")))).toEqual(blocked)
  })
})

describe("the list of the service", () => {
  test("stops every organization's runs, and no organization sees it", async () => {
    const [org, operator] = [await app.tenant("5.00"), await operatorOf(app)]
    const added = await operator.post("/opt-outs", { values: ["everywhere.example"], source: "complaint" })
    expect(added.body).toMatchObject({ added: 1 })
    const run = await org.run(send("ada@everywhere.example"))
    expect(codeOf(run)).toEqual(blocked)
    expect(run.body.error.message).toContain("is on the opt-out list of this service: the domain with")
    expect(await list(org)).toEqual([])
    const { body } = await org.post("/v1/opt-outs/check", { values: ["ada@everywhere.example"] })
    expect(body.items).toMatchObject([{ opted_out: false }])
    expect((await operator.get("/opt-outs")).body.items).toMatchObject([
      { hint: "everywhere.example", created_by: "grace" }
    ])
    expect((await org.get("/v1/operator/opt-outs")).status).toBeOneOf([401, 403])
  })
})

describe("an opt-out that is being committed", () => {
  const insert = async (client: Client, org_id: string | null, address: string) =>
    client.query(
      `INSERT INTO opt_outs (id, org_id, kind, digest, source) VALUES ('opt_' || gen_random_uuid(), $1, 'email', $2, 'api')`,
      [org_id, Buffer.from(sha256(address), "hex")]
    )

  test.each(["organization", "service"] as const)("by the %s stops the run that waits for it", async (whose) => {
    const org = await app.tenant("5.00")
    const address = `${whose}@committed.example`
    // The process remembers the wallet now, and its next turn reads nothing of it.
    expect(codeOf(await org.run(send(address)))).toEqual(sent)
    const client = new Client({ connectionString: app.databaseUrl })
    await client.connect()
    await client.query("BEGIN")
    await insert(client, whose === "service" ? null : org.org_id, address)
    const run = org.run(send(address))
    await until(
      "the turn waits for the lock",
      () => app.sql("SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"),
      (rows) => rows.length > 0
    )
    await client.query("COMMIT")
    await client.end()
    expect(codeOf(await run)).toEqual(blocked)
  })

  test("while fifty runs arrive: none that is admitted later contacts the person", async () => {
    const org = await app.tenant("5.00")
    const address = "fifty@example.com"
    const runs = Array.from({ length: 50 }, () => org.run(send(address)))
    await Promise.race(runs)
    await optOut(org, address)
    const codes = (await Promise.all(runs)).map(({ body }) => body.status)
    expect(new Set(codes).size).toBeLessThanOrEqual(2)
    expect(codeOf(await org.run(send(address)))).toEqual(blocked)
    const late = await app.sql(
      `SELECT l.run_id FROM ledger l JOIN opt_outs o ON o.org_id = l.org_id
       WHERE l.org_id = $1 AND l.type = 'reserve' AND l.created_at > o.created_at`,
      [org.org_id]
    )
    expect(late).toEqual([])
  })
})
