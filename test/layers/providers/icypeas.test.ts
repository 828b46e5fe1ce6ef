import { describe, expect, test } from "bun:test"
import { icypeas } from "../../../src/layers/providers/icypeas.ts"
import { conforms } from "./conformance.ts"
import { example } from "./example.ts"
import { answer, offerOf, post, runId, secretInHeader, stage } from "./stage.ts"

// Without the pause between two calls, which a test would have to wait for.
const play = stage({ ...icypeas, spacingMillis: 0 })
const john = { full_name: "John Doe", company_domain: "icypeas.com" }
const id = "oSmI5YYBMa6Snk9TvjDA"
const drawn = example("icypeas", "email_search")
const running = example("icypeas", "bulk_single_searchs_read.running")
const read = (item: object) => answer(200, { success: true, items: [{ _id: id, ...item }] })

describe("icypeas email.find", () => {
  test("draws a ticket and asks for its result until it is there", async () => {
    const result = example("icypeas", "bulk_single_searchs_read")
    const { asked, outcome, outcomes, kept } = await play("email.find", john, drawn, running, running, result)
    expect(asked).toEqual([
      expect.objectContaining({
        ...post("/api/email-search", {
          firstname: "John",
          lastname: "Doe",
          domainOrCompany: "icypeas.com",
          custom: { externalId: runId }
        }),
        secret: secretInHeader
      }),
      ...Array.from({ length: 3 }, () => expect.objectContaining(post("/api/bulk-single-searchs/read", { id })))
    ])
    expect(outcomes[0]).toEqual({ _tag: "Again", state: { id }, afterMillis: 3000, job: true })
    // Once per answer that is not the last, each before its pause.
    expect(kept).toEqual([{ id }, { id }, { id }])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        email: "example-email@icypeas.com",
        email_status: "valid",
        confidence: null,
        first_name: "Example",
        last_name: "Email",
        company_domain: null,
        source_count: null
      },
      cost: { unit: "credit", amount: "1" }
    })
  })

  test("a ticket that is not listed yet is asked for again", async () => {
    const empty = answer(200, { success: true, items: [], total: 0 })
    const { outcome, asked } = await play(
      "email.find",
      john,
      drawn,
      empty,
      example("icypeas", "bulk_single_searchs_read")
    )
    expect(asked.length).toBe(3)
    expect(outcome?._tag).toBe("Match")
  })

  test("a result that was asked for too often is asked for again", async () => {
    const result = example("icypeas", "bulk_single_searchs_read")
    const { outcome, kept } = await play("email.find", john, drawn, answer(429, {}), result)
    expect(outcome?._tag).toBe("Match")
    expect(kept).toEqual([{ id }, { id }])
  })

  test("no match", async () => {
    const miss = example("icypeas", "bulk_single_searchs_read.no_match")
    expect((await play("email.find", john, drawn, miss)).outcome).toEqual({
      _tag: "NoMatch",
      detail: "no address found"
    })
    expect((await play("email.find", john, drawn, read({ status: "NOT_FOUND" }))).outcome).toEqual({
      _tag: "NoMatch",
      detail: "no address found",
      cost: { unit: "credit", amount: "0" }
    })
  })

  test("a guess is risky", async () => {
    const results = { emails: [{ email: "j@icypeas.com", certainty: "probable" }] }
    const { outcome } = await play("email.find", john, drawn, read({ status: "DEBITED", results }))
    expect(outcome).toMatchObject({ output: { email_status: "risky" }, cost: { amount: "1" } })
  })

  const failures = [
    [[example("icypeas", "error.validation")], "provider_rejected", "the search was refused: email is required"],
    [
      [answer(200, { success: false, error: "Invalid API key" })],
      "provider_account",
      "the search was refused: Invalid API key"
    ],
    [[answer(401, { success: false })], "provider_account", "HTTP 401"],
    [[answer(429, {})], "provider_rate_limited", "HTTP 429"],
    [[answer(200, { success: true })], "invalid_response", "the answer has no readable item"],
    [[drawn, read({ status: "BAD_INPUT" })], "provider_rejected", "the search ended as BAD_INPUT"],
    [[drawn, read({ status: "INSUFFICIENT_FUNDS" })], "provider_account", "the search ended as INSUFFICIENT_FUNDS"],
    [[drawn, read({ status: "ABORTED" })], "provider_error", "the search ended as ABORTED"],
    [[drawn, read({})], "invalid_response", "the answer has no readable status"],
    [[drawn, answer(200, { success: true, items: "none" })], "invalid_response", "the answer has no readable items"],
    [[drawn, answer(500, "down")], "provider_error", "HTTP 500"]
  ] as const
  for (const [played, reason, detail] of failures) {
    test(`${reason}: ${detail}`, async () => {
      expect((await play("email.find", john, ...played)).outcome).toEqual({ _tag: "Failure", reason, detail })
    })
  }

  test("a state that is none can't be gone on from", () => {
    const reply = { status: 200, headers: {}, text: "", body: { items: [] } }
    expect(offerOf(icypeas, "email.find").response(reply, john, { ticket: 7 })).toMatchObject({
      _tag: "Failure",
      reason: "invalid_response"
    })
  })

  test("serves names of two words", () => {
    const { serves } = offerOf(icypeas, "email.find")
    expect(serves(john)).toBe(true)
    expect(serves({ full_name: "John", company_domain: "icypeas.com" })).toBe(false)
  })
})

describe("icypeas email.verify", () => {
  const input = { email: "john@example.com" }
  const verdicts = [
    ["FOUND", "ultra_sure", "valid"],
    ["DEBITED", "very_sure", "valid"],
    ["DEBITED", "probable", "risky"],
    ["FOUND", "undeliverable", "invalid"],
    ["NOT_FOUND", "undeliverable", "invalid"],
    ["DEBITED_NOT_FOUND", "not_found", "unknown"],
    ["FOUND", "novel", "unknown"]
  ] as const
  for (const [status, certainty, email_status] of verdicts) {
    test(`${status}, ${certainty} is ${email_status}`, async () => {
      const results = { emails: [{ email: input.email, certainty, mxRecords: ["mx.example.com"] }] }
      const { asked, outcome } = await play("email.verify", input, drawn, read({ status, results }))
      expect(asked[0]).toMatchObject(post("/api/email-verification", { ...input, custom: { externalId: runId } }))
      expect(outcome).toMatchObject({
        _tag: "Match",
        output: { email: input.email, email_status, mx_found: true, provider_status: certainty }
      })
    })
  }

  test("found nothing and says no more: unknown, not invalid", async () => {
    const { outcome } = await play("email.verify", input, drawn, read({ status: "NOT_FOUND", results: { emails: [] } }))
    expect(outcome).toMatchObject({
      output: { email_status: "unknown", provider_status: "not_found", mx_found: null },
      cost: { unit: "credit", amount: "0" }
    })
  })

  test("an answer without a verdict is unreadable", async () => {
    const { outcome } = await play("email.verify", input, drawn, read({ status: "FOUND", results: {} }))
    expect(outcome).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
  })
})

test("icypeas is asked what its document knows; a reading is no cost report", () => {
  const find = offerOf(icypeas, "email.find")
  expect(conforms(icypeas, find.request(john, { run_id: runId }))).toEqual([])
  expect(conforms(icypeas, find.next({ id }, john, { run_id: runId }))).toEqual([])
  const verify = offerOf(icypeas, "email.verify")
  expect(conforms(icypeas, verify.request({ email: "a@b.co" }, { run_id: runId }))).toEqual([])
  expect(icypeas.measured({ status: 200, headers: {}, text: "", body: { items: [{ status: "DEBITED" }] } })).toBeNull()
})
