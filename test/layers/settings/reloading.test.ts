/**
 * A running service takes new settings as a whole or not at all, and says what it took by name only.
 */
import { describe, expect, test } from "bun:test"
import { Effect, Exit, Redacted } from "effect"
import { type LiveSettings, Settings } from "../../../src/layers/platform/Settings.ts"

const live = (environment: Record<string, string>): Promise<LiveSettings> =>
  Effect.runPromise(
    Effect.gen(function* () {
      return yield* Settings
    }).pipe(Effect.provide(Settings.layerFrom(environment)))
  )
const keyOf = (settings: LiveSettings, slug: string) => {
  const key = settings.current().accounts.get(slug)?.apiKey ?? null
  return key === null ? null : Redacted.value(key)
}
const production = { RUNGATE_MODE: "production" }
const stripe = { STRIPE_SECRET_KEY: "sk_test_1", STRIPE_WEBHOOK_SECRET: "whsec_1" }

describe("a reload", () => {
  test("takes over accounts and secrets, and tells the listeners", async () => {
    const environment: Record<string, string> = { ...production, RUNGATE_PROVIDER_HUNTER_API_KEY: "old", ...stripe }
    const settings = await live(environment)
    const told: Array<ReadonlyArray<string>> = []
    settings.onReload((changed) => Effect.sync(() => told.push(changed)))
    Object.assign(environment, {
      RUNGATE_PROVIDER_HUNTER_API_KEY: "new",
      RUNGATE_PROVIDER_EXA_API_KEY: "exa",
      RUNGATE_METRICS_TOKEN: "0123456789abcdef",
      STRIPE_WEBHOOK_SECRET: "whsec_2,whsec_1"
    })
    const names = [
      "RUNGATE_METRICS_TOKEN",
      "RUNGATE_PROVIDER_EXA_API_KEY",
      "RUNGATE_PROVIDER_HUNTER_API_KEY",
      "STRIPE_WEBHOOK_SECRET"
    ]
    expect(await Effect.runPromise(settings.reload)).toEqual({ changed: names, restart: [] })
    expect(told).toEqual([names])
    expect([keyOf(settings, "hunter"), keyOf(settings, "exa")]).toEqual(["new", "exa"])
    expect(settings.current().stripe?.webhookSecrets.map(Redacted.value)).toEqual(["whsec_2", "whsec_1"])
    delete environment["RUNGATE_PROVIDER_EXA_API_KEY"]
    expect((await Effect.runPromise(settings.reload)).changed).toEqual(["RUNGATE_PROVIDER_EXA_API_KEY"])
    expect(keyOf(settings, "exa")).toBeNull()
    expect(await Effect.runPromise(settings.reload)).toEqual({ changed: [], restart: [] })
  })

  test("refuses settings with a mistake as a whole", async () => {
    const environment: Record<string, string> = { ...production, RUNGATE_PROVIDER_HUNTER_API_KEY: "old" }
    const settings = await live(environment)
    Object.assign(environment, {
      RUNGATE_PROVIDER_HUNTER_API_KEY: "new",
      RUNGATE_PROVIDER_EXA_BASE_URL: "s3cret-nonsense",
      PORT: "many"
    })
    const exit = await Effect.runPromiseExit(settings.reload)
    expect(Exit.isFailure(exit)).toBe(true)
    const text = JSON.stringify(exit)
    expect(text).toContain("PORT must be")
    expect(text).toContain("RUNGATE_PROVIDER_EXA_BASE_URL must be")
    expect(text).not.toContain("s3cret")
    expect(keyOf(settings, "hunter")).toBe("old")
  })

  test("names what needs a restart, until the restart", async () => {
    const environment: Record<string, string> = { ...production }
    const settings = await live(environment)
    Object.assign(environment, { RUNGATE_CONCURRENCY: "7", RUNGATE_PROVIDER_HUNTER_API_KEY: "new" })
    expect(await Effect.runPromise(settings.reload)).toEqual({
      changed: ["RUNGATE_PROVIDER_HUNTER_API_KEY"],
      restart: ["RUNGATE_CONCURRENCY"]
    })
    expect((await Effect.runPromise(settings.reload)).restart).toEqual(["RUNGATE_CONCURRENCY"])
    expect(settings.concurrency).toBe(500)
  })

  test("can't switch payments on or off", async () => {
    const environment: Record<string, string> = { ...production, ...stripe }
    const settings = await live(environment)
    delete environment["STRIPE_SECRET_KEY"]
    delete environment["STRIPE_WEBHOOK_SECRET"]
    expect((await Effect.runPromise(settings.reload)).restart).toEqual(["STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET"])
    expect(settings.current().stripe?.apiBase).toBeNull()
  })
})
