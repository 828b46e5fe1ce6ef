/** Imports raw endpoints: compares a document with the catalog, shows what changes, and applies exactly that after a question. */
import { useMutation } from "@tanstack/react-query"
import { type ChangeEvent, useId, useState } from "react"
import type { AnswerOf } from "../../../../client/Browser.ts"
import { onForm, textIn } from "../../../account/forms.ts"
import { api } from "../../../data/api.ts"
import { announce } from "../../../parts/Announcer.tsx"
import { Button } from "../../../parts/Button.tsx"
import { CodeBlock } from "../../../parts/Copy.tsx"
import { Field, FormProblem, inputLook, problemOf } from "../../../parts/Field.tsx"
import { PageHead, Panel } from "../../../parts/Page.tsx"
import { Ask } from "../Ask.tsx"
import { Verdict } from "../Verdict.tsx"
import { Diff } from "./Diff.tsx"

type Compared = AnswerOf<"operatorCatalog", "import">

interface Asked {
  readonly document: string
  readonly provider: string | null
}

const askedIn = (form: FormData): Asked => {
  const provider = textIn(form, "provider").trim()
  return { document: textIn(form, "document"), provider: provider === "" ? null : provider }
}

const Document = ({ problem }: { readonly problem: string | null }) => {
  const [text, setText] = useState("")
  const id = useId()
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
      <div>
        <label htmlFor={id} className="mb-1 block font-medium">
          OpenAPI document or manifest
        </label>
        <textarea
          id={id}
          name="document"
          required
          rows={10}
          spellCheck={false}
          value={text}
          onChange={(event) => setText(event.target.value)}
          aria-invalid={problem !== null}
          aria-describedby={problem === null ? undefined : `${id}-problem`}
          className={`${inputLook} font-mono text-small`}
        />
        {problem !== null && (
          <p id={`${id}-problem`} className="mt-1 text-small text-red">
            {problem}
          </p>
        )}
      </div>
    </div>
  )
}

const Apply = ({
  asked,
  compared,
  onDone
}: {
  readonly asked: Asked
  readonly compared: Compared
  readonly onDone: () => void
}) => {
  const [asks, setAsks] = useState(false)
  const apply = useMutation({
    mutationFn: () => api.operatorCatalog.import({ payload: { ...asked, apply: true, based_on: compared.based_on } }),
    onSuccess: ({ provider }) => {
      announce(`Imported the endpoints of ${provider}.`)
      setAsks(false)
      onDone()
    }
  })
  const { provider, added, changed, removed, base_url } = compared
  return (
    <>
      <Button look="primary" onClick={() => setAsks(true)}>
        Import these changes…
      </Button>
      <Ask
        open={asks}
        title={`Replace the endpoints of ${provider}?`}
        action="Import the changes"
        busy={apply.isPending}
        error={apply.error}
        onConfirm={() => apply.mutate()}
        onClose={() => setAsks(false)}
      >
        <p>
          {added.length} endpoints are added, {changed.length} changed and {removed.length} removed, for every
          organization. Running services use them within 5 seconds.
        </p>
        {base_url !== null && (
          <p>
            Calls of {provider} go to <code className="wrap-anywhere">{base_url}</code>, with the account of the
            settings.
          </p>
        )}
      </Ask>
    </>
  )
}

const Catalog = () => {
  const [asked, setAsked] = useState<Asked | null>(null)
  const [isDone, setDone] = useState(false)
  const compare = useMutation({
    mutationFn: (given: Asked) => api.operatorCatalog.import({ payload: given }),
    onMutate: (given) => {
      setAsked(given)
      setDone(false)
    }
  })
  const compared = compare.data
  const hasChanges =
    compared !== undefined && compared.added.length + compared.changed.length + compared.removed.length > 0
  return (
    <>
      <PageHead title="Catalog">Raw endpoints of a provider, from its own specification.</PageHead>
      <div className="grid grid-cols-1 gap-6">
        <Panel title="Compare a document">
          <form onSubmit={onForm((form) => compare.mutate(askedIn(form)))} className="space-y-4">
            <Document problem={problemOf(compare.error, "document")} />
            <Field
              label="Provider"
              name="provider"
              maxLength={41}
              pattern="[a-z][a-z0-9_]*"
              hint="The slug, such as hunter. A manifest names its provider itself."
              problem={problemOf(compare.error, "provider")}
              className="max-w-sm"
            />
            <FormProblem error={compare.error} />
            <Button type="submit" busy={compare.isPending}>
              Compare with the catalog
            </Button>
          </form>
          <div className="mt-4 space-y-2">
            <p className="text-muted">For URLs, several documents, and documents above 1 MiB, on the server:</p>
            <CodeBlock
              text="rungate catalog import <file or URL> --provider <slug> --dry-run"
              label="the command that compares a document"
            />
          </div>
        </Panel>
        {compared !== undefined && (
          <Panel title={`What changes for ${compared.provider}`}>
            <Diff compared={compared} />
            <div className="mt-4">
              {isDone ? (
                <Verdict good>Imported. Running services use it within 5 seconds.</Verdict>
              ) : hasChanges && asked !== null ? (
                <Apply asked={asked} compared={compared} onDone={() => setDone(true)} />
              ) : (
                <Verdict good>The catalog is up to date.</Verdict>
              )}
            </div>
          </Panel>
        )}
      </div>
    </>
  )
}

export default Catalog
