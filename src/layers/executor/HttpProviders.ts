/**
 * Calls real providers over HTTP, as their adapters describe. Calls have a deadline and a size limit, and follow no redirects.
 *
 * The account's secret is added here and never appears in an error, a log or a stored payload. A call never fails: errors are
 * part of its answer.
 */
import { Cause, Clock, Effect, Layer } from "effect"
import { withRequest, doubtOf, type Found, withEnd, type Trail, trailOf } from "../../schema/catalog/Doubt.ts"
import type { Bounce } from "../../schema/mail/Bounce.ts"
import type { CreditsLeft } from "../../schema/catalog/Credits.ts"
import {
  type Failure,
  failure,
  type Outcome,
  type Provider,
  type Reply,
  suppressed
} from "../../schema/catalog/Provider.ts"
import { measuredOf } from "../../schema/catalog/Measured.ts"
import { defined } from "../../schema/defined.ts"
import { oneLineOf } from "../../schema/json/StorableText.ts"
import { makeAccessTokens } from "./AccessTokens.ts"
import { makeAnswerBudget, makeParsingTurns } from "./AnswerBudget.ts"
import { callMarketplaceActor } from "./MarketplaceRuns.ts"
import { type Connection, makeConnections } from "./Connection.ts"
import { publicRequest } from "./PublicRequest.ts"
import { missingDataFailure, ownReplyBytesMax, replyBytesMax } from "./ProviderResponse.ts"
import { authorized, type ProviderRequest, rawRequestOf, requestOf, type Target, targetOf } from "./ProviderRequest.ts"
import { ordinaryFetch, send } from "./Send.ts"
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
import { refusal } from "../providers/kit/outcome.ts"
import { HostAddresses, lookupOf } from "../webhooks/Sender.ts"
import { CurrentTrace, Traces } from "../observability/Traces.ts"
import { Settings } from "../platform/Settings.ts"

/** Polls per attempt of a provider that keeps answering "not yet". The attempt's deadline ends it too. */
const pollsMax = 400
/** Longer pauses are not awaited, because another provider may deliver sooner. */
const pauseWaitSecondsMax = 5
/** Statuses of a raw call that the caller's request caused. */
const rejectedRawStatuses = new Set([400, 404, 405, 406, 409, 410, 411, 413, 414, 415, 422])

const isFailure = (answer: { readonly _tag: string }): answer is Failure => answer._tag === "Failure"

const answerBytesMax = ({ own }: Connection) => (own === null ? replyBytesMax : ownReplyBytesMax)

type AnyAnswer = Answer | RawAnswer

/** The answer with its texts on one line and storable. */
const sanitized = <A extends AnyAnswer>(answer: A): A => {
  if ("detail" in answer) return { ...answer, detail: oneLineOf(answer.detail) }
  return "note" in answer && answer.note !== undefined ? { ...answer, note: oneLineOf(answer.note) } : answer
}

/** Statuses of an offer's call that the caller's input caused. They must not count against the provider. */
const rejectedStatuses = new Set([400, 404, 409, 413, 414, 422])

/** Blames the input for these statuses, unless the adapter recognized an account problem or a rate limit. */
const blamingInput = (reply: Reply, outcome: Outcome<unknown>): Outcome<unknown> =>
  isFailure(outcome) &&
  rejectedStatuses.has(reply.status) &&
  ["provider_error", "invalid_response"].includes(outcome.reason)
    ? { ...outcome, reason: "provider_rejected" }
    : outcome

/** A follow-up call is built from the provider's own answer, so the caller is not to blame if it can't be sent. */
const blamingProvider = (failed: Failure): Failure =>
  failed.reason === "provider_rejected" ? failure("invalid_response", failed.detail) : failed

type AttemptResult = Omit<ProviderAnswer, "duration_ms">
const failedAnswer = (answer: Failure): AttemptResult => ({ answer, raw: null, measured: null })

const leaseLost = "another worker has taken over this run"
/** The marketplace stops a marketplace actor this long before the attempt's deadline, so that its items can be read. */
const marketplaceActorMarginSeconds = 30

/** The part of a call's time after which its first request is no longer sent. */
const latestStart = 0.9

interface Attempt {
  /** Called when a request is about to be sent. Returns a failure when it is too late for the first one. */
  readonly begin: Effect.Effect<Failure | null>
  /** The requests so far, so that a failure says whether the provider may have acted. */
  trail: Trail
}

export const HttpProviders = Layer.effect(
  Providers,
  Effect.gen(function* () {
    const { answerMemoryMb, current, ownAccountAllowPrivate } = yield* Settings
    const budget = makeAnswerBudget(answerMemoryMb * 1024 * 1024)
    const turn = makeParsingTurns()
    const connect = yield* makeConnections(() => current().accounts)
    const withToken = yield* makeAccessTokens
    const traces = yield* Traces
    const publicFetch = publicRequest(lookupOf(yield* HostAddresses, ownAccountAllowPrivate), ownAccountAllowPrivate)

    /** Sends one request through the account's throttle and reads the response. */
    const exchangeOnce = (
      to: Connection,
      sent: ProviderRequest,
      attempt: Attempt,
      token: string | null
    ): Effect.Effect<Reply | Failure> => {
      const request = authorized(to.target, to.account, sent, token)
      if ("_tag" in request) return Effect.succeed(request)
      const sendOnce = Effect.gen(function* () {
        const late = yield* attempt.begin
        if (late !== null) return late
        attempt.trail = withRequest(attempt.trail, sent.acts)
        const trace = traces === null ? null : yield* CurrentTrace
        const traced = trace === null ? request : { ...request, headers: { ...request.headers, traceparent: trace } }
        const bytesMax = answerBytesMax(to)
        const { reply, end } = yield* send(to.publicOnly ? publicFetch : ordinaryFetch, traced, sent, {
          bytesMax,
          room: (read) => budget({ bytes: bytesMax, own: to.own }, read),
          turn: (millis) => (to.own === null ? 0 : turn(to.own, millis, performance.now()))
        })
        attempt.trail = withEnd(attempt.trail, end)
        return reply
      })
      return Effect.map(to.throttle.call(sendOnce, pauseWaitSecondsMax), (reply) => {
        if (!("_tag" in reply) || reply._tag !== "Paused") return reply
        // An earlier request of this attempt may have acted.
        attempt.trail = withEnd(withRequest(attempt.trail, sent.acts), "unsent")
        return failure("provider_rate_limited", `the provider asked for a pause of ${reply.seconds} s`)
      })
    }

    /** The same, with an access token if the provider takes one. Asking for it is not part of what the attempt may have done. */
    const exchange = (to: Connection, sent: ProviderRequest, attempt: Attempt): Effect.Effect<Reply | Failure> => {
      const { auth } = to.target
      if (auth.kind !== "client_credentials") return exchangeOnce(to, sent, attempt, null)
      const asking: Attempt = { begin: Effect.succeed(null), trail: trailOf(false) }
      return withToken(
        to,
        auth.path,
        (request) => Effect.andThen(attempt.begin, exchangeOnce(to, request, asking, null)),
        (token) => exchangeOnce(to, sent, attempt, token)
      )
    }

    /** Applies a pause that the provider asked for. */
    const applyPause = ({ throttle }: Connection, failed: Failure | null) =>
      failed?.reason === "provider_rate_limited" && failed.retryAfterSeconds !== undefined
        ? throttle.pause(failed.retryAfterSeconds)
        : Effect.void

    /** Applies the attempt's result to the account's throttle and breaker. */
    const recordResult = (to: Connection, subject: string, answer: { readonly _tag: string }) => {
      const failed = isFailure(answer) ? answer : null
      // The caller's own request caused it.
      if (failed?.reason === "provider_rejected" || failed?.reason === suppressed) return Effect.void
      return Effect.andThen(applyPause(to, failed), to.record(subject, failed))
    }

    /** Builds a request. If the adapter throws, nothing was sent, and the provider is not to blame. */
    const buildRequest = (slug: string, write: () => ProviderRequest): Effect.Effect<ProviderRequest | Failure> =>
      Effect.try({ try: write, catch: (error) => error }).pipe(
        Effect.catch((error) =>
          Effect.as(
            Effect.logError(`${slug}: adapter failed to build its request`, error),
            failure("provider_rejected", "the adapter could not build a request from this input")
          )
        )
      )

    /** One attempt of an offer: sends requests and follows the state that each response leaves, until there is a result. */
    const pollUntilDone = Effect.fnUntraced(function* (to: Connection, providerCall: ProviderCall, attempt: Attempt) {
      const { offer, provider } = providerCall.offer
      const { run_id, wanted, unsubscribe } = providerCall
      const context = { run_id, ...defined({ wanted, unsubscribe }) }
      let state = providerCall.state
      for (let poll = 0; poll < pollsMax; poll++) {
        const sent = yield* buildRequest(provider.slug, () =>
          requestOf(
            state === null ? offer.request(providerCall.input, context) : offer.next(state, providerCall.input, context)
          )
        )
        const reply = "_tag" in sent ? sent : yield* exchange(to, sent, attempt)
        if ("_tag" in reply) return failedAnswer(state === null ? reply : blamingProvider(reply))
        const outcome: Outcome<unknown> = blamingInput(reply, offer.response(reply, providerCall.input, state))
        if (outcome._tag !== "Again") {
          const cost = "cost" in outcome ? (outcome.cost ?? null) : null
          return {
            answer: outcome,
            raw: providerCall.include_raw && reply.body !== undefined ? reply.text : null,
            measured: measuredOf(cost, provider.credit)
          }
        }
        state = outcome.state
        if (outcome.job && !(yield* providerCall.keep(state))) return failedAnswer(failure("provider_error", leaseLost))
        yield* Effect.sleep(`${outcome.afterMillis} millis`)
      }
      return failedAnswer(failure("provider_timeout", "the provider did not finish in time"))
    })

    /** Runs an attempt within its deadline, throttling included, and turns an adapter's crash into a failure. */
    const withDeadline = <A>(
      target: Target,
      { millis, resumed }: { readonly millis: number; readonly resumed: boolean },
      work: (attempt: Attempt) => Effect.Effect<A>,
      failed: (failure: Failure) => A
    ) =>
      Effect.gen(function* () {
        const began = yield* Clock.currentTimeMillis
        let started = false
        // Nothing was sent, so this is neither the provider's timeout nor an unknown outcome.
        const throttled = failure(
          "provider_rate_limited",
          `all ${target.concurrency} concurrent calls to the provider were in use for ${millis} ms; retry later`
        )
        // A request that is sent in the last moment would have no time for its response.
        const begin = Effect.map(Clock.currentTimeMillis, (now) => {
          if (!started && now - began > millis * latestStart) return throttled
          started = true
          return null
        })
        const late = () => (started ? failure("provider_timeout", `no answer within ${millis} ms`) : throttled)
        const attempt: Attempt = { begin, trail: trailOf(resumed) }
        const result = yield* work(attempt).pipe(
          Effect.timeoutOrElse({
            duration: `${millis} millis`,
            orElse: () => Effect.sync(() => failed(late()))
          }),
          Effect.catchCause((cause) =>
            Cause.hasInterruptsOnly(cause)
              ? Effect.failCause(cause)
              : Effect.as(
                  Effect.logError(`${target.slug}: adapter failed`, cause),
                  failed(failure("invalid_response", "the adapter could not read the answer"))
                )
          )
        )
        return { result, trail: attempt.trail, duration_ms: (yield* Clock.currentTimeMillis) - began }
      })

    /** The doubt beside a failure, when the provider may have acted. */
    const doubtField = (answer: { readonly _tag: string }, trail: Trail) => {
      const doubt = isFailure(answer) ? doubtOf(trail, answer.reason) : null
      return doubt === null ? {} : { doubt }
    }

    /** The rest of an answer without a call. An earlier execution may have started a job. */
    const unconnected = (failed: Failure, { state }: Pick<ProviderCall, "state">) => ({
      ...doubtField(failed, trailOf(state !== null)),
      duration_ms: 0
    })

    const callThrough = (to: Connection, providerCall: ProviderCall): Effect.Effect<ProviderAnswer> => {
      const work = (attempt: Attempt): Effect.Effect<AttemptResult> =>
        Effect.map(pollUntilDone(to, providerCall, attempt), (result) => ({
          ...result,
          answer: sanitized(result.answer)
        }))
      const { provider, offer } = providerCall.offer
      const bounds = { millis: offer.timeoutMillis ?? provider.timeoutMillis, resumed: providerCall.state !== null }
      return withDeadline(provider, bounds, work, failedAnswer).pipe(
        Effect.tap(({ result }) => recordResult(to, providerCall.capability, result.answer)),
        Effect.map(({ result, trail, duration_ms }) => ({
          ...result,
          ...doubtField(result.answer, trail),
          duration_ms
        }))
      )
    }

    const call = (providerCall: ProviderCall): Effect.Effect<ProviderAnswer> =>
      Effect.flatMap(connect(providerCall.offer.provider, providerCall), (to) =>
        "_tag" in to
          ? Effect.succeed({ ...failedAnswer(to), ...unconnected(to, providerCall) })
          : callThrough(to, providerCall)
      )

    const rawExchange = (to: Connection, rawCall: RawCall, attempt: Attempt): Effect.Effect<RawAnswer> =>
      Effect.map(exchange(to, rawRequestOf(rawCall), attempt), (reply): RawAnswer => {
        if ("_tag" in reply) return reply
        if (reply.status < 200 || reply.status >= 300)
          return rejectedRawStatuses.has(reply.status) ? refusal(reply, "provider_rejected") : refusal(reply)
        const failed = missingDataFailure(reply, rawCall.raw.method)
        if (failed !== null) return failed
        // Other text, such as CSV, is delivered as one JSON string.
        const data = reply.body === undefined ? JSON.stringify(reply.text) : reply.text
        const { provider } = rawCall.provider
        const measured =
          provider === null ? null : measuredOf(provider.measured(reply), rawCall.raw.credit ?? provider.credit)
        return { _tag: "Delivered", data, measured }
      })

    const rawMarketplaceActor = (to: Connection, rawCall: RawCall, attempt: Attempt): Effect.Effect<RawAnswer> =>
      callMarketplaceActor((call) => exchange(to, requestOf(call), attempt), rawCall, {
        seconds: Math.max(1, Math.floor(to.target.timeoutMillis / 1000) - marketplaceActorMarginSeconds),
        charactersMax: answerBytesMax(to)
      })

    const callRawThrough = (to: Connection, rawCall: RawCall): Effect.Effect<RawProviderAnswer> => {
      const { target } = to
      const perform = rawCall.raw.body_type === "actor_input" ? rawMarketplaceActor : rawExchange
      const work = (attempt: Attempt) => Effect.map(perform(to, rawCall, attempt), sanitized)
      const bounds = { millis: target.timeoutMillis, resumed: rawCall.state !== null }
      const answered = withDeadline<RawAnswer>(target, bounds, work, (answer) => answer)
      return answered.pipe(
        Effect.tap(({ result }) => recordResult(to, rawCall.raw.endpoint, result)),
        Effect.map(({ result, trail, duration_ms }) => ({ answer: result, ...doubtField(result, trail), duration_ms }))
      )
    }

    const callRaw = (rawCall: RawCall): Effect.Effect<RawProviderAnswer> => {
      const target = targetOf(rawCall.provider)
      if (target === null) {
        const answer = failure(
          "provider_error",
          "the catalog has no base URL for this provider; import its document again with one"
        )
        return Effect.succeed({ answer, duration_ms: 0 })
      }
      return Effect.flatMap(connect(target, rawCall), (to) =>
        "_tag" in to ? Effect.succeed({ answer: to, ...unconnected(to, rawCall) }) : callRawThrough(to, rawCall)
      )
    }

    /** One request that only reads. It does not change breakers: it says nothing about whether the provider performs calls. */
    const read = <A extends { readonly _tag: string }>(
      to: Connection,
      { slug, timeoutMillis }: Provider,
      write: () => ProviderRequest,
      finding: (reply: Reply) => A | Failure | null
    ) => {
      const work = Effect.fnUntraced(function* (attempt: Attempt) {
        const sent = yield* buildRequest(slug, write)
        const reply = "_tag" in sent ? sent : yield* exchange(to, sent, attempt)
        return "_tag" in reply ? reply : finding(reply)
      })
      const bounds = { millis: timeoutMillis, resumed: false }
      return withDeadline<A | Failure | null>(to.target, bounds, work, (failed) => failed).pipe(
        Effect.map(({ result }) => (result !== null && isFailure(result) ? sanitized(result) : result)),
        Effect.tap((result) => applyPause(to, result !== null && isFailure(result) ? result : null))
      )
    }

    /** The same through the caller's connection. */
    const readThrough = <A extends { readonly _tag: string }>(
      caller: Parameters<typeof connect>[1],
      provider: Provider,
      write: () => ProviderRequest,
      finding: (reply: Reply) => A | Failure | null
    ): Effect.Effect<A | Failure | null> =>
      Effect.flatMap(connect(provider, caller), (to) =>
        "_tag" in to ? Effect.succeed(to) : read<A>(to, provider, write, finding)
      )

    const lookUp = (lookup: LookupCall): Effect.Effect<Found | Failure | null> => {
      const { run_id, input, age_seconds } = lookup
      const { provider, offer } = lookup.offer
      const { reconcile } = offer
      if (reconcile === undefined) return Effect.succeed(null)
      const context = { run_id, age_seconds }
      const write = () => requestOf(reconcile.call(input, context))
      return readThrough<Found>(lookup, provider, write, (reply) => reconcile.finding(reply, input, context))
    }

    const bounced = (call: BounceCall): Effect.Effect<Bounce | Failure | null> => {
      const { provider, offer } = call.offer
      const { bounce } = offer
      if (bounce === undefined) return Effect.succeed(null)
      return Effect.flatMap(connect(provider, call), (to) => {
        if ("_tag" in to) return Effect.succeed(to)
        // The customer chose the address that would answer, so the answer would prove nothing.
        if (to.publicOnly) return Effect.succeed(null)
        return read<Bounce>(
          to,
          provider,
          () => requestOf(bounce.call(call)),
          (reply) => bounce.finding(reply, call)
        )
      })
    }

    const service = { org_id: "", own: false }
    const credits = (provider: Provider): Effect.Effect<CreditsLeft | Failure | null> => {
      const { credits } = provider
      if (credits === undefined) return Effect.succeed(null)
      return readThrough<CreditsLeft>(service, provider, () => requestOf(credits.request), credits.read)
    }

    return Providers.of({ call, callRaw, lookUp, bounced, credits })
  })
)
