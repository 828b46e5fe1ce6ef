/** Reads forms, and the token that a mailed link has in its address. */
import type { FormEvent } from "react"

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

export const passwordLengthMin = 10
