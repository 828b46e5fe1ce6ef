/** A change of the operator, after a question: `children` repeats the object, the amount and the consequence. */
import { ConfirmAction, type Confirmation } from "../../actions/Actions.tsx"

export const auditNote = <p className="text-muted">The audit log keeps it under your name.</p>

export const Ask = <A,>({ children, ...question }: Confirmation<A>) => (
  <ConfirmAction buttonLook="plain" look="primary" {...question}>
    {children}
    {auditNote}
  </ConfirmAction>
)
