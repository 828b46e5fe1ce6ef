import { describe, expect, test } from "bun:test"
import { postmark } from "../../src/layers/providers/postmark.ts"
import { conforms } from "./conformance.ts"
import { answer, fixture, offerOf, post, secretInHeader, stage } from "./stage.ts"

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
      Metadata: { campaign: "x" },
      Headers: [{ Name: "List-Unsubscribe", Value: "<mailto:u@b.co>" }]
    })
  })

  const failures = [
    [fixture("postmark", "email_send.422", 422), "provider_error", "inactive"],
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
