/** What providers earn: charges and costs of the last days, and runs that cost more than they were charged. */
import { useFilters } from "../../data/address.ts"
import { api, useRead } from "../../data/api.ts"
import { FilterSelect } from "../../lists/Filters.tsx"
import { columnsOf } from "../../lists/nouns.tsx"
import { LoadedPanel } from "../../parts/Page.tsx"
import { Money } from "../../parts/Values.tsx"
import { SmallTable } from "./parts.tsx"

export const spans = { 1: "1 day", 7: "7 days", 30: "30 days", 90: "90 days" }
const daysDefault = "30"

/** Of the days in the address. */
export const useMargins = (initial: string, options: { readonly refetchInterval?: number }) => {
  const [{ days: chosen = initial }] = useFilters()
  const days = Object.hasOwn(spans, chosen) ? chosen : initial
  return useRead(
    ["operator", "margins", days],
    () => api.operatorProviders.margins({ query: { days: Number(days) } }),
    { staleTime: 60_000, ...options }
  )
}

const marginColumns = columnsOf("Margin", {
  margin: ({ margin }) => <Money amount={margin} className={margin.startsWith("-") ? "font-semibold text-red" : ""} />,
  margin_percent: ({ margin_percent: percent }) => (percent === null ? "–" : `${percent} %`)
})

export const Margins = () => (
  <LoadedPanel
    title="Margins"
    actions={<FilterSelect name="days" label="Time" options={spans} initial={daysDefault} />}
    query={useMargins(daysDefault, {})}
  >
    {({ items, total }) => (
      <>
        <p className="mb-3 text-muted">
          Charged <Money amount={total.charged} />, cost <Money amount={total.cost} />, margin{" "}
          <Money amount={total.margin} />. Where a provider reports no cost, it is the charge without the markup.
        </p>
        <SmallTable
          label="Margins by provider and offer"
          rows={items}
          none="No run of this time was charged or cost anything."
          columns={marginColumns}
        />
      </>
    )}
  </LoadedPanel>
)

export const Losses = () => (
  <LoadedPanel
    title="Losses"
    query={useRead(["operator", "losses"], () => api.operatorProviders.losses({ query: { limit: 50 } }))}
  >
    {({ items, totals }) => (
      <div className="grid gap-4">
        <SmallTable
          label="All losses by provider and reason"
          rows={totals}
          none="No run cost more than it was charged."
          columns={columnsOf("LossTotal", { reason: ({ reason }) => reason.replaceAll("_", " ") })}
        />
        {items.length > 0 && <SmallTable label="Newest losses" rows={items} none="" columns={columnsOf("Loss")} />}
      </div>
    )}
  </LoadedPanel>
)
