/** Adds a webhook endpoint, and shows its secret once. */
import { useMutation } from "@tanstack/react-query"
import { onForm, textIn } from "../../account/forms.ts"
import { useGo } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { useMay } from "../../data/session.ts"
import { Secret } from "../../forms/Secret.tsx"
import { Button } from "../../parts/Button.tsx"
import { FormProblem } from "../../parts/Field.tsx"
import { PageHead } from "../../parts/Page.tsx"
import { EndpointFields } from "./EndpointForm.tsx"
import { kindsIn, webhooksChanged } from "./endpoints.ts"

const Form = () => {
  const go = useGo()
  const create = useMutation({
    mutationFn: (form: FormData) =>
      api.webhooks.create({ payload: { url: textIn(form, "url").trim(), events: kindsIn(form) } }),
    onSuccess: webhooksChanged
  })
  if (create.data !== undefined) {
    const { id, secret } = create.data
    return (
      <Secret
        title="This secret verifies the signatures. It is shown only now: store it where your endpoint reads it."
        label="the webhook secret"
        text={secret}
        done="I have stored the secret"
        onStored={() => go(`/settings/webhooks/${id}`)}
      />
    )
  }
  return (
    <form onSubmit={onForm((form) => create.mutate(form))} className="space-y-5">
      <EndpointFields url="" events={["run.finished"]} error={create.error} />
      <FormProblem error={create.error} />
      <Button type="submit" look="primary" busy={create.isPending}>
        Add the endpoint
      </Button>
    </form>
  )
}

const NewEndpoint = () => {
  const may = useMay("admin")
  return (
    <>
      <PageHead title="Add a webhook endpoint">Events from now on are posted to it.</PageHead>
      {may ? <Form /> : <p className="text-muted">An owner or an admin of the organization can add endpoints.</p>}
    </>
  )
}

export default NewEndpoint
