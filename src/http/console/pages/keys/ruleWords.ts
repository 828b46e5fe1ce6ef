/** The words of the rules of a key, and of an allowance. An empty field means that there is no such rule. */
import type { Wording } from "../../forms/Inputs.tsx"
import { useScopeNames } from "./keys.ts"

export const ruleWords = {
  name: { hint: "Says who uses it, such as the name of an agent." },
  budget: { hint: "Empty: no budget. A run that does not fit into it is blocked." },
  "budget.limit": { label: "Budget in USD" },
  "budget.period": {
    label: "Period of the budget",
    hint: "",
    options: [
      ["day", "per day"],
      ["week", "per week, from Monday"],
      ["month", "per calendar month"],
      ["total", "in total"]
    ]
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
    options: [
      ["", "Allowed, unless capabilities are chosen"],
      ["true", "Allowed"],
      ["false", "Not allowed"]
    ]
  },
  "allow.read": {
    label: "What it reads",
    hint: "",
    options: [
      ["", "By default: all, or own runs for allowances and connected apps"],
      ["own", "Its own runs and its budget"],
      ["organization", "Everything of the organization"]
    ]
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
