/** What a list of the catalog says in a few words: names, prices, and how well calls went. */
import { percent } from "../../../client/Words.ts"
import { isRecord } from "../../data/json.ts"
import { duration } from "../../data/time.ts"
import { wordOf } from "../../lists/nouns.tsx"
import { RowLink } from "../../parts/Page.tsx"
import { Badge, Money } from "../../parts/Values.tsx"
import type { InspectedEndpoint } from "./useForm.ts"

interface JobNameProps {
  readonly to: string
  readonly title: string
  readonly slug: string
  readonly description?: string | undefined
  readonly isComing?: boolean
}

/** The title, which leads to the page, above the technical name. */
export const JobName = ({ to, title, slug, description, isComing = false }: JobNameProps) => (
  <div className="min-w-0">
    <RowLink to={to}>{title}</RowLink> {isComing && <Badge tone="grey">coming soon</Badge>}
    <p className="font-mono break-all text-muted">{slug}</p>
    {description !== undefined && <p className="mt-0.5 text-muted max-sm:hidden">{description}</p>}
  </div>
)

export const ProviderCount = ({ providers }: { readonly providers: ReadonlyArray<string> }) => (
  <span title={providers.join(", ")}>{providers.length}</span>
)

interface Cost {
  readonly model: string
  readonly estimate: string | null
}
export const CostWords = ({ cost }: { readonly cost: Cost }) => {
  if (cost.model === "free") return <span>free</span>
  if (cost.estimate === null) return <span className="text-muted">no published rate</span>
  return <Money amount={cost.estimate} />
}
export const PriceFrom = ({ price }: { readonly price: { readonly amount: string } | null }) =>
  price === null ? (
    <span className="text-muted">no offer</span>
  ) : (
    <span className="whitespace-nowrap">
      from <Money amount={price.amount} />
    </span>
  )

const textOf = (value: unknown) => (typeof value === "string" ? value : null)

/** How an offer's price follows from the input: a base with a price per result, a price per page, or one per platform. */
export const PricingWords = ({ pricing }: { readonly pricing: unknown }) => {
  const members = isRecord(pricing) ? pricing : {}
  const [base, perResult] = [textOf(members["base"]), textOf(members["per_result"])]
  const [first, further] = [textOf(members["first_page"]), textOf(members["further_page"])]
  const platforms = Object.entries(isRecord(members["by_platform"]) ? members["by_platform"] : {})
  if (first !== null && further !== null)
    return (
      <p className="text-muted">
        <Money amount={first} /> for the first page of results and <Money amount={further} /> for each further one
      </p>
    )
  if (base !== null && perResult !== null)
    return (
      <p className="text-muted">
        <Money amount={base} /> and <Money amount={perResult} /> per result
      </p>
    )
  if (platforms.length === 0) return null
  return (
    <ul className="text-muted">
      {platforms.map(([name, amount]) => (
        <li key={name}>
          {name} <Money amount={String(amount)} />
        </li>
      ))}
    </ul>
  )
}

type Health = InspectedEndpoint["health"]

const tones: Readonly<Record<string, "green" | "amber" | "red">> = {
  healthy: "green",
  stable: "green",
  degraded: "amber",
  outage: "red"
}

export const HealthBadge = ({ health }: { readonly health: Pick<Health, "status"> }) => (
  <Badge tone={tones[health.status] ?? "grey"}>{wordOf("InspectedOffer", "health.status", health.status)}</Badge>
)

/** In a sentence, for pages of one capability or endpoint. */
export const healthSentence = ({ success_rate, latency_ms_p50, latency_ms_p95, sample_size, source }: Health) => {
  if (sample_size === 0 && success_rate === null) return "No calls were measured yet."
  const parts = [
    success_rate === null ? "" : `${percent(success_rate)} of calls succeeded`,
    latency_ms_p50 === null ? "" : `half of them within ${duration(latency_ms_p50)}`,
    latency_ms_p95 === null ? "" : `95 % within ${duration(latency_ms_p95)}`
  ].filter((one) => one !== "")
  const from = source === "provider_reported" ? "reported by the provider" : `${sample_size} measured calls of 30 days`
  return `${parts.join(", ")} (${from}).`
}
