/** Reads forms. */
import type { FormEvent } from "react"

/** The text of a field of the form that was sent. */
export const textIn = (form: FormData, name: string): string => {
  const value = form.get(name)
  return typeof value === "string" ? value : ""
}

/** An amount that somebody typed, perhaps with a dollar sign. */
export const amountIn = (form: FormData, name: string): string =>
  textIn(form, name)
    .trim()
    .replace(/^\$\s*/, "")

/** Handles a form in place of the browser. The fields keep what was typed. */
export const onForm =
  (handle: (form: FormData) => void) =>
  (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    handle(new FormData(event.currentTarget))
  }
