/** The sections of a configuration, a row each. It lists and writes as the API's single operations do, and says what past runs tell of its rules. */
import { Effect, Redacted } from "effect"
import { Accounts } from "../../../layers/accounts/Accounts.ts"
import { LabelBudgets, labelBudgetsMax } from "../../../layers/accounts/LabelBudgets.ts"
import { ApprovalStore, approvalRulesMax } from "../../../layers/members/ApprovalStore.ts"
import { WebhookEndpoints } from "../../../layers/webhooks/Endpoints.ts"
import { isUnrestricted, scopeRefusal } from "../../../schema/accounts/KeyAccess.ts"
import type { Existing } from "../../../schema/configuration/Diff.ts"
import type { ReplayRule, ReplayRun } from "../../../schema/simulation/Replay.ts"
import { withoutNulls } from "../../../schema/defined.ts"
import { matches } from "../../../schema/guards/Approval.ts"
import { ApiKey } from "../../../schema/nouns/ApiKey.ts"
import { ApprovalRule } from "../../../schema/nouns/Approval.ts"
import { LabelBudget } from "../../../schema/nouns/LabelBudget.ts"
import { SpendGuard } from "../../../schema/nouns/Wallet.ts"
import { WebhookEndpoint } from "../../../schema/nouns/Webhook.ts"
import { RuleRequest } from "../../api/accounts/Approvals.ts"
import { LabelBudgetRequest } from "../../api/accounts/LabelBudgets.ts"
import { KeyEntry, WebhookEntry } from "../../api/Configuration.ts"
import { SpendGuardRequest } from "../../api/Wallet.ts"
import { approvalRuleView, makeRuleWrite } from "../accounts/Approvals.ts"
import { makeKeyWrites, keyView } from "../accounts/KeyWrites.ts"
import { labelBudgetView, makeLabelBudgetWrite } from "../accounts/LabelBudgets.ts"
import { makeSpendGuard } from "../SpendGuard.ts"
import { makeWebhookWrites, webhookView } from "../Webhooks.ts"
import { partOf } from "./Part.ts"

type Limit = NonNullable<ReplayRule["limit"]>
type Counted = ReplayRule["counterOf"]
const limited = (rule: string, amount: Limit["amount"], period: Limit["period"], counterOf: Counted = () => "") => ({
  ...{ rule, counterOf },
  limit: { amount, period }
})
const blocks = (rule: string, counterOf: Counted) => ({ rule, counterOf, limit: null })

/** What a scope restricts and past runs do not tell: another provider or a lower cap would have changed the run. */
const untold = ["providers", "max_cost", "read_only"]

const keys = Effect.gen(function* () {
  const accounts = yield* Accounts
  const { environment, create, change } = yield* makeKeyWrites
  const of = (existing: Existing | null) => (run: ReplayRun) => (run.key_id === existing?.id ? "" : null)
  return partOf({
    section: "keys",
    entry: KeyEntry,
    noun: ApiKey,
    entriesIn: (file) => file.keys,
    list: (org_id) => Effect.map(accounts.changeableKeys(org_id), (rows) => rows.map(keyView)),
    nameOf: ({ name }) => name,
    stored: (entry) => {
      const allow = entry.allow === undefined || entry.allow === null ? entry.allow : withoutNulls(entry.allow)
      return Effect.succeed(allow === undefined ? entry : { ...entry, allow: isUnrestricted(allow) ? null : allow })
    },
    create: (entry) =>
      Effect.map(create({ ...entry, environment }), ({ id, token }) => ({ id, secret: Redacted.value(token) })),
    change,
    remove: accounts.revokeKey,
    rules: ({ entry: { name }, changed: { budget, allow }, existing }) => {
      const scope = allow ? withoutNulls(allow) : null
      const refuses = ({ capability, provider: called }: ReplayRun) => {
        const provider = capability === null ? called : null
        return scopeRefusal(scope, { capability, provider, max_cost: null, acts: false }) !== null
      }
      const [own, path] = [of(existing), `keys.${name}.allow`]
      return [
        ...(budget ? [limited(`keys.${name}.budget`, budget.limit, budget.period, own)] : []),
        ...(scope === null ? [] : [blocks(path, (run) => (refuses(run) ? own(run) : null))]),
        ...untold.filter((field) => scope !== null && field in scope).map((field) => `${path}.${field}`)
      ]
    },
    removed: (existing) => [blocks(`keys.${existing.name}`, of(existing))]
  })
})

const spendGuard = Effect.map(makeSpendGuard, (guard) =>
  partOf({
    section: "spend_guard",
    entry: SpendGuardRequest,
    noun: SpendGuard,
    entriesIn: ({ spend_guard }) => spend_guard && [spend_guard],
    list: (org_id) => Effect.map(guard.view(org_id), (view) => [{ ...view, id: org_id }]),
    nameOf: () => "spend_guard",
    create: () => Effect.succeed(null),
    change: (_, changed) => guard.change(changed),
    remove: () => Effect.void,
    rules: ({ changed: { per_run_limit: run, daily_limit: day, contact_guard_days: days } }) => [
      ...(typeof run === "bigint" ? [limited("spend_guard.per_run_limit", run, "each")] : []),
      ...(typeof day === "bigint" ? [limited("spend_guard.daily_limit", day, "day")] : []),
      ...(days === undefined ? [] : ["spend_guard.contact_guard_days"])
    ]
  })
)

const webhooks = Effect.gen(function* () {
  const endpoints = yield* WebhookEndpoints
  const writes = yield* makeWebhookWrites
  return partOf({
    section: "webhooks",
    entry: WebhookEntry,
    noun: WebhookEndpoint,
    entriesIn: (file) => file.webhooks,
    list: (org_id) => Effect.map(endpoints.list(org_id), (rows) => rows.map((row) => webhookView(row))),
    nameOf: ({ url }) => url,
    stored: (entry) =>
      Effect.map(writes.checkedUrl(entry.url), (url) => ({ ...entry, url, events: [...new Set(entry.events)] })),
    create: Effect.fnUntraced(function* (entry) {
      const { row, secret } = yield* writes.create(entry)
      if (entry.status === "paused") yield* writes.change(row.id, { status: "paused" })
      return { id: row.id, secret }
    }),
    change: writes.change,
    remove: endpoints.remove
  })
})

const labelName = ({ label, value }: { readonly label: string; readonly value?: string | null }) =>
  typeof value === "string" ? `${label}=${value}` : label

const labelBudgets = Effect.gen(function* () {
  const budgets = yield* LabelBudgets
  const write = yield* makeLabelBudgetWrite
  return partOf({
    section: "label_budgets",
    entry: LabelBudgetRequest,
    noun: LabelBudget,
    entriesIn: (file) => file.label_budgets,
    list: (org_id) => Effect.map(budgets.list(org_id, null, labelBudgetsMax), (rows) => rows.map(labelBudgetView)),
    nameOf: labelName,
    create: (entry) => Effect.as(write(entry), null),
    change: (_, __, entry) => write(entry),
    remove: budgets.remove,
    rules: ({ entry }, names) => {
      const { label, value = null, limit, period } = entry
      // The budget of each value is not about a value with a budget of its own.
      const counterOf = ({ labels }: ReplayRun) => {
        const of = Object.hasOwn(labels, label) ? labels[label] : undefined
        return of === undefined || (value === null ? names.has(`${label}=${of}`) : of !== value) ? null : of
      }
      return [limited(`label_budgets.${labelName(entry)}`, limit, period, counterOf)]
    }
  })
})

const approvalRules = Effect.gen(function* () {
  const { rules } = yield* ApprovalStore
  const write = yield* makeRuleWrite
  return partOf({
    section: "approval_rules",
    entry: RuleRequest,
    noun: ApprovalRule,
    entriesIn: (file) => file.approval_rules,
    list: (org_id) =>
      Effect.map(rules.list(org_id, null, approvalRulesMax), (rows) => rows.map((row) => approvalRuleView(row))),
    nameOf: ({ name }) => name,
    create: (entry) => Effect.as(write(null, entry), null),
    change: write,
    remove: rules.remove,
    rules: ({ entry: { name, active, ...conditions } }) => {
      const counterOf = (run: ReplayRun) =>
        matches(conditions, { ...run, endpoint: run.capability === null ? "" : null, plan: () => run }) ? "" : null
      return active === false ? [] : [{ ...blocks(`approval_rules.${name}`, counterOf), waits: true }]
    }
  })
})

/** Limits before keys, so that a run is never admitted by a new key and old limits. */
export const makeParts = Effect.all([spendGuard, keys, webhooks, labelBudgets, approvalRules])

/** Of each section. A rule costs a step for each run, and there may be thousands of label budgets. */
const rulesMax = 100

/** The rules of an organization as they are now, for a replay over past runs. */
export const makeRulesNow = Effect.map(makeParts, (parts) =>
  Effect.fnUntraced(function* (org_id: string) {
    const all = yield* Effect.forEach(parts, (part) =>
      Effect.map(part.existing(org_id), (existing) => {
        const rules = part.rules(existing)
        const more = rules.length - rulesMax
        return more > 0 ? [...rules.slice(0, rulesMax), `${more} more of ${part.section}`] : rules
      })
    )
    return all.flat()
  })
)
