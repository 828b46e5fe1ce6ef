/** Buttons and forms that send an action: at once, or after a dialog that repeats the object and the consequence. */
import { type ReactNode, useState } from "react"
import { Button, type Look } from "../parts/Button.tsx"
import { Dialog } from "../parts/Dialog.tsx"
import { FormError, FormProblem } from "../parts/Field.tsx"
import { type ButtonAction, type FormAction, onForm } from "./useAction.ts"

/** For what can be undone. */
export const ActionButton = ({
  action,
  children,
  ...rest
}: {
  readonly action: ButtonAction
  readonly children: ReactNode
  readonly look?: Look
  readonly disabled?: boolean
  readonly "aria-label"?: string
}) => (
  <>
    <FormProblem error={action.error} />
    <Button {...rest} busy={action.isPending} onClick={() => action.mutate()}>
      {children}
    </Button>
  </>
)

export interface Question {
  readonly action: FormAction
  readonly title: string
  /** The words of the button that acts, such as "Revoke the key". */
  readonly confirm: ReactNode
  /** The words of the other button. */
  readonly cancel?: string
  readonly look?: "danger" | "primary"
  readonly disabled?: boolean
  /** What happens to which object. Fields in it are sent with the action. */
  readonly children: ReactNode
}

/** The question alone, where something else than a button opens it. It stays open, and says why, if the action is refused. */
export const ActionDialog = ({
  open,
  onClose,
  action,
  title,
  confirm,
  cancel = "Cancel",
  look = "danger",
  disabled = false,
  children
}: Question & { readonly open: boolean; readonly onClose: () => void }) => {
  const leave = () => {
    // What was refused before is not wrong with the next one.
    if (action.error !== null) action.reset()
    onClose()
  }
  return (
    <Dialog open={open} onClose={leave} title={title}>
      <FormError value={action.error}>
        <form onSubmit={onForm((form) => action.mutate(form, { onSuccess: onClose }))}>
          <div className="space-y-2">
            {children}
            <FormProblem error={action.error} />
          </div>
          <div className="mt-5 flex flex-wrap justify-end gap-2">
            <Button onClick={leave}>{cancel}</Button>
            <Button type="submit" look={look} busy={action.isPending} disabled={disabled}>
              {confirm}
            </Button>
          </div>
        </form>
      </FormError>
    </Dialog>
  )
}

/** A button, and the question that it asks first. */
export const ConfirmAction = ({
  word,
  label,
  buttonLook = "danger",
  ...question
}: Question & {
  /** The words of the button that asks. */
  readonly word: ReactNode
  /** What screen readers call that button, where its words are not enough. */
  readonly label?: string | undefined
  readonly buttonLook?: Look
}) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button look={buttonLook} aria-label={label} onClick={() => setOpen(true)}>
        {word}
      </Button>
      <ActionDialog {...question} open={isOpen} onClose={() => setOpen(false)} />
    </>
  )
}

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
