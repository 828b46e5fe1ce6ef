/**
 * The sandbox's providers: deterministic, plainly marked output, and scenarios that rehearse every way a run can end.
 *
 * A scenario word stands where the input has a place for it: an e-mail `<word>@sandbox.test`, a host `<word>.sandbox.test`
 * (`_` written `-`), or `sandbox:<word>` inside any other string. With `_once` only the first attempt behaves so.
 */
import { Clock, Duration, Effect, Layer } from "effect"
import * as Money from "../../schema/money/Money.ts"
import type { Doubt, Found } from "../../schema/catalog/Doubt.ts"
import { type Failure, failure } from "../../schema/catalog/Provider.ts"
import { Catalog } from "../catalog/Catalog.ts"
import {
  type Answer,
  type LookupCall,
  type ProviderAnswer,
  type ProviderCall,
  Providers,
  type RawAnswer,
  type RawCall,
  type RawProviderAnswer
} from "./Providers.ts"

export interface Scenario {
  readonly word: "no_match" | "timeout" | "error" | "rate_limited" | "malformed" | "slow" | "partial"
  readonly seconds: number
  readonly once: boolean
}

/** The words a client may use, for the README and for inspect's hints. */
export const scenarioWords = ["no_match", "timeout", "error", "rate_limited", "malformed", "slow_<n>", "partial"]

/** The simulated provider's deadline, so that a rehearsed timeout takes a second and not a minute. */
const deadlineMillis = 1_000
/** A rehearsal never holds a worker longer than the longest wait a client may ask for. */
const slowSecondsMax = 120

const pattern = /(?:sandbox:([a-z0-9_]+)|\b([a-z0-9_-]+)(?:@|\.)sandbox\.test)/i
const words = ["no_match", "timeout", "error", "rate_limited", "malformed", "partial"] as const

const scenarioOf = (text: string): Scenario | null => {
  const found = pattern.exec(text)
  const said = (found?.[1] ?? found?.[2])?.toLowerCase().replaceAll("-", "_")
  if (said === undefined) return null
  const once = said.endsWith("_once")
  const word = once ? said.slice(0, -5) : said
  const slow = /^slow_(\d{1,3})$/.exec(word)?.[1]
  if (slow !== undefined) return { word: "slow", seconds: Math.min(Number(slow), slowSecondsMax), once }
  const known = words.find((one) => one === word)
  return known === undefined ? null : { word: known, seconds: 0, once }
}

/** The first scenario named anywhere in the input, depth first. */
export const findScenario = (value: unknown): Scenario | null => {
  if (typeof value === "string") return scenarioOf(value)
  if (typeof value !== "object" || value === null) return null
  for (const child of Object.values(value)) {
    const scenario = findScenario(child)
    if (scenario !== null) return scenario
  }
  return null
}

/** FNV-1a over the provider and the input, so that the same question gets the same answer. */
const seedOf = (text: string): number => {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0
  return hash
}

interface Answers<A> {
  readonly match: (partial: boolean) => A
  readonly noMatch: () => A
}

/** How long the provider takes, what it says then, and what a call that acts must doubt after it, as after the real failure. */
interface Played<A> {
  readonly millis: number
  readonly answer: () => A | Failure
  readonly doubt?: Doubt
}

const play = <A>(input: unknown, attempt: number, { match, noMatch }: Answers<A>): Played<A> => {
  const scenario = findScenario(input)
  const active = scenario !== null && !(scenario.once && attempt > 1) ? scenario : null
  switch (active?.word) {
    case undefined:
      return { millis: 0, answer: () => match(false) }
    case "no_match":
      return { millis: 0, answer: noMatch }
    case "timeout":
      return {
        millis: deadlineMillis,
        answer: () => failure("provider_timeout", `simulated: no answer within ${deadlineMillis} ms`),
        doubt: "no_answer"
      }
    case "error":
      return { millis: 0, answer: () => failure("provider_error", "simulated: HTTP 500"), doubt: "server_error" }
    case "rate_limited":
      return { millis: 0, answer: () => failure("provider_rate_limited", "simulated: HTTP 429", 1) }
    case "malformed":
      return {
        millis: 0,
        answer: () => failure("invalid_response", "simulated: the answer is not JSON"),
        doubt: "unreadable_answer"
      }
    case "slow":
      return { millis: active.seconds * 1000, answer: () => match(false) }
    case "partial":
      return { millis: 0, answer: () => match(true) }
  }
}

/** A raw payload of nobody: what was asked, plainly marked, so that a client can see what would have left. */
const rawPayload = ({ provider, raw, input }: RawCall, results: ReadonlyArray<unknown>) =>
  JSON.stringify({
    sandbox: true,
    provider: provider.slug,
    endpoint: raw.endpoint,
    request: {
      method: raw.method,
      path: raw.path,
      query: raw.query.map(([name, value]) => ({ name, value })),
      body: raw.has_body ? input : null
    },
    results
  })

const playRaw = (call: RawCall) =>
  play<RawAnswer>([call.input, call.raw.path, call.raw.query], 1, {
    match: () => ({ _tag: "Delivered", data: rawPayload(call, [{ simulated: true }]), measured: null }),
    // A provider that reports a cost of zero for nothing found: a raw run of it is free.
    noMatch: () => ({ _tag: "Delivered", data: rawPayload(call, []), measured: Money.zero })
  })

const perform = <A>({ millis, answer, doubt }: Played<A>) =>
  Effect.gen(function* () {
    const began = yield* Clock.currentTimeMillis
    if (millis > 0) yield* Effect.sleep(Duration.millis(millis))
    const said = answer()
    const doubted = doubt === undefined ? {} : { doubt }
    return { answer: said, ...doubted, duration_ms: (yield* Clock.currentTimeMillis) - began }
  })

/** A simulated provider that answered with an error had not carried the call out; one that said nothing, or nonsense, had. */
const lookUp = ({ offer: { provider }, input }: LookupCall): Effect.Effect<Found> =>
  Effect.succeed(
    findScenario(input)?.word === "error"
      ? { _tag: "Found", finding: "not_delivered", note: `simulated: ${provider.title} does not list this run` }
      : { _tag: "Found", finding: "delivered", note: `simulated: ${provider.title} lists this run` }
  )

export const SandboxProviders = Layer.effect(
  Providers,
  Effect.gen(function* () {
    const catalog = yield* Catalog
    const call = Effect.fnUntraced(function* (asked: ProviderCall) {
      const capability = catalog.find(asked.capability)?.capability
      const provider = asked.offer.provider.slug
      const seed = seedOf(`${provider} ${JSON.stringify(asked.input)}`)
      const simulate = (partial: boolean) => capability?.simulate({ input: asked.input, provider, seed, partial })
      const said = yield* perform(
        play<Answer>(asked.input, asked.attempt, {
          match: (partial) => ({ _tag: "Match", output: simulate(partial) }),
          noMatch: () => ({ _tag: "NoMatch", detail: "simulated: nothing on record" })
        })
      )
      const raw =
        asked.include_raw && said.answer._tag === "Match"
          ? JSON.stringify({ sandbox: true, provider, payload: said.answer.output })
          : null
      return { ...said, raw, measured: null } satisfies ProviderAnswer
    })
    const callRaw = (asked: RawCall): Effect.Effect<RawProviderAnswer> => perform(playRaw(asked))
    return Providers.of({ call, callRaw, lookUp })
  })
)
