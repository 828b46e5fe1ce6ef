/** The contract of usage: counts and charges of finished runs in groups. */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { listQuery, readsOwn } from "./shapes/Common.ts"
import { Wire } from "../../schema/Errors.ts"
import { periodQuery } from "./shapes/RunQuery.ts"
import { UsagePage } from "../../schema/nouns/Usage.ts"

export class UsageApi extends HttpApiGroup.make("usage").add(
  readsOwn(
    "Read usage",
    "Counts and charges of finished runs on whole days of the organization's time zone, in up to two groups. charged equals the settlements of these days in the ledger. failed counts every run that neither succeeded nor ended as no_match. reused counts the runs that took another run's result, and what that had cost. The default is the last 30 days as one total. With `Accept: text/csv` the answer is CSV; as one total or by day, its columns reused and saved say what reuse saved.",
    "usage"
  ).get("get", "/usage", {
    query: {
      ...listQuery,
      ...periodQuery,
      // It holds values of metadata, which are long.
      cursor: Schema.optionalKey(Schema.NonEmptyString.check(Schema.isMaxLength(8_000))),
      group_by: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(300)))
    },
    success: UsagePage,
    error: [Wire.service_unavailable]
  })
) {}
