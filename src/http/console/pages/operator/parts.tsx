/** What pages of the operator share: a short table, a verdict, a change that asks first, the cells of a payment, and an entry that waits. */
import { CircleCheck, TriangleAlert } from "lucide-react"
import type { ReactNode } from "react"
import { ConfirmAction, type Confirmation } from "../../actions/Actions.tsx"
import type { AnswerOf } from "../../data/api.ts"
import { Panel } from "../../parts/Page.tsx"
import { DataTable, type TableProps } from "../../parts/Table.tsx"
import { Id } from "../../parts/Values.tsx"

interface SmallTableProps<A> extends Omit<TableProps<A>, "empty" | "plain"> {
  readonly none: string
}

/** In place of no rows it has a sentence. Pages of long lists have a `PagedTable`. */
export const SmallTable = <A,>({ label, none, ...table }: SmallTableProps<A>) => (
  // The panel around it often has the same name.
  <DataTable plain label={`${label} (table)`} empty={<p className="text-muted">{none}</p>} {...table} />
)
export const TablePanel = <A,>({
  title,
  label = title,
  ...table
}: Omit<SmallTableProps<A>, "label"> & { readonly title: string; readonly label?: string }) => (
  <Panel title={title}>
    <SmallTable label={label} {...table} />
  </Panel>
)

/** A fact that is good or bad, with an icon and words, so that its colour says nothing alone. */
export const Verdict = ({ good, children }: { readonly good: boolean; readonly children: ReactNode }) => {
  const Shape = good ? CircleCheck : TriangleAlert
  return (
    <p className={`flex items-start gap-2 ${good ? "text-green" : "text-red"}`}>
      <Shape size={16} aria-hidden="true" className="mt-0.5 shrink-0" />
      <span>{children}</span>
    </p>
  )
}

export const auditNote = <p className="text-muted">The audit log keeps it under your name.</p>

/** A change after a question: `children` repeats the object, the amount and the consequence. Then the page is read again. */
export const Ask = <A,>({ children, ...question }: Omit<Confirmation<A>, "changes">) => (
  <ConfirmAction buttonLook="plain" look="primary" changes={["operator"]} {...question}>
    {children}
    {auditNote}
  </ConfirmAction>
)

/** What parts of an organization's page get. */
export interface OfDetail {
  readonly detail: AnswerOf<"operatorOrganizations", "get">
}
type Payment = OfDetail["detail"]["payments"][number]

export const paymentCells = {
  state: ({ state, failure }: Payment) => (failure === null ? state : `${state}: ${failure}`),
  payment_id: ({ session_id, payment_intent, payment_id }: Payment) => (
    <Id id={session_id ?? payment_intent ?? payment_id} what="the payment's id" />
  )
}

interface EntryProps {
  readonly title: ReactNode
  readonly action: ReactNode
  /** As the service or the provider wrote it. Null if nothing is stored. */
  readonly why: string | null
  /** Facts, each an element of its own. */
  readonly children: ReactNode
}

/** An entry of a list that waits for the operator: what it is, the button that deals with it, what went wrong, and facts about it. */
export const Entry = ({ title, action, why, children }: EntryProps) => (
  <li className="grid gap-2 border-b border-line py-3 last:border-b-0">
    <div className="flex flex-wrap items-center justify-between gap-2">
      <span>{title}</span>
      {action}
    </div>
    {why !== null && (
      <pre className="overflow-x-auto rounded bg-sunken p-2 font-mono text-small whitespace-pre-wrap break-words">
        {why}
      </pre>
    )}
    <p className="flex flex-wrap gap-x-4 gap-y-1 text-small text-muted">{children}</p>
  </li>
)
