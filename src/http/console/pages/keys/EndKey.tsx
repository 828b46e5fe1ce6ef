/** Replaces a key by a new one, or revokes it. Both ask first, because programs that still use the key fail. */
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { api } from "../../data/api.ts"
import { announce } from "../../parts/Announcer.tsx"
import { Button } from "../../parts/Button.tsx"
import { Confirm } from "../../parts/Dialog.tsx"
import { FormProblem, Select } from "../../parts/Field.tsx"
import { Panel } from "../../parts/Page.tsx"
import { isChangeable } from "./KeyState.tsx"
import { type ApiKey, keysChanged } from "./useKeys.ts"

export interface NewKey {
  readonly id: string
  readonly api_key: string
}
interface EndKeyProps {
  readonly apiKey: ApiKey
  /** Gets the key that replaces this one. */
  readonly onMade: (made: NewKey) => void
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
  const [asks, setAsks] = useState(false)
  const [grace, setGrace] = useState("86400")
  const rotate = useMutation({
    mutationFn: () =>
      api.keys.rotate({ params: { key_id: apiKey.id }, payload: { grace_seconds: Number.parseInt(grace, 10) } }),
    onSuccess: onMade,
    onSettled: () => setAsks(false)
  })
  return (
    <>
      <FormProblem error={rotate.error} />
      <Button onClick={() => setAsks(true)}>Rotate the key</Button>
      <Confirm
        open={asks}
        title={`Rotate ${apiKey.display}?`}
        action="Rotate the key"
        cancel="Cancel"
        busy={rotate.isPending}
        onClose={() => setAsks(false)}
        onConfirm={() => rotate.mutate()}
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
      </Confirm>
    </>
  )
}

const Revoke = ({ apiKey }: { readonly apiKey: ApiKey }) => {
  const [asks, setAsks] = useState(false)
  const revoke = useMutation({
    mutationFn: () => api.keys.revoke({ params: { key_id: apiKey.id } }),
    onSuccess: async () => {
      announce("The key is revoked.")
      await keysChanged()
    },
    onSettled: () => setAsks(false)
  })
  return (
    <>
      <FormProblem error={revoke.error} />
      <Button look="danger" onClick={() => setAsks(true)}>
        Revoke the key
      </Button>
      <Confirm
        open={asks}
        title={`Revoke ${apiKey.display}?`}
        action="Revoke the key"
        busy={revoke.isPending}
        onClose={() => setAsks(false)}
        onConfirm={() => revoke.mutate()}
      >
        <p>
          Calls with <span className="break-words font-medium">{apiKey.name}</span> fail at once, and it can't be
          undone. Runs that have started go on.
        </p>
      </Confirm>
    </>
  )
}

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
