import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { twilioLookup } from "../../../src/layers/providers/twilio_lookup.ts"
import { conforms } from "./conformance.ts"
import { answer, get, offerOf, runId, stage } from "./stage.ts"

const play = stage(twilioLookup)
const documented = (name: string, status = 200) => {
  const file = new URL(`../../fixtures/payloads/twilio_lookup/${name}.response.json`, import.meta.url)
  return answer(status, readFileSync(file, "utf8"))
}

describe("twilio_lookup phone.lookup", () => {
  const input = { phone: "+1 (415) 992-9960" }

  test("the line and its carrier", async () => {
    const { asked, outcome } = await play("phone.lookup", input, documented("phone_numbers.line_type"))
    expect(asked).toEqual([
      expect.objectContaining({
        ...get("/v2/PhoneNumbers/%2B14159929960", { Fields: "line_type_intelligence" }),
        secret: expect.stringMatching(/^Basic /)
      })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        phone: "+14159929960",
        national_format: "(415) 992-9960",
        country_code: "US",
        valid: true,
        line_type: "nonFixedVoip",
        carrier: "Twilio - SMS/LURO-LELE",
        caller_name: null
      }
    })
  })

  test("a national number needs its country", async () => {
    const national = { phone: "030/12 34.56", country_code: "de" }
    const { asked } = await play("phone.lookup", national, documented("phone_numbers"))
    expect(asked[0]).toMatchObject(
      get("/v2/PhoneNumbers/030123456", { Fields: "line_type_intelligence", CountryCode: "DE" })
    )
    const { serves } = offerOf(twilioLookup, "phone.lookup")
    expect(serves({ phone: "030123456" })).toBe(false)
    expect(serves({ phone: "++", country_code: "de" })).toBe(false)
    expect(serves({ phone: " +14159929960" })).toBe(true)
  })

  test("no number leaves its place in the path", () => {
    const { request } = offerOf(twilioLookup, "phone.lookup")
    expect(request({ phone: "+1/../../Accounts?x#4" }, { run_id: runId }).path).toBe(
      "/v2/PhoneNumbers/%2B1Accounts%3Fx%234"
    )
  })

  test("a number that can't exist is an answer", async () => {
    const { outcome } = await play("phone.lookup", { phone: "+141599299600" }, documented("phone_numbers.invalid"))
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        phone: "+141599299600",
        national_format: null,
        country_code: null,
        valid: false,
        line_type: null,
        carrier: null,
        caller_name: null
      }
    })
  })

  test("what was not asked for, or not found, is null; a name is read when it comes", async () => {
    const bare = await play("phone.lookup", input, documented("phone_numbers"))
    expect(bare.outcome).toMatchObject({ output: { valid: true, line_type: null, carrier: null } })
    const named = await play("phone.lookup", input, documented("phone_numbers.caller_name"))
    expect(named.outcome).toMatchObject({ output: { caller_name: "Samota Nerimi" } })
  })

  const failures = [
    [documented("phone_numbers.404", 404), "provider_error", "/v2/PhoneNumbers/abc was not found"],
    [answer(401, { code: 20003, message: "Authenticate", status: 401 }), "provider_account", "Authenticate"],
    [answer(429, { code: 20429, message: "Too Many Requests", status: 429 }), "provider_rate_limited", "Too Many"],
    [answer(503, "down"), "provider_error", "HTTP 503"],
    [answer(200, { phone_number: "+14159929960" }), "invalid_response", "valid"]
  ] as const
  test.each(failures)("%j is %s", async (played, reason, words) => {
    const { outcome } = await play("phone.lookup", input, played)
    expect(outcome).toMatchObject({ _tag: "Failure", reason, detail: expect.stringContaining(words) })
  })

  test("asks as the document says, and says nothing of costs", () => {
    const { request } = offerOf(twilioLookup, "phone.lookup")
    expect(conforms(twilioLookup, request({ ...input, country_code: "us" }, { run_id: runId }))).toEqual([])
    expect(twilioLookup.measured({ status: 200, headers: {}, text: "", body: { valid: true } })).toBeNull()
  })
})
