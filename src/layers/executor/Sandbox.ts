/**
 * The sandbox's simulated providers. Their output is deterministic and marked as simulated. Scenarios simulate every outcome.
 *
 * The input selects a scenario: an e-mail `<word>@sandbox.test`, a host `<word>.sandbox.test` (with `-` for `_`), or
 * `sandbox:<word>` inside any other string. With the suffix `_once` only the first attempt follows the scenario.
 */
import { Context, Duration, Effect, Layer, Redacted } from "effect"
import * as Money from "../../schema/money/Money.ts"
import type { Bounce } from "../../schema/mail/Bounce.ts"
import type { Doubt, Found } from "../../schema/catalog/Doubt.ts"
import { type Failure, failure } from "../../schema/catalog/Provider.ts"
import { bouncesInSandbox, findScenario } from "../../schema/runs/Scenario.ts"
import { ProviderAccounts } from "../provideraccounts/ProviderAccounts.ts"
import { Catalog } from "../catalog/Catalog.ts"
import {
  type Answer,
  type BounceCall,
  type LookupCall,
  type ProviderAnswer,
  type ProviderCall,
  Providers,
  type RawAnswer,
  type RawCall,
  type RawProviderAnswer
} from "./Providers.ts"

/** The scenario words that clients may use, for inspect's hints. */
export const scenarioWords = ["no_match", "timeout", "error", "rate_limited", "malformed", "slow_<n>", "partial"]

/** A key of an own account with this text is refused. */
const refusedKey = "sandbox:refused"
/** The simulated provider's deadline: a simulated timeout takes a second and not a minute. */
const deadlineMillis = 1_000
/** FNV-1a over the provider and the input, so that the same input gets the same output. */
const seedOf = (text: string): number => {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0
  return hash
}

/** How a simulated provider spends its latency. A test that needs a run under way holds it until the test goes on. */
export const SimulatedDelay = Context.Reference("rungate/layers/executor/SimulatedDelay", {
  defaultValue:
    () =>
    (millis: number): Effect.Effect<void> =>
      Effect.sleep(Duration.millis(millis))
})

interface Answers<A> {
  readonly match: (partial: boolean) => A
  readonly noMatch: () => A
}

/** The simulated latency, the answer, and the doubt that the real failure would leave for a call with side effects. */
interface Simulated<A> {
  readonly millis: number
  readonly answer: () => A | Failure
  readonly doubt?: Doubt
}

const simulateCall = <A>(input: unknown, attempt: number, { match, noMatch }: Answers<A>): Simulated<A> => {
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

/** A simulated raw payload. It repeats the request, so that a client sees what would have been sent. */
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

const simulateRawCall = (call: RawCall) =>
  simulateCall<RawAnswer>([call.input, call.raw.path, call.raw.query], 1, {
    match: () => ({ _tag: "Delivered", data: rawPayload(call, [{ simulated: true }]), measured: null }),
    // Some providers report a cost of zero when they find nothing; the raw run is then free.
    noMatch: () => ({ _tag: "Delivered", data: rawPayload(call, []), measured: Money.zero })
  })

type Delay = (typeof SimulatedDelay)["Service"]

const answerAfter = <A>(delay: Delay, { millis, answer, doubt }: Simulated<A>) =>
  Effect.clockWith((clock) => {
    const began = clock.currentTimeMillisUnsafe()
    const answered = () => ({
      answer: answer(),
      ...(doubt === undefined ? {} : { doubt }),
      duration_ms: clock.currentTimeMillisUnsafe() - began
    })
    return millis > 0 ? Effect.map(delay(millis), answered) : Effect.sync(answered)
  })

/** Simulated calls that ended with an error were not performed. Those that timed out or answered unreadably were. */
const lookUp = ({ offer: { provider }, input }: LookupCall): Effect.Effect<Found> =>
  Effect.succeed(
    findScenario(input)?.word === "error"
      ? { _tag: "Found", finding: "not_delivered", note: `simulated: ${provider.title} does not list this run` }
      : { _tag: "Found", finding: "delivered", note: `simulated: ${provider.title} lists this run` }
  )

/** Mail to `bounce@sandbox.test` and to addresses at bounce.sandbox.test bounces. */
const bounced = ({ offer: { provider }, address }: BounceCall): Effect.Effect<Bounce> => {
  const bounced = bouncesInSandbox(address)
  const note = `simulated: ${provider.title} reports ${bounced ? "a permanent bounce" : "no bounce"}`
  return Effect.succeed({ _tag: "Bounce", bounced, note })
}

export const SandboxProviders = Layer.effect(
  Providers,
  Effect.gen(function* () {
    const catalog = yield* Catalog
    const accounts = yield* ProviderAccounts
    const delay = yield* SimulatedDelay
    /** Null if the own account is accepted, or is not called. */
    const refusedAccount = (org_id: string, provider: string, own: boolean): Effect.Effect<Failure | null> =>
      !own
        ? Effect.succeed(null)
        : Effect.match(accounts.open(org_id, provider), {
            onFailure: () => failure("provider_account", "simulated: the account was removed"),
            onSuccess: ({ api_key }) =>
              Redacted.value(api_key).includes(refusedKey) ? failure("provider_account", "simulated: HTTP 401") : null
          })
    const simulatedCall = (providerCall: ProviderCall): Effect.Effect<ProviderAnswer> => {
      const capability = catalog.find(providerCall.capability)?.capability
      const provider = providerCall.offer.provider.slug
      const seed = seedOf(`${provider} ${JSON.stringify(providerCall.input)}`)
      const simulate = (partial: boolean) =>
        capability?.simulate({ input: providerCall.input, provider, seed, partial })
      const simulated = simulateCall<Answer>(providerCall.input, providerCall.attempt, {
        match: (partial) => ({ _tag: "Match", output: simulate(partial) }),
        noMatch: () => ({ _tag: "NoMatch", detail: "simulated: nothing on record" })
      })
      return Effect.map(answerAfter(delay, simulated), (answered) => {
        const raw =
          providerCall.include_raw && answered.answer._tag === "Match"
            ? JSON.stringify({ sandbox: true, provider, payload: answered.answer.output })
            : null
        return { ...answered, raw, measured: null }
      })
    }
    const call = (providerCall: ProviderCall): Effect.Effect<ProviderAnswer> =>
      Effect.flatMap(
        refusedAccount(providerCall.org_id, providerCall.offer.provider.slug, providerCall.own),
        (answer) =>
          answer === null
            ? simulatedCall(providerCall)
            : Effect.succeed({ answer, duration_ms: 0, raw: null, measured: null })
      )
    const callRaw = (providerCall: RawCall): Effect.Effect<RawProviderAnswer> =>
      Effect.flatMap(refusedAccount(providerCall.org_id, providerCall.provider.slug, providerCall.own), (answer) =>
        answer === null ? answerAfter(delay, simulateRawCall(providerCall)) : Effect.succeed({ answer, duration_ms: 0 })
      )
    return Providers.of({ call, callRaw, lookUp, bounced, credits: () => Effect.succeed(null) })
  })
)
