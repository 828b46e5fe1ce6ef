/** The sections of a configuration. Each reads what there is as the API shows it, and writes as the API's single operations do. */
import { Effect, Redacted, Schema } from "effect"
import { Accounts } from "../../../layers/accounts/Accounts.ts"
import { LabelBudgets, labelBudgetsMax } from "../../../layers/accounts/LabelBudgets.ts"
import { ApprovalRules, approvalRulesMax } from "../../../layers/guards/ApprovalRules.ts"
import { WebhookEndpoints } from "../../../layers/webhooks/Endpoints.ts"
import { isUnrestricted, scopeRefusal } from "../../../schema/accounts/KeyAccess.ts"
import type { Existing } from "../../../schema/configuration/Diff.ts"
import type { ReplayRule, ReplayRun } from "../../../schema/configuration/Replay.ts"
import { conditionFields } from "../../../schema/guards/Approval.ts"
import { withoutNulls } from "../../../schema/defined.ts"
import { LabelBudgetRequest } from "../../api/accounts/LabelBudgets.ts"
import { ApprovalRuleEntry, KeyEntry, WebhookEntry } from "../../api/Configuration.ts"
import { SpendGuardRequest } from "../../api/Wallet.ts"
import { CurrentCaller } from "../../api/shapes/Common.ts"
import { makeKeyWrites, keyView } from "../accounts/KeyWrites.ts"
import { labelBudgetView, makeLabelBudgetWrite } from "../accounts/LabelBudgets.ts"
import { approvalRuleView, makeRuleWrites } from "../accounts/Approvals.ts"
import { makeSpendGuard } from "../SpendGuard.ts"
import { makeWebhookWrites, webhookView } from "../Webhooks.ts"
import { changedOf, type Entry, fieldsOf, located, noRules, type Part } from "./Entry.ts"

const all = () => ""
const limited = (rule: string, amount: ReplayLimit, period: ReplayPeriod, counterOf: ReplayRule["counterOf"] = all) =>
  amount === null || amount === undefined ? [] : [{ rule, counterOf, limit: { amount, period } }]
type Limit = NonNullable<ReplayRule["limit"]>
type ReplayLimit = Limit["amount"] | null | undefined
type ReplayPeriod = Limit["period"]

/** What a scope restricts and past runs do not tell: another provider or a lower cap would have changed the run. */
const untold = ["providers", "max_cost", "read_only"]

const makeKeys = Effect.gen(function* () {
  const accounts = yield* Accounts
  const writes = yield* makeKeyWrites
  const shown = fieldsOf(KeyEntry)
  const encode = Schema.encodeSync(KeyEntry)
  const scopeOf = (entry: typeof KeyEntry.Type) => {
    const allow = entry.allow === undefined || entry.allow === null ? entry.allow : withoutNulls(entry.allow)
    return allow === undefined ? entry : { ...entry, allow: isUnrestricted(allow) ? null : allow }
  }
  const ofKey = (existing: Existing | null) => (run: ReplayRun) => existing !== null && run.key_id === existing.id
  const part: Part = {
    section: "keys",
    existing: (org_id) =>
      Effect.map(accounts.changeableKeys(org_id), (rows) =>
        rows.map((row) => ({ id: row.key_id, name: row.name, fields: shown(keyView(row)) }))
      ),
    entries: (configuration) =>
      Effect.succeed(
        configuration.keys?.map((given, n): Entry => {
          const entry = scopeOf(given)
          const { name, budget, allow } = entry
          return {
            name,
            path: `configuration.keys.${n}`,
            fields: encode(entry),
            create: Effect.map(writes.create({ ...entry, environment: writes.environment }), ({ id, token }) => ({
              id,
              secret: Redacted.value(token)
            })),
            change: ({ id }, names) => Effect.asVoid(writes.change(id, changedOf(entry, names))),
            rules: (existing, names) => {
              const isOf = ofKey(existing)
              const scoped = names.has("allow") && allow !== null && allow !== undefined ? withoutNulls(allow) : null
              const refuses = ({ capability, provider }: ReplayRun) =>
                scopeRefusal(scoped, {
                  ...{ capability, max_cost: null, acts: false },
                  provider: capability === null ? provider : null
                }) !== null
              return {
                rules: [
                  ...(names.has("budget") && budget
                    ? limited(`keys.${name}.budget`, budget.limit, budget.period, (run) => (isOf(run) ? "" : null))
                    : []),
                  ...(scoped === null
                    ? []
                    : [
                        {
                          rule: `keys.${name}.allow`,
                          counterOf: (run: ReplayRun) => (isOf(run) && refuses(run) ? "" : null),
                          limit: null
                        }
                      ])
                ],
                unknown: untold
                  .filter((field) => scoped !== null && field in scoped)
                  .map((field) => `keys.${name}.allow.${field}`)
              }
            }
          }
        }) ?? null
      ),
    remove: ({ id }) => Effect.flatMap(CurrentCaller, ({ org_id }) => Effect.asVoid(accounts.revokeKey(org_id, id))),
    removed: (existing) => ({
      rules: [{ rule: `keys.${existing.name}`, counterOf: (run) => (ofKey(existing)(run) ? "" : null), limit: null }],
      unknown: []
    })
  }
  return part
})

const makeGuard = Effect.gen(function* () {
  const guard = yield* makeSpendGuard
  const shown = fieldsOf(SpendGuardRequest)
  const encode = Schema.encodeSync(SpendGuardRequest)
  const part: Part = {
    section: "spend_guard",
    existing: (org_id) =>
      Effect.map(guard.view(org_id), (view) => [{ id: org_id, name: "spend_guard", fields: shown(view) }]),
    entries: ({ spend_guard: given }) => {
      if (given === undefined || given === null) return Effect.succeed(null)
      const { per_run_limit, daily_limit } = given
      const entry: Entry = {
        name: "spend_guard",
        path: "configuration.spend_guard",
        fields: encode(given),
        create: Effect.succeed(null),
        change: (_, names) => guard.change(changedOf(given, names)),
        rules: (_, names) => ({
          rules: [
            ...(names.has("per_run_limit") ? limited("spend_guard.per_run_limit", per_run_limit, "each") : []),
            ...(names.has("daily_limit") ? limited("spend_guard.daily_limit", daily_limit, "day") : [])
          ],
          unknown: ["contact_guard_days"].filter((field) => names.has(field)).map((field) => `spend_guard.${field}`)
        })
      }
      return Effect.succeed([entry])
    },
    remove: () => Effect.void,
    removed: () => noRules
  }
  return part
})

const makeWebhooks = Effect.gen(function* () {
  const endpoints = yield* WebhookEndpoints
  const writes = yield* makeWebhookWrites
  const shown = fieldsOf(WebhookEntry)
  const encode = Schema.encodeSync(WebhookEntry)
  const entryOf = Effect.fnUntraced(function* (given: typeof WebhookEntry.Type, n: number) {
    const path = `configuration.webhooks.${n}`
    const url = yield* Effect.mapError(writes.checkedUrl(given.url), located(path))
    const entry = withoutNulls({ ...given, url, events: [...new Set(given.events)] })
    return {
      name: url,
      path,
      fields: encode(entry),
      create: Effect.gen(function* () {
        const { row, secret } = yield* writes.create(entry)
        if (entry.status === "paused") yield* writes.change(row.id, { status: "paused" })
        return { id: row.id, secret }
      }),
      change: ({ id }, names) => Effect.asVoid(writes.change(id, changedOf(entry, names))),
      rules: () => noRules
    } satisfies Entry
  })
  const part: Part = {
    section: "webhooks",
    existing: (org_id) =>
      Effect.map(endpoints.list(org_id), (rows) =>
        rows.map((row) => ({ id: row.id, name: row.url, fields: shown(webhookView(row)) }))
      ),
    entries: ({ webhooks: given }) =>
      given === undefined || given === null ? Effect.succeed(null) : Effect.forEach(given, entryOf),
    remove: ({ id }) => Effect.flatMap(CurrentCaller, ({ org_id }) => Effect.asVoid(endpoints.remove(org_id, id))),
    removed: () => noRules
  }
  return part
})

const labelName = ({ label, value }: { readonly label: string; readonly value?: string | null }) =>
  typeof value === "string" ? `${label}=${value}` : label

const makeLabelBudgets = Effect.gen(function* () {
  const budgets = yield* LabelBudgets
  const write = yield* makeLabelBudgetWrite
  const shown = fieldsOf(LabelBudgetRequest)
  const encode = Schema.encodeSync(LabelBudgetRequest)
  const part: Part = {
    section: "label_budgets",
    existing: (org_id) =>
      Effect.map(budgets.list(org_id, null, labelBudgetsMax), (rows) =>
        rows.map((row) => ({
          id: row.id,
          name: labelName(row),
          fields: { ...shown(withoutNulls(labelBudgetView(row))), value: row.value }
        }))
      ),
    entries: ({ label_budgets: given }, existing) => {
      if (given === undefined || given === null) return Effect.succeed(null)
      // The budget of each value is not about a value with a budget of its own.
      const own = new Set([...existing.map(({ name }) => name), ...given.map(labelName)])
      return Effect.succeed(
        given.map((entry, n): Entry => {
          const { label, value = null, limit, period } = entry
          const name = labelName(entry)
          const counterOf = ({ labels: { [label]: of } }: ReplayRun) =>
            of === undefined || (value === null ? own.has(`${label}=${of}`) : of !== value) ? null : of
          return {
            name,
            path: `configuration.label_budgets.${n}`,
            fields: { ...encode(entry), value },
            create: Effect.as(write(entry), null),
            change: () => Effect.asVoid(write(entry)),
            rules: () => ({ rules: limited(`label_budgets.${name}`, limit, period, counterOf), unknown: [] })
          }
        })
      )
    },
    remove: ({ id }) => Effect.flatMap(CurrentCaller, ({ org_id }) => Effect.asVoid(budgets.remove(org_id, id))),
    removed: () => noRules
  }
  return part
})

const makeApprovalRules = Effect.gen(function* () {
  const rules = yield* ApprovalRules
  const writes = yield* makeRuleWrites
  const shown = fieldsOf(ApprovalRuleEntry)
  const encode = Schema.encodeSync(ApprovalRuleEntry)
  const conditions = Object.keys(conditionFields)
  const part: Part = {
    section: "approval_rules",
    existing: (org_id) =>
      Effect.map(rules.list(org_id, null, approvalRulesMax), (rows) =>
        rows.map((row) => {
          const fields = shown(approvalRuleView(row))
          // Null removes a condition, so a rule says of each whether it has it.
          return {
            id: row.id,
            name: row.name,
            fields: { ...Object.fromEntries(conditions.map((name) => [name, null])), ...fields }
          }
        })
      ),
    entries: ({ approval_rules: given }) =>
      Effect.succeed(
        given?.map((entry, n): Entry => {
          const fields: Record<string, unknown> = encode(entry)
          return {
            name: entry.name,
            path: `configuration.approval_rules.${n}`,
            fields: Object.fromEntries(
              Object.entries(fields).filter(([name, value]) => value !== null || conditions.includes(name))
            ),
            create: Effect.as(writes.add(entry), null),
            change: ({ id }, names) => Effect.asVoid(writes.change(id, changedOf(entry, names))),
            rules: () => noRules
          }
        }) ?? null
      ),
    remove: ({ id }) => Effect.flatMap(CurrentCaller, ({ org_id }) => Effect.asVoid(rules.remove(org_id, id))),
    removed: () => noRules
  }
  return part
})

/** Limits before keys, so that a run is never admitted by a new key and old limits. */
export const makeParts = Effect.all([makeGuard, makeKeys, makeWebhooks, makeLabelBudgets, makeApprovalRules])
