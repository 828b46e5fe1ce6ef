/** The organization's own accounts at providers: which are set, how a run uses them, and the form that sets one. */
import { useMutation, useQuery } from "@tanstack/react-query"
import { useState } from "react"
import type { AnswerOf } from "../../../client/Browser.ts"
import { onForm, textIn } from "../../account/forms.ts"
import { api, queries } from "../../data/api.ts"
import { useMay } from "../../data/session.ts"
import { Checkbox } from "../../forms/Checkbox.tsx"
import { announce } from "../../parts/Announcer.tsx"
import { Button } from "../../parts/Button.tsx"
import { Confirm } from "../../parts/Dialog.tsx"
import { Field, FormProblem, problemOf, Select } from "../../parts/Field.tsx"
import { Money } from "../../parts/Money.tsx"
import { PageHead, Panel } from "../../parts/Page.tsx"
import { Empty, Loaded, Skeleton } from "../../parts/States.tsx"
import { Badge } from "../../parts/Status.tsx"
import { Time } from "../../parts/Time.tsx"
import { useProviders } from "../catalog/useCatalog.ts"

type Account = AnswerOf<"providerAccounts", "list">["items"][number]

const key = ["provider-accounts"]
/** Inspect and quotes say which account a run would use. */
const accountsChanged = async () => {
  await Promise.all([
    queries.invalidateQueries({ queryKey: key }),
    queries.invalidateQueries({ queryKey: ["catalog", "inspect"] })
  ])
}

const useAccounts = () => useQuery({ queryKey: key, queryFn: () => api.providerAccounts.list({}) })

const SetAccount = ({ taken }: { readonly taken: ReadonlySet<string> }) => {
  const providers = useProviders()
  const [provider, setProvider] = useState("")
  const [fallback, setFallback] = useState(false)
  // A new form after each account, so that no key stays on the screen. After a refusal, what was typed stays.
  const [round, setRound] = useState(0)
  const set = useMutation({
    mutationFn: (form: FormData) => {
      const base_url = textIn(form, "base_url").trim()
      return api.providerAccounts.set({
        params: { provider },
        payload: { api_key: textIn(form, "api_key"), base_url: base_url === "" ? null : base_url, fallback }
      })
    },
    onSuccess: async (account) => {
      announce(`Your account at ${account.provider} is set.`)
      setProvider("")
      setFallback(false)
      setRound((before) => before + 1)
      await accountsChanged()
    }
  })
  const replaces = taken.has(provider)
  return (
    <Panel title="Set an account">
      <Loaded query={providers} skeleton={<Skeleton lines={4} height={28} />}>
        {(items) => (
          <form key={round} onSubmit={onForm((form) => set.mutate(form))} className="max-w-md space-y-3">
            <Select
              label="Provider"
              required
              value={provider}
              onChange={(event) => setProvider(event.target.value)}
              options={[["", "Choose a provider"], ...items.map((one) => [one.provider, one.title] as const)]}
            />
            <Field
              label="Key of your account"
              name="api_key"
              type="password"
              required
              maxLength={1_000}
              autoComplete="off"
              hint="It is encrypted, and nothing shows more than its last four characters. With a login and a password: login:password."
              problem={problemOf(set.error, "api_key")}
            />
            <Field
              label="Address of your account (optional)"
              name="base_url"
              type="url"
              maxLength={2_000}
              placeholder="https://"
              hint="Only if the provider gave you an address of your own."
              problem={problemOf(set.error, "base_url")}
            />
            <Checkbox
              label="Use this service's account if the provider refuses the key"
              hint="At this service's price. Otherwise such a run goes to the next provider, or fails."
              checked={fallback}
              onChange={(event) => setFallback(event.target.checked)}
            />
            <FormProblem error={set.error} />
            <Button type="submit" look="primary" busy={set.isPending} disabled={provider === ""}>
              {replaces ? "Replace the account" : "Set the account"}
            </Button>
          </form>
        )}
      </Loaded>
    </Panel>
  )
}

const Remove = ({ provider }: { readonly provider: string }) => {
  const [asks, setAsks] = useState(false)
  const remove = useMutation({
    mutationFn: () => api.providerAccounts.remove({ params: { provider } }),
    onSuccess: async () => {
      announce(`Your account at ${provider} is removed.`)
      await accountsChanged()
    },
    onSettled: () => setAsks(false)
  })
  return (
    <div className="mt-4 space-y-3">
      <FormProblem error={remove.error} />
      <Button look="danger" onClick={() => setAsks(true)}>
        Remove the account
      </Button>
      <Confirm
        open={asks}
        title={`Remove your account at ${provider}?`}
        action="Remove the account"
        busy={remove.isPending}
        onClose={() => setAsks(false)}
        onConfirm={() => remove.mutate()}
      >
        <p>The key is deleted. Runs at {provider} use this service's account from now on, at its price.</p>
      </Confirm>
    </div>
  )
}

const AccountPanel = ({ account, may }: { readonly account: Account; readonly may: boolean }) => (
  <Panel
    title={account.provider}
    className="break-words"
    actions={account.fallback && <Badge tone="blue">falls back to this service's account</Badge>}
  >
    <dl className="grid grid-cols-[max-content_1fr] gap-x-6 gap-y-2">
      <dt className="text-muted">Key</dt>
      <dd className="font-mono">…{account.last_four}</dd>
      {account.base_url !== null && (
        <>
          <dt className="text-muted">Address</dt>
          <dd className="font-mono wrap-anywhere">{account.base_url}</dd>
        </>
      )}
      <dt className="text-muted">Fee of a run</dt>
      <dd>
        <Money amount={account.fee} />
      </dd>
      <dt className="text-muted">Set</dt>
      <dd>
        <Time at={account.changed_at} />
      </dd>
    </dl>
    {may && <Remove provider={account.provider} />}
  </Panel>
)

const ProviderAccounts = () => {
  const may = useMay("admin")
  return (
    <>
      <PageHead title="Provider accounts">
        Your own accounts at providers. Runs that use one are paid by your contract with the provider, and cost the fee
        here.
      </PageHead>
      <Loaded query={useAccounts()} skeleton={<Skeleton lines={6} height={28} />}>
        {({ items }) => (
          <div className="grid grid-cols-1 gap-6">
            {may ? (
              <SetAccount taken={new Set(items.map((one) => one.provider))} />
            ) : (
              <p className="text-muted">An owner or an admin of the organization can set accounts.</p>
            )}
            {items.length === 0 ? (
              <Empty title="Your accounts will be here, each with the last characters of its key.">
                <p className="text-muted">Without one, runs use this service's accounts, at its prices.</p>
              </Empty>
            ) : (
              items.map((account) => <AccountPanel key={account.provider} account={account} may={may} />)
            )}
          </div>
        )}
      </Loaded>
    </>
  )
}

export default ProviderAccounts
