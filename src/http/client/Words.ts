/** What pages and commands say of a noun where its columns are not enough. It loads no schema. */
import type { NounColumn } from "../../schema/Columns.ts"
import type { RemovedFactors } from "../../schema/nouns/Member.ts"
import type { OptOutsAdded } from "../../schema/nouns/OptOut.ts"
import type { Quote } from "../../schema/nouns/Quote.ts"
import type { ApiKey, KeyScope } from "../../schema/nouns/ApiKey.ts"

export type { FieldName, NounColumn } from "../../schema/Columns.ts"

/** The value of a field, or of one of an object in it, such as `rows.total`. */
export const valueAt = (one: unknown, name: string): unknown =>
  name
    .split(".")
    .reduce<unknown>(
      (value, field) => (typeof value === "object" && value !== null ? Reflect.get(value, field) : undefined),
      one
    )

/** What a column shows of one. */
export const shownOf = (one: unknown, { name, instead }: NounColumn): unknown =>
  valueAt(one, name) ?? (instead === null ? null : (valueAt(one, instead) ?? null))

/** A share from 0 to 1. */
export const percent = (share: number): string => `${(share * 100).toFixed(share > 0.995 || share < 0.1 ? 1 : 0)} %`

const only = (names: ReadonlyArray<string>, noun: string, namesMax: number): string =>
  names.length === 0 ? `no ${noun}` : `only ${names.length > namesMax ? `${names.length} ${noun}` : names.join(", ")}`

/** What a key or an allowance may do, such as "only email.find, reads only". More names than `namesMax` are counted. */
export const scopeWords = (
  { allow }: { readonly allow: typeof KeyScope.Encoded | null },
  namesMax = Number.POSITIVE_INFINITY
): string => {
  if (allow === null) return "everything"
  const { capabilities, providers, raw, read_only, max_cost, mint, read, labels } = allow
  const parts = [
    capabilities === undefined ? "" : only(capabilities, "capabilities", namesMax),
    providers === undefined ? "" : only(providers, "providers", namesMax),
    raw === undefined ? "" : raw ? "raw endpoints" : "no raw endpoints",
    read_only === true ? "reads only" : "",
    max_cost === undefined ? "" : `at most $${max_cost} per run`,
    mint === true ? "gives allowances" : "",
    read === "own" ? "sees its own runs" : "",
    labels === undefined
      ? ""
      : `labels ${Object.entries(labels)
          .map((one) => one.join("="))
          .join(" ")}`
  ]
  return parts.filter((part) => part !== "").join(", ") || "everything"
}

type Key = typeof ApiKey.Encoded

export const hasExpired = ({ expires_at }: Pick<Key, "expires_at">, now: number): boolean =>
  expires_at !== null && Date.parse(expires_at) <= now

/** What a key is now. The host of a connected agent renews an expired key. */
export const keyState = (
  key: Pick<Key, "revoked" | "expires_at" | "connected" | "allowance" | "replaced_by">,
  now: number
) => {
  if (key.revoked) return "revoked"
  if (key.connected && key.replaced_by === null) return "connected agent"
  if (hasExpired(key, now)) return "expired"
  if (key.replaced_by !== null) return "replaced"
  return key.allowance ? "allowance" : "in use"
}

/** What a quote says beside its amounts: whether the run waits, and what is left of the budgets that it counts in. */
export const quoteNotes = ({ approval_rule, budgets = [] }: typeof Quote.Encoded): ReadonlyArray<string> => [
  ...(approval_rule === undefined ? [] : [`The run waits for the yes of a member first (rule "${approval_rule}").`]),
  ...budgets.map(({ label, value, left, limit, period }) => {
    const whose = label === null ? "the API key" : `${label}=${value}`
    return `Budget of ${whose}: $${left} of $${limit} is left${period === "total" ? "" : ` in this ${period}`}.`
  })
]

/** What an addition to an opt-out list changed. */
export const addedSentence = ({ added, already, refused }: typeof OptOutsAdded.Encoded): string =>
  `Added ${added}. The list had ${already} already.${refused === 0 ? "" : ` ${counted(refused, "row has", "rows have")} no value that can be read:`}`

/** The rows of an import that have no value. */
export const refusalLines = ({ refused, refusals }: typeof OptOutsAdded.Encoded): ReadonlyArray<string> =>
  refused > refusals.length ? [...refusals, `and ${refused - refusals.length} more`] : refusals

/** A number with its noun: "1 run", "2,000 runs". */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString("en")} ${count === 1 ? one : many}`

/** What was removed of a person's ways to sign in. */
export const removedSentence = ({ id, second_factor, passkeys, sessions_ended }: RemovedFactors): string =>
  second_factor || passkeys > 0
    ? `Removed ${second_factor ? "the second factor and " : ""}${counted(passkeys, "passkey")} of ${id}, and ended ${counted(sessions_ended, "session")}.`
    : `${id} has no second factor and no passkeys. Nothing was changed.`
