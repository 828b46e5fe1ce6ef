/** The contract of the audit log: who changed what in the organization, when and from where. */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { byAdmins, pagesWith } from "../shapes/Common.ts"
import { timeCharsMax } from "../../../schema/Period.ts"
import { AuditEntry } from "../../../schema/nouns/AuditEntry.ts"

const isTime = (text: string) => !Number.isNaN(new Date(text).getTime())
/** A day or a time in UTC. */
const Time = Schema.String.check(
  Schema.isPattern(/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,6})?)?Z)?$/u, {
    message: "must be a day or a time in UTC, such as 2026-11-22 or 2026-11-22T09:30:00Z"
  }).abort(),
  Schema.isMaxLength(timeCharsMax),
  Schema.makeFilter((text: string) => isTime(text) || "expected a day that exists")
)
const Word = Schema.NonEmptyString.check(
  Schema.isMaxLength(254),
  Schema.makeFilter((text: string) => !text.includes("\u0000") || "must not contain NUL (\\u0000)")
)

export class AuditLogApi extends HttpApiGroup.make("auditLog").add(
  byAdmins(
    "List changes",
    "Newest first: everything that a person, an API key or the operator changed in this organization. Entries can't be changed or deleted.",
    "audit-log"
  ).get("list", "/audit-log", {
    ...pagesWith(AuditEntry, {
      actor: Schema.optionalKey(Word),
      action: Schema.optionalKey(Word),
      from: Schema.optionalKey(Time),
      to: Schema.optionalKey(Time)
    })
  })
) {}
