/** One webhook endpoint: its state, its events, its deliveries with request and answer, and its secret. */
import { useState } from "react"
import { ActionButton, ConfirmAction, textIn } from "../../actions/Actions.tsx"
import { useGo, useParam } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { PayloadForm } from "../../forms/PayloadFields.tsx"
import { Secret } from "../../forms/Secret.tsx"
import { payloadForm } from "../../forms/payload.ts" with { type: "macro" }
import { Select } from "../../parts/Field.tsx"
import { Allowed, LoadedPage, May, Page, Panel } from "../../parts/Page.tsx"
import { Id, Time } from "../../parts/Values.tsx"
import { Deliveries } from "./Deliveries.tsx"
import { type Endpoint, EndpointState, fieldWords, Trouble, useEndpoint } from "./endpoints.tsx"

/** Seconds for which webhooks are signed with both secrets. */
const graces: ReadonlyArray<readonly [string, string]> = [
  ["86400", "one day"],
  ["3600", "one hour"],
  ["604800", "seven days"],
  ["0", "no time: the old secret ends at once"]
]

interface OfEndpoint {
  readonly endpoint: Endpoint
}

const RotateSecret = ({ endpoint, onSecret }: OfEndpoint & { readonly onSecret: (secret: string) => void }) => (
  <ConfirmAction
    send={(form) =>
      api.webhooks.rotate({
        params: { endpoint_id: endpoint.id },
        payload: { grace_seconds: Number.parseInt(textIn(form, "grace"), 10) }
      })
    }
    after={({ secret }) => onSecret(secret)}
    changes={["webhooks"]}
    word="Rotate the secret"
    buttonLook="plain"
    title="Rotate the secret of this endpoint?"
  >
    <p>
      <span className="wrap-anywhere">{endpoint.url}</span> gets webhooks with a new signature. Store the new secret
      there before the old one ends.
    </p>
    <Select label="Webhooks are signed with both secrets for" name="grace" options={graces} />
  </ConfirmAction>
)

const RemoveEndpoint = ({ endpoint }: OfEndpoint) => {
  const go = useGo()
  return (
    <ConfirmAction
      send={() => api.webhooks.remove({ params: { endpoint_id: endpoint.id } })}
      says="The endpoint is removed."
      after={() => go("/settings/webhooks")}
      changes={["webhooks"]}
      word="Remove the endpoint"
      title="Remove this endpoint?"
      cancel="Keep it"
    >
      <p>
        <span className="wrap-anywhere">{endpoint.url}</span> gets no more events, and its deliveries are deleted. It
        can't be undone.
      </p>
    </ConfirmAction>
  )
}

const form = payloadForm("webhooks", "change", ["status"])

const Shown = ({ endpoint }: OfEndpoint) => {
  // It is shown only once, so it stays here when the endpoint is read again.
  const [secret, setSecret] = useState<string | null>(null)
  const isPaused = endpoint.status === "paused"
  const params = { endpoint_id: endpoint.id }
  return (
    <Page
      actions={
        <May operation="webhooks.change">
          <ActionButton
            send={() => api.webhooks.change({ params, payload: { status: isPaused ? "active" : "paused" } })}
            says={({ status }) => (status === "paused" ? "The endpoint is paused." : "The endpoint is active.")}
            changes={["webhooks"]}
          >
            {isPaused ? "Resume the endpoint" : "Pause the endpoint"}
          </ActionButton>
        </May>
      }
      lead={
        <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
          <span className="wrap-anywhere text-text">{endpoint.url}</span>
          <EndpointState endpoint={endpoint} />
          <Id id={endpoint.id} what="the endpoint's id" />
        </div>
      }
    >
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
      <Allowed operation="webhooks.change">
        <PayloadForm
          title="Address and events"
          form={form}
          words={fieldWords}
          before={endpoint}
          send={(payload) => api.webhooks.change({ params, payload })}
          says="The endpoint is saved."
          changes={["webhooks"]}
          submit="Save the endpoint"
          look="plain"
          saved="Saved. The next event obeys it."
          className="space-y-5"
        />
        <Panel title="Secret and removal">
          {endpoint.previous_secret_until !== null && (
            <p className="mb-3 text-muted">
              Webhooks are signed with the previous secret too, until <Time at={endpoint.previous_secret_until} />.
            </p>
          )}
          <div className="flex flex-wrap items-start gap-2">
            <RotateSecret endpoint={endpoint} onSecret={setSecret} />
            <RemoveEndpoint endpoint={endpoint} />
          </div>
        </Panel>
      </Allowed>
    </Page>
  )
}

const EndpointPage = () => (
  <LoadedPage query={useEndpoint(useParam("endpoint_id"))}>
    {(endpoint) => <Shown key={endpoint.id} endpoint={endpoint} />}
  </LoadedPage>
)

export default EndpointPage
