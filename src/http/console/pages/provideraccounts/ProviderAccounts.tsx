/** The organization's own accounts at providers: which are set, how a run uses them, and the form that sets one. */
import { useState } from "react"
import { type AnswerOf, api, useRead } from "../../data/api.ts"
import { ConfirmAction } from "../../actions/Actions.tsx"
import { Allowed, Empty, Loaded, LoadedPanel, May, Page, Panel, Skeleton } from "../../parts/Page.tsx"
import { payloadForm } from "../../forms/payload.ts" with { type: "macro" }
import { PayloadForm } from "../../forms/PayloadFields.tsx"
import { NounFacts } from "../../lists/nouns.tsx"
import { Select } from "../../parts/Field.tsx"
import { Badge } from "../../parts/Values.tsx"
import { useProviders } from "../catalog/useCatalog.ts"

type Account = AnswerOf<"providerAccounts", "list">["items"][number]

/** Inspect and quotes say which account a run would use. */
const changes = ["provider-accounts", "catalog"]

const useAccounts = () => useRead(["provider-accounts"], () => api.providerAccounts.list({}))

const form = payloadForm("providerAccounts", "set")
const words = {
  api_key: { label: "Key of your account", type: "password" },
  base_url: { label: "Address of your account (optional)", type: "url", placeholder: "https://" },
  fallback: { label: "Use this service's account if the provider refuses the key" }
} as const

const SetAccount = ({ taken }: { readonly taken: ReadonlySet<string> }) => {
  const [provider, setProvider] = useState("")
  return (
    <LoadedPanel title="Set an account" query={useProviders()} skeleton={<Skeleton lines={4} height={28} />}>
      {(items) => (
        <PayloadForm
          // No key stays on the screen.
          clears
          first={
            <Select
              label="Provider"
              required
              value={provider}
              onChange={(event) => setProvider(event.target.value)}
              options={[["", "Choose a provider"], ...items.map((one) => [one.provider, one.title] as const)]}
            />
          }
          form={form}
          words={words}
          send={(payload) => api.providerAccounts.set({ params: { provider }, payload })}
          says={(account) => `Your account at ${account.provider} is set.`}
          after={() => setProvider("")}
          changes={changes}
          submit={taken.has(provider) ? "Replace the account" : "Set the account"}
          disabled={provider === ""}
        />
      )}
    </LoadedPanel>
  )
}

const AccountPanel = ({ account }: { readonly account: Account }) => {
  const { provider, fallback } = account
  return (
    <Panel
      title={provider}
      className="break-words"
      actions={fallback && <Badge tone="blue">falls back to this service's account</Badge>}
    >
      <NounFacts
        noun="ProviderAccount"
        one={account}
        cells={{ last_four: ({ last_four }) => <span className="block font-mono">…{last_four}</span> }}
      />
      <May operation="providerAccounts.set">
        <div className="mt-4 space-y-3">
          <ConfirmAction
            send={() => api.providerAccounts.remove({ params: { provider } })}
            says={`Your account at ${provider} is removed.`}
            changes={changes}
            word="Remove the account"
            title={`Remove your account at ${provider}?`}
            cancel="Keep it"
          >
            <p>The key is deleted. Runs at {provider} use this service's account from now on, at its price.</p>
          </ConfirmAction>
        </div>
      </May>
    </Panel>
  )
}

const ProviderAccounts = () => (
  <Page lead="Your own accounts at providers. Runs that use one are paid by your contract with the provider, and cost the fee here.">
    <Loaded query={useAccounts()} skeleton={<Skeleton lines={6} height={28} />}>
      {({ items }) => (
        <div className="grid grid-cols-1 gap-6">
          <Allowed operation="providerAccounts.set">
            <SetAccount taken={new Set(items.map((one) => one.provider))} />
          </Allowed>
          {items.length === 0 ? (
            <Empty title="Your accounts will be here, each with the last characters of its key.">
              Without one, runs use this service's accounts, at its prices.
            </Empty>
          ) : (
            items.map((account) => <AccountPanel key={account.provider} account={account} />)
          )}
        </div>
      )}
    </Loaded>
  </Page>
)

export default ProviderAccounts
