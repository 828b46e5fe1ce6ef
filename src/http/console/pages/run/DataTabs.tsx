/** Input, result, the provider's own answer and the ledger entries of a run. */
import { isRecord } from "../../data/json.ts"
import { Facts } from "../../lists/Facts.tsx"
import { wordOf } from "../../lists/nouns.tsx"
import { Loaded, TextLink } from "../../parts/Page.tsx"
import { type Column, DataTable } from "../../parts/Table.tsx"
import { Id, Money, Time } from "../../parts/Values.tsx"
import { isRunBody } from "../../running/request.ts"
import { Result } from "./Result.tsx"
import { Json } from "./Tabs.tsx"
import { type Details, type OfRun, type Run, useDetails } from "./useRun.ts"

const Named = ({ title, value }: { readonly title: string; readonly value: unknown }) =>
  value === undefined || value === null ? null : (
    <section>
      <h3 className="mb-2 font-medium">{title}</h3>
      <Json value={value} label={title.toLowerCase()} />
    </section>
  )

const Asked = ({ run, details }: OfRun & { readonly details: Details }) => {
  const { request, erased_at } = details
  if (!isRunBody(request))
    return (
      <p className="text-muted">
        The input was erased{erased_at === null ? "" : " "}
        {erased_at !== null && <Time at={erased_at} />}. The charge stays in the ledger.
      </p>
    )
  const { input, path, query, routing, method } = request
  const labels = Object.entries(run.metadata ?? {})
  const max_cost = routing?.max_cost ?? null
  return (
    <div className="space-y-4">
      <Json value={input} label="the input" file={`${run.run_id}-input.json`} />
      <Named title="Path" value={path} />
      <Named title="Query" value={query} />
      {typeof method === "string" && <Facts facts={[["Method", method]]} />}
      {max_cost !== null && (
        <p className="text-muted">
          Allowed to cost <Money amount={max_cost} /> at most.
        </p>
      )}
      {labels.length > 0 && (
        <section>
          <h3 className="mb-2 font-medium">Labels</h3>
          <Facts facts={labels} />
        </section>
      )}
    </div>
  )
}

export const InputTab = ({ run }: OfRun) => (
  <Loaded query={useDetails(run)}>{(details) => <Asked run={run} details={details} />}</Loaded>
)

export const ResultTab = ({ run }: OfRun) =>
  run.result === undefined ? (
    <p className="text-muted">{run.done ? "This run has no result." : "The result comes when the run ends."}</p>
  ) : (
    <Result run_id={run.run_id} result={run.result} />
  )

/** What the provider itself answered: all of a raw run's result, and a part of a capability's if the request asked for it. */
const payloadOf = ({ kind, result }: Run): unknown =>
  isRecord(result) ? result[kind === "endpoint" ? "data" : "raw"] : undefined

export const RawTab = ({ run }: OfRun) => {
  const payload = payloadOf(run)
  return (
    <div className="space-y-4">
      {payload === undefined ? (
        <p className="text-muted">
          The provider's own answer is not stored. A request with{" "}
          <code className="font-mono">response.include_raw</code> keeps it.
        </p>
      ) : (
        <section>
          <h3 className="mb-2 font-medium">Answer of {run.provider ?? "the provider"}</h3>
          <Json value={payload} label="the provider's answer" file={`${run.run_id}-raw.json`} />
        </section>
      )}
      <section>
        <h3 className="mb-2 font-medium">Answer of the API</h3>
        <Json value={run} label="the answer of the API" />
      </section>
    </div>
  )
}

type Entry = Details["ledger"][number]

const columns: ReadonlyArray<Column<Entry>> = [
  { title: "Number", cell: ({ seq }) => seq, align: "right" },
  { title: "Entry", cell: ({ type }) => wordOf("Transaction", "type", type) },
  { title: "Amount", cell: ({ amount }) => <Money amount={amount} />, align: "right" },
  { title: "Balance after", cell: ({ balance_after }) => <Money amount={balance_after} />, align: "right" },
  {
    title: "Held after",
    cell: ({ reserved_after }) => <Money amount={reserved_after} />,
    align: "right",
    wide: true
  },
  { title: "When", cell: ({ created_at }) => <Time at={created_at} />, align: "right" },
  { title: "Id", cell: ({ id }) => <Id id={id} what="the entry's id" />, wide: true }
]

export const LedgerTab = ({ run }: OfRun) => (
  <Loaded query={useDetails(run)}>
    {({ ledger }) => (
      <DataTable
        label="Ledger entries of the run"
        rows={ledger}
        columns={columns}
        empty="No ledger entries"
        hint={
          <p className="text-muted">
            This run has moved no money. Other entries are in the <TextLink to="/wallet">wallet</TextLink>.
          </p>
        }
      />
    )}
  </Loaded>
)
