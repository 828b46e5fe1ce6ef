/** Formats API keys for a terminal. Loaded on demand, because it imports the API contract. */
import { Schema } from "effect"
import { ApiKey } from "../../api/accounts/Keys.ts"
import type { ScreenShape } from "../terminal/Screen.ts"
import { decoded, type Lines } from "../answers/show.ts"
import { table } from "../terminal/table.ts"
import { agoOf } from "../terminal/values.ts"

const Page = Schema.Struct({ items: Schema.Array(ApiKey), next_cursor: Schema.NullOr(Schema.String) })

type Key = typeof ApiKey.Type

const budgetText = ({ budget }: Key): string =>
  budget === null ? "-" : `$${budget.spent} of $${budget.limit}/${budget.period}`

export const scopeText = ({ allow }: Pick<Key, "allow">): string => {
  if (allow === null) return "everything"
  const parts = [
    allow.read_only === true ? "read-only" : "",
    allow.capabilities === undefined ? "" : allow.capabilities.join(" ") || "no capability",
    allow.providers === undefined ? "" : `through ${allow.providers.join(" ") || "no provider"}`,
    allow.raw === undefined ? "" : allow.raw ? "raw" : "not raw",
    allow.max_cost === undefined ? "" : `up to $${allow.max_cost} a run`,
    allow.mint === true ? "gives allowances" : "",
    allow.read === "own" ? "sees its own runs" : ""
  ]
  return parts.filter((part) => part !== "").join(", ") || "everything"
}

const stateOf = ({ revoked, expires_at, allowance, environment }: Key, now: number): string =>
  revoked
    ? "revoked"
    : expires_at !== null && Date.parse(expires_at) <= now
      ? "expired"
      : allowance
        ? "allowance"
        : environment

/** One key after a change. */
export const keyDetails = (text: string, screen: ScreenShape): Lines | null => {
  const key = decoded(ApiKey, text)
  if (key === null) return null
  return [
    screen.paint("bold", `${key.id}  ${key.name}`),
    `  budget   ${budgetText(key)}${key.budget?.resets_at ? `, resets at ${key.budget.resets_at}` : ""}`,
    `  scope    ${scopeText(key)}`,
    `  expires  ${key.expires_at ?? "never"}`
  ]
}

/** `now` in milliseconds since 1970. */
export const keyLines = (text: string, screen: ScreenShape, now: number): Lines | null => {
  const page = decoded(Page, text)
  if (page === null) return null
  if (page.items.length === 0) return ["There are no API keys."]
  const ago = (iso: string | null) => (iso === null ? "never" : `${agoOf(new Date(iso).getTime(), now)} ago`)
  const rows = table(
    page.items,
    [
      { title: "ID", of: (key) => key.id },
      { title: "NAME", of: (key) => key.name, least: 8 },
      { title: "KEY", of: (key) => key.display, dropped: 3 },
      { title: "STATE", of: (key) => stateOf(key, now) },
      { title: "BUDGET", of: budgetText, dropped: 5 },
      { title: "MAY RUN", of: scopeText, least: 12, dropped: 2 },
      { title: "USED", of: (key) => ago(key.last_used_at), dropped: 4 },
      { title: "CREATED", of: (key) => ago(key.created_at), dropped: 1 }
    ],
    screen.width,
    (line) => screen.paint("bold", line)
  )
  return page.next_cursor === null
    ? rows
    : [...rows, screen.paint("dim", `More: --cursor ${page.next_cursor}, or --all`)]
}
