/** Allowances of the organization, newest first. */
import { useQuery } from "@tanstack/react-query"
import { type AnswerOf, api } from "../../data/api.ts"
import { usePaged } from "../../lists/PagedList.tsx"

export type Allowance = AnswerOf<"allowances", "get">

export const useAllowance = (allowance_id: string, options: { readonly placeholderData?: Allowance } = {}) =>
  useQuery({
    queryKey: ["keys", "allowance", allowance_id],
    queryFn: () => api.allowances.get({ params: { allowance_id } }),
    ...options
  })

export const useAllowances = () =>
  usePaged(["keys", "allowances"], (from) => api.allowances.list({ query: { limit: 100, ...from } }))
