/** What a run would cost, and whether it would be admitted. */
import { Schema } from "effect"
import { budgetPeriods } from "../money/SpendDay.ts"
import { Control, RunError } from "../runs/Run.ts"
import { withColumns } from "../Columns.ts"
import { component, amount, amountAs, withExample } from "./Noun.ts"

export const QuotedOffer = component("QuotedOffer", {
  provider: Schema.String,
  account: Schema.optionalKey(
    Schema.Literal("own").annotate({ description: "the call is made through your own account at this provider" })
  ),
  price: amountAs("the most that this provider would charge for this input, in USD"),
  expected_success: Schema.NullOr(
    Schema.Number.check(Schema.isBetween({ minimum: 0, maximum: 1 })).annotate({
      description:
        "share of calls of this provider with this kind of input that returned a result, over 30 days; null if too few were measured"
    })
  ),
  chosen: Schema.Boolean.annotate({ description: "the run may call this provider; chosen ones come first, in order" }),
  excluded_because: Schema.NullOr(
    Schema.Literals([
      "max_cost",
      "max_total",
      "cannot_serve",
      "no_account",
      "unavailable",
      "not_pinned",
      "attempt_limit"
    ])
  )
}).pipe(
  withColumns({
    list: ["provider", "price", "expected_success", "excluded_because"],
    wide: ["expected_success"],
    kinds: { expected_success: "share" },
    titles: { price: "Price, at most", expected_success: "Success", excluded_because: "Chosen" },
    words: {
      excluded_because: {
        max_cost: "above the most that one call may cost",
        max_total: "above the most that all attempts may cost",
        cannot_serve: "can't serve this input",
        no_account: "the service has no account there",
        unavailable: "failing",
        not_pinned: "another provider is chosen",
        attempt_limit: "a run calls only the first ones"
      }
    }
  })
)

/** `label` and `value` are null for the budget of the API key. */
const QuotedBudget = component("QuotedBudget", {
  label: Schema.NullOr(Schema.String),
  value: Schema.NullOr(Schema.String),
  limit: amount,
  period: Schema.Literals(budgetPeriods),
  left: amountAs("what runs may still hold or charge in this period")
})

export const Quote = component("Quote", {
  currency: Schema.Literal("USD"),
  minimum: amountAs("the least that the run charges: 0.00, because a failure is free"),
  from: amountAs(
    "what the cheapest provider charges that the run may call; the cheapest two if their answers must agree"
  ),
  expected: amountAs("the average charge, by measured success of this kind of input"),
  maximum: amountAs("the most that the run charges"),
  hold: amountAs("what the run holds until it ends"),
  offers: Schema.Array(QuotedOffer),
  reused_from: Schema.optionalKey(
    Schema.String.annotate({ description: "the run whose result this run would take or wait for, at $0" })
  ),
  routing_reason: Schema.String,
  would: Schema.Literals(["run", "block"]).annotate({
    description: "block: the wallet or a limit would refuse the run now; error says why"
  }),
  approval_required: Schema.optionalKey(
    Schema.Literal(true).annotate({ description: "the run would wait for the yes of a member" })
  ),
  approval_rule: Schema.optionalKey(Schema.String.annotate({ description: "the name of the rule that asks for it" })),
  budgets: Schema.optionalKey(
    Schema.Array(QuotedBudget).annotate({
      description: "the budgets of the API key and of labels that the run counts in"
    })
  ),
  controls: Schema.Array(Control).annotate({ description: "the limits that would block the run" }),
  error: Schema.optionalKey(RunError.annotate({ description: "the error that the run would end with" }))
}).pipe(
  withExample({
    currency: "USD",
    minimum: "0.00",
    from: "0.003",
    expected: "0.002985",
    maximum: "0.0048",
    hold: "0.0048",
    offers: [
      { provider: "leadmagic", price: "0.003", expected_success: 0.97, chosen: true, excluded_because: null },
      { provider: "apify", price: "0.006", expected_success: null, chosen: false, excluded_because: "attempt_limit" }
    ],
    routing_reason: "best_value: leadmagic has the lowest price per expected success of 7",
    would: "run",
    controls: []
  })
)
