/**
 * A provider's document with the prices of this installation.
 *
 * A document contains the markup and the price of a credit that it was imported with. Both are the operator's settings, so its amounts are
 * scaled when the catalog is read: exactly, and rounded up where digits have to end. Documents that earlier versions imported don't say
 * which price of a credit they contain. Only their markup is scaled.
 */
import { ordinaryCost } from "../../schema/catalog/CallCost.ts"
import type { CallPrice, CostDriver } from "../../schema/catalog/CostDriver.ts"
import type { Endpoint, EndpointCost, ProviderDocument } from "../../schema/catalog/Endpoint.ts"
import * as Decimal from "../../schema/money/Decimal.ts"
import * as Money from "../../schema/money/Money.ts"
import type { Rates } from "../../schema/money/Rates.ts"
import { defaultMarkup } from "../../schema/money/Pricing.ts"

/** Digits behind the point of a scaled amount. Amounts are products of shorter ones, so nearly all end before. */
const decimalsMax = 18

type Scale = (amount: string) => string

const scaledDriver = (driver: CostDriver, scale: Scale): CostDriver => ({
  ...driver,
  ...(driver.price === undefined ? {} : { price: scale(driver.price) }),
  ...(driver.values === undefined
    ? {}
    : { values: Object.fromEntries(Object.entries(driver.values).map(([value, amount]) => [value, scale(amount)])) })
})

/** The price with each of its amounts changed. Factors stay. */
export const scaledPrice = ({ base, drivers }: CallPrice, scale: Scale): CallPrice => ({
  base: base === null ? null : scale(base),
  drivers: drivers.map((driver) => scaledDriver(driver, scale))
})

const estimateOf = ({ estimate, exact }: EndpointCost, price: CallPrice | undefined, scale: Scale): string | null => {
  if (estimate === null) return null
  const counted = price === undefined ? null : ordinaryCost(price)
  return Money.usd(counted ?? Decimal.micros(Decimal.parse(scale(exact ?? estimate))))
}

/** The endpoint with every amount times numerator ÷ denominator. */
export const scaledEndpoint = (
  endpoint: Endpoint,
  numerator: Decimal.Decimal,
  denominator: Decimal.Decimal
): Endpoint => {
  const { cost, price } = endpoint
  const scale: Scale = (amount) =>
    Decimal.text(Decimal.scaledUp(Decimal.parse(amount), numerator, denominator, decimalsMax))
  const scaled = price === undefined ? undefined : scaledPrice(price, scale)
  const { exact: _exact, ...said } = cost
  return {
    ...endpoint,
    cost: { ...said, estimate: estimateOf(cost, scaled, scale) },
    ...(scaled === undefined ? {} : { price: scaled })
  }
}

interface Factor {
  readonly contained: string
  readonly paid: string
  readonly numerator: Decimal.Decimal
  readonly denominator: Decimal.Decimal
}

/** What amounts with this price of a credit in them are multiplied by. Null if they stay. */
const factorOf = (inDocument: string | undefined, { credit, markup }: Rates): Factor | null => {
  const contained = inDocument ?? "1"
  const paid = inDocument === undefined ? "1" : (credit ?? inDocument)
  const numerator = Decimal.product([paid, markup].map(Decimal.parse))
  const denominator = Decimal.product([contained, defaultMarkup].map(Decimal.parse))
  return Decimal.isEqual(numerator, denominator) ? null : { contained, paid, numerator, denominator }
}

const repricedEndpoint = (endpoint: Endpoint, { contained, paid, numerator, denominator }: Factor): Endpoint => {
  const scaled = scaledEndpoint(endpoint, numerator, denominator)
  if (endpoint.cost.credit === undefined) return scaled
  // The sentence with the price of a credit comes first in a note.
  const note = scaled.cost.note?.replace(`$${contained}`, `$${paid}`) ?? null
  return { ...scaled, cost: { ...scaled.cost, note, credit: paid } }
}

/** Each document is scaled once: readers compare endpoints by identity. */
const cache = new WeakMap<ProviderDocument, { readonly rates: Rates; readonly document: ProviderDocument }>()

/** Pauses after each endpoint that it scales, because a large document would stall the event loop. */
export function* repricing(document: ProviderDocument, rates: Rates): Generator<void, ProviderDocument> {
  const before = cache.get(document)
  if (before?.rates.credit === rates.credit && before.rates.markup === rates.markup) return before.document
  // Endpoints of a document contain the same price of a credit, or none.
  const factors = new Map<string | undefined, Factor | null>()
  const factorFor = (credit: string | undefined): Factor | null => {
    const computed = factors.get(credit)
    if (computed !== undefined) return computed
    const factor = factorOf(credit, rates)
    factors.set(credit, factor)
    return factor
  }
  const endpoints: Array<Endpoint> = []
  for (const endpoint of document.endpoints) {
    const factor = factorFor(endpoint.cost.credit)
    endpoints.push(factor === null ? endpoint : repricedEndpoint(endpoint, factor))
    if (factor !== null) yield
  }
  const isSame = [...factors.values()].every((factor) => factor === null)
  const repriced = isSame ? document : { ...document, endpoints }
  cache.set(document, { rates, document: repriced })
  return repriced
}
