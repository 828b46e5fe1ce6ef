/** Copying: a button beside an id, and a block of commands to paste. */
import { Check, Copy as CopyShape } from "lucide-react"
import { useEffect, useState } from "react"
import { announce } from "./Announcer.tsx"

const shownMillis = 1_500

/** Resolves to whether the text is on the clipboard. It is refused where the page is not served securely. */
export const toClipboard = async (text: string): Promise<boolean> => {
  try {
    await navigator.clipboard.writeText(text)
    announce("Copied.")
    return true
  } catch {
    announce("The browser did not allow copying. Select the text and copy it.")
    return false
  }
}

export const CopyButton = ({
  text,
  what,
  word
}: {
  readonly text: string
  readonly what: string
  readonly word?: string
}) => {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), shownMillis)
    return () => clearTimeout(timer)
  }, [isCopied])
  const Shape = isCopied ? Check : CopyShape
  return (
    <button
      type="button"
      aria-label={`Copy ${what}`}
      title={`Copy ${what}`}
      onClick={() => void toClipboard(text).then(setCopied)}
      className="inline-flex min-h-6 min-w-6 items-center justify-center gap-1 rounded px-1 text-muted hover:bg-hover hover:text-text"
    >
      <Shape size={14} aria-hidden="true" />
      {word !== undefined && <span>{isCopied ? "Copied" : word}</span>}
    </button>
  )
}

/** An id in full, with a button that copies it. */
export const Id = ({ id, what = "the id" }: { readonly id: string; readonly what?: string }) => (
  // In a narrow table a column would otherwise be as wide as one letter.
  <span className="inline-flex items-center gap-1 in-[td]:min-w-48">
    <code className="font-mono text-small break-all">{id}</code>
    <CopyButton text={id} what={what} />
  </span>
)

/** Text to paste, such as a command. It scrolls sideways in place of breaking lines. */
export const CodeBlock = ({ text, label }: { readonly text: string; readonly label: string }) => (
  <div className="relative rounded border border-line bg-sunken">
    <section aria-label={label} tabIndex={0} className="overflow-x-auto p-3 pr-10">
      <pre className="font-mono text-small">{text}</pre>
    </section>
    <div className="absolute top-1.5 right-1.5">
      <CopyButton text={text} what={label} />
    </div>
  </div>
)
