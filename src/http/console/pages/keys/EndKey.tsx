/** Replaces a key by a new one, or revokes it. Both ask first, because programs that still use the key fail. */
import { useState } from "react"
import { ConfirmAction } from "../../actions/Actions.tsx"
import { type AnswerOf, api } from "../../data/api.ts"
import { Select } from "../../parts/Field.tsx"
import { Panel } from "../../parts/Page.tsx"
import { isChangeable } from "./KeyState.tsx"
import type { ApiKey } from "./keys.ts"

export type NewKey = AnswerOf<"keys", "rotate">
interface EndKeyProps {
  readonly apiKey: ApiKey
  readonly onMade: (key: NewKey) => void
}

/** Seconds for which the old key still works, and what that means for programs. */
const graces: ReadonlyArray<readonly [string, string]> = [
  ["86400", "for one more day"],
  ["3600", "for one more hour"],
  ["604800", "for seven more days"],
  ["2592000", "for thirty more days"],
  ["0", "no longer: it stops at once"]
]
const graceWords = (seconds: string) => graces.find(([value]) => value === seconds)?.[1] ?? ""

const Rotate = ({ apiKey, onMade }: EndKeyProps) => {
  const [grace, setGrace] = useState("86400")
  return (
    <ConfirmAction
      send={() =>
        api.keys.rotate({ params: { key_id: apiKey.id }, payload: { grace_seconds: Number.parseInt(grace, 10) } })
      }
      after={onMade}
      word="Rotate the key"
      buttonLook="plain"
      title={`Rotate ${apiKey.display}?`}
    >
      <p>
        A new key is made with the same name, rules and budget. Both spend from the one budget. The old key works{" "}
        {graceWords(grace)}.
      </p>
      <Select
        label="The old key works"
        value={grace}
        onChange={(event) => setGrace(event.target.value)}
        options={graces}
      />
    </ConfirmAction>
  )
}

const Revoke = ({ apiKey: { id, name, display } }: { readonly apiKey: ApiKey }) => (
  <ConfirmAction
    send={() => api.keys.revoke({ params: { key_id: id } })}
    says="The key is revoked."
    changes={["keys"]}
    word="Revoke the key"
    title={`Revoke ${display}?`}
    cancel="Keep it"
  >
    <p>
      Calls with <span className="break-words font-medium">{name}</span> fail at once, and it can't be undone. Runs that
      have started go on.
    </p>
  </ConfirmAction>
)

/** `rotates`: whether the person may replace the key too. */
export const EndKey = ({ apiKey, onMade, rotates }: EndKeyProps & { readonly rotates: boolean }) => (
  <Panel title="Replace or end the key">
    <p className="mb-3 text-muted">
      Rotate it if programs go on with a new key. Revoke it if nothing may use it any more, such as after a leak.
    </p>
    <div className="flex flex-wrap items-start gap-2">
      {rotates && isChangeable(apiKey) && <Rotate apiKey={apiKey} onMade={onMade} />}
      <Revoke apiKey={apiKey} />
    </div>
  </Panel>
)
