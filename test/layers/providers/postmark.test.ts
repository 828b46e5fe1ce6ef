import { describe, expect, test } from "bun:test"
import { postmark } from "../../../src/layers/providers/postmark.ts"
import { conforms } from "./conformance.ts"
import { answer, fixture, offerOf, post, runId, secretInHeader, stage } from "./stage.ts"

const play = stage(postmark)
const input = {
  from: "sender@example.com",
  to: "receiver@example.com",
  subject: "Postmark test",
  html: "<html><body>Hello</body></html>",
  text: "Hello"
}

describe("postmark email.send", () => {
  test("what it asks conforms to the document", () => {
    const full = {
      ...input,
      to: ["a@b.co", "c@d.co"],
      text: "t",
      cc: ["e@f.co"],
      bcc: ["g@h.co"],
      reply_to: "i@j.co",
      tags: { a: "b" },
      headers: { "X-A": "b" }
    }
    expect(conforms(postmark, offerOf(postmark, "email.send").request(full, { run_id: "run_1" }))).toEqual([])
  })

  test("an accepted message", async () => {
    const { asked, outcome } = await play("email.send", input, fixture("postmark", "email_send"))
    expect(asked).toEqual([
      expect.objectContaining({
        ...post("/email", {
          From: "sender@example.com",
          To: "receiver@example.com",
          Subject: "Postmark test",
          HtmlBody: "<html><body>Hello</body></html>",
          TextBody: "Hello",
          Metadata: { rungate_run: runId },
          MessageStream: "outbound"
        }),
        secret: secretInHeader
      })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        message_id: "0a129aee-e1cd-480d-b08d-4f48548ff48d",
        thread_id: null,
        accepted: ["receiver@example.com"],
        provider_status: "OK"
      }
    })
  })

  test("everything a message can have", async () => {
    const more = {
      ...input,
      to: ["a@b.co", "c@d.co"],
      cc: ["e@f.co"],
      bcc: ["g@h.co"],
      reply_to: "r@b.co",
      tags: { campaign: "x" },
      headers: { "List-Unsubscribe": "<mailto:u@b.co>" }
    }
    const { asked } = await play("email.send", more, fixture("postmark", "email_send"))
    expect(asked[0]?.body).toMatchObject({
      To: "a@b.co,c@d.co",
      Cc: "e@f.co",
      Bcc: "g@h.co",
      ReplyTo: "r@b.co",
      Metadata: { campaign: "x", rungate_run: runId },
      Headers: [{ Name: "List-Unsubscribe", Value: "<mailto:u@b.co>" }]
    })
  })

  const failures = [
    [fixture("postmark", "email_send.422", 422), "recipient_suppressed", "inactive"],
    [answer(401, { ErrorCode: 10, Message: "Bad token" }), "provider_account", "Bad token"],
    [answer(422, { ErrorCode: 405, Message: "Not allowed to send" }), "provider_account", "Not allowed"],
    [answer(200, { ErrorCode: 300, Message: "Invalid email" }), "provider_error", "Invalid email"],
    [answer(429, { Message: "slow down" }), "provider_rate_limited", "slow down"],
    [answer(500, { Message: "down" }), "provider_error", "down"]
  ] as const
  for (const [played, reason, words] of failures) {
    test(`${played.status} ${words} is ${reason}`, async () => {
      const { outcome } = await play("email.send", input, played)
      expect(outcome).toMatchObject({ _tag: "Failure", reason, detail: expect.stringContaining(words) })
    })
  }
})

describe("postmark: what became of a send", () => {
  const { reconcile } = offerOf(postmark, "email.send")
  const about = (age_seconds: number) => ({ run_id: runId, age_seconds })
  const reply = (body: unknown, status = 200) => ({ status, headers: {}, body, text: JSON.stringify(body) })
  const listing = (TotalCount: unknown, ...Messages: ReadonlyArray<unknown>) => reply({ TotalCount, Messages })
  const finding = (found: ReturnType<typeof reply>, age_seconds = 0, given: unknown = input) =>
    reconcile?.finding(found, given, about(age_seconds))
  const tags = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`tag${n}`, "x"]))

  test("is searched for by the run id", () => {
    expect(reconcile?.call(input, about(0))).toEqual({
      method: "GET",
      path: "/messages/outbound",
      query: { count: 1, offset: 0, metadata_rungate_run: runId }
    })
  })

  test("listed: delivered; not listed: not delivered once it has had 15 minutes", () => {
    const note = "Postmark lists a message of this run"
    expect(finding(listing(1, { MessageID: "m" }))).toEqual({ _tag: "Found", finding: "delivered", note })
    expect(finding(listing(1, { Metadata: { rungate_run: runId } }))).toMatchObject({ finding: "delivered" })
    expect(finding(listing(0), 900)).toBeNull()
    expect(finding(listing(0), 901)).toMatchObject({ finding: "not_delivered" })
  })

  test("an answer that does not say it is a failure, however old the call is", () => {
    const others = listing(7, { Metadata: { rungate_run: "run_another" } })
    for (const found of [others, reply({}), reply({ TotalCount: null }), listing(-1), reply({ ErrorCode: 10 }, 401)])
      expect(finding(found, 10_000)).toMatchObject({ _tag: "Failure" })
  })

  test("tags that leave no room travel as they are, and then nothing can be found", async () => {
    const room = { ...input, tags: tags(9) }
    expect(reconcile?.marks(room)).toBe(true)
    for (const own of [tags(10), tags(20), { Rungate_Run: "mine" }]) {
      const full = { ...input, tags: own }
      const { asked } = await play("email.send", full, fixture("postmark", "email_send"))
      expect(asked[0]?.body).toMatchObject({ Metadata: own })
      expect(Object.keys(Object(asked[0]?.body).Metadata)).toEqual(Object.keys(own))
      expect(reconcile?.marks(full)).toBe(false)
      expect(finding(listing(0), 10_000, full)).toBeNull()
    }
  })
})
