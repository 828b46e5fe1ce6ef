/** A change of the operator, after a question: `children` repeats the object, the amount and the consequence. Then the page is read again. */
import { ConfirmAction, type Confirmation } from "../../actions/Actions.tsx"
import { operatorChanged } from "../../data/operator.ts"

export const auditNote = <p className="text-muted">The audit log keeps it under your name.</p>

export const Ask = <A,>({ children, after, ...question }: Omit<Confirmation<A>, "changes">) => (
  <ConfirmAction
    buttonLook="plain"
    look="primary"
    {...question}
    after={(answer) => {
      after?.(answer)
      operatorChanged()
    }}
  >
    {children}
    {auditNote}
  </ConfirmAction>
)
