import { afterEach, beforeAll, describe, expect, test } from "bun:test"
import { oneBackend, rehearse, type Tenant, timed, until, verify, withApp } from "../kit/app.ts"
import { heldProvider, rehearseHeld } from "../kit/held-provider.ts"
import { exhaustive } from "../kit/input-samples.ts"

const find = (full_name: string, company_domain = "example.com") => ({
  capability: "email.find",
  input: { full_name, company_domain }
})
const send = (to: string) => ({
  capability: "email.send",
  input: { from: "hello@example.com", to, subject: "Hello", text: "Hello." }
})
const outcomes = (run: { attempts: ReadonlyArray<{ outcome: string }> }) => run.attempts.map((one) => one.outcome)
const providers = (run: { attempts: ReadonlyArray<{ provider: string }> }) => run.attempts.map((one) => one.provider)

describe.each(oneBackend)("POST /v1/run, queues on %s", (backend) => {
  const held = heldProvider()
  let org: Tenant
  const app = withApp({ backend, held })
  beforeAll(async () => {
    org = await app.tenant("100.00")
  })
  afterEach(async () => {
    await app.books()
  })

  test("answers the finished run with every field", async () => {
    const { status, body, headers } = await org.run(verify())
    expect(status).toBe(200)
    expect(headers.get("content-type")).toBe("application/json")
    expect(headers.get("x-request-id")).toBe(body.request_id)
    expect(headers.get("location")).toBeNull()
    expect(body).toEqual({
      run_id: expect.stringMatching(/^run_[0-9a-z]{26}$/),
      status: "succeeded",
      kind: "capability",
      capability: "email.verify",
      endpoint: null,
      provider: "leadmagic",
      routing_reason: expect.stringContaining("leadmagic"),
      billing: { currency: "USD", quoted: "0.0048", charged: "0.003", platform_funded: true },
      timing: { duration_ms: expect.any(Number) },
      attempts: [{ provider: "leadmagic", outcome: "succeeded", duration_ms: expect.any(Number), detail: null }],
      result: expect.objectContaining({ email: "jane.doe@example.com", sandbox: true }),
      hints: [],
      done: true,
      poll_url: `/v1/runs/${body.run_id}`,
      metadata: {},
      stoppable: false,
      request_id: expect.stringMatching(/^req_[0-9a-z]{26}$/),
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    })
  })

  test("moves money as it said: hold, charge, rest", async () => {
    const before = await org.wallet()
    const { body } = await org.run(verify())
    const entries = (await org.ledger()).filter((one) => one.reference === body.run_id)
    expect(entries.map((one) => [one.type, one.amount])).toEqual([
      ["release", "0.0018"],
      ["settle", "-0.003"],
      ["reserve", "-0.0048"]
    ])
    const after = await org.wallet()
    expect(Number(before.balance) - Number(after.balance)).toBeCloseTo(0.003, 9)
    expect(after.reserved).toBe("0.00")
    expect(after.available).toBe(after.balance)
  })

  test("answers at once with async, and with wait_seconds 0", async () => {
    const hows = [{ async: true }, { wait_seconds: 0 }, { async: true, wait_seconds: 120 }]
    const urls = await Promise.all(
      hows.map(async (how) => {
        // Answered while the run is under way, so nobody waited for its end.
        const value = await org.run({ ...rehearseHeld(), ...how })
        expect(value.status).toBe(202)
        expect(value.headers.get("location")).toBe(value.body.poll_url)
        expect(value.headers.get("retry-after")).toBe("1")
        expect(value.body).toMatchObject({ done: false, poll_url: `/v1/runs/${value.body.run_id}` })
        expect(value.body.result).toBeUndefined()
        expect(value.body.billing.charged).toBeNull()
        expect(["created", "reserved", "queued", "running"]).toContain(value.body.status)
        return value.body.poll_url
      })
    )
    await held.holds(hows.length)
    held.release()
    for (const url of urls) {
      const ended = await org.get(`${url}?wait=30`)
      expect(ended.body).toMatchObject({ status: "succeeded", done: true, stoppable: false })
    }
  })

  test.if(exhaustive)("waits as long as it was asked to, and no longer", async () => {
    const { value, millis } = await timed(() => org.run({ ...rehearseHeld(), wait_seconds: 1 }))
    expect(value.status).toBe(202)
    expect(millis).toBeGreaterThanOrEqual(900)
    // Answered before the run ended.
    expect(value.body).toMatchObject({ status: "running", done: false, stoppable: false })
    const other = await timed(() => org.run({ ...rehearse("slow_1"), wait_seconds: 30 }))
    expect(other.value.status).toBe(200)
    expect(other.millis).toBeGreaterThanOrEqual(1_000)
    held.release()
    expect((await org.get(`${value.body.poll_url}?wait=30`)).body.status).toBe("succeeded")
  })

  test("takes null in an optional field as left out", async () => {
    const { status, body } = await org.run({
      ...verify(),
      provider: null,
      endpoint: null,
      path: null,
      query: null,
      routing: { provider: null, strategy: null, max_cost: null, allow_fallback: null },
      response: { include_raw: null },
      wait_seconds: null,
      async: null
    })
    expect([status, body.status, body.provider]).toEqual([200, "succeeded", "leadmagic"])
    expect(
      (await org.run({ ...find("Jane Doe"), input: { ...find("Jane Doe").input, company_name: null } })).status
    ).toBe(200)
  })

  describe("routing", () => {
    test("explains each strategy in routing_reason", async () => {
      for (const strategy of ["cheapest", "fastest", "highest_success_rate", "best_value"]) {
        const { body } = await org.run({ ...verify(), routing: { strategy } })
        expect(body.status).toBe("succeeded")
        expect(body.routing_reason).toStartWith(`${strategy}: ${body.provider} has`)
      }
      expect((await org.run({ ...verify(), routing: { strategy: "cheapest" } })).body.provider).toBe("leadmagic")
    })

    test("pins a provider, quotes it alone, and never falls back", async () => {
      const good = await org.run({ ...verify(), routing: { provider: "hunter" } })
      expect(good.body).toMatchObject({
        status: "succeeded",
        provider: "hunter",
        billing: { quoted: "0.0147", charged: "0.0147" }
      })
      expect(good.body.routing_reason).toContain("pinned to hunter")
      const bad = await org.run({
        ...rehearse("error_once"),
        routing: { provider: "zerobounce", allow_fallback: true }
      })
      expect(bad.status).toBe(502)
      expect(providers(bad.body)).toEqual(["zerobounce"])
      expect(bad.body.billing).toMatchObject({ quoted: "0.0096", charged: null })
      expect(bad.body.hints).toEqual([expect.stringContaining("routing.provider is zerobounce")])
    })

    test("does not fall back when told not to", async () => {
      const { status, body } = await org.run({ ...rehearse("error_once"), routing: { allow_fallback: false } })
      expect(status).toBe(502)
      expect(body.attempts).toHaveLength(1)
      expect(body.hints).toEqual([expect.stringContaining("allow_fallback")])
    })

    test("leaves offers above max_cost out, and says so when the rest fails", async () => {
      const { status, body } = await org.run({ ...rehearse("error"), routing: { max_cost: "0.0045" } })
      expect(status).toBe(502)
      expect(providers(body)).toEqual(["leadmagic", "millionverifier"])
      expect(body.billing.quoted).toBe("0.00444")
      expect(body.error.message).toContain("hunter ($0.0147)")
      expect(body.hints).toEqual([expect.stringContaining("hunter at $0.0147")])
    })

    test("refuses a cap below every offer without an attempt, a run or a hold", async () => {
      const before = await org.ledger()
      const runs = (await org.list("?limit=1")).body.items[0].run_id
      const { status, body } = await org.run({ ...verify(), routing: { max_cost: "0.0029" } })
      expect(status).toBe(409)
      expect(body.error.code).toBe("provider_not_available")
      expect(body.error.details).toHaveLength(9)
      expect(body.error.details[0]).toEqual({ path: "routing.max_cost", message: expect.stringContaining("$0.0147") })
      expect(await org.ledger()).toEqual(before)
      expect((await org.list("?limit=1")).body.items[0].run_id).toBe(runs)
    })

    test("refuses a provider that does not serve the capability", async () => {
      const { status, body } = await org.run({ ...verify(), routing: { provider: "serper" } })
      expect(status).toBe(400)
      expect(body.error.details).toEqual([{ path: "routing.provider", message: expect.stringContaining("hunter") }])
    })
  })

  describe("response", () => {
    test("holds the raw payload only when it was asked for", async () => {
      expect((await org.run(verify())).body.result.raw).toBeUndefined()
      expect((await org.run({ ...verify(), response: { include_raw: false } })).body.result.raw).toBeUndefined()
      const { body } = await org.run({ ...verify(), response: { include_raw: true } })
      expect(body.result.raw).toMatchObject({ provider: "leadmagic", payload: { email: "jane.doe@example.com" } })
      expect(body.result.email).toBe("jane.doe@example.com")
    })

    test("is the same for the same question", async () => {
      const [one, other] = await Promise.all([org.run(find("Ada Lovelace")), org.run(find("Ada Lovelace"))])
      expect(one?.body.result).toEqual(other?.body.result)
      expect(one?.body.run_id).not.toBe(other?.body.run_id)
    })
  })

  describe("scenarios", () => {
    const failing = [
      { word: "error", status: 502, ends: "failed", code: "provider_error", outcome: "provider_error" },
      { word: "rate_limited", status: 502, ends: "failed", code: "provider_error", outcome: "provider_rate_limited" },
      { word: "malformed", status: 502, ends: "failed", code: "provider_error", outcome: "invalid_response" },
      { word: "timeout", status: 504, ends: "timed_out", code: "provider_timeout", outcome: "provider_timeout" }
    ] as const
    // A timeout takes three seconds and does not depend on the queues.
    const everywhere = backend === "postgres" ? failing : failing.filter((one) => one.word !== "timeout")
    test.each(everywhere)(
      "$word: three attempts, $status, nothing charged",
      async ({ word, status, ends, code, outcome }) => {
        const before = await org.wallet()
        const answer = await org.run(rehearse(word))
        expect(answer.status).toBe(status)
        expect(answer.body).toMatchObject({ status: ends, error: { code }, done: true, billing: { charged: null } })
        expect(answer.body.error.message).toContain("Nothing was charged")
        expect(outcomes(answer.body)).toEqual([outcome, outcome, outcome])
        expect(new Set(providers(answer.body)).size).toBe(3)
        expect(answer.body.attempts.every((one: { detail: unknown }) => typeof one.detail === "string")).toBe(true)
        expect(answer.body.result).toBeUndefined()
        expect(await org.wallet()).toEqual(before)
        if (word === "rate_limited") expect(answer.body.hints.join(" ")).toContain("rate limited")
        expect((await org.get(answer.body.poll_url)).status).toBe(200)
      }
    )

    test.each(everywhere)("$word once: the next provider delivers and alone is charged", async ({ word, outcome }) => {
      const { status, body } = await org.run(rehearse(`${word}_once`))
      expect(status).toBe(200)
      expect(outcomes(body)).toEqual([outcome, "succeeded"])
      expect(providers(body)).toEqual(["leadmagic", "millionverifier"])
      expect(body).toMatchObject({ provider: "millionverifier", billing: { charged: "0.00444" } })
    })

    test("no_match, unbilled: falls through, 404, releases the hold, and says what to try", async () => {
      const before = await org.wallet()
      const { status, body } = await org.run(find("sandbox:no_match Doe"))
      expect(status).toBe(404)
      expect(body).toMatchObject({ status: "no_match", error: { code: "no_match" }, billing: { charged: null } })
      expect(outcomes(body)).toEqual(["no_match", "no_match", "no_match"])
      expect(body.hints.length).toBeGreaterThan(0)
      expect(await org.wallet()).toEqual(before)
      const once = await org.run(find("sandbox:no_match_once Doe"))
      expect([once.status, outcomes(once.body)]).toEqual([200, ["no_match", "succeeded"]])
    })

    test("no_match, billed: the first authoritative answer is charged and ends the run", async () => {
      const { status, body } = await org.run(rehearse("no_match"))
      expect(status).toBe(404)
      expect(body).toMatchObject({ status: "no_match", error: { code: "no_match" }, billing: { charged: "0.003" } })
      expect(outcomes(body)).toEqual(["no_match"])
    })

    test("partial: one result fewer, and one result cheaper", async () => {
      const search = (word: string) => ({ capability: "people.search", input: { titles: [word], limit: 4 } })
      const all = await org.run(search("head of sales"))
      const part = await org.run(search("sandbox:partial"))
      expect([all.body.result.items.length, part.body.result.items.length]).toEqual([4, 3])
      expect([all.body.billing.charged, part.body.billing.charged]).toEqual(["0.012", "0.009"])
    })

    test("slow_1: succeeds after a second", async () => {
      const { value, millis } = await timed(() => org.run(find("Jane Doe", "slow-1.sandbox.test")))
      expect(value.body.status).toBe("succeeded")
      expect(millis).toBeGreaterThanOrEqual(1_000)
      expect(value.body.timing.duration_ms).toBeGreaterThanOrEqual(1_000)
    })

    test("a run that contacts somebody is tried again only where the provider surely did nothing", async () => {
      for (const word of ["error", "timeout", "malformed"]) {
        const { status, body } = await org.run(send(`${word}@sandbox.test`))
        expect([status, body.status, body.error.code]).toEqual([502, "failed", "outcome_unknown"])
        expect(body.attempts).toMatchObject([{ outcome: "outcome_unknown" }])
        expect(body.billing.charged).toBeNull()
      }
      const limited = await org.run(send("rate_limited@sandbox.test"))
      expect([limited.status, limited.body.error.code]).toEqual([502, "provider_error"])
      const outcomes = limited.body.attempts.map(({ outcome }: { readonly outcome: string }) => outcome)
      expect(outcomes).toEqual(["provider_rate_limited", "provider_rate_limited"])
    })
  })

  describe("Idempotency-Key", () => {
    test("replays the run: nothing is executed or billed again", async () => {
      const key = { "idempotency-key": crypto.randomUUID() }
      const first = await org.run(verify(), key)
      expect(first.headers.get("idempotent-replay")).toBeNull()
      const before = await org.ledger()
      const again = await org.run(verify(), key)
      expect(again.status).toBe(200)
      expect(again.headers.get("idempotent-replay")).toBe("true")
      expect(again.body).toEqual(first.body)
      expect(again.headers.get("x-request-id")).not.toBe(first.body.request_id)
      expect(await org.ledger()).toEqual(before)
    })

    test("replays a failure with its status", async () => {
      const key = { "idempotency-key": crypto.randomUUID() }
      const first = await org.run(rehearse("error"), key)
      const again = await org.run(rehearse("error"), key)
      expect([first.status, again.status]).toEqual([502, 502])
      expect(again.headers.get("idempotent-replay")).toBe("true")
      expect(again.body).toEqual(first.body)
    })

    test("joins concurrent first calls into one run", async () => {
      const key = { "idempotency-key": crypto.randomUUID() }
      const answers = await Promise.all(Array.from({ length: 20 }, () => org.run(rehearse("slow_1"), key)))
      expect(new Set(answers.map((one) => one.body.run_id)).size).toBe(1)
      expect(answers.map((one) => one.status)).toEqual(answers.map(() => 200))
      expect(answers.filter((one) => one.headers.get("idempotent-replay") !== "true")).toHaveLength(1)
    })

    test("ignores the order of fields, nulls and how long a client waits", async () => {
      const key = { "idempotency-key": crypto.randomUUID() }
      const { capability, input } = verify()
      const first = await org.run({ capability, input, routing: { provider: "hunter", max_cost: "1.00" } }, key)
      const again = await org.run(
        { wait_seconds: 3, query: null, routing: { max_cost: "1.00", provider: "hunter" }, input, capability },
        key
      )
      expect(again.body.run_id).toBe(first.body.run_id)
      const pending = await org.run(
        { ...rehearseHeld(), async: true },
        { "idempotency-key": `${key["idempotency-key"]}.` }
      )
      await held.holds(1)
      const waiting = org.run(rehearseHeld(), { "idempotency-key": `${key["idempotency-key"]}.` })
      held.release()
      const waited = await waiting
      expect([pending.status, waited.status]).toEqual([202, 200])
      expect(waited.body.run_id).toBe(pending.body.run_id)
    })

    test("refuses another body under the same key", async () => {
      const key = { "idempotency-key": crypto.randomUUID() }
      const first = await org.run(verify(), key)
      for (const other of [
        verify("john"),
        { ...verify(), routing: { max_cost: "1.00" } },
        { ...verify(), response: { include_raw: true } }
      ]) {
        const { status, body, headers } = await org.run(other, key)
        expect([status, body.error.code]).toEqual([422, "idempotency_key_reused"])
        expect(body.error.message).toContain(first.body.run_id)
        expect(headers.get("idempotent-replay")).toBeNull()
      }
    })

    test("belongs to one organization", async () => {
      const key = { "idempotency-key": crypto.randomUUID() }
      const other = await app.tenant("1.00")
      const [mine, theirs] = [await org.run(verify(), key), await other.run(verify("john"), key)]
      expect([mine.status, theirs.status]).toEqual([200, 200])
      expect(theirs.headers.get("idempotent-replay")).toBeNull()
      expect(theirs.body.run_id).not.toBe(mine.body.run_id)
    })

    test("stores nothing for a call that was refused before a run existed", async () => {
      const key = { "idempotency-key": crypto.randomUUID() }
      expect((await org.run({ ...verify(), routing: { max_cost: "0.0001" } }, key)).status).toBe(409)
      expect((await org.run({ capability: "email.verify", input: {} }, key)).status).toBe(400)
      const { status, headers } = await org.run(verify(), key)
      expect([status, headers.get("idempotent-replay")]).toEqual([200, null])
    })

    test("is 1 to 255 visible ASCII characters, quoted or bare", async () => {
      for (const bad of ["", "a".repeat(256), "a b", "café"]) {
        const { status, body } = await org.run(verify(), { "idempotency-key": bad })
        expect(status).toBe(400)
        expect(body.error.details[0].path).toBe("headers.idempotency-key")
      }
      const bare = await org.run(verify(), { "idempotency-key": "b".repeat(255) })
      const quoted = await org.run(verify(), { "idempotency-key": `"${"b".repeat(255)}"` })
      expect([bare.status, quoted.body.run_id]).toEqual([200, bare.body.run_id])
    })
  })

  test("records a run that the wallet can't pay, and moves no money", async () => {
    const poor = await app.tenant("0.004")
    const { status, body } = await poor.run(verify())
    expect(status).toBe(402)
    expect(body).toMatchObject({
      status: "failed",
      error: { code: "insufficient_balance" },
      attempts: [],
      done: true,
      billing: { charged: null }
    })
    expect(body.error.message).toContain("0.004")
    expect((await poor.get(`/v1/runs/${body.run_id}`)).body).toEqual(body)
    expect((await poor.ledger()).map((one) => one.type)).toEqual(["bonus"])
    expect((await poor.run({ ...verify(), routing: { max_cost: "0.0035" } })).status).toBe(200)
  })

  test("runs on when the client hangs up", async () => {
    const hangUp = new AbortController()
    const gone = org.post("/v1/run", rehearseHeld(), {
      signal: hangUp.signal,
      headers: { "idempotency-key": "hung-up" }
    })
    const caught = gone.catch((error: Error) => error.name)
    await held.holds(1)
    hangUp.abort()
    expect(await caught).toBe("AbortError")
    const again = org.run(rehearseHeld(), { "idempotency-key": "hung-up" })
    held.release()
    const { body, headers } = await again
    expect(body.status).toBe("succeeded")
    expect(headers.get("idempotent-replay")).toBe("true")
  })

  test("notes within seconds that the key was used", async () => {
    const [key] = await until(
      "last_used_at is set",
      async () => (await org.get("/v1/api-keys")).body.items,
      (items) => items[0].last_used_at !== null
    )
    expect(Math.abs(Date.now() - Date.parse(key.last_used_at))).toBeLessThan(60_000)
  })

  if (backend === "postgres") {
    const refused = [
      ["nothing to run", { input: {} }, 400, "invalid_request", "capability"],
      ["an unknown capability", { capability: "mind.read", input: {} }, 404, "capability_not_found", null],
      ["a provider beside a capability", { ...verify(), provider: "hunter" }, 400, "invalid_request", "provider"],
      ["an endpoint beside a capability", { ...verify(), endpoint: "/x" }, 400, "invalid_request", "endpoint"],
      ["a path beside a capability", { ...verify(), path: {} }, 400, "invalid_request", "path"],
      ["a query beside a capability", { ...verify(), query: {} }, 400, "invalid_request", "query"],
      ["a method beside a capability", { ...verify(), method: "GET" }, 400, "invalid_request", "method"],
      ["a provider alone", { provider: "hunter", input: {} }, 400, "invalid_request", "endpoint"],
      ["an endpoint alone", { endpoint: "/x", input: {} }, 400, "invalid_request", "provider"],
      ["no input", { capability: "email.verify" }, 400, "invalid_request", "input"],
      ["an input that lacks a field", { capability: "email.verify", input: {} }, 400, "invalid_request", "input.email"],
      ["an input that is no object", { capability: "email.verify", input: "x" }, 400, "invalid_request", "input"],
      [
        "an input with an unknown field",
        { ...verify(), input: { ...verify().input, emial: 1 } },
        400,
        "invalid_request",
        "input.emial"
      ],
      ["an unknown field", { ...verify(), max_cost: "1.00" }, 400, "invalid_request", "max_cost"],
      [
        "an unknown field in routing",
        { ...verify(), routing: { maxcost: "1.00" } },
        400,
        "invalid_request",
        "routing.maxcost"
      ],
      [
        "an unknown strategy",
        { ...verify(), routing: { strategy: "luckiest" } },
        400,
        "invalid_request",
        "routing.strategy"
      ],
      ["a number for money", { ...verify(), routing: { max_cost: 1 } }, 400, "invalid_request", "routing.max_cost"],
      [
        "an exponent in money",
        { ...verify(), routing: { max_cost: "1e3" } },
        400,
        "invalid_request",
        "routing.max_cost"
      ],
      ["a negative cap", { ...verify(), routing: { max_cost: "-1.00" } }, 400, "invalid_request", "routing.max_cost"],
      ["a wait that is too long", { ...verify(), wait_seconds: 121 }, 400, "invalid_request", "wait_seconds"],
      ["a wait that is a fraction", { ...verify(), wait_seconds: 1.5 }, 400, "invalid_request", "wait_seconds"],
      ["a body that is a list", [], 400, "invalid_request", ""]
    ] as const
    test.each(refused)("refuses %s", async (_name, asked, status, code, path) => {
      const answer = await org.post("/v1/run", asked)
      expect([answer.status, answer.body.error.code]).toEqual([status, code])
      expect(answer.body.request_id).toBe(answer.headers.get("x-request-id"))
      expect(answer.body.error.message.length).toBeGreaterThan(10)
      if (path !== null) expect(answer.body.error.details.map((one: { path: string }) => one.path)).toContain(path)
    })

    test("refuses a raw endpoint that is not in the catalog", async () => {
      const { status, body } = await org.run({ provider: "hunter", endpoint: "/v2/nothing", input: {} })
      expect([status, body.error.code]).toEqual([404, "endpoint_not_found"])
    })

    test("refuses what is not JSON", async () => {
      for (const raw of ["", "{", "nul", "\u0000"]) {
        const { status, body } = await org.post("/v1/run", undefined, {
          raw,
          headers: { "content-type": "application/json" }
        })
        expect([status, body.error.code]).toEqual([400, "invalid_request"])
      }
      const text = await org.post("/v1/run", undefined, {
        raw: JSON.stringify(verify()),
        headers: { "content-type": "text/plain" }
      })
      expect([text.status, text.body.error.code]).toEqual([415, "unsupported_media_type"])
    })

    test("refuses a body above 1 MiB and takes one just below", async () => {
      const big = (bytes: number) => JSON.stringify({ ...verify(), padding: "x".repeat(bytes) })
      const above = await org.post("/v1/run", undefined, { raw: big(1024 * 1024) })
      expect([above.status, above.body.error.code]).toEqual([413, "payload_too_large"])
      const chunked = await fetch(`${app.url}/v1/run`, {
        method: "POST",
        headers: { authorization: `Bearer ${org.key}`, "content-type": "application/json" },
        body: new Blob([big(1024 * 1024)]).stream()
      })
      expect([chunked.status, (await chunked.json()).error.code]).toEqual([413, "payload_too_large"])
      const below = await org.post("/v1/run", undefined, { raw: big(1024 * 1024 - 200) })
      expect([below.status, below.body.error.details[0].path]).toEqual([400, "padding"])
    })
  }
})
