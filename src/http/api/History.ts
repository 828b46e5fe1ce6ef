/** The contract of history: which earlier runs name a person, company or URL (specification 2.2, 4.6, 4.7). Free. */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { byAdmins, listQuery, optional, readsOwn } from "./shapes/Common.ts"
import { Wire } from "../../schema/Errors.ts"
import { History, HistoryBatch, HistorySubject } from "../../schema/nouns/History.ts"
import { kinds } from "../../schema/subjects/Form.ts"
import { component } from "../../schema/nouns/Noun.ts"

const Kind = Schema.Literals(kinds)

export const subjectCharsMax = 2_000
export const subjectsMax = 200

const Query = Schema.NonEmptyString.check(Schema.isMaxLength(subjectCharsMax))

export class HistoryApi extends HttpApiGroup.make("history").add(
  readsOwn(
    "Look up a subject",
    "Lists the organization's runs that name the subject in their input or result, newest first. Says whether the subject was contacted, and which results need not be bought again. The kind is detected if it is left out. Free.",
    "history"
  ).get("get", "/history", {
    query: { q: Query, kind: Schema.optionalKey(Kind), limit: listQuery.limit },
    success: History,
    error: [Wire.service_unavailable]
  }),
  readsOwn(
    "Look up many subjects",
    "Returns one row per subject, in the order of the request. A subject that can't be read as the given kind gets a row with an error. Free."
  ).post("batch", "/history", {
    payload: component("HistoryRequest", {
      subjects: Schema.Array(HistorySubject.fields.query).check(Schema.isMinLength(1), Schema.isMaxLength(subjectsMax)),
      kind: optional(Kind)
    }),
    success: HistoryBatch,
    error: [Wire.service_unavailable]
  }),
  byAdmins(
    "Erase a subject",
    "Permanently erases input, result and metadata of every finished run that names the subject, in a label too. The runs themselves and their ledger entries stay.",
    "history erase"
  ).delete("erase", "/history", {
    query: { q: Query, kind: Schema.optionalKey(Kind) },
    success: component("HistoryErasure", {
      subject: HistorySubject,
      erased: Schema.Int,
      /** Unfinished runs that name the subject. Erase again after they have ended. */
      in_flight: Schema.Int
    }),
    error: [Wire.service_unavailable]
  })
) {}
