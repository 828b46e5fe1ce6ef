/** The contract of opt-out lists, whom runs must not contact: that of an organization, and the operator's of the whole service. */
import { Schema } from "effect"
import { HttpApiGroup, type HttpApiMiddleware, HttpApiSchema } from "effect/http-api"
import { batchRowsMax } from "../../schema/batches/Batch.ts"
import { Wire } from "../../schema/Errors.ts"
import { optOutReasonMax, optOutsAtOnce } from "../../schema/guards/OptOut.ts"
import { component, removed, withExample } from "../../schema/nouns/Noun.ts"
import { OptOut, OptOutCheck, OptOutsAdded } from "../../schema/nouns/OptOut.ts"
import { forOperators, type OperatorAuth } from "./operator/OperatorAuth.ts"
import { byAdmins, operation, optional, pages, reads } from "./shapes/Common.ts"
import type { Verbs } from "./shapes/Endpoint.ts"

const values = Schema.Array(Schema.NonEmptyString.check(Schema.isMaxLength(1_000)))
  .check(Schema.isMinLength(1), Schema.isMaxLength(optOutsAtOnce))
  .annotate({
    description: `addresses, domains, phone numbers with +, profiles, or digests such as email:<SHA-256>; at most ${optOutsAtOnce}`
  })

export const OptOutRequest = component("OptOutRequest", {
  values,
  reason: optional(Schema.String.check(Schema.isMaxLength(optOutReasonMax))),
  source: optional(Schema.Literals(["api", "console", "complaint"])).annotate({
    description: "where it comes from; default: api"
  })
}).pipe(withExample({ values: ["jane@acme.example", "example.com"], reason: "asked by phone" }))

export const OptOutCheckRequest = component("OptOutCheckRequest", { values }).pipe(
  withExample({ values: ["jane@acme.example"] })
)

const csv = HttpApiSchema.asText({ contentType: "text/csv" })
const exportExample =
  "kind,digest,hint,source,reason,created_at\nemail,bd17f4e91f4d9a2fd9d4b1e6b6f1bbd3a0a3b1c7a7c3d0f5a4c1c2b9d8e7f605,j•••@acme.example,api,,2026-11-22T09:30:00.000Z\n"

type Says<Door extends HttpApiMiddleware.AnyId> = (summary: string, description: string, command: string) => Verbs<Door>

/** The operations of one list, and who may call them. */
const listGroup = <const Name extends string, const Path extends `/${string}`, Door extends HttpApiMiddleware.AnyId>(
  name: Name,
  path: Path,
  [reads, changes = reads, removes = reads]: readonly [Says<Door>, Says<Door>?, Says<Door>?]
) =>
  HttpApiGroup.make(name).add(
    reads("List opt-outs", "Newest first.", "opt-outs list").get("list", path, pages(OptOut)),
    changes(
      "Add opt-outs",
      "No run that is admitted later contacts them. The opt-out of a domain covers its addresses and subdomains. The list keeps the SHA-256 of each value. A run is blocked with the control opt_out, and its receipt names the entry.",
      "opt-outs add"
    ).post("add", path, { payload: OptOutRequest, success: OptOutsAdded }),
    reads(
      "Check opt-outs",
      "Says which values the list covers, an address by its domain too. POST /v1/quote says what a run would meet.",
      "opt-outs check"
    ).post("check", `${path}/check`, {
      payload: OptOutCheckRequest,
      success: Schema.Struct({ items: Schema.Array(OptOutCheck) })
    }),
    changes(
      "Import opt-outs",
      `A CSV with a header line and at most ${batchRowsMax.toLocaleString("en")} rows. Columns: value, or kind and digest as an export has them; hint and reason are optional. Without such a column the first one has the values. Importing the same rows again changes nothing. Rows without a value are counted, and the others are added. The body may have 8 MiB.`,
      "opt-outs import"
    ).post("import", `${path}/import`, { payload: Schema.String.pipe(csv), success: OptOutsAdded }),
    reads(
      "Export opt-outs",
      "All entries as CSV, newest first. A digest is the SHA-256 of the normalized value: in lower case, a domain in ASCII, a phone number in E.164, a profile as in/name.",
      "opt-outs export"
    ).get("export", `${path}/export`, {
      success: Schema.String.annotate({ description: "CSV", examples: [exportExample] }).pipe(csv)
    }),
    removes(
      "Remove an opt-out",
      "Runs may contact the value again. The audit log keeps who removed it.",
      "opt-outs remove"
    ).delete("remove", `${path}/:opt_out_id`, {
      success: removed("opt", "RemovedOptOut"),
      error: [Wire.not_found]
    })
  )

const changes: typeof reads = (summary, description, command = "") =>
  operation({ role: "member", keys: "changes", command }, summary, description)

export class OptOutsApi extends listGroup("optOuts", "/opt-outs", [reads, changes, byAdmins]) {}

const ofService: Says<OperatorAuth> = (summary, description, command) =>
  forOperators(`${summary} of the service`, description, `admin ${command}`)

export class OperatorOptOutsApi extends listGroup("operatorOptOuts", "/operator/opt-outs", [ofService]) {}
