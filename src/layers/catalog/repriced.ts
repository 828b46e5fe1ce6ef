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
import { defaultMarkup, type Rates } from "../../schema/money/Rates.ts"

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

const scaledPrice = ({ base, drivers }: CallPrice, scale: Scale): CallPrice => ({
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

const repricedEndpoint = (endpoint: Endpoint, { credit, markup }: Rates): Endpoint => {
  const contained = endpoint.cost.credit ?? "1"
  const paid = endpoint.cost.credit === undefined ? "1" : (credit ?? endpoint.cost.credit)
  const numerator = Decimal.product([paid, markup].map(Decimal.parse))
  const denominator = Decimal.product([contained, defaultMarkup].map(Decimal.parse))
  if (Decimal.isEqual(numerator, denominator)) return endpoint
  const scaled = scaledEndpoint(endpoint, numerator, denominator)
  const note = scaled.cost.note?.replace(` of $${contained} per `, ` of $${paid} per `) ?? null
  const inCredits = endpoint.cost.credit === undefined ? {} : { credit: paid }
  return { ...scaled, cost: { ...scaled.cost, note, ...inCredits } }
}

/** Each document is scaled once: readers compare endpoints by identity. */
const known = new WeakMap<ProviderDocument, { readonly rates: Rates; readonly document: ProviderDocument }>()

export const repriced = (document: ProviderDocument, rates: Rates): ProviderDocument => {
  const before = known.get(document)
  if (before?.rates.credit === rates.credit && before.rates.markup === rates.markup) return before.document
  const endpoints = document.endpoints.map((endpoint) => repricedEndpoint(endpoint, rates))
  const isSame = endpoints.every((endpoint, index) => endpoint === document.endpoints[index])
  const made = isSame ? document : { ...document, endpoints }
  known.set(document, { rates, document: made })
  return made
}
