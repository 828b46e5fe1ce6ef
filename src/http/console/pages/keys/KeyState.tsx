/** A key's name, its state in a word, and what of its budget is spent. */
import { hasExpired, keyState } from "../../../client/Words.ts"
import { present } from "../../data/time.ts"
import { Meter } from "../../lists/Facts.tsx"
import { RowLink, TextLink } from "../../parts/Page.tsx"
import { Badge, Money, Time, type Tone } from "../../parts/Values.tsx"
import type { ApiKey } from "./keys.ts"

/** The host of a connected agent renews an expired key. */
export const isUsable = (key: ApiKey): boolean => !key.revoked && (!hasExpired(key, present()) || key.connected)
/** A key that was replaced keeps its rules until it ends. */
export const isChangeable = (key: ApiKey): boolean =>
  isUsable(key) && !hasExpired(key, present()) && key.replaced_by === null

const tones: Readonly<Record<string, Tone>> = { revoked: "grey", expired: "grey", replaced: "amber" }

export const KeyState = ({ apiKey }: { readonly apiKey: ApiKey }) => {
  const state = keyState(apiKey, present())
  return <Badge tone={tones[state] ?? "green"}>{state}</Badge>
}

const periods = { day: "per day", week: "per week", month: "per month", total: "in total" } as const

export const BudgetBar = ({
  budget,
  none = "no budget"
}: {
  readonly budget: ApiKey["budget"]
  readonly none?: string
}) => {
  if (budget === null) return <span className="text-muted">{none}</span>
  return (
    <div className="space-y-1">
      <div>
        <Money amount={budget.spent} /> of <Money amount={budget.limit} /> {periods[budget.period]}
      </div>
      <Meter spent={budget.spent} limit={budget.limit} label="Part of the budget that is spent" />
      <div className="text-small text-muted">
        {budget.resets_at === null ? (
          "never resets"
        ) : (
          <>
            resets <Time at={budget.resets_at} />
          </>
        )}
      </div>
    </div>
  )
}
export const KeyLink = ({ id, name = id }: { readonly id: string; readonly name?: string }) => (
  <TextLink to={`/settings/keys/${id}`} className="break-words">
    {name}
  </TextLink>
)

export const KeyName = ({ id, name, display }: Pick<ApiKey, "id" | "name" | "display">) => (
  <>
    <RowLink to={`/settings/keys/${id}`} className="break-words">
      {name}
    </RowLink>
    <code className="block font-mono text-muted">{display}</code>
  </>
)
