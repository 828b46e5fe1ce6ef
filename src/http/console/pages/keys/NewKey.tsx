/** Creates a key with its rules, and shows it once. */
import { useGo } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { useService } from "../../data/session.ts"
import { Allowed, Loaded, Page } from "../../parts/Page.tsx"
import { payloadForm } from "../../forms/payload.ts" with { type: "macro" }
import { PayloadForm } from "../../forms/PayloadFields.tsx"
import { Secret } from "../../forms/Secret.tsx"
import { CodeBlock } from "../../parts/Values.tsx"
import { firstRules, useRuleWords } from "./keys.ts"

const form = payloadForm("keys", "create", ["environment"])

const NewKey = () => {
  const go = useGo()
  const words = useRuleWords("the key")
  return (
    <Page>
      <Allowed operation="keys.create">
        <Loaded query={useService()}>
          {({ environment }) => (
            <PayloadForm
              form={form}
              words={words}
              initial={firstRules}
              send={(payload) => api.keys.create({ payload: { environment, ...payload } })}
              changes={["keys"]}
              submit="Create the key"
              className="space-y-5"
              instead={({ id, api_key }) => (
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
              )}
            />
          )}
        </Loaded>
      </Allowed>
    </Page>
  )
}

export default NewKey
