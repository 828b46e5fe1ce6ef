/** Adds a webhook endpoint, and shows its secret once. */
import { ActionForm, useAction } from "../../actions/Actions.tsx"
import { useGo } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { Allowed, Page } from "../../parts/Page.tsx"
import { payloadForm } from "../../forms/payload.ts" with { type: "macro" }
import { PayloadFields, payloadIn } from "../../forms/PayloadFields.tsx"
import { Secret } from "../../forms/Secret.tsx"
import { fieldWords } from "./endpoints.tsx"

const form = payloadForm("webhooks", "create")

const Form = () => {
  const go = useGo()
  const create = useAction((sent: FormData) => api.webhooks.create({ payload: payloadIn(sent) }), {
    changes: ["webhooks"]
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
    <ActionForm action={create} submit="Add the endpoint" className="space-y-5">
      <PayloadFields form={form} words={fieldWords} initial={{ events: ["run.finished"] }} />
    </ActionForm>
  )
}

const NewEndpoint = () => (
  <Page title="Add a webhook endpoint" lead="Events from now on are posted to it.">
    <Allowed operation="webhooks.create">
      <Form />
    </Allowed>
  </Page>
)

export default NewEndpoint
