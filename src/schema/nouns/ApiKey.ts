/** An API key: what it may run, and what its runs may spend. */
import { Schema } from "effect"
import { keyReadings } from "../accounts/KeyAccess.ts"
import { metadataAs } from "../runs/Metadata.ts"
import { Usd } from "../money/Money.ts"
import { budgetPeriods } from "../money/SpendDay.ts"
import { withColumns } from "../Columns.ts"
import { component, amount, amountAs, idOf, such, text, time, withExample } from "./Noun.ts"
import { optional } from "../optional.ts"

export const KeyBudget = component("KeyBudget", {
  limit: amount,
  period: Schema.Literals(budgetPeriods),
  spent: amountAs("charged in the current period"),
  resets_at: Schema.NullOr(time).annotate({ description: "null for total" })
})

const words = {
  capabilities: "the only capabilities that may run; raw calls then need raw: true",
  providers: "the only providers that runs may call",
  raw: "whether raw endpoints may be called; the default is true without capabilities, and false with them",
  read_only: "reads and lookups only: no run that acts outside, such as sending a message; raw calls with GET only",
  max_cost: "the most that one run may hold; the cap of runs that set none",
  read: "whose runs it reads; allowances and agents: own",
  labels: 'labels that all of its runs have, such as {"customer": "acme"}; a request may not give them another value',
  mint: "whether the key may give allowances, which are keys with an amount of its money"
}

const Names = Schema.Array(Schema.NonEmptyString.check(Schema.isMaxLength(200))).check(Schema.isMaxLength(200))
const Flag = Schema.Boolean
const Reading = Schema.Literals(keyReadings)

/** What a key may run, in a request. Null equals leaving the field out. */
export const KeyScopeRequest = component("KeyScopeRequest", {
  capabilities: optional(Names.annotate({ description: words.capabilities })),
  providers: optional(Names.annotate({ description: words.providers })),
  raw: optional(Flag.annotate({ description: words.raw })),
  read_only: optional(Flag.annotate({ description: words.read_only })),
  max_cost: optional(Usd),
  mint: optional(Flag.annotate({ description: words.mint })),
  read: optional(Reading.annotate({ description: words.read })),
  labels: optional(metadataAs(words.labels))
})
export type KeyScopeRequest = typeof KeyScopeRequest.Type

/** The same in an answer. */
export const KeyScope = component("KeyScope", {
  capabilities: Schema.optionalKey(Schema.Array(Schema.String)),
  providers: Schema.optionalKey(Schema.Array(Schema.String)),
  raw: Schema.optionalKey(Flag),
  read_only: Schema.optionalKey(Flag),
  max_cost: Schema.optionalKey(amountAs(words.max_cost)),
  mint: Schema.optionalKey(Flag.annotate({ description: words.mint })),
  read: Schema.optionalKey(Reading),
  labels: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
})

export const ApiKey = component("ApiKey", {
  id: idOf("key"),
  name: such("agent"),
  environment: Schema.Literals(["test", "live"]),
  display: such("rg_test_Q8bC…X4vF"),
  last_used_at: Schema.NullOr(time),
  revoked: Schema.Boolean,
  expires_at: Schema.NullOr(time),
  replaced_by: Schema.NullOr(text("Id of the key that rotation made. This key works until expires_at.")),
  connected: Schema.Boolean.annotate({
    description: "A connected agent holds it, and renews expires_at."
  }),
  allowance: Schema.Boolean.annotate({
    description:
      "It is the key of an allowance, and can be revoked but not changed. GET /v1/allowances/{id} has its money."
  }),
  budget: Schema.NullOr(KeyBudget),
  allow: Schema.NullOr(KeyScope),
  created_at: time,
  created_by: Schema.NullOr(Schema.String)
}).pipe(
  withColumns({
    list: ["id", "name", "display", "revoked", "budget", "allow", "last_used_at", "created_at"],
    terminal: ["id", "display", "created_at"],
    wide: ["created_at", "allow", "display", "last_used_at"],
    facts: [
      ...(["display", "id", "name", "revoked", "budget", "allow"] as const),
      ...(["last_used_at", "expires_at", "replaced_by", "created_at"] as const)
    ],
    titles: { display: "Key", revoked: "State", allow: "May run" },
    none: { last_used_at: "never", expires_at: "never" },
    kinds: { display: "code" }
  }),
  withExample({
    id: "key_01m81nzk5dej20zws915h61fdz",
    name: "agent",
    environment: "test",
    display: "rg_test_Q8bC…X4vF",
    last_used_at: null,
    revoked: false,
    expires_at: null,
    replaced_by: null,
    connected: false,
    allowance: false,
    budget: { limit: "5.00", period: "day", spent: "1.284", resets_at: "2026-11-23T00:00:00.000Z" },
    allow: { capabilities: ["email.find", "email.verify"], max_cost: "0.50" },
    created_at: "2026-11-22T09:30:00.000Z",
    created_by: "usr_01m81nzgvweh2hdt7twdxbzz25"
  })
)
