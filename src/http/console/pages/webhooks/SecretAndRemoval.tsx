/** Replaces the secret of an endpoint, or removes the endpoint. Both ask first. */
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { useGo } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { announce } from "../../parts/Announcer.tsx"
import { Button } from "../../parts/Button.tsx"
import { Confirm } from "../../parts/Dialog.tsx"
import { FormProblem, Select } from "../../parts/Field.tsx"
import { type Endpoint, webhooksChanged } from "./endpoints.ts"

/** Seconds for which webhooks are signed with both secrets. */
const graces: ReadonlyArray<readonly [string, string]> = [
  ["86400", "one day"],
  ["3600", "one hour"],
  ["604800", "seven days"],
  ["0", "no time: the old secret ends at once"]
]

export const RotateSecret = ({
  endpoint,
  onSecret
}: {
  readonly endpoint: Endpoint
  readonly onSecret: (secret: string) => void
}) => {
  const [asks, setAsks] = useState(false)
  const [grace, setGrace] = useState("86400")
  const rotate = useMutation({
    mutationFn: () =>
      api.webhooks.rotate({
        params: { endpoint_id: endpoint.id },
        payload: { grace_seconds: Number.parseInt(grace, 10) }
      }),
    onSuccess: async ({ secret }) => {
      onSecret(secret)
      await webhooksChanged()
    },
    onSettled: () => setAsks(false)
  })
  return (
    <>
      <FormProblem error={rotate.error} />
      <Button onClick={() => setAsks(true)}>Rotate the secret</Button>
      <Confirm
        open={asks}
        title="Rotate the secret of this endpoint?"
        action="Rotate the secret"
        cancel="Cancel"
        busy={rotate.isPending}
        onClose={() => setAsks(false)}
        onConfirm={() => rotate.mutate()}
      >
        <p>
          <span className="wrap-anywhere">{endpoint.url}</span> gets webhooks with a new signature. Store the new secret
          there before the old one ends.
        </p>
        <Select
          label="Webhooks are signed with both secrets for"
          value={grace}
          onChange={(event) => setGrace(event.target.value)}
          options={graces}
        />
      </Confirm>
    </>
  )
}

export const RemoveEndpoint = ({ endpoint }: { readonly endpoint: Endpoint }) => {
  const [asks, setAsks] = useState(false)
  const go = useGo()
  const remove = useMutation({
    mutationFn: () => api.webhooks.remove({ params: { endpoint_id: endpoint.id } }),
    onSuccess: async () => {
      announce("The endpoint is removed.")
      go("/settings/webhooks")
      await webhooksChanged()
    },
    onSettled: () => setAsks(false)
  })
  return (
    <>
      <FormProblem error={remove.error} />
      <Button look="danger" onClick={() => setAsks(true)}>
        Remove the endpoint
      </Button>
      <Confirm
        open={asks}
        title="Remove this endpoint?"
        action="Remove the endpoint"
        busy={remove.isPending}
        onClose={() => setAsks(false)}
        onConfirm={() => remove.mutate()}
      >
        <p>
          <span className="wrap-anywhere">{endpoint.url}</span> gets no more events, and its deliveries are deleted. It
          can't be undone.
        </p>
      </Confirm>
    </>
  )
}
