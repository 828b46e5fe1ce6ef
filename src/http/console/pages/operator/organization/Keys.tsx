/** The API keys of an organization, without secrets. An operator may revoke one. */
import { type AnswerOf, api } from "../../../data/api.ts"
import { columnsOf } from "../../../lists/nouns.tsx"
import { Time } from "../../../parts/Values.tsx"
import { Ask } from "../Ask.tsx"
import { TablePanel } from "../SmallTable.tsx"

type Detail = AnswerOf<"operatorOrganizations", "get">
type Key = Detail["keys"][number]

const Revoke = ({ detail: { name }, apiKey }: { readonly detail: Detail; readonly apiKey: Key }) => {
  return (
    <Ask
      send={() => api.operatorOrganizations.revokeKey({ params: { key_id: apiKey.id } })}
      says="The key is revoked."
      word="Revoke…"
      label={`Revoke… ${apiKey.name}`}
      look="danger"
      title={`Revoke ${apiKey.display}?`}
      confirm="Revoke the key"
    >
      <p>
        The key "{apiKey.name}" is of {name}. Calls with it fail at once, and it can't be restored.
      </p>
    </Ask>
  )
}

export const Keys = ({ detail }: { readonly detail: Detail }) => (
  <TablePanel
    title="API keys"
    label="API keys"
    rows={detail.keys}
    none="No key was made yet."
    columns={columnsOf("KeyOfOrganization", {
      revoked_at: (key) =>
        key.revoked_at === null ? (
          <Revoke detail={detail} apiKey={key} />
        ) : (
          <span className="text-muted">
            revoked <Time at={key.revoked_at} />
          </span>
        )
    })}
  />
)
