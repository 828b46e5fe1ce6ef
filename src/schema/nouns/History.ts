/** What the organization knows of a person, company or URL: which runs name it, and whether it was contacted. */
import { Schema } from "effect"
import { withColumns } from "../Columns.ts"
import { RunStatus } from "../runs/Run.ts"
import { kinds } from "../subjects/Form.ts"
import { component, amount, capability, endpoint, provider, run_id, such, time } from "./Noun.ts"

const Kind = Schema.Literals(kinds)
const subject = such("jane.doe@example.com")

export const HistorySubject = component("HistorySubject", {
  query: subject,
  kind: Kind,
  /** The form that is compared with runs. */
  normalized: subject
})

const Match = component("HistoryMatch", {
  in: Schema.Literals(["input", "result"]),
  path: such("email"),
  /** The value names the subject itself. */
  exact: Schema.Boolean
})

const run = {
  run_id,
  /** Null for a raw run, which has `endpoint` instead. */
  capability: Schema.NullOr(capability),
  endpoint: Schema.NullOr(endpoint),
  provider: Schema.NullOr(provider),
  created_at: time
}

export const HistoryItem = component("HistoryItem", {
  ...run,
  status: RunStatus,
  kind: Schema.Literals(["capability", "endpoint"]),
  charged: Schema.NullOr(amount),
  input: Schema.Json,
  matched: Match
}).pipe(
  withColumns({
    list: ["run_id", "status", "capability", "matched", "charged", "created_at"],
    wide: ["charged"],
    titles: { capability: "What", matched: "Where", created_at: "When" }
  })
)

export const HistoryTouch = component("HistoryTouch", {
  run_id,
  capability,
  channel: such("email"),
  status: RunStatus,
  created_at: time
})

export const HistoryReusable = component("HistoryReusable", { ...run, charged: amount })

export const History = component("History", {
  subject: HistorySubject,
  items: Schema.Array(HistoryItem),
  touches: Schema.Array(HistoryTouch),
  /** The latest touch that succeeded, to any recipient. */
  last_touch: Schema.NullOr(HistoryTouch),
  /** True if a successful touch went to the subject. One that came from it or only mentions it does not count. */
  contacted: Schema.Boolean,
  last_contact: Schema.NullOr(HistoryTouch),
  /** The latest touch with an unknown outcome, which may have reached the subject. Left out if there is none. */
  last_unknown: Schema.optionalKey(HistoryTouch),
  reusable: Schema.Array(HistoryReusable),
  count: Schema.Int,
  by_status: Schema.Record(Schema.String, Schema.Int).annotate({ examples: [{ succeeded: 2 }] }),
  by_capability: Schema.Record(Schema.String, Schema.Int).annotate({ examples: [{ "email.verify": 2 }] }),
  charged: amount,
  currency: Schema.Literal("USD"),
  first_seen: Schema.NullOr(time),
  last_seen: Schema.NullOr(time),
  truncated: Schema.Boolean,
  hints: Schema.Array(Schema.String)
})

export const HistoryRow = component("HistoryRow", {
  query: subject,
  kind: Schema.NullOr(Kind),
  normalized: Schema.NullOr(subject),
  seen: Schema.Boolean,
  count: Schema.Int,
  last_seen: Schema.NullOr(time),
  /** This and the next fields mean the same as in `History`. */
  contacted: Schema.Boolean,
  last_touch: Schema.NullOr(HistoryTouch),
  last_contact: Schema.NullOr(HistoryTouch),
  last_unknown: Schema.optionalKey(HistoryTouch),
  reusable: Schema.NullOr(HistoryReusable),
  /** Present if the subject can't be read as the given kind. */
  error: Schema.optionalKey(Schema.Struct({ code: Schema.String, message: Schema.String }))
}).pipe(
  withColumns({
    list: ["query", "kind", "count", "contacted", "reusable", "last_seen"],
    wide: ["last_seen", "kind"],
    titles: { query: "Subject", count: "Runs", reusable: "Bought" },
    kinds: { kind: "text" }
  })
)

/** One row for each subject, in the order of the request. */
export const HistoryBatch = component("HistoryBatch", {
  items: Schema.Array(HistoryRow),
  seen: Schema.Int,
  unseen: Schema.Int,
  contacted: Schema.Int
})
