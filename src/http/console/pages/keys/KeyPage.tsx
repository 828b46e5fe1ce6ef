/** One API key: its budget and when it resets, its rules as a form, rotation and revocation. */
import { useState } from "react"
import { scopeWords } from "../../../client/Words.ts"
import { ConfirmAction } from "../../actions/Actions.tsx"
import { useGo, useParam } from "../../data/address.ts"
import { type AnswerOf, api, queries } from "../../data/api.ts"
import { useMay } from "../../data/session.ts"
import { PayloadForm } from "../../forms/PayloadFields.tsx"
import { Secret } from "../../forms/Secret.tsx"
import { payloadForm } from "../../forms/payload.ts" with { type: "macro" }
import { NounFacts } from "../../lists/nouns.tsx"
import { Select } from "../../parts/Field.tsx"
import { LoadedPage, Page, Panel, TextLink } from "../../parts/Page.tsx"
import { AllowancePanel } from "./Allowances.tsx"
import { BudgetBar, isChangeable, isUsable, KeyLink, KeyState } from "./KeyState.tsx"
import { type ApiKey, firstRules, useKey, useMayEnd, useRuleWords } from "./keys.ts"

type NewKey = AnswerOf<"keys", "rotate">
interface EndKeyProps {
  readonly apiKey: ApiKey
  readonly onMade: (key: NewKey) => void
}

/** Seconds for which the old key still works, and what that means for programs. */
const graces: ReadonlyArray<readonly [string, string]> = [
  ["86400", "for one more day"],
  ["3600", "for one more hour"],
  ["604800", "for seven more days"],
  ["2592000", "for thirty more days"],
  ["0", "no longer: it stops at once"]
]
const graceWords = (seconds: string) => graces.find(([value]) => value === seconds)?.[1] ?? ""

const Rotate = ({ apiKey, onMade }: EndKeyProps) => {
  const [grace, setGrace] = useState("86400")
  return (
    <ConfirmAction
      send={() =>
        api.keys.rotate({ params: { key_id: apiKey.id }, payload: { grace_seconds: Number.parseInt(grace, 10) } })
      }
      after={onMade}
      word="Rotate the key"
      buttonLook="plain"
      title={`Rotate ${apiKey.display}?`}
    >
      <p>
        A new key is made with the same name, rules and budget. Both spend from the one budget. The old key works{" "}
        {graceWords(grace)}.
      </p>
      <Select
        label="The old key works"
        value={grace}
        onChange={(event) => setGrace(event.target.value)}
        options={graces}
      />
    </ConfirmAction>
  )
}

const Revoke = ({ apiKey: { id, name, display } }: { readonly apiKey: ApiKey }) => (
  <ConfirmAction
    send={() => api.keys.revoke({ params: { key_id: id } })}
    says="The key is revoked."
    changes={["keys"]}
    word="Revoke the key"
    title={`Revoke ${display}?`}
    cancel="Keep it"
  >
    <p>
      Calls with <span className="break-words font-medium">{name}</span> fail at once, and it can't be undone. Runs that
      have started go on.
    </p>
  </ConfirmAction>
)

/** Both ask first, because programs that still use the key fail. `rotates`: whether the person may replace the key too. */
const EndKey = ({ apiKey, onMade, rotates }: EndKeyProps & { readonly rotates: boolean }) => (
  <Panel title="Replace or end the key">
    <p className="mb-3 text-muted">
      Rotate it if programs go on with a new key. Revoke it if nothing may use it any more, such as after a leak.
    </p>
    <div className="flex flex-wrap items-start gap-2">
      {rotates && isChangeable(apiKey) && <Rotate apiKey={apiKey} onMade={onMade} />}
      <Revoke apiKey={apiKey} />
    </div>
  </Panel>
)

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
  <LoadedPage query={useKey(useParam("key_id"))}>{(key) => <Shown key={key.id} apiKey={key} />}</LoadedPage>
)

export default KeyPage
