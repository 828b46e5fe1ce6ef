/** Sends the events of a time again: those that were given up, or all of them. */
import { ActionForm, textIn, useAction } from "../../actions/Actions.tsx"
import { api } from "../../data/api.ts"
import { counted } from "../../data/words.ts"
import { utcOf } from "../../forms/draft.ts"
import { Field, Select } from "../../parts/Field.tsx"
import type { Endpoint } from "./endpoints.tsx"

const wantedIn = (form: FormData) => {
  const to = textIn(form, "to")
  return {
    from: utcOf(textIn(form, "from")),
    to: to === "" ? null : utcOf(to),
    status: textIn(form, "which") === "all" ? ("all" as const) : ("failed" as const)
  }
}

const sentAgain = (replayed: number) =>
  replayed === 0
    ? "No event of this time is to be sent again."
    : `${counted(replayed, "event is", "events are")} sent again.`

export const Replay = ({ endpoint }: { readonly endpoint: Endpoint }) => {
  const replay = useAction(
    (form: FormData) => api.webhooks.replayAll({ params: { endpoint_id: endpoint.id }, payload: wantedIn(form) }),
    { says: ({ replayed }) => sentAgain(replayed), changes: ["webhooks"] }
  )
  const isPaused = endpoint.status === "paused"
  return (
    <details>
      <summary className="font-medium">Send the events of a time again</summary>
      <ActionForm
        action={replay}
        submit="Send these events again"
        look="plain"
        disabled={isPaused}
        saved={replay.data !== undefined && sentAgain(replay.data.replayed)}
        note={isPaused && <p className="text-small text-muted">Resume the endpoint first.</p>}
        className="mt-3 space-y-3"
        question={(form) => ({
          title: "Send these events again?",
          confirm: "Send them again",
          children: (
            <p>
              <span className="wrap-anywhere">{endpoint.url}</span> gets{" "}
              {wantedIn(form).status === "all" ? "every event" : "the failed events"} of this time once more, with the
              same ids, at most 10,000.
            </p>
          )
        })}
      >
        <div className="flex flex-wrap items-start gap-3">
          <Field label="From (your time zone)" name="from" type="datetime-local" required className="w-full max-w-60" />
          <Field
            label="To (your time zone)"
            name="to"
            type="datetime-local"
            hint="Empty: until now."
            className="w-full max-w-60"
          />
          <Select
            label="Which events"
            name="which"
            options={[
              ["failed", "Those that were given up"],
              ["all", "All, delivered ones too"]
            ]}
            className="w-full max-w-60"
          />
        </div>
      </ActionForm>
    </details>
  )
}
