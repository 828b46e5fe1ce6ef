/**
 * Production mode from HTTP to the ledger, for every pair of a provider and a capability that has an adapter: the real
 * adapters, over real HTTP, to a server that stands in for all providers.
 *
 * What each run must ask, deliver and cost is known without the service: the adapter's own test recorded the first two, and
 * the price list says the third.
 */
import { Ajv2020 } from "ajv/dist/2020.js"
import addFormats from "ajv-formats"
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Layer } from "effect"
import { DriftTolerancePercent } from "../../../src/layers/executor/CostDrifts.ts"
import { providers } from "../../../src/layers/providers/index.ts"
import { capabilities } from "../../../src/schema/capabilities/index.ts"
import { dollars, minus, plus, times, usd, zero } from "../../../src/schema/money/Money.ts"
import { charge, priceMax } from "../../../src/schema/money/Pricing.ts"
import { type App, figures, startApp, type Tenant } from "../../kit/app.ts"
import { asShipped } from "../../kit/credit-prices.ts"
import { howMany, sampled } from "../../kit/input-samples.ts"
import { ownWhatScenesName } from "../../layers/providers/owned.ts"
import { playedScenes } from "../../layers/providers/scenes.ts"
import { broken, mistyped, odd } from "../../layers/providers/spoil.ts"
import { callsProvider } from "../../layers/providers/pairs.ts"
import { type Asked, type Recorded, runId } from "../../layers/providers/stage.ts"
import { hasten, standIn } from "../../layers/providers/standin.ts"

const pairs = providers.flatMap((provider) =>
  provider.offers.flatMap((offer) => {
    const capability = capabilities.find((one) => one.slug === offer.capability)
    return capability !== undefined && callsProvider(offer) ? [{ provider, offer, capability }] : []
  })
)
type Pair = (typeof pairs)[number]

/** How it travels is the transport's business, the account the stand-in's, and a length follows from the rest. */
const unstated = new Set(["host", "connection", "accept-encoding", "user-agent", "content-length"])
/** What the provider got, but for the account. */
const essence = (pair: Pair, { method, path, query, headers, body }: Asked) => {
  const { auth } = pair.provider
  const secrets = auth.kind === "headers" ? auth.names : auth.kind === "header" ? [auth.name] : ["authorization"]
  const hidden = new Set([...unstated, ...secrets.map((name) => name.toLowerCase())])
  const kept = Object.entries(headers).filter(([name]) => !hidden.has(name))
  // Between two parts of a form stands what nobody can foresee.
  const said = kept.map(([name, value]) => [name, value.replace(/boundary=.*$/, "boundary")])
  const all = { method, path, query, body, headers: Object.fromEntries(said) }
  return JSON.parse(JSON.stringify(all).replace(/run_[0-9a-z]{26}/g, runId))
}

/** What the service must make of a scene. */
const expected = ({ offer, capability }: Pair, { input, output }: Recorded) => {
  const judged = capability.judge(output) ?? expect.unreachable("the output has another shape")
  const demand = capability.demand(input)
  const hold = priceMax(offer.price, demand)
  const charged = charge(offer.price, capability.billing, demand, judged)
  const delivered = judged.matched || capability.billing.bills_no_match
  // The entries that explain the run, oldest first.
  const entries = [
    ...(hold > zero ? [`reserve -${usd(hold)}`] : []),
    ...(charged > zero ? [`settle -${usd(charged)}`] : []),
    ...(hold > charged ? [`release ${usd(minus(hold, charged))}`] : [])
  ]
  return { delivered, hold, charged, entries }
}

let app: App
let org: Tenant
let scenes: ReadonlyArray<Recorded>
const there = standIn()
const unhasten = hasten()
beforeAll(async () => {
  const [started, played] = await Promise.all([
    startApp({
      settings: { ...there.settings, ...asShipped },
      // The recorded costs are examples, and not what the rates say.
      limits: Layer.succeed(DriftTolerancePercent, 1e15)
    }),
    playedScenes()
  ])
  app = started
  scenes = played
  org = await app.tenant("9000.00")
  await org.post("/v1/spend-guard", { daily_limit: "9000.00" })
  await ownWhatScenesName(app, org.org_id, scenes)
})
afterAll(async () => {
  await app.stop()
  await there.stop()
  unhasten()
})

const scenesOf = ({ provider, offer, capability }: Pair) =>
  scenes.filter(
    (one) =>
      one.provider === provider.slug &&
      one.capability === capability.slug &&
      capability.issues(one.input).length === 0 &&
      offer.serves(one.input)
  )
const pinned = ({ provider, capability }: Pair, input: unknown) =>
  org.run({ capability: capability.slug, input, routing: { provider: provider.slug }, wait_seconds: 60 })

const parsed = (text: string): { readonly success: boolean; readonly data: unknown } => {
  try {
    return { success: true, data: JSON.parse(text.replace(/^\ufeff/, "")) }
  } catch {
    return { success: false, data: undefined }
  }
}

const ran: Array<{ readonly run_id: string; readonly entries: ReadonlyArray<string> }> = []
const delivering = new Set<Pair>()
let turns = 0

/** What the service adds to a mail, and no example of a provider has. */
const unsubscribeHeader =
  /,?"headers":(?:\{"List-Unsubscribe":"[^"]+","List-Unsubscribe-Post":"[^"]+"\}|\[\{"name":"List-Unsubscribe","value":"[^"]+"\},\{"name":"List-Unsubscribe-Post","value":"[^"]+"\}\])/i
const withoutUnsubscribe = (asked: object) =>
  JSON.parse(JSON.stringify(asked).replace(unsubscribeHeader, "").replace("{,", "{"))

describe("every pair of a provider and a capability delivers", () => {
  for (const pair of pairs.filter((one) => one.capability.status === "live")) {
    const { provider, capability } = pair
    test(`${provider.slug} ${capability.slug}`, async () => {
      const all = scenesOf(pair)
      const first = all.find(({ output }) => capability.judge(output)?.matched === true)
      const others = all.filter((scene) => scene !== first)
      for (const scene of [...(first === undefined ? [] : [first]), ...sampled(others, 1, turns++)]) {
        const { delivered, hold, charged, entries } = expected(pair, scene)
        there.forget()
        there.play(provider.slug, ...scene.answers)
        const { status, body } = await pinned(pair, scene.input)
        const heard = there.heard().map((one) => withoutUnsubscribe(essence(pair, one)))
        expect(heard).toEqual(scene.asked.map((one) => essence(pair, one)))
        expect(body).toMatchObject({
          status: delivered ? "succeeded" : "no_match",
          provider: provider.slug,
          billing: { quoted: usd(hold), charged: delivered ? usd(charged) : null },
          attempts: [{ provider: provider.slug, outcome: delivered ? "succeeded" : "no_match" }]
        })
        ran.push({ run_id: body.run_id, entries })
        if (!delivered) continue
        expect(status).toBe(200)
        expect(body.result).toEqual(scene.output)
        if (capability.judge(scene.output)?.matched === true) delivering.add(pair)
      }
      expect(delivering.has(pair)).toBe(true)
    })
  }
})

test("T08 hold.price_tier: a provider that answers more than was asked for costs no more than was held", async () => {
  const found = { inputs: 0, bounds: 0, greedy: 0, clipped: 0 }
  for (const pair of pairs) {
    const { offer, capability } = pair
    for (const { input } of scenesOf(pair)) {
      const demand = capability.demand(input)
      for (const results of [0, 1, 7, 1_000_000]) {
        const most = charge(offer.price, capability.billing, demand, { matched: true, results })
        expect(most <= priceMax(offer.price, demand)).toBe(true)
        found.bounds += 1
      }
      found.inputs += 1
    }
  }
  // The same answers, to a run that wants one result.
  for (const pair of pairs.filter((one) => one.offer.price.kind === "metered" && one.capability.status === "live")) {
    const { provider, offer, capability } = pair
    const one = (input: unknown) => ({ ...Object(input), limit: 1 })
    const scene = scenesOf(pair).find(
      ({ input }) => capability.issues(one(input)).length === 0 && offer.serves(one(input))
    )
    if (scene === undefined || offer.price.kind !== "metered") continue
    there.forget()
    there.play(provider.slug, ...scene.answers)
    const { body } = await pinned(pair, one(scene.input))
    if (body.status !== "succeeded") continue
    const results = capability.judge(body.result)?.results ?? expect.unreachable("no such output")
    const due = plus(offer.price.base, times(offer.price.per_result, results))
    expect(dollars(body.billing.charged) <= dollars(body.billing.quoted)).toBe(true)
    if (due > dollars(body.billing.charged)) found.clipped += 1
    found.greedy += 1
  }
  expect(found.clipped).toBe(0)
  expect(found.greedy).toBeGreaterThan(20)
  figures("T08 hold.price_tier", found)
})

/** What an adapter makes of its scene when the last answer is this text instead. */
const outcomeOf = ({ offer }: Pair, { input, answers }: Recorded, text: string) => {
  let state: any = null
  for (const [index, played] of answers.entries()) {
    const written = index === answers.length - 1 ? text : played.body
    const { success, data: body } = parsed(written)
    const reply = {
      status: played.status,
      headers: { ...played.headers },
      text: written,
      body: success ? body : undefined
    }
    const outcome = offer.response(reply, input, state)
    if (outcome._tag !== "Again") return outcome
    state = outcome.state
  }
  return null
}

describe("T36 provider.invalid_json: every pair, spoilt", () => {
  const ajv = new Ajv2020({ strict: false })
  addFormats(ajv)
  const checks = new Map(capabilities.map(({ slug, output }) => [slug, ajv.compile(output.jsonSchema)]))
  const spoilable = () =>
    pairs.flatMap((pair) => {
      const scene = scenesOf(pair).find(({ output }) => pair.capability.judge(output)?.matched === true)
      const last = scene?.answers.at(-1)
      const { status } = pair.capability
      return scene === undefined || last === undefined || status !== "live" ? [] : [{ pair, scene, last }]
    })

  test("whatever the types of its values, an adapter delivers the published shape or none", async () => {
    const found = { pairs: 0, cases: 0, delivered: 0 }
    const violations: Array<string> = []
    for (const { pair, scene, last } of spoilable()) {
      const { provider, capability } = pair
      const check = checks.get(capability.slug) ?? expect.unreachable()
      found.pairs += 1
      for (const [name, make] of Object.entries(mistyped)) {
        found.cases += 1
        const outcome = await Promise.try(() => outcomeOf(pair, scene, make(last.body))).catch(String)
        if (typeof outcome === "string") violations.push(`${provider.slug} ${capability.slug}, ${name}: ${outcome}`)
        if (typeof outcome === "string") continue
        if (outcome?._tag !== "Match") continue
        found.delivered += 1
        if (!check(outcome.output))
          violations.push(`${provider.slug} ${capability.slug}, ${name}: ${ajv.errorsText(check.errors)}`)
      }
    }
    expect(violations).toEqual([])
    expect(found.pairs).toBeGreaterThan(90)
    figures("T36 provider.invalid_json, mistyped", { ...found, violations: violations.length })
  })

  test("an answer that is no JSON fails the run and costs nothing; one that is written oddly is read", async () => {
    const found = { broken: 0, odd: 0 }
    const violations: Array<string> = []
    const before = await org.wallet()
    let spent = zero
    let turn = 0
    expect(spoilable().length).toBeGreaterThan(90)
    for (const { pair, scene, last } of sampled(spoilable(), 36)) {
      const { provider, capability } = pair
      const play = async (body: string | Uint8Array<ArrayBuffer>) => {
        there.forget()
        there.play(provider.slug, ...scene.answers.slice(0, -1), { ...last, body })
        return (await pinned(pair, scene.input)).body
      }
      const wrong = (what: string, run: unknown) =>
        violations.push(`${provider.slug} ${capability.slug}, ${what}: ${JSON.stringify(run).slice(0, 300)}`)
      const [name, make] = Object.entries(broken)[turn % Object.keys(broken).length] ?? expect.unreachable()
      const run = await play(make(last.body))
      found.broken += 1
      // Nobody knows whether what was sent was done, which may be an error of its own.
      const codes = capability.side_effect ? ["provider_error", "outcome_unknown"] : ["provider_error"]
      if (run.status !== "failed" || !codes.includes(run.error?.code) || run.billing.charged !== null) wrong(name, run)
      if (turn++ % 3 !== 0) continue
      const [oddly, rewrite] = Object.entries(odd)[((turn / 3) % 3) | 0] ?? expect.unreachable()
      const same = await play(rewrite(last.body))
      found.odd += 1
      if (same.status === "succeeded") spent = plus(spent, dollars(same.billing.charged))
      else wrong(oddly, same)
    }
    expect(violations).toEqual([])
    expect(found.broken).toBeGreaterThan(howMany(90, 35))
    expect((await org.wallet()).balance).toBe(usd(minus(dollars(before.balance), spent)))
    expect(app.logs.filter((line) => /adapter failed/.test(line))).toEqual([])
    figures("T36 provider.invalid_json, broken", { ...found, violations: violations.length })
  })
})

test("what is coming soon can't be run yet, and nobody is asked", async () => {
  there.forget()
  for (const pair of pairs.filter((one) => one.capability.status === "coming_soon")) {
    const { status, body } = await pinned(pair, scenesOf(pair)[0]?.input)
    expect([status, body.error.code, body.run_id]).toEqual([409, "provider_not_available", undefined])
    expect(body.error.message).toStartWith(`${pair.capability.slug} is coming soon`)
  }
  expect(there.heard()).toEqual([])
})

test("the ledger explains every run, and nothing went anywhere else", async () => {
  const left = new Map<string, Array<string>>()
  for (const { reference, type, amount } of [...(await org.ledger())].reverse())
    left.set(reference, [...(left.get(reference) ?? []), `${type} ${amount}`])
  for (const { run_id, entries } of ran)
    expect({ run_id, entries: left.get(run_id) ?? [] }).toEqual({ run_id, entries: [...entries] })
  expect(there.astray(app.url)).toEqual([])
  const { violations } = await app.books()
  figures("production", {
    pairs: pairs.filter((one) => one.capability.status === "live").length,
    delivered: delivering.size,
    runs: ran.length,
    violations: violations.length
  })
})
