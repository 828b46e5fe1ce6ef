/** Allowances of the organization, newest first. */
import type { AnswerOf } from "../../../client/Browser.ts"
import { api, queries } from "../../data/api.ts"
import { usePaged } from "../../lists/usePaged.ts"

export type Allowance = AnswerOf<"allowances", "get">

export const readAllowance = (allowance_id: string) => api.allowances.get({ params: { allowance_id } })

export const useAllowances = () =>
  usePaged(["keys", "allowances"], (from) => api.allowances.list({ query: { limit: 100, ...from } }))

/** Reads what shows allowances, their keys and the wallet again. */
export const allowancesChanged = async () => {
  await Promise.all([
    queries.invalidateQueries({ queryKey: ["keys"] }),
    queries.invalidateQueries({ queryKey: ["wallet"] })
  ])
}
