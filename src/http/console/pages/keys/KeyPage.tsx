/** One API key: its budget and when it resets, its rules as a form, rotation and revocation. */
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { onForm } from "../../account/forms.ts"
import { useGo, useParam } from "../../data/address.ts"
import { api, queries } from "../../data/api.ts"
import { useMay, useSession } from "../../data/session.ts"
import { Secret } from "../../forms/Secret.tsx"
import { announce } from "../../parts/Announcer.tsx"
import { Button } from "../../parts/Button.tsx"
import { Id } from "../../parts/Copy.tsx"
import { FormProblem } from "../../parts/Field.tsx"
import { TextLink } from "../../parts/Link.tsx"
import { PageHead, Panel } from "../../parts/Page.tsx"
import { Loaded, Skeleton } from "../../parts/States.tsx"
import { Time } from "../../parts/Time.tsx"
import { AllowancePanel } from "./AllowancePanel.tsx"
import { EndKey, type NewKey } from "./EndKey.tsx"
import { BudgetBar, isChangeable, isUsable, KeyState, scopeWords } from "./KeyState.tsx"
import { changesIn } from "./rules.ts"
import { RulesForm } from "./RulesForm.tsx"
import { type ApiKey, keysChanged, useKey } from "./useKeys.ts"

const Facts = ({ apiKey }: { readonly apiKey: ApiKey }) => (
  <Panel title="The key">
    <dl className="grid grid-cols-[max-content_1fr] gap-x-6 gap-y-2">
      <dt className="text-muted">Key</dt>
      <dd>
        <code className="font-mono text-small break-all">{apiKey.display}</code>
      </dd>
      <dt className="text-muted">Id</dt>
      <dd>
        <Id id={apiKey.id} what="the key's id" />
      </dd>
      <dt className="text-muted">May run</dt>
      <dd className="break-words">{scopeWords(apiKey)}</dd>
      <dt className="text-muted">Last used</dt>
      <dd>{apiKey.last_used_at === null ? "never" : <Time at={apiKey.last_used_at} />}</dd>
      <dt className="text-muted">Expires</dt>
      <dd>{apiKey.expires_at === null ? "never" : <Time at={apiKey.expires_at} />}</dd>
      {apiKey.replaced_by !== null && (
        <>
          <dt className="text-muted">Replaced by</dt>
          <dd>
            <TextLink to={`/settings/keys/${apiKey.replaced_by}`} className="break-all">
              {apiKey.replaced_by}
            </TextLink>
          </dd>
        </>
      )}
      <dt className="text-muted">Created</dt>
      <dd>
        <Time at={apiKey.created_at} />
      </dd>
    </dl>
    <p className="mt-3">
      <TextLink to={`/activity?key=${apiKey.id}`}>Runs of this key</TextLink>
    </p>
  </Panel>
)

const Rules = ({ apiKey }: { readonly apiKey: ApiKey }) => {
  const change = useMutation({
    mutationFn: (form: FormData) =>
      api.keys.change({ params: { key_id: apiKey.id }, payload: changesIn(form, apiKey) }),
    onSuccess: async (changed) => {
      queries.setQueryData(["keys", "one", apiKey.id], changed)
      announce("The key's rules are saved.")
      await keysChanged()
    }
  })
  return (
    <Panel title="Rules">
      <form onSubmit={onForm((form) => change.mutate(form))} className="space-y-5">
        <RulesForm before={apiKey} error={change.error}>
          {(isReady) => (
            <>
              <FormProblem error={change.error} />
              {change.isSuccess && <p className="text-green">Saved. The next run obeys these rules.</p>}
              <Button type="submit" look="primary" busy={change.isPending} disabled={!isReady}>
                Save the rules
              </Button>
            </>
          )}
        </RulesForm>
      </form>
    </Panel>
  )
}

const Shown = ({ apiKey }: { readonly apiKey: ApiKey }) => {
  const may = useMay("member")
  const isOwn = useSession()?.user.id === apiKey.created_by
  const go = useGo()
  // It is shown only once, so it stays here when the key that it replaces is read again and has ended.
  const [made, setMade] = useState<NewKey | null>(null)
  if (made !== null)
    return (
      <>
        <PageHead title={apiKey.name} />
        <Secret
          title="This is the new key. It is shown only now: store it where secrets belong."
          label="the new API key"
          text={made.api_key}
          done="I have stored the new key"
          onStored={() => {
            void keysChanged()
            go(`/settings/keys/${made.id}`)
          }}
        />
      </>
    )
  return (
    <>
      <PageHead title={apiKey.name}>
        <KeyState apiKey={apiKey} />
      </PageHead>
      <div className="grid grid-cols-1 gap-6">
        <div className="grid grid-cols-1 gap-6 lg:grid-cols-2">
          <Facts apiKey={apiKey} />
          {apiKey.allowance ? (
            <AllowancePanel allowance_id={apiKey.id} may={may || isOwn} />
          ) : (
            <Panel title="Budget">
              <BudgetBar budget={apiKey.budget} />
              <p className="mt-3 text-muted">
                What unfinished runs hold counts against the budget too, until they end.
              </p>
            </Panel>
          )}
        </div>
        {isUsable(apiKey) &&
          !apiKey.allowance &&
          (may || isOwn ? (
            <>
              {may && isChangeable(apiKey) && <Rules apiKey={apiKey} />}
              <EndKey apiKey={apiKey} onMade={setMade} rotates={may} />
            </>
          ) : (
            <p className="text-muted">
              Your role is viewer. The member who created the key, an admin or an owner can change it.
            </p>
          ))}
      </div>
    </>
  )
}

const KeyPage = () => {
  const query = useKey(useParam("key_id"))
  if (query.data !== undefined) return <Shown key={query.data.id} apiKey={query.data} />
  return (
    <>
      <PageHead title="API key" />
      <Loaded query={query} skeleton={<Skeleton lines={8} height={24} />}>
        {() => null}
      </Loaded>
    </>
  )
}

export default KeyPage
