/**
 * Changes that a person makes: each is sent once, screen readers hear what became of it, and what it changed is read again.
 *
 * Buttons and forms send one at once, or after a dialog that repeats the object and the consequence.
 */
import { type FormEvent, type ReactElement, type ReactNode, useState } from "react"
import { Button, type Look } from "../parts/Page.tsx"
import { Dialog } from "../parts/Dialog.tsx"
import { FormError, FormProblem } from "../parts/Field.tsx"
import { useMutation } from "@tanstack/react-query"
import { queries } from "../data/api.ts"
import { announce } from "../parts/Values.tsx"
import { Download } from "lucide-react"

/** The text of a field of the form that was sent. */
export const textIn = (form: FormData, name: string): string => {
  const value = form.get(name)
  return typeof value === "string" ? value : ""
}

/** Handles a form in place of the browser. The fields keep what was typed. */
export const onForm =
  (handle: (form: FormData) => void) =>
  (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    handle(new FormData(event.currentTarget))
  }

export interface Outcome<A> {
  /** What screen readers hear when it is done. */
  readonly says?: string | ((answer: A) => string) | undefined
  /** What stands before the reason when it is refused, for an action whose error is nowhere on the page. */
  readonly fails?: string | undefined
  /** What else the page does then. */
  readonly after?: ((answer: A) => unknown) | undefined
  /** First parts of the keys of queries that show what was changed. It is busy until they were read again. */
  readonly changes?: ReadonlyArray<string> | undefined
}

/** `send` gets the form that was submitted. A button alone sends none. */
export const useAction = <A, V = FormData | void>(
  send: (value: V) => Promise<A>,
  { says, fails, after, changes = [] }: Outcome<A> = {}
) => {
  const readAgain = () => Promise.all(changes.map((key) => queries.invalidateQueries({ queryKey: [key] })))
  return useMutation({
    mutationFn: send,
    onSuccess: async (answer) => {
      if (says !== undefined) announce(typeof says === "string" ? says : says(answer))
      after?.(answer)
      await readAgain()
    },
    onError: ({ message }) => {
      if (fails !== undefined) announce(`${fails}${message}`, true)
      // Often somebody else has changed it meanwhile.
      void readAgain()
    }
  })
}

/** An action that a form or a dialog sends. */
export interface FormAction {
  readonly error: Error | null
  readonly isPending: boolean
  readonly reset: () => void
  readonly mutate: (form: FormData, options?: { readonly onSuccess: () => unknown }) => void
}

/** For what can be undone. */
export const ActionButton = <A,>({
  send,
  says,
  after,
  changes,
  ...button
}: Outcome<A> & {
  readonly send: () => Promise<A>
  readonly children: ReactNode
  readonly look?: Look
  readonly disabled?: boolean
  readonly "aria-label"?: string
}) => {
  const action = useAction(send, { says, after, changes })
  return (
    <>
      <FormProblem error={action.error} />
      <Button {...button} busy={action.isPending} onClick={() => action.mutate()} />
    </>
  )
}

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

export interface Confirmation<A> extends Omit<Question, "action" | "title" | "confirm">, Outcome<A> {
  readonly send: (form: FormData) => Promise<A>
  /** The words of the button that asks. */
  readonly word: string
  /** What screen readers call that button, where its words are not enough. */
  readonly label?: string | undefined
  /** Without one, the question is what the button is called. */
  readonly title?: string
  /** Without other words, the button that acts has those of the one that asks. */
  readonly confirm?: ReactNode
  readonly buttonLook?: Look
}

/** A button, the question that it asks first, and what it sends then. */
export const ConfirmAction = <A,>({
  send,
  word,
  label,
  title = `${label ?? word}?`,
  confirm = word,
  buttonLook = "danger",
  ...rest
}: Confirmation<A>) => {
  const [isOpen, setOpen] = useState(false)
  const action = useAction(send, rest)
  return (
    <>
      <Button look={buttonLook} aria-label={label} onClick={() => setOpen(true)}>
        {word}
      </Button>
      <ActionDialog {...{ ...rest, title, confirm, action }} open={isOpen} onClose={() => setOpen(false)} />
    </>
  )
}

export interface FormProps<A> extends Outcome<A> {
  readonly send: (form: FormData) => Promise<A>
  /** The words of the button. */
  readonly submit: ReactNode
  readonly look?: Look
  readonly disabled?: boolean
  /** Who may send it, for a person who may not. It takes the place of the button. */
  readonly denied?: string | null
  /** What is shown once it is done. */
  readonly saved?: ReactNode | ((answer: A) => ReactNode)
  /** In place of the form once it is done, such as a secret; the form stays for null. `again` shows the form. */
  readonly instead?: (answer: A, again: () => void) => ReactElement | null
  /** Below the button. */
  readonly note?: ReactNode
  /** One row: fields and button beside each other. */
  readonly inline?: boolean
  /** The button is as wide as the form. */
  readonly narrow?: boolean
  readonly signsIn?: boolean
  /** The fields are as at first once it is done. After a refusal, what was typed stays. */
  readonly clears?: boolean
  /** Asks before the form is sent, and repeats what was typed. */
  readonly question?: ((form: FormData) => Omit<Question, "action">) | undefined
  readonly className?: string
  readonly children: ReactNode
}

export const ActionForm = <A,>({
  send,
  says,
  after,
  changes,
  submit,
  denied = null,
  saved,
  instead,
  note,
  inline = false,
  narrow = false,
  signsIn = false,
  clears = false,
  question,
  className = inline ? "flex flex-wrap items-end gap-3" : "space-y-4",
  children,
  ...button
}: FormProps<A>) => {
  const action = useAction(send, { says, after, changes })
  const [typed, setTyped] = useState<FormData | null>(null)
  const [round, setRound] = useState(0)
  const inPlace = action.isSuccess ? (instead?.(action.data, action.reset) ?? null) : null
  if (inPlace !== null) return inPlace
  const problem = typed === null && <FormProblem error={action.error} signsIn={signsIn} />
  const submitted = (form: FormData) => {
    if (question === undefined) return action.mutate(form, { onSuccess: () => clears && setRound(round + 1) })
    action.reset()
    setTyped(form)
  }
  return (
    <FormError value={action.error}>
      <form key={round} onSubmit={onForm(submitted)} className={className}>
        {children}
        {!inline && problem}
        {action.isSuccess && saved !== undefined && (
          <p className="text-green">{typeof saved === "function" ? saved(action.data) : saved}</p>
        )}
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

/** Saves a file. Below it stands what there is to say of the file, or why it is not saved. */
export const SaveButton = ({
  send,
  children
}: {
  /** Reads and saves. Resolves to what there is to say of it. */
  readonly send: () => Promise<string | void>
  readonly children: string
}) => {
  const saved = useAction(send, { says: (words) => words ?? "Saved." })
  return (
    <div className="flex flex-col items-start gap-1">
      <Button busy={saved.isPending} onClick={() => saved.mutate()}>
        <Download size={14} aria-hidden="true" /> {children}
      </Button>
      {typeof saved.data === "string" && <p className="max-w-60 text-small text-muted">{saved.data}</p>}
      <FormProblem error={saved.error} />
    </div>
  )
}
