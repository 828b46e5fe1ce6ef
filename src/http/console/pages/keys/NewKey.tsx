/** Creates a key with its rules, and shows it once. */
import { useAction } from "../../actions/useAction.ts"
import { useGo } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { useMay, useService } from "../../data/session.ts"
import { Secret } from "../../forms/Secret.tsx"
import { CodeBlock } from "../../parts/Copy.tsx"
import { Loaded, PageHead } from "../../parts/Page.tsx"
import { rulesIn } from "./rules.ts"
import { RulesForm } from "./RulesForm.tsx"

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
  const create = useAction((form: FormData) => api.keys.create({ payload: { environment, ...rulesIn(form, null) } }), {
    changes: ["keys"]
  })
  if (create.data !== undefined) return <Made {...create.data} />
  return <RulesForm before={null} action={create} submit="Create the key" />
}

const NewKey = () => {
  const may = useMay("keys.create")
  return (
    <>
      <PageHead title="Create an API key" />
      {may ? (
        <Loaded query={useService()}>{({ environment }) => <Form environment={environment} />}</Loaded>
      ) : (
        <p className="text-muted">Your role is viewer. An owner, an admin or a member can create a key.</p>
      )}
    </>
  )
}

export default NewKey
