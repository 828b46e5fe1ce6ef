/** Input, result, the provider's own answer, the ledger entries and the signed receipt of a run. */
import { isRecord } from "../../data/json.ts"
import { Facts } from "../../lists/Facts.tsx"
import { wordOf } from "../../lists/nouns.tsx"
import { Loaded, OutLink, TextLink } from "../../parts/Page.tsx"
import { type Column, DataTable } from "../../parts/Table.tsx"
import { CodeBlock, Id, Money, Time } from "../../parts/Values.tsx"
import { isRunBody } from "../../running/request.ts"
import { Result } from "./Result.tsx"
import { Json } from "./Tabs.tsx"
import { type Details, type OfRun, type Run, useDetails } from "./useRun.ts"
import { SaveButton } from "../../actions/Actions.tsx"
import { addressOf, ApiError, request, useRead } from "../../data/api.ts"
import { save } from "../../data/save.ts"

const mediaType = "application/jose"

/** The middle part of a JWS is the payload, in base64url. Null for a text of another form. */
const factsIn = (jws: string): unknown => {
  try {
    const part = (jws.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/")
    const bytes = Uint8Array.from(atob(part), (letter) => letter.codePointAt(0) ?? 0)
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return null
  }
}

const useReceipt = (run_id: string, isDone: boolean) =>
  useRead(
    ["run", run_id, "receipt"],
    async ({ signal }) => {
      const address = addressOf("/v1/runs/:run_id/receipt", { params: { run_id } })
      const response = await request("GET", address, {}, { signal, headers: { accept: mediaType } })
      return response.text()
    },
    {
      enabled: isDone,
      // Each receipt is signed anew, and says the same.
      staleTime: Number.POSITIVE_INFINITY,
      retry: (failures, error) => failures < 2 && error instanceof ApiError && error.status === 0
    }
  )

const Signed = ({ run_id, jws }: { readonly run_id: string; readonly jws: string }) => (
  <div className="space-y-4">
    <div className="flex flex-wrap items-center justify-between gap-3">
      <span className="text-muted">
        Signed by this service over the facts below. Keep it: it can be verified without the service.{" "}
        <OutLink href="/.well-known/jwks.json">Public keys</OutLink>
      </span>
      <SaveButton send={async () => save(jws, `${run_id}.jws`, mediaType)}>Save the receipt</SaveButton>
    </div>
    <Json value={factsIn(jws)} label="what the receipt says" />
    <section>
      <h3 className="mb-2 font-medium">Verify it</h3>
      <CodeBlock
        label="commands that verify the receipt"
        text={`rungate receipt ${run_id}\nrungate receipt keys\nrungate receipt verify ${run_id}.jws --jwks jwks.json`}
      />
    </section>
    <section>
      <h3 className="mb-2 font-medium">Signed text (JWS)</h3>
      <CodeBlock label="the signed receipt" text={jws} />
    </section>
  </div>
)

export const ReceiptTab = ({ run }: { readonly run: Run }) => {
  const receipt = useReceipt(run.run_id, run.done)
  if (!run.done) return <p className="text-muted">A run has a receipt as soon as it has ended.</p>
  return <Loaded query={receipt}>{(jws) => <Signed run_id={run.run_id} jws={jws} />}</Loaded>
}

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
