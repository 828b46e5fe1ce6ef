/** Groups and period of usage. They live in the address, so a link shows the same table. */
import { useState } from "react"
import { onForm, textIn } from "../../actions/Actions.tsx"
import { useFilters } from "../../data/address.ts"
import { Period } from "../../lists/Filters.tsx"
import { Button } from "../../parts/Page.tsx"
import { Field, Select } from "../../parts/Field.tsx"
import { type Grouping, namedGroupings, wordOf } from "./groupings.ts"

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

export const Controls = ({ groupings }: { readonly groupings: ReadonlyArray<Grouping> }) => {
  const [, change] = useFilters()
  const [asksFor, setAsksFor] = useState<Place | null>(null)
  const [first, second] = groupings
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
