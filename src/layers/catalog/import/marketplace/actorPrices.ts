/**
 * Reads the price of a marketplace actor and applies the platform's rate.
 *
 * For an actor that charges per result or event, the estimate is the price of an ordinary run, and the reported cost is billed. A run of an actor
 * without a published price holds $1.00, which is also its maximum charge.
 */
import type { EndpointCost } from "../../../../schema/catalog/Endpoint.ts"
import { isRecord } from "../kit/fields.ts"
import { costOf, unpublished } from "../cost/rates.ts"

/** The number of results of an ordinary run. */
export const ordinaryResults = 100

/** Converts a JSON number to a decimal string without an exponent, with at most nine decimals. */
export const amountOf = (value: unknown): string | null => {
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0 || value > 1_000_000) return null
  const text = String(value)
  return /^\d+(\.\d{1,9})?$/.test(text) ? text : value.toFixed(9)
}

const perMonth =
  "Rented by the month: the platform's account must have rented it, and what it uses of the marketplace is charged as reported."
const perUsage = "The actor itself is free; what it uses of the marketplace is charged as reported."
const perEvent = "Charged per event as reported; the hold is the most that the run may charge."

/** The prices of events by title, in the order of the store. */
const eventsOf = (
  pricing: Readonly<Record<string, unknown>>
): ReadonlyArray<readonly [title: string, price: string]> => {
  const table = isRecord(pricing["pricingPerEvent"]) ? pricing["pricingPerEvent"]["actorChargeEvents"] : undefined
  return Object.entries(isRecord(table) ? table : {}).flatMap(([name, event]) => {
    if (!isRecord(event)) return []
    const price = amountOf(event["eventPriceUsd"])
    const title = event["eventTitle"]
    return price === null ? [] : [[typeof title === "string" && title !== "" ? title : name, price] as const]
  })
}

const perEventCost = (pricing: Readonly<Record<string, unknown>>): EndpointCost => {
  const events = eventsOf(pricing)
  const only = events.length === 1 ? events[0] : undefined
  if (only !== undefined) {
    const [title, price] = only
    const note = `$${price} per event (${title}). ${perEvent}`
    return costOf({ usd: price, model: "per_event", results: ordinaryResults, note }, undefined)
  }
  const said = events.map(([title, price]) => `${title} $${price}`).slice(0, 10)
  // The number of events is unknown, so there is no estimate.
  return {
    model: "per_event",
    estimate: null,
    note: [...(said.length > 0 ? [`${said.join(", ")}.`] : []), perEvent].join(" ")
  }
}

export const actorCost = (pricing: unknown): EndpointCost => {
  if (!isRecord(pricing)) return unpublished(perUsage)
  switch (pricing["pricingModel"]) {
    case "FREE":
      return unpublished(perUsage)
    case "PRICE_PER_DATASET_ITEM": {
      const price = amountOf(pricing["pricePerUnitUsd"])
      return price === null
        ? { model: "per_result", estimate: null, note: "Charged per result as reported." }
        : costOf(
            { usd: price, model: "per_result", results: ordinaryResults, note: `$${price} per result.` },
            undefined
          )
    }
    case "PAY_PER_EVENT":
      return perEventCost(pricing)
    case "FLAT_PRICE_PER_MONTH":
      return unpublished(perMonth)
    default:
      return unpublished(null)
  }
}

/** Reads a price in an actor's title, such as `$0.30/1k results` or `$0.20 per 1,000`. */
export const costInTitle = (title: string): EndpointCost | null => {
  const [, price] = /\$(\d+(?:\.\d+)?)\s*(?:\/|per )\s*(?:1k|1,?000)\b/i.exec(title) ?? []
  if (price === undefined) return null
  const rate = { usd: thousandth(price), model: "per_result" as const, results: ordinaryResults }
  return costOf({ ...rate, note: `$${price} per 1,000 results, by the actor's title.` }, undefined)
}

/** Divides a decimal string by 1,000. */
const thousandth = (amount: string): string => {
  const [whole = "0", fraction = ""] = amount.split(".")
  const digits = whole.padStart(4, "0")
  return `${digits.slice(0, -3)}.${digits.slice(-3)}${fraction}`
}
