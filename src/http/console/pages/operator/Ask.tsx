/** Asks before a change: `children` repeats the object, the amount and the consequence, and `action` says what happens. */
import type { ReactNode } from "react"
import { Button } from "../../parts/Button.tsx"
import { Dialog } from "../../parts/Dialog.tsx"
import { FormProblem } from "../../parts/Field.tsx"

export const Ask = ({
  open,
  title,
  action,
  busy,
  error,
  danger = false,
  onConfirm,
  onClose,
  children
}: {
  readonly open: boolean
  readonly title: string
  readonly action: string
  readonly busy: boolean
  readonly error: unknown
  readonly danger?: boolean
  readonly onConfirm: () => void
  readonly onClose: () => void
  readonly children: ReactNode
}) => (
  <Dialog open={open} onClose={onClose} title={title}>
    <div className="space-y-2">
      {children}
      <p className="text-muted">The audit log keeps it under your name.</p>
      <FormProblem error={error} />
    </div>
    <div className="mt-5 flex flex-wrap justify-end gap-2">
      <Button onClick={onClose}>Cancel</Button>
      <Button look={danger ? "danger" : "primary"} busy={busy} onClick={onConfirm}>
        {action}
      </Button>
    </div>
  </Dialog>
)
