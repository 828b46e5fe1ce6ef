/** Adds a webhook endpoint, and shows its secret once. */
import { useGo } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { Allowed, Page } from "../../parts/Page.tsx"
import { payloadForm } from "../../forms/payload.ts" with { type: "macro" }
import { PayloadForm } from "../../forms/PayloadFields.tsx"
import { Secret } from "../../forms/Secret.tsx"
import { fieldWords } from "./endpoints.tsx"

const form = payloadForm("webhooks", "create")

const NewEndpoint = () => {
  const go = useGo()
  return (
    <Page lead="Events from now on are posted to it.">
      <Allowed operation="webhooks.create">
        <PayloadForm
          form={form}
          words={fieldWords}
          initial={{ events: ["run.finished"] }}
          send={(payload) => api.webhooks.create({ payload })}
          changes={["webhooks"]}
          submit="Add the endpoint"
          className="space-y-5"
          instead={({ id, secret }) => (
            <Secret
              title="This secret verifies the signatures. It is shown only now: store it where your endpoint reads it."
              label="the webhook secret"
              text={secret}
              done="I have stored the secret"
              onStored={() => go(`/settings/webhooks/${id}`)}
            />
          )}
        />
      </Allowed>
    </Page>
  )
}

export default NewEndpoint
