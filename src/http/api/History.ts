/** The contract of history: which earlier runs name a person, company or URL (specification 2.2, 4.6, 4.7). Free. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { operation } from "./shapes/Rights.ts"
import { Wire } from "../../schema/Errors.ts"
import { RunStatus } from "../../schema/runs/Run.ts"
import { kinds } from "../../schema/subjects/Form.ts"
import { Auth, listQuery, optional } from "./shapes/Common.ts"

const Kind = Schema.Literals(kinds)
const Money = Schema.String

export const HistorySubject = Schema.Struct({
  query: Schema.String,
  kind: Kind,
  /** The form that is compared with runs. */
  normalized: Schema.String
}).annotate({ identifier: "HistorySubject" })

export const Match = Schema.Struct({
  in: Schema.Literals(["input", "result"]),
  path: Schema.String,
  /** The value names the subject itself. */
  exact: Schema.Boolean
}).annotate({ identifier: "HistoryMatch" })

const run = {
  run_id: Schema.String,
  capability: Schema.NullOr(Schema.String),
  endpoint: Schema.NullOr(Schema.String),
  provider: Schema.NullOr(Schema.String),
  created_at: Schema.String
}

export const HistoryItem = Schema.Struct({
  ...run,
  status: RunStatus,
  kind: Schema.Literals(["capability", "endpoint"]),
  charged: Schema.NullOr(Money),
  input: Schema.Json,
  matched: Match
}).annotate({ identifier: "HistoryItem" })

export const HistoryTouch = Schema.Struct({
  run_id: Schema.String,
  capability: Schema.String,
  channel: Schema.String,
  status: RunStatus,
  created_at: Schema.String
}).annotate({ identifier: "HistoryTouch" })

export const HistoryReusable = Schema.Struct({ ...run, charged: Money }).annotate({ identifier: "HistoryReusable" })

export const History = Schema.Struct({
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
  charged: Money,
  currency: Schema.Literal("USD"),
  first_seen: Schema.NullOr(Schema.String),
  last_seen: Schema.NullOr(Schema.String),
  truncated: Schema.Boolean,
  hints: Schema.Array(Schema.String)
}).annotate({ identifier: "History" })

export const HistoryRow = Schema.Struct({
  query: Schema.String,
  kind: Schema.NullOr(Kind),
  normalized: Schema.NullOr(Schema.String),
  seen: Schema.Boolean,
  count: Schema.Int,
  last_seen: Schema.NullOr(Schema.String),
  /** This and the next fields mean the same as in `History`. */
  contacted: Schema.Boolean,
  last_touch: Schema.NullOr(HistoryTouch),
  last_contact: Schema.NullOr(HistoryTouch),
  last_unknown: Schema.optionalKey(HistoryTouch),
  reusable: Schema.NullOr(HistoryReusable),
  /** Present if the subject can't be read as the given kind. */
  error: Schema.optionalKey(Schema.Struct({ code: Schema.String, message: Schema.String }))
}).annotate({ identifier: "HistoryRow" })

export const subjectCharsMax = 2_000
export const subjectsMax = 200

const Query = Schema.NonEmptyString.check(Schema.isMaxLength(subjectCharsMax))

export class HistoryApi extends HttpApiGroup.make("history")
  .add(
    HttpApiEndpoint.get("get", "/history", {
      query: { q: Query, kind: Schema.optionalKey(Kind), limit: listQuery.limit },
      success: History,
      error: [Wire.invalid_request, Wire.service_unavailable]
    }).annotateMerge(
      operation(
        { role: "viewer", keys: "reads", own: true, command: "history" },
        "Look up a subject",
        "Lists the organization's runs that name the subject in their input or result, newest first. Says whether the subject was contacted, and which results need not be bought again. The kind is detected if it is left out. Free."
      )
    ),
    HttpApiEndpoint.post("batch", "/history", {
      payload: Schema.Struct({
        subjects: Schema.Array(Schema.String).check(Schema.isMinLength(1), Schema.isMaxLength(subjectsMax)),
        kind: optional(Kind)
      }).annotate({ identifier: "HistoryRequest" }),
      success: Schema.Struct({
        items: Schema.Array(HistoryRow),
        seen: Schema.Int,
        unseen: Schema.Int,
        contacted: Schema.Int
      }).annotate({ identifier: "HistoryBatch" }),
      error: [Wire.invalid_request, Wire.service_unavailable]
    }).annotateMerge(
      operation(
        { role: "viewer", keys: "reads", own: true },
        "Look up many subjects",
        "Returns one row per subject, in the order of the request. A subject that can't be read as the given kind gets a row with an error. Free."
      )
    ),
    HttpApiEndpoint.delete("erase", "/history", {
      query: { q: Query, kind: Schema.optionalKey(Kind) },
      success: Schema.Struct({
        subject: HistorySubject,
        erased: Schema.Int,
        /** Unfinished runs that name the subject. Erase again after they have ended. */
        in_flight: Schema.Int
      }).annotate({ identifier: "HistoryErasure" }),
      error: [Wire.invalid_request, Wire.forbidden, Wire.service_unavailable]
    }).annotateMerge(
      operation(
        { role: "admin", keys: "people", command: "history erase" },
        "Erase a subject",
        "Permanently erases input, result and metadata of every finished run that names the subject. The runs themselves and their ledger entries stay."
      )
    )
  )
  .middleware(Auth) {}
