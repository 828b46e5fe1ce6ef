/**
 * The quote of a run, calculated from the free inspect endpoint before anything is spent.
 *
 * The confirmed amount is binding: without --max-cost, the amount that was shown is sent as max_cost.
 */
import { Effect, Option, Schema } from "effect"
import type { InspectedEndpoint, InspectedOffer as OfferShown } from "../../api/Catalog.ts"
import { callCost } from "../../../schema/catalog/CallCost.ts"
import * as Money from "../../../schema/money/Money.ts"
import type { Offer } from "../../../schema/catalog/Provider.ts"
import { type Candidate, route, type RoutingRequest } from "../../../schema/runs/Routing.ts"
import { type Demand, demandOf, type Price, priceMin, rawHold } from "../../../schema/money/Pricing.ts"
import { nearest } from "../../../schema/nearest.ts"
import { Client } from "../answers/Client.ts"
import { consent } from "../terminal/consent.ts"
import { fail } from "../terminal/exits.ts"
import { Screen } from "../terminal/Screen.ts"

export interface Quote {
  /** The most that is held; null when no provider serves the request or the price is unknown. */
  readonly hold: Money.MicroUsd | null
  /** The lowest possible price. */
  readonly from: Money.MicroUsd | null
  /** Sentences on routing and billing. */
  readonly notes: ReadonlyArray<string>
}

const decodeUsd = Schema.decodeUnknownOption(Money.Usd)
/** Parses an amount; null when it is not one. */
const amountOf = (text: unknown): Money.MicroUsd | null => Option.getOrNull(decodeUsd(text))

const Metered = Schema.Struct({ base: Money.Usd, per_result: Money.Usd, default_limit: Schema.Int })
const ByPlatform = Schema.Struct({ by_platform: Schema.Record(Schema.String, Money.Usd) })
const decodeMetered = Schema.decodeUnknownOption(Metered)
const decodeByPlatform = Schema.decodeUnknownOption(ByPlatform)

/** The price of an offer, read from inspect. */
const priceOf = (amount: string, pricing: unknown): Price | null => {
  const metered = Option.getOrNull(decodeMetered(pricing))
  if (metered !== null) return { kind: "metered", ...metered }
  const platforms = Option.getOrNull(decodeByPlatform(pricing))
  if (platforms !== null) return { kind: "by_platform", amounts: platforms.by_platform }
  const flat = amountOf(amount)
  return flat === null ? null : { kind: "flat", amount: flat }
}

/** Count fields of capabilities that are not priced by `limit`. */
const countingFields = ["count", "duration_seconds", "years"]

const demandIn = (input: unknown): Demand => {
  const demand = demandOf(input)
  if (demand.results !== null || typeof input !== "object" || input === null) return demand
  const counts = Object.entries(input).flatMap(([name, value]) =>
    countingFields.includes(name) && Number.isInteger(value) ? [Number(value)] : []
  )
  return { ...demand, results: counts[0] ?? null }
}

const never = (): never => {
  throw new Error("a quote never calls a provider")
}

/** An offer with what inspect returns: enough to rank and price it. */
const offerOf = (capability: string, shown: typeof OfferShown.Type, price: Price): Omit<Offer, "rate"> => ({
  capability,
  wired: shown.wired,
  price,
  verified: shown.verified,
  platforms: shown.platforms,
  note: shown.price.note,
  wraps: [],
  serves: (input) => {
    const { platform } = demandOf(input)
    return platform === null || shown.platforms.length === 0 || shown.platforms.includes(platform)
  },
  request: never,
  next: never,
  response: never,
  timeoutMillis: null
})

/** The routing options of the user. */
export type Routing = RoutingRequest

/** The service reads null members as omitted ones. */
const withoutNulls = (input: unknown): unknown =>
  typeof input === "object" && input !== null && !Array.isArray(input)
    ? Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null))
    : input

/** Fails like the service does when the input is invalid. A capability that only a newer service has is not checked here. */
const validated = Effect.fnUntraced(function* (slug: string, input: unknown) {
  const { capabilities } = yield* Effect.promise(() => import("../../../schema/capabilities/index.ts"))
  const known = capabilities.find((one) => one.slug === slug)
  const issues = known?.issues(withoutNulls(input)) ?? []
  if (issues.length === 0) return
  const lines = issues.map(({ path, message }) => `${path === "" ? "input" : `input.${path}`} ${message}`)
  return yield* fail("usage", `${lines.join("\n  ")}\nSee the input with: rungate inspect ${slug}`)
})

/** Applies the routing rules of the service to the offers of inspect. `input` is validated JSON text. */
export const capabilityQuote = Effect.fnUntraced(function* (capability: string, input: string, routing: Routing) {
  const { ask } = yield* Client
  const value: unknown = JSON.parse(input)
  const found = yield* ask((rungate) => rungate.catalog.inspect({ payload: { capability } }))
  if (!("offers" in found))
    return yield* fail("failed", `${capability} is not a capability. See: rungate inspect ${capability}`)
  yield* validated(capability, value)
  const providers = found.offers.map(({ provider }) => provider)
  if (routing.provider !== "auto" && !providers.includes(routing.provider)) {
    const meant = nearest(routing.provider, providers)
    const next = meant === null ? `Use one of: ${providers.join(", ")}.` : `Did you mean ${meant}?`
    return yield* fail("usage", `--provider ${routing.provider} does not serve ${capability}. ${next}`)
  }
  const candidates = found.offers.flatMap((shown): ReadonlyArray<Candidate> => {
    const price = priceOf(shown.price.amount, shown.pricing)
    if (price === null) return []
    return [
      {
        provider: shown.provider,
        offer: offerOf(capability, shown, price),
        metrics: shown.metrics,
        barred: shown.executable ? null : "no_account"
      }
    ]
  })
  const chosen = route(candidates, routing, value, demandIn(value), false)
  const first = chosen.candidates[0]
  const quote: Quote = {
    hold: first === undefined ? null : chosen.hold,
    from: first === undefined ? null : Money.min(priceMin(first.offer.price), chosen.hold),
    notes: [chosen.reason, found.billing.description]
  }
  return quote
})

export interface RawTarget {
  readonly provider: string
  readonly endpoint: string
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | null
}

const Example = Schema.Struct({ routing: Schema.Struct({ max_cost: Money.Usd }) })

export interface RawGiven {
  /** Validated JSON texts. */
  readonly input: string
  readonly path: string | null
  readonly query: string | null
}

const decodeRecord = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.JsonObject))

/** Applies the rates of inspect to this call. `issues` are invalid fields that decide the price. */
const estimateOf = ({ cost, method, input }: typeof InspectedEndpoint.Type, given: RawGiven) => {
  const { base, drivers = [] } = cost
  const { estimate, issues } = callCost(
    {
      method,
      body_type: input.bodyType,
      encoding: "json",
      cost,
      ...(base === undefined ? {} : { price: { base, drivers } })
    },
    {
      path: given.path === null ? {} : decodeRecord(given.path),
      query: given.query === null ? {} : decodeRecord(given.query),
      input: JSON.parse(given.input)
    }
  )
  return { estimate, issues }
}

export const endpointQuote = Effect.fnUntraced(function* (
  target: RawTarget,
  given: RawGiven,
  cap: Money.MicroUsd | null
) {
  const { ask } = yield* Client
  const found = yield* ask((rungate) => rungate.catalog.inspect({ payload: target }))
  if (!("cost" in found)) return yield* fail("failed", `${target.endpoint} is not an endpoint of ${target.provider}.`)
  const { estimate, issues } = estimateOf(found, given)
  if (issues.length > 0) {
    const lines = issues.map(({ path, message }) => `${path} ${message}`)
    return yield* fail(
      "usage",
      `${lines.join("\n  ")}\nSee the input with: rungate inspect ${target.provider} ${target.endpoint}`
    )
  }
  const example = Option.getOrNull(Schema.decodeUnknownOption(Example)(found.example))?.routing.max_cost ?? null
  // The hold of a marketplace actor has a minimum, which only the example contains.
  const isCounted = estimate !== null && found.input.bodyType !== "actor_input"
  const hold = isCounted ? rawHold({ estimate }, null) : example
  const quote: Quote = {
    hold: hold === null ? cap : cap === null ? hold : Money.min(hold, cap),
    from: estimate ?? amountOf(found.cost.estimate),
    notes: [
      found.cost.note ?? "",
      ...(found.cost.drivers ?? []).map((driver) => driver.description),
      "A raw call is charged the cost that the provider reports, or its published rates. There is no fallback."
    ].filter((note) => note !== "")
  }
  return quote
})

const nothingRun = "Cancelled. Nothing was run and nothing was charged."
const shown = (amount: Money.MicroUsd) => `$${Money.usd(amount)}`

/** Shows the quote and asks. Returns the most that the run may cost: the cap, or the amount shown. */
export const confirm = Effect.fnUntraced(function* (title: string, quote: Quote, cap: Money.MicroUsd | null) {
  const { ask } = yield* Client
  const screen = yield* Screen
  const [wallet, guard] = yield* Effect.all(
    [ask((rungate) => rungate.wallet.get()), ask((rungate) => rungate.wallet.guard())],
    { concurrency: 2 }
  )
  const { hold, from } = quote
  // A free run needs no confirmation.
  if (hold === Money.zero) return cap ?? hold
  const price =
    hold === null
      ? "no provider serves it within the cap"
      : `at most ${shown(hold)}${from !== null && from < hold ? `, from ${shown(from)}` : ""}`
  const limits = [
    cap === null ? "" : `--max-cost ${shown(cap)}`,
    guard.per_run_limit === null ? "" : `spend guard $${guard.per_run_limit} per run`,
    guard.daily_limit === null ? "" : `spend guard $${guard.daily_limit} per day, $${guard.spent_today} spent today`
  ].filter((one) => one !== "")
  // Shown with --quiet too, because the question refers to it.
  yield* screen.warn(
    [
      `${title}: ${price}`,
      ...quote.notes.map((note) => `  ${note}`),
      `  ${limits.length === 0 ? "No --max-cost set." : `Limits: ${limits.join("; ")}.`} Wallet: $${wallet.available} available.`
    ].join("\n")
  )
  const question = hold === null || cap !== null ? "Run it?" : `Run it for at most ${shown(hold)}?`
  yield* consent(question, { yes: false }, nothingRun)
  return cap ?? hold
})

/** The output of --dry-run --json. */
export const dryRunJson = (request: string, { hold, from, notes }: Quote): string =>
  `{"dry_run":true,"quote":${JSON.stringify({
    currency: "USD",
    hold: hold === null ? null : Money.usd(hold),
    from: from === null ? null : Money.usd(from),
    notes
  })},"request":${request}}\n`

export const dryRunLines = (title: string, { hold, from, notes }: Quote): ReadonlyArray<string> => [
  `${title}: ${hold === null ? "no provider serves it within the cap" : `holds at most ${shown(hold)}`}${from === null ? "" : `, costs from ${shown(from)}`}`,
  ...notes,
  "Nothing was run."
]
