/** The flags for what a key may do. Keys and allowances have them. */
import { KeyScopeRequest } from "../../../schema/nouns/ApiKey.ts"
import { Flag } from "effect/cli"
import { metadata } from "../terminal/flags.ts"
import { flagOf } from "../answers/operation.ts"
import { present } from "../answers/row.ts"

const { fields } = KeyScopeRequest

/** By the fields of `allow`. */
export const scopeFlags = {
  capabilities: flagOf(
    "allow-capability",
    fields.capabilities.ast,
    "a capability that it may run; repeat the flag for several"
  ),
  providers: flagOf(
    "allow-provider",
    fields.providers.ast,
    "a provider that its runs may call; repeat the flag for several"
  ),
  raw: flagOf("allow-raw", fields.raw.ast, "it may call raw endpoints, although --allow-capability names capabilities"),
  mint: flagOf("allow-mint", fields.mint.ast, "it may give allowances: keys with an amount of its money"),
  read_only: flagOf(
    "read-only",
    fields.read_only.ast,
    "reads and lookups only: nothing that acts outside, such as sending a message"
  ),
  read: flagOf(
    "allow-read",
    fields.read.ast,
    "own: it reads its own runs and budget only, the default of allowances and connected agents; organization: everything"
  ),
  labels: metadata(
    "a label that all of its runs have, as name=value, such as customer=acme; repeat the flag for several",
    "allow-label"
  ).pipe(Flag.map((labels) => (labels.length === 0 ? null : Object.fromEntries(labels)))),
  max_cost: flagOf("max-cost", fields.max_cost.ast, "the most that one of its runs may hold, in USD")
}

/** The scope in a request. Without a flag of it there is none. */
export const scopeOf = (given: Readonly<Record<string, unknown>>) => {
  const allow = present(given)
  return Object.keys(allow).length === 0 ? {} : { allow }
}
