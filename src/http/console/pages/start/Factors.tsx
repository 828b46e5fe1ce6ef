/** The person's passkeys and second factor: adding them, recovery codes, and removing them. */
import { useState } from "react"
import { addPasskey, hasPasskeys } from "../../account/passkey.ts"
import { CodeField } from "../../account/useCode.tsx"
import { ActionForm, ConfirmAction, textIn } from "../../actions/Actions.tsx"
import { setOnly } from "../../data/address.ts"
import { api, useRead } from "../../data/api.ts"
import { useSession } from "../../data/session.ts"
import { columnsOf } from "../../lists/nouns.tsx"
import { Field, PasswordField } from "../../parts/Field.tsx"
import { Loaded, LoadedPanel, Panel } from "../../parts/Page.tsx"
import { DataTable } from "../../parts/Table.tsx"
import { CodeBlock } from "../../parts/Values.tsx"

const passwordIn = (form: FormData) => ({ current_password: textIn(form, "current_password") })
const codeIn = (form: FormData) => ({ code: textIn(form, "code").trim() })

const passkeyKey = ["passkeys"]
const factorKey = ["secondFactor"]

const NameField = ({ name = "" }: { readonly name?: string }) => (
  <Field label="Name, such as Laptop" name="name" defaultValue={name} autoComplete="off" required maxLength={200} />
)

const Add = () => {
  const email = useSession()?.user.email ?? ""
  const { data: factor } = useRead(factorKey, () => api.recovery.secondFactor({}))
  return (
    <ActionForm
      send={(form) => addPasskey(textIn(form, "name"), { ...passwordIn(form), ...setOnly(codeIn(form)) }, email)}
      says="The passkey is added."
      changes={passkeyKey}
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

const columns = columnsOf("Passkey", {
  actions: ({ id, name }) => (
    <div className="flex flex-wrap justify-end gap-2">
      <ConfirmAction
        send={(form) => api.passkeys.rename({ params: { passkey_id: id }, payload: { name: textIn(form, "name") } })}
        says="The passkey has its new name."
        changes={passkeyKey}
        word="Rename"
        label={`Rename ${name}`}
        buttonLook="plain"
        look="primary"
        confirm="Rename it"
      >
        <NameField name={name} />
      </ConfirmAction>
      <ConfirmAction
        send={() => api.passkeys.remove({ params: { passkey_id: id } })}
        says="The passkey is removed."
        changes={passkeyKey}
        word="Remove"
        label={`Remove ${name}`}
        confirm="Remove it"
      >
        <p>It signs in no more. Your password and your sessions stay.</p>
      </ConfirmAction>
    </div>
  )
})

export const Passkeys = () => {
  const passkeys = useRead(passkeyKey, () => api.passkeys.list({}))
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

const TurnOn = ({ onCodes }: { readonly onCodes: (codes: ReadonlyArray<string>) => void }) => (
  <ActionForm
    send={(form) => api.recovery.startSecondFactor({ payload: passwordIn(form) })}
    submit="Set up a second factor"
    look="plain"
    className="max-w-sm space-y-4"
    instead={({ secret, uri }) => (
      <ActionForm
        send={(form) => api.recovery.confirmSecondFactor({ payload: codeIn(form) })}
        after={({ recovery_codes }) => onCodes(recovery_codes)}
        submit="Turn it on"
        className="max-w-sm space-y-4"
      >
        <p>Add this key to your authenticator app, then enter the code that the app shows.</p>
        <CodeBlock label="the key for your app" text={secret} />
        <CodeBlock label="the same key as an address" text={uri} />
        <CodeField />
      </ActionForm>
    )}
  >
    <p className="text-muted">Signing in with your password then needs a code of an authenticator app too.</p>
    <PasswordField label="Current password" name="current_password" />
  </ActionForm>
)

const Remove = ({ left }: { readonly left: number }) => (
  <div className="space-y-4">
    <p>On. {left} recovery codes are left.</p>
    <ConfirmAction
      send={(form) => api.recovery.removeSecondFactor({ payload: { ...passwordIn(form), ...codeIn(form) } })}
      says="Your second factor is removed."
      changes={factorKey}
      word="Remove"
      title="Remove your second factor?"
      confirm="Remove it"
    >
      <p>Your password alone signs you in afterwards.</p>
      <PasswordField label="Current password" name="current_password" />
      <CodeField />
    </ConfirmAction>
  </div>
)

export const SecondFactor = () => {
  // They stay when the state is read again, such as when somebody comes back from where they store them.
  const [codes, setCodes] = useState<ReadonlyArray<string> | null>(null)
  return (
    <LoadedPanel title="Second factor" query={useRead(factorKey, () => api.recovery.secondFactor({}))}>
      {({ enabled, recovery_codes }) =>
        codes !== null ? (
          <div className="space-y-4">
            <p>
              Your second factor is on. Keep these recovery codes in a safe place. Each works once, and they are not
              shown again.
            </p>
            <CodeBlock label="your recovery codes" text={codes.join("\n")} />
          </div>
        ) : enabled ? (
          <Remove left={recovery_codes} />
        ) : (
          <TurnOn onCodes={setCodes} />
        )
      }
    </LoadedPanel>
  )
}
