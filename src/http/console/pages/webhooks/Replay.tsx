/** Sends the events of a time again: those that were given up, or all of them. */
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { onForm, textIn } from "../../account/forms.ts"
import { api } from "../../data/api.ts"
import { announce } from "../../parts/Announcer.tsx"
import { Button } from "../../parts/Button.tsx"
import { Confirm } from "../../parts/Dialog.tsx"
import { Field, FormProblem, problemOf, Select } from "../../parts/Field.tsx"
import { type Endpoint, webhooksChanged } from "./endpoints.ts"

interface Wanted {
  readonly from: string
  readonly to: string | null
  readonly status: "failed" | "all"
}

/** A local time of the form as UTC. A text that is no time stays, and the service refuses it by its field. */
const utcOf = (local: string): string => {
  const time = new Date(local)
  return Number.isNaN(time.getTime()) ? local : time.toISOString()
}

const wantedIn = (form: FormData): Wanted => {
  const to = textIn(form, "to")
  return {
    from: utcOf(textIn(form, "from")),
    to: to === "" ? null : utcOf(to),
    status: textIn(form, "which") === "all" ? "all" : "failed"
  }
}

const counted = (replayed: number) =>
  replayed === 0
    ? "No event of this time is to be sent again."
    : `${replayed.toLocaleString("en")} ${replayed === 1 ? "event is" : "events are"} sent again.`

export const Replay = ({ endpoint }: { readonly endpoint: Endpoint }) => {
  const [wanted, setWanted] = useState<Wanted | null>(null)
  const replay = useMutation({
    mutationFn: (payload: Wanted) => api.webhooks.replayAll({ params: { endpoint_id: endpoint.id }, payload }),
    onSuccess: async ({ replayed }) => {
      announce(counted(replayed))
      await webhooksChanged()
    },
    onSettled: () => setWanted(null)
  })
  const isPaused = endpoint.status === "paused"
  return (
    <details>
      <summary className="font-medium">Send the events of a time again</summary>
      <form onSubmit={onForm((form) => setWanted(wantedIn(form)))} className="mt-3 space-y-3">
        <div className="flex flex-wrap items-start gap-3">
          <Field
            label="From (your time zone)"
            name="from"
            type="datetime-local"
            required
            problem={problemOf(replay.error, "from")}
            className="w-full max-w-60"
          />
          <Field
            label="To (your time zone)"
            name="to"
            type="datetime-local"
            hint="Empty: until now."
            problem={problemOf(replay.error, "to")}
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
        <FormProblem error={replay.error} />
        {replay.isSuccess && <p className="text-green">{counted(replay.data.replayed)}</p>}
        <Button type="submit" disabled={isPaused}>
          Send these events again
        </Button>
        {isPaused && <p className="text-small text-muted">Resume the endpoint first.</p>}
      </form>
      <Confirm
        open={wanted !== null}
        title="Send these events again?"
        action="Send them again"
        cancel="Cancel"
        busy={replay.isPending}
        onClose={() => setWanted(null)}
        onConfirm={() => {
          if (wanted !== null) replay.mutate(wanted)
        }}
      >
        <p>
          <span className="wrap-anywhere">{endpoint.url}</span> gets{" "}
          {wanted?.status === "all" ? "every event" : "the failed events"} of this time once more, with the same ids, at
          most 10,000.
        </p>
      </Confirm>
    </details>
  )
}
