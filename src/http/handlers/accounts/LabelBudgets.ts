/** Budgets of labels: people set and remove them, and the wallet's turn decides by them. */
import { Effect, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { type LabelBudgetRow, LabelBudgets, labelBudgetsMax } from "../../../layers/accounts/LabelBudgets.ts"
import { refused } from "../../../schema/Errors.ts"
import { looksLike } from "../../../schema/Ids.ts"
import { MicroUsd, zero } from "../../../schema/money/Money.ts"
import { resetsAt } from "../../../schema/money/SpendDay.ts"
import { LabelBudget } from "../../../schema/nouns/LabelBudget.ts"
import { spentIn } from "../../../schema/wallet/KeyBudget.ts"
import { Api } from "../../api/Api.ts"
import { CurrentCaller } from "../../api/shapes/Common.ts"
import { makeAsCaller } from "../../middleware/Bearer.ts"
import { pageOf } from "../ListPage.ts"

const budgetJson = Schema.encodeSync(LabelBudget)

const view = ({ amount, counted, today, time_zones, ...row }: LabelBudgetRow) =>
  budgetJson({
    ...row,
    limit: MicroUsd(amount),
    spent: row.value === null ? null : counted === null ? zero : spentIn(counted, today),
    reserved: row.value === null ? null : (counted?.reserved ?? zero),
    resets_at: resetsAt(row.period, today, time_zones ?? [])
  })

export const LabelBudgetsHandlers = HttpApiBuilder.group(
  Api,
  "labelBudgets",
  Effect.fnUntraced(function* (handlers) {
    const budgets = yield* LabelBudgets
    const asCaller = yield* makeAsCaller
    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const { org_id } = yield* CurrentCaller
        return yield* pageOf("lbl", query, (before, limit) => budgets.list(org_id, before, limit), view)
      }),

      set: Effect.fnUntraced(function* ({ payload }) {
        const { org_id } = yield* CurrentCaller
        const row = yield* asCaller(budgets.set(org_id, { ...payload, value: payload.value ?? null }))
        if (row !== null) return view(row)
        return yield* refused("label", `can't have another budget: an organization has at most ${labelBudgetsMax}`)
      }),

      remove: Effect.fnUntraced(function* ({ params: { label_budget_id } }) {
        const { org_id } = yield* CurrentCaller
        const removed = looksLike("lbl", label_budget_id) && (yield* asCaller(budgets.remove(org_id, label_budget_id)))
        if (removed) return { id: label_budget_id, deleted: true as const }
        return yield* refused(
          "path.label_budget_id",
          "is no label budget of this organization",
          `There is no label budget "${label_budget_id}"; GET /v1/label-budgets lists them.`
        )
      })
    })
  })
)
