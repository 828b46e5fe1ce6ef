/** The code of a second factor, in a form with a password. The field appears once the service says that the account has one. */
import { useState } from "react"
import { textIn } from "../actions/Actions.tsx"
import { Field, problemOf } from "../parts/Field.tsx"

export const CodeField = () => (
  <Field
    label="Code of your app, or a recovery code"
    name="code"
    autoComplete="one-time-code"
    required
    maxLength={40}
  />
)

export const useCode = () => {
  const [isNeeded, setNeeded] = useState(false)
  return {
    codeField: isNeeded && <CodeField />,
    withCode: async <A,>(form: FormData, send: (code: { readonly code?: string }) => Promise<A>): Promise<A> => {
      try {
        return await send(isNeeded ? { code: textIn(form, "code") } : {})
      } catch (error) {
        if (problemOf(error, "code") !== null) setNeeded(true)
        throw error
      }
    }
  }
}
