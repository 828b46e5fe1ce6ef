/** What a key is now in a word, what of its budget is spent, and what its scope allows in a sentence. */
import { present } from "../../data/clock.ts"
import { Meter } from "../../forms/Meter.tsx"
import { Badge, Money, Time } from "../../parts/Values.tsx"
import type { ApiKey } from "./useKeys.ts"

export const hasExpired = ({ expires_at }: ApiKey): boolean =>
  expires_at !== null && Date.parse(expires_at) <= present()

/** The host of a connected agent renews an expired key. */
export const isUsable = (key: ApiKey): boolean => !key.revoked && (!hasExpired(key) || key.connected)
/** A key that was replaced keeps its rules until it ends. */
export const isChangeable = (key: ApiKey): boolean => isUsable(key) && !hasExpired(key) && key.replaced_by === null

export const KeyState = ({ apiKey }: { readonly apiKey: ApiKey }) => {
  if (apiKey.revoked) return <Badge tone="grey">revoked</Badge>
  if (apiKey.connected && apiKey.replaced_by === null) return <Badge tone="green">connected agent</Badge>
  if (hasExpired(apiKey)) return <Badge tone="grey">expired</Badge>
  if (apiKey.replaced_by !== null) return <Badge tone="amber">replaced</Badge>
  return <Badge tone="green">in use</Badge>
}

const periods = { day: "per day", week: "per week", month: "per month", total: "in total" } as const

export const BudgetBar = ({ budget }: { readonly budget: ApiKey["budget"] }) => {
  if (budget === null) return <span className="text-muted">no budget</span>
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

const some = (names: ReadonlyArray<string>, noun: string) =>
  names.length === 1 ? `only ${names[0]}` : `only ${names.length} ${noun}`

/** Such as "only email.find, reads only". */
export const scopeWords = ({ allow }: Pick<ApiKey, "allow">): string => {
  if (allow === null) return "everything"
  const { capabilities, providers, raw, read_only, max_cost, mint, read } = allow
  const parts = [
    capabilities === undefined ? "" : some(capabilities, "capabilities"),
    providers === undefined ? "" : some(providers, "providers"),
    raw === undefined ? "" : raw ? "raw endpoints" : "no raw endpoints",
    read_only === true ? "reads only" : "",
    max_cost === undefined ? "" : `at most $${max_cost} per run`,
    mint === true ? "gives allowances" : "",
    read === "own" ? "sees its own runs" : ""
  ].filter((one) => one !== "")
  return parts.length === 0 ? "everything" : parts.join(", ")
}
