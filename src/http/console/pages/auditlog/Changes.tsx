/** An entry of an audit log in words: who changed what, and the fields before and after. The names of the log stay in the hover text. */
import type { ReactNode } from "react"
import { isRecord } from "../../data/json.ts"
import type { AnswerOf } from "../../data/api.ts"
import { Id, Money, Time } from "../../parts/Values.tsx"
import type { Column } from "../../parts/Table.tsx"

type Entry = AnswerOf<"auditLog", "list">["items"][number]

/** Actions are named after tables. Names that are not here are words already. */
const nouns: Readonly<Record<string, string>> = {
  key: "API key",
  key_budget: "budget of a key",
  connection: "connected agent",
  auto_topup: "automatic top-up",
  low_balance: "alert of a low balance",
  webhook: "webhook endpoint",
  resource: "resource at a provider",
  outcome: "unknown outcome",
  sign_up_invitation: "invitation to sign up",
  operator_link: "operator's sign-in link",
  operator_session: "operator's session",
  impersonation: "look into runs",
  books_check: "audit of the books"
}
const fields: Readonly<Record<string, string>> = { url: "URL", email: "E-mail address", allow: "May use" }
const worded = (name: string) => name.replaceAll("_", " ")
const capital = (words: string) => words.charAt(0).toUpperCase() + words.slice(1)

const actionWords = (action: string) => {
  const [noun = "", verb = ""] = action.split(".")
  return capital(`${nouns[noun] ?? worded(noun)} ${worded(verb)}`)
}

const amounts = new Set(["amount", "held", "daily_limit", "per_run_limit", "low_balance", "threshold", "max_cost"])
const dateForm = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/
/** Such as `by_you`. Ids have digits. */
const wordForm = /^[a-z]+(_[a-z]+)+$/
/** Of the service's own tables. A person can look nothing up by it. */
const internal = "budget_id"
const valueOf = (name: string, value: unknown): ReactNode => {
  if (value === undefined || value === null) return "none"
  if (typeof value === "boolean") return value ? "yes" : "no"
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(String).join(", ")
  if (isRecord(value))
    return Object.entries(value).map(([inner, one], index) => (
      <span key={inner}>
        {index > 0 && ", "}
        {worded(inner)} {valueOf(inner, one)}
      </span>
    ))
  const text = String(value)
  if (amounts.has(name)) return <Money amount={text} />
  return dateForm.test(text) ? <Time at={text} /> : wordForm.test(text) ? worded(text) : text
}

const Changes = ({ entry: { before, after } }: { readonly entry: Pick<Entry, "before" | "after"> }) => {
  const all = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  // Of an object that was made or removed, the fields without a value say nothing.
  const names = [...all].filter(
    (name) => name !== internal && ((before?.[name] ?? null) !== null || (after?.[name] ?? null) !== null)
  )
  return (
    <dl className="min-w-0 space-y-0.5">
      {names.map((name) => (
        <div key={name} className="wrap-anywhere" title={name}>
          <dt className="inline text-muted">{fields[name] ?? capital(worded(name.replace(/_id$/, "")))}: </dt>
          <dd className="inline">
            {before !== null && <del className="text-muted">{valueOf(name, before[name])}</del>}
            {before !== null && after !== null && <span aria-hidden="true"> → </span>}
            {after !== null && <ins className="no-underline">{valueOf(name, after[name])}</ins>}
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** Two columns, so that nothing is cut on a narrow screen. The operator's log says the organization too. */
export const entryColumns = <A extends Entry>(organization?: (entry: A) => ReactNode): ReadonlyArray<Column<A>> => [
  {
    title: "Who and when",
    cell: ({ actor, address, created_at }) => (
      <div className="min-w-24 space-y-0.5">
        <p className="wrap-anywhere">{actor.name ?? actor.id ?? actor.kind}</p>
        <p className="text-muted">
          {actor.name === null ? "" : `${actor.kind}, `}
          <Time at={created_at} />
        </p>
        {address !== null && <p className="wrap-anywhere text-muted">from {address}</p>}
      </div>
    )
  },
  {
    title: "What",
    cell: (entry) => (
      <div className="grid gap-x-6 gap-y-1 md:grid-cols-2">
        <div className="min-w-0">
          <p className="font-medium" title={entry.action}>
            {actionWords(entry.action)}
          </p>
          <Id id={entry.object} what="the id of what was changed" />
          {organization?.(entry)}
        </div>
        <Changes entry={entry} />
      </div>
    )
  }
]
