/** Sends the events of a time again: those that were given up, or all of them. */
import { payloadForm } from "../../forms/payload.ts" with { type: "macro" }

import { api } from "../../data/api.ts"
import { counted } from "../../data/words.ts"
import { PayloadForm } from "../../forms/PayloadFields.tsx"
import type { Endpoint } from "./endpoints.tsx"

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

export const Replay = ({ endpoint }: { readonly endpoint: Endpoint }) => {
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
