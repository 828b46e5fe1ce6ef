/** The tabs of a run: input, result, the provider's own answer, ledger entries, events as they happen, and the signed receipt. */
import { useEffect, useState } from "react"
import type { ReceivedEvent } from "../../../client/Events.ts"
import { SaveButton } from "../../actions/Actions.tsx"
import { addressOf, ApiError, request, useRead } from "../../data/api.ts"
import { isRecord } from "../../data/json.ts"
import { eventsAt } from "../../data/live.ts"
import { save } from "../../data/save.ts"
import { duration } from "../../data/time.ts"
import { Facts } from "../../lists/Facts.tsx"
import { wordOf } from "../../lists/nouns.tsx"
import { Empty, Loaded, OutLink, Skeleton, TextLink } from "../../parts/Page.tsx"
import { type Column, DataTable } from "../../parts/Table.tsx"
import { CodeBlock, Id, Money, statusWord, Time } from "../../parts/Values.tsx"
import { isRunBody } from "../../running/request.ts"
import { Result } from "./Result.tsx"
import { Json } from "./Tabs.tsx"
import { type Details, type OfRun, type Run, useDetails } from "./useRun.ts"

type State = "reading" | "done" | "lost"

/** The stream ends after the run's last event. The browser asks once more and hears that there are no others. */
const useEvents = (run_id: string) => {
  const [events, setEvents] = useState<ReadonlyArray<ReceivedEvent>>([])
  const [state, setState] = useState<State>("reading")
  useEffect(() => {
    const source = eventsAt(`/v1/runs/${encodeURIComponent(run_id)}/events`, (event) => {
      setEvents((before) => (before.some(({ id }) => id === event.id) ? before : [...before, event]))
      if (event.type !== "run.finished") return
      setState("done")
      source.close()
    })
    source.addEventListener("error", () => {
      if (source.readyState === EventSource.CLOSED) setState((before) => (before === "done" ? before : "lost"))
    })
    return () => source.close()
  }, [run_id])
  return { events, state }
}

const text = (value: unknown) => (typeof value === "string" ? value : "")

const sentence = ({ type, data }: ReceivedEvent): string => {
  if (type === "run.created") return "The run was created."
  if (type === "run.started") return "A worker started it."
  if (type === "run.finished") return `It ended: ${statusWord(text(data["status"]))}.`
  const took = data["duration_ms"]
  const time = typeof took === "number" ? ` after ${duration(took)}` : ""
  return `${text(data["provider"])} answered${time}: ${statusWord(text(data["outcome"]))}.`
}

const unread = "Events are kept for 30 days. Those of this run are gone, or the connection was lost."

export const EventsTab = ({ run_id }: { readonly run_id: string }) => {
  const { events, state } = useEvents(run_id)
  if (events.length === 0 && state === "reading") return <Skeleton lines={4} />
  if (events.length === 0) return <Empty title="No events">{unread}</Empty>
  return (
    <>
      <ol className="space-y-3">
        {events.map((event) => (
          <li key={event.id} className="rounded border border-line p-3">
            <p className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
              <span className="break-words">{sentence(event)}</span>
              <span className="flex items-center gap-3 text-small text-muted">
                <code className="font-mono">{event.type}</code>
                <Time at={event.timestamp} />
              </span>
            </p>
            <details className="mt-2">
              <summary className="w-fit rounded text-small text-muted">Data of the event</summary>
              <div className="mt-2">
                <CodeBlock label={`data of ${event.type}`} text={JSON.stringify(event.data, null, 2)} />
              </div>
            </details>
          </li>
        ))}
      </ol>
      {state === "reading" && <p className="mt-3 text-muted">The next events appear here.</p>}
      {state === "lost" && <p className="mt-3 text-muted">The connection was lost. Open this tab again to read on.</p>}
    </>
  )
}

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
