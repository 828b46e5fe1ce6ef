/** API keys, allowances, and the words of their rules. An empty field means that there is no such rule. */
import { type AnswerOf, api, useRead } from "../../data/api.ts"
import { useCapabilities } from "../../data/lists.ts"
import { useMay, useSession } from "../../data/session.ts"
import type { Wording } from "../../forms/Inputs.tsx"
import { usePaged } from "../../lists/PagedList.tsx"
import { useProviders } from "../catalog/useCatalog.ts"

export type ApiKey = AnswerOf<"keys", "get">
type Named = readonly [value: string, words: string]

export const useKey = (key_id: string) => useRead(["keys", "one", key_id], () => api.keys.get({ params: { key_id } }))

/** Whether the person may end a key: its creator may, too. */
export const useMayEnd = ({ created_by }: ApiKey): boolean => {
  const session = useSession()
  return useMay("keys.change") || session?.user.id === created_by
}

/** The names of capabilities and providers. Null until both lists are there. */
export const useScopeNames = () => {
  const capabilities = useCapabilities().data?.map(({ capability }): Named => [capability, capability])
  const providers = useProviders().data?.map(({ provider, title }): Named => [provider, title])
  return capabilities === undefined || providers === undefined
    ? { capabilities: null, providers: null }
    : { capabilities, providers }
}
export type Allowance = AnswerOf<"allowances", "get">

export const useAllowance = (allowance_id: string, options: { readonly placeholderData?: Allowance } = {}) =>
  useRead(["keys", "allowance", allowance_id], () => api.allowances.get({ params: { allowance_id } }), options)

export const useAllowances = () =>
  usePaged(["keys", "allowances"], (from) => api.allowances.list({ query: from }), { pageSize: 100 })

/** The words of the rules of a key, and of an allowance. An empty field means that there is no such rule. */
export const ruleWords = {
  name: { hint: "Says who uses it, such as the name of an agent." },
  budget: { hint: "Empty: no budget. A run that does not fit into it is blocked." },
  "budget.limit": { label: "Budget in USD" },
  "budget.period": {
    label: "Period of the budget",
    hint: "",
    options: { day: "per day", week: "per week, from Monday", month: "per calendar month", total: "in total" }
  },
  expires_at: { label: "Works until (your time zone)", hint: "Empty: it does not expire." },
  amount: { label: "Amount in USD", hint: "It is held at once. What is unused returns." },
  allow: { hint: "A key with such limits can run and read, but change nothing else in the organization." },
  "allow.read_only": { label: "Reads and look-ups only" },
  "allow.mint": { label: "May give allowances" },
  "allow.max_cost": { label: "Most that one run may hold, in USD" },
  "allow.raw": {
    label: "Raw endpoints",
    hint: "",
    options: { "": "Allowed, unless capabilities are chosen", true: "Allowed", false: "Not allowed" }
  },
  "allow.read": {
    label: "What it reads",
    hint: "",
    options: {
      "": "By default: all, or own runs for allowances and connected apps",
      own: "Its own runs and its budget",
      organization: "Everything of the organization"
    }
  },
  "allow.labels": {
    label: "Labels of all its runs",
    hint: 'JSON, such as {"customer": "acme"}. A request may not give them another value.'
  }
} as const satisfies Readonly<Record<string, Wording>>

/** A period alone is no budget. */
export const firstRules = { budget: { period: "day" } }

/** `what` is limited, such as "the key". */
export const useRuleWords = (what: string): Readonly<Record<string, Wording>> => {
  const { capabilities, providers } = useScopeNames()
  return {
    ...ruleWords,
    allow: { ...ruleWords.allow, label: `Limit what ${what} may run` },
    "allow.capabilities": { hint: "None chosen: every capability may run.", options: capabilities },
    "allow.providers": { hint: "None chosen: runs may call every provider.", options: providers }
  }
}
