/** The person's second factor: turning it on with a code of an authenticator app, its recovery codes, and removing it. */
import { CodeField } from "../../account/useCode.tsx"
import { ActionForm, ConfirmAction, textIn, useAction } from "../../actions/Actions.tsx"
import { api, useRead } from "../../data/api.ts"
import { CodeBlock } from "../../parts/Values.tsx"
import { PasswordField } from "../../parts/Field.tsx"
import { Loaded, Panel } from "../../parts/Page.tsx"

const changes = ["secondFactor"]

const TurnOn = () => {
  const start = useAction((form: FormData) =>
    api.recovery.startSecondFactor({ payload: { current_password: textIn(form, "current_password") } })
  )
  const confirm = useAction((form: FormData) =>
    api.recovery.confirmSecondFactor({ payload: { code: textIn(form, "code").trim() } })
  )
  if (confirm.data !== undefined)
    return (
      <div className="space-y-4">
        <p>
          Your second factor is on. Keep these recovery codes in a safe place. Each works once, and they are not shown
          again.
        </p>
        <CodeBlock label="your recovery codes" text={confirm.data.recovery_codes.join("\n")} />
      </div>
    )
  if (start.data !== undefined)
    return (
      <ActionForm action={confirm} submit="Turn it on" className="max-w-sm space-y-4">
        <p>Add this key to your authenticator app, then enter the code that the app shows.</p>
        <CodeBlock label="the key for your app" text={start.data.secret} />
        <CodeBlock label="the same key as an address" text={start.data.uri} />
        <CodeField />
      </ActionForm>
    )
  return (
    <ActionForm action={start} submit="Set up a second factor" look="plain" className="max-w-sm space-y-4">
      <p className="text-muted">Signing in with your password then needs a code of an authenticator app too.</p>
      <PasswordField label="Current password" name="current_password" />
    </ActionForm>
  )
}

const removed = (form: FormData) =>
  api.recovery.removeSecondFactor({
    payload: { current_password: textIn(form, "current_password"), code: textIn(form, "code").trim() }
  })

const Remove = ({ left }: { readonly left: number }) => (
  <div className="space-y-4">
    <p>On. {left} recovery codes are left.</p>
    <ConfirmAction
      send={removed}
      says="Your second factor is removed."
      changes={changes}
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
  const factor = useRead(changes, () => api.recovery.secondFactor({}))
  return (
    <Panel title="Second factor">
      <Loaded query={factor}>
        {({ enabled, recovery_codes }) => (enabled ? <Remove left={recovery_codes} /> : <TurnOn />)}
      </Loaded>
    </Panel>
  )
}
