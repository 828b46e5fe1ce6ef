/** The events of a run, from its beginning, as webhooks and streams get them. An open run's events arrive as they happen. */
import { useEffect, useState } from "react"
import type { ReceivedEvent } from "../../../client/Events.ts"
import { eventsAt } from "../../data/live.ts"
import { duration } from "../../data/time.ts"
import { CodeBlock, statusWord, Time } from "../../parts/Values.tsx"
import { Empty, Skeleton } from "../../parts/Page.tsx"

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
