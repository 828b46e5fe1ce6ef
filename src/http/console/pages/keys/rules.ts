/** Reads the form of a key's rules as the API takes them. */
import { textIn } from "../../actions/useAction.ts"
import type { ApiKey } from "./useKeys.ts"

const periods = ["day", "week", "month", "total"] as const

const readings = ["own", "organization"] as const

const namesIn = (form: FormData, name: string) => form.getAll(name).filter((one) => typeof one === "string")

/** The end of the chosen day. */
const lastMoment = (day: string) => `${day}T23:59:59Z`

/** Null if the form sets no rule of the scope. */
export const scopeIn = (form: FormData) => {
  const [capabilities, providers] = [namesIn(form, "allow.capabilities"), namesIn(form, "allow.providers")]
  const [raw, max_cost] = [textIn(form, "raw"), textIn(form, "allow.max_cost").trim()]
  const read = readings.find((one) => one === textIn(form, "read"))
  const scope = {
    ...(capabilities.length === 0 ? {} : { capabilities }),
    ...(providers.length === 0 ? {} : { providers }),
    ...(raw === "" ? {} : { raw: raw === "allowed" }),
    ...(textIn(form, "read_only") === "" ? {} : { read_only: true }),
    ...(textIn(form, "mint") === "" ? {} : { mint: true }),
    ...(read === undefined ? {} : { read }),
    ...(max_cost === "" ? {} : { max_cost })
  }
  return Object.keys(scope).length === 0 ? null : scope
}

/** What the form says, as the API takes it. Budget and day are left out if they did not change: a day keeps its exact time. */
export const rulesIn = (form: FormData, before: ApiKey | null) => {
  const limit = textIn(form, "budget.limit").trim()
  const period = periods.find((one) => one === textIn(form, "period")) ?? "day"
  const day = textIn(form, "expires_at")
  const isSameBudget = limit === (before?.budget?.limit ?? "") && (limit === "" || period === before?.budget?.period)
  const isSameDay = day === (before?.expires_at?.slice(0, 10) ?? "")
  return {
    name: textIn(form, "name"),
    ...(isSameBudget ? {} : { budget: limit === "" ? null : { limit, period } }),
    ...(isSameDay ? {} : { expires_at: day === "" ? null : lastMoment(day) }),
    allow: scopeIn(form)
  }
}

/** Equal for scopes that allow the same. */
const scopeText = (allow: ApiKey["allow"]) =>
  allow === null
    ? ""
    : JSON.stringify([
        allow.capabilities ?? [],
        allow.providers ?? [],
        allow.raw ?? null,
        allow.read_only ?? false,
        allow.mint ?? false,
        allow.read ?? "",
        allow.max_cost ?? ""
      ])

/** Only what somebody changed, so that two people who change different rules don't undo each other's. */
export const changesIn = (form: FormData, before: ApiKey) => {
  const { name, allow, ...rest } = rulesIn(form, before)
  return {
    ...rest,
    ...(name === before.name ? {} : { name }),
    ...(scopeText(allow) === scopeText(before.allow) ? {} : { allow })
  }
}
