/** Tabs, and JSON as text. */
import * as Radix from "@radix-ui/react-tabs"
import { type ReactNode, useMemo } from "react"
import { SaveButton } from "../../actions/Actions.tsx"
import { save } from "../../data/save.ts"
import { CodeBlock, CopyButton } from "../../parts/Values.tsx"

export interface Tab {
  readonly name: string
  readonly content: ReactNode
}

interface TabsProps {
  readonly label: string
  readonly tabs: ReadonlyArray<Tab>
  /** The name of the open tab, if the page keeps it. Otherwise the first one is open at first. */
  readonly open?: string
  readonly onOpen?: (name: string) => void
}

export const Tabs = ({ label, tabs, open, onOpen }: TabsProps) => (
  <Radix.Root
    {...(open === undefined ? { defaultValue: tabs[0]?.name ?? "" } : { value: open })}
    {...(onOpen === undefined ? {} : { onValueChange: onOpen })}
  >
    <Radix.List aria-label={label} className="flex gap-1 overflow-x-auto border-b border-line">
      {tabs.map(({ name }) => (
        <Radix.Trigger
          key={name}
          value={name}
          className="border-b-2 border-transparent px-3 py-2 whitespace-nowrap text-muted hover:text-text data-[state=active]:border-accent data-[state=active]:font-semibold data-[state=active]:text-text"
        >
          {name}
        </Radix.Trigger>
      ))}
    </Radix.List>
    {tabs.map(({ name, content }) => (
      <Radix.Content key={name} value={name} className="pt-4">
        {content}
      </Radix.Content>
    ))}
  </Radix.Root>
)

/** Larger JSON is shown from its beginning. It is copied and saved in full. */
const shownMax = 200_000

interface JsonProps {
  readonly value: unknown
  readonly label: string
  /** The name of the file that the button saves. Without it there is no button. */
  readonly file?: string
}

export const Json = ({ value, label, file }: JsonProps) => {
  const text = useMemo(() => JSON.stringify(value, null, 2) ?? "null", [value])
  const isLong = text.length > shownMax
  return (
    <div>
      <CodeBlock label={label} text={isLong ? `${text.slice(0, shownMax)}\n…` : text} />
      {(isLong || file !== undefined) && (
        <div className="mt-2 flex flex-wrap items-center gap-3 text-small text-muted">
          {isLong && <span>Shown: the first {shownMax.toLocaleString("en")} characters.</span>}
          {isLong && <CopyButton text={text} what={`all of ${label}`} word="Copy all" />}
          {file !== undefined && (
            <SaveButton send={async () => save(text, file, "application/json")}>Save as a file</SaveButton>
          )}
        </div>
      )}
    </div>
  )
}
