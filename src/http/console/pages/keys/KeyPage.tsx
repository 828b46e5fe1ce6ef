/** One API key: its budget and when it resets, its rules as a form, rotation and revocation. */
import { useState } from "react"

import { scopeWords } from "../../../client/Words.ts"
import { useGo, useParam } from "../../data/address.ts"
import { api, queries } from "../../data/api.ts"
import { useMay } from "../../data/session.ts"
import { payloadForm } from "../../forms/payload.ts" with { type: "macro" }
import { PayloadForm } from "../../forms/PayloadFields.tsx"
import { Secret } from "../../forms/Secret.tsx"
import { NounFacts } from "../../lists/nouns.tsx"
import { LoadedPage, Page, Panel, TextLink } from "../../parts/Page.tsx"
import { AllowancePanel } from "./Allowances.tsx"
import { EndKey, type NewKey } from "./EndKey.tsx"
import { BudgetBar, isChangeable, isUsable, KeyLink, KeyState } from "./KeyState.tsx"
import { type ApiKey, firstRules, useKey, useMayEnd, useRuleWords } from "./keys.ts"

const form = payloadForm("keys", "change")

const Rules = ({ apiKey }: { readonly apiKey: ApiKey }) => (
  <PayloadForm
    title="Rules"
    form={form}
    words={useRuleWords("the key")}
    initial={firstRules}
    before={apiKey}
    send={(payload) => api.keys.change({ params: { key_id: apiKey.id }, payload })}
    says="The key's rules are saved."
    after={(changed) => queries.setQueryData(["keys", "one", apiKey.id], changed)}
    changes={["keys"]}
    submit="Save the rules"
    saved="Saved. The next run obeys these rules."
    className="space-y-5"
  />
)

const Shown = ({ apiKey }: { readonly apiKey: ApiKey }) => {
  const may = useMay("keys.change")
  const mayEnd = useMayEnd(apiKey)
  const go = useGo()
  // It is shown only once, so it stays here when the key that it replaces is read again and has ended.
  const [newKey, setMade] = useState<NewKey | null>(null)
  if (newKey !== null)
    return (
      <Page title={apiKey.name}>
        <Secret
          title="This is the new key. It is shown only now: store it where secrets belong."
          label="the new API key"
          text={newKey.api_key}
          done="I have stored the new key"
          onStored={() => {
            void queries.invalidateQueries({ queryKey: ["keys"] })
            go(`/settings/keys/${newKey.id}`)
          }}
        />
      </Page>
    )
  return (
    <Page title={apiKey.name} lead={<KeyState apiKey={apiKey} />}>
      <div className="grid grid-cols-1 gap-6 lg:grid-cols-2">
        <Panel title="The key">
          <NounFacts
            noun="ApiKey"
            one={apiKey}
            only={["display", "id", "allow", "last_used_at", "expires_at", "replaced_by", "created_at"]}
            cells={{
              allow: (key) => scopeWords(key, 1),
              replaced_by: ({ replaced_by }) => replaced_by && <KeyLink id={replaced_by} />
            }}
          />
          <p className="mt-3">
            <TextLink to={`/activity?key=${apiKey.id}`}>Runs of this key</TextLink>
          </p>
        </Panel>
        {apiKey.allowance ? (
          <AllowancePanel apiKey={apiKey} />
        ) : (
          <Panel title="Budget">
            <BudgetBar budget={apiKey.budget} />
            <p className="mt-3 text-muted">What unfinished runs hold counts against the budget too, until they end.</p>
          </Panel>
        )}
      </div>
      {isUsable(apiKey) &&
        !apiKey.allowance &&
        (mayEnd ? (
          <>
            {may && isChangeable(apiKey) && <Rules apiKey={apiKey} />}
            <EndKey apiKey={apiKey} onMade={setMade} rotates={may} />
          </>
        ) : (
          <p className="text-muted">
            Your role is viewer. The member who created the key, an admin or an owner can change it.
          </p>
        ))}
    </Page>
  )
}

const KeyPage = () => (
  <LoadedPage title="API key" query={useKey(useParam("key_id"))}>
    {(key) => <Shown key={key.id} apiKey={key} />}
  </LoadedPage>
)

export default KeyPage
