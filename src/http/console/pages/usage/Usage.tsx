/** Usage: counts and charges of finished runs in up to two groups, as a chart of days and as a table. */
import { lazyRouteComponent } from "@tanstack/react-router"
import { Suspense, useState } from "react"
import { onForm, textIn } from "../../actions/Actions.tsx"
import { setOnly, useFilters } from "../../data/address.ts"
import { api, useRead } from "../../data/api.ts"
import { counted } from "../../../client/Words.ts"
import { useZone } from "../../frame/Balance.tsx"
import { Export, Period } from "../../lists/Filters.tsx"
import { usePaged } from "../../lists/PagedList.tsx"
import { Field, Select } from "../../parts/Field.tsx"
import { Button, Empty, Failed, PageHead, Skeleton, TextLink } from "../../parts/Page.tsx"
import { Money } from "../../parts/Values.tsx"
import { UsageTable } from "./UsageTable.tsx"
import { type Days, type Grouping, type Item, namedGroupings, useGrouped, wordOf } from "./groupings.ts"

/** Labels are names that only the organization knows, so somebody types them. */
const LabelForm = ({ onLabel }: { readonly onLabel: (name: string) => void }) => (
  <form onSubmit={onForm((form) => onLabel(textIn(form, "label").trim()))} className="flex items-end gap-2">
    <Field
      label="Name of the label"
      name="label"
      required
      maxLength={100}
      pattern="[^,\s]+"
      autoFocus
      className="w-full max-w-52"
    />
    <Button type="submit">Group by this label</Button>
  </form>
)

type Place = "by" | "and"
const placeWords: Readonly<Record<Place, string>> = { by: "Group by", and: "and by" }

const Controls = () => {
  const [, change] = useFilters()
  const [asksFor, setAsksFor] = useState<Place | null>(null)
  const [first, second] = useGrouped().groupings
  const choose = (place: Place) => (event: { readonly target: { readonly value: string } }) => {
    const { value } = event.target
    setAsksFor(value === "label" ? place : null)
    if (value !== "label") change(value === "total" ? { by: value, and: "" } : { [place]: value })
  }
  const optionsOf = (place: Place, chosen: Grouping | undefined, other: Grouping | undefined) => [
    place === "by" ? (["total", "One total"] as const) : (["", "nothing else"] as const),
    ...namedGroupings.filter(([value]) => value !== other),
    ...(chosen?.startsWith("metadata.") === true ? [[chosen, wordOf(chosen)] as const] : []),
    ...(other?.startsWith("metadata.") === true ? [] : [["label", "A label…"] as const])
  ]
  return (
    <div className="mb-4 space-y-3">
      <div className="flex flex-wrap items-end gap-2">
        <Select
          label={placeWords.by}
          value={asksFor === "by" ? "label" : (first ?? "total")}
          onChange={choose("by")}
          options={optionsOf("by", first, second)}
        />
        <Select
          label={placeWords.and}
          value={asksFor === "and" ? "label" : (second ?? "")}
          onChange={choose("and")}
          disabled={first === undefined}
          options={optionsOf("and", second, first)}
        />
        <Period />
      </div>
      {asksFor !== null && (
        <LabelForm
          onLabel={(name) => {
            setAsksFor(null)
            change({ [asksFor]: `metadata.${name}` })
          }}
        />
      )}
      <p className="text-small text-muted">Without dates: the last 30 days. At most 400 days.</p>
    </div>
  )
}

const Chart = lazyRouteComponent(() => import("./UsageChart.tsx"))
// Its code comes while the data is read.
void Chart.preload?.()

const rowsShown = 100

/** What runs of the period saved, because they took a result that was bought before. Nothing if none did. */
const Saved = ({ period }: { readonly period: Days }) => {
  const usage = useRead(["usage", "saved", period], () => api.usage.get({ query: { ...period, limit: 1 } }))
  const reused = usage.data?.reused
  if (reused === undefined) return null
  return (
    <p className="text-muted">
      {counted(reused.runs, "run")} of this time reused an earlier result, which saved <Money amount={reused.saved} />.
    </p>
  )
}

const Groups = () => {
  const { group_by, period } = useGrouped()
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
        <Chart />
      </Suspense>
      <UsageTable paged={paged} />
      <Saved period={period} />
    </>
  )
}

const Usage = () => {
  const { group_by, period } = useGrouped()
  return (
    <>
      <PageHead actions={<Export path="/v1/usage" query={{ ...period, ...setOnly({ group_by }) }} name="usage.csv" />}>
        Finished runs and what they were charged, by day in {useZone()}. The amounts equal the charges in the ledger.
      </PageHead>
      <Controls />
      <div className="grid grid-cols-1 gap-6">
        {/* Rows of other groups must not stand in for those that are being read. */}
        <Groups key={group_by} />
      </div>
    </>
  )
}

export default Usage
