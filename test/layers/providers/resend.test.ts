import { describe, expect, test } from "bun:test"
import { resend } from "../../../src/layers/providers/resend.ts"
import { conforms } from "./conformance.ts"
import { answer, fixture, offerOf, post, runId, secretAsBearer, stage } from "./stage.ts"

const play = stage(resend)
const input = {
  from: "Acme <onboarding@resend.dev>",
  to: "delivered@resend.dev",
  subject: "hello world",
  html: "<p>it works!</p>",
  reply_to: "onboarding@resend.dev",
  tags: { category: "confirm_email" }
}

describe("resend email.send", () => {
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
    expect(conforms(resend, offerOf(resend, "email.send").request(full, { run_id: "run_1" }))).toEqual([])
  })

  test("an accepted message, keyed by the run", async () => {
    const { asked, outcome } = await play("email.send", input, fixture("resend", "emails_send"))
    expect(asked).toEqual([
      expect.objectContaining({
        ...post("/emails", {
          from: "Acme <onboarding@resend.dev>",
          to: ["delivered@resend.dev"],
          subject: "hello world",
          html: "<p>it works!</p>",
          reply_to: "onboarding@resend.dev",
          tags: [
            { name: "category", value: "confirm_email" },
            { name: "rungate_run", value: runId }
          ]
        }),
        secret: secretAsBearer,
        headers: expect.objectContaining({ "idempotency-key": runId })
      })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        message_id: "49a3999c-0ce1-4ea6-ab68-afcd6dc2e794",
        thread_id: null,
        accepted: ["delivered@resend.dev"],
        provider_status: null
      }
    })
  })

  test("several recipients, copies and headers", async () => {
    const many = {
      from: "a@b.co",
      to: ["c@d.co", "e@f.co"],
      subject: "s",
      text: "t",
      cc: ["g@h.co"],
      bcc: ["i@j.co"],
      headers: { "List-Unsubscribe": "<mailto:u@b.co>" }
    }
    const { asked, outcome } = await play("email.send", many, fixture("resend", "emails_send"))
    expect(asked[0]?.body).toEqual({ ...many, tags: [{ name: "rungate_run", value: runId }] })
    expect(outcome).toMatchObject({ output: { accepted: ["c@d.co", "e@f.co"] } })
  })

  test("a tag of the caller with the name of ours stays as it is", async () => {
    const own = { ...input, tags: { Rungate_Run: "mine" } }
    const { asked } = await play("email.send", own, fixture("resend", "emails_send"))
    expect(asked[0]?.body).toMatchObject({ tags: [{ name: "Rungate_Run", value: "mine" }] })
  })

  test("an inbox id is not its sender", () => {
    expect(offerOf(resend, "email.send").serves({ ...input, from: "inbox_123" })).toBe(false)
  })

  const failures = [
    [fixture("resend", "emails_send.409_idempotency", 409), "provider_error", "This idempotency key has been used"],
    [fixture("resend", "emails_send.422", 422), "provider_error", "Invalid `from` field"],
    [fixture("resend", "emails_send.429", 429), "provider_rate_limited", "Too many requests"],
    [
      answer(401, { statusCode: 401, name: "missing_api_key", message: "Missing API key" }),
      "provider_account",
      "Missing"
    ],
    [
      answer(403, { statusCode: 403, name: "validation_error", message: "not verified" }),
      "provider_account",
      "not ver"
    ],
    [answer(429, { name: "daily_quota_exceeded", message: "quota" }), "provider_account", "quota"],
    [answer(500, {}), "provider_error", "HTTP 500"]
  ] as const
  for (const [played, reason, words] of failures) {
    test(`${played.status} ${words} is ${reason}`, async () => {
      const { asked, outcome } = await play("email.send", input, played)
      expect(outcome).toMatchObject({ _tag: "Failure", reason, detail: expect.stringContaining(words) })
      expect(asked.length).toBe(1)
    })
  }

  test("an answer without an id is unreadable", async () => {
    expect((await play("email.send", input, answer(200, {}))).outcome).toMatchObject({ reason: "invalid_response" })
  })
})
