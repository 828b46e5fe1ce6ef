/** A new batch: a file, what to run for each of its rows, a preview, the price, and the button. */
import { useMemo, useState } from "react"
import { useFilters } from "../../../data/address.ts"
import { catalogStaleMillis, useCapabilities } from "../../../data/lists.ts"
import { FilterSelect } from "../../../lists/Filters.tsx"
import { Failed, LoadedPanel, Page, Panel, TextLink } from "../../../parts/Page.tsx"
import { FileDrop } from "../FileDrop.tsx"
import type { Sheet } from "../readFile.ts"
import { Cost } from "./Cost.tsx"
import { guessedColumns } from "../../../../client/Columns.ts"
import { type InputForm, formOf, inputsOf, problemsOf } from "./inputs.ts"
import { MappingForm, Preview } from "./Columns.tsx"
import { api, useRead } from "../../../data/api.ts"

/** The form of a capability's input. Null for a capability that does not exist. */
const useForm = (capability: string) =>
  useRead(
    ["capability", capability, "form"],
    async () => {
      const contract = await api.catalog.inspect({ payload: { capability } })
      return "input_schema" in contract ? formOf(contract.input_schema) : null
    },
    { enabled: capability !== "", staleTime: catalogStaleMillis }
  )

const Rows = ({ sheet, form }: { readonly sheet: Sheet; readonly form: InputForm }) => {
  const [{ capability = "" }] = useFilters()
  const names = form.fields.map(({ name }) => name)
  const [mapping, setMapping] = useState(() => guessedColumns(names, sheet.header))
  const rows = useMemo(() => {
    const inputs = inputsOf(form, sheet.header, sheet.rows, mapping)
    return inputs.map((input, index) => ({ row: index + 1, input, problems: problemsOf(form, input) }))
  }, [form, sheet, mapping])
  const fields = names.filter((name) => (mapping[name] ?? "") !== "")
  return (
    <>
      <Panel title="3. Columns">
        <MappingForm form={form} sheet={sheet} mapping={mapping} onMapping={setMapping} />
      </Panel>
      <Panel title="4. Preview">
        {fields.length === 0 ? (
          <p className="text-muted">Choose a column for at least one field.</p>
        ) : (
          <Preview rows={rows} fields={fields} />
        )}
      </Panel>
      <Panel title="5. Price">
        <Cost rows={rows} plan={{ sheet, capability, mapping, inputs: rows.map(({ input }) => input) }} />
      </Panel>
    </>
  )
}

const CapabilityPanel = () => {
  const [{ capability = "" }] = useFilters()
  return (
    <LoadedPanel title="2. What to run for each row" query={useCapabilities()}>
      {(all) => {
        const chosen = all.find((one) => one.capability === capability)
        return (
          <>
            <FilterSelect
              name="capability"
              label="Capability"
              hideLabel={false}
              any="Choose a capability"
              options={all
                .filter(({ status }) => status === "live")
                .map((one) => [one.capability, `${one.capability}: ${one.title}`] as const)}
              className="max-w-lg"
            />
            {chosen !== undefined && <p className="mt-2 text-muted">{chosen.description}</p>}
            {capability !== "" && chosen === undefined && (
              <p role="alert" className="mt-2 break-words text-red">
                There is no capability {capability}. Choose another one.
              </p>
            )}
          </>
        )
      }}
    </LoadedPanel>
  )
}

const NewBatch = () => {
  const [{ capability = "" }] = useFilters()
  const [sheet, setSheet] = useState<{ readonly read: Sheet; readonly count: number } | null>(null)
  const form = useForm(capability)
  return (
    <Page
      lead={
        <>
          Run a capability for each row of a CSV. <TextLink to="/batches">All batches</TextLink>
        </>
      }
    >
      <Panel title="1. File">
        <FileDrop
          label={sheet === null ? "Drop a CSV here, or choose a file" : "Drop or choose another file"}
          sheet={sheet?.read ?? null}
          onSheet={(read) => setSheet((before) => ({ read, count: (before?.count ?? 0) + 1 }))}
        />
      </Panel>
      <CapabilityPanel />
      {sheet !== null && form.error !== null && <Failed error={form.error} retry={() => void form.refetch()} />}
      {sheet !== null && form.data !== undefined && form.data !== null && (
        // Another file or another capability begins with its own guess of the columns.
        <Rows key={`${capability} ${sheet.count}`} sheet={sheet.read} form={form.data} />
      )}
    </Page>
  )
}

export default NewBatch
