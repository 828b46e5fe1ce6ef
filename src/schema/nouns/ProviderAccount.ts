/** An organization's own account at a provider. */
import { Schema } from "effect"
import { withColumns } from "../Columns.ts"
import { component, amountAs, text, time, timeAs, withExample } from "./Noun.ts"

export const ProviderAccount = component("ProviderAccount", {
  provider: Schema.String,
  last_four: text("The last four characters of the key."),
  base_url: Schema.NullOr(text("The address that is called instead of the provider's.")),
  fallback: Schema.Boolean.annotate({
    description: "If the provider refuses the key, this service's account is called at its own price."
  }),
  fee: amountAs("What a run through this account holds, and what it is charged if it delivers, in USD."),
  created_at: time,
  changed_at: timeAs("When the key was set.")
}).pipe(
  withColumns({
    list: ["provider", "last_four", "fallback", "fee", "changed_at", "base_url"],
    wide: ["base_url"],
    facts: ["last_four", "base_url", "fee", "changed_at"],
    titles: { last_four: "Key", base_url: "Address", fee: "Fee of a run", changed_at: "Set" },
    kinds: { last_four: "code", base_url: "code" }
  }),
  withExample({
    provider: "hunter",
    last_four: "9f2c",
    base_url: null,
    fallback: true,
    fee: "0.00",
    created_at: "2026-11-22T09:30:00.000Z",
    changed_at: "2026-11-22T09:30:00.000Z"
  })
)
