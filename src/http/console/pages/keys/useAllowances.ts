/** Allowances of the organization, newest first. */
import { type AnswerOf, api, useRead } from "../../data/api.ts"
import { usePaged } from "../../lists/PagedList.tsx"

export type Allowance = AnswerOf<"allowances", "get">

export const useAllowance = (allowance_id: string, options: { readonly placeholderData?: Allowance } = {}) =>
  useRead(["keys", "allowance", allowance_id], () => api.allowances.get({ params: { allowance_id } }), options)

export const useAllowances = () =>
  usePaged(["keys", "allowances"], (from) => api.allowances.list({ query: from }), { pageSize: 100 })
