/** The contract of the audit log of all organizations and of the service itself. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Wire } from "../../../schema/Errors.ts"
import { orgFilter, Word } from "./Fields.ts"
import { listQuery } from "../shapes/Common.ts"
import { forOperators, OperatorAuth } from "./OperatorAuth.ts"

const nullable = Schema.NullOr(Schema.String)

export const OperatorAuditEntry = Schema.Struct({
  id: Schema.String,
  org_id: nullable.annotate({ description: "Null: it concerns the whole service." }),
  actor: Schema.Struct({
    kind: Schema.Literals(["person", "key", "operator", "system"]),
    id: nullable,
    name: nullable
  }),
  action: Schema.String,
  object: Schema.String,
  before: Schema.NullOr(Schema.JsonObject),
  after: Schema.NullOr(Schema.JsonObject),
  address: nullable,
  created_at: Schema.String
}).annotate({ identifier: "OperatorAuditEntry" })

export class OperatorAuditLogApi extends HttpApiGroup.make("operatorAuditLog")
  .add(
    HttpApiEndpoint.get("list", "/operator/audit-log", {
      query: {
        ...listQuery,
        ...orgFilter,
        actor: Schema.optionalKey(Word),
        action: Schema.optionalKey(Word)
      },
      success: Schema.Struct({ items: Schema.Array(OperatorAuditEntry), next_cursor: nullable }),
      error: [Wire.invalid_request]
    }).annotateMerge(
      forOperators(
        "List changes everywhere",
        "Newest first: who changed what, in every organization and in the service itself.",
        "admin audit-log"
      )
    )
  )
  .middleware(OperatorAuth) {}
