/** One change in an organization: who changed what, when and from where. */
import { Schema } from "effect"
import { withColumns } from "../Columns.ts"
import { component, idOf, org_id, such, text, time, withExample } from "./Noun.ts"

export const actorKinds = ["person", "key", "operator", "system"] as const

const titles = { created_at: "When", actor: "Who", address: "From", after: "Change" }

export const AuditEntry = component("AuditEntry", {
  id: idOf("aud"),
  actor: Schema.Struct({
    kind: Schema.Literals(actorKinds),
    id: Schema.NullOr(text("Id of the user or API key.")),
    name: Schema.NullOr(text("A person's e-mail address, a key's name, or the operator's user name."))
  }),
  action: such("key.revoked", "Such as `key.revoked` or `member.changed`."),
  object: idOf("key", "Id of what was changed."),
  before: Schema.NullOr(Schema.JsonObject).annotate({ description: "The changed fields as they were. No secrets." }),
  after: Schema.NullOr(Schema.JsonObject).annotate({ description: "The changed fields as they are now. No secrets." }),
  address: Schema.NullOr(text("Client address of the request. Deleted after 180 days.")),
  created_at: time
}).pipe(
  withColumns({
    list: ["created_at", "actor", "address", "action", "object", "after"],
    titles
  }),
  withExample({
    id: "aud_01m81nzp3b11p52yv11fpkfhhy",
    actor: { kind: "person", id: "usr_01m81nzgvweh2hdt7twdxbzz25", name: "jane@acme.example" },
    action: "spend_guard.changed",
    object: "org_01m81nzgh66f8vfxqbkda58gtf",
    before: { daily_limit: "100.00" },
    after: { daily_limit: "250.00" },
    address: "203.0.113.7",
    created_at: "2026-11-22T09:30:00.000Z"
  })
)

const { id, ...fields } = AuditEntry.fields
/** An entry of any organization, or of the service itself. */
export const OperatorAuditEntry = component("OperatorAuditEntry", {
  id,
  org_id: Schema.NullOr(org_id).annotate({ description: "Null: it concerns the whole service." }),
  ...fields
}).pipe(
  withColumns({
    list: ["created_at", "org_id", "actor", "address", "action", "object", "after"],
    titles: { ...titles, org_id: "Organization" }
  })
)
export type OperatorAuditEntry = typeof OperatorAuditEntry.Type
