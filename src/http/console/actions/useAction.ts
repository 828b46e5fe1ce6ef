/** A change that a person makes: it is sent once, screen readers hear what became of it, and what it changed is read again. */
import { useMutation } from "@tanstack/react-query"
import type { FormEvent } from "react"
import { queries } from "../data/api.ts"
import { announce } from "../parts/Announcer.tsx"

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

interface Outcome<A> {
  /** What screen readers hear when it is done. */
  readonly says?: string | ((answer: A) => string)
  /** What else the page does then. */
  readonly after?: (answer: A) => unknown
  /** First parts of the keys of queries that show what was changed. It is busy until they were read again. */
  readonly changes?: ReadonlyArray<string>
}

/** `send` gets the form that was submitted. A button alone sends none. */
export const useAction = <A, V = FormData | void>(
  send: (value: V) => Promise<A>,
  { says, after, changes = [] }: Outcome<A> = {}
) => {
  const readAgain = () => Promise.all(changes.map((key) => queries.invalidateQueries({ queryKey: [key] })))
  return useMutation({
    mutationFn: send,
    onSuccess: async (answer) => {
      if (says !== undefined) announce(typeof says === "string" ? says : says(answer))
      after?.(answer)
      await readAgain()
    },
    // Often somebody else has changed it meanwhile.
    onError: () => void readAgain()
  })
}

interface Progress {
  readonly error: Error | null
  readonly isPending: boolean
  readonly isSuccess: boolean
  readonly reset: () => void
}

/** An action that a button sends. */
export interface ButtonAction extends Progress {
  readonly mutate: (none: void) => void
}

/** An action that a form or a dialog sends. */
export interface FormAction extends Progress {
  readonly mutate: (form: FormData, options?: { readonly onSuccess: () => void }) => void
}
