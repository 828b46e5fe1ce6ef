/**
 * A provider and its offers, as plain values. Adapters are pure functions, and one executor sends the HTTP requests.
 *
 * An offer is a pair of functions, `request(input) -> call` and `response(reply) -> outcome`, typed against the capability,
 * so an adapter whose output drifts does not compile. `offer()` erases the types for the catalog and checks at run time
 * that what an adapter delivers has the capability's published output shape.
 */
import type { Schema } from "effect"
import type { Bounce, SentMessage } from "../mail/Bounce.ts"
import type { BounceEvents } from "../mail/BounceEvents.ts"
import type { Capability } from "./Capability.ts"
import type { CreditsLeft } from "./Credits.ts"
import { type Call, type CallParts, type EndpointName, type Wraps, wholeCall, wrapsOf } from "./Call.ts"
import type { Found } from "./Doubt.ts"
import type { ResourceKind } from "./Endpoint.ts"
import { demandOf, type Price } from "../money/Pricing.ts"
import { type OfferRate, priceOf, type Rates } from "../money/Rates.ts"
import { defaultMarkup } from "../money/Pricing.ts"
import { defined } from "../defined.ts"

export type { Call, CallParts, EndpointName }

/** One HTTP response. `body` is the parsed JSON, or undefined if the response is not JSON. Header names are lower case. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
  readonly text: string
}

/** The cost that a provider reports: in US dollars or in the provider's own credits, as a decimal string. */
export type Cost =
  | { readonly unit: "USD"; readonly amount: string }
  | { readonly unit: "credit"; readonly amount: string }

/** The outcome of a send to somebody who closed their address to the sender, or whose address was closed by a bounce. */
export const suppressed = "recipient_suppressed"

/** The outcome of an attempt that was not made, because the service's account has too few credits left. */
export const notCalled = "provider_unavailable"

/**
 * A failed call. `provider_account` is a problem of the operator's account (401, 402, 403), and never the caller's fault.
 */
export type Failure = {
  readonly _tag: "Failure"
  readonly reason:
    | "provider_error"
    /** The provider refused the request (400, 404, 409, 422 …). It does not count in the provider's health. */
    | "provider_rejected"
    | "provider_rate_limited"
    | "provider_account"
    | "provider_timeout"
    | "invalid_response"
    /** A recipient is on the provider's suppression list. The run ends, and it does not count in the provider's health. */
    | typeof suppressed
    /** The service's account has too few credits left for the call, so nothing was sent. */
    | typeof notCalled
  readonly detail: string
  readonly retryAfterSeconds?: number
  /** The provider says that the account has no credits left. */
  readonly outOfCredits?: true
}

export type Outcome<O> =
  | { readonly _tag: "Match"; readonly output: O; readonly cost?: Cost }
  | { readonly _tag: "NoMatch"; readonly detail: string; readonly cost?: Cost }
  | Failure
  /**
   * Not finished: the offer's `next` continues from `state` after the pause. With `job`, the provider works on a job that was started. The
   * state is stored before the pause, so a restart continues with it instead of starting a second job. Without `job`, it is the next of
   * several steps, and a restart begins with the first one if the capability allows that.
   */
  | { readonly _tag: "Again"; readonly state: Schema.Json; readonly afterMillis: number; readonly job: boolean }

export const failure = (reason: Failure["reason"], detail: string, retryAfterSeconds?: number): Failure => ({
  _tag: "Failure",
  reason,
  detail,
  ...defined({ retryAfterSeconds })
})

/** What an adapter gets besides the input. `run_id` serves as the provider's idempotency key. */
export interface CallContext {
  readonly run_id: string
  /** The fields that `accept` of the request wants. Absent: none. */
  readonly wanted?: ReadonlyArray<string>
  /** The address with which the recipient of a message opts out. Absent for a call that sends none, or one to several people. */
  readonly unsubscribe?: string
}

/** What a look-up gets besides the input. `age_seconds` is the time since the run ended. */
export interface LookupContext extends CallContext {
  readonly age_seconds: number
}

/**
 * Looks up at the provider whether a call with an unknown outcome was carried out, by the run id that was sent with the call.
 *
 * The look-up is a GET, so it can't repeat the act.
 */
export interface Reconcile<I> {
  /** Whether the call for this input contains the run id. Without it, a look-up that finds nothing would prove nothing. */
  readonly marks: (input: I) => boolean
  readonly call: (input: I, context: LookupContext) => Call & { readonly method: "GET" }
  /** Null if the provider does not know yet. */
  readonly finding: (reply: Reply, input: I, context: LookupContext) => Found | Failure | null
}

/** Looks up at the provider whether a message bounced, with the account that sent it. The look-up is a GET, so it changes nothing. */
export interface BounceLookup {
  /** The id of the message in a result of the provider's own endpoint, as a raw run has it. */
  readonly rawMessageId: (result: unknown) => string | null
  readonly call: (message: SentMessage) => Call & { readonly method: "GET" }
  readonly finding: (reply: Reply, message: SentMessage) => Bounce | Failure
  /** Absent if the provider sends no signed events that name the run. */
  readonly events?: BounceEvents
}

export interface Offer {
  readonly capability: string
  /** A real adapter exists. Without one the offer is listed, and the sandbox simulates it. */
  readonly wired: boolean
  /** What it costs the operator. */
  readonly rate: OfferRate
  /** What a run is charged: the rate in USD with the markup. */
  readonly price: Price
  /** The price is based on measured provider costs and not on published rates. */
  readonly verified: boolean
  readonly platforms: ReadonlyArray<string>
  readonly note: string | null
  readonly wraps: ReadonlyArray<Wraps>
  /** Whether this offer can serve this input at all (some need a field that others do not). */
  readonly serves: (input: unknown) => boolean
  /** Fields of the output that this offer never has. Absent: none. */
  readonly lacks?: ReadonlyArray<string>
  /**
   * If a field may name objects of several kinds, the kind that this offer works with. In production, the kind of the object that the
   * organization owns then decides instead of `serves`.
   */
  readonly through?: ResourceKind
  readonly request: (input: unknown, context: CallContext) => Call
  /** The call that continues from a state. */
  readonly next: (state: Schema.Json, input: unknown, context: CallContext) => Call
  /** `state` comes from the call before. Null for the first call. */
  readonly response: (reply: Reply, input: unknown, state: Schema.Json) => Outcome<unknown>
  /** The timeout of an attempt, including pauses. Null means the provider's timeout. */
  readonly timeoutMillis: number | null
  /** Absent if the provider can't look up a call by its run id. */
  readonly reconcile?: Reconcile<unknown>
  /** Absent if the offer sends no e-mail, or its provider can't be asked about bounces. */
  readonly bounce?: BounceLookup
}

/** How the secret of the operator's account is sent. Keys and `login:password` come from RUNGATE_PROVIDER_<SLUG>_API_KEY. */
export type Auth =
  | { readonly kind: "header"; readonly name: string; readonly prefix?: string }
  | { readonly kind: "query"; readonly name: string }
  | { readonly kind: "bearer" }
  | { readonly kind: "basic" }
  /** Two secrets in two headers. The setting has them as `first:second`. */
  | { readonly kind: "headers"; readonly names: readonly [string, string] }
  /**
   * A client id and a secret, exchanged at `path` for a token that is sent as a bearer (OAuth 2.0). The setting has them as
   * `client_id:client_secret`.
   */
  | { readonly kind: "client_credentials"; readonly path: string }
  /** No key, but a User-Agent with a contact address. With `required` the provider refuses requests without one. */
  | { readonly kind: "contact"; readonly required?: true }
  | { readonly kind: "none" }

/** Whether a provider can be called without an account. */
export const needsNoAccount = (auth: Auth): boolean =>
  auth.kind === "none" || (auth.kind === "contact" && auth.required !== true)

/** Whether the service takes events of a provider. */
export const sendsEvents = ({ offers }: Pick<Provider, "offers">): boolean =>
  offers.some(({ bounce }) => bounce?.events !== undefined)

export interface Provider {
  readonly slug: string
  readonly title: string
  readonly homepage: string
  readonly base_url: string
  /** Other origins of the provider, which also get its key. */
  readonly origins: ReadonlyArray<string>
  readonly auth: Auth
  /** Sent with every call, such as an API version. */
  readonly headers: Readonly<Record<string, string>>
  /** Maximum number of concurrent calls from one process. */
  readonly concurrency: number
  /** Minimum milliseconds between the starts of two calls of one process. */
  readonly spacingMillis: number
  readonly timeoutMillis: number
  readonly offers: ReadonlyArray<Offer>
  /** Why the provider's raw endpoints are not offered. Null if they are. */
  readonly excluded: string | null
  /** Public data: raw calls hold nothing and settle at $0. */
  readonly free: boolean
  /** The cost of a call that its response reports. Null if it reports none. */
  readonly measured: (reply: Reply) => Cost | null
  /**
   * What the operator pays for a credit, as a decimal string in USD. Null if the provider bills in USD. For a provider that is paid by the
   * month, a credit is one call or message, and its price is a share of the plan.
   */
  readonly credit: string | null
  /** The call that says what the account has left. It costs nothing. Absent if the provider has none. */
  readonly credits?: { readonly request: Call; readonly read: (reply: Reply) => CreditsLeft | Failure }
}

/** An offer before its provider gives it a price. */
export type UnpricedOffer = Omit<Offer, "price">

export interface OfferDefinition<I, O> {
  /** What it costs the operator, without markup. */
  readonly price: OfferRate
  readonly verified?: boolean
  readonly platforms?: ReadonlyArray<string>
  readonly note?: string
  readonly wraps: ReadonlyArray<EndpointName>
  readonly serves?: (input: I) => boolean
  readonly lacks?: ReadonlyArray<string>
  readonly through?: ResourceKind
  readonly request: (input: I, context: CallContext) => Call | CallParts
  /** Needed by an offer whose `response` answers `Again`. */
  readonly next?: (state: Schema.Json, input: I, context: CallContext) => Call | CallParts
  /** Reads a response that the provider's `httpErrors` did not recognize as a failure. */
  readonly response: (reply: Reply, input: I, state: Schema.Json) => Outcome<O>
  /** For jobs that take longer than the provider's ordinary calls. */
  readonly timeoutMillis?: number
  readonly reconcile?: Reconcile<I>
  readonly bounce?: BounceLookup
}

/** Whether an offer that names platforms covers the one that the input names. */
const coversPlatform = (platforms: ReadonlyArray<string>, input: unknown) => {
  const { platform } = demandOf(input)
  return platform === null || platforms.length === 0 || platforms.includes(platform)
}

/** The input, which the capability accepts: whoever calls an offer has checked it. */
const accepted = <I>({ slug, input: { accepts, issues } }: Capability<I, unknown>, input: unknown): I => {
  if (accepts(input)) return input
  const problems = issues(input).map((issue) => `${issue.path} ${issue.message}`)
  throw new Error(`${slug}: an adapter got an invalid input: ${problems.join("; ")}`)
}

type Terms<I> = Pick<
  OfferDefinition<I, unknown>,
  "price" | "verified" | "platforms" | "note" | "wraps" | "serves" | "lacks" | "through"
>

const terms = <I, O>(capability: Capability<I, O>, definition: Terms<I>) => ({
  capability: capability.slug,
  rate: definition.price,
  verified: definition.verified ?? false,
  platforms: definition.platforms ?? [],
  note: definition.note ?? null,
  wraps: definition.wraps.map(wrapsOf),
  ...defined({ through: definition.through, lacks: definition.lacks }),
  serves: (input: unknown) =>
    capability.input.accepts(input) &&
    coversPlatform(definition.platforms ?? [], input) &&
    (definition.serves?.(input) ?? true)
})

const notAsked = (capability: string) => () => {
  throw new Error(`${capability}: the service answers it itself`)
}

/** An offer of a capability that the service answers from its own records: no provider is called. */
export const recorded = <I, O>(capability: Capability<I, O>, definition: Terms<NoInfer<I>>): UnpricedOffer => ({
  ...terms(capability, definition),
  wired: true,
  request: notAsked(capability.slug),
  next: notAsked(capability.slug),
  response: () => failure("provider_error", "the service answers it itself"),
  timeoutMillis: null
})

const erased = <I>(capability: Capability<I, unknown>, { marks, call, finding }: Reconcile<I>): Reconcile<unknown> => ({
  marks: (input) => capability.input.accepts(input) && marks(input),
  call: (input, context) => call(accepted(capability, input), context),
  finding: (reply, input, context) =>
    capability.input.accepts(input) && marks(input) ? finding(reply, input, context) : null
})

export const offer = <I, O>(
  capability: Capability<I, O>,
  definition: OfferDefinition<I, NoInfer<O>>
): UnpricedOffer => {
  const offered = terms(capability, definition)
  const { wraps } = offered
  return {
    ...offered,
    wired: true,
    request: (input, context) => wholeCall(definition.request(accepted(capability, input), context), wraps),
    next: (state, input, context) => {
      if (definition.next === undefined) throw new Error(`${capability.slug}: the offer answered Again but has no next`)
      return wholeCall(definition.next(state, accepted(capability, input), context), wraps)
    },
    timeoutMillis: definition.timeoutMillis ?? null,
    ...(definition.reconcile === undefined ? {} : { reconcile: erased(capability, definition.reconcile) }),
    ...defined({ bounce: definition.bounce }),
    response: (reply, input, state) => {
      const outcome = definition.response(reply, accepted(capability, input), state)
      if (outcome._tag !== "Match") return outcome
      const problem = capability.output.issues(outcome.output)[0]
      if (problem !== undefined) {
        return failure(
          "invalid_response",
          `the answer does not match the capability's output: ${problem.path} ${problem.message}`
        )
      }
      return outcome
    }
  }
}

/** `measured` of a provider whose responses say nothing about their cost. */
export const reportsNoCost = (): null => null

/**
 * Defines a provider. `httpErrors` recognizes the provider's error responses before any offer reads the reply. If it returns undefined, the
 * reply goes to `response`. An HTTP status of 400 or above that neither recognizes is a provider error.
 */
export const provider = (
  definition: Omit<
    Provider,
    "headers" | "spacingMillis" | "origins" | "excluded" | "free" | "credit" | "measured" | "offers"
  > & {
    readonly headers?: Provider["headers"]
    readonly spacingMillis?: number
    readonly origins?: Provider["origins"]
    readonly excluded?: string
    readonly free?: boolean
    /** The price of a credit in the smallest paid plan. */
    readonly credit?: string
    readonly offers: ReadonlyArray<UnpricedOffer>
    /** The cost of a raw call, and of an outcome without a cost. An offer of several calls adds their costs up itself. */
    readonly measured?: (reply: Reply) => Cost | null
    readonly httpErrors?: (reply: Reply) => Failure | undefined
    /** Recognizes replies without an answer, such as a miss, for all offers. Called after `httpErrors`, with the capability's name. */
    readonly unanswered?: (reply: Reply, capability: string) => Outcome<never> | undefined
  }
): Provider => {
  const { credits, httpErrors, offers, unanswered } = definition
  const measured = definition.measured ?? reportsNoCost
  const costed = (outcome: Outcome<unknown>, reply: Reply): Outcome<unknown> => {
    if ((outcome._tag !== "Match" && outcome._tag !== "NoMatch") || outcome.cost !== undefined) return outcome
    const cost = measured(reply)
    return cost === null ? outcome : { ...outcome, cost }
  }
  const checked =
    <Rest extends ReadonlyArray<unknown>, A>(read: (reply: Reply, ...rest: Rest) => A) =>
    (reply: Reply, ...rest: Rest): A | Failure =>
      httpErrors?.(reply) ?? read(reply, ...rest)
  return {
    ...definition,
    ...(credits && { credits: { ...credits, read: checked(credits.read) } }),
    headers: definition.headers ?? {},
    spacingMillis: definition.spacingMillis ?? 0,
    origins: definition.origins ?? [],
    excluded: definition.excluded ?? null,
    free: definition.free ?? false,
    credit: definition.credit ?? null,
    measured,
    offers: offers.map(({ reconcile, bounce, ...one }) => ({
      ...one,
      price: priceOf(one.rate, { credit: definition.credit ?? null, markup: defaultMarkup }),
      response: checked((reply, ...rest: [unknown, Schema.Json]) =>
        costed(unanswered?.(reply, one.capability) ?? one.response(reply, ...rest), reply)
      ),
      ...(reconcile && { reconcile: { ...reconcile, finding: checked(reconcile.finding) } }),
      ...(bounce && { bounce: { ...bounce, finding: checked(bounce.finding) } })
    }))
  }
}

/** The provider with the prices that follow from these rates; the provider itself if they are its own. */
export const withRates = (provider: Provider, rates: Rates): Provider =>
  rates.credit === provider.credit && rates.markup === defaultMarkup
    ? provider
    : {
        ...provider,
        credit: rates.credit,
        offers: provider.offers.map((one) => ({ ...one, price: priceOf(one.rate, rates) }))
      }
