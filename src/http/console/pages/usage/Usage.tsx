/** Usage: counts and charges of finished runs in up to two groups, as a chart of days and as a table. */
import { lazyRouteComponent } from "@tanstack/react-router"
import { Suspense, useMemo } from "react"
import { setOnly, useFilters } from "../../data/address.ts"
import { api, useRead } from "../../data/api.ts"
import { useKeyNames } from "../../data/lists.ts"
import { counted } from "../../data/words.ts"
import { useZone } from "../../frame/Balance.tsx"
import { usePaged } from "../../lists/PagedList.tsx"
import { Empty, Failed, PageHead, Skeleton, TextLink } from "../../parts/Page.tsx"
import { Money } from "../../parts/Values.tsx"
import { Export } from "../../lists/Export.tsx"
import { Controls } from "./Controls.tsx"
import { groupBy, type Grouping, groupingsIn, type Item, periodIn } from "./groupings.ts"
import { UsageTable } from "./UsageTable.tsx"

const Chart = lazyRouteComponent(() => import("./UsageChart.tsx"))
// Its code comes while the data is read.
void Chart.preload?.()

const rowsShown = 100

/** What runs of the period saved, because they took a result that was bought before. Nothing if none did. */
const Saved = ({ period }: { readonly period: { readonly from?: string; readonly to?: string } }) => {
  const usage = useRead(["usage", "saved", period], () => api.usage.get({ query: { ...period, limit: 1 } }))
  const reused = usage.data?.reused
  if (reused === undefined) return null
  return (
    <p className="text-muted">
      {counted(reused.runs, "run")} of this time reused an earlier result, which saved <Money amount={reused.saved} />.
    </p>
  )
}

const Groups = ({
  groupings,
  period
}: {
  readonly groupings: ReadonlyArray<Grouping>
  readonly period: { readonly from?: string; readonly to?: string }
}) => {
  const names = useKeyNames(groupings.includes("key"))
  const group_by = groupBy(groupings)
  const paged = usePaged<Item>(
    ["usage", "table", group_by, period],
    (from) => api.usage.get({ query: { ...period, ...setOnly({ group_by }), ...from } }),
    { pageSize: rowsShown }
  )
  const { items, error, again, hasMore } = paged
  if (items === null)
    return error === null ? <Skeleton lines={8} height={28} /> : <Failed error={error} retry={again} />
  if (items.length === 0 && !hasMore)
    return (
      <Empty title="No run ended in this time.">
        <p className="text-muted">
          Usage counts runs on the day on which they ended. <TextLink to="/catalog">The catalog</TextLink> has forms
          that make one.
        </p>
      </Empty>
    )
  return (
    <>
      <Suspense fallback={<Skeleton lines={6} height={24} />}>
        <Chart groupings={groupings} period={period} names={names} />
      </Suspense>
      <UsageTable paged={paged} groupings={groupings} period={period} names={names} />
      <Saved period={period} />
    </>
  )
}

const Usage = () => {
  const [search] = useFilters()
  const groupings = useMemo(() => groupingsIn(search), [search])
  const period = useMemo(() => periodIn(search), [search])
  const group_by = groupBy(groupings)
  return (
    <>
      <PageHead
        title="Usage"
        actions={
          <Export path="/v1/usage" query={{ ...period, ...(group_by === "" ? {} : { group_by }) }} name="usage.csv" />
        }
      >
        Finished runs and what they were charged, by day in {useZone()}. The amounts equal the charges in the ledger.
      </PageHead>
      <Controls groupings={groupings} />
      <div className="grid grid-cols-1 gap-6">
        {/* Rows of other groups must not stand in for those that are being read. */}
        <Groups key={group_by} groupings={groupings} period={period} />
      </div>
    </>
  )
}

export default Usage
