/** The first steps as a checklist: an API key, money, a first run, each with a command to paste. It goes away when all are done. */
import { Circle, CircleCheck } from "lucide-react"
import { type ReactNode, useState } from "react"
import { firstRun } from "../../../client/Shell.ts"
import { ActionForm, textIn } from "../../actions/Actions.tsx"
import { api, queries, useRead } from "../../data/api.ts"
import { useApiKeys } from "../../data/lists.ts"
import { microsOf } from "../../data/money.ts"
import { useService } from "../../data/session.ts"
import { useWallet } from "../../frame/Balance.tsx"
import { Field } from "../../parts/Field.tsx"
import { Allowed, Button, Panel, TextLink } from "../../parts/Page.tsx"
import { CodeBlock } from "../../parts/Values.tsx"
import { runCommand } from "../../running/request.ts"
import { useLatest } from "./Latest.tsx"
import { TopUp } from "./TopUp.tsx"

interface CreateKeyProps {
  readonly environment: "test" | "live"
  /** Whether the key is on the page, which must stay until somebody has stored it. */
  readonly onShown: (isShown: boolean) => void
}

/** Creates the first API key and shows it once. Budgets and scopes are set on the page of keys. */
const CreateKey = ({ environment, onShown }: CreateKeyProps) => (
  <Allowed operation="keys.create">
    <ActionForm
      send={(form) => api.keys.create({ payload: { name: textIn(form, "name"), environment } })}
      after={() => onShown(true)}
      submit="Create the key"
      inline
      instead={({ api_key }) => (
        <>
          <p>This is the key. It is shown only now: store it where secrets belong.</p>
          <CodeBlock label="the API key" text={api_key} />
          <Button
            onClick={() => {
              onShown(false)
              void queries.invalidateQueries({ queryKey: ["keys"] })
            }}
          >
            I have stored the key
          </Button>
        </>
      )}
    >
      <Field
        label="Name of the key"
        name="name"
        required
        maxLength={200}
        defaultValue="first key"
        className="w-full max-w-60"
      />
    </ActionForm>
  </Allowed>
)

interface StepProps {
  readonly done: boolean
  readonly title: string
  readonly children: ReactNode
}

const Step = ({ done, title, children }: StepProps) => {
  const Shape = done ? CircleCheck : Circle
  return (
    <li className="flex items-start gap-3">
      <Shape size={18} aria-hidden="true" className={`mt-0.5 shrink-0 ${done ? "text-green" : "text-muted"}`} />
      <div className="min-w-0 flex-1">
        <h3 className={`font-medium ${done ? "text-muted" : ""}`}>
          {title}
          {done && <span className="sr-only"> (done)</span>}
        </h3>
        {!done && <div className="mt-2 space-y-3">{children}</div>}
      </div>
    </li>
  )
}

/** Not needed for a first run, so nobody has to tick them off. */
const next: ReadonlyArray<readonly [string, string, string]> = [
  ["/settings/guard", "Set a daily limit", "A run that would exceed it does not start."],
  ["/settings/members", "Invite a colleague", "As an admin, a member who runs, or a viewer who reads."],
  ["/history", "Look a person or company up", "See whether it was bought or contacted before."],
  ["/batches/new", "Run a whole CSV", "One limit holds for all of its rows."]
]

export const FirstSteps = () => {
  const [showsKey, setShowsKey] = useState(false)
  const service = useService().data
  const wallet = useWallet().data
  const keys = useApiKeys().data
  const runs = useLatest().data
  const isEmpty = wallet !== undefined && (microsOf(wallet.balance) ?? 0n) <= 0n
  // Whether somebody has paid in before is a question only while there is nothing in the wallet.
  const paid = useRead(["wallet", "first"], () => api.wallet.transactions({ query: { limit: 1 } }), {
    enabled: isEmpty
  }).data
  if (service === undefined || wallet === undefined || keys === undefined || runs === undefined) return null
  if (isEmpty && paid === undefined) return null
  // The list of keys is read again when somebody comes back to the page. Then it has the new key, which must still be shown.
  const hasKey = keys.some(({ revoked }) => !revoked) && !showsKey
  const hasMoney = !isEmpty || (paid?.items.length ?? 0) > 0
  const hasRun = runs.items.length > 0
  if (hasKey && hasMoney && hasRun) return null
  return (
    <Panel title="First steps">
      <ol className="space-y-4">
        <Step done={hasKey} title="Create an API key">
          <CreateKey environment={service.environment} onShown={setShowsKey} />
        </Step>
        <Step done={hasMoney} title="Top up the wallet">
          <TopUp primary={hasKey} />
        </Step>
        <Step done={hasRun} title="Run a capability">
          <p className="text-muted">
            <TextLink to="/catalog/email.find">Try one in the browser</TextLink>, or put your key into RUNGATE_API_KEY
            and paste one of these. The run appears here and in Activity.
          </p>
          <CodeBlock
            label="the request with curl"
            text={`export RUNGATE_API_KEY=rg_${service.environment}_…\n${runCommand(location.origin)}`}
          />
          <CodeBlock label="the command" text={firstRun} />
        </Step>
      </ol>
      <ul className="mt-4 list-disc space-y-1 border-t border-line pt-4 pl-5 text-muted">
        {next.map(([path, title, why]) => (
          <li key={path}>
            <TextLink to={path}>{title}</TextLink>. {why}
          </li>
        ))}
      </ul>
    </Panel>
  )
}
