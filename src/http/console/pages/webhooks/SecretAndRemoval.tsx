/** Replaces the secret of an endpoint, or removes the endpoint. Both ask first. */
import { ConfirmAction, textIn } from "../../actions/Actions.tsx"
import { useGo } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { Select } from "../../parts/Field.tsx"
import type { Endpoint } from "./endpoints.tsx"

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
}) => (
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

export const RemoveEndpoint = ({ endpoint }: { readonly endpoint: Endpoint }) => {
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
