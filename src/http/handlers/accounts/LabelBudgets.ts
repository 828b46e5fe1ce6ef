/** Budgets of labels: people set and remove them, and the wallet's turn decides by them. */
import { Clock, Effect, Schema } from "effect"
import { type LabelBudgetRow, LabelBudgets, labelBudgetsMax } from "../../../layers/accounts/LabelBudgets.ts"
import { type StatementRun, makeLabelStatements } from "../../../actors/receipts/LabelStatements.ts"
import { Books } from "../../../layers/ledger/Books.ts"
import { makeLabelRuns, statementRunsMax } from "../../../layers/receipts/LabelRuns.ts"
import { notACursor, refused, refusedWith } from "../../../schema/Errors.ts"
import { looksLike } from "../../../schema/Ids.ts"
import { listLabelBudgets } from "../../../schema/Steps.ts"
import { MicroUsd, zero } from "../../../schema/money/Money.ts"
import { dayAt, namedPeriod, resetsAt, zoneOf, type Zones } from "../../../schema/money/SpendDay.ts"
import { LabelBudget, LabelValue } from "../../../schema/nouns/LabelBudget.ts"
import { zoneNames } from "../../../schema/money/TimeZone.ts"
import { didYouMean } from "../../../schema/suggestion.ts"
import { statementSums, sumsOf } from "../../../schema/receipts/LabelStatement.ts"
import { isRunStatus } from "../../../schema/runs/Run.ts"
import { budgetState, type KeyBudget, spentIn } from "../../../schema/wallet/KeyBudget.ts"
import { group } from "../group.ts"
import type { LabelBudgetRequest } from "../../api/accounts/LabelBudgets.ts"
import { CurrentCaller } from "../../api/shapes/Common.ts"
import { makeAsCaller } from "../../middleware/Bearer.ts"
import { pageOrCsv } from "../CsvPage.ts"
import { cut, pageOf } from "../ListPage.ts"
import { listOf, organizationNoun } from "../OrganizationNoun.ts"

const budgetJson = Schema.encodeSync(LabelBudget)
const { removal } = organizationNoun("lbl", "label budget", "label_budget_id", listLabelBudgets)

/** The ledger entry up to which a statement counts, and the run after which its page begins. A statement says nothing of entries that are not there. */
const placeOf = Effect.fnUntraced(function* (cursor: string | null, newest: bigint) {
  if (cursor === null) return [newest, ""] as const
  const [, seq = "", run_id = ""] = /^(\d{1,18})\.(.+)$/.exec(cursor) ?? []
  const isPlace = seq !== "" && BigInt(seq) <= newest && looksLike("run", run_id)
  return isPlace ? ([BigInt(seq), run_id] as const) : yield* notACursor
})

const statementRun = ({ row, ledger }: StatementRun) => ({
  run_id: row.run_id,
  status: isRunStatus(row.status) ? row.status : ("failed" as const),
  capability: row.capability,
  endpoint: row.endpoint,
  finished_at: (row.finished_at ?? row.created_at).toISOString(),
  ...sumsOf(ledger)
})
const statementColumns = ["run_id", "status", "capability", "endpoint", "finished_at", ...statementSums] as const

export const makeLabelBudgetWrite = Effect.gen(function* () {
  const [budgets, books] = [yield* LabelBudgets, yield* Books]
  return Effect.fnUntraced(function* (payload: typeof LabelBudgetRequest.Type) {
    const { org_id } = yield* CurrentCaller
    const { value = null, time_zone = null } = payload
    if (time_zone !== null && !(yield* books.hasZone(time_zone)))
      return yield* refused("time_zone", `must be a name such as Europe/Berlin.${didYouMean(time_zone, zoneNames)}`)
    const row = yield* budgets
      .set(org_id, { ...payload, value, time_zone })
      .pipe(Effect.catchTag("ZoneKept", ({ until }) => refused("time_zone", `may change again on ${until}`)))
    if (row !== null) return row
    return yield* refused("label", `can't have another budget: an organization has at most ${labelBudgetsMax}`)
  })
})

export const labelBudgetView = ({ amount, counted, today, time_zones, own_zones, ...row }: LabelBudgetRow) =>
  budgetJson({
    ...row,
    limit: MicroUsd(amount),
    spent: row.value === null ? null : counted === null ? zero : spentIn(counted, today),
    reserved: row.value === null ? null : (counted?.reserved ?? zero),
    resets_at: resetsAt(row.period, today, time_zones ?? []),
    time_zone: own_zones === null ? null : zoneOf(own_zones)
  })

const valueJson = Schema.encodeSync(LabelValue)
/** `today` is the organization's. */
const valueView = (today: string, zones: Zones) => (budget: KeyBudget) => {
  const { budget_id: id, label: { name: label, value } = { name: "", value: "" } } = budget
  return valueJson({ ...budgetState(budget, today, zones), id, label, value })
}

export const LabelBudgetsHandlers = group(
  "labelBudgets",
  Effect.fnUntraced(function* (handlers) {
    const budgets = yield* LabelBudgets
    const [statements, label_runs, books] = [yield* makeLabelStatements, yield* makeLabelRuns, yield* Books]
    const asCaller = yield* makeAsCaller
    const write = yield* makeLabelBudgetWrite
    return handlers.handleAll({
      list: listOf("lbl", budgets.list, labelBudgetView),

      values: Effect.fnUntraced(function* ({ query }) {
        const { org_id } = yield* CurrentCaller
        const { label = null, id = null } = query
        const zones = yield* books.zones(org_id)
        const today = dayAt(yield* Clock.currentTimeMillis, zones)
        const read = (after: string | null, most: number) => budgets.values(org_id, { label, id }, after, most)
        return yield* pageOf("val", query, read, valueView(today, zones))
      }),

      statement: Effect.fnUntraced(
        function* ({ query }) {
          const { label, value, period: named, cursor = null } = query
          const { org_id } = yield* CurrentCaller
          const zones = (yield* budgets.zones(org_id, label, value)) ?? (yield* books.zones(org_id))
          const period = named ?? dayAt(yield* Clock.currentTimeMillis, zones).slice(0, 7)
          const times = namedPeriod(period, zones)
          if (times === null)
            return yield* refused("query.period", "must be a month such as 2026-11, or a day such as 2026-11-21")
          const newest = yield* label_runs.newest(org_id)
          const [as_of] = yield* placeOf(cursor, newest)
          const whole = { org_id, label, value, ...times, as_of }
          const page = Effect.fnUntraced(function* (place: string | null, most: number) {
            const [, from] = yield* placeOf(place, newest)
            if (from === "" && (yield* label_runs.areTooMany(whole)))
              return yield* refused(
                "query.period",
                `has more than ${statementRunsMax} runs; ask for its days, such as ${period.slice(0, 7)}-01`
              )
            return cut(yield* statements.runs(whole, from, most + 1), most, ({ row }) => `${as_of}.${row.run_id}`)
          })
          const columns = statementColumns
          const answer = yield* pageOrCsv({ name: "statement.csv", columns, cells: statementRun, query, page })
          if (!("rows" in answer)) return answer
          const { rows, next } = answer
          const signed = yield* statements.receipts(org_id, rows)
          return {
            items: rows.map((run, n) => ({ ...statementRun(run), ledger: run.ledger, receipt: signed[n] ?? null })),
            next_cursor: next,
            statement: next === null ? yield* statements.whole(whole, { period, time_zone: zoneOf(zones) }) : null
          }
        },
        Effect.catchTag("SigningUnavailable", ({ message }) => refusedWith("service_unavailable", message))
      ),

      set: ({ payload }) => Effect.map(asCaller(write(payload)), labelBudgetView),

      remove: removal(asCaller, budgets.remove)
    })
  })
)
