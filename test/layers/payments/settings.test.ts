/**
 * The settings that money depends on: half an account at the processor is refused, and no message repeats a value.
 */
import { describe, expect, test } from "bun:test"
import { Redacted } from "effect"
import { settingsOf } from "../../../src/layers/platform/Settings.ts"
import { dollars } from "../../../src/schema/money/Money.ts"
import { outcome, run } from "./processor.ts"

const production = { RUNGATE_MODE: "production" }
const account = { STRIPE_SECRET_KEY: "sk_test_secretOfOurs", STRIPE_WEBHOOK_SECRET: "whsec_secretOfOurs" }

describe("settings", () => {
  test("an account: its key, its secrets, its origin", async () => {
    const settings = await run(
      settingsOf({
        ...production,
        STRIPE_SECRET_KEY: " rk_live_abc ",
        STRIPE_WEBHOOK_SECRET: "whsec_new, whsec_old,",
        STRIPE_API_BASE: "http://127.0.0.1:12111/",
        RUNGATE_AUTO_TOPUP_DAILY_MAX: "0.5",
        RUNGATE_RECONCILE_SECONDS: "1"
      })
    )
    const { stripe } = settings
    expect(Redacted.value(stripe!.secretKey)).toBe("rk_live_abc")
    expect(stripe!.webhookSecrets.map(Redacted.value)).toEqual(["whsec_new", "whsec_old"])
    expect(stripe!.apiBase).toBe("http://127.0.0.1:12111")
    expect(settings.autoTopupDailyMax).toBe(dollars("0.50"))
    expect(settings.reconcileSeconds).toBe(1)
    expect(Bun.inspect(settings)).not.toMatch(/rk_live_abc|whsec_/)
  })

  test("none: card payments are off, the rest has its defaults", async () => {
    const settings = await run(settingsOf(production))
    expect(settings.stripe).toBeNull()
    expect(settings.autoTopupDailyMax).toBe(dollars("500.00"))
    expect(settings.reconcileSeconds).toBe(60)
  })

  test("the sandbox has no processor, whatever is set", async () => {
    expect((await run(settingsOf({ ...account }))).stripe).toBeNull()
    expect((await run(settingsOf({ STRIPE_SECRET_KEY: "sk_test_only" }))).stripe).toBeNull()
  })

  const mistakes: ReadonlyArray<readonly [string, Readonly<Record<string, string>>, string]> = [
    ["a key without a webhook secret", { STRIPE_WEBHOOK_SECRET: "" }, "STRIPE_WEBHOOK_SECRET is missing"],
    ["commas without a webhook secret", { STRIPE_WEBHOOK_SECRET: " , " }, "STRIPE_WEBHOOK_SECRET is missing"],
    ["a webhook secret without a key", { STRIPE_SECRET_KEY: "" }, "STRIPE_SECRET_KEY is missing"],
    ["a publishable key", { STRIPE_SECRET_KEY: "pk_live_secretOfOurs" }, "STRIPE_SECRET_KEY must be"],
    ["a key with a line break", { STRIPE_SECRET_KEY: "sk_test_secret\nOfOurs" }, "STRIPE_SECRET_KEY must be"],
    [
      "a webhook secret with a space",
      { STRIPE_WEBHOOK_SECRET: "whsec_secret OfOurs" },
      "STRIPE_WEBHOOK_SECRET must be"
    ],
    ["an origin of another kind", { STRIPE_API_BASE: "ftp://secretOfOurs" }, "STRIPE_API_BASE must be"],
    [
      "an origin with a path",
      { STRIPE_API_BASE: "https://example.com/secretOfOurs" },
      "STRIPE_API_BASE must be an origin"
    ],
    [
      "an origin with a user",
      { STRIPE_API_BASE: "https://secretOfOurs@example.com" },
      "STRIPE_API_BASE must be an origin"
    ],
    ["a limit that is no amount", { RUNGATE_AUTO_TOPUP_DAILY_MAX: "1e3" }, "RUNGATE_AUTO_TOPUP_DAILY_MAX must be"],
    ["a limit of nothing", { RUNGATE_AUTO_TOPUP_DAILY_MAX: "0.00" }, "RUNGATE_AUTO_TOPUP_DAILY_MAX must be"],
    ["a look every moment", { RUNGATE_RECONCILE_SECONDS: "0" }, "RUNGATE_RECONCILE_SECONDS must be"]
  ]
  for (const [name, changes, message] of mistakes) {
    test(`${name} is refused`, async () => {
      const told = await outcome(settingsOf({ ...production, ...account, ...changes }))
      expect(told).toStartWith("SettingsInvalid: ")
      expect(told).toContain(message)
      expect(told).not.toContain("OfOurs")
    })
  }

  test("all mistakes are told at once", async () => {
    const told = await outcome(settingsOf({ ...production, STRIPE_SECRET_KEY: "x", STRIPE_API_BASE: "y", PORT: "z" }))
    for (const name of ["PORT", "STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET", "STRIPE_API_BASE"])
      expect(told).toContain(name)
  })
})
