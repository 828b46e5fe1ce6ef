/** Counts and charges of finished runs in groups. */
import { Schema } from "effect"
import { withColumns } from "../Columns.ts"
import { amount, count, nullableText, withExample } from "./Noun.ts"

const value = Schema.optionalKey(Schema.NullOr(Schema.String))

/** Members that name its group come first. */
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
    runs: count,
    succeeded: count,
    no_match: count,
    failed: count,
    charged: amount
  }),
  [Schema.Record(Schema.TemplateLiteral(["metadata.", Schema.String]), Schema.NullOr(Schema.String))]
)
  .annotate({ identifier: "UsageItem" })
  .pipe(
    withColumns({
      list: ["runs", "succeeded", "no_match", "failed", "charged"],
      wide: ["no_match", "succeeded", "failed"]
    }),
    withExample({
      ...{ day: "2026-11-21", "metadata.campaign": "spring" },
      ...{ runs: 1200, succeeded: 1000, no_match: 150, failed: 50, charged: "7.2185" }
    })
  )

/** Runs that took another run's result, and what that had cost. */
export const Reused = Schema.Struct({ runs: count, saved: amount })

export const UsagePage = Schema.Struct({
  items: Schema.Array(UsageItem),
  /** Of these days. Absent if there was none. */
  reused: Schema.optionalKey(Reused),
  next_cursor: nullableText
})
