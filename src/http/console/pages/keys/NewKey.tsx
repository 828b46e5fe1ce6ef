/** Creates a key with its rules, and shows it once. */
import { ActionForm, useAction } from "../../actions/Actions.tsx"
import { useGo } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { useService } from "../../data/session.ts"
import { Allowed, Loaded, Page } from "../../parts/Page.tsx"
import { payloadForm } from "../../forms/payload.ts" with { type: "macro" }
import { PayloadFields, payloadIn } from "../../forms/PayloadFields.tsx"
import { Secret } from "../../forms/Secret.tsx"
import { CodeBlock } from "../../parts/Values.tsx"
import { firstRules, useRuleWords } from "./keys.ts"

const form = payloadForm("keys", "create", ["environment"])

const Made = ({ id, api_key }: { readonly id: string; readonly api_key: string }) => {
  const go = useGo()
  return (
    <div className="space-y-4">
      <Secret
        title="This is the key. It is shown only now: store it where secrets belong."
        label="the API key"
        text={api_key}
        done="I have stored the key"
        onStored={() => go(`/settings/keys/${id}`)}
      />
      <CodeBlock
        label="a first request with the key"
        text={`curl -s ${location.origin}/v1/wallet -H "Authorization: Bearer $RUNGATE_API_KEY"`}
      />
    </div>
  )
}

const Form = ({ environment }: { readonly environment: "test" | "live" }) => {
  const words = useRuleWords("the key")
  const create = useAction((sent: FormData) => api.keys.create({ payload: { environment, ...payloadIn(sent) } }), {
    changes: ["keys"]
  })
  if (create.data !== undefined) return <Made {...create.data} />
  return (
    <ActionForm action={create} submit="Create the key" className="space-y-5">
      <PayloadFields form={form} words={words} initial={firstRules} />
    </ActionForm>
  )
}

const NewKey = () => (
  <Page title="Create an API key">
    <Allowed operation="keys.create">
      <Loaded query={useService()}>{({ environment }) => <Form environment={environment} />}</Loaded>
    </Allowed>
  </Page>
)

export default NewKey
