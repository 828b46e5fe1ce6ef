/** A labelled field with its own error, and the error of a whole form. */
import { type ComponentProps, createContext, type ReactNode, useContext, useId } from "react"
import { ApiError } from "../data/api.ts"
import { Id } from "./Values.tsx"

export const inputLook =
  "block w-full rounded border border-line-strong bg-page px-2.5 py-1.5 text-text min-h-8.5 aria-invalid:border-red"

/** The message that the service has for a field, such as "is shorter than 10 characters". */
export const problemOf = (error: unknown, path: string): string | null =>
  error instanceof ApiError ? (error.details.find((one) => one.path === path)?.message ?? null) : null

/** What the service says about fields, by path. Its words replace those of the form. */
export const detailsOf = (...errors: ReadonlyArray<unknown>): ReadonlyMap<string, string> =>
  new Map(
    errors.flatMap((error) =>
      error instanceof ApiError ? error.details.map(({ path, message }) => [path, message] as const) : []
    )
  )

/** The error of the form around a field. A field shows what the service says about its name. */
export const FormError = createContext<unknown>(null)

interface LabelledProps {
  readonly label: ReactNode
  readonly hideLabel?: boolean | undefined
  readonly hint?: ReactNode
  readonly problem?: string | null | undefined
  /** Of the input, and of its path in the request. */
  readonly name?: string | undefined
  readonly className?: string | undefined
}

/** The label, hint and problem around an input, which `children` gets the attributes for. */
const Labelled = ({
  label,
  hideLabel = false,
  hint = "",
  problem,
  name = "",
  className = "",
  children
}: LabelledProps & {
  readonly children: (attributes: {
    readonly id: string
    readonly "aria-invalid": boolean
    readonly "aria-describedby": string | undefined
  }) => ReactNode
}) => {
  const id = useId()
  const error = useContext(FormError)
  // What the service says without a field is not about an input without a name.
  const named = name === "" ? null : problemOf(error, name)
  const shown = problem ?? named
  const described = [hint === "" ? "" : `${id}-hint`, shown === null ? "" : `${id}-problem`].join(" ").trim()
  return (
    <div className={className}>
      <label htmlFor={id} className={hideLabel ? "sr-only" : "mb-1 block font-medium"}>
        {label}
      </label>
      {children({ id, "aria-invalid": shown !== null, "aria-describedby": described === "" ? undefined : described })}
      {hint !== "" && (
        <div id={`${id}-hint`} className="mt-1 text-small break-words text-muted">
          {hint}
        </div>
      )}
      {shown !== null && (
        <p id={`${id}-problem`} className="mt-1 text-small break-words text-red">
          {shown}
        </p>
      )}
    </div>
  )
}

type FieldProps = LabelledProps & Omit<ComponentProps<"input">, "name">

export const Field = ({ label, hint, problem, className, ...input }: FieldProps) => (
  <Labelled label={label} hint={hint} problem={problem} name={input.name} className={className}>
    {(attributes) => <input {...attributes} {...input} className={inputLook} />}
  </Labelled>
)

/** An amount in USD that somebody types. `pattern` is for amounts with other limits. */
export const AmountField = (props: FieldProps) => <Field inputMode="decimal" pattern="\d{1,9}(\.\d{1,6})?" {...props} />

export const EmailField = (props: Omit<FieldProps, "label">) => (
  <Field label="E-mail address" name="email" type="email" required maxLength={254} {...props} />
)

export const passwordLengthMin = 10

/** A password that exists, or with `isNew` one that somebody chooses. */
export const PasswordField = ({ isNew = false, ...props }: FieldProps & { readonly isNew?: boolean }) => (
  <Field
    type="password"
    autoComplete={isNew ? "new-password" : "current-password"}
    required
    {...(isNew ? { minLength: passwordLengthMin, hint: `At least ${passwordLengthMin} characters.` } : {})}
    maxLength={500}
    {...props}
  />
)

type AreaProps = LabelledProps &
  Omit<ComponentProps<"textarea">, "name"> & {
    /** Letters of one width, as for code. */
    readonly mono?: boolean
  }

/** Several lines of text. */
export const TextArea = ({ label, hint, problem, className, mono = true, ...area }: AreaProps) => (
  <Labelled label={label} hint={hint} problem={problem} name={area.name} className={className}>
    {(attributes) => (
      <textarea
        spellCheck={false}
        {...attributes}
        {...area}
        className={`${inputLook} ${mono ? "font-mono text-small" : ""}`}
      />
    )}
  </Labelled>
)

/** Values and their words, or values that are words. In an object, values that are numbers would come first. */
export type Options = Readonly<Record<string, string>> | ReadonlyArray<string | readonly [value: string, words: string]>

export const optionsIn = (options: Options): ReadonlyArray<readonly [value: string, words: string]> =>
  Symbol.iterator in options
    ? options.map((one) => (typeof one === "string" ? ([one, one] as const) : one))
    : Object.entries(options)

type SelectProps = LabelledProps & Omit<ComponentProps<"select">, "name"> & { readonly options: Options }

export const Select = ({ label, hideLabel, hint, problem, className, options, ...select }: SelectProps) => (
  <Labelled label={label} hideLabel={hideLabel} hint={hint} problem={problem} name={select.name} className={className}>
    {(attributes) => (
      <select {...attributes} {...select} className={inputLook}>
        {optionsIn(options).map(([value, word]) => (
          <option key={value} value={value}>
            {word}
          </option>
        ))}
      </select>
    )}
  </Labelled>
)

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
