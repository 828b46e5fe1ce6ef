/**
 * `/openapi.json`: the document of the contract, with the prices of this service as `x-payment-info` (draft-payment-discovery).
 *
 * Prices are paid from the organization's wallet, so no payment protocol is named: a program reads what a run may cost before it has a key.
 * They are those of the adapters and the operator's settings, and inspect has them by provider.
 */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { OpenApi } from "effect/http-api"
import { Catalog, type CatalogEntry } from "../../layers/catalog/Catalog.ts"
import { isRecord } from "../../schema/json/Json.ts"
import * as Money from "../../schema/money/Money.ts"
import { anyDemand, priceMax, priceMin } from "../../schema/money/Pricing.ts"
import { Api } from "../api/Api.ts"

interface Range {
  readonly min: Money.MicroUsd
  readonly max: Money.MicroUsd
}

const together = (ranges: ReadonlyArray<Range>): Range | null => {
  const [first, ...rest] = ranges
  if (first === undefined) return null
  return rest.reduce((all, { min, max }) => ({ min: Money.min(all.min, min), max: Money.max(all.max, max) }), first)
}

/** Of an input without a limit. A higher limit costs more where results are metered. */
const rangeOf = ({ offers }: CatalogEntry, sandbox: boolean): Range | null =>
  together(
    offers.flatMap(({ live, offer: { price } }) =>
      live || sandbox ? [{ min: priceMin(price), max: priceMax(price, anyDemand) }] : []
    )
  )

const dynamic = ({ min, max }: Range) => ({
  ...{ mode: "dynamic", currency: "USD" },
  ...{ min: Money.usd(min), max: Money.usd(max) }
})

/** What `x-payment-info` of POST /v1/run says. */
export const paymentInfo = ({ entries, sandbox }: Pick<Catalog["Service"], "entries" | "sandbox">) => {
  const ranges = entries.flatMap((entry) => {
    const range = rangeOf(entry, sandbox)
    return range === null ? [] : [[entry.capability.slug, range] as const]
  })
  const all = together(ranges.map(([, range]) => range)) ?? { min: Money.zero, max: Money.zero }
  return {
    price: dynamic(all),
    protocols: [],
    description:
      "Paid from the organization's prepaid wallet. A run charges nothing if it fails. The prices are those of one answer of a capability; inspect has those of raw endpoints.",
    "x-capability-prices": Object.fromEntries(ranges.map(([slug, range]) => [slug, dynamic(range)]))
  }
}

const within = (node: unknown, name: string, change: (inner: unknown) => unknown): unknown =>
  isRecord(node) ? { ...node, [name]: change(node[name]) } : node

/** The document with the prices at its run. */
export const priced = (document: unknown, info: ReturnType<typeof paymentInfo>): unknown =>
  within(document, "paths", (paths) =>
    within(paths, "/v1/run", (path) =>
      within(path, "post", (operation) => within(operation, "x-payment-info", () => info))
    )
  )

export const OpenApiRoute = Layer.unwrap(
  Effect.gen(function* () {
    const catalog = yield* Catalog
    // Made on the first request: the document is large, and many processes are never asked for it.
    let response: HttpServerResponse.HttpServerResponse | undefined
    const answer = Effect.sync(
      () => (response ??= HttpServerResponse.jsonUnsafe(priced(OpenApi.fromApi(Api), paymentInfo(catalog))))
    )
    return HttpRouter.add("GET", "/openapi.json", answer)
  })
)
