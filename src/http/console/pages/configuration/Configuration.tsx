/** The configuration as code: the file of what there is, and a file that is compared, shown and applied whole. */
import { useState } from "react"
import { type AnswerOf, api, ApiError, queries } from "../../data/api.ts"
import { faultsIn, parsedYaml, yamlText } from "../../../client/YamlText.ts"
import { ActionForm, ConfirmAction, type FormAction, SaveButton, useAction } from "../../actions/Actions.tsx"
import { save } from "../../data/save.ts"
import { useMay } from "../../data/session.ts"
import { Checkbox } from "../../forms/Checkbox.tsx"
import { Secret } from "../../forms/Secret.tsx"
import { TextArea } from "../../parts/Field.tsx"
import { PageHead, Panel } from "../../parts/Page.tsx"

type Preview = AnswerOf<"configuration", "preview">
type Created = AnswerOf<"configuration", "apply">["created"]

/** What the service says of the file, with its lines. */
const inFile = async <A,>(
  text: string,
  send: (configuration: ReturnType<typeof parsedYaml>["value"]) => Promise<A>
) => {
  const file = parsedYaml(text)
  try {
    return await send(file.value)
  } catch (error) {
    const faults = error instanceof ApiError ? faultsIn(file, error.details) : []
    throw faults.length === 0 ? error : new Error(faults.map(({ line, fault }) => `Line ${line}: ${fault}`).join(". "))
  }
}

const exported = async () => {
  const { configuration } = await api.configuration.export({})
  save(yamlText(configuration), "rungate.yaml", "application/yaml")
}

const signs = { create: "+", change: "~", remove: "−" } as const
const colours = { create: "text-green", change: "text-amber", remove: "text-red" } as const

const Changes = ({ changes, replay }: Preview) => (
  <>
    <ul aria-label="Changes" className="space-y-2">
      {changes.map(({ action, section, name, fields }) => (
        <li key={`${section} ${name}`}>
          <span className={`font-mono ${colours[action]}`}>
            {signs[action]} {section === name ? section : `${section} ${name}`}
          </span>
          <ul className="ml-6 text-small break-words">
            {fields.map(({ field, before, after }) => (
              <li key={field}>
                {field}: {action !== "create" && <>{before ?? "(none)"} → </>}
                {after ?? "(none)"}
              </li>
            ))}
          </ul>
        </li>
      ))}
    </ul>
    {replay !== null && (
      <div className="mt-4">
        <p className="font-medium">
          Of {replay.runs} runs since {replay.from.slice(0, 10)}, this would have blocked {replay.blocked_runs}.
          {replay.cut && " Older runs of the 30 days are too many to replay."}
        </p>
        <ul className="ml-6 text-small">
          {replay.rules
            .filter((one) => one.blocked_runs > 0)
            .map(({ rule, blocked_runs }) => (
              <li key={rule}>
                {blocked_runs} by {rule}
              </li>
            ))}
          {replay.not_replayed.map((rule) => (
            <li key={rule}>Past runs don't tell what {rule} would have blocked.</li>
          ))}
        </ul>
      </div>
    )}
  </>
)

const Secrets = ({ created, onStored }: { readonly created: Created; readonly onStored: (rest: Created) => void }) =>
  created.map(({ id, name, secret }) => (
    <Secret
      key={id}
      title={`The secret of ${name} is shown only this once.`}
      label={`Secret of ${name}`}
      text={secret}
      done="I have stored it"
      onStored={() => onStored(created.filter((one) => one.id !== id))}
    />
  ))

const Apply = ({ action, count }: { readonly action: FormAction; readonly count: number }) => (
  <div className="mt-4">
    <ConfirmAction
      action={action}
      word="Apply…"
      title="Apply the configuration?"
      confirm="Apply"
      look="primary"
      buttonLook="primary"
    >
      <p>{count} changes are made together, or none. Programs whose key is revoked stop working.</p>
    </ConfirmAction>
  </div>
)

const Configuration = () => {
  const may = useMay("configuration.apply")
  const [text, setText] = useState("")
  const [shown, setShown] = useState<{
    readonly text: string
    readonly prune: boolean
    readonly preview: Preview
  } | null>(null)
  const [created, setCreated] = useState<Created>([])
  const preview = useAction(
    async (sent: FormData) => {
      const prune = sent.has("prune")
      return {
        text,
        prune,
        preview: await inFile(text, (configuration) => api.configuration.preview({ payload: { configuration, prune } }))
      }
    },
    { says: ({ preview: { changes } }) => `${changes.length} changes.`, after: setShown }
  )
  const apply = useAction(
    async () => {
      if (shown === null) throw new Error("Show the changes first.")
      const {
        prune,
        preview: { digest }
      } = shown
      return inFile(shown.text, (configuration) =>
        api.configuration.apply({ payload: { configuration, prune, digest } })
      )
    },
    {
      says: "The configuration is applied.",
      after: (applied) => {
        setShown(null)
        setCreated(applied.created)
        void queries.invalidateQueries()
      }
    }
  )
  const edited = (changed: string) => {
    setText(changed)
    setShown(null)
  }
  const count = shown?.preview.changes.length ?? 0
  return (
    <>
      <PageHead title="As code" actions={<SaveButton send={exported}>Export YAML</SaveButton>}>
        API keys, limits, webhooks, label budgets and approval rules as a file, as <code>rungate apply</code> takes it.
      </PageHead>
      <div className="grid grid-cols-1 gap-6">
        <Secrets created={created} onStored={setCreated} />
        <Panel title="File">
          <ActionForm
            action={preview}
            submit="Show the changes"
            denied={may ? null : "An owner or an admin of the organization can apply a file."}
            saved={null}
          >
            <input
              type="file"
              aria-label="Choose a file"
              accept=".yaml,.yml,.json"
              onChange={(event) => void event.target.files?.[0]?.text().then(edited)}
            />
            <TextArea
              label="Configuration"
              hint="YAML. What it leaves out stays as it is."
              rows={12}
              required
              value={text}
              onChange={(event) => edited(event.target.value)}
            />
            <Checkbox name="prune" label="Revoke or remove what a section does not name" />
          </ActionForm>
        </Panel>
        {shown !== null && (
          <Panel title={count === 0 ? "Nothing to change" : `Changes: ${count}`}>
            <Changes {...shown.preview} />
            {count > 0 && <Apply action={apply} count={count} />}
          </Panel>
        )}
      </div>
    </>
  )
}

export default Configuration
