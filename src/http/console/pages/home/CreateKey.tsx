/** Creates the first API key and shows it once. Budgets and scopes are set on the page of keys. */
import { useMutation } from "@tanstack/react-query"
import { api, queries } from "../../data/api.ts"
import { useMay } from "../../data/session.ts"
import { Button } from "../../parts/Button.tsx"
import { CodeBlock } from "../../parts/Copy.tsx"
import { Field, FormProblem, problemOf } from "../../parts/Field.tsx"
import { onForm, textIn } from "../../account/forms.ts"

export const CreateKey = ({
  environment,
  primary,
  onShown
}: {
  readonly environment: "test" | "live"
  readonly primary: boolean
  /** Whether the key is on the page, which must stay until somebody has stored it. */
  readonly onShown: (isShown: boolean) => void
}) => {
  const may = useMay("member")
  const create = useMutation({
    mutationFn: (form: FormData) => api.keys.create({ payload: { name: textIn(form, "name"), environment } }),
    onSuccess: () => onShown(true)
  })
  if (!may) return <p className="text-muted">Your role is viewer. An owner, an admin or a member can create a key.</p>
  if (create.data !== undefined)
    return (
      <>
        <p>This is the key. It is shown only now: store it where secrets belong.</p>
        <CodeBlock label="the API key" text={create.data.api_key} />
        <Button
          onClick={() => {
            onShown(false)
            void queries.invalidateQueries({ queryKey: ["keys"] })
          }}
        >
          I have stored the key
        </Button>
      </>
    )
  return (
    <form onSubmit={onForm((form) => create.mutate(form))} className="flex flex-wrap items-end gap-3">
      <Field
        label="Name of the key"
        name="name"
        required
        maxLength={200}
        defaultValue="first key"
        problem={problemOf(create.error, "name")}
        className="w-full max-w-60"
      />
      <Button type="submit" look={primary ? "primary" : "plain"} busy={create.isPending}>
        Create the key
      </Button>
      <FormProblem error={create.error} />
    </form>
  )
}
