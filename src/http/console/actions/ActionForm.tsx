/** A form that sends an action. Each field shows what the service says about its name; the form shows the rest, and that it was saved. */
import { type ReactNode, useState } from "react"
import { Button, type Look } from "../parts/Button.tsx"
import { FormError, FormProblem } from "../parts/Field.tsx"
import { ActionDialog, type Question } from "./ConfirmAction.tsx"
import { onForm } from "./forms.ts"
import type { FormAction } from "./useAction.ts"

export const ActionForm = ({
  action,
  submit,
  denied = null,
  saved,
  note,
  inline = false,
  narrow = false,
  signsIn = false,
  question,
  className = inline ? "flex flex-wrap items-end gap-3" : "space-y-4",
  children,
  ...button
}: {
  readonly action: FormAction
  /** The words of the button. */
  readonly submit: ReactNode
  readonly look?: Look
  readonly disabled?: boolean
  /** Who may send it, for a person who may not. It takes the place of the button. */
  readonly denied?: string | null
  /** What is shown once it is done. */
  readonly saved?: ReactNode
  /** Below the button. */
  readonly note?: ReactNode
  /** One row: fields and button beside each other. */
  readonly inline?: boolean
  /** The button is as wide as the form. */
  readonly narrow?: boolean
  readonly signsIn?: boolean
  /** Asks before the form is sent, and repeats what was typed. */
  readonly question?: (form: FormData) => Omit<Question, "action">
  readonly className?: string
  readonly children: ReactNode
}) => {
  const [typed, setTyped] = useState<FormData | null>(null)
  const problem = typed === null && <FormProblem error={action.error} signsIn={signsIn} />
  const submitted = (form: FormData) => {
    if (question === undefined) return action.mutate(form)
    action.reset()
    setTyped(form)
  }
  return (
    <FormError value={action.error}>
      <form onSubmit={onForm(submitted)} className={className}>
        {children}
        {!inline && problem}
        {action.isSuccess && saved !== undefined && <p className="text-green">{saved}</p>}
        {denied === null ? (
          <Button look="primary" {...button} type="submit" busy={action.isPending} className={narrow ? "w-full" : ""}>
            {submit}
          </Button>
        ) : (
          <p className="text-muted">{denied}</p>
        )}
        {note}
        {inline && problem}
      </form>
      {question !== undefined && (
        <ActionDialog
          {...question(typed ?? new FormData())}
          open={typed !== null}
          onClose={() => setTyped(null)}
          action={{ ...action, mutate: (_, options) => action.mutate(typed ?? new FormData(), options) }}
        />
      )}
    </FormError>
  )
}
