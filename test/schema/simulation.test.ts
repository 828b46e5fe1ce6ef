/**
 * Simulations against worlds whose every answer is known: bounds contain what another policy really would have cost and delivered, and the
 * policy that was in force, with nothing changed, gives exactly what happened.
 */
import { describe, expect, test } from "bun:test"
import { atOnce } from "../../src/layers/platform/inSlices.ts"
import * as Money from "../../src/schema/money/Money.ts"
import { attemptsMax, type Metrics, rankBy, type Strategy, strategies } from "../../src/schema/runs/Routing.ts"
import type { PastOffer, PastRun } from "../../src/schema/simulation/PastRun.ts"
import type { Policy } from "../../src/schema/simulation/Policy.ts"
import { simulation } from "../../src/schema/simulation/Simulation.ts"
import { howMany } from "../kit/input-samples.ts"

const simulate = (...asked: Parameters<typeof simulation>) => atOnce(simulation(...asked))

type Outcome = "succeeded" | "inconclusive" | "no_match" | "provider_error"
/** What a provider answers to the input of a run, whoever asks it and when. */
interface Answer {
  readonly outcome: Outcome
  readonly charge: bigint
  readonly duration_ms: number
}
interface Offer extends PastOffer {
  readonly answer: Answer
}
interface Settings {
  readonly strategy: Strategy
  readonly allow_fallback: boolean
  readonly max_cost: Money.MicroUsd | null
  readonly max_total: Money.MicroUsd | null
  readonly pinned: string | null
  readonly side_effect: boolean
  readonly bills_no_match: boolean
  /** Whether the run says which answers count as a match. */
  readonly accepts: boolean
}

const random = (seed: number) => {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}

/** A run as the service does it: route, then call until one delivers. Written on its own, to compare with. */
const execute = (offers: ReadonlyArray<Offer>, settings: Settings, without: ReadonlySet<string>) => {
  const { strategy, allow_fallback, max_cost, max_total, pinned, side_effect, bills_no_match, accepts } = settings
  const usable = offers.filter(
    ({ provider, quote }) =>
      (pinned === null || provider === pinned) && !without.has(provider) && (max_cost === null || quote <= max_cost)
  )
  const ranked = usable.toSorted(rankBy(strategy))
  const attempts = pinned !== null || !allow_fallback ? 1 : attemptsMax
  const called: Array<Offer> = []
  const spare: Array<Offer> = []
  const over: Array<Offer> = []
  let total = 0n
  for (const one of ranked) {
    if (called.length === attempts) spare.push(one)
    else if (max_total !== null && total + one.quote > max_total) over.push(one)
    else {
      called.push(one)
      total += one.quote
    }
  }
  const conclusive = strategy === "highest_success_rate"
  const made: Array<{ provider: string; outcome: Outcome | "outcome_unknown"; duration_ms: number }> = []
  let fallback: Offer | null = null
  let refused: Offer | null = null
  const ended = (by: Offer | null, hit: boolean) => ({
    ...{ called, spare, over, made, hit, conclusive, provider: by?.provider ?? null },
    charged: by?.answer.charge ?? 0n,
    duration_ms: made.reduce((sum, one) => sum + one.duration_ms, 0)
  })
  for (const one of called) {
    const { outcome, duration_ms } = one.answer
    const shown = outcome === "inconclusive" && !conclusive ? "succeeded" : outcome
    // Of a failed call that acts nobody knows what it did, so no other one is called.
    const stops = side_effect && shown === "provider_error"
    made.push({ provider: one.provider, outcome: stops ? "outcome_unknown" : shown, duration_ms })
    if (stops) return ended(fallback ?? refused, fallback !== null)
    if (shown === "succeeded") return ended(one, true)
    if (shown === "inconclusive") fallback ??= one
    if (shown === "no_match" && bills_no_match) {
      if (!accepts) return ended(one, false)
      refused ??= one
    }
  }
  return ended(fallback ?? refused, fallback !== null)
}

const outcomes: ReadonlyArray<Outcome> = ["succeeded", "inconclusive", "no_match", "provider_error"]

const worldOf = (seed: number) => {
  const next = random(seed)
  const pick = <A>(from: ReadonlyArray<A>): A => from[Math.floor(next() * from.length)]!
  const amount = () => Money.MicroUsd(BigInt(1_000 + Math.floor(next() * 20) * 1_000))
  const maybe = <A>(value: () => A, share = 0.3) => (next() < share ? value() : null)
  const bills_no_match = next() < 0.3
  const offersOf = (): ReadonlyArray<Offer> =>
    Array.from({ length: 1 + Math.floor(next() * 6) }, (_, n) => {
      const quote = amount()
      const outcome = pick(outcomes)
      const charged =
        outcome === "provider_error" || (outcome === "no_match" && !bills_no_match) ? 0n : pick([0n, quote / 2n, quote])
      const metrics: Metrics | null = maybe(
        () => ({ success_rate: next(), latency_ms_p50: Math.floor(next() * 3_000), sample_size: 50 }),
        0.7
      )
      return {
        provider: `p${n}`,
        quote,
        metrics,
        answer: { outcome, charge: charged, duration_ms: Math.floor(next() * 5_000) }
      }
    })
  const runs = Array.from({ length: 20 }, () => {
    const offers = offersOf()
    const settings: Settings = {
      strategy: pick(strategies),
      allow_fallback: next() < 0.8,
      max_cost: maybe(amount),
      max_total: maybe(() => Money.times(amount(), 2)),
      pinned: maybe(() => pick(offers).provider, 0.1),
      side_effect: next() < 0.1,
      bills_no_match,
      accepts: next() < 0.3
    }
    return { offers, settings }
  })
  const policy: Policy = {
    strategy: maybe(() => pick(strategies), 0.6),
    allow_fallback: maybe(() => next() < 0.5),
    max_cost: maybe(amount),
    without: new Set(maybe(() => [pick(["p0", "p1", "p2"])], 0.5) ?? [])
  }
  return { runs, policy, bills_no_match }
}

const nothing = new Set<string>()

/** The run as its plan and its row say it. Null: it was refused, so there is no run. */
const pastOf = (offers: ReadonlyArray<Offer>, settings: Settings): PastRun | null => {
  const done = execute(offers, settings, nothing)
  if (done.called.length === 0) return null
  const known = new Set([...done.called, ...done.spare, ...done.over].map(({ provider }) => provider))
  const capped = offers.filter(
    ({ provider }) => !known.has(provider) && (settings.pinned === null || provider === settings.pinned)
  )
  const plain = ({ provider, quote, metrics }: Offer): PastOffer => ({ provider, quote, metrics })
  return {
    capability: "email.find",
    kind: "email",
    plan: {
      providers: done.called.map(({ provider }) => provider),
      offers: [...done.called, ...done.spare, ...done.over, ...capped].map(plain),
      ranked: done.called.length + done.spare.length,
      strategy: settings.strategy,
      pinned: settings.pinned !== null,
      side_effect: settings.side_effect,
      allow_fallback: settings.allow_fallback,
      max_cost: settings.max_cost,
      max_total: settings.max_total,
      conclusive: done.conclusive,
      ...(settings.accepts ? { accept: { fields: ["email"] } } : {})
    },
    bills_no_match: settings.bills_no_match,
    attempts: done.made,
    hit: done.hit,
    provider: done.provider,
    charged: Money.MicroUsd(done.charged),
    duration_ms: done.duration_ms
  }
}

const seeds = Array.from({ length: howMany(4_000, 400) }, (_, n) => n * 7 + 1)
const counts = () => null
const none: Policy = { strategy: null, allow_fallback: null, max_cost: null, without: nothing }

describe("a simulation", () => {
  test("of the policy that was in force gives what happened", () => {
    for (const seed of seeds) {
      const past = worldOf(seed).runs.flatMap(({ offers, settings }) => pastOf(offers, settings) ?? [])
      const { actual, lower, expected, upper, unknown, unchanged } = simulate(past, none, counts)
      expect([seed, lower, expected, upper, unknown, unchanged]).toEqual([seed, actual, actual, actual, 0, past.length])
    }
  })

  test("bounds what another policy really would have cost and delivered", () => {
    let [changed, exact] = [0, 0]
    for (const seed of seeds) {
      const { runs, policy } = worldOf(seed)
      for (const { offers, settings } of runs) {
        const past = pastOf(offers, settings)
        if (past === null) continue
        const really = execute(
          offers,
          {
            ...settings,
            strategy: policy.strategy ?? settings.strategy,
            allow_fallback: policy.allow_fallback ?? settings.allow_fallback,
            max_cost: policy.max_cost ?? settings.max_cost
          },
          policy.without
        )
        const { lower, expected, upper, unknown, unchanged } = simulate([past], policy, counts)
        const inside =
          lower.cost <= really.charged &&
          really.charged <= upper.cost &&
          lower.hits <= Number(really.hit) &&
          Number(really.hit) <= upper.hits &&
          lower.cost <= expected.cost &&
          expected.cost <= upper.cost &&
          lower.hits <= expected.hits &&
          expected.hits <= upper.hits &&
          (really.called.length === 0 || (lower.latency_ms_p95 ?? 0) <= really.duration_ms) &&
          (upper.latency_ms_p95 === null || really.duration_ms <= upper.latency_ms_p95)
        if (!inside) throw new Error(`seed ${seed}: ${Bun.inspect({ past, policy, really, lower, expected, upper })}`)
        changed += 1 - unchanged
        // What the past knows, is not guessed.
        if (unknown === 0) {
          exact += 1
          expect(lower.hits).toBe(upper.hits)
        }
      }
    }
    expect(Math.min(changed, exact)).toBeGreaterThan(seeds.length)
  })

  test("of many runs adds up what is told of each alone", () => {
    for (const seed of seeds) {
      const { runs, policy } = worldOf(seed)
      const past = runs.flatMap(({ offers, settings }) => pastOf(offers, settings) ?? [])
      const alone = past.map((run) => simulate([run], policy, counts))
      const sum = (figure: (one: (typeof alone)[number]) => number | bigint) =>
        alone.reduce((total, one) => total + Number(figure(one)), 0)
      // Twice, so that what is known of a run serves others.
      const { lower, upper, expected, unchanged, unknown, refused } = simulate([...past, ...past], policy, counts)
      expect([seed, Number(lower.cost), Number(upper.cost), lower.hits, upper.hits]).toEqual([
        seed,
        ...[sum((one) => one.lower.cost), sum((one) => one.upper.cost)].map((cost) => cost * 2),
        ...[sum((one) => one.lower.hits), sum((one) => one.upper.hits)].map((hits) => hits * 2)
      ])
      expect(expected.hits).toBeCloseTo(sum((one) => one.expected.hits) * 2, 6)
      expect([unchanged, unknown, refused]).toEqual([
        sum((one) => one.unchanged) * 2,
        sum((one) => one.unknown) * 2,
        sum((one) => one.refused) * 2
      ])
    }
  })

  test("expects what was measured", () => {
    const offer = (provider: string, quote: bigint): PastOffer => ({
      provider,
      quote: Money.MicroUsd(quote),
      metrics: null
    })
    const run: PastRun = {
      capability: "email.find",
      kind: "email",
      plan: {
        ...{ providers: ["a"], offers: [offer("a", 10_000n), offer("b", 20_000n)], ranked: 2, strategy: "cheapest" },
        ...{
          pinned: false,
          side_effect: false,
          allow_fallback: false,
          max_cost: null,
          max_total: null,
          conclusive: false
        }
      },
      bills_no_match: false,
      attempts: [{ provider: "a", outcome: "no_match", duration_ms: 100 }],
      ...{ hit: false, provider: null, charged: Money.zero, duration_ms: 100 }
    }
    const measured = {
      succeeded: 30n,
      inconclusive: 0n,
      no_match: 10n,
      failed: 0n,
      quoted: 600_000n,
      charged: 300_000n
    }
    const found = simulate(
      Array.from({ length: 100 }, () => run),
      { ...none, without: new Set(["a"]) },
      () => measured
    )
    // Three of four calls deliver, for half of the quote.
    expect(found).toMatchObject({
      lower: { cost: 0n, hits: 0 },
      expected: { cost: 750_000n, hits: 75 },
      upper: { cost: 2_000_000n, hits: 100, latency_ms_p95: null },
      unknown: 100
    })
    const both = simulate([run], { ...none, allow_fallback: true }, () => measured)
    expect(both).toMatchObject({
      lower: { cost: 0n, hits: 0 },
      expected: { cost: 7_500n, hits: 0.75 },
      upper: { cost: 20_000n }
    })
  })
})
