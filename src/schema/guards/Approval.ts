/**
 * Approvals: which runs need a member's yes, and whether a decision counts. Pure.
 *
 * A run that matches a rule holds its money and waits. A yes is about its input, its offers and its hold as they were then, counts once and
 * until it expires. The rules of the run are fixed when it is admitted, so a changed rule changes no run that waits.
 */
import { Schema } from "effect"
import { allows, roles } from "../accounts/Role.ts"
import { withoutNulls } from "../defined.ts"
import { Usd } from "../money/Money.ts"

/** Enough for the capabilities or keys of a team. A turn reads the rules of its wallet, so they are short. */
export const namesMax = 20
const Names = Schema.Array(Schema.NonEmptyString.check(Schema.isMaxLength(100))).check(
  Schema.isMinLength(1),
  Schema.isMaxLength(namesMax)
)
const condition = <S extends Schema.Top>(schema: S, description: string) =>
  Schema.optionalKey(Schema.NullOr(schema)).annotate({ description })

/** What a run must match. It must match each condition that is given, and one name of a list. */
export const conditionFields = {
  min_hold: condition(Usd, "runs that hold this amount or more"),
  capabilities: condition(Names, "runs of these capabilities"),
  providers: condition(Names, "runs that may call one of these providers"),
  raw: condition(Schema.Boolean, "true: only raw calls of endpoints; false: only capabilities"),
  keys: condition(Names, "runs of these API keys"),
  labels: condition(Schema.Record(Schema.String, Schema.String), "runs with these labels in their metadata")
}
export const Conditions = Schema.Struct(conditionFields)
export type Conditions = typeof Conditions.Type

/** Who decides about the runs of a rule, and how long. */
export const decisionFields = {
  role: Schema.Literals(["member", "admin", "owner"]).annotate({
    description: "the least role of a member who may decide"
  }),
  self_approval: Schema.Boolean.annotate({ description: "whether a member may approve a run that the member started" }),
  expires_after: Schema.Int.check(Schema.isBetween({ minimum: 60, maximum: 604_800 })).annotate({
    description: "seconds until a run that nobody approves ends: a minute to seven days"
  })
}

/** A rule as a wallet has it. */
const ApprovalRule = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  ...decisionFields,
  conditions: Conditions
})
export type ApprovalRule = typeof ApprovalRule.Type
const ApprovalRules = Schema.Array(ApprovalRule)
export type ApprovalRules = typeof ApprovalRules.Type
export const decodeRules = Schema.decodeUnknownSync(ApprovalRules)

/** What rules know of a run. */
interface RuledRun {
  readonly hold: bigint
  readonly capability: string | null
  readonly endpoint: string | null
  readonly key_id: string | null
  /** JSON text. */
  readonly metadata?: string | null
  readonly plan: () => { readonly providers: ReadonlyArray<string>; readonly given_by?: ReadonlyArray<string> | null }
}

export const matches = (conditions: Conditions, run: RuledRun): boolean => {
  const { min_hold = 0n, capabilities, providers, raw, keys, labels = {} } = withoutNulls(conditions)
  const has = (names: ReadonlyArray<string> | undefined, name: string | null) =>
    names === undefined || (name !== null && names.includes(name))
  const wanted = Object.entries(labels)
  const metadata: Readonly<Record<string, string>> = wanted.length === 0 ? {} : JSON.parse(run.metadata ?? "{}")
  return (
    run.hold >= min_hold &&
    has(capabilities, run.capability) &&
    // The rules of a key are those of the allowances that it gives.
    (has(keys, run.key_id) || run.plan().given_by?.some((key) => has(keys, key)) === true) &&
    (raw === undefined || raw === (run.endpoint !== null)) &&
    wanted.every(([name, value]) => Object.hasOwn(metadata, name) && metadata[name] === value) &&
    (providers === undefined || run.plan().providers.some((name) => providers.includes(name)))
  )
}

/**
 * Whether a rule matches each run of a target, or some of them: its other conditions are about the input, the caps and the labels of the run.
 * `provider` is that of an endpoint.
 */
export const mayMatch = (
  rule: ApprovalRule,
  {
    provider,
    given_by = [],
    ...target
  }: Pick<RuledRun, "capability" | "endpoint" | "key_id"> & {
    readonly provider: string | null
    readonly given_by?: ReadonlyArray<string> | undefined
  }
): "always" | "sometimes" | "never" => {
  const { min_hold, providers, labels, ...others } = rule.conditions
  const fixed = { ...others, providers: provider === null ? null : (providers ?? null) }
  const run = { ...target, hold: 0n, plan: () => ({ providers: [provider ?? ""], given_by }) }
  if (!matches(fixed, run)) return "never"
  const open = [min_hold, labels, provider === null ? providers : null]
  return open.every((one) => (one ?? null) === null) ? "always" : "sometimes"
}

/** Of two rules that match, the one with the higher role counts, then the one that forbids the own yes, then the one that expires first. */
const strictness = (rule: ApprovalRule) =>
  [roles.indexOf(rule.role), rule.self_approval ? 0 : 1, -rule.expires_after] as const
const stricter = (a: ApprovalRule, b: ApprovalRule): number => {
  const [x, y] = [strictness(a), strictness(b)]
  return y[0] - x[0] || y[1] - x[1] || y[2] - x[2]
}

/** The rule for which the run waits. Null if it needs no yes. */
export const ruleOf = (rules: ApprovalRules | undefined, run: RuledRun): ApprovalRule | null =>
  rules === undefined
    ? null
    : (rules.filter(({ conditions }) => matches(conditions, run)).toSorted(stricter)[0] ?? null)

export const approvalStates = ["pending", "approved", "denied", "expired", "cancelled"] as const
export type ApprovalState = (typeof approvalStates)[number]

/** A command about a run that waits, as the mailbox stores it. */
export const Ruling = Schema.Struct({
  act: Schema.Literals(["approve", "deny", "expire"]),
  /** The member who decides. Null for `expire`. */
  by: Schema.NullOr(Schema.String),
  via: Schema.Literals(["session", "link"]),
  /** The digest of what the member saw. Null: what is stored. */
  digest: Schema.NullOr(Schema.String)
})
export type Ruling = typeof Ruling.Type

/** An approval as a turn reads it for a ruling. */
export const Approval = Schema.Struct({
  state: Schema.Literals(approvalStates),
  rule_name: Schema.String,
  role: decisionFields.role,
  self_approval: decisionFields.self_approval,
  started_by: Schema.NullOr(Schema.String),
  digest: Schema.NullOr(Schema.String),
  /** Microseconds since 1970. */
  expires_micros: Schema.BigInt,
  /** The role of the member who decides. Null for nobody of the organization. */
  decider_role: Schema.NullOr(Schema.Literals(roles))
})
export type Approval = typeof Approval.Type

export type Ruled =
  | { readonly _tag: "Decided"; readonly state: "approved" | "denied" | "expired"; readonly rule_name: string }
  | { readonly _tag: "Refused"; readonly why: "decided" | "role" | "own_run" | "changed" | "not_due" }

export const refused = (why: Extract<Ruled, { _tag: "Refused" }>["why"]): Ruled => ({ _tag: "Refused", why })

/** A late answer finds the approval expired. */
export const rule = (approval: Approval, { act, by, digest }: Ruling, now_micros: bigint): Ruled => {
  const { rule_name, decider_role } = approval
  if (approval.state !== "pending") return refused("decided")
  const isOver = now_micros >= approval.expires_micros
  if (act === "expire" && !isOver) return refused("not_due")
  if (act !== "expire" && (decider_role === null || !allows(decider_role, approval.role))) return refused("role")
  if (isOver) return { _tag: "Decided", state: "expired", rule_name }
  if (digest !== null && digest !== approval.digest) return refused("changed")
  if (act === "deny") return { _tag: "Decided", state: "denied", rule_name }
  return !approval.self_approval && by === approval.started_by
    ? refused("own_run")
    : { _tag: "Decided", state: "approved", rule_name }
}

/** How a run ends that nobody approved. */
export const unapproved = (state: "denied" | "expired", rule_name: string) =>
  state === "denied"
    ? ({
        error_code: "approval_denied",
        error_message: `a member denied this run, which the rule "${rule_name}" makes wait for an approval; nothing was charged`
      } as const)
    : ({
        error_code: "approval_expired",
        error_message: `nobody approved this run in time, which the rule "${rule_name}" makes wait for an approval; nothing was charged. Start it again, and ask for the approval sooner`
      } as const)
