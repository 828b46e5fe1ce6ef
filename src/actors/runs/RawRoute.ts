/**
 * Turns a raw request into a run to admit: finds the endpoint, checks the request against the schema that inspect shows, and
 * fixes the hold and the provider request. Invalid requests are refused here, before a run or a hold exists.
 */
import { Clock, Effect } from "effect"
import type { Marketplace } from "../../layers/catalog/Marketplace.ts"
import type { CostDrifts } from "../../layers/executor/CostDrifts.ts"
import type { ProviderCredits } from "../../layers/executor/ProviderCredits.ts"
import { capOf, rateCardOf } from "../../schema/runs/RawHold.ts"
import type { Breakers } from "../../layers/executor/Breakers.ts"
import type { ActorInput } from "../../layers/catalog/CatalogStore.ts"
import { endpointVersion } from "../../layers/catalog/CatalogVersion.ts"
import { compileEndpoint } from "../../layers/catalog/input/EndpointInput.ts"
import type { OwnAccounts } from "../../layers/provideraccounts/OwnAccounts.ts"
import type { Ownership } from "../../layers/runs/Ownership.ts"
import { type Endpoints, isMetered, type Lookup, type RawProvider } from "../../layers/catalog/Endpoints.ts"
import type { NewRun } from "../../layers/runs/NewRuns.ts"
import type { SettingsShape } from "../../layers/platform/Settings.ts"
import type { Endpoint } from "../../schema/catalog/Endpoint.ts"
import { problem, type ProblemOf, refused, refusedWith } from "../../schema/Errors.ts"
import { plannedReuse } from "../../schema/guards/Reuse.ts"
import { namedBy } from "../../schema/catalog/Resources.ts"
import { requestHashOf } from "../../schema/guards/InputHash.ts"
import { rawContacts } from "../../schema/guards/RawRecipients.ts"
import * as Money from "../../schema/money/Money.ts"
import { ownedBy, type OwnOffer } from "../../schema/accounts/OwnAccount.ts"
import { markedUp, type Plan, totalOf } from "../../schema/runs/Plan.ts"
import { storedMetadata } from "../../schema/runs/Metadata.ts"
import { type Checks, planRaw, type RawPlan } from "../../schema/runs/RawPlan.ts"
import { didYouMean } from "../../schema/suggestion.ts"
import { type EndpointRequest, startedBy } from "./RunRequests.ts"
import { ownedByRaw } from "../owners/Owners.ts"
import { withCommands } from "../../schema/Hints.ts"
import { defined } from "../../schema/defined.ts"
import { discover, setProviderAccount, viaApi } from "../../schema/Steps.ts"

type EndpointProblem = ProblemOf<"invalid_request" | "endpoint_not_found" | "provider_not_available">

/** Compiled once per endpoint object. An import creates new objects, so their checks are compiled again. */
const compiled = new WeakMap<Endpoint, Checks>()
const checksOf = (raw: RawProvider, endpoint: Endpoint): Checks => {
  const cached = compiled.get(endpoint)
  if (cached !== undefined) return cached
  const checks = compileEndpoint(endpoint, raw.document?.definitions ?? {})
  compiled.set(endpoint, checks)
  return checks
}

/** Adds an actor's input schema that was loaded after the import, so that runs enforce the schema that inspect shows. */
const completed = new WeakMap<ActorInput, Endpoint>()
const whole = (endpoint: Endpoint, loaded: ActorInput | null): Endpoint => {
  if (loaded === null) return endpoint
  const before = completed.get(loaded)
  // An import may have changed the actor's cost or price.
  if (before !== undefined && before.cost === endpoint.cost && before.price === endpoint.price) return before
  const completeEndpoint = { ...endpoint, body: loaded.body }
  completed.set(loaded, completeEndpoint)
  return completeEndpoint
}

const pathsOf = ({ endpoints }: RawProvider) => endpoints.map((one) => one.path)

const discoverHint = withCommands`search the catalog with ${discover}`

/** The endpoint that a request names, or an error that suggests how to find one. */
export const foundEndpoint = (
  lookup: Lookup,
  request: { readonly provider: string; readonly endpoint: string; readonly method: string | null }
): Effect.Effect<
  { readonly provider: RawProvider; readonly endpoint: Endpoint },
  ProblemOf<"invalid_request" | "endpoint_not_found">
> => {
  const { provider, endpoint, method } = request
  switch (lookup._tag) {
    case "Found":
      return Effect.succeed(lookup)
    case "UnknownProvider":
      return refusedWith(
        "endpoint_not_found",
        withCommands`There is no provider "${provider}".${didYouMean(provider, lookup.providers)} List providers with ${viaApi("GET", "/v1/catalog/providers")}, or ${discoverHint}.`
      )
    case "Excluded":
      return refusedWith("endpoint_not_found", `${provider} has no raw endpoints here: ${lookup.reason}`)
    case "Retired":
      return refusedWith(
        "endpoint_not_found",
        withCommands`${provider} no longer has ${endpoint}. It was removed from the provider's catalog on ${lookup.retired_at.slice(0, 10)}; ${discoverHint}.`
      )
    case "NotAllowed":
      return refusedWith(
        "endpoint_not_found",
        `This service does not run the actor ${endpoint}. The operator can allow it with RUNGATE_ACTORS=${endpoint} (separate several with commas; owner/* allows all of an owner).`
      )
    case "WhichMethod": {
      const methods = lookup.methods.join(", ")
      const message = method === null ? `is required: this path takes ${methods}` : `must be one of ${methods}`
      return refused("method", message)
    }
    case "UnknownEndpoint":
      return refusedWith(
        "endpoint_not_found",
        withCommands`${provider} has no endpoint "${endpoint}".${didYouMean(endpoint, pathsOf(lookup.provider))} ${viaApi("GET", `/v1/catalog/providers/${provider}/endpoints`)} lists its ${lookup.provider.endpoints.length} endpoints, or ${discoverHint}.`
      )
  }
}

/** Refuses an actor that requires full permissions, even if it did not when it was imported. */
export const runnable = (
  endpoint: Endpoint,
  loaded: ActorInput | null
): Effect.Effect<void, ProblemOf<"endpoint_not_found">> =>
  loaded?.full_permissions === true
    ? refusedWith(
        "endpoint_not_found",
        `This service does not run ${endpoint.path}, because the actor requires full permissions for the account that runs it.`
      )
    : Effect.void

export interface RawRoute {
  /** As it is sent: with the fields that were filled in. */
  readonly request: EndpointRequest
  readonly provider: RawProvider
  /** As the catalog has it, before the price follows what calls cost. */
  readonly listed: Endpoint
  readonly endpoint: Endpoint
  readonly raw: RawPlan
  readonly hold: Money.MicroUsd
  readonly quoted: Money.MicroUsd
  readonly markup: string
  /** Set if the organization's own account is called. */
  readonly own: OwnOffer | null
  /** Fails if the request names an object of another organization. */
  readonly owned: Effect.Effect<void, ProblemOf<"invalid_request">>
}

/** What a raw route depends on besides the request and the settings. */
export interface RawServices {
  readonly endpoints: Endpoints["Service"]
  readonly actors: Marketplace["Service"]
  readonly breakers: Breakers["Service"]
  readonly credits: ProviderCredits["Service"]
  readonly drifts: CostDrifts["Service"]
  readonly ownership: Ownership["Service"]
  readonly ownAccounts: OwnAccounts["Service"]
}

/** What the rate card says about the call, without what is added while calls cost more. */
const ratedOf = (
  { provider, free }: RawProvider,
  listed: Endpoint,
  priced: Endpoint,
  request: EndpointRequest,
  estimate: string | null
): string | undefined => {
  // The cap of an actor bounds its cost, and its number of results is not known before.
  if (estimate === null || free || listed.body_type === "actor_input") return undefined
  // The provider reports credits, and the rate is in USD: another kind of credit.
  if ((provider?.credit ?? null) !== null && listed.cost.credit === undefined) return undefined
  if (listed === priced) return estimate
  const { card } = rateCardOf(listed, free, request)
  return card === null ? undefined : Money.usd(card.estimate)
}

const smallest = Money.dollars("0.000001")

type RawSettings = Pick<SettingsShape, "mode" | "rawMinCap" | "markup" | "ownAccountFee">

/** Through which accounts the provider may be called: the organization's own one, and the service's. */
interface Through {
  readonly own: boolean
  readonly platform: boolean
}

const noAccount = ({ slug }: RawProvider) =>
  problem(
    "provider_not_available",
    `This service has no account at ${slug} yet. The operator can add one with RUNGATE_PROVIDER_${slug.toUpperCase()}_API_KEY.`
  )
const refusedPlatform = ({ slug }: RawProvider) =>
  problem(
    "provider_not_available",
    `${slug} currently refuses this service's account. Only the operator can fix this. Nothing was held.`
  )
const outPlatform = ({ slug }: RawProvider) =>
  problem(
    "provider_not_available",
    `${slug} is unavailable through this service now. Try again later, or use another provider. Nothing was held.`
  )
const refusedOwn = ({ slug }: RawProvider) =>
  problem(
    "provider_not_available",
    withCommands`${slug} currently refuses your account. Set its key with ${setProviderAccount(slug)}. Nothing was held.`
  )

const unmetered = ({ slug }: RawProvider, { path }: Endpoint) =>
  problem(
    "provider_not_available",
    `${slug} neither publishes what ${path} costs nor reports it, so this service does not pay for it. The operator can import a manifest with its rates.`
  )

/** The accounts that can make the call now, or why none can. A refused account would be refused again. Other failures may pass. */
const accountsFor = Effect.fnUntraced(function* (
  { breakers, credits, ownAccounts, ownership }: RawServices,
  provider: RawProvider,
  endpoint: Endpoint,
  request: EndpointRequest,
  sandbox: boolean
) {
  const now = yield* Clock.currentTimeMillis
  const isRefused = (trip: { readonly reason: string } | null) => trip?.reason === "provider_account"
  const mine = ownAccounts.of(request.org_id).get(provider.slug)
  const isOut = credits.isOut(provider.slug, null, now)
  const platformRefused = isOut || isRefused(breakers.tripped(provider.slug, endpoint.path, request.org_id, now))
  const configured = sandbox || provider.status === "live"
  const metered = sandbox || isMetered(provider, endpoint)
  const platform = configured && metered && !platformRefused
  const why = !configured ? noAccount : !metered ? unmetered : isOut ? outPlatform : refusedPlatform
  // In the sandbox nobody owns an object.
  const owned = sandbox ? Effect.void : ownedByRaw(ownership, provider.slug, endpoint, request)
  if (mine === undefined) {
    if (!platform) return yield* Effect.fail(why(provider, endpoint))
    return { through: { own: false, platform }, owned }
  }
  // An object belongs to the account through which it was made.
  const uses = !sandbox && (endpoint.resources?.uses ?? []).length > 0
  if (uses && platform && (yield* Effect.isSuccess(owned))) return { through: { own: false, platform }, owned }
  const own = !isRefused(breakers.ownTripped(mine.account_id, endpoint.path, now))
  const failsOver = mine.fallback && platform && !uses
  if (!own && !failsOver) return yield* Effect.fail(refusedOwn(provider))
  return { through: { own, platform: failsOver }, owned: Effect.void }
})

/** What the caller's cap limits: the fee of a call through an own account, and otherwise the price of the call. */
const capsFor = (request: EndpointRequest, { own, platform }: Through, endpoint: Endpoint) => {
  const { max_cost, field } = capOf(request.max_cost, request.max_total ?? null)
  // The cap of a marketplace actor also limits what it may cost the account's owner.
  const lifted = own && !platform && endpoint.body_type !== "actor_input"
  return { requested: max_cost, max_cost: lifted ? null : max_cost, field }
}

/** The hold and the quote, which depend on the accounts that may be called. */
const amountsOf = (
  { hold, quoted }: { readonly hold: Money.MicroUsd; readonly quoted: Money.MicroUsd },
  { own, platform }: Through,
  least: Money.MicroUsd
) => {
  if (!own) return { hold, quoted }
  return platform ? { hold: Money.max(hold, least), quoted: Money.max(quoted, least) } : { hold: least, quoted: least }
}

const refusedCap = (field: string, message: string) => refused(`routing.${field}`, message)

export const rawRoute = (
  services: RawServices,
  { mode, rawMinCap, markup, ownAccountFee }: RawSettings,
  request: EndpointRequest,
  /** `new` loads the input schema of a marketplace actor if it is missing. `stored` asks nobody, and skips the checks that need it. */
  load: "new" | "stored" = "new"
): Effect.Effect<RawRoute, EndpointProblem> =>
  Effect.gen(function* () {
    const { endpoints, actors, drifts } = services
    const sandbox = mode === "sandbox"
    const lookup = endpoints.find(request.provider, request.endpoint, request.method)
    const { provider, endpoint: listed } = yield* foundEndpoint(lookup, request)
    const endpoint = drifts.pricedEndpoint(provider.slug, listed)
    const { through, owned } = yield* accountsFor(services, provider, endpoint, request, sandbox)
    const loaded = yield* actors.input(provider.slug, endpoint, sandbox || load === "stored" ? "never" : "new")
    yield* runnable(endpoint, loaded)
    if (
      load === "new" &&
      !sandbox &&
      endpoint.body_type === "actor_input" &&
      endpoint.body === null &&
      loaded === null
    ) {
      const message = `${endpoint.path} can't run now, because the marketplace did not answer which permissions it requires. Try again in a minute.`
      return yield* refusedWith("provider_not_available", message)
    }
    const wholeEndpoint = whole(endpoint, loaded)
    const { requested, ...cap } = capsFor(request, through, endpoint)
    const decision = planRaw(wholeEndpoint, provider.free, checksOf(provider, wholeEndpoint), request, {
      ...cap,
      unpricedMin: rawMinCap
    })
    if (decision._tag === "Refused") {
      const first = decision.issues[0]
      return yield* refusedWith("invalid_request", `${first?.path} ${first?.message}`, decision.issues)
    }
    // The hold is the cost cap that the actor's platform enforces. The platform might read a cap of zero as no cap.
    if (endpoint.body_type === "actor_input" && decision.hold === Money.zero)
      return yield* refusedCap(cap.field, "must be above 0: it caps what the actor may cost")
    if (through.own && requested !== null && requested < ownAccountFee)
      return yield* refusedCap(
        cap.field,
        `must be at least ${Money.usd(ownAccountFee)}: a call through your own account costs that`
      )
    const credit = provider.provider?.credit ?? undefined
    const rated = ratedOf(provider, listed, endpoint, decision.request, decision.raw.estimate)
    // The database admits no marketplace actor without a hold, because the hold is the cost cap elsewhere. This one is released.
    const least = endpoint.body_type === "actor_input" ? Money.max(ownAccountFee, smallest) : ownAccountFee
    // The rate card of a call that only the own account makes is the fee.
    const card = through.own && !through.platform ? { estimate: Money.usd(ownAccountFee) } : defined({ credit, rated })
    // Of its own account, the organization owns everything. In the sandbox nobody owns an object.
    const uses = through.own || sandbox ? [] : namedBy(endpoint.resources?.uses ?? [], endpoint, request).named
    const raw = { ...decision.raw, ...card, ...(uses.length === 0 ? {} : { uses }) }
    const own = through.own
      ? { provider: provider.slug, fee: Money.usd(ownAccountFee), fallback: through.platform }
      : null
    return {
      request: decision.request,
      provider,
      listed,
      endpoint,
      ...amountsOf(decision, through, least),
      raw,
      markup,
      own,
      owned
    }
  })

/** Whether a call may do more than read. Only GET is known to read, and some endpoints act with GET too. */
export const actsOutside = (endpoint: Endpoint): boolean => endpoint.method !== "GET" || endpoint.acts === true

/** A raw run makes one attempt only, because the effect of a lost call is unknown. */
export const rawRun = (request: EndpointRequest, run_id: string, route: RawRoute): NewRun => {
  const { provider, listed, endpoint, raw, hold, quoted, markup, own } = route
  const plan: Plan = {
    providers: [provider.slug],
    // A refused own account does not use up the attempt.
    attempts_max: own?.fallback === true ? 2 : 1,
    routing: "pinned",
    include_raw: false,
    side_effect: actsOutside(endpoint),
    ...(endpoint.acts === true ? { acts: true as const, ...rawContacts([request.path, request.input]) } : {}),
    ...markedUp(markup),
    excluded: [],
    ...totalOf(request.max_total ?? null, [hold], []),
    ...plannedReuse(request.reuse, request.access),
    ...startedBy(request),
    ...ownedBy(own === null ? [] : [own]),
    raw,
    seen: {
      catalog: endpointVersion(listed),
      ...(request.max_cost === null ? {} : { max_cost: Money.usd(request.max_cost) })
    }
  }
  const through = own === null ? "" : " through your account"
  const after = own?.fallback === true ? "; if it refuses your account, this service's account is called" : ""
  const held =
    own !== null ? `fee $${own.fee}` : raw.estimate === null ? "no published rates" : `rate card $${raw.estimate}`
  return {
    run_id,
    org_id: request.org_id,
    key_id: request.key_id,
    key_version: request.access?.version ?? null,
    budget_id: request.access?.budget_id ?? null,
    input_hash: requestHashOf(
      { provider: provider.slug, method: raw.method, path: raw.path, query: raw.query },
      raw.has_body ? request.input : null
    ),
    request_id: request.request_id,
    idempotency_key: request.idempotency_key,
    fingerprint: request.fingerprint,
    kind: "endpoint",
    capability: null,
    endpoint: endpoint.path,
    provider: provider.slug,
    hold,
    quoted,
    input: request.input_text,
    plan,
    routing_reason: `raw endpoint of ${provider.slug}, called once${through} (${held}, holds $${Money.usd(hold)})${after}`,
    metadata: storedMetadata(request.metadata)
  }
}
