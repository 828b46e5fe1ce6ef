/** The contract of the audit log of all organizations and of the service itself. */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { orgFilter, Word } from "./Fields.ts"
import { OperatorAuditEntry } from "../../../schema/nouns/AuditEntry.ts"
import { pagesWith } from "../shapes/Common.ts"
import { forOperators } from "./OperatorAuth.ts"

export class OperatorAuditLogApi extends HttpApiGroup.make("operatorAuditLog").add(
  forOperators(
    "List changes everywhere",
    "Newest first: who changed what, in every organization and in the service itself.",
    "admin audit-log"
  ).get("list", "/operator/audit-log", {
    ...pagesWith(OperatorAuditEntry, {
      ...orgFilter,
      actor: Schema.optionalKey(Word),
      action: Schema.optionalKey(Word)
    })
  })
) {}
