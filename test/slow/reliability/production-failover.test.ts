/**
 * Failover in production: whatever way the first provider fails, over real HTTP, the next one delivers, and it alone is paid.
 * A provider whose account is refused is left alone for a while, and the caller is not blamed.
 */
import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test"
import { Effect, Logger } from "effect"
import { Breakers } from "../../../src/layers/executor/Breakers.ts"
import { ProviderCredits } from "../../../src/layers/executor/ProviderCredits.ts"
import { dollars } from "../../../src/schema/money/Money.ts"
import { figures, type Tenant, verify, withApp } from "../../kit/app.ts"
import { answer } from "../../layers/providers/stage.ts"
import { hasten, type Line, standIn, withDeadline } from "../../layers/providers/standin.ts"

/** The cheapest three for email.verify, and what the fourth would cost. */
const prices = { leadmagic: "0.003", millionverifier: "0.00444", icypeas: "0.0048", zerobounce: "0.0096" } as const
const planned = ["leadmagic", "millionverifier", "icypeas"] as const
const verified: Line = answer(200, { result: "ok", email: "jane.doe@example.com" })

let org: Tenant
const there = standIn()
const unhasten = hasten()
const app = withApp({ settings: there.settings })
afterAll(async () => {
  await there.stop()
  unhasten()
})
beforeEach(async () => {
  there.forget()
  org = await app.tenant("5.00")
})

const breakers = () => {
  const found = Effect.runSync(Effect.provideContext(Effect.serviceOption(Breakers), app.context))
  return found._tag === "Some" ? found.value : expect.unreachable("the app has no breakers")
}
const credits = () => {
  const found = Effect.runSync(Effect.provideContext(Effect.serviceOption(ProviderCredits), app.context))
  return found._tag === "Some" ? found.value : expect.unreachable("the app has no credits")
}
/** What one test made of the providers must not route another one's runs: everybody delivers once. */
const heal = () =>
  Effect.runPromise(
    Effect.forEach(breakers().all(), ({ provider, subject, org_id }) =>
      breakers().record(provider, subject, org_id, null)
    ).pipe(
      Effect.andThen(Effect.promise(() => app.sql("DELETE FROM provider_credits"))),
      Effect.andThen(credits().refresh),
      Effect.provide(Logger.layer([]))
    )
  )
afterEach(async () => {
  await heal()
  await app.books()
})

const run = (routing: Record<string, unknown> = {}) =>
  org.run({ ...verify(), routing: { strategy: "cheapest", ...routing } })
const moved = async () => [...(await org.ledger())].reverse().map(({ type, amount }) => `${type} ${amount}`)
const counts = () => Object.fromEntries(Object.keys(prices).map((slug) => [slug, there.heard(slug).length]))
const outcomes = (body: { attempts: ReadonlyArray<{ provider: string; outcome: string }> }) =>
  body.attempts.map(({ provider, outcome }) => `${provider} ${outcome}`)
const untouched = { balance: "5.00", reserved: "0.00", available: "5.00" }

const failures: ReadonlyArray<readonly [string, Line, string]> = [
  ["HTTP 500", answer(500, "oops"), "provider_error"],
  ["HTTP 404", answer(404, {}), "provider_rejected"],
  ["a redirect", answer(307, "", { location: "/zerobounce/stolen" }), "provider_error"],
  ["HTTP 429", answer(429, {}), "provider_rate_limited"],
  ["HTTP 401", answer(401, { error: "bad key" }), "provider_account"],
  ["HTTP 402", answer(402, { error: "no credits" }), "provider_account"],
  ["HTTP 403", answer(403, {}), "provider_account"],
  ["broken JSON", answer(200, '{"email_status": "val'), "invalid_response"],
  ["a page", answer(200, "<html>maintenance</html>"), "invalid_response"],
  ["another shape", answer(200, { hello: ["world"] }), "invalid_response"],
  ["nothing", answer(200, ""), "invalid_response"]
]

describe("the first provider fails", () => {
  const expectNext = async (body: ReturnType<typeof JSON.parse>, outcome: string) => {
    expect(body).toMatchObject({
      status: "succeeded",
      provider: "millionverifier",
      billing: { charged: prices.millionverifier },
      result: { email_status: "valid" }
    })
    expect(outcomes(body)).toEqual([`leadmagic ${outcome}`, "millionverifier succeeded"])
    expect(counts()).toEqual({ leadmagic: 1, millionverifier: 1, icypeas: 0, zerobounce: 0 })
    // The dearest of the three is held; only what the second one costs is kept.
    expect(await moved()).toEqual(["bonus 5.00", "reserve -0.0048", "settle -0.00444", "release 0.00036"])
  }

  test.each(failures)("with %s: the next one delivers and alone is paid", async (_name, line, outcome) => {
    there.play("leadmagic", line)
    there.play("millionverifier", verified)
    const { status, body } = await run()
    expect(status).toBe(200)
    await expectNext(body, outcome)
  })

  test("T39 provider.late_success: an answer after the deadline changes nothing, and costs nothing", async () => {
    const late = Promise.withResolvers<void>()
    const answered = Promise.withResolvers<void>()
    there.play("leadmagic", async () => {
      await late.promise
      queueMicrotask(answered.resolve)
      return answer(200, { email_status: "valid", credits_consumed: 1 })
    })
    there.play("millionverifier", verified)
    const { body } = await withDeadline("leadmagic", 150, () => run(), app)
    await expectNext(body, "provider_timeout")
    late.resolve()
    await answered.promise
    const again = await org.get(`/v1/runs/${body.run_id}`)
    expect(again.body).toEqual(body)
    await expectNext(again.body, "provider_timeout")
    const settled = (await moved()).filter((entry) => entry.startsWith("settle"))
    figures("T39 provider.late_success", { deliveries_charged: settled.length, double_charges: settled.length - 1 })
  })
})

describe("nobody delivers", () => {
  test("an error of each: three attempts, nothing charged, the hold is back", async () => {
    there.play("leadmagic", answer(500, "oops"))
    there.play("millionverifier", answer(200, { error: "internal error" }))
    there.play("icypeas", answer(503, {}))
    const { status, body } = await run()
    expect([status, body.status, body.error.code]).toEqual([502, "failed", "provider_error"])
    expect(outcomes(body)).toEqual(planned.map((slug) => `${slug} provider_error`))
    expect(body.billing.charged).toBeNull()
    expect(await org.wallet()).toMatchObject(untouched)
    expect(await moved()).toEqual(["bonus 5.00", "reserve -0.0048", "release 0.0048"])
    expect(counts()).toEqual({ leadmagic: 1, millionverifier: 1, icypeas: 1, zerobounce: 0 })
  })

  test("silence of each: provider_timeout", async () => {
    const never = Promise.withResolvers<void>()
    const silent: Line = async () => {
      await never.promise
      return verified
    }
    for (const slug of planned) there.play(slug, silent)
    const { status, body } = await withDeadline(
      "leadmagic",
      100,
      () => withDeadline("millionverifier", 100, () => withDeadline("icypeas", 100, () => run(), app)),
      app
    )
    never.resolve()
    expect([status, body.status, body.error.code]).toEqual([504, "timed_out", "provider_timeout"])
    expect(outcomes(body)).toEqual(planned.map((slug) => `${slug} provider_timeout`))
    expect(await org.wallet()).toMatchObject(untouched)
  })

  const find = (routing: Record<string, unknown> = {}) =>
    org.run({
      capability: "email.find",
      input: { full_name: "Jane Doe", company_domain: "example.com" },
      routing: { strategy: "cheapest", ...routing }
    })
  const nothing = answer(200, { email: null, status: "not_found", credits_consumed: 0 })
  const found = answer(200, { data: { email: "jane@example.com", score: 97, verification: { status: "valid" } } })

  test("a miss that is not billed goes on to the next, and an invalid address is a miss", async () => {
    there.play("leadmagic", answer(200, { email: "jane@example.com", status: "invalid" }))
    there.play("hunter", found)
    const { body } = await find()
    expect(outcomes(body)).toEqual(["leadmagic no_match", "hunter succeeded"])
    expect(body).toMatchObject({
      provider: "hunter",
      billing: { charged: "0.0294" },
      result: { email: "jane@example.com" }
    })
  })

  test("misses of all, or a miss among errors: no_match", async () => {
    there.play("leadmagic", nothing)
    there.play("hunter", answer(500, {}))
    there.play("prospeo", answer(400, { error: true, error_code: "NO_MATCH" }))
    const { body } = await find()
    expect(outcomes(body)).toEqual(["leadmagic no_match", "hunter provider_error", "prospeo no_match"])
    expect([body.status, body.error.code, body.billing.charged]).toEqual(["no_match", "no_match", null])
    expect(await org.wallet()).toMatchObject(untouched)
  })

  test.each([
    ["a pinned provider", { provider: "leadmagic" }, "routing.provider is leadmagic"],
    [
      "a pinned provider with allow_fallback",
      { provider: "leadmagic", allow_fallback: true },
      "routing.provider is leadmagic"
    ],
    ["a run without fallback", { allow_fallback: false }, "allow_fallback is false"]
  ])("%s is asked once, whether it fails or misses", async (_name, routing, hint) => {
    there.play("leadmagic", nothing, answer(500, {}))
    const [missed, failed] = [await find(routing), await find(routing)]
    expect([missed.body.error.code, failed.body.error.code]).toEqual(["no_match", "provider_error"])
    for (const { body } of [missed, failed]) {
      expect(body.attempts).toHaveLength(1)
      expect(body.hints.join(" ")).toContain(hint)
    }
    expect(there.heard().map((one) => one.provider)).toEqual(["leadmagic", "leadmagic"])
    expect(await org.wallet()).toMatchObject(untouched)
  })
})

describe("a run that acts", () => {
  const mail = { from: "hello@example.com", to: ["jane@example.com"], subject: "Hello", text: "Hello Jane" }
  const send = { capability: "email.send", input: mail, routing: { strategy: "cheapest" } }
  const sent: Line = answer(200, { ErrorCode: 0, MessageID: "m1", Message: "OK" })
  const owns = () =>
    app.sql(
      "INSERT INTO owned_resources (kind, resource_id, org_id) VALUES ('sender', 'hello@example.com', $1) ON CONFLICT DO NOTHING",
      [org.org_id]
    )

  const refusals: ReadonlyArray<readonly [string, Line, string]> = [
    ["HTTP 401", answer(401, {}), "provider_account"],
    ["HTTP 422", answer(422, {}), "provider_rejected"],
    ["HTTP 429", answer(429, {}), "provider_rate_limited"],
    ["HTTP 501", answer(501, {}), "provider_error"]
  ]
  test.each(refusals)("asks the next provider after %s, which did nothing", async (_name, line, outcome) => {
    await owns()
    there.play("resend", line)
    there.play("postmark", sent)
    const quote = await org.post("/v1/quote", send)
    expect(quote.body.offers.slice(0, 2)).toMatchObject([
      { provider: "resend", chosen: true, excluded_because: null },
      { provider: "postmark", chosen: true, excluded_because: null }
    ])
    const { body } = await org.run(send)
    expect(outcomes(body)).toEqual([`resend ${outcome}`, "postmark succeeded"])
    expect(body).toMatchObject({ status: "succeeded", provider: "postmark", billing: { charged: "0.00216" } })
    expect(body.routing_reason).toContain("; then postmark if it surely did nothing")
    expect(there.heard().map(({ provider }) => provider)).toEqual(["resend", "postmark"])
  })

  const unknowns: ReadonlyArray<readonly [string, Line]> = [
    ["HTTP 500", answer(500, "oops")],
    ["HTTP 503", answer(503, {})],
    ["HTTP 408", answer(408, {})],
    ["HTTP 303", answer(303, "", { location: "/done" })],
    ["success that can't be read", answer(200, '{"id": "b7')]
  ]
  test.each(unknowns)("asks nobody else after %s, which may have sent it", async (_name, line) => {
    await owns()
    there.play("resend", line)
    there.play("postmark", sent)
    const { body } = await org.run(send)
    expect([body.error.code, outcomes(body)]).toEqual(["outcome_unknown", ["resend outcome_unknown"]])
    expect(there.heard()).toHaveLength(1)
    expect(await org.wallet()).toMatchObject(untouched)
  })

  test("asks nobody else after no answer in time, and after a second provider may have sent it", async () => {
    await owns()
    there.play("resend", () => new Promise(() => {}), answer(401, {}))
    there.play("postmark", answer(502, ""))
    const late = await withDeadline("resend", 150, () => org.run(send), app)
    expect(outcomes(late.body)).toEqual(["resend outcome_unknown"])
    const second = await org.run(send)
    expect(outcomes(second.body)).toEqual(["resend provider_account", "postmark outcome_unknown"])
    expect(second.body.error.message).toContain("postmark carried this out")
    expect(await org.wallet()).toMatchObject(untouched)
  })

  test("asks nobody else without fallback", async () => {
    await owns()
    there.play("resend", answer(401, {}))
    const { body } = await org.run({ ...send, routing: { ...send.routing, allow_fallback: false } })
    expect(outcomes(body)).toEqual(["resend provider_account"])
    expect(body.hints.join(" ")).toContain("routing.allow_fallback is false")
  })
})

describe("T40 waterfall.budget", () => {
  const all = () => {
    for (const slug of Object.keys(prices)) there.play(slug, answer(500, {}), answer(500, {}))
  }
  test("a cap at the cheapest leaves one attempt, and the error names whom it left out", async () => {
    all()
    const { body } = await run({ max_cost: prices.leadmagic })
    expect(outcomes(body)).toEqual(["leadmagic provider_error"])
    expect(body.error.message).toMatch(/routing\.max_cost excluded .*millionverifier \(\$0\.00444\)/)
    for (const slug of ["icypeas", "zerobounce", "neverbounce", "findymail", "hunter"]) {
      expect(body.error.message).toContain(slug)
      expect(body.hints.join(" ")).toContain(slug)
    }
    expect(await moved()).toEqual(["bonus 5.00", "reserve -0.003", "release 0.003"])
  })

  test("no run has a fourth attempt, and each is within the cap", async () => {
    const found = { attempts_max: 0, above_the_cap: 0 }
    for (const [max_cost, attempts] of [
      ["9.00", 3],
      ["0.0096", 3],
      ["0.00479", 2],
      ["0.00443", 1]
    ] as const) {
      await heal()
      there.forget()
      all()
      const { body } = await run({ max_cost })
      expect(outcomes(body)).toEqual(planned.slice(0, attempts).map((slug) => `${slug} provider_error`))
      expect(there.heard().map((one) => one.provider)).toEqual(planned.slice(0, attempts))
      found.attempts_max = Math.max(found.attempts_max, there.heard().length)
      found.above_the_cap += planned
        .slice(0, attempts)
        .filter((slug) => dollars(prices[slug]) > dollars(max_cost)).length
    }
    expect(found).toEqual({ attempts_max: 3, above_the_cap: 0 })
    figures("T40 waterfall.budget", found)
  })

  test("a wallet that can't pay for every attempt is told before the first", async () => {
    org = await app.tenant("0.0047")
    const { status, body } = await run()
    expect([status, body.error.code]).toEqual([402, "insufficient_balance"])
    expect(there.heard()).toEqual([])
    there.play("leadmagic", answer(200, { email_status: "valid" }))
    expect((await run({ max_cost: "0.0047" })).body.billing.charged).toBe(prices.leadmagic)
  })
})

describe("a provider that fails is left alone", () => {
  test("for a refused account at once; the caller hears of it and is not blamed; it comes back", async () => {
    there.play("leadmagic", answer(401, { error: "bad key" }))
    there.play("millionverifier", verified, verified, answer(500, {}))
    there.play("icypeas", answer(500, {}))
    there.play("zerobounce", answer(500, {}))
    const executable = async (of: Tenant) => {
      const { body } = await of.post("/v1/inspect", { capability: "email.verify" })
      return body.offers.find((one: { provider: string }) => one.provider === "leadmagic").executable
    }
    expect(await executable(org)).toBe(true)
    expect(outcomes((await run()).body)).toEqual(["leadmagic provider_account", "millionverifier succeeded"])
    expect([await executable(org), await executable(await app.tenant("1.00"))]).toEqual([false, true])
    const second = await run()
    expect(outcomes(second.body)).toEqual(["millionverifier succeeded"])
    expect(second.body.routing_reason).toContain("millionverifier has the lowest price")
    const third = await run()
    expect(outcomes(third.body)).toEqual(
      ["millionverifier", "icypeas", "zerobounce"].map((slug) => `${slug} provider_error`)
    )
    expect(third.body.hints.join(" ")).toContain("excluded because they are failing: leadmagic")
    const told = JSON.stringify(third.body)
    expect(told).not.toMatch(/bad key|api.key|unauthori|401|your (account|request|key)/i)
    expect(there.heard("leadmagic")).toHaveLength(1)

    const pinned = await run({ provider: "leadmagic" })
    expect([pinned.status, pinned.body.error.code]).toEqual([409, "provider_not_available"])
    expect(pinned.body.error.details[0].message).toContain("is failing")
    expect(there.heard("leadmagic")).toHaveLength(1)

    const [trip] = breakers()
      .all()
      .filter((one) => one.provider === "leadmagic")
    expect(trip?.trip.reason).toBe("provider_account")
    expect(breakers().tripped("leadmagic", "email.verify", org.org_id, (trip?.trip.until ?? 0) - 1)).not.toBeNull()
    expect(breakers().tripped("leadmagic", "email.verify", org.org_id, trip?.trip.until ?? 0)).toBeNull()
    await heal()
    there.play("leadmagic", answer(200, { email_status: "valid" }))
    expect(outcomes((await run()).body)).toEqual(["leadmagic succeeded"])
  })

  test("after five errors in a row, and another capability of it goes on", async () => {
    const error = answer(500, {})
    there.play("leadmagic", error, error, error, error, error)
    for (let at = 0; at < 6; at++) {
      there.play("millionverifier", verified)
      expect(outcomes((await run()).body)).toHaveLength(at < 5 ? 2 : 1)
    }
    expect(there.heard("leadmagic")).toHaveLength(5)
    there.play("leadmagic", answer(200, { email: "jane@example.com", status: "valid" }))
    const found = await org.run({
      capability: "email.find",
      input: { full_name: "Jane Doe", company_domain: "example.com" },
      routing: { provider: "leadmagic" }
    })
    expect(found.body.status).toBe("succeeded")
  })

  test("for as long as it asks to", async () => {
    there.play("leadmagic", answer(429, { error: "slow down" }, { "retry-after": "120" }))
    for (let at = 0; at < 2; at++) {
      there.play("millionverifier", verified)
      expect(outcomes((await run()).body)).toEqual(["leadmagic provider_rate_limited", "millionverifier succeeded"])
    }
    expect(there.heard("leadmagic")).toHaveLength(1)
  })
})

test("nothing went anywhere else", () => expect(there.astray(app.url)).toEqual([]))
