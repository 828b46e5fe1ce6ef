/** The contract of providers as the operator sees them: accounts, checks, health, what they earn and lose. */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { Losses, Margins, OperatorProviders } from "../../../schema/nouns/operator/Provider.ts"
import { periodQuery } from "../shapes/RunQuery.ts"
import { Digits, listQuery } from "../shapes/Common.ts"
import { orgFilter } from "./Fields.ts"
import { forOperators } from "./OperatorAuth.ts"

/** Longer ago, prices were others. */
export const daysMax = 366
export const daysDefault = 30
const Days = Digits.pipe(Schema.decodeTo(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: daysMax }))))

export class OperatorProvidersApi extends HttpApiGroup.make("operatorProviders").add(
  forOperators(
    "Read the providers",
    "Which accounts are configured and checked, health of 30 days, offers that cost more than their rate, and offers that are left alone."
  ).get("list", "/operator/providers", {
    success: OperatorProviders
  }),
  forOperators(
    "Read margins",
    "What runs of the last days charged and cost, by provider and by offer or endpoint; losses first. Where a provider reports no cost, the cost is the charge without the markup.",
    "admin margins"
  ).get("margins", "/operator/margins", {
    query: { days: Schema.optionalKey(Days) },
    success: Margins
  }),
  forOperators(
    "List losses",
    "Runs that cost more than they were charged, newest first, and the totals of all.",
    "admin losses"
  ).get("losses", "/operator/losses", {
    query: {
      ...listQuery,
      ...orgFilter,
      from: periodQuery.from
    },
    success: Losses
  })
) {}
