/**
 * Estimates the cost of one raw call by its rate card. The hold, the quote, the charge and the smallest `max_cost` use this estimate.
 *
 * It is pure and accepts any input. A cost driver without an upper bound in the request is an error at its field, so no call can cost the
 * provider's account more than this estimate.
 */
import type { Issue } from "./Contract.ts"
import { type Choice, choicesOf, containsOne, countOf } from "./CostCount.ts"
import type { CallPrice, CostDriver } from "./CostDriver.ts"
import { FieldReader, type FieldRoot, type FieldValue, isPresent } from "./CostField.ts"
import * as Decimal from "../money/Decimal.ts"
import type { Endpoint } from "./Endpoint.ts"
import { isRecord } from "../json/Json.ts"
import * as Money from "../money/Money.ts"

export interface CallInput {
  readonly path: Readonly<Record<string, unknown>>
  readonly query: Readonly<Record<string, unknown>>
  readonly input: unknown
}

export interface CallCost {
  /** Null if the provider publishes no rates. */
  readonly estimate: Money.MicroUsd | null
  readonly issues: ReadonlyArray<Issue>
}

/** The maximum of one call. It catches mistakes, and sums of such amounts still fit a bigint column. */
const callCostMax = Money.dollars("1000000.00")

/** The effect of a cost driver on the price: what it adds, and by what it multiplies. */
interface PriceEffect {
  readonly adds: Decimal.Decimal
  readonly factor: Decimal.Decimal
}
const noEffect: PriceEffect = { adds: Decimal.zero, factor: Decimal.one }

/** A task or a whole input, with the query and the path beside it. */
interface Roots {
  readonly input: FieldRoot
  readonly query: FieldRoot
  readonly path: FieldRoot
}

const located = (roots: Roots, field: string): readonly [FieldRoot, ReadonlyArray<string>] => {
  if (field === ".") return [roots.input, []]
  const [head = "", ...rest] = field.split(".")
  if (rest.length > 0 && head === "query") return [roots.query, rest]
  if (rest.length > 0 && head === "path") return [roots.path, rest]
  return [roots.input, [head, ...rest]]
}

/** The billable units of all values. A started unit counts as a whole one. The included units are subtracted once. */
const unitsOf = (driver: CostDriver, counts: ReadonlyArray<bigint>): bigint => {
  const per = BigInt(driver.per ?? 1)
  let free = BigInt(driver.included ?? 0)
  let units = 0n
  for (const count of counts) {
    const taken = count < free ? count : free
    free -= taken
    units += (count - taken + per - 1n) / per
  }
  return units
}

const decides = "it determines the price of the call"

/** The count of a request that gives none. An issue with the message `wrong` if the provider has no default. */
const usualCount = ({ default: usual }: CostDriver, at: string, wrong: string, issues: Array<Issue>): bigint => {
  if (usual === undefined) issues.push({ path: at, message: `${wrong}: ${decides}` })
  return BigInt(usual ?? 0)
}

const countFrom = (driver: CostDriver, { value, at, isText }: FieldValue, issues: Array<Issue>): bigint => {
  const { counts, max, default: usual = 0 } = driver
  if (counts === "presence") return isPresent({ value, at, isText }) || (value === undefined && usual > 0) ? 1n : 0n
  if (value === undefined || value === null) return usualCount(driver, at, "is required", issues)
  const count = countOf(counts, value, isText)
  if (typeof count === "string") {
    issues.push({ path: at, message: count })
    return 0n
  }
  if (max !== undefined && count > BigInt(max)) issues.push({ path: at, message: `must be at most ${max}: ${decides}` })
  // A provider may read zero as its default or as "no limit". An empty list is read as empty.
  return count === 0n && counts === "number" ? usualCount(driver, at, "must be at least 1", issues) : count
}

const effectOfCount = (driver: CostDriver, units: bigint): PriceEffect => {
  if (driver.multiplies === true) {
    // A call costs at least as much as one unit.
    return { ...noEffect, factor: Decimal.integer(units < 1n ? 1n : units) }
  }
  if (driver.price === undefined) return noEffect
  return { ...noEffect, adds: Decimal.times(Decimal.parse(driver.price), Decimal.integer(units)) }
}

/** All values, with lists replaced by their items. Nested lists stay as they are. */
const itemsOf = (values: ReadonlyArray<FieldValue>, reader: FieldReader): ReadonlyArray<FieldValue> =>
  values.flatMap(({ value, at, isText }) => {
    if (!Array.isArray(value)) return [{ value, at, isText }]
    const items: Array<FieldValue> = []
    for (const [index, item] of value.entries()) {
      if (!reader.mayLook(at)) return items
      items.push({ value: item, at: `${at}.${index}`, isText })
    }
    return items
  })

const effectOfValues = (driver: CostDriver, values: ReadonlyArray<FieldValue>, reader: FieldReader): PriceEffect => {
  const items = itemsOf(values, reader)
  const read = (table: CostDriver["values"], otherwise: Decimal.Decimal): ReadonlyArray<Choice> => {
    const choices = choicesOf(table ?? {}, otherwise)
    return items.flatMap(({ value, at }) => {
      const chosen = choices(value ?? driver.default)
      if (chosen === null) reader.issues.push({ path: at, message: `has more values than can be counted: ${decides}` })
      return chosen ?? []
    })
  }
  // The same choice twice multiplies once.
  const factors = new Map(read(driver.times, Decimal.one).map(({ key, amount }) => [key, amount]))
  return {
    adds: Decimal.sum(read(driver.values, Decimal.zero).map(({ amount }) => amount)),
    factor: Decimal.product(factors.values())
  }
}

const leftOut: FieldValue = { value: undefined, at: "input", isText: false }
const anyOther: FieldValue = { ...leftOut, value: "*" }

const effectOf = (driver: CostDriver, roots: Roots, reader: FieldReader): PriceEffect => {
  if (driver.if !== undefined) {
    const [root, segments] = located(roots, driver.if)
    if (!reader.values(root, segments).some(isPresent)) return noEffect
  }
  const [root, segments] = located(roots, driver.field)
  const isTable = driver.values !== undefined || driver.times !== undefined
  const all = reader.values(root, segments)
  const { contains } = driver
  const values = contains === undefined ? all : all.filter(({ value }) => containsOne(value, contains))
  if (contains !== undefined && values.length === 0) return noEffect
  // Several texts with a word count once.
  if (isTable) return effectOfValues(driver, contains === undefined ? values : [anyOther], reader)
  const counts = values.map((one) => countFrom(driver, one, reader.issues))
  return effectOfCount(driver, unitsOf(driver, counts))
}

/** (base + the sum of all prices) × all factors. */
const combined = (base: string, effects: ReadonlyArray<PriceEffect>): Decimal.Decimal =>
  Decimal.times(
    Decimal.plus(Decimal.parse(base), Decimal.sum(effects.map(({ adds }) => adds))),
    Decimal.product(effects.map(({ factor }) => factor))
  )

const rootsOf = (
  { method, body_type, encoding }: Pick<Endpoint, "method" | "body_type" | "encoding">,
  { path, query, input }: CallInput
): ReadonlyArray<Roots> => {
  const inPath: FieldRoot = { value: path, at: "path", isText: true }
  if (method === "GET") {
    const request = isRecord(input) ? input : {}
    const placeOf = (name: string) =>
      !Object.hasOwn(request, name) && Object.hasOwn(query, name) ? `query.${name}` : `input.${name}`
    const merged: FieldRoot = { value: { ...query, ...request }, at: "input", isText: true, placeOf }
    return [{ input: merged, query: merged, path: inPath }]
  }
  const inQuery: FieldRoot = { value: query, at: "query", isText: true }
  const rootOf = (value: unknown, at: string): Roots => ({
    input: { value, at, isText: encoding !== "json" },
    query: inQuery,
    path: inPath
  })
  return body_type === "task" && Array.isArray(input)
    ? input.map((task: unknown, index) => rootOf(task, `input.${index}`))
    : [rootOf(input, "input")]
}

/** The smallest amount of a rate card, which every call of a paid endpoint costs at least. So no paid call has a hold of $0. */
const leastOf = ({ base, drivers }: CallPrice): Money.MicroUsd => {
  const amounts = [base, ...drivers.flatMap(({ price, values = {} }) => [price, ...Object.values(values)])]
  const paid = amounts.map((amount) => Decimal.micros(Decimal.parse(amount ?? "0"))).filter((amount) => amount > 0n)
  return paid.reduce((least, amount) => Money.min(least, amount), paid[0] ?? Money.zero)
}

/** The cost of a request that matches the endpoint's schemas. */
export const callCost = (
  endpoint: Pick<Endpoint, "method" | "body_type" | "encoding" | "cost"> & { readonly price?: CallPrice },
  request: CallInput
): CallCost => {
  const roots = rootsOf(endpoint, request)
  const { price } = endpoint
  if (price === undefined) {
    const { estimate } = endpoint.cost
    const tasks = Math.max(1, roots.length)
    return { estimate: estimate === null ? null : Money.times(Money.dollars(estimate), tasks), issues: [] }
  }
  const reader = new FieldReader()
  const tasks = roots.map((one) =>
    combined(
      price.base ?? "0",
      price.drivers.map((driver) => effectOf(driver, one, reader))
    )
  )
  const estimate = Money.max(Decimal.micros(Decimal.sum(tasks)), leastOf(price))
  if (estimate > callCostMax && reader.issues.length === 0) {
    const message = `asks for more than $${Money.usd(callCostMax)} worth in one call`
    return { estimate, issues: [{ path: "input", message }] }
  }
  return { estimate: price.base === null ? null : estimate, issues: reader.issues }
}

/** The cost of an ordinary call, for listings: each driver at its default, or at one unit if it has none. */
export const ordinaryCost = ({ base, drivers }: CallPrice): Money.MicroUsd | null => {
  if (base === null) return null
  const effects = drivers.map((driver): PriceEffect => {
    if (driver.if !== undefined || driver.contains !== undefined) return noEffect
    if (driver.values !== undefined || driver.times !== undefined)
      return effectOfValues(driver, [leftOut], new FieldReader())
    const count = driver.default ?? (driver.counts === "presence" ? 0 : 1)
    return effectOfCount(driver, unitsOf(driver, [BigInt(count)]))
  })
  return Money.max(Decimal.micros(combined(base, effects)), leastOf({ base, drivers }))
}
