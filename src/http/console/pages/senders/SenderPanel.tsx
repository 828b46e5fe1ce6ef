/** One domain: its DNS record, and whether the service found it. */
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import type { AnswerOf } from "../../../client/Browser.ts"
import { api } from "../../data/api.ts"
import { announce } from "../../parts/Announcer.tsx"
import { Button } from "../../parts/Button.tsx"
import { Id } from "../../parts/Copy.tsx"
import { Confirm } from "../../parts/Dialog.tsx"
import { FormProblem } from "../../parts/Field.tsx"
import { Panel } from "../../parts/Page.tsx"
import { Badge } from "../../parts/Status.tsx"
import { Time } from "../../parts/Time.tsx"

export type Sender = AnswerOf<"senders", "list">["items"][number]

const Remove = ({ sender, onChanged }: { readonly sender: Sender; readonly onChanged: () => Promise<void> }) => {
  const [asks, setAsks] = useState(false)
  const remove = useMutation({
    mutationFn: () => api.senders.remove({ params: { sender_id: sender.id } }),
    onSuccess: async () => {
      announce(`${sender.domain} is removed.`)
      await onChanged()
    },
    onSettled: () => setAsks(false)
  })
  return (
    <>
      <FormProblem error={remove.error} />
      <Button look="danger" onClick={() => setAsks(true)}>
        Remove the domain
      </Button>
      <Confirm
        open={asks}
        title={`Remove ${sender.domain}?`}
        action="Remove the domain"
        busy={remove.isPending}
        onClose={() => setAsks(false)}
        onConfirm={() => remove.mutate()}
      >
        <p>Runs that send from its addresses are refused at once. Adding it again needs a new DNS record.</p>
      </Confirm>
    </>
  )
}

const Verify = ({ sender, onChanged }: { readonly sender: Sender; readonly onChanged: () => Promise<void> }) => {
  const verify = useMutation({
    mutationFn: () => api.senders.verify({ params: { sender_id: sender.id } }),
    onSuccess: async () => {
      announce(`${sender.domain} is verified.`)
      await onChanged()
    }
  })
  return (
    <>
      <FormProblem error={verify.error} />
      <Button busy={verify.isPending} onClick={() => verify.mutate()}>
        Verify the DNS record
      </Button>
    </>
  )
}

export const SenderPanel = ({
  sender,
  may,
  onChanged
}: {
  readonly sender: Sender
  readonly may: boolean
  readonly onChanged: () => Promise<void>
}) => (
  <Panel
    title={sender.domain}
    className="break-words"
    actions={
      <Badge tone={sender.status === "verified" ? "green" : "amber"}>
        {sender.status === "verified" ? "verified" : "waits for its DNS record"}
      </Badge>
    }
  >
    <dl className="grid grid-cols-[max-content_1fr] gap-x-6 gap-y-2">
      <dt className="text-muted">Type</dt>
      <dd>{sender.record.type}</dd>
      <dt className="text-muted">Name</dt>
      <dd>
        <Id id={sender.record.name} what="the name of the DNS record" />
      </dd>
      <dt className="text-muted">Value</dt>
      <dd>
        <Id id={sender.record.value} what="the value of the DNS record" />
      </dd>
      {sender.verified_at !== null && (
        <>
          <dt className="text-muted">Verified</dt>
          <dd>
            <Time at={sender.verified_at} />
          </dd>
        </>
      )}
    </dl>
    {sender.sandbox === true && (
      <p className="mt-3 text-muted">In the sandbox verification succeeds without a DNS look-up.</p>
    )}
    {may && (
      <div className="mt-4 flex flex-wrap items-start gap-2">
        {sender.status === "pending" && <Verify sender={sender} onChanged={onChanged} />}
        <Remove sender={sender} onChanged={onChanged} />
      </div>
    )}
  </Panel>
)
