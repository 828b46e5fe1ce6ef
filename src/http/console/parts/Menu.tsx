/** A button with a menu of actions below it. */
import * as Dropdown from "@radix-ui/react-dropdown-menu"
import { ChevronDown } from "lucide-react"
import type { ReactNode } from "react"
import { toClipboard } from "./Values.tsx"

interface MenuAction {
  readonly word: string
  readonly run: () => void
  /** The one that is in force now. */
  readonly chosen?: boolean
}

export const Menu = ({
  label,
  children,
  actions,
  className = "rounded border border-line bg-panel px-3 py-1.5 font-medium hover:bg-hover min-h-8"
}: {
  /** What screen readers call the button, if its content does not say it. */
  readonly label?: string
  readonly children: ReactNode
  readonly actions: ReadonlyArray<MenuAction>
  readonly className?: string
}) => (
  // Not modal: the modal form adds a style element to the page, which the Content-Security-Policy forbids.
  <Dropdown.Root modal={false}>
    <Dropdown.Trigger aria-label={label} className={`inline-flex items-center gap-1.5 ${className}`}>
      {children}
      <ChevronDown size={14} aria-hidden="true" className="shrink-0" />
    </Dropdown.Trigger>
    <Dropdown.Portal>
      <Dropdown.Content
        sideOffset={4}
        align="start"
        collisionPadding={8}
        className="z-50 min-w-44 rounded border border-line bg-panel p-1 shadow-float"
      >
        {actions.map(({ word, run, chosen = false }) => (
          <Dropdown.Item
            key={word}
            onSelect={run}
            className="flex cursor-pointer items-center justify-between gap-4 rounded px-2.5 py-1.5 outline-none data-highlighted:bg-hover"
          >
            <span className="truncate">{word}</span>
            {chosen && <span className="text-small text-muted">current</span>}
          </Dropdown.Item>
        ))}
      </Dropdown.Content>
    </Dropdown.Portal>
  </Dropdown.Root>
)

/** Texts to paste, each under its word. */
export const CopyMenu = ({ texts }: { readonly texts: ReadonlyArray<readonly [word: string, text: string]> }) => (
  <Menu actions={texts.map(([word, text]) => ({ word, run: () => void toClipboard(text) }))}>Copy as</Menu>
)
