/** The API keys of an organization, without secrets. An operator may revoke one. */
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import type { AnswerOf } from "../../../../client/Browser.ts"
import { api } from "../../../data/api.ts"
import { operatorChanged } from "../../../data/operator.ts"
import { announce } from "../../../parts/Announcer.tsx"
import { Button } from "../../../parts/Button.tsx"
import { Panel } from "../../../parts/Page.tsx"
import { Time } from "../../../parts/Time.tsx"
import { Ask } from "../Ask.tsx"
import { SmallTable } from "../SmallTable.tsx"

type Detail = AnswerOf<"operatorOrganizations", "get">
type Key = Detail["keys"][number]

const Revoke = ({
  org_id,
  name,
  apiKey,
  onClose
}: {
  readonly org_id: string
  readonly name: string
  readonly apiKey: Key
  readonly onClose: () => void
}) => {
  const revoke = useMutation({
    mutationFn: () => api.operatorOrganizations.revokeKey({ params: { org_id, key_id: apiKey.id } }),
    onSuccess: () => {
      announce("The key is revoked.")
      operatorChanged()
      onClose()
    }
  })
  return (
    <Ask
      open
      danger
      title={`Revoke ${apiKey.display}?`}
      action="Revoke the key"
      busy={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate()}
      onClose={onClose}
    >
      <p>
        The key "{apiKey.name}" is of {name}. Calls with it fail at once, and it can't be restored.
      </p>
    </Ask>
  )
}

export const Keys = ({ detail }: { readonly detail: Detail }) => {
  const [asked, setAsked] = useState<Key | null>(null)
  return (
    <Panel title="API keys">
      <SmallTable
        label="API keys"
        rows={detail.keys}
        keyOf={({ id }) => id}
        none="No key was made yet."
        columns={[
          { title: "Name", cell: ({ name }) => name },
          { title: "Key", cell: ({ display }) => <code className="font-mono">{display}</code> },
          {
            title: "Last used",
            cell: ({ last_used_at }) => (last_used_at === null ? "never" : <Time at={last_used_at} />)
          },
          {
            title: "State",
            cell: (key) =>
              key.revoked_at === null ? (
                <Button onClick={() => setAsked(key)}>
                  Revoke…<span className="sr-only"> {key.name}</span>
                </Button>
              ) : (
                <span className="text-muted">
                  revoked <Time at={key.revoked_at} />
                </span>
              )
          }
        ]}
      />
      {asked !== null && (
        <Revoke org_id={detail.org_id} name={detail.name} apiKey={asked} onClose={() => setAsked(null)} />
      )}
    </Panel>
  )
}
