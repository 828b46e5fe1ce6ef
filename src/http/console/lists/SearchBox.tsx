/** A field that filters a list when somebody presses enter. `/` focuses it. The address has the text. */
import { useEffect, useState } from "react"
import { onForm } from "../actions/Actions.tsx"
import { Button } from "../parts/Page.tsx"
import { inputLook } from "../parts/Field.tsx"

export const SearchBox = ({
  label,
  placeholder,
  value,
  onSearch
}: {
  /** For screen readers, in place of a visible label. */
  readonly label: string
  readonly placeholder: string
  readonly value: string
  readonly onSearch: (text: string) => void
}) => {
  const [text, setText] = useState(value)
  // The back button and links change the address too.
  useEffect(() => setText(value), [value])
  return (
    <form role="search" onSubmit={onForm(() => onSearch(text.trim()))} className="flex min-w-52 flex-1 gap-2">
      <input
        aria-label={label}
        data-search
        maxLength={254}
        value={text}
        onChange={(event) => setText(event.target.value)}
        placeholder={placeholder}
        className={inputLook}
      />
      <Button type="submit">Filter</Button>
    </form>
  )
}
