/**
 * What a call costs by a manifest's rate, computed on its own: an oracle that shares no code with the service's prices.
 *
 * The cost is (base + the sum of all prices) × all factors. Each task of a task endpoint is one call.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { readManifest } from "../../../src/layers/catalog/import/manifestFormat.ts"
import { patternFor } from "../../../src/layers/catalog/import/kit/patterns.ts"
import type { Rate, Rates } from "../../../src/layers/catalog/import/cost/rates.ts"

type Driver = NonNullable<Rate["drivers"]>[number]

const folder = join(import.meta.dir, "..", "..", "..", "src", "layers", "catalog", "import", "manifests")
const read = (name: string) => Effect.runSync(readManifest({ name, text: readFileSync(join(folder, name), "utf8") }))
export const manifests = readdirSync(folder).map(read)

const ratesOf = (provider: string): { readonly rates: Rates; readonly own: ReadonlyMap<string, Rate> } => {
  const manifest = manifests.find((one) => one.provider === provider)
  const own = (manifest?.endpoints ?? []).flatMap(({ method, path, rate }) =>
    rate === undefined ? [] : [[`${method} ${path}`, rate] as const]
  )
  return { rates: manifest?.rates ?? {}, own: new Map(own) }
}

/** The exact key, then the longest pattern, then the default. */
export const rateOf = (provider: string, key: string): Rate | undefined => {
  const { rates, own } = ratesOf(provider)
  const byPattern = Object.entries(rates.endpoints ?? {})
    .filter(([pattern]) => patternFor(pattern)(key))
    .sort(([a], [b]) => b.length - a.length)
  return own.get(key) ?? rates.endpoints?.[key] ?? byPattern[0]?.[1] ?? rates.default
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** All values at a path; what is missing is left out. */
export const valuesAt = (value: unknown, path: string): ReadonlyArray<unknown> => {
  if (path === "." || path === "") return value === undefined ? [] : [value]
  const [first = "", ...rest] = path.split(".")
  if (first === "*") return Array.isArray(value) ? value.flatMap((one) => valuesAt(one, rest.join("."))) : []
  return isRecord(value) && value[first] !== undefined ? valuesAt(value[first], rest.join(".")) : []
}

const isThere = (input: unknown, path: string) => valuesAt(input, path).some((one) => one !== false && one !== null)

/** Such a driver only adds when its field is there; any other needs a default or the field. */
export const isRequired = ({ default: fallback, counts, values_usd, values_credits, times, if: condition }: Driver) =>
  fallback === undefined &&
  counts !== "presence" &&
  values_usd === undefined &&
  values_credits === undefined &&
  times === undefined &&
  condition === undefined

const counted = (driver: Driver, value: unknown): number => {
  switch (driver.counts ?? "number") {
    case "number":
      return Number(value)
    case "items":
      return Array.isArray(value) ? value.length : 1
    case "addresses":
      return [value].flat().flatMap((one) => String(one).split(",")).length
    case "characters":
      return String(value).length
    case "presence":
      return value === false || value === null ? 0 : 1
  }
}

/** Percent-encoding undone, lists as their items one after the other. */
const textOf = (value: unknown) => decodeURIComponent([value].flat().map(String).join(" ")).toLowerCase()
const foundBy = (driver: Driver, input: unknown) =>
  valuesAt(input, driver.field).filter(
    (value) => driver.contains?.some((word) => textOf(value).includes(word.toLowerCase())) ?? true
  )

const countOf = (driver: Driver, input: unknown): number => {
  if (driver.if !== undefined && !isThere(input, driver.if)) return 0
  const values = foundBy(driver, input)
  const count =
    values.length === 0 ? (driver.default ?? 0) : values.reduce<number>((all, one) => all + counted(driver, one), 0)
  return Math.ceil(Math.max(0, count - (driver.included ?? 0)) / (driver.per ?? 1))
}

/** What a table says of each value; of an object its type is the value, and a text may be several. */
const named = (driver: Driver, table: Readonly<Record<string, string>>, input: unknown): ReadonlyArray<number> =>
  foundBy(driver, input)
    .flat()
    .flatMap((one) => (isRecord(one) ? [String(one["type"])] : driver.contains ? ["*"] : String(one).split(",")))
    .map((one) => Number(table[one] ?? table["*"] ?? Number.NaN))
    .filter((one) => !Number.isNaN(one))

const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((all, one) => all + one, 0)

/** USD, the platform's rate not included. `input` has the query and the path under those names. */
export const costOf = (provider: string, key: string, input: unknown): number => {
  const rate = rateOf(provider, key)
  const credit = Number(ratesOf(provider).rates.credit ?? Number.NaN)
  if (rate === undefined) throw new Error(`${provider} ${key} has no rate`)
  if (rate.free === true) return 0
  const inUsd = ({ usd, credits }: { readonly usd?: string; readonly credits?: string | number }) =>
    usd === undefined ? (credits === undefined ? 0 : Number(credits) * credit) : Number(usd)
  const drivers = rate.drivers ?? []
  const prices = drivers.map((driver) => {
    if (driver.multiplies === true || driver.times !== undefined) return 0
    if (driver.values_usd !== undefined) return sum(named(driver, driver.values_usd, input))
    if (driver.values_credits !== undefined) return sum(named(driver, driver.values_credits, input)) * credit
    return countOf(driver, input) * inUsd(driver)
  })
  const factors = drivers.map((driver) => {
    if (driver.times !== undefined) return Math.max(1, ...named(driver, driver.times, input))
    return driver.multiplies === true ? countOf(driver, input) : 1
  })
  return (inUsd(rate) + sum(prices)) * factors.reduce((all, one) => all * one, 1)
}
