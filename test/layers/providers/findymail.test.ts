import { describe, expect, test } from "bun:test"
import { findymail } from "../../../src/layers/providers/findymail.ts"
import { conforms } from "./conformance.ts"
import { example } from "./example.ts"
import { answer, offerOf, post, runId, secretAsBearer, stage } from "./stage.ts"

const play = stage(findymail)
const john = { full_name: "John Doe", company_domain: "example.com" }
const profile = { network_url: "https://www.linkedin.com/in/johndoe" }

describe("findymail email.find", () => {
  test("a match", async () => {
    const { asked, outcome } = await play("email.find", john, example("findymail", "search_name"))
    expect(asked).toEqual([
      expect.objectContaining({
        ...post("/api/search/name", { name: "John Doe", domain: "example.com" }),
        secret: secretAsBearer
      })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        email: "john@example.com",
        email_status: "valid",
        confidence: null,
        first_name: "John",
        last_name: "Doe",
        company_domain: "example.com",
        source_count: null
      }
    })
  })

  test("asks by the company's name when there is no domain, and joins the parts of a name", async () => {
    const input = { first_name: "John", last_name: "Doe", company_name: "Example" }
    const { asked } = await play("email.find", input, example("findymail", "search_name"))
    expect(asked[0]?.body).toEqual({ name: "John Doe", domain: "Example" })
  })

  test("no match: no contact, one without an address, or a 404 that says so", async () => {
    const none = await play("email.find", john, example("findymail", "search_name.no_match"))
    expect(none.outcome).toEqual({ _tag: "NoMatch", detail: "no address found" })
    const empty = await play("email.find", john, answer(200, { contact: { name: "John Doe", email: "" } }))
    expect(empty.outcome?._tag).toBe("NoMatch")
    const unknown = await play("email.find", john, answer(404, { error: "Contact not found" }))
    expect(unknown.outcome).toEqual({ _tag: "NoMatch", detail: "nothing on record" })
  })

  const failures = [
    [answer(401, { message: "Unauthenticated." }), "provider_account"],
    [answer(402, { error: "Not enough credits" }), "provider_account"],
    [answer(423, { error: "Subscription is paused" }), "provider_account"],
    [answer(429, {}), "provider_rate_limited"],
    [answer(404, "<h1>gone</h1>"), "provider_error"],
    [answer(422, { message: "The name field is required." }), "provider_error"],
    [answer(200, { ok: true }), "invalid_response"]
  ] as const
  for (const [played, reason] of failures) {
    test(`${played.status} ${played.body} is ${reason}`, async () => {
      expect((await play("email.find", john, played)).outcome).toMatchObject({ _tag: "Failure", reason })
    })
  }
})

describe("findymail email.verify", () => {
  const input = { email: "john@example.com" }

  test("a verdict", async () => {
    const { asked, outcome } = await play("email.verify", input, example("findymail", "verify"))
    expect(asked[0]).toMatchObject({ ...post("/api/verify", input), secret: secretAsBearer })
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        email: "john@example.com",
        email_status: "valid",
        score: null,
        is_disposable: null,
        is_role: null,
        is_free: null,
        mx_found: null,
        did_you_mean: null,
        provider_status: "verified"
      }
    })
  })

  test("not verified is risky; no verdict is none", async () => {
    const risky = await play("email.verify", input, answer(200, { verified: false }))
    expect(risky.outcome).toMatchObject({
      output: { email: input.email, email_status: "risky", provider_status: "not verified" }
    })
    const silent = await play("email.verify", input, answer(200, { email: input.email }))
    expect(silent.outcome).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
  })

  test("a miss would be charged, so a 404 is none", async () => {
    const { outcome } = await play("email.verify", input, answer(404, { error: "Contact not found" }))
    expect(outcome?._tag).toBe("Failure")
  })
})

describe("findymail phone.find", () => {
  test("a number", async () => {
    const { asked, outcome } = await play(
      "phone.find",
      profile,
      answer(200, { phone: "+1 (202) 555-0143", line_type: "mobile" })
    )
    expect(asked[0]).toMatchObject(post("/api/search/phone", { linkedin_url: profile.network_url }))
    expect(outcome).toEqual({
      _tag: "Match",
      output: { phone: "+12025550143", phone_type: "mobile", confidence: null }
    })
  })

  test("no number, and no answer", async () => {
    expect((await play("phone.find", profile, answer(200, { phone: null }))).outcome?._tag).toBe("NoMatch")
    const refused = await play("phone.find", profile, answer(404, { message: "No phone found" }))
    expect(refused.outcome?._tag).toBe("NoMatch")
    expect((await play("phone.find", profile, answer(200, {}))).outcome).toMatchObject({ reason: "invalid_response" })
  })

  test("serves profiles only", () => {
    const offer = offerOf(findymail, "phone.find")
    expect(offer.serves(profile)).toBe(true)
    expect(offer.serves({ email: "a@b.co" })).toBe(false)
  })
})

test("findymail is asked what its document knows, and reports no cost", () => {
  const ask = (capability: string, input: unknown) => offerOf(findymail, capability).request(input, { run_id: runId })
  expect(conforms(findymail, ask("email.find", john))).toEqual([])
  expect(conforms(findymail, ask("email.verify", { email: "a@b.co" }))).toEqual([])
  expect(conforms(findymail, ask("phone.find", profile))).toEqual([])
  expect(findymail.measured({ status: 200, headers: {}, text: "", body: {} })).toBeNull()
})
