import { describe, expect, test } from "bun:test"
import { tomba } from "../../../src/layers/providers/tomba.ts"
import { inCredits } from "../../../src/schema/money/Rates.ts"
import { altered, example } from "./example.ts"
import { answer, get, offerOf, stage } from "./stage.ts"

const play = stage(tomba)

describe("tomba email.find", () => {
  const input = { full_name: "Jane Doe", company_domain: "Acme.example" }

  test("an address with its score and sources", async () => {
    const { asked, outcome } = await play("email.find", input, example("tomba", "email_finder"))
    const query = { domain: "acme.example", first_name: "Jane", last_name: "Doe" }
    expect(asked).toMatchObject([get("/v1/email-finder", query)])
    expect(Object.keys(asked[0]?.headers ?? {})).toEqual(expect.arrayContaining(["x-tomba-key", "x-tomba-secret"]))
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        email: "jane.doe@acme.example",
        email_status: "valid",
        confidence: 99,
        first_name: "Jane",
        last_name: "Doe",
        company_domain: "acme.example",
        source_count: 1
      }
    })
    expect(offerOf(tomba, "email.find").serves({ full_name: "Jane Doe", company_name: "Acme" })).toBe(false)
  })

  test("nobody, and an address that nobody verified", async () => {
    const none = altered("tomba", "email_finder", () => ({ data: { email: null } }))
    expect((await play("email.find", input, none)).outcome).toEqual({ _tag: "NoMatch", detail: "no address found" })
    const bare = altered("tomba", "email_finder", () => ({ data: { email: "jane.doe@acme.example" } }))
    expect((await play("email.find", input, bare)).outcome).toMatchObject({ output: { email_status: "unknown" } })
  })

  const failures = [
    [answer(401, {}), "provider_account"],
    [answer(402, {}), "provider_account"],
    [answer(422, { errors: { message: "Error validation" } }), "provider_error"],
    [answer(429, {}, { "retry-after": "1" }), "provider_rate_limited"],
    [answer(200, { data: null }), "invalid_response"]
  ] as const
  for (const [played, reason] of failures) {
    test(`HTTP ${played.status} is ${reason}`, async () => {
      expect((await play("email.find", input, played)).outcome).toMatchObject({ _tag: "Failure", reason })
    })
  }
})

describe("tomba email.verify", () => {
  const input = { email: "jane.doe@acme.example" }

  test("the status of an address", async () => {
    const { asked, outcome } = await play("email.verify", input, example("tomba", "email_verifier"))
    expect(asked[0]?.path).toBe("/v1/email-verifier/jane.doe%40acme.example")
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        email: "jane.doe@acme.example",
        email_status: "valid",
        score: 99,
        is_disposable: false,
        is_role: null,
        is_free: false,
        mx_found: true,
        did_you_mean: null,
        provider_status: "valid"
      }
    })
  })

  test.each([
    ["accept_all", "catch_all"],
    ["invalid", "invalid"],
    ["disposable", "risky"],
    ["odd", "unknown"]
  ])("%s is %s", async (status, email_status) => {
    const { outcome } = await play("email.verify", input, answer(200, { data: { email: { status } } }))
    expect(outcome).toMatchObject({ output: { email_status, provider_status: status } })
  })
})

describe("tomba phone.find", () => {
  test("a number by address, and by profile", async () => {
    const { asked, outcome } = await play(
      "phone.find",
      { email: "jane.doe@acme.example" },
      example("tomba", "phone_finder")
    )
    expect(asked).toMatchObject([get("/v1/phone-finder", { email: "jane.doe@acme.example" })])
    expect(outcome).toMatchObject({ output: { phone: "+14155550142", phone_type: "mobile" } })
    const by = { network_url: "www.linkedin.com/in/jane-doe" }
    const invalid = altered("tomba", "phone_finder", () => ({ data: { e164_format: "+1", valid: false } }))
    const second = await play("phone.find", by, invalid)
    expect(second.asked).toMatchObject([get("/v1/phone-finder", { linkedin: "https://www.linkedin.com/in/jane-doe" })])
    expect(second.outcome).toEqual({ _tag: "NoMatch", detail: "no number found" })
    expect(offerOf(tomba, "phone.find").rate).toEqual(inCredits.flat("5"))
  })
})
