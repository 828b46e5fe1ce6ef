/**
 * Drops an operator's rates that do not say how a field changes the price.
 *
 * A rate that ignores a limit or a list would hold too little for a large request. The endpoint's price then counts as
 * unpublished: a run holds $1.00 and is charged the cost that the provider reports. Without reports, production makes no run. The shipped catalog has no such rates.
 */
import { type Endpoint, endpointKey, type Imported, type Warning } from "../../../../schema/catalog/Endpoint.ts"
import { unpublished } from "./rates.ts"

/** Field names in one warning. */
const namesMax = 5

const listed = (names: ReadonlyArray<string>) =>
  names.length > namesMax
    ? `${names.slice(0, namesMax).join(", ")} and ${names.length - namesMax} more`
    : names.join(", ")

const unrated = (endpoint: Endpoint): Endpoint => {
  const { price: _, ...rest } = endpoint
  return { ...rest, cost: unpublished(endpoint.cost.note) }
}

export const withCountedRates = ({ document, warnings, undescribed }: Imported): Imported => {
  const fields = Map.groupBy(undescribed, ({ where }) => where)
  const isRated = (endpoint: Endpoint) => endpoint.cost.model !== "unpublished" && fields.has(endpointKey(endpoint))
  const rated = new Set(document.endpoints.filter(isRated).map(endpointKey))
  const ignored = [...rated].map((where): Warning => {
    const names = (fields.get(where) ?? []).map(({ field }) => field)
    return {
      where,
      message: `its rate is not used, because ${listed(names)} may change the price. Add each field to the rate's drivers, or to flat if it does not`
    }
  })
  const unpriced = [...fields.keys()].filter((where) => !rated.has(where))
  const summary: ReadonlyArray<Warning> =
    unpriced.length === 0
      ? []
      : [
          {
            where: "",
            message: `${unpriced.length} endpoints without rates have fields that may change the cost of a call (${listed(unpriced)}). Every run of them holds $1.00. Import a manifest with rates and drivers to hold the real cost`
          }
        ]
  return {
    document: { ...document, endpoints: document.endpoints.map((one) => (isRated(one) ? unrated(one) : one)) },
    warnings: [...warnings, ...ignored, ...summary],
    undescribed
  }
}
