/** Adds a webhook endpoint, and shows its secret once. */
import { ActionForm } from "../../actions/Actions.tsx"
import { textIn, useAction } from "../../actions/useAction.ts"
import { useGo } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { useMay } from "../../data/session.ts"
import { Secret } from "../../forms/Secret.tsx"
import { PageHead } from "../../parts/Page.tsx"
import { EndpointFields } from "./EndpointForm.tsx"
import { kindsIn } from "./endpoints.ts"

const Form = () => {
  const go = useGo()
  const create = useAction(
    (form: FormData) => api.webhooks.create({ payload: { url: textIn(form, "url").trim(), events: kindsIn(form) } }),
    { changes: ["webhooks"] }
  )
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
    <ActionForm action={create} submit="Add the endpoint" className="space-y-5">
      <EndpointFields url="" events={["run.finished"]} />
    </ActionForm>
  )
}

const NewEndpoint = () => {
  const may = useMay("webhooks.create")
  return (
    <>
      <PageHead title="Add a webhook endpoint">Events from now on are posted to it.</PageHead>
      {may ? <Form /> : <p className="text-muted">An owner or an admin of the organization can add endpoints.</p>}
    </>
  )
}

export default NewEndpoint
