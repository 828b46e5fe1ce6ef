/** How a page shows amounts, times, states, ids and commands, and what screen readers hear without a change of focus. Each is exact: in full, or when somebody points at it. Ids and commands are copied with a button. */
import * as icons from "lucide-react"
import { useEffect, useState } from "react"
import { centsDollars, exactDollars } from "../data/money.ts"
import { makeStore, useStore } from "../data/store.ts"
import { exactly, inShort, inWords, useNow } from "../data/time.ts"

/** Every digit that the ledger has, in figures of one width. */
export const Money = ({ amount, className = "" }: { readonly amount: string; readonly className?: string }) => (
  <span className={`tabular-nums whitespace-nowrap ${className}`} title={`${amount} USD`}>
    {exactDollars(amount)}
  </span>
)

/** An amount of a summary, to the cent. Pointing at it shows every digit. */
export const Cents = ({ amount }: { readonly amount: string }) => (
  <span className="tabular-nums whitespace-nowrap" title={`${exactDollars(amount)} USD`}>
    {centsDollars(amount)}
  </span>
)

/** Relative to now. Pointing at it shows the exact time, in the person's zone and in UTC. */
export const Time = ({ at, short = false }: { readonly at: string; readonly short?: boolean }) => {
  const now = useNow()
  const millis = Date.parse(at)
  return (
    <time dateTime={at} title={exactly(at)} className="whitespace-nowrap tabular-nums">
      {short ? inShort(millis, now) : inWords(millis, now)}
    </time>
  )
}

/** Classes of words, of the tinted ground below them, and of a bar. */
const tones = {
  green: { text: "text-green", soft: "bg-green-soft", solid: "bg-green" },
  grey: { text: "text-grey", soft: "bg-grey-soft", solid: "bg-grey" },
  blue: { text: "text-blue", soft: "bg-blue-soft", solid: "bg-blue" },
  amber: { text: "text-amber", soft: "bg-amber-soft", solid: "bg-amber" },
  red: { text: "text-red", soft: "bg-red-soft", solid: "bg-red" },
  violet: { text: "text-violet", soft: "bg-violet-soft", solid: "bg-violet" }
} as const
export type Tone = keyof typeof tones

/** A status has an icon, a word and a colour, so that none of them carries it alone. */
const looks: Readonly<Record<string, readonly [tone: Tone, shape: icons.LucideIcon]>> = {
  created: ["blue", icons.CircleDashed],
  reserved: ["blue", icons.CircleDashed],
  queued: ["blue", icons.Clock],
  running: ["blue", icons.CircleDot],
  succeeded: ["green", icons.CircleCheck],
  no_match: ["grey", icons.CircleMinus],
  failed: ["red", icons.CircleX],
  timed_out: ["red", icons.Clock],
  blocked: ["amber", icons.ShieldAlert],
  cancelled: ["grey", icons.Ban],
  cancelling: ["amber", icons.Ban],
  finished: ["green", icons.CircleCheck],
  invalid: ["amber", icons.CircleX],
  outcome_unknown: ["violet", icons.CircleHelp]
}
const lookOf = (status: string) => looks[status] ?? (["red", icons.CircleX] as const)

export const statusWord = (status: string): string => (status === "invalid" ? "refused" : status.replaceAll("_", " "))
/** The class of a bar for a status. */
export const statusBar = (status: string): string => tones[lookOf(status)[0]].solid

export const Status = ({ status, large = false }: { readonly status: string; readonly large?: boolean }) => {
  const [tone, Shape] = lookOf(status)
  return (
    <span className={`inline-flex items-center gap-1 align-middle font-medium whitespace-nowrap ${tones[tone].text}`}>
      <Shape size={large ? 18 : 14} strokeWidth={2} aria-hidden="true" className="shrink-0" />
      {statusWord(status)}
    </span>
  )
}

const stateTones: Readonly<Record<string, Tone>> = {
  active: "green",
  granted: "green",
  verified: "green",
  pending: "amber",
  open: "blue",
  used: "green"
}

/** A state of anything. Runs and batches have their own look. */
export const State = ({ state, word }: { readonly state: string; readonly word: string }) =>
  looks[state] === undefined ? <Badge tone={stateTones[state] ?? "grey"}>{word}</Badge> : <Status status={state} />

/** A short word on a tinted ground, such as the environment. */
export const Badge = ({ tone, children }: { readonly tone: Tone; readonly children: string }) => (
  <span
    className={`rounded px-1.5 py-0.5 text-small font-semibold whitespace-nowrap ${tones[tone].soft} ${tones[tone].text}`}
  >
    {children}
  </span>
)

const shownMillis = 1_500

/** Resolves to whether the text is on the clipboard. It is refused where the page is not served securely. */
export const toClipboard = async (text: string): Promise<boolean> => {
  try {
    await navigator.clipboard.writeText(text)
    announce("Copied.")
    return true
  } catch {
    announce("The browser did not allow copying. Select the text and copy it.", true)
    return false
  }
}

interface CopyButtonProps {
  readonly text: string
  readonly what: string
  readonly word?: string
}

export const CopyButton = ({ text, what, word }: CopyButtonProps) => {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), shownMillis)
    return () => clearTimeout(timer)
  }, [isCopied])
  const Shape = isCopied ? icons.Check : icons.Copy
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

const announcement = makeStore({ text: "", failed: false, count: 0 })

/** A failure is shown too, until somebody dismisses it or something else is announced. */
export const announce = (text: string, failed = false): void =>
  announcement.set({ text, failed, count: announcement.get().count + 1 })

export const Announcer = () => {
  const { text, failed, count } = useStore(announcement)
  const look = "fixed inset-x-4 bottom-20 z-50 mx-auto flex max-w-lg items-start justify-between gap-3"
  return (
    <div className={failed ? `${look} rounded border border-red bg-panel p-3 text-red shadow-float` : "sr-only"}>
      <div role="status" aria-live="polite">
        {/* The key makes the same sentence a new one. */}
        <span key={count}>{text}</span>
      </div>
      {failed && (
        <button type="button" aria-label="Dismiss" className="text-muted hover:text-text" onClick={() => announce("")}>
          <icons.X size={16} aria-hidden="true" />
        </button>
      )}
    </div>
  )
}
