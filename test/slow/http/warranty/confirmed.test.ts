/**
 * Bounces in production: the provider that sent a message is asked through the account that sent it, and only its word refunds the run. The
 * answers are the examples of Postmark's and Resend's documentation.
 */
import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test"
import { dollars } from "../../../../src/schema/money/Money.ts"
import { type Tenant, until, withApp } from "../../../kit/app.ts"
import { answer } from "../../../layers/providers/stage.ts"
import { standIn } from "../../../layers/providers/standin.ts"
import { indexedAndCounted } from "../../../kit/finished-work.ts"

const there = standIn()
let org: Tenant
const app = withApp({
  settings: {
    ...there.settings,
    RUNGATE_WARRANTY_SHARE: "1",
    RUNGATE_REFERRAL_SECONDS: "1",
    RUNGATE_OWN_ACCOUNT_FEE: "0.001",
    RUNGATE_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64")
  }
})
afterAll(async () => {
  await there.stop()
})
beforeEach(async () => {
  there.forget()
  org = await app.tenant("5.00")
  await app.sql("INSERT INTO owned_resources (kind, resource_id, org_id) VALUES ('sender', 'me@acme.example', $1)", [
    org.org_id
  ])
})
afterEach(async () => {
  await app.sql("DELETE FROM owned_resources")
  await app.books()
})

const address = "anything@blackhole.postmarkapp.com"
const message_id = "2c1b63fe-43f2-4db5-91b0-8bdfa44a9316"
const check = async () => {
  there.play("leadmagic", answer(200, { email_status: "valid", credits_consumed: 0.25 }))
  const { body } = await org.run({
    capability: "email.verify",
    input: { email: address },
    routing: { provider: "leadmagic" }
  })
  expect(body.result.email_status).toBe("valid")
  await indexedAndCounted(app)
  return body
}
const send = async (provider: "postmark" | "resend", to: string | ReadonlyArray<string> = address) => {
  const accepted = { postmark: { MessageID: message_id, ErrorCode: 0, Message: "OK" }, resend: { id: message_id } }
  there.play(provider, answer(200, accepted[provider]))
  const input = { from: "me@acme.example", to, subject: "Hello", text: "Hi" }
  const { body } = await org.run({ capability: "email.send", input, routing: { provider } })
  expect(body.status).toBe("succeeded")
  return body
}
const dispute = async (run_id: string, evidence: string) =>
  (await org.post(`/v1/runs/${run_id}/dispute`, { reason: "bounced", evidence })).body
/** As if the wait for the next question were over. */
const waited = (run_id: string) => app.sql("UPDATE warranty_disputes SET ask_after = now() WHERE run_id = $1", [run_id])
const asked = () => there.heard("postmark").filter(({ method }) => method === "GET").length
const booked = (run_id: string) =>
  until(
    "the refund is booked",
    () => org.ledger(),
    (entries) => entries.some(({ type, reference }) => type === "refund" && reference === `warranty:${run_id}`)
  )

/** The example of Postmark's documentation of GET /bounces, with the fields that it shows. */
const bounceOf = (change: object) => ({
  TotalCount: 1,
  Bounces: [
    {
      RecordType: "Bounce",
      ID: 692560173,
      Type: "HardBounce",
      TypeCode: 1,
      Name: "Hard bounce",
      Tag: "Invitation",
      MessageID: message_id,
      ServerID: 23,
      MessageStream: "outbound",
      Description: "The server was unable to deliver your message (ex: unknown user, mailbox not found).",
      Details: "action: failed\r\n",
      Email: address,
      From: "me@acme.example",
      BouncedAt: "2014-01-15T16:09:19.6421112-05:00",
      DumpAvailable: false,
      Inactive: false,
      CanActivate: true,
      Subject: "Hello",
      ...change
    }
  ]
})
/** The example of Resend's documentation of GET /emails/{id}. */
const emailOf = (change: object) => ({
  object: "email",
  id: message_id,
  to: [address],
  from: "Acme <me@acme.example>",
  created_at: "2023-04-03T22:13:42.674981+00:00",
  subject: "Hello",
  html: null,
  text: "Hi",
  bcc: [],
  cc: [],
  reply_to: [],
  last_event: "bounced",
  ...change
})

describe("Postmark", () => {
  test("is asked for the bounces of this message, and a hard bounce refunds the run", async () => {
    const { run_id, billing } = await check()
    const { run_id: sent } = await send("postmark")
    there.play("postmark", answer(200, bounceOf({})))
    const refunded = { state: "refunded", note: "Postmark reports HardBounce", refund: billing.charged }
    expect(await dispute(run_id, `https://mail.example/log?id=${sent}`)).toMatchObject(refunded)
    expect(there.heard("postmark").at(-1)).toMatchObject({
      method: "GET",
      path: "/bounces",
      query: { messageID: message_id }
    })
    await booked(run_id)
  })

  test.each([
    ["before", 1],
    ["after", 0]
  ])("a refund of a run %s a referral's end", async (_when, hours) => {
    const referrer = await app.tenant("1.00")
    await app.sql(
      `INSERT INTO referrals (referral_id, referred_org, referrer_org, deposit_min, deposit_bonus, share_bps, ends_at)
       VALUES ($1, $2, $3, 0, 0, 1000, now() + make_interval(hours => $4))`,
      [`ref_${org.org_id}`, org.org_id, referrer.org_id, hours]
    )
    const { run_id } = await check()
    const { run_id: sent } = await send("postmark")
    there.play("postmark", answer(200, bounceOf({})))
    const { refund } = await dispute(run_id, sent)
    await booked(run_id)
    const { unpaid } = await until(
      "the referrer's share is counted",
      async () =>
        (
          await app.sql(
            `SELECT r.unpaid, r.accrued_seq = w.entry_seq AS counted FROM referrals r JOIN wallets w ON w.org_id = r.referred_org WHERE w.org_id = $1`,
            [org.org_id]
          )
        )[0]!,
      ({ counted }) => counted === true
    )
    // What was charged after the end earned nothing, so what is paid back of it takes nothing.
    expect(String(unpaid)).toBe(hours === 0 ? "0" : String(dollars(refund)))
  })

  test("refunds nothing if an operator refuses the dispute while it is asked", async () => {
    const { run_id } = await check()
    const { run_id: sent } = await send("postmark")
    there.play("postmark", async () => {
      await app.sql(
        "UPDATE warranty_disputes SET state = 'refused', note = 'seen the log', decided_at = now() WHERE run_id = $1",
        [run_id]
      )
      return answer(200, bounceOf({}))
    })
    expect(await dispute(run_id, sent)).toMatchObject({ state: "refused", note: "seen the log", refund: null })
    const insert = app.sql(
      "INSERT INTO warranty_refunds (run_id, org_id, amount, send_run, share_bps) VALUES ($1, $2, 1, $3, 10000)",
      [run_id, org.org_id, sent]
    )
    await expect(insert).rejects.toThrow("an operator refused the dispute")
    expect(await app.sql("SELECT FROM warranty_refunds WHERE run_id = $1", [run_id])).toEqual([])
  })

  const others: ReadonlyArray<readonly [string, object]> = [
    ["a full mailbox", { Type: "SoftBounce" }],
    ["the bounce of another message", { MessageID: "another" }],
    ["the bounce of another recipient", { Email: "other@example.com" }]
  ]
  test("anything but a permanent bounce of this message to this address refunds nothing", async () => {
    const { run_id } = await check()
    const { run_id: sent } = await send("postmark")
    for (const [name, change] of others) {
      await waited(run_id)
      there.play("postmark", answer(200, bounceOf(change)))
      expect([name, (await dispute(run_id, sent)).state]).toEqual([name, "not_bounced"])
    }
    there.play("postmark", answer(200, { TotalCount: 0, Bounces: [] }))
    await waited(run_id)
    expect((await dispute(run_id, sent)).note).toContain("Postmark reports no bounce")
    for (const broken of [
      answer(500, "down"),
      answer(200, { hello: "world" }),
      answer(401, { Message: "Bad token" })
    ]) {
      there.play("postmark", broken)
      await waited(run_id)
      expect(await dispute(run_id, sent)).toMatchObject({ state: "pending", refund: null })
    }
    expect((await org.ledger()).some(({ type }) => type === "refund")).toBe(false)
  })
})

describe("questions to a provider cost the operator's account, so", () => {
  const none = answer(200, { TotalCount: 0, Bounces: [] })
  /** Minutes until the next question. */
  const wait = async (run_id: string) => {
    const [row] = await app.sql(
      "SELECT asks, round(extract(epoch FROM ask_after - asked_at) / 60)::int AS minutes FROM warranty_disputes WHERE run_id = $1",
      [run_id]
    )
    return row
  }

  test("two hundred repeats ask once, and the next question waits longer each time", async () => {
    const { run_id } = await check()
    const { run_id: sent } = await send("postmark")
    there.play("postmark", none, none, none, none, none)
    const first = await dispute(run_id, sent)
    expect([first.state, Date.parse(first.ask_after) > Date.parse(first.created_at)]).toEqual(["not_bounced", true])
    const repeats = await Promise.all(Array.from({ length: 200 }, () => dispute(run_id, sent)))
    expect(asked()).toBe(1)
    expect(new Set(repeats.map(({ note, ask_after }) => `${note} ${ask_after}`))).toEqual(
      new Set([`${first.note} ${first.ask_after}`])
    )
    for (const [n, minutes] of [1, 10, 60, 360, 360].entries()) {
      expect(await wait(run_id)).toEqual({ asks: n + 1, minutes })
      if (n === 4) break
      await waited(run_id)
      await dispute(run_id, sent)
      expect(asked()).toBe(n + 2)
    }
  })

  test("another message, or a text, does not shorten the wait", async () => {
    const { run_id } = await check()
    const [{ run_id: sent }, { run_id: second }] = [await send("postmark"), await send("postmark")]
    there.play("postmark", none)
    await dispute(run_id, sent)
    expect((await dispute(run_id, second)).state).toBe("not_bounced")
    expect((await dispute(run_id, "my mail server says so")).state).toBe("pending")
    expect((await dispute(run_id, second)).state).toBe("pending")
    expect(asked()).toBe(1)
  })

  test("nobody is asked after the operator refused", async () => {
    const { run_id } = await check()
    const { run_id: sent } = await send("postmark")
    there.play("postmark", none)
    await dispute(run_id, sent)
    await app.sql("UPDATE warranty_disputes SET state = 'refused', note = 'no', decided_at = now() WHERE run_id = $1", [
      run_id
    ])
    await waited(run_id)
    expect(await dispute(run_id, sent)).toMatchObject({ state: "refused", note: "no", ask_after: null })
    expect(asked()).toBe(1)
  })

  test("one organization has them asked about a hundred runs in an hour, also at once", async () => {
    const { run_id: first } = await check()
    const { run_id: second } = await check()
    const { run_id: third } = await check()
    const { run_id: sent } = await send("postmark")
    await app.sql(
      `INSERT INTO warranty_disputes (run_id, org_id, reason, state, note, asks, asked_at, ask_after)
       SELECT 'run_asked_' || n, $1, 'bounced', 'not_bounced', '', 1, now() - interval '50 minutes', now() FROM generate_series(1, 99) AS n`,
      [org.org_id]
    )
    there.play("postmark", none)
    const answers = await Promise.all([first, second, third].map((run_id) => dispute(run_id, sent)))
    expect(asked()).toBe(1)
    expect(answers.map(({ state }) => state).toSorted()).toEqual(["not_bounced", "pending", "pending"])
    expect(answers.find(({ state }) => state === "pending")).toMatchObject({
      note: expect.stringContaining("about 100 runs of this organization"),
      ask_after: null
    })
    await app.sql("UPDATE warranty_disputes SET asked_at = asked_at - interval '1 hour' WHERE org_id = $1", [
      org.org_id
    ])
    there.play("postmark", none, none)
    for (const run_id of [first, second, third]) {
      await waited(run_id)
      await dispute(run_id, sent)
    }
    expect(asked()).toBe(4)
  })
})

describe("Resend", () => {
  test("is asked for this message, and a bounce of its only recipient refunds the run", async () => {
    const { run_id } = await check()
    const { run_id: sent } = await send("resend")
    for (const change of [{ last_event: "delivered" }, { cc: ["other@example.com"] }]) {
      there.play("resend", answer(200, emailOf(change)))
      await waited(run_id)
      expect((await dispute(run_id, sent)).state).toBe("not_bounced")
    }
    there.play("resend", answer(200, emailOf({ id: "another" })))
    await waited(run_id)
    expect((await dispute(run_id, sent)).state).toBe("pending")
    there.play("resend", answer(200, emailOf({})))
    await waited(run_id)
    expect(await dispute(run_id, sent)).toMatchObject({
      state: "refunded",
      note: "Resend says of the message: bounced"
    })
    expect(there.heard("resend").at(-1)).toMatchObject({ method: "GET", path: `/emails/${message_id}` })
    await booked(run_id)
  })
})

test("a run through the organization's own account is not covered, in the service and in the database", async () => {
  const session = await org.session()
  const account = { body: { api_key: "key-of-the-customer" } }
  expect((await app.call(session, "PUT", "/v1/provider-accounts/leadmagic", account)).status).toBe(200)
  const { run_id, billing } = await check()
  expect(billing.charged).toBe("0.001")
  const { run_id: sent } = await send("postmark")
  expect((await dispute(run_id, sent)).error.message).toContain("your own account")
  await expect(
    app.sql("INSERT INTO warranty_refunds (run_id, org_id, amount, share_bps) VALUES ($1, $2, 1, 10000)", [
      run_id,
      org.org_id
    ])
  ).rejects.toThrow(/does not cover/)
})
