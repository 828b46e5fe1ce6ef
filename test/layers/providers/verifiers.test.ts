import { describe, expect, test } from "bun:test"
import { millionverifier } from "../../../src/layers/providers/millionverifier.ts"
import { neverbounce } from "../../../src/layers/providers/neverbounce.ts"
import { conforms } from "./conformance.ts"
import { example, reviewed } from "./example.ts"
import { answer, failed, get, offerOf, runId, stage } from "./stage.ts"

const secret = "s3cret-of-the/account"
const input = { email: "support@neverbounce.com" }

describe("neverbounce email.verify", () => {
  const play = stage(neverbounce)

  test("a verdict, and what it has cost", async () => {
    const { asked, outcome } = await play("email.verify", input, example("neverbounce", "single_check.credits_info"))
    expect(asked).toEqual([
      expect.objectContaining({
        ...get("/v4.2/single/check", { ...input, credits_info: "1", timeout: "20", key: secret }),
        secret
      })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        email: "support@neverbounce.com",
        email_status: "valid",
        score: null,
        is_disposable: false,
        is_role: false,
        is_free: false,
        mx_found: true,
        did_you_mean: null,
        provider_status: "valid"
      },
      cost: { unit: "credit", amount: "1" }
    })
  })

  test("an address of a function, without a cost report", async () => {
    const { outcome } = await play("email.verify", input, example("neverbounce", "single_check.address_info"))
    expect(outcome).toMatchObject({ output: { is_role: true, mx_found: true } })
    expect(outcome).not.toHaveProperty("cost")
  })

  const verdicts = {
    invalid: "invalid",
    disposable: "risky",
    catchall: "catch_all",
    unknown: "unknown",
    new: "unknown"
  }
  for (const [result, email_status] of Object.entries(verdicts)) {
    test(`${result} is ${email_status}`, async () => {
      const flags = ["free_email_host"]
      const { outcome } = await play("email.verify", input, answer(200, { status: "success", result, flags }))
      expect(outcome).toMatchObject({
        _tag: "Match",
        output: {
          email_status,
          provider_status: result,
          is_free: true,
          is_disposable: result === "disposable" ? true : result === "unknown" ? null : false,
          mx_found: result === "unknown" ? null : false
        }
      })
    })
  }

  test("a check paid with a free credit has cost nothing", async () => {
    const credits_info = { paid_credits_used: 0, free_credits_used: 1 }
    const { outcome } = await play(
      "email.verify",
      input,
      answer(200, { status: "success", result: "valid", credits_info })
    )
    expect(outcome).toMatchObject({
      output: { is_role: null, is_disposable: null },
      cost: { unit: "credit", amount: "0" }
    })
  })

  const failures = [
    [example("neverbounce", "single_check.auth_failure"), "provider_account", "HTTP 200: Invalid API key"],
    [
      answer(200, { status: "throttle_triggered", message: "slow down" }),
      "provider_rate_limited",
      "HTTP 200: slow down"
    ],
    [
      answer(200, { status: "general_failure", message: "Insufficient credit balance" }),
      "provider_account",
      "HTTP 200: Insufficient credit balance"
    ],
    [answer(200, { status: "temp_unavail" }), "provider_error", "HTTP 200"],
    [answer(200, { status: "success" }), "invalid_response", "the answer has no readable result"],
    [answer(503, "down"), "provider_error", "HTTP 503"]
  ] as const
  for (const [played, reason, detail] of failures) {
    test(`${detail} is ${reason}`, async () => {
      expect((await play("email.verify", input, played)).outcome).toEqual(failed(reason, detail))
    })
  }

  test("asks what its document knows, and any answer of its tells its cost", () => {
    expect(conforms(neverbounce, offerOf(neverbounce, "email.verify").request(input, { run_id: runId }))).toEqual([])
    const body = { credits_info: { paid_credits_used: 1 } }
    expect(neverbounce.measured({ status: 200, headers: {}, text: "", body })).toEqual({ unit: "credit", amount: "1" })
    expect(neverbounce.measured({ status: 200, headers: {}, text: "", body: {} })).toBeNull()
  })
})

describe("millionverifier email.verify", () => {
  const play = stage(millionverifier)

  test("a verdict", async () => {
    const { asked, outcome } = await play(
      "email.verify",
      { email: "info@email.com" },
      example("millionverifier", "verify")
    )
    expect(asked).toEqual([
      expect.objectContaining({ ...get("/api/v3/", { email: "info@email.com", timeout: "20", api: secret }), secret })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        email: "info@email.com",
        email_status: "valid",
        score: null,
        is_disposable: false,
        is_role: true,
        is_free: false,
        mx_found: null,
        did_you_mean: null,
        provider_status: "ok"
      }
    })
  })

  test("a verdict as it was captured", async () => {
    const played = answer(200, reviewed("millionverifier-email.verify"))
    expect((await play("email.verify", input, played)).outcome).toEqual({
      _tag: "Match",
      output: {
        email: "not-an-email",
        email_status: "invalid",
        score: null,
        is_disposable: false,
        is_role: false,
        is_free: false,
        mx_found: null,
        did_you_mean: null,
        provider_status: "invalid/invalid_syntax"
      }
    })
  })

  const verdicts = {
    catch_all: "catch_all",
    unknown: "unknown",
    disposable: "risky",
    invalid: "invalid",
    unheard_of: "unknown"
  }
  for (const [result, email_status] of Object.entries(verdicts)) {
    test(`${result} is ${email_status}`, async () => {
      const body = { result, subresult: "detail", didyoumean: "jane@example.com" }
      expect((await play("email.verify", input, answer(200, body))).outcome).toMatchObject({
        _tag: "Match",
        output: { email_status, provider_status: `${result}/detail`, did_you_mean: "jane@example.com" }
      })
    })
  }

  test("a check that went wrong is no verdict", async () => {
    const { outcome } = await play("email.verify", input, answer(200, { result: "error", subresult: "timeout" }))
    expect(outcome).toEqual({ _tag: "Failure", reason: "provider_error", detail: "the check failed: timeout" })
  })

  const failures = [
    [answer(200, { error: "apikey not found" }), "provider_account"],
    [answer(200, { error: "insufficient credits", result: "" }), "provider_account"],
    [answer(200, { error: "internal error" }), "provider_error"],
    [answer(200, { result: "" }), "invalid_response"],
    [answer(429, {}), "provider_rate_limited"],
    [answer(401, {}), "provider_account"]
  ] as const
  for (const [played, reason] of failures) {
    test(`${played.status} ${played.body} is ${reason}`, async () => {
      expect((await play("email.verify", input, played)).outcome).toMatchObject({ _tag: "Failure", reason })
    })
  }

  test("asks what its document knows, and reports no cost", () => {
    const call = offerOf(millionverifier, "email.verify").request(input, { run_id: runId })
    expect(conforms(millionverifier, call)).toEqual([])
    expect(millionverifier.measured({ status: 200, headers: {}, text: "", body: { credits: 999 } })).toBeNull()
  })
})
