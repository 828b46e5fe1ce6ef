/** The box for one subject. A text of several lines that is pasted into it becomes a list of subjects. */
import { Search as SearchShape } from "lucide-react"
import type { ClipboardEvent } from "react"
import { onForm, textIn } from "../../actions/Actions.tsx"
import { Button } from "../../parts/Page.tsx"
import { Field, Select } from "../../parts/Field.tsx"
import { linesOf } from "./lines.ts"
import { kindWords, subjectCharsMax } from "./useHistory.ts"

export const SearchBox = ({
  q,
  kind,
  onSearch,
  onMany
}: {
  readonly q: string
  readonly kind: string
  readonly onSearch: (q: string, kind: string) => void
  readonly onMany: (text: string) => void
}) => {
  const pasted = (event: ClipboardEvent) => {
    const text = event.clipboardData.getData("text")
    if (linesOf(text).length < 2) return
    event.preventDefault()
    onMany(text)
  }
  return (
    // The key fills the fields anew when the address changes, such as with the back button.
    <form
      key={`${kind} ${q}`}
      role="search"
      onSubmit={onForm((form) => onSearch(textIn(form, "q").trim(), textIn(form, "kind")))}
      className="flex flex-wrap items-end gap-2"
    >
      <Field
        label="E-mail address, domain, profile, URL, handle, phone number or phrase"
        name="q"
        data-search
        required
        maxLength={subjectCharsMax}
        defaultValue={q}
        placeholder="ada@example.com"
        autoComplete="off"
        spellCheck={false}
        onPaste={pasted}
        className="min-w-60 flex-1"
      />
      <Select
        label="Kind"
        name="kind"
        defaultValue={kind}
        options={[["", "Detect it"], ...kindWords]}
        className="max-w-44"
      />
      <Button type="submit" look="primary">
        <SearchShape size={14} aria-hidden="true" /> Look up
      </Button>
    </form>
  )
}
