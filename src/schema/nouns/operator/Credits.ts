/** What the operator's accounts at providers have left. Customers never see it. */
import { Schema } from "effect"
import { creditsStates } from "../../catalog/Credits.ts"
import { billDifferences } from "../../money/Bill.ts"
import { withColumns } from "../../Columns.ts"
import { component, amount, amountAs, dayAs, nullableText, provider, time, timeAs } from "../Noun.ts"

export const ProviderCredits = component("ProviderCredits", {
  provider,
  state: Schema.Literals(creditsStates).annotate({
    description: "low: less than three days at the present use, or less than low_below. expiring: within seven days."
  }),
  unit: Schema.Literals(["credit", "USD"]),
  balance: Schema.NullOr(amountAs("In the unit, as it was read or set last. Null before the first reading.")),
  reserved: amountAs("What calls hold, and have spent since the balance was read."),
  available: Schema.NullOr(amount),
  burn_per_day: amountAs("The use of the last days."),
  days_left: Schema.NullOr(Schema.Number),
  runs_out_at: Schema.NullOr(timeAs("When nothing is left at the present use.")),
  expires_at: Schema.NullOr(time),
  renews: Schema.Boolean.annotate({ description: "The plan gives new credits at expires_at." }),
  low_below: Schema.NullOr(amount),
  source: Schema.Literals(["read", "set"]).annotate({ description: "Read at the provider, or set by hand." }),
  read_at: Schema.NullOr(time),
  read_error: nullableText.annotate({ description: "Why the last reading failed." })
}).pipe(
  withColumns({
    list: [
      "provider",
      "state",
      "balance",
      "unit",
      "reserved",
      "burn_per_day",
      "days_left",
      "runs_out_at",
      "expires_at",
      "read_at",
      "read_error"
    ],
    titles: { burn_per_day: "Used a day", runs_out_at: "Runs out", expires_at: "Expires", read_at: "Last read" },
    kinds: { balance: "count", reserved: "count", burn_per_day: "count", unit: "text" },
    none: { balance: "not read yet" },
    words: { state: { ok: "ok", low: "low", empty: "empty", expiring: "expires soon", unknown: "unknown" } }
  })
)

export const BillDifference = Schema.Struct({
  kind: Schema.Literals(billDifferences),
  day: dayAs(),
  run_id: nullableText.annotate({ description: "The run that the line names. Null for a day." }),
  billed: amount,
  recorded: amount
}).pipe(
  withColumns({
    list: ["day", "run_id", "kind", "billed", "recorded"],
    titles: { kind: "Difference" },
    kinds: { billed: "count", recorded: "count" }
  })
)

export const BillMatch = component("BillMatch", {
  provider,
  unit: ProviderCredits.fields.unit,
  billed: amount,
  recorded: amountAs("What runs that the provider delivered have cost, in the unit of the bill."),
  differences: Schema.Array(BillDifference)
})
