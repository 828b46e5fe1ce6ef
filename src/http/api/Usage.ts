/** The contract of usage: counts and charges of finished runs in groups. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { operation } from "./shapes/Rights.ts"
import { Wire } from "../../schema/Errors.ts"
import { Auth, listQuery } from "./shapes/Common.ts"
import { periodQuery } from "./shapes/RunQuery.ts"
import { amountText, withExample } from "../../schema/nouns/Noun.ts"

const value = Schema.optionalKey(Schema.NullOr(Schema.String))

/** Members of `UsageItem` that name its group come first. */
export const UsageItem = Schema.StructWithRest(
  Schema.Struct({
    day: Schema.optionalKey(Schema.String),
    capability: value,
    provider: value,
    key: value,
    endpoint: value,
    status: Schema.optionalKey(Schema.String),
    /** Only in the group of a label's values beyond the limit of a day. */
    others: Schema.optionalKey(Schema.Literal(true)),
    runs: Schema.Int,
    succeeded: Schema.Int,
    no_match: Schema.Int,
    failed: Schema.Int,
    charged: amountText
  }),
  [Schema.Record(Schema.TemplateLiteral(["metadata.", Schema.String]), Schema.NullOr(Schema.String))]
)
  .annotate({ identifier: "UsageItem" })
  .pipe(
    withExample({
      day: "2026-11-21",
      "metadata.campaign": "spring",
      runs: 1200,
      succeeded: 1000,
      no_match: 150,
      failed: 50,
      charged: "7.2185"
    })
  )
export type UsageItem = typeof UsageItem.Type

export const UsagePage = Schema.Struct({
  items: Schema.Array(UsageItem),
  /** Runs on these days that took another run's result, and what it had cost. Absent if there was none. */
  reused: Schema.optionalKey(Schema.Struct({ runs: Schema.Int, saved: amountText })),
  next_cursor: Schema.NullOr(Schema.String)
})

export class UsageApi extends HttpApiGroup.make("usage")
  .add(
    HttpApiEndpoint.get("get", "/usage", {
      query: {
        ...listQuery,
        ...periodQuery,
        // It holds values of metadata, which are long.
        cursor: Schema.optionalKey(Schema.NonEmptyString.check(Schema.isMaxLength(8_000))),
        group_by: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(300)))
      },
      success: UsagePage,
      error: [Wire.invalid_request, Wire.service_unavailable]
    }).annotateMerge(
      operation(
        { role: "viewer", keys: "reads", own: true, command: "usage" },
        "Read usage",
        "Counts and charges of finished runs on whole days of the organization's time zone, in up to two groups. charged equals the settlements of these days in the ledger. failed counts every run that neither succeeded nor ended as no_match. reused counts the runs that took another run's result, and what that had cost. The default is the last 30 days as one total. With `Accept: text/csv` the answer is CSV; as one total or by day, its columns reused and saved say what reuse saved."
      )
    )
  )
  .middleware(Auth) {}
