/** The rules of an API key in requests and answers: expiry, budget and scope. */
import { Schema, SchemaGetter } from "effect"
import { scopeWords } from "../../../schema/nouns/ApiKey.ts"
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

const Names = Schema.Array(Schema.NonEmptyString.check(Schema.isMaxLength(200))).check(Schema.isMaxLength(200))

export const AllowRequest = Schema.Struct({
  capabilities: optional(Names.annotate({ description: scopeWords.capabilities })),
  providers: optional(Names.annotate({ description: scopeWords.providers })),
  raw: optional(Schema.Boolean.annotate({ description: scopeWords.raw })),
  read_only: optional(Schema.Boolean.annotate({ description: scopeWords.read_only })),
  max_cost: optional(Usd),
  mint: optional(Schema.Boolean.annotate({ description: scopeWords.mint })),
  read: optional(Schema.Literals(keyReadings).annotate({ description: scopeWords.read }))
}).annotate({ identifier: "KeyScopeRequest" })
export type AllowRequest = typeof AllowRequest.Type

export const ruleFields = {
  expires_at: optional(Timestamp),
  budget: optional(BudgetRequest),
  allow: optional(AllowRequest)
}
