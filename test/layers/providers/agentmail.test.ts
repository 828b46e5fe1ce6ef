import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { agentmail } from "../../../src/layers/providers/agentmail.ts"
import { postmark } from "../../../src/layers/providers/postmark.ts"
import { resend } from "../../../src/layers/providers/resend.ts"
import { conforms } from "./conformance.ts"
import { specification } from "./specifications.ts"
import { answer, get, offerOf, type Played, post, runId, secretAsBearer, stage } from "./stage.ts"

const play = stage(agentmail)
const examples = join(import.meta.dir, "..", "..", "fixtures", "payloads", "agentmail")
const example = (name: string, status = 200, headers = {}): Played =>
  answer(status, readFileSync(join(examples, `${name}.response.json`), "utf8"), headers)
const made = {
  inbox_id: "brightriver214@agentmail.to",
  address: "brightriver214@agentmail.to",
  display_name: "AgentMail",
  created_at: "2025-11-01T10:32:11.047Z"
}

/** It has no raw endpoints, so the catalog ships no document: its own is read here. */
const document = await specification("agentmail")
const conforming = (capability: string, input: unknown) =>
  conforms(agentmail, offerOf(agentmail, capability).request(input, { run_id: "run_1" }), document)

test("what it asks conforms to the provider's own document", () => {
  expect(conforming("email.inbox_create", { username: "sales", display_name: "Sales" })).toEqual([])
  const messages = { inbox_id: "sales@agentmail.to", limit: 5, unread_only: true, since: "2026-01-15T09:30:00Z" }
  expect(conforming("email.messages", messages)).toEqual([])
  const next = offerOf(agentmail, "email.messages").next(
    { items: [{ message_id: "<a@b>" }], read: 0, next: null },
    messages,
    { run_id: "run_1" }
  )
  expect(conforms(agentmail, next, document)).toEqual([])
  const mail = { from: "sales@agentmail.to", to: ["a@b.co"], cc: ["c@d.co"], subject: "s", text: "t", html: "<p>t</p>" }
  expect(conforming("email.send", { ...mail, reply_to: "e@f.co", tags: { a: "b" }, headers: { "X-A": "b" } })).toEqual(
    []
  )
})

describe("agentmail email.inbox_create", () => {
  test("an inbox, made once for a run", async () => {
    const input = { username: "sales", display_name: "Sales" }
    const { asked, outcome } = await play("email.inbox_create", input, example("inbox_create"))
    expect(asked).toEqual([
      expect.objectContaining({ ...post("/v0/inboxes", { ...input, client_id: runId }), secret: secretAsBearer })
    ])
    expect(outcome).toEqual({ _tag: "Match", output: made })
  })

  const failures = [
    [example("inbox_create.400", 400), "provider_error"],
    [
      answer(403, { name: "LimitExceededError", code: "limit_exceeded", message: "No more inboxes" }),
      "provider_account"
    ],
    [answer(403, { code: "domain_not_verified", message: "Verify it first" }), "provider_error"],
    [answer(409, { code: "resource_taken", message: "Taken" }), "provider_error"],
    [answer(404, { code: "not_found" }), "provider_error"],
    [answer(200, {}), "invalid_response"]
  ] as const
  for (const [played, reason] of failures) {
    test(`${played.status} ${played.body.slice(0, 60)} is ${reason}, asked once`, async () => {
      const { asked, outcome } = await play("email.inbox_create", {}, played)
      expect(outcome).toMatchObject({ _tag: "Failure" })
      expect(["provider_rejected", reason]).toContain(Object(outcome).reason)
      expect(asked).toHaveLength(1)
    })
  }
})

describe("agentmail email.messages", () => {
  const input = { inbox_id: "sales@agentmail.to" }
  const reply = {
    message_id: "<abc123@agentmail.to>",
    thread_id: "thd_1",
    from: "lead@example.com",
    to: ["sales@agentmail.to"],
    subject: "Re: Hello",
    preview: "Thanks",
    text: "Thanks",
    received_at: "2026-01-15T09:31:00Z",
    labels: ["received"],
    attachments: []
  }

  test("the list, then the text of each", async () => {
    const { asked, outcome, kept } = await play(
      "email.messages",
      input,
      example("message_list"),
      example("message_get")
    )
    expect(asked[0]).toMatchObject(get("/v0/inboxes/sales%40agentmail.to/messages", { limit: "10" }))
    expect(asked[1]).toMatchObject(get("/v0/inboxes/sales%40agentmail.to/messages/%3Cabc123%40agentmail.to%3E", {}))
    expect(kept).toEqual([])
    expect(outcome).toEqual({ _tag: "Match", output: { items: [reply], total: null, next_cursor: null } })
  })

  test("filters and cursors; a message that was deleted meanwhile has no text", async () => {
    const page = {
      messages: [
        { message_id: "a", to: [] },
        { message_id: "b", to: [], size: 3 }
      ],
      next_page_token: "t2"
    }
    const more = { ...input, limit: 2, unread_only: true, since: "2026-01-15T09:30:00Z", cursor: "agentmail:t1" }
    const { asked, outcome } = await play(
      "email.messages",
      more,
      answer(200, page),
      example("message_get.404", 404),
      answer(200, {
        message_id: "b",
        text: "whole",
        extracted_text: "new",
        attachments: [{ attachment_id: "x", size: 7 }]
      })
    )
    expect(asked[0]?.query).toEqual({
      limit: "2",
      page_token: "t1",
      labels: "unread",
      after: "2026-01-15T09:30:00Z"
    })
    expect(outcome).toMatchObject({
      output: {
        items: [
          { message_id: "a", text: null },
          {
            message_id: "b",
            text: "new",
            attachments: [{ attachment_id: "x", filename: null, content_type: null, size_bytes: 7 }]
          }
        ],
        next_cursor: "agentmail:t2"
      }
    })
  })

  test("an empty inbox is an answer; an unknown one and a failing message are not", async () => {
    const empty = await play("email.messages", input, example("message_list.empty"))
    expect(empty.outcome).toMatchObject({ _tag: "Match", output: { items: [] } })
    const unknown = await play("email.messages", input, answer(404, { code: "not_found", message: "No inbox" }))
    expect(unknown.outcome).toMatchObject({ _tag: "Failure" })
    const failing = await play("email.messages", input, example("message_list"), answer(500, "oops"))
    expect(failing.outcome).toMatchObject({ _tag: "Failure", reason: "provider_error" })
  })
})

describe("agentmail email.send", () => {
  const input = {
    from: "Sales <sales@agentmail.to>",
    to: "lead@example.com",
    subject: "Hello",
    text: "Hi there",
    tags: { campaign: "x" }
  }

  test("from an inbox, keyed by the run", async () => {
    const { asked, outcome } = await play("email.send", input, example("message_send"))
    expect(asked).toEqual([
      expect.objectContaining({
        ...post("/v0/inboxes/sales%40agentmail.to/messages/send", {
          to: ["lead@example.com"],
          subject: "Hello",
          text: "Hi there",
          labels: ["campaign:x", `rungate_run:${runId}`]
        }),
        headers: expect.objectContaining({ "idempotency-key": runId })
      })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        message_id: "<abc123@agentmail.to>",
        thread_id: "thd_1",
        accepted: ["lead@example.com"],
        provider_status: null
      }
    })
  })

  const failures = [
    [example("message_send.403", 403), "provider_account"],
    [answer(403, { code: "message_rejected", message: "Blocked" }), "provider_error"],
    [answer(409, { code: "conflict", message: "In flight" }), "provider_error"],
    [answer(500, "oops"), "provider_error"]
  ] as const
  for (const [played, reason] of failures) {
    test(`${played.status} ${played.body.slice(0, 50)} is ${reason}, sent once`, async () => {
      const { asked, outcome } = await play("email.send", input, played)
      expect(["provider_rejected", reason]).toContain(Object(outcome).reason)
      expect(asked).toHaveLength(1)
    })
  }

  test("429 says how long to wait", async () => {
    const { outcome } = await play("email.send", input, example("message_send.429", 429, { "retry-after": "3" }))
    expect(outcome).toMatchObject({ reason: "provider_rate_limited", retryAfterSeconds: 3 })
  })

  test("inboxes are sent from here, verified senders elsewhere", () => {
    const serves = (from: string) =>
      [agentmail, resend, postmark].map((provider) => offerOf(provider, "email.send").serves({ ...input, from }))
    for (const inbox of ["sales@agentmail.to", "Sales <sales@AgentMail.to>", "inbox_123", "a@b.co <x@agentmail.to>"]) {
      expect(serves(inbox)).toEqual([true, false, false])
    }
    for (const sender of ["a@b.co", "Acme <a@b.co>", "a@agentmail.to.evil.co"]) {
      expect(serves(sender)).toEqual([false, true, true])
    }
  })
})

describe("agentmail: what became of a send", () => {
  const input = { from: "Sales <sales@agentmail.to>", to: "lead@example.com", subject: "Hello", text: "Hi there" }
  const { reconcile } = offerOf(agentmail, "email.send")
  const about = (age_seconds: number) => ({ run_id: "run_1", age_seconds })
  const finding = (body: unknown, age_seconds = 0, status = 200) =>
    reconcile?.finding({ status, headers: {}, body, text: "" }, input, about(age_seconds))

  test("is searched for by its label, in the inbox that it was sent from", () => {
    const call = reconcile?.call(input, about(0))
    expect(call).toEqual({
      method: "GET",
      path: "/v0/inboxes/sales%40agentmail.to/messages",
      query: { limit: 1, labels: ["rungate_run:run_1"] }
    })
    expect(call === undefined ? null : conforms(agentmail, call, document)).toEqual([])
  })

  test("listed: delivered; not listed: not delivered once it has had 15 minutes", () => {
    const ours = { count: 1, messages: [{ message_id: "m", labels: ["sent", "rungate_run:run_1"] }] }
    expect(finding(ours)).toMatchObject({ finding: "delivered", note: "AgentMail lists a message of this run" })
    expect(finding({ count: 0, messages: [] }, 900)).toBeNull()
    expect(finding({ count: 0, messages: [] }, 901)).toMatchObject({ finding: "not_delivered" })
  })

  test("an answer that does not say it is a failure; a tag of the label's name leaves ours out", () => {
    const others = { messages: [{ message_id: "m", labels: ["sent"] }] }
    for (const failed of [finding(others, 10_000), finding({}, 10_000), finding({ code: "not_found" }, 10_000, 404)])
      expect(failed).toMatchObject({ _tag: "Failure" })
    const own = { ...input, tags: { rungate_run: "mine" } }
    expect(reconcile?.marks(own)).toBe(false)
    expect(offerOf(agentmail, "email.send").request(own, { run_id: "run_1" }).body).toMatchObject({
      labels: ["rungate_run:mine"]
    })
  })
})
