/** What the operator's accounts at providers have left, and when they run out. */
import { ActionButton, textIn } from "../../actions/Actions.tsx"
import { api, useRead } from "../../data/api.ts"
import { PayloadForm } from "../../forms/PayloadFields.tsx"
import { payloadForm } from "../../forms/payload.ts" with { type: "macro" }
import { columnsOf } from "../../lists/nouns.tsx"
import { Field } from "../../parts/Field.tsx"
import { LoadedPanel, Page } from "../../parts/Page.tsx"
import { Bills } from "./Bills.tsx"
import { SmallTable } from "./parts.tsx"

const refreshMillis = 15_000

const columns = columnsOf("ProviderCredits", { unit: ({ unit, renews }) => (renews ? `${unit}, renews` : unit) })

const form = payloadForm("operatorCredits", "set")
const words = {
  balance: { label: "Balance (optional)" },
  unit: { label: "Unit", options: { credit: "Credits of the provider", USD: "USD" } },
  expires_at: { label: "Expires (optional)" },
  low_below: { label: "Low below (optional)" }
}

const Credits = () => {
  const credits = useRead(["operator", "credits"], () => api.operatorCredits.list({}), {
    refetchInterval: refreshMillis
  })

  return (
    <Page lead="What your accounts at providers have left. An empty account's offers are left out of routing, and customers see no balance.">
      <LoadedPanel
        title="Accounts"
        actions={
          <ActionButton
            send={() => api.operatorCredits.refresh({ payload: {} })}
            says="The accounts are read within seconds."
            changes={["operator"]}
          >
            Read all now
          </ActionButton>
        }
        query={credits}
      >
        {({ items }) => (
          <SmallTable label="Accounts" rows={items} none="No account was read or set yet." columns={columns} />
        )}
      </LoadedPanel>
      <PayloadForm
        title="Set an account"
        first={<Field name="provider" label="Provider" required placeholder="lusha" />}
        form={form}
        words={words}
        initial={{ unit: "credit" }}
        send={(payload, sent) =>
          api.operatorCredits.set({ params: { provider: textIn(sent, "provider").trim() }, payload })
        }
        says={({ provider }) => `The credits of ${provider} are set.`}
        changes={["operator"]}
        submit="Set the account"
        clears
      />
      <Bills />
    </Page>
  )
}

export default Credits
