/** The contract of the audit log: who changed what in the organization, when and from where. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Wire } from "../../../schema/Errors.ts"
import { timeCharsMax } from "../../../schema/Period.ts"
import { Auth, listQuery } from "../shapes/Common.ts"

const described = (description: string) => Schema.String.annotate({ description })

export const AuditEntry = Schema.Struct({
  id: Schema.String,
  actor: Schema.Struct({
    kind: Schema.Literals(["person", "key", "operator", "system"]),
    id: Schema.NullOr(described("Id of the user or API key.")),
    name: Schema.NullOr(described("A person's e-mail address, a key's name, or the operator's user name."))
  }),
  action: described("Such as `key.revoked` or `member.changed`."),
  object: described("Id of what was changed."),
  before: Schema.NullOr(Schema.JsonObject).annotate({ description: "The changed fields as they were. No secrets." }),
  after: Schema.NullOr(Schema.JsonObject).annotate({ description: "The changed fields as they are now. No secrets." }),
  address: Schema.NullOr(described("Client address of the request. Deleted after 180 days.")),
  created_at: Schema.String
}).annotate({ identifier: "AuditEntry" })

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

export class AuditLogApi extends HttpApiGroup.make("auditLog")
  .add(
    HttpApiEndpoint.get("list", "/audit-log", {
      query: {
        ...listQuery,
        actor: Schema.optionalKey(Word),
        action: Schema.optionalKey(Word),
        from: Schema.optionalKey(Time),
        to: Schema.optionalKey(Time)
      },
      success: Schema.Struct({ items: Schema.Array(AuditEntry), next_cursor: Schema.NullOr(Schema.String) }),
      error: [Wire.invalid_request]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "List changes",
        description:
          "Needs a session token of an admin. Newest first: everything that a person, an API key or the operator changed in this organization. Entries can't be changed or deleted."
      })
    )
  )
  .middleware(Auth) {}
