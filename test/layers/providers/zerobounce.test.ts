import { describe, expect, test } from "bun:test"
import { zerobounce } from "../../../src/layers/providers/zerobounce.ts"
import { reviewed } from "./example.ts"
import { answer, failed, fixture, get, secretInHeader, stage } from "./stage.ts"

const play = stage(zerobounce)
const input = { email: "valid@example.com" }

describe("zerobounce email.verify", () => {
  test("a verdict", async () => {
    const { asked, outcome } = await play("email.verify", input, fixture("zerobounce", "validate"))
    expect(asked).toEqual([
      expect.objectContaining({
        ...get("/v2/validate", { email: "valid@example.com", ip_address: "", api_key: secretInHeader }),
        secret: secretInHeader
      })
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        email: "valid@example.com",
        email_status: "valid",
        score: null,
        is_disposable: false,
        is_role: false,
        is_free: false,
        mx_found: true,
        did_you_mean: null,
        provider_status: "valid"
      }
    })
  })

  test("unknown is an answer, and denies nothing about the mailbox", async () => {
    const { outcome } = await play("email.verify", input, fixture("zerobounce", "validate.unknown"))
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        email: "unknown@example.com",
        email_status: "unknown",
        score: null,
        is_disposable: null,
        is_role: null,
        is_free: false,
        mx_found: true,
        did_you_mean: null,
        provider_status: "unknown/mail_server_temporary_error"
      }
    })
  })

  test("a disposable address, and one of a function at a catch-all", async () => {
    const disposable = answer(200, reviewed("zerobounce-email.verify.disposable"))
    expect((await play("email.verify", input, disposable)).outcome).toMatchObject({
      output: {
        email_status: "risky",
        is_disposable: true,
        is_role: false,
        mx_found: true,
        provider_status: "do_not_mail/disposable"
      }
    })
    const role = answer(200, reviewed("zerobounce-email.verify.role"))
    expect((await play("email.verify", input, role)).outcome).toMatchObject({
      output: {
        email_status: "risky",
        is_disposable: false,
        is_role: true,
        provider_status: "do_not_mail/role_based_catch_all"
      }
    })
  })

  const verdicts = [
    ["catch-all", "", "catch_all", {}],
    ["invalid", "mailbox_not_found", "invalid", {}],
    ["do_not_mail", "role_based", "risky", { is_role: true, is_disposable: false }],
    ["do_not_mail", "disposable", "risky", { is_role: false, is_disposable: true }],
    ["spamtrap", "", "risky", {}],
    ["abuse", "", "risky", {}]
  ] as const
  for (const [status, sub_status, email_status, more] of verdicts) {
    test(`${status} ${sub_status} is ${email_status}`, async () => {
      const { outcome } = await play("email.verify", input, answer(200, { status, sub_status }))
      expect(outcome).toMatchObject({ _tag: "Match", output: { email: input.email, email_status, ...more } })
    })
  }

  test("an error comes as HTTP 200", async () => {
    const { outcome } = await play("email.verify", input, fixture("zerobounce", "validate.error"))
    expect(outcome).toEqual(failed("provider_account", "HTTP 200: Invalid API key or your account ran out of credits"))
    const other = await play("email.verify", input, answer(200, { error: "Missing parameter: email" }))
    expect(other.outcome).toMatchObject({ reason: "provider_error" })
  })
})
