/**
 * Turns a capability request into a route: checks its input and routing, and ranks the offers that can serve it now.
 *
 * Runs and quotes use it, so a quote says what a run that follows does. Invalid requests are refused here, before a run or a hold exists.
 */
import { Clock, Effect, Result } from "effect"
import type { Catalog, CatalogEntry } from "../../layers/catalog/Catalog.ts"
import type { Breakers } from "../../layers/executor/Breakers.ts"
import type { CostDrifts } from "../../layers/executor/CostDrifts.ts"
import type { ProviderCredits } from "../../layers/executor/ProviderCredits.ts"
import type { Health } from "../../layers/executor/Health.ts"
import type { OwnAccounts } from "../../layers/provideraccounts/OwnAccounts.ts"
import type { Ownership } from "../../layers/runs/Ownership.ts"
import { type Accept, acceptIssues, acceptOf, chargedAnswers } from "../../schema/catalog/Acceptance.ts"
import { problem, type ProblemOf, refused, refusedWith } from "../../schema/Errors.ts"
import { withCommands } from "../../schema/Hints.ts"
import { isReuse } from "../../schema/guards/Reuse.ts"
import { contactsPeople } from "../../schema/guards/ContactGuard.ts"
import { touchCapabilities } from "../../schema/guards/Touches.ts"
import type { Capability } from "../../schema/catalog/Capability.ts"
import type { MicroUsd } from "../../schema/money/Money.ts"
import type { Demand, Price } from "../../schema/money/Pricing.ts"
import { type Candidate, canServe, type Route, route, type RoutingRequest } from "../../schema/runs/Routing.ts"
import { discover } from "../../schema/Steps.ts"
import { notReusable } from "../guards/GuardedPlans.ts"
import { withHosts } from "../../schema/json/Hosts.ts"
import { didYouMean } from "../../schema/suggestion.ts"
import type { CapabilityRequest } from "./RunRequests.ts"
import { aboveKeyCap, allowedCandidates, capFor, checkScope } from "./KeyScopes.ts"
import { inboxFirst, ownedInputs } from "../owners/Owners.ts"
import { throughAccount, throughObjects } from "../owners/OwnRoute.ts"
import { lacksSecond, unavailable } from "./Unavailable.ts"

type CapabilityProblem = ProblemOf<"invalid_request" | "capability_not_found" | "provider_not_available" | "forbidden">

/** What a route depends on besides the request. */
export interface RouteServices {
  readonly catalog: Catalog["Service"]
  readonly health: Health["Service"]
  readonly breakers: Breakers["Service"]
  readonly credits: ProviderCredits["Service"]
  readonly drifts: CostDrifts["Service"]
  readonly ownership: Ownership["Service"]
  readonly ownAccounts: OwnAccounts["Service"]
  readonly ownAccountFee: MicroUsd
}

type OfferServices = Pick<
  RouteServices,
  "catalog" | "health" | "breakers" | "credits" | "ownAccounts" | "ownAccountFee"
>

/** A checked request with its route. */
export interface CapabilityRoute {
  /** The capability with the offers and prices of now. */
  readonly entry: CatalogEntry
  readonly input: unknown
  readonly demand: Demand
  /** The offers that the route was chosen from. */
  readonly considered: ReadonlyArray<Candidate>
  readonly chosen: Route
  /** The routing of the request, with the cap of the key if that is lower. */
  readonly routing: RoutingRequest
}

/** `null` in an optional field is the same as leaving it out. */
const withoutNulls = (input: unknown): unknown => {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return input
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null))
}

/** Whether only the cursor keeps every provider from serving the input: then no provider here issued it. */
const hasForeignCursor = (candidates: ReadonlyArray<Candidate>, input: unknown): boolean => {
  if (typeof input !== "object" || input === null || !("cursor" in input)) return false
  const { cursor: _cursor, ...rest } = input
  return candidates.some((one) => one.barred === null && one.offer.serves(rest))
}

const servingAll = (candidate: Candidate): Candidate => ({
  ...candidate,
  offer: { ...candidate.offer, serves: () => true, lacks: [] }
})

/** Why the request may not accept what it names. Null if it may. */
const acceptRefusal = (capability: Capability, { accept, routing, reuse }: CapabilityRequest) => {
  const wanted = acceptOf(accept)
  if (wanted === null) return null
  const single = routing.provider !== "auto" || !routing.allow_fallback
  const issues = [
    ...acceptIssues(capability.slug, wanted, capability.acceptable()),
    ...(wanted.agree !== undefined && single
      ? [{ path: "accept.agree", message: "needs two providers, and routing allows one only" }]
      : []),
    ...(wanted.max_age_days !== undefined && isReuse(reuse)
      ? [{ path: "accept.max_age_days", message: "can't be combined with reuse: an earlier result has grown older" }]
      : [])
  ]
  const [first] = issues
  return first === undefined ? null : problem("invalid_request", `${first.path} ${first.message}`, issues)
}

/** Makes all checks that need no database. */
const checked = (
  catalog: Catalog["Service"],
  request: CapabilityRequest
): Effect.Effect<{ readonly entry: CatalogEntry; readonly input: unknown }, CapabilityProblem> => {
  const entry = catalog.find(request.capability)
  if (entry === undefined) {
    const names = catalog.entries.map((one) => one.capability.slug)
    return refusedWith(
      "capability_not_found",
      withCommands`There is no capability "${request.capability}".${didYouMean(request.capability, names)} Search the catalog with ${discover}.`
    )
  }
  const { capability } = entry
  const written = withoutNulls(request.input)
  const asWritten = capability.issues(written)
  // What a run does outside is done with the input as it was written.
  const mayTakeHosts = asWritten.length > 0 && !capability.side_effect
  const input = mayTakeHosts ? withHosts(capability.input.jsonSchema, written) : written
  const issues = mayTakeHosts ? capability.issues(input) : asWritten
  if (issues.length > 0) {
    const details = issues.map((issue) => ({
      ...issue,
      path: issue.path === "" ? "input" : `input.${issue.path}`
    }))
    const first = details[0]
    return refusedWith("invalid_request", `${first?.path} ${first?.message}`, details)
  }
  const refusal = acceptRefusal(capability, request)
  if (refusal !== null) return Effect.fail(refusal)
  if (isReuse(request.reuse) && entry.capability.side_effect) return notReusable
  if ((request.unless_contacted_within_seconds ?? null) !== null && !contactsPeople(request.capability)) {
    const message = `is for capabilities that contact people: ${touchCapabilities.join(", ")}`
    return refused("unless_contacted_within_seconds", message)
  }
  const { provider } = request.routing
  const names = entry.offers.map((one) => one.provider.slug)
  if (provider !== "auto" && !names.includes(provider)) {
    const message = `routing.provider "${provider}" does not serve ${request.capability}.${didYouMean(provider, ["auto", ...names])} Use "auto" or one of: ${names.join(", ")}`
    return refused("routing.provider", `must be auto or one of ${names.join(", ")}`, message)
  }
  if (!catalog.sandbox && entry.capability.status === "coming_soon") {
    const message = `${request.capability} is coming soon. At present it runs only in the sandbox, where it is simulated.`
    return refusedWith("provider_not_available", message)
  }
  return Effect.succeed({ entry, input })
}

/** The offers as routing ranks them, with prices, health, breakers and credits of now. */
const candidatesOf = (
  { health, breakers, credits }: OfferServices,
  { offers, capability: { slug: capability } }: CatalogEntry,
  org_id: string,
  now: number
): ReadonlyArray<Candidate> => {
  const isLeftOut = (slug: string, price: Price) =>
    breakers.tripped(slug, capability, org_id, now) !== null || credits.isOut(slug, price, now)
  return offers.map(({ provider: { slug }, offer, executable }) => ({
    provider: slug,
    offer,
    metrics: health.offer(capability, slug).expected,
    barred: !executable ? "no_account" : isLeftOut(slug, offer.price) ? "unavailable" : null
  }))
}

/** The offers as this organization calls them: through its own accounts where it has some. */
const throughAccounts = (
  { ownAccounts, ownAccountFee, breakers, catalog }: OfferServices,
  { offers, capability }: CatalogEntry,
  org_id: string,
  candidates: ReadonlyArray<Candidate>,
  now: number
): ReadonlyArray<Candidate> => {
  const accounts = ownAccounts.of(org_id)
  if (accounts.size === 0) return candidates
  const services = { ownAccountFee, breakers, sandbox: catalog.sandbox }
  return candidates.map((candidate) => {
    const offered = offers.find((one) => one.provider.slug === candidate.provider)
    return offered === undefined
      ? candidate
      : throughAccount(services, accounts.get(candidate.provider), capability, offered, candidate, now)
  })
}

type Choice = Pick<CapabilityRoute, "considered" | "chosen">
/** Choices of an entry, by the routing, the demand, and which offers can serve. */
const choices = new WeakMap<CatalogEntry, Map<string, Choice>>()
/** Of one entry. More than inputs of a capability differ by. */
const choicesMax = 200

/** Ranks the offers, once for all runs that differ in nothing which the rank depends on. Health and prices make new objects when they change. */
const choose = (
  entry: CatalogEntry,
  considered: ReadonlyArray<Candidate>,
  routing: RoutingRequest,
  input: unknown,
  demand: Demand
): Choice => {
  const { provider, strategy, max_cost, max_total, allow_fallback, accept } = routing
  const usable = considered.map(({ offer, barred }) => (canServe(offer, input, accept) ? barred : "cannot_serve"))
  const answers = chargedAnswers(accept)
  const rules = [provider, strategy, max_cost, max_total, allow_fallback, answers, demand.results, ...usable]
  const key = `${rules.join(" ")} ${demand.platform ?? ""}`
  const ofEntry = choices.get(entry) ?? new Map<string, Choice>()
  const before = ofEntry.get(key)
  const isSame = ({ metrics, offer }: Candidate, n: number) =>
    metrics === considered[n]?.metrics && offer === considered[n]?.offer
  if (before?.considered.length === considered.length && before.considered.every(isSame)) return before
  const choice = { considered, chosen: route(considered, routing, input, demand, entry.capability.side_effect) }
  // An offer through an own account is a new object for each run.
  if (considered.some(({ own }) => own !== undefined)) return choice
  if (ofEntry.size >= choicesMax) ofEntry.clear()
  choices.set(entry, ofEntry.set(key, choice))
  return choice
}

/** Whether routing considers each offer of the capability now, for this organization. */
export const routableNow = (services: OfferServices, entry: CatalogEntry, org_id: string, now: number) =>
  throughAccounts(services, entry, org_id, candidatesOf(services, entry, org_id, now), now).map(
    ({ barred }) => barred === null
  )

/** Chooses providers that can use the objects (senders, accounts, inboxes) that the input names. */
export const capabilityRoute = Effect.fnUntraced(function* (services: RouteServices, request: CapabilityRequest) {
  const { catalog, drifts, ownership } = services
  const { entry: listed, input } = yield* checked(catalog, request)
  const { capability } = listed
  const { access } = request
  const { provider, max_cost } = request.routing
  const pinned = provider === "auto" ? null : provider
  yield* checkScope(access, {
    capability: request.capability,
    provider: pinned,
    max_cost,
    acts: capability.side_effect
  })
  const accept: Accept | null = acceptOf(request.accept)
  const routing = { ...request.routing, max_cost: capFor(access, max_cost), accept }
  const uses = catalog.sandbox ? [] : capability.uses(input)
  const all = yield* Effect.result(ownedInputs(ownership, request.org_id, uses))
  const owned = pinned === null ? Result.map(all, inboxFirst) : all
  const entry = drifts.priced(listed)
  const now = yield* Clock.currentTimeMillis
  const platform = candidatesOf(services, entry, request.org_id, now)
  const offered = throughAccounts(services, entry, request.org_id, platform, now)
  const platformOf = (slug: string) => platform.find((one) => one.provider === slug)
  const usable = uses.length === 0 ? offered : yield* Effect.fromResult(throughObjects(owned, offered, platformOf))
  const candidates = yield* allowedCandidates(access, request.capability, usable)
  const demand = capability.demand(input)
  const real = choose(entry, candidates, routing, input, demand)
  // Simulated providers serve every input that the contract accepts, even one that no real provider could.
  const simulated =
    catalog.sandbox &&
    real.chosen.candidates.length === 0 &&
    real.chosen.over_total.length === 0 &&
    !hasForeignCursor(candidates, input)
  const { considered, chosen } = simulated
    ? {
        considered: candidates,
        chosen: route(candidates.map(servingAll), routing, input, demand, capability.side_effect)
      }
    : real
  const unserved =
    chosen.candidates.length === 0 &&
    chosen.over_total.length === 0 &&
    chosen.excluded.every((one) => one.reason === "cannot_serve" || one.reason === "no_account")
  if (unserved && hasForeignCursor(candidates, input)) {
    const message = "must be the next_cursor of an earlier page of the same search, from a provider that may be asked"
    return yield* refused("input.cursor", message)
  }
  if (chosen.candidates.length === 0) {
    const names = candidates.filter((one) => one.barred !== "no_account").map((one) => one.provider)
    const tooDear = aboveKeyCap(access, max_cost, chosen)
    return yield* Effect.fail(tooDear ?? unavailable(request.capability, routing, chosen, names))
  }
  const [only] = chosen.candidates
  if (chosen.candidates.length < chargedAnswers(accept)) {
    const tooDear = aboveKeyCap(access, max_cost, chosen)
    return yield* Effect.fail(tooDear ?? lacksSecond(request.capability, only?.provider ?? "", chosen))
  }
  return { entry, input, demand, considered, chosen, routing } satisfies CapabilityRoute
})
