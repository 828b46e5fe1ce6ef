/** The configuration as code: the file of what there is, and a file that is compared, shown and applied whole. */
import { useState } from "react"
import { type AnswerOf, api, ApiError, queries } from "../../data/api.ts"
import { changeTitle, fieldLines, replayLines } from "../../../client/ConfigurationText.ts"
import { faultsIn, parsedYaml, yamlText } from "../../../client/YamlText.ts"
import { ActionForm, ConfirmAction, SaveButton } from "../../actions/Actions.tsx"
import { save } from "../../data/save.ts"
import { useDenied } from "../../data/session.ts"
import { Checkbox } from "../../forms/Checkbox.tsx"
import { Secret } from "../../forms/Secret.tsx"
import { TextArea } from "../../parts/Field.tsx"
import { Page, Panel } from "../../parts/Page.tsx"

type Preview = AnswerOf<"configuration", "preview">
type Created = AnswerOf<"configuration", "apply">["created"]
interface Draft {
  readonly text: string
  readonly prune: boolean
}
interface Compared {
  readonly draft: Draft
  readonly preview: Preview
}
type Payload = Parameters<typeof api.configuration.preview>[0]["payload"]

/** What the service says of the file, with its lines. */
const inFile = async <A,>({ text, prune }: Draft, send: (payload: Payload) => Promise<A>) => {
  const file = parsedYaml(text)
  try {
    return await send({ configuration: file.value, prune })
  } catch (error) {
    const faults = error instanceof ApiError ? faultsIn(file, error.details) : []
    throw faults.length === 0 ? error : new Error(faults.map(({ line, fault }) => `Line ${line}: ${fault}`).join(". "))
  }
}

const exported = async () => {
  const { configuration } = await api.configuration.export({})
  save(yamlText(configuration), "rungate.yaml", "application/yaml")
}

const colours = { create: "text-green", change: "text-amber", remove: "text-red" } as const

const Lines = ({ lines }: { readonly lines: ReadonlyArray<string> }) => (
  <ul className="ml-6 text-small break-words">
    {lines.map((line) => (
      <li key={line}>{line}</li>
    ))}
  </ul>
)

const Changes = ({ preview }: { readonly preview: Preview }) => {
  const [blocked, ...rules] = replayLines(preview.replay)
  return (
    <>
      <ul aria-label="Changes" className="space-y-2">
        {preview.changes.map((change) => (
          <li key={`${change.section} ${change.name}`}>
            <span className={`font-mono ${colours[change.action]}`}>{changeTitle(change)}</span>
            <Lines lines={fieldLines(change)} />
          </li>
        ))}
      </ul>
      {blocked !== undefined && (
        <div className="mt-4">
          <p className="font-medium">{blocked}</p>
          <Lines lines={rules} />
        </div>
      )}
    </>
  )
}

interface ShownProps {
  readonly draft: Draft
  readonly preview: Preview
  readonly onApplied: (created: Created) => void
}

/** What would change, with the button that applies it. */
const Shown = ({ draft, preview, onApplied }: ShownProps) => {
  const { digest, changes } = preview
  return (
    <Panel title={changes.length === 0 ? "Nothing to change" : `Changes: ${changes.length}`}>
      <Changes preview={preview} />
      {changes.length > 0 && (
        <div className="mt-4">
          <ConfirmAction
            send={() => inFile(draft, (payload) => api.configuration.apply({ payload: { ...payload, digest } }))}
            says="The configuration is applied."
            after={({ created }) => {
              onApplied(created)
              void queries.invalidateQueries()
            }}
            word="Apply…"
            title="Apply the configuration?"
            confirm="Apply"
            look="primary"
            buttonLook="primary"
          >
            <p>{changes.length} changes are made together, or none. Programs whose key is revoked stop working.</p>
          </ConfirmAction>
        </div>
      )}
    </Panel>
  )
}

const Secrets = ({ created, onStored }: { readonly created: Created; readonly onStored: (id: string) => void }) =>
  created.map(({ id, name, secret }) => (
    <Secret
      key={id}
      title={`The secret of ${name} is shown only this once.`}
      label={`Secret of ${name}`}
      text={secret}
      done="I have stored it"
      onStored={() => onStored(id)}
    />
  ))

const Configuration = () => {
  const denied = useDenied("configuration.apply")
  const [draft, setDraft] = useState<Draft>({ text: "", prune: false })
  const [compared, setCompared] = useState<Compared | null>(null)
  const [created, setCreated] = useState<Created>([])
  // What was compared before an edit is shown no more.
  const shown = compared?.draft === draft ? compared.preview : null
  const preview = () =>
    inFile(
      draft,
      async (payload): Promise<Compared> => ({ draft, preview: await api.configuration.preview({ payload }) })
    )
  const edited = (text: string) => setDraft((before) => ({ ...before, text }))
  return (
    <Page
      actions={<SaveButton send={exported}>Export YAML</SaveButton>}
      lead={
        <>
          API keys, limits, webhooks, label budgets and approval rules as a file, as <code>rungate apply</code> takes
          it.
        </>
      }
    >
      <Secrets created={created} onStored={(id) => setCreated(created.filter((one) => one.id !== id))} />
      <Panel title="File">
        <ActionForm
          send={preview}
          says={({ preview: { changes } }) => `${changes.length} changes.`}
          after={setCompared}
          submit="Show the changes"
          denied={denied}
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
            value={draft.text}
            onChange={(event) => edited(event.target.value)}
          />
          <Checkbox
            label="Revoke or remove what a section does not name"
            checked={draft.prune}
            onChange={() => setDraft({ ...draft, prune: !draft.prune })}
          />
        </ActionForm>
      </Panel>
      {shown !== null && (
        <Shown
          draft={draft}
          preview={shown}
          onApplied={(secrets) => {
            setCompared(null)
            setCreated((before) => [...before, ...secrets])
          }}
        />
      )}
    </Page>
  )
}

export default Configuration
