/** Approvals and their rules: which runs wait for a member's yes, and what the members said. */
import { Schema } from "effect"
import { withColumns } from "../Columns.ts"
import { approvalStates, conditionFields, decisionFields } from "../guards/Approval.ts"
import { optional } from "../optional.ts"
import {
  component,
  amountAs,
  capability,
  endpoint,
  idOf,
  nullableText,
  run_id,
  text,
  time,
  timeAs,
  withExample
} from "./Noun.ts"

export const ruleName = Schema.NonEmptyString.check(Schema.isMaxLength(80))

/** What a person sets of a rule. */
export const ruleSettings = {
  name: optional(ruleName),
  ...conditionFields,
  role: optional(decisionFields.role),
  self_approval: optional(decisionFields.self_approval),
  expires_after: optional(decisionFields.expires_after),
  active: optional(Schema.Boolean)
}
export type RuleChange = Schema.Struct<typeof ruleSettings>["Type"]

export const ApprovalRule = component("ApprovalRule", {
  id: idOf("apr"),
  name: ruleName,
  ...conditionFields,
  ...decisionFields,
  active: Schema.Boolean,
  created_at: time
}).pipe(
  withColumns({
    list: ["id", "name", "min_hold", "role", "expires_after", "active", "created_at"],
    wide: ["created_at", "expires_after"],
    titles: { min_hold: "From", expires_after: "Seconds", created_at: "Made" },
    none: { min_hold: "(any amount)" }
  }),
  withExample({
    id: "apr_01m81nzk5dej20zws915h61fdz",
    name: "Large runs",
    min_hold: "1.00",
    role: "admin",
    self_approval: false,
    expires_after: 86_400,
    active: true,
    created_at: "2026-11-22T09:30:00.000Z"
  })
)

export const Approval = component("Approval", {
  run_id,
  state: Schema.Literals(approvalStates),
  rule: text("Name of the rule that the run matched."),
  role: decisionFields.role,
  capability: Schema.NullOr(capability),
  endpoint: Schema.NullOr(endpoint),
  key_id: Schema.NullOr(Schema.String).annotate({ description: "null for a session" }),
  subject: nullableText.annotate({ description: "the first texts of the input" }),
  providers: Schema.Array(Schema.String).annotate({
    description: "whom the run may call, in this order, and nobody else"
  }),
  hold: amountAs("the most that the run can be charged"),
  digest: nullableText.annotate({ description: "of the input, the offers and the hold: what a yes is about" }),
  requested_at: time,
  expires_at: time,
  decided_at: Schema.NullOr(timeAs()),
  decided_by: Schema.NullOr(Schema.String).annotate({ description: "the member" }),
  via: Schema.NullOr(Schema.Literals(["session", "link"])).annotate({
    description: "whether the member decided in a session, or with the link of an e-mail"
  })
}).pipe(
  withColumns({
    list: ["run_id", "state", "capability", "subject", "hold", "rule", "expires_at"],
    wide: ["subject", "rule"],
    titles: { capability: "What", hold: "Up to", expires_at: "Until" },
    kinds: { state: "state" }
  }),
  withExample({
    run_id: "run_01m81nzk95mq351g8pvrxgm8m4",
    state: "pending",
    rule: "Large runs",
    role: "admin",
    capability: "email.find",
    endpoint: null,
    key_id: "key_01m81nzk95mq351g8pvrxgm8m4",
    subject: "Jane Doe, acme.example",
    providers: ["hunter", "leadmagic"],
    hold: "1.20",
    digest: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    requested_at: "2026-11-22T09:30:00.000Z",
    expires_at: "2026-11-23T09:30:00.000Z",
    decided_at: null,
    decided_by: null,
    via: null
  })
)
