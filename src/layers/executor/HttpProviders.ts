/**
 * Real providers: performs what adapters describe, over HTTP, with a deadline, a size cap and no redirects.
 *
 * The account's secret is added here and appears nowhere else: not in an error, a log or a stored payload. A call always
 * answers; what went wrong is an outcome.
 */
import { Cause, Clock, Effect, Layer } from "effect"
import {
  asking,
  doubtOf,
  type Found,
  type Heard,
  hearing,
  heardOf,
  type Trail,
  trailOf
} from "../../schema/catalog/Doubt.ts"
import { type Failure, failure, type Outcome, type Reply } from "../../schema/catalog/Provider.ts"
import { measuredOf } from "../../schema/catalog/Measured.ts"
import { oneLineOf } from "../../schema/json/StorableText.ts"
import { runActor } from "./MarketplaceRuns.ts"
import { Breakers } from "./Breakers.ts"
import { type Gate, gate } from "./ProviderThrottle.ts"
import { brokenConnection, isUnsent, readReply, replyBytesMax, undeliverable } from "./ProviderResponse.ts"
import {
  type Addressed,
  addressed,
  type Outgoing,
  outgoing,
  rawOutgoing,
  type Target,
  targetOf
} from "./ProviderRequest.ts"
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
import { refusal } from "../providers/kit/httpErrors.ts"
import { Settings } from "../platform/Settings.ts"

/** A provider that keeps saying "not yet" ends at the attempt's deadline, and at this many questions. */
const againMax = 400
/** A pause that the provider asked for is waited for no longer than this: another provider may deliver meanwhile. */
const patienceSeconds = 5
/** Statuses of a raw call that say something about the caller's request and nothing about the provider. */
const rejections = new Set([400, 404, 405, 406, 409, 410, 411, 413, 414, 415, 422])

const isFailure = (answer: { readonly _tag: string }): answer is Failure => answer._tag === "Failure"

type AnyAnswer = Answer | RawAnswer

/** What a gate, a provider or an adapter says in words, fit to be stored, logged and shown. */
const sanitized = <A extends AnyAnswer>(answer: A): A => {
  if ("detail" in answer) return { ...answer, detail: oneLineOf(answer.detail) }
  return "note" in answer && answer.note !== undefined ? { ...answer, note: oneLineOf(answer.note) } : answer
}

/** Statuses by which a provider refuses what it was asked: no organization's input may count against a provider. */
const refusals = new Set([400, 404, 409, 413, 414, 422])

/** A refusal says nothing about the provider, unless its adapter knows that it concerns the account or a rate limit. */
const blamed = (reply: Reply, outcome: Outcome<unknown>): Outcome<unknown> =>
  isFailure(outcome) && refusals.has(reply.status) && ["provider_error", "invalid_response"].includes(outcome.reason)
    ? { ...outcome, reason: "provider_rejected" }
    : outcome

/** A later question is made of what the provider answered: that it can't be sent is not the caller's fault. */
const ofProvider = (failed: Failure): Failure =>
  failed.reason === "provider_rejected" ? failure("invalid_response", failed.detail) : failed

/** What a conversation with a provider has come to. */
type Said = Omit<ProviderAnswer, "duration_ms">
const failedAnswer = (answer: Failure): Said => ({ answer, raw: null, measured: null })

const leaseLost = "another worker has taken over this run"
/** An actor is ended by its platform so long before the attempt's deadline: time to read what it wrote. */
const actorReserveSeconds = 30

/** On a connection that was used before, the runtime sends these again when it breaks off; a call that changes something is made once. */
const resent = new Set(["PUT", "DELETE"])

interface Sent {
  readonly reply: Reply | Failure
  readonly heard: Heard
}

const send = ({ url, headers, redact }: Addressed, { method, body }: Outgoing) =>
  Effect.promise(async (signal): Promise<Sent> => {
    const connection = new AbortController()
    let status: number | null = null
    try {
      const response = await fetch(url, {
        method,
        headers,
        ...(body === undefined ? {} : { body }),
        // A redirect would carry the account's key to another host.
        redirect: "manual",
        keepalive: !resent.has(method),
        signal: AbortSignal.any([signal, connection.signal])
      })
      status = response.status
      const reply = await readReply(response, redact)
      const heard = heardOf(status)
      return { reply, heard: "_tag" in reply && heard === "read" ? "unreadable" : heard }
    } catch (error) {
      const heard = status === null ? (isUnsent(error) ? "unsent" : "no_answer") : heardOf(status)
      return { reply: brokenConnection(error), heard: heard === "read" ? "no_answer" : heard }
    } finally {
      // What was refused half-way would go on arriving; on a connection whose answer was read to its end this is nothing.
      connection.abort()
    }
  })

/** Of a call's time, how much may be over when its first question leaves. */
const lastTurn = 0.9
/** An attempt under way. */
interface Turn {
  /** A question leaves now; a failure when it is too late for the first one. */
  readonly begin: Effect.Effect<Failure | null>
  /** What was asked so far, so that a failure says whether the provider may have acted. */
  trail: Trail
}

export const HttpProviders = Layer.effect(
  Providers,
  Effect.gen(function* () {
    const { accounts } = yield* Settings
    const breakers = yield* Breakers
    const gates = new Map<string, Gate>()
    const gateOf = (target: Target) => {
      const found = gates.get(target.slug) ?? gate(target)
      gates.set(target.slug, found)
      return found
    }

    /** `begin` says when a question leaves whether there is time for an answer: until then the provider knows nothing of the call. */
    const exchange = (target: Target, sent: Outgoing, turn: Turn): Effect.Effect<Reply | Failure> => {
      const request = addressed(target, accounts.get(target.slug), sent)
      if ("_tag" in request) return Effect.succeed(request)
      const sending = Effect.gen(function* () {
        const late = yield* turn.begin
        if (late !== null) return late
        turn.trail = asking(turn.trail, sent.acts)
        const { reply, heard } = yield* send(request, sent)
        turn.trail = hearing(turn.trail, heard)
        return reply
      })
      return Effect.map(gateOf(target).pass(sending, patienceSeconds), (reply) =>
        "_tag" in reply && reply._tag === "Closed"
          ? failure("provider_rate_limited", `it asked for a pause of ${reply.seconds} s`)
          : reply
      )
    }

    /** A pause that the provider asked for. */
    const heed = (target: Target, failed: Failure | null) =>
      failed?.reason === "provider_rate_limited" && failed.retryAfterSeconds !== undefined
        ? gateOf(target).pause(failed.retryAfterSeconds)
        : Effect.void

    /** What a failed attempt says about the provider: pauses that it asked for, and whether it had better be left alone. */
    const note = (target: Target, subject: string, org_id: string, answer: { readonly _tag: string }) => {
      const failed = isFailure(answer) ? answer : null
      // Nobody is to blame but the caller's own request.
      if (failed?.reason === "provider_rejected") return Effect.void
      return Effect.andThen(heed(target, failed), breakers.record(target.slug, subject, org_id, failed))
    }

    /** An adapter that can't write the request has not asked its provider anything, which is not to blame then. */
    const written = (slug: string, write: () => Outgoing): Effect.Effect<Outgoing | Failure> =>
      Effect.try({ try: write, catch: (error) => error }).pipe(
        Effect.catch((error) =>
          Effect.as(
            Effect.logError(`${slug}: adapter failed to write its request`, error),
            failure("provider_rejected", "the adapter could not write the request")
          )
        )
      )

    /** One attempt as a conversation: question, answer, and on from the state that an answer leaves, until it is a result. */
    const pollUntilDone = Effect.fnUntraced(function* (asked: ProviderCall, turn: Turn) {
      const { offer, provider } = asked.offer
      const context = { run_id: asked.run_id }
      let state = asked.state
      for (let question = 0; question < againMax; question++) {
        const sent = yield* written(provider.slug, () =>
          outgoing(state === null ? offer.request(asked.input, context) : offer.next(state, asked.input, context))
        )
        const reply = "_tag" in sent ? sent : yield* exchange(provider, sent, turn)
        if ("_tag" in reply) return failedAnswer(state === null ? reply : ofProvider(reply))
        const outcome: Outcome<unknown> = blamed(reply, offer.response(reply, asked.input, state))
        if (outcome._tag !== "Again") {
          const cost = "cost" in outcome ? (outcome.cost ?? null) : null
          return {
            answer: outcome,
            raw: asked.include_raw && reply.body !== undefined ? reply.text : null,
            measured: measuredOf(cost, provider.credit)
          }
        }
        state = outcome.state
        if (outcome.job && !(yield* asked.keep(state))) return failedAnswer(failure("provider_error", leaseLost))
        yield* Effect.sleep(`${outcome.afterMillis} millis`)
      }
      return failedAnswer(failure("provider_timeout", "the provider never finished its answer"))
    })

    /** Within its deadline, waiting for the gate included, and answered whatever an adapter does. */
    const bounded = <A>(
      target: Target,
      { millis, resumed }: { readonly millis: number; readonly resumed: boolean },
      work: (turn: Turn) => Effect.Effect<A>,
      failed: (failure: Failure) => A
    ) =>
      Effect.gen(function* () {
        const began = yield* Clock.currentTimeMillis
        let asked = false
        // Our own queue was too long: the provider was not slow, and nothing is unknown.
        const noTurn = failure(
          "provider_rate_limited",
          `no turn within ${millis} ms, at ${target.concurrency} calls at once`
        )
        // Whoever gets a turn in the last moment would ask and not hear the answer.
        const begin = Effect.map(Clock.currentTimeMillis, (now) => {
          if (!asked && now - began > millis * lastTurn) return noTurn
          asked = true
          return null
        })
        const late = () => (asked ? failure("provider_timeout", `no answer within ${millis} ms`) : noTurn)
        const turn: Turn = { begin, trail: trailOf(resumed) }
        const said = yield* work(turn).pipe(
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
        return { said, trail: turn.trail, duration_ms: (yield* Clock.currentTimeMillis) - began }
      })

    /** Why nobody knows what the provider did, beside the failure. */
    const doubted = (answer: { readonly _tag: string }, trail: Trail) => {
      const doubt = isFailure(answer) ? doubtOf(trail, answer.reason) : null
      return doubt === null ? {} : { doubt }
    }

    const call = (asked: ProviderCall): Effect.Effect<ProviderAnswer> => {
      const work = (turn: Turn): Effect.Effect<Said> =>
        Effect.map(pollUntilDone(asked, turn), (said) => ({ ...said, answer: sanitized(said.answer) }))
      const { provider, offer } = asked.offer
      const bounds = { millis: offer.timeoutMillis ?? provider.timeoutMillis, resumed: asked.state !== null }
      return bounded(provider, bounds, work, failedAnswer).pipe(
        Effect.tap(({ said }) => note(provider, asked.capability, asked.org_id, said.answer)),
        Effect.map(({ said, trail, duration_ms }) => ({ ...said, ...doubted(said.answer, trail), duration_ms }))
      )
    }

    const rawExchange = (target: Target, asked: RawCall, turn: Turn): Effect.Effect<RawAnswer> =>
      Effect.map(exchange(target, rawOutgoing(asked), turn), (reply): RawAnswer => {
        if ("_tag" in reply) return reply
        if (reply.status < 200 || reply.status >= 300)
          return rejections.has(reply.status) ? refusal(reply, "provider_rejected") : refusal(reply)
        const broken = undeliverable(reply, asked.raw.method)
        if (broken !== null) return broken
        // What is no JSON, such as a table or a file's text, is delivered as one JSON string.
        const data = reply.body === undefined ? JSON.stringify(reply.text) : reply.text
        const { provider } = asked.provider
        const measured = provider === null ? null : measuredOf(provider.measured(reply), provider.credit)
        return { _tag: "Delivered", data, measured }
      })

    const rawActor = (target: Target, asked: RawCall, turn: Turn): Effect.Effect<RawAnswer> =>
      runActor((call) => exchange(target, outgoing(call), turn), asked, {
        seconds: Math.max(1, Math.floor(target.timeoutMillis / 1000) - actorReserveSeconds),
        charactersMax: replyBytesMax
      })

    const callRaw = (asked: RawCall): Effect.Effect<RawProviderAnswer> => {
      const target = targetOf(asked.provider)
      if (target === null) {
        const answer = failure("provider_error", "the catalog does not know this provider's address")
        return Effect.succeed({ answer, duration_ms: 0 })
      }
      const ask = asked.raw.body_type === "actor_input" ? rawActor : rawExchange
      const work = (turn: Turn) => Effect.map(ask(target, asked, turn), sanitized)
      const bounds = { millis: target.timeoutMillis, resumed: asked.state !== null }
      const answered = bounded<RawAnswer>(target, bounds, work, (answer) => answer)
      return answered.pipe(
        Effect.tap(({ said }) => note(target, asked.raw.endpoint, asked.org_id, said)),
        Effect.map(({ said, trail, duration_ms }) => ({ answer: said, ...doubted(said, trail), duration_ms }))
      )
    }

    /** Opens and closes no breaker: that it can be asked says nothing about whether it carries calls out. */
    const lookUp = ({ run_id, offer: { provider, offer }, input, age_seconds }: LookupCall) => {
      const { reconcile } = offer
      if (reconcile === undefined) return Effect.succeed(null)
      const context = { run_id, age_seconds }
      const work = Effect.fnUntraced(function* (turn: Turn) {
        const sent = yield* written(provider.slug, () => outgoing(reconcile.call(input, context)))
        const reply = "_tag" in sent ? sent : yield* exchange(provider, sent, turn)
        return "_tag" in reply ? reply : reconcile.finding(reply, input, context)
      })
      const bounds = { millis: provider.timeoutMillis, resumed: false }
      return bounded<Found | Failure | null>(provider, bounds, work, (failed) => failed).pipe(
        Effect.map(({ said }) => (said?._tag === "Failure" ? sanitized(said) : said)),
        Effect.tap((said) => heed(provider, said?._tag === "Failure" ? said : null))
      )
    }

    return Providers.of({ call, callRaw, lookUp })
  })
)
