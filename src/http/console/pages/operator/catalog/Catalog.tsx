/** Imports raw endpoints: compares a document with the catalog, shows what changes, and applies exactly that after a question. */
import { type ChangeEvent, useId, useState } from "react"
import { ActionForm, textIn } from "../../../actions/Actions.tsx"
import { type AnswerOf, api } from "../../../data/api.ts"
import { Field, TextArea } from "../../../parts/Field.tsx"
import { Page, Panel } from "../../../parts/Page.tsx"
import { CodeBlock } from "../../../parts/Values.tsx"
import { Ask, Verdict } from "../parts.tsx"

type Compared = AnswerOf<"operatorCatalog", "import">

/** A provider may have thousands of endpoints. The command shows all of them. */
const linesMax = 500

const Lines = ({ title, lines }: { readonly title: string; readonly lines: ReadonlyArray<string> }) =>
  lines.length === 0 ? (
    <p className="text-muted">{title}: none</p>
  ) : (
    <details open={lines.length <= 20}>
      <summary className="cursor-pointer font-medium">
        {title}: {lines.length}
      </summary>
      <ul className="mt-1 ml-6 list-disc font-mono text-small break-words">
        {lines.slice(0, linesMax).map((line, index) => (
          <li key={`${index} ${line}`}>{line}</li>
        ))}
      </ul>
      {lines.length > linesMax && (
        <p className="mt-1 text-muted">
          The first {linesMax}. <code>rungate catalog import --dry-run --all</code> shows every one.
        </p>
      )}
    </details>
  )

const Diff = ({ compared }: { readonly compared: Compared }) => (
  <div className="grid gap-3">
    <p>
      {compared.endpoints} endpoints, {compared.unchanged} of them unchanged. Calls go to{" "}
      {compared.base_url === null ? (
        "the address that the provider's adapter has"
      ) : (
        <code className="wrap-anywhere">{compared.base_url}</code>
      )}
      .
    </p>
    <Lines title="Added" lines={compared.added} />
    <Lines title="Changed" lines={compared.changed} />
    <Lines title="Removed" lines={compared.removed} />
    <Lines title="Warnings" lines={compared.warnings} />
  </div>
)

const wantedIn = (form: FormData) => {
  const provider = textIn(form, "provider").trim()
  return { document: textIn(form, "document"), provider: provider === "" ? null : provider }
}

const Document = () => {
  const [text, setText] = useState("")
  const fileId = useId()
  const chosen = async ({ currentTarget }: ChangeEvent<HTMLInputElement>) => {
    const [file] = currentTarget.files ?? []
    if (file !== undefined) setText(await file.text())
  }
  return (
    <div className="space-y-4">
      <div>
        <label htmlFor={fileId} className="mb-1 block font-medium">
          File
        </label>
        <input id={fileId} type="file" accept=".json,.yaml,.yml" onChange={(event) => void chosen(event)} />
      </div>
      <TextArea
        label="OpenAPI document or manifest"
        name="document"
        required
        rows={10}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </div>
  )
}

interface ApplyProps {
  readonly wanted: ReturnType<typeof wantedIn>
  readonly compared: Compared
  readonly onDone: () => void
}

const Apply = ({ wanted, compared, onDone }: ApplyProps) => {
  const { provider, added, changed, removed, base_url } = compared
  if (added.length + changed.length + removed.length === 0) return <Verdict good>The catalog is up to date.</Verdict>
  return (
    <Ask
      send={() => api.operatorCatalog.import({ payload: { ...wanted, apply: true, based_on: compared.based_on } })}
      says={({ provider }) => `Imported the endpoints of ${provider}.`}
      after={onDone}
      word="Import these changes…"
      buttonLook="primary"
      title={`Replace the endpoints of ${provider}?`}
      confirm="Import the changes"
    >
      <p>
        {added.length} endpoints are added, {changed.length} changed and {removed.length} removed, for every
        organization. Running services use them within 5 seconds.
      </p>
      {base_url !== null && (
        <p>
          Calls of {provider} go to <code className="wrap-anywhere">{base_url}</code>, with the account of the settings.
        </p>
      )}
    </Ask>
  )
}

const Catalog = () => {
  const [shown, setShown] = useState<Pick<ApplyProps, "wanted" | "compared"> & { readonly isDone: boolean }>()
  const compare = async (form: FormData) => {
    const wanted = wantedIn(form)
    setShown(undefined)
    setShown({ wanted, compared: await api.operatorCatalog.import({ payload: wanted }), isDone: false })
  }
  return (
    <Page lead="Raw endpoints of a provider, from its own specification.">
      <Panel title="Compare a document">
        <ActionForm send={compare} submit="Compare with the catalog" look="plain">
          <Document />
          <Field
            label="Provider"
            name="provider"
            maxLength={41}
            pattern="[a-z][a-z0-9_]*"
            hint="The slug, such as hunter. A manifest names its provider itself."
            className="max-w-sm"
          />
        </ActionForm>
        <div className="mt-4 space-y-2">
          <p className="text-muted">For URLs, several documents, and documents above 1 MiB, on the server:</p>
          <CodeBlock
            text="rungate catalog import <file or URL> --provider <slug> --dry-run"
            label="the command that compares a document"
          />
        </div>
      </Panel>
      {shown !== undefined && (
        <Panel title={`What changes for ${shown.compared.provider}`}>
          <Diff compared={shown.compared} />
          <div className="mt-4">
            {shown.isDone ? (
              <Verdict good>Imported. Running services use it within 5 seconds.</Verdict>
            ) : (
              <Apply {...shown} onDone={() => setShown({ ...shown, isDone: true })} />
            )}
          </div>
        </Panel>
      )}
    </Page>
  )
}

export default Catalog
