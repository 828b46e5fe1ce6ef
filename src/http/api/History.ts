/** The contract of history: what is already known about a subject (specification 2.2, 4.6, 4.7). Free. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Wire } from "../../schema/Errors.ts"
import { RunStatus } from "../../schema/runs/Run.ts"
import { kinds } from "../../schema/subjects/Form.ts"
import { Auth, listQuery, optional } from "./shapes/Common.ts"

const Kind = Schema.Literals(kinds)
const Money = Schema.String

export const HistorySubject = Schema.Struct({
  query: Schema.String,
  kind: Kind,
  /** The form that was matched. */
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
  /** The latest that succeeded, whoever it went to. */
  last_touch: Schema.NullOr(HistoryTouch),
  /** A touch that succeeded went to the subject, and did not only come from it or mention it. */
  contacted: Schema.Boolean,
  last_contact: Schema.NullOr(HistoryTouch),
  /** The latest that may have reached the subject, and nobody knows. Left out when there is none. */
  last_unknown: Schema.optionalKey(HistoryTouch),
  reusable: Schema.Array(HistoryReusable),
  count: Schema.Int,
  by_status: Schema.Record(Schema.String, Schema.Int),
  by_capability: Schema.Record(Schema.String, Schema.Int),
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
  /** As in the view of one. */
  contacted: Schema.Boolean,
  last_touch: Schema.NullOr(HistoryTouch),
  last_contact: Schema.NullOr(HistoryTouch),
  last_unknown: Schema.optionalKey(HistoryTouch),
  reusable: Schema.NullOr(HistoryReusable),
  /** Of a subject that does not read as the given kind. */
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
      OpenApi.annotations({
        summary: "What is known about a subject",
        description:
          "Every run of this organization that names the subject in its input or result, newest first: whether it was contacted, and what need not be bought again. The kind is detected when it is left out. Free."
      })
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
      OpenApi.annotations({
        summary: "What is known about many subjects",
        description:
          "One row per subject, in their order. A subject that does not read as the given kind gets a row with an error. Free."
      })
    ),
    HttpApiEndpoint.delete("erase", "/history", {
      query: { q: Query, kind: Schema.optionalKey(Kind) },
      success: Schema.Struct({
        subject: HistorySubject,
        erased: Schema.Int,
        /** Runs that name it and are still under way: erase again when they have ended. */
        in_flight: Schema.Int
      }).annotate({ identifier: "HistoryErasure" }),
      error: [Wire.invalid_request, Wire.forbidden, Wire.service_unavailable]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Erase a subject",
        description:
          "Erases input and result of every finished run that names the subject, for good. The runs themselves and every ledger entry stay. Needs a session token."
      })
    )
  )
  .middleware(Auth) {}
