/** The rules of an API key in requests and answers: expiry, budget and scope. */
import { Schema, SchemaGetter } from "effect"
import { keyReadings } from "../../../schema/accounts/KeyAccess.ts"
import { Usd } from "../../../schema/money/Money.ts"
import { timeCharsMax } from "../../../schema/Period.ts"
import { budgetPeriods } from "../../../schema/money/SpendDay.ts"
import { optional } from "./Common.ts"

const isTimestamp = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/i.test(text) && !Number.isNaN(Date.parse(text))

/** A time in a request. */
export const Timestamp = Schema.String.check(
  Schema.makeFilter((text) => isTimestamp(text) || 'expected a time such as "2026-12-31T00:00:00Z"', {}, true),
  Schema.isMaxLength(timeCharsMax)
)
  .annotate({ format: "date-time" })
  .pipe(
    Schema.decodeTo(Schema.Date, {
      decode: SchemaGetter.transform((text: string) => new Date(text)),
      encode: SchemaGetter.transform((date: Date) => date.toISOString())
    })
  )

const Period = Schema.Literals(budgetPeriods).annotate({
  description: "in UTC: weeks start on Monday, months on the first; total never resets"
})

export const BudgetRequest = Schema.Struct({ limit: Usd, period: Period }).annotate({ identifier: "KeyBudgetRequest" })

export const Budget = Schema.Struct({
  limit: Schema.String,
  period: Schema.Literals(budgetPeriods),
  spent: Schema.String.annotate({ description: "charged in the current period" }),
  resets_at: Schema.NullOr(Schema.String).annotate({ description: "null for total" })
}).annotate({ identifier: "KeyBudget" })

const Names = Schema.Array(Schema.NonEmptyString.check(Schema.isMaxLength(200))).check(Schema.isMaxLength(200))

const described = {
  capabilities: "the only capabilities that may run; raw calls then need raw: true",
  providers: "the only providers that runs may call",
  raw: "whether raw endpoints may be called; the default is true without capabilities, and false with them",
  read_only: "reads and lookups only: no run that acts outside, such as sending a message; raw calls with GET only",
  max_cost: "the most that one run may hold; the cap of runs that set none",
  read: "whose runs it reads; allowances and agents: own",
  mint: "whether the key may give allowances, which are keys with an amount of its money"
}

export const AllowRequest = Schema.Struct({
  capabilities: optional(Names.annotate({ description: described.capabilities })),
  providers: optional(Names.annotate({ description: described.providers })),
  raw: optional(Schema.Boolean.annotate({ description: described.raw })),
  read_only: optional(Schema.Boolean.annotate({ description: described.read_only })),
  max_cost: optional(Usd),
  mint: optional(Schema.Boolean.annotate({ description: described.mint })),
  read: optional(Schema.Literals(keyReadings).annotate({ description: described.read }))
}).annotate({ identifier: "KeyScopeRequest" })
export type AllowRequest = typeof AllowRequest.Type

export const AllowView = Schema.Struct({
  capabilities: Schema.optionalKey(Schema.Array(Schema.String)),
  providers: Schema.optionalKey(Schema.Array(Schema.String)),
  raw: Schema.optionalKey(Schema.Boolean),
  read_only: Schema.optionalKey(Schema.Boolean),
  max_cost: Schema.optionalKey(Schema.String.annotate({ description: described.max_cost })),
  mint: Schema.optionalKey(Schema.Boolean.annotate({ description: described.mint })),
  read: Schema.optionalKey(Schema.Literals(keyReadings))
}).annotate({ identifier: "KeyScope" })

export const ruleFields = {
  expires_at: optional(Timestamp),
  budget: optional(BudgetRequest),
  allow: optional(AllowRequest)
}
