/**
 * Raw runs of actors, and what other raw endpoints measure, over real HTTP: what is asked, what a restart resumes, what is
 * delivered and what it costs.
 */
import { afterAll, describe, expect, test } from "bun:test"
import { Clock, Duration, Effect, Layer, type Schema } from "effect"
import type { RawProvider } from "../../src/layers/catalog/Endpoints.ts"
import { ProviderAccounts } from "../../src/layers/provideraccounts/ProviderAccounts.ts"
import { Breakers } from "../../src/layers/executor/Breakers.ts"
import { HttpProviders } from "../../src/layers/executor/HttpProviders.ts"
import { Providers, type RawAnswer, type RawCall } from "../../src/layers/executor/Providers.ts"
import { apify } from "../../src/layers/providers/apify/index.ts"
import { cost } from "../../src/layers/providers/kit/outcome.ts"
import { aloneWithProviders } from "../kit/provider-shares.ts"
import { Settings } from "../../src/layers/platform/Settings.ts"
import { type Provider, provider } from "../../src/schema/catalog/Provider.ts"

interface Asked {
  readonly line: string
  readonly query: Readonly<Record<string, string>>
  readonly authorization: string | null
  readonly body: string
}
type Handler = (request: { readonly path: string; readonly query: URLSearchParams }) => Response

let handler: Handler = () => new Response(null, { status: 599 })
let asked: Array<Asked> = []
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async (request) => {
    const { pathname, searchParams } = new URL(request.url)
    const body = await request.text()
    const authorization = request.headers.get("authorization")
    asked.push({
      line: `${request.method} ${pathname}`,
      query: Object.fromEntries(searchParams),
      authorization,
      body
    })
    return handler({ path: pathname, query: searchParams })
  }
})
afterAll(() => server.stop(true))

/** The pauses between two questions take no time; the deadline of the whole does. */
const hasty = Effect.map(
  Clock.clockWith(Effect.succeed),
  (clock): Clock.Clock => ({
    currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe(),
    currentTimeMillis: clock.currentTimeMillis,
    currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
    currentTimeNanos: clock.currentTimeNanos,
    monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: clock.monotonicTimeNanos,
    sleep: (duration) => {
      const millis = Duration.toMillis(duration)
      slept.push(millis)
      return millis <= 10_000 ? Effect.yieldNow : clock.sleep(duration)
    }
  })
)
let slept: Array<number> = []

const rawProvider = (one: Provider): RawProvider => ({
  slug: one.slug,
  title: one.title,
  homepage: one.homepage,
  status: "live",
  excluded: null,
  free: one.free,
  provider: one,
  document: null,
  endpoints: [],
  byPath: new Map(),
  retired: []
})

const plan: RawCall["raw"] = {
  method: "POST",
  endpoint: "someone/some-actor",
  path: "someone/some-actor",
  query: [],
  body_type: "actor_input",
  encoding: "json",
  has_body: true,
  hold: "0.75",
  estimate: null
}

interface Played {
  readonly answer: RawAnswer
  readonly kept: ReadonlyArray<Schema.Json>
}

const layerFor = (one: Provider) =>
  HttpProviders.pipe(
    Layer.provide(Layer.mergeAll(Breakers.layer, aloneWithProviders, Layer.mock(ProviderAccounts, {}))),
    Layer.provide(
      Settings.layerFrom({
        [`RUNGATE_PROVIDER_${one.slug.toUpperCase()}_API_KEY`]: "s3cret",
        [`RUNGATE_PROVIDER_${one.slug.toUpperCase()}_BASE_URL`]: `http://127.0.0.1:${server.port}`
      })
    )
  )

const play = async (
  answers: Handler,
  given: Partial<Pick<RawCall, "raw" | "input" | "state">> & { readonly leased?: boolean; readonly of?: Provider } = {}
): Promise<Played> => {
  handler = answers
  asked = []
  slept = []
  const { leased = true, of = apify, raw = plan, input = { q: "x" }, state = null } = given
  const kept: Array<Schema.Json> = []
  const keep = (state: Schema.Json) =>
    Effect.sync(() => {
      kept.push(state)
      return leased
    })
  const call: RawCall = {
    run_id: "run_1",
    org_id: "org_1",
    own: false,
    provider: rawProvider(of),
    raw,
    input,
    input_text: JSON.stringify(input),
    state,
    keep
  }
  const work = Effect.gen(function* () {
    const clock = yield* hasty
    return yield* Providers.use((providers) => providers.callRaw(call)).pipe(Effect.provideService(Clock.Clock, clock))
  })
  const { answer } = await Effect.runPromise(work.pipe(Effect.provide(layerFor(of))))
  return { answer, kept }
}

/** Answers in turn; the last one repeats. */
const inTurn = (...answers: ReadonlyArray<() => Response>): (() => Response) => {
  let next = 0
  return () => (answers[Math.min(next++, answers.length - 1)] ?? expect.unreachable())()
}
const json = (body: unknown, status = 200, headers: Record<string, string> = {}) =>
  new Response(typeof body === "string" ? body : JSON.stringify(body), { status, headers })
const run = (status: string, more: Readonly<Record<string, unknown>> = {}) =>
  json({
    data: { id: "HG7ML7M8z78YcAPEB", status, defaultDatasetId: "wmKPijuyDnPZAPRMk", usageTotalUsd: 0.0421, ...more }
  })

interface Parts {
  readonly start?: () => Response
  readonly ask?: () => Response
  readonly items?: Handler
}
const apifyPlays =
  ({ start, ask, items }: Parts): Handler =>
  (request) => {
    if (request.path === "/v2/acts/someone~some-actor/runs") return (start ?? (() => run("READY")))()
    if (request.path === "/v2/actor-runs/HG7ML7M8z78YcAPEB") return (ask ?? (() => run("SUCCEEDED")))()
    if (request.path === "/v2/datasets/wmKPijuyDnPZAPRMk/items")
      return (items ?? (() => json('[{"n": 1.0}, {"n":12345678901234567890}]')))(request)
    return new Response(null, { status: 404 })
  }
const lines = () => asked.map(({ line }) => line)
const starts = () => lines().filter((line) => line.startsWith("POST")).length

describe("a raw run of an actor", () => {
  test("starts it with the caller's input and the hold as its cap, waits, and delivers its items untouched", async () => {
    const input = { startUrls: [{ url: "https://example.com" }], maxItems: 3 }
    const { answer, kept } = await play(
      apifyPlays({
        ask: inTurn(
          () => run("RUNNING", { usageTotalUsd: null }),
          () => run("SUCCEEDED")
        )
      }),
      { input }
    )
    expect(answer).toEqual({
      _tag: "Delivered",
      data: '[{"n": 1.0}, {"n":12345678901234567890}]',
      measured: 42_100n as never
    })
    expect(lines()).toEqual([
      "POST /v2/acts/someone~some-actor/runs",
      "GET /v2/actor-runs/HG7ML7M8z78YcAPEB",
      "GET /v2/actor-runs/HG7ML7M8z78YcAPEB",
      "GET /v2/datasets/wmKPijuyDnPZAPRMk/items"
    ])
    expect(asked[0]).toMatchObject({
      // Ended by the platform before this attempt's own deadline of 300 seconds.
      query: { maxTotalChargeUsd: "0.75", timeout: "270", forcePermissionLevel: "LIMITED_PERMISSIONS" },
      authorization: "Bearer s3cret",
      body: JSON.stringify(input)
    })
    expect(asked[1]?.query).toEqual({ waitForFinish: "30" })
    expect(asked[3]?.query).toEqual({ clean: "true", format: "json", limit: "1000" })
    expect(kept).toEqual([{ run: "HG7ML7M8z78YcAPEB", dataset: null, cost: null, item_price: null, misses: 0 }])
  })

  test("resumes from what was stored and starts nothing", async () => {
    const first = await play(apifyPlays({ ask: () => run("FAILED") }))
    const { answer, kept } = await play(apifyPlays({}), { state: first.kept[0] ?? null })
    expect(answer._tag).toBe("Delivered")
    expect(starts()).toBe(0)
    expect(kept).toEqual([])
  })

  test("asks no further when the run is another worker's", async () => {
    const { answer } = await play(apifyPlays({}), { leased: false })
    expect(answer).toMatchObject({ _tag: "Failure", reason: "provider_error" })
    expect(lines()).toEqual(["POST /v2/acts/someone~some-actor/runs"])
  })

  test.each(["{}", '{"run":7}', '{"run":"../users/me"}', "[]", '"HG7ML7M8z78YcAPEB"'])(
    "starts nothing when what was stored is %p",
    async (state) => {
      const { answer } = await play(apifyPlays({}), { state: JSON.parse(state) })
      expect(answer).toMatchObject({ _tag: "Failure", reason: "provider_error" })
      expect(asked).toEqual([])
    }
  )

  test("never starts without money", async () => {
    const { answer } = await play(apifyPlays({}), { raw: { ...plan, hold: "0.00" } })
    expect(answer._tag).toBe("Failure")
    expect(asked).toEqual([])
  })

  test.each([
    ["FAILED", "provider_error"],
    ["ABORTED", "provider_error"],
    ["TIMED-OUT", "provider_timeout"]
  ])("that ends as %s is a failure and says why", async (status, reason) => {
    const { answer } = await play(apifyPlays({ ask: () => run(status, { statusMessage: "Actor went wrong" }) }))
    expect(answer).toEqual({
      _tag: "Failure",
      reason,
      detail: `the actor's run ended as ${status}: Actor went wrong`
    } as never)
    expect(lines().some((line) => line.includes("/datasets/"))).toBe(false)
  })

  test.each([
    [400, "provider_rejected"],
    [401, "provider_account"],
    [402, "provider_account"],
    [403, "provider_account"],
    [404, "provider_rejected"],
    [408, "provider_timeout"],
    [413, "provider_rejected"],
    [429, "provider_rate_limited"],
    [500, "provider_error"]
  ])("whose start is answered %i is %s, and is not started again", async (status, reason) => {
    const { answer } = await play(
      apifyPlays({ start: () => json({ error: { type: "x", message: "Not like this" } }, status) })
    )
    const credits = status === 402 ? { outOfCredits: true } : {}
    expect(answer).toEqual({ _tag: "Failure", reason, detail: `HTTP ${status}: Not like this`, ...credits } as never)
    expect(lines().length).toBe(1)
  })

  test.each([
    ["no JSON", () => new Response("<html>")],
    ["no run", () => json({ data: {} })],
    ["an id that is a path", () => run("READY", { id: "../../users/me" })],
    ["an unheard-of status", () => run("MELTED")],
    ["an end without a dataset", () => run("SUCCEEDED", { defaultDatasetId: null })]
  ])("whose start answers %s can't be read", async (_name, start) => {
    const { answer } = await play(apifyPlays({ start }))
    expect(answer).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
  })

  test("outlives questions that fail, within bounds", async () => {
    const bad = () => json({ error: { message: "later" } }, 502)
    const slow = () => json({ error: { message: "later" } }, 429)
    const recovered = await play(apifyPlays({ ask: inTurn(bad, slow, bad, () => run("SUCCEEDED")) }))
    expect(recovered.answer._tag).toBe("Delivered")
    const lost = await play(apifyPlays({ ask: bad }))
    expect(lost.answer).toMatchObject({ _tag: "Failure", reason: "provider_error" })
    expect(asked.length).toBe(7)
    expect(starts()).toBe(1)
    // A refused question is none that time heals.
    await play(apifyPlays({ ask: () => json({ error: { message: "gone" } }, 404) }))
    expect(asked.length).toBe(2)
  })
})

describe("an actor's items", () => {
  const item = (index: number) => `{"n":${index}}`
  const paged =
    (total: number, told = true): Handler =>
    ({ query }) => {
      const from = Number(query.get("offset") ?? 0)
      const to = Math.min(total, from + Number(query.get("limit")))
      const items = Array.from({ length: Math.max(0, to - from) }, (_, index) => item(from + index))
      return json(`[${items.join(",")}]`, 200, told ? { "x-apify-pagination-total": String(total) } : {})
    }

  test.each([
    [0, true],
    [0, false],
    [999, true],
    [2_500, true],
    [2_500, false]
  ])("are read page by page: %i of them (total told: %p)", async (total, told) => {
    const { answer } = await play(apifyPlays({ items: paged(total, told) }))
    if (answer._tag !== "Delivered") return expect.unreachable()
    expect(JSON.parse(answer.data)).toEqual(Array.from({ length: total }, (_, n) => ({ n })))
    expect(answer.note).toBeUndefined()
  })

  test("are cut at a limit, and the caller is told", async () => {
    const { answer } = await play(apifyPlays({ items: paged(50_000) }))
    if (answer._tag !== "Delivered") return expect.unreachable()
    expect(JSON.parse(answer.data).length).toBe(20_000)
    expect(answer.note).toBe(
      "the marketplace actor's dataset wmKPijuyDnPZAPRMk has 50000 items; only the first 20000 are delivered; set a lower limit in its input"
    )
    expect(asked.length).toBe(22)
  })

  test("are cut before they are larger than one answer may be", async () => {
    const wide = JSON.stringify({ text: "x".repeat(9_990) })
    const items: Handler = ({ query }) =>
      json(
        `[${Array(Number(query.get("limit")))
          .fill(wide)
          .join(",")}]`,
        200,
        { "x-apify-pagination-total": "9000" }
      )
    const { answer } = await play(apifyPlays({ items }))
    if (answer._tag !== "Delivered") return expect.unreachable()
    expect(JSON.parse(answer.data).length).toBe(3_000)
    expect(answer.note).toContain("has 9000 items; only the first 3000 are delivered")
  })

  test("are asked for in smaller pages when a page is too large or fails", async () => {
    const wide = JSON.stringify({ text: "x".repeat(99_990) })
    const items: Handler = ({ query }) => {
      const left = 120 - Number(query.get("offset") ?? 0)
      const count = Math.min(left, Number(query.get("limit")))
      return Number(query.get("limit")) > 100
        ? json({ error: { message: "too much" } }, 500)
        : json(`[${Array(count).fill(wide).join(",")}]`, 200, { "x-apify-pagination-total": "120" })
    }
    const { answer } = await play(apifyPlays({ items }))
    if (answer._tag !== "Delivered") return expect.unreachable()
    expect(JSON.parse(answer.data).length).toBe(120)
    expect(asked.slice(2).map(({ query }) => [query.limit, query.offset])).toEqual([
      ["1000", undefined],
      ["100", undefined],
      ["100", "100"]
    ])
  })

  test("that can't be read are a failure: nobody pays for half of them", async () => {
    const broken = await play(apifyPlays({ items: () => json({ not: "a list" }) }))
    expect(broken.answer).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
    expect(asked.length).toBe(2 + 4)
  })

  test("of a server that knows no pages are read once", async () => {
    const all = `[${Array.from({ length: 1_500 }, (_, index) => item(index)).join(",")}]`
    const { answer } = await play(apifyPlays({ items: () => json(all) }))
    if (answer._tag !== "Delivered") return expect.unreachable()
    expect(answer.data).toBe(all)
  })
})

describe("what an actor's run has cost", () => {
  const events = (counts: Record<string, number>, more: Readonly<Record<string, unknown>> = {}) => ({
    usageTotalUsd: null,
    chargedEventCounts: counts,
    pricingInfo: {
      pricingModel: "PAY_PER_EVENT",
      pricingPerEvent: {
        actorChargeEvents: {
          "apify-actor-start": { eventPriceUsd: 0.00005 },
          profile: { eventPriceUsd: 0.004 },
          tiered: { eventTieredPricingUsd: {} }
        }
      }
    },
    ...more
  })
  const perItem = {
    usageTotalUsd: null,
    pricingInfo: { pricingModel: "PRICE_PER_DATASET_ITEM", pricePerUnitUsd: 0.0003 }
  }
  const cases: ReadonlyArray<[string, Readonly<Record<string, unknown>>, bigint | null]> = [
    ["its usage", { usageTotalUsd: 0.2654 }, 265_400n],
    ["its usage, rounded up", { usageTotalUsd: 0.0000001 }, 1n],
    ["its events, when it shows no usage", events({ "apify-actor-start": 1, profile: 2 }), 8_050n],
    ["the larger of both", events({ "apify-actor-start": 1, profile: 2 }, { usageTotalUsd: 0.004 }), 8_050n],
    ["the larger of both", events({ profile: 1 }, { usageTotalUsd: 0.01 }), 10_000n],
    ["its items, when each has a price", perItem, 600n],
    ["nothing, when it says so twice", { usageTotalUsd: 0 }, 0n],
    ["unknown, when an event has no price", events({ tiered: 1 }), null],
    ["unknown, when it says nothing", { usageTotalUsd: null }, null],
    ["unknown, when it is nonsense", { usageTotalUsd: -1 }, null],
    ["unknown, when it is nonsense", { usageTotalUsd: 1e308 }, null],
    ["unknown, when it is nonsense", { usageTotalUsd: "NaN" }, null],
    ["unknown, when counts are nonsense", events({ profile: -2 }), null]
  ]
  test.each(cases)("%s", async (_name, more, expected) => {
    const { answer } = await play(apifyPlays({ ask: () => run("SUCCEEDED", more) }))
    expect(answer).toMatchObject({ _tag: "Delivered", measured: expected as never })
  })

  test("is asked for again when the run has only just ended and shows none yet", async () => {
    const ask = inTurn(
      () => run("SUCCEEDED", { usageTotalUsd: 0 }),
      () => run("SUCCEEDED", { usageTotalUsd: 0.03 })
    )
    const { answer } = await play(apifyPlays({ ask }))
    expect(answer).toMatchObject({ measured: 30_000n as never })
    expect(slept).toContain(10_000)
  })

  test("stays what it was when asking again fails", async () => {
    const ask = inTurn(
      () => run("SUCCEEDED", { usageTotalUsd: 0 }),
      () => new Response(null, { status: 500 })
    )
    const { answer } = await play(apifyPlays({ ask }))
    expect(answer).toMatchObject({ _tag: "Delivered", measured: 0n as never })
  })
})

describe("what another raw endpoint has cost", () => {
  const named = (credit: string | undefined): Provider =>
    provider({
      slug: "credits",
      title: "Credits",
      homepage: "https://example.com",
      base_url: "https://api.example.com",
      auth: { kind: "bearer" },
      concurrency: 1,
      timeoutMillis: 20_000,
      offers: [],
      measured: ({ headers }) => cost("credit", headers["x-credits"]),
      ...(credit === undefined ? {} : { credit })
    })
  const raw: RawCall["raw"] = { ...plan, path: "/search", endpoint: "/search", body_type: "json" }
  const cases: ReadonlyArray<[string, string | undefined, bigint | null]> = [
    ["3", "0.0245", 73_500n],
    ["0.1", "0.00001", 1n],
    ["0", "0.0245", 0n],
    ["0", undefined, 0n],
    ["3", undefined, null],
    ["-3", "0.0245", null],
    ["NaN", "0.0245", null],
    ["1e308", "0.0245", null],
    ["", "0.0245", null]
  ]
  test.each(cases)("%p credits at %p are %p", async (credits, credit, expected) => {
    const { answer } = await play(() => json({ ok: 1 }, 200, { "x-credits": credits }), { raw, of: named(credit) })
    expect(answer).toEqual({ _tag: "Delivered", data: '{"ok":1}', measured: expected as never })
  })

  test("is nothing for a failure", async () => {
    const { answer } = await play(() => json({ message: "no" }, 500, { "x-credits": "3" }), { raw, of: named("1") })
    expect(answer).toMatchObject({ _tag: "Failure", reason: "provider_error" })
  })
})
