/** Creates the first API key and shows it once. Budgets and scopes are set on the page of keys. */
import { ActionForm, textIn, useAction } from "../../actions/Actions.tsx"
import { api, queries } from "../../data/api.ts"
import { useMay } from "../../data/session.ts"
import { Button, Denied } from "../../parts/Page.tsx"
import { CodeBlock } from "../../parts/Values.tsx"
import { Field } from "../../parts/Field.tsx"

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
  const may = useMay("keys.create")
  const create = useAction(
    (form: FormData) => api.keys.create({ payload: { name: textIn(form, "name"), environment } }),
    { after: () => onShown(true) }
  )
  if (!may) return <Denied operation="keys.create" />
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
    <ActionForm action={create} submit="Create the key" look={primary ? "primary" : "plain"} inline>
      <Field
        label="Name of the key"
        name="name"
        required
        maxLength={200}
        defaultValue="first key"
        className="w-full max-w-60"
      />
    </ActionForm>
  )
}
