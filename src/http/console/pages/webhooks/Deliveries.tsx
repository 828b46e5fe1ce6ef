/** Deliveries of an endpoint, newest first: what was sent, what the endpoint answered, and sending it again. */
import { counted } from "../../../client/Words.ts"
import { ActionButton } from "../../actions/Actions.tsx"
import { useFilters } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { duration } from "../../data/time.ts"
import { PayloadForm } from "../../forms/PayloadFields.tsx"
import { payloadForm } from "../../forms/payload.ts" with { type: "macro" }
import { FilterSelect } from "../../lists/Filters.tsx"
import { PagedList, usePaged } from "../../lists/PagedList.tsx"
import { May, Panel } from "../../parts/Page.tsx"
import { Badge, CodeBlock, Id, Time } from "../../parts/Values.tsx"
import type { Delivery, Endpoint } from "./endpoints.tsx"

const form = payloadForm("webhooks", "replayAll")
const words = {
  from: { label: "From (your time zone)", hint: "" },
  to: { label: "To (your time zone)", hint: "Empty: until now." },
  status: {
    label: "Which events",
    hint: "",
    options: { "": "Those that were given up", all: "All, delivered ones too" }
  }
}

const sentAgain = ({ replayed }: { readonly replayed: number }) =>
  replayed === 0
    ? "No event of this time is to be sent again."
    : `${counted(replayed, "event is", "events are")} sent again.`

const Replay = ({ endpoint }: { readonly endpoint: Endpoint }) => {
  const isPaused = endpoint.status === "paused"
  return (
    <details>
      <summary className="font-medium">Send the events of a time again</summary>
      <PayloadForm
        form={form}
        words={words}
        send={(payload) => api.webhooks.replayAll({ params: { endpoint_id: endpoint.id }, payload })}
        says={sentAgain}
        changes={["webhooks"]}
        submit="Send these events again"
        look="plain"
        disabled={isPaused}
        saved={sentAgain}
        note={isPaused && <p className="text-small text-muted">Resume the endpoint first.</p>}
        className="mt-3 space-y-3"
        question={({ status }) => ({
          title: "Send these events again?",
          confirm: "Send them again",
          children: (
            <p>
              <span className="wrap-anywhere">{endpoint.url}</span> gets{" "}
              {status === "all" ? "every event" : "the failed events"} of this time once more, with the same ids, at
              most 10,000.
            </p>
          )
        })}
      />
    </details>
  )
}

const statuses = ["pending", "delivered", "failed"] as const
const tones = { pending: "blue", delivered: "green", failed: "red" } as const

/** JSON text with line breaks, as it reads better. Anything else as it is. */
const readable = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

const Answers = ({ delivery: { answers, event_id } }: { readonly delivery: Delivery }) =>
  answers.length === 0 ? (
    <p className="text-muted">Nothing was sent yet.</p>
  ) : (
    <ol className="space-y-3">
      {answers.map(({ at, status, duration_ms, answer }, index) => (
        <li key={at} className="space-y-1">
          <p className="flex flex-wrap gap-x-3">
            <span className="font-medium">{status === null ? "no answer" : `HTTP ${status}`}</span>
            <span className="text-muted">
              <Time at={at} />, {duration(Math.round(duration_ms))}
            </span>
          </p>
          {answer !== "" && <CodeBlock label={`answer ${index + 1} to ${event_id}`} text={answer} />}
        </li>
      ))}
    </ol>
  )

const One = ({ endpoint, delivery }: { readonly endpoint: Endpoint; readonly delivery: Delivery }) => {
  const { status, type, attempts, created_at, next_attempt_at, event_id } = delivery
  const isPaused = endpoint.status === "paused"
  return (
    <details className="rounded border border-line">
      <summary className="px-3 py-2 hover:bg-hover">
        {/* Inline, because a flex box goes below the marker where it does not fit beside it. */}
        <span className="ml-1 space-x-3 align-middle leading-6">
          <Badge tone={tones[status]}>{status}</Badge> <span className="font-medium">{type}</span>{" "}
          <span className="text-muted">
            <Time at={created_at} /> · {counted(attempts, "attempt")}
            {next_attempt_at !== null && (
              <>
                {" "}
                · next <Time at={next_attempt_at} />
              </>
            )}
          </span>
        </span>
      </summary>
      <div className="space-y-4 border-t border-line p-3">
        <p className="text-muted">
          Event <Id id={event_id} what="the id of the event" />
        </p>
        <div className="grid grid-cols-1 gap-4 lg:grid-cols-2">
          <div className="min-w-0 space-y-2">
            <h3 className="font-medium">Request</h3>
            <CodeBlock label={`the body of ${event_id}`} text={readable(delivery.request.body)} />
          </div>
          <div className="min-w-0 space-y-2">
            <h3 className="font-medium">Answers</h3>
            <Answers delivery={delivery} />
          </div>
        </div>
        <May operation="webhooks.replay">
          <div className="space-y-2">
            <ActionButton
              send={() => api.webhooks.replay({ params: { endpoint_id: endpoint.id, delivery_id: delivery.id } })}
              says="The event is sent again."
              changes={["webhooks"]}
              disabled={isPaused}
            >
              Send this event again
            </ActionButton>
            {isPaused && <p className="text-small text-muted">Resume the endpoint first.</p>}
          </div>
        </May>
      </div>
    </details>
  )
}

export const Deliveries = ({ endpoint }: { readonly endpoint: Endpoint }) => {
  const [search] = useFilters()
  const status = statuses.find((one) => one === search["status"])
  const paged = usePaged(
    ["webhooks", "deliveries", endpoint.id, status ?? ""],
    (from) =>
      api.webhooks.deliveries({
        params: { endpoint_id: endpoint.id },
        query: { ...from, ...(status === undefined ? {} : { status }) }
      }),
    { pageSize: 25, changing: (items) => items.some((one) => one.status === "pending") }
  )
  return (
    <Panel
      title="Deliveries"
      actions={<FilterSelect name="status" label="Status of deliveries" any="Any status" options={statuses} />}
    >
      <div className="space-y-4">
        <PagedList
          paged={paged}
          filtered={
            status !== undefined && [
              `No delivery is ${status}.`,
              `/settings/webhooks/${endpoint.id}`,
              "Show all deliveries"
            ]
          }
          empty="Deliveries will be here, newest first."
          hint="The next event of a kind that you chose is the first. Deliveries are kept for 30 days."
        >
          {(items) => (
            <div className="space-y-2">
              {items.map((delivery) => (
                <One key={delivery.id} endpoint={endpoint} delivery={delivery} />
              ))}
            </div>
          )}
        </PagedList>
        <May operation="webhooks.replay">
          <Replay endpoint={endpoint} />
        </May>
      </div>
    </Panel>
  )
}
