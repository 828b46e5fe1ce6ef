/** Fields of the operations on opt-out lists: that of an organization, and the operator's of the whole service. */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { batchRowsMax } from "../../../schema/batches/Batch.ts"
import { Wire } from "../../../schema/Errors.ts"
import { optOutReasonMax, optOutsAtOnce } from "../../../schema/guards/OptOut.ts"
import { pageOf, withExample } from "../../../schema/nouns/Noun.ts"
import * as nouns from "../../../schema/nouns/OptOut.ts"
import { listQuery, optional } from "./Common.ts"

export const OptOut = Schema.toEncoded(nouns.OptOut)

const values = Schema.Array(Schema.NonEmptyString.check(Schema.isMaxLength(1_000)))
  .check(Schema.isMinLength(1), Schema.isMaxLength(optOutsAtOnce))
  .annotate({
    description: `addresses, domains, phone numbers with +, profiles, or digests such as email:<SHA-256>; at most ${optOutsAtOnce}`
  })

export const listed = { query: listQuery, success: pageOf(OptOut), error: [Wire.invalid_request] } as const

export const added = {
  payload: Schema.Struct({
    values,
    reason: optional(Schema.String.check(Schema.isMaxLength(optOutReasonMax))),
    source: optional(Schema.Literals(["api", "console", "complaint"])).annotate({
      description: "where it comes from; default: api"
    })
  })
    .annotate({ identifier: "OptOutRequest" })
    .pipe(withExample({ values: ["jane@acme.example", "example.com"], reason: "asked by phone" })),
  success: nouns.OptOutsAdded,
  error: [Wire.invalid_request, Wire.forbidden]
} as const

export const checked = {
  payload: Schema.Struct({ values })
    .annotate({ identifier: "OptOutCheckRequest" })
    .pipe(withExample({ values: ["jane@acme.example"] })),
  success: Schema.Struct({ items: Schema.Array(Schema.toEncoded(nouns.OptOutCheck)) }),
  error: [Wire.invalid_request, Wire.forbidden]
} as const

export const imported = {
  payload: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/csv" })),
  success: nouns.OptOutsAdded,
  error: [Wire.invalid_request, Wire.forbidden]
} as const

const exportExample =
  "kind,digest,hint,source,reason,created_at\nemail,bd17f4e91f4d9a2fd9d4b1e6b6f1bbd3a0a3b1c7a7c3d0f5a4c1c2b9d8e7f605,j•••@acme.example,api,,2026-11-22T09:30:00.000Z\n"

export const exported = {
  success: Schema.String.annotate({ description: "CSV", examples: [exportExample] }).pipe(
    HttpApiSchema.asText({ contentType: "text/csv" })
  ),
  error: [Wire.invalid_request]
} as const

export const removed = {
  params: { opt_out_id: Schema.String },
  success: Schema.Struct({ id: nouns.OptOut.fields.id, deleted: Schema.Literal(true) }).annotate({
    identifier: "RemovedOptOut"
  }),
  error: [Wire.invalid_request, Wire.not_found, Wire.forbidden]
} as const

/** What the operations do. */
export const words = {
  list: ["List opt-outs", "Newest first."],
  add: [
    "Add opt-outs",
    "No run that is admitted later contacts them. The opt-out of a domain covers its addresses and subdomains. The list keeps the SHA-256 of each value. A run is blocked with the control opt_out, and its receipt names the entry."
  ],
  check: [
    "Check opt-outs",
    "Says which values the list covers, an address by its domain too. POST /v1/quote says what a run would meet."
  ],
  import: [
    "Import opt-outs",
    `A CSV with a header line and at most ${batchRowsMax.toLocaleString("en")} rows. Columns: value, or kind and digest as an export has them; hint and reason are optional. Without such a column the first one has the values. Importing the same rows again changes nothing. Rows without a value are counted, and the others are added. The body may have 8 MiB.`
  ],
  export: [
    "Export opt-outs",
    "All entries as CSV, newest first. A digest is the SHA-256 of the normalized value: in lower case, a domain in ASCII, a phone number in E.164, a profile as in/name."
  ],
  remove: ["Remove an opt-out", "Runs may contact the value again. The audit log keeps who removed it."]
} as const
