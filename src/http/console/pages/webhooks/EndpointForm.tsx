/** Address and events of an endpoint. */
import { useContext } from "react"
import { Checkbox } from "../../forms/Checkbox.tsx"
import { Field, FormError, problemOf } from "../../parts/Field.tsx"
import { kinds } from "./endpoints.ts"

export const EndpointFields = ({ url, events }: { readonly url: string; readonly events: ReadonlyArray<string> }) => {
  const problem = problemOf(useContext(FormError), "events")
  return (
    <>
      <Field
        label="Address"
        name="url"
        type="url"
        required
        maxLength={2_000}
        defaultValue={url}
        placeholder="https://example.com/webhooks"
        hint="An https address that can be reached from the internet."
        className="max-w-xl"
      />
      <fieldset className="space-y-2">
        <legend className="mb-1 font-medium">Events</legend>
        {kinds.map(([kind, words]) => (
          <Checkbox
            key={kind}
            name="events"
            value={kind}
            defaultChecked={events.includes(kind)}
            label={
              <>
                <code className="font-mono text-small">{kind}</code> <span className="text-muted">{words}</span>
              </>
            }
          />
        ))}
        {problem !== null && <p className="text-small text-red">{problem}</p>}
      </fieldset>
    </>
  )
}
