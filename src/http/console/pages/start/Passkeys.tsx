/** The person's passkeys: adding one with this browser, and renaming and removing them. */
import { type AnswerOf, api, useRead } from "../../data/api.ts"
import { addPasskey, hasPasskeys } from "../../account/passkey.ts"
import { CodeField } from "../../account/useCode.tsx"
import { ActionForm, ConfirmAction, textIn, useAction } from "../../actions/Actions.tsx"
import { useSession } from "../../data/session.ts"
import { columnsOf } from "../../lists/nouns.tsx"
import { Field, PasswordField } from "../../parts/Field.tsx"
import { Loaded, Panel } from "../../parts/Page.tsx"
import { DataTable } from "../../parts/Table.tsx"

type Passkey = AnswerOf<"passkeys", "list">["items"][number]

const changes = ["passkeys"]

const NameField = ({ name = "" }: { readonly name?: string }) => (
  <Field label="Name, such as Laptop" name="name" defaultValue={name} autoComplete="off" required maxLength={200} />
)

const Add = () => {
  const email = useSession()?.user.email ?? ""
  const { data: factor } = useRead(["secondFactor"], () => api.recovery.secondFactor({}))
  const add = useAction(
    (form: FormData) => {
      const code = textIn(form, "code").trim()
      const proof = { current_password: textIn(form, "current_password"), ...(code === "" ? {} : { code }) }
      return addPasskey(textIn(form, "name"), proof, email)
    },
    { says: "The passkey is added.", changes }
  )
  return (
    <ActionForm
      action={add}
      submit="Add a passkey"
      look="plain"
      saved="The passkey is added."
      className="max-w-sm space-y-4"
    >
      <NameField />
      <PasswordField label="Current password" name="current_password" />
      {factor?.enabled === true && <CodeField />}
    </ActionForm>
  )
}

const Change = ({ passkey: { id, name } }: { readonly passkey: Passkey }) => {
  const params = { passkey_id: id }
  return (
    <div className="flex flex-wrap justify-end gap-2">
      <ConfirmAction
        send={(form) => api.passkeys.rename({ params, payload: { name: textIn(form, "name") } })}
        says="The passkey has its new name."
        changes={changes}
        word="Rename"
        label={`Rename ${name}`}
        buttonLook="plain"
        look="primary"
        confirm="Rename it"
      >
        <NameField name={name} />
      </ConfirmAction>
      <ConfirmAction
        send={() => api.passkeys.remove({ params })}
        says="The passkey is removed."
        changes={changes}
        word="Remove"
        label={`Remove ${name}`}
        confirm="Remove it"
      >
        <p>It signs in no more. Your password and your sessions stay.</p>
      </ConfirmAction>
    </div>
  )
}

const columns = columnsOf("Passkey", { actions: (passkey) => <Change passkey={passkey} /> })

export const Passkeys = () => {
  const passkeys = useRead(changes, () => api.passkeys.list({}))
  return (
    <Panel title="Passkeys">
      <div className="space-y-4">
        <p className="text-muted">
          A passkey signs in without your password and without a code, with the lock of your device.
        </p>
        <Loaded query={passkeys}>
          {({ items }) => items.length > 0 && <DataTable label="Your passkeys" rows={items} columns={columns} />}
        </Loaded>
        {hasPasskeys ? <Add /> : <p>This browser can't make passkeys. A newer one can.</p>}
      </div>
    </Panel>
  )
}
