/** A labelled field with its own error, and the error of a whole form. */
import { type InputHTMLAttributes, type ReactNode, type SelectHTMLAttributes, useId } from "react"
import { ApiError } from "../../client/Browser.ts"
import { Id } from "./Copy.tsx"

export const inputLook =
  "block w-full rounded border border-line-strong bg-page px-2.5 py-1.5 text-text min-h-8.5 aria-invalid:border-red"

/** The message that the service has for a field, such as "is shorter than 10 characters". */
export const problemOf = (error: unknown, path: string): string | null =>
  error instanceof ApiError ? (error.details.find((one) => one.path === path)?.message ?? null) : null

interface FieldProps extends InputHTMLAttributes<HTMLInputElement> {
  readonly label: string
  readonly hint?: ReactNode
  readonly problem?: string | null
}

export const Field = ({ label, hint, problem = null, className = "", ...rest }: FieldProps) => {
  const id = useId()
  const described = [hint === undefined ? "" : `${id}-hint`, problem === null ? "" : `${id}-problem`].join(" ").trim()
  return (
    <div className={className}>
      <label htmlFor={id} className="mb-1 block font-medium">
        {label}
      </label>
      <input
        id={id}
        {...rest}
        aria-invalid={problem !== null}
        aria-describedby={described === "" ? undefined : described}
        className={inputLook}
      />
      {hint !== undefined && (
        <p id={`${id}-hint`} className="mt-1 text-small text-muted">
          {hint}
        </p>
      )}
      {problem !== null && (
        <p id={`${id}-problem`} className="mt-1 text-small text-red">
          {problem}
        </p>
      )}
    </div>
  )
}

interface SelectProps extends SelectHTMLAttributes<HTMLSelectElement> {
  readonly label: string
  /** Values and their words. */
  readonly options: ReadonlyArray<readonly [string, string]>
  readonly hideLabel?: boolean
}

export const Select = ({ label, options, hideLabel = false, className = "", ...rest }: SelectProps) => {
  const id = useId()
  return (
    <div className={className}>
      <label htmlFor={id} className={hideLabel ? "sr-only" : "mb-1 block font-medium"}>
        {label}
      </label>
      <select id={id} {...rest} className={inputLook}>
        {options.map(([value, word]) => (
          <option key={value} value={value}>
            {word}
          </option>
        ))}
      </select>
    </div>
  )
}

/** Why a form was refused, above its button. Fields that the service names show their own message too. */
export const FormProblem = ({ error, signsIn = false }: { readonly error: unknown; readonly signsIn?: boolean }) => {
  if (error === null || error === undefined) return null
  // The session has ended. The dialog that asks to sign in says so.
  if (!signsIn && error instanceof ApiError && error.status === 401) return null
  const message = error instanceof Error ? error.message : String(error)
  return (
    <div role="alert" className="rounded border border-red bg-red-soft p-3 text-red">
      <p>{message}</p>
      {error instanceof ApiError && error.status >= 500 && error.request_id !== null && (
        <p className="mt-1 text-small">
          Request <Id id={error.request_id} what="the request id" />
        </p>
      )}
    </div>
  )
}
