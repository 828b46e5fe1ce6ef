/** The contract of what the operator's accounts at providers have left. Only operators may call it: customers see no balance. */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { Wire } from "../../../schema/Errors.ts"
import { Usd } from "../../../schema/money/Money.ts"
import { isDay } from "../../../schema/money/SpendDay.ts"
import { component, withExample } from "../../../schema/nouns/Noun.ts"
import { BillMatch } from "../../../schema/nouns/operator/Bill.ts"
import { ProviderCredits } from "../../../schema/nouns/operator/Credits.ts"
import { optional } from "../shapes/Common.ts"
import { Timestamp } from "../shapes/KeyRules.ts"
import { forOperators } from "./OperatorAuth.ts"

const Provider = Schema.NonEmptyString.check(Schema.isMaxLength(64))
const list = Schema.Struct({ items: Schema.Array(ProviderCredits) })

const SetCredits = component("SetProviderCreditsRequest", {
  balance: Schema.optionalKey(Usd).annotate({
    description: "What is left, of a prepaid package or of an account that can't be read. Calls count it down."
  }),
  unit: Schema.optionalKey(ProviderCredits.fields.unit),
  expires_at: optional(Timestamp),
  low_below: optional(Usd).annotate({ description: "The account is low below this amount. Null: only by its use." })
}).pipe(withExample({ low_below: "500.00" }))

const Day = Schema.String.annotate({ format: "date" }).check(
  Schema.makeFilter((text: string) => isDay(text) || 'must be a day such as "2026-11-21"')
)
/** Lines of one bill. The command sends more than a request over HTTP may have. */
const linesMax = 100_000

const Bill = component("MatchBillRequest", {
  provider: Provider,
  from: Day,
  to: Day.annotate({ description: "The last day." }),
  unit: Schema.optionalKey(ProviderCredits.fields.unit),
  lines: Schema.Array(
    Schema.Struct({ date: Day, amount: Usd, reference: optional(Schema.String.check(Schema.isMaxLength(200))) })
  ).check(Schema.isMaxLength(linesMax))
}).pipe(
  withExample({
    provider: "hunter",
    from: "2026-11-01",
    to: "2026-11-30",
    lines: [{ date: "2026-11-21", amount: "12.50" }]
  })
)

export class OperatorCreditsApi extends HttpApiGroup.make("operatorCredits")
  .add(
    forOperators(
      "List provider credits",
      "What each account at a provider has left, how long it lasts and when it expires. An empty account's offers are left out of routing.",
      "admin credits list"
    ).get("list", "/operator/credits", { success: list }),
    forOperators(
      "Set provider credits",
      "Sets a balance by hand, where the provider has no call that reads it, or below which amount the account is low.",
      "admin credits set"
    ).put("set", "/operator/credits/:provider", {
      params: { provider: Provider },
      payload: SetCredits,
      success: ProviderCredits,
      error: [Wire.not_found]
    }),
    forOperators(
      "Read provider credits now",
      "Makes the reading of one account due now, or of all. A worker reads it within seconds; the answer is the state before.",
      "admin credits refresh"
    ).post("refresh", "/operator/credits/refresh", {
      payload: component("RefreshProviderCreditsRequest", { provider: optional(Provider) }),
      success: list,
      error: [Wire.not_found]
    })
  )
  .add(
    forOperators(
      "Compare a provider's bill",
      "Compares the lines of a bill with what runs of these days have cost: by run where a line's reference is a run's id, otherwise by day. Nothing is stored.",
      "admin bills match"
    ).post("matchBill", "/operator/bills/match", {
      payload: Bill,
      success: BillMatch,
      error: [Wire.not_found]
    })
  ) {}
