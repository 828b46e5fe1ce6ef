/** One webhook endpoint: its state, its events, its deliveries with request and answer, and its secret. */
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { onForm, textIn } from "../../account/forms.ts"
import { useParam } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { useMay } from "../../data/session.ts"
import { Secret } from "../../forms/Secret.tsx"
import { announce } from "../../parts/Announcer.tsx"
import { Button } from "../../parts/Button.tsx"
import { Id } from "../../parts/Copy.tsx"
import { FormProblem } from "../../parts/Field.tsx"
import { PageHead, Panel } from "../../parts/Page.tsx"
import { Loaded, Skeleton } from "../../parts/States.tsx"
import { Time } from "../../parts/Time.tsx"
import { Deliveries } from "./Deliveries.tsx"
import { EndpointFields } from "./EndpointForm.tsx"
import { EndpointState, Trouble } from "./EndpointState.tsx"
import { type Endpoint, kindsIn, useEndpoint, webhooksChanged } from "./endpoints.ts"
import { RemoveEndpoint, RotateSecret } from "./SecretAndRemoval.tsx"

const PauseOrResume = ({ endpoint }: { readonly endpoint: Endpoint }) => {
  const isPaused = endpoint.status === "paused"
  const change = useMutation({
    mutationFn: () =>
      api.webhooks.change({
        params: { endpoint_id: endpoint.id },
        payload: { status: isPaused ? "active" : "paused" }
      }),
    onSuccess: async ({ status }) => {
      announce(status === "paused" ? "The endpoint is paused." : "The endpoint is active.")
      await webhooksChanged()
    }
  })
  return (
    <>
      <FormProblem error={change.error} />
      <Button busy={change.isPending} onClick={() => change.mutate()}>
        {isPaused ? "Resume the endpoint" : "Pause the endpoint"}
      </Button>
    </>
  )
}

const Change = ({ endpoint }: { readonly endpoint: Endpoint }) => {
  const change = useMutation({
    mutationFn: (form: FormData) =>
      api.webhooks.change({
        params: { endpoint_id: endpoint.id },
        payload: { url: textIn(form, "url").trim(), events: kindsIn(form) }
      }),
    onSuccess: async () => {
      announce("The endpoint is saved.")
      await webhooksChanged()
    }
  })
  return (
    <Panel title="Address and events">
      <form onSubmit={onForm((form) => change.mutate(form))} className="space-y-5">
        <EndpointFields url={endpoint.url} events={endpoint.events} error={change.error} />
        <FormProblem error={change.error} />
        {change.isSuccess && <p className="text-green">Saved. The next event obeys it.</p>}
        <Button type="submit" busy={change.isPending}>
          Save the endpoint
        </Button>
      </form>
    </Panel>
  )
}

const Manage = ({
  endpoint,
  onSecret
}: {
  readonly endpoint: Endpoint
  readonly onSecret: (secret: string) => void
}) => (
  <>
    <Change endpoint={endpoint} />
    <Panel title="Secret and removal">
      {endpoint.previous_secret_until !== null && (
        <p className="mb-3 text-muted">
          Webhooks are signed with the previous secret too, until <Time at={endpoint.previous_secret_until} />.
        </p>
      )}
      <div className="flex flex-wrap items-start gap-2">
        <RotateSecret endpoint={endpoint} onSecret={onSecret} />
        <RemoveEndpoint endpoint={endpoint} />
      </div>
    </Panel>
  </>
)

const Shown = ({ endpoint }: { readonly endpoint: Endpoint }) => {
  const may = useMay("admin")
  // It is shown only once, so it stays here when the endpoint is read again.
  const [secret, setSecret] = useState<string | null>(null)
  return (
    <>
      <PageHead title="Webhook endpoint" actions={may && <PauseOrResume endpoint={endpoint} />}>
        <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
          <span className="wrap-anywhere text-text">{endpoint.url}</span>
          <EndpointState endpoint={endpoint} />
          <Id id={endpoint.id} what="the endpoint's id" />
        </div>
      </PageHead>
      <div className="grid grid-cols-1 gap-6">
        {secret !== null && (
          <Secret
            title="This is the new secret. It is shown only now: store it where your endpoint reads it."
            label="the new webhook secret"
            text={secret}
            done="I have stored the new secret"
            onStored={() => setSecret(null)}
          />
        )}
        <Trouble endpoint={endpoint} />
        <Deliveries endpoint={endpoint} />
        {may ? (
          <Manage endpoint={endpoint} onSecret={setSecret} />
        ) : (
          <p className="text-muted">An owner or an admin of the organization can change, pause and replay.</p>
        )}
      </div>
    </>
  )
}

const EndpointPage = () => {
  const query = useEndpoint(useParam("endpoint_id"))
  if (query.data !== undefined) return <Shown key={query.data.id} endpoint={query.data} />
  return (
    <>
      <PageHead title="Webhook endpoint" />
      <Loaded query={query} skeleton={<Skeleton lines={8} height={24} />}>
        {() => null}
      </Loaded>
    </>
  )
}

export default EndpointPage
