/** The rules of an API key in requests and answers: expiry, budget and scope. */
import { Schema, SchemaGetter } from "effect"
import { KeyScopeRequest } from "../../../schema/nouns/ApiKey.ts"
import { Usd } from "../../../schema/money/Money.ts"
import { timeCharsMax } from "../../../schema/Period.ts"
import { budgetPeriods } from "../../../schema/money/SpendDay.ts"
import { optional } from "./Common.ts"
import { component } from "../../../schema/nouns/Noun.ts"

const isTimestamp = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/i.test(text) && !Number.isNaN(Date.parse(text))

/** A time in a request. */
export const Timestamp = Schema.String.annotate({ format: "date-time" })
  .check(
    Schema.makeFilter((text) => isTimestamp(text) || 'expected a time such as "2026-12-31T00:00:00Z"', {}, true),
    Schema.isMaxLength(timeCharsMax)
  )
  .pipe(
    Schema.decodeTo(Schema.Date, {
      decode: SchemaGetter.transform((text: string) => new Date(text)),
      encode: SchemaGetter.transform((date: Date) => date.toISOString())
    })
  )

const Period = Schema.Literals(budgetPeriods).annotate({
  description: "in the organization's time zone: weeks start on Monday, months on the first; total never resets"
})

export const BudgetRequest = component("KeyBudgetRequest", { limit: Usd, period: Period })

export const ruleFields = {
  expires_at: optional(Timestamp),
  budget: optional(BudgetRequest),
  allow: optional(KeyScopeRequest)
}
