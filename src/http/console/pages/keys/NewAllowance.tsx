/** Gives an allowance, and shows its key once. */
import { textIn } from "../../actions/Actions.tsx"
import { useGo } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { present } from "../../data/time.ts"
import { Allowed, Page } from "../../parts/Page.tsx"
import { payloadForm } from "../../forms/payload.ts" with { type: "macro" }
import { PayloadForm } from "../../forms/PayloadFields.tsx"
import { Secret } from "../../forms/Secret.tsx"
import { Select } from "../../parts/Field.tsx"
import { useRuleWords } from "./keys.ts"

/** Seconds until its end. */
const lengths = [
  ["3600", "in one hour"],
  ["28800", "in eight hours"],
  ["86400", "in one day"],
  ["604800", "in seven days"],
  ["2592000", "in thirty days"]
] as const

const form = payloadForm("allowances", "create", ["expires_at"])

const endOf = (sent: FormData) =>
  new Date(present() + Number.parseInt(textIn(sent, "length"), 10) * 1_000).toISOString()

const NewAllowance = () => {
  const go = useGo()
  const words = useRuleWords("it")
  return (
    <Page lead="A key with an amount of the wallet's money.">
      <Allowed operation="allowances.create">
        <PayloadForm
          form={form}
          words={words}
          send={(payload, sent) => api.allowances.create({ payload: { ...payload, expires_at: endOf(sent) } })}
          changes={["keys", "wallet"]}
          submit="Give the allowance"
          className="space-y-5"
          instead={({ api_key }) => (
            <Secret
              title="This is the key of the allowance. It is shown only now: give it to the program that may spend the money."
              label="the key of the allowance"
              text={api_key}
              done="I have stored the key"
              onStored={() => go("/settings/keys")}
            />
          )}
        >
          <Select label="It ends" name="length" defaultValue="86400" options={lengths} className="w-full max-w-52" />
        </PayloadForm>
      </Allowed>
    </Page>
  )
}

export default NewAllowance
