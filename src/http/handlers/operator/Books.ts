/** The books of all wallets, recomputed. One audit at a time runs in a process, however many operators ask for it. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Audit, type AuditReport, type CheckRow } from "../../../layers/audit/Audit.ts"
import { BooksWatch } from "../../../layers/audit/BooksWatch.ts"
import { byEquation } from "../../../layers/audit/titles.ts"
import { costBoundCache } from "../../../layers/platform/costBoundCache.ts"
import { HeadStore } from "../../../layers/receipts/HeadStore.ts"
import { usd } from "../../../schema/money/Money.ts"
import { makeAsOperator } from "../../access/OperatorCookie.ts"
import { Api } from "../../api/Api.ts"

const checksShown = 10

const checkView = ({ checked_at, wallets, entries, runs, violations }: CheckRow) => ({
  checked_at: checked_at.toISOString(),
  wallets: Number(wallets),
  entries: Number(entries),
  runs: Number(runs),
  violations: Number(violations)
})

const auditView = ({ checked_at, wallets, entries, runs, sheet, violations }: AuditReport) => ({
  checked_at: checked_at.toISOString(),
  wallets,
  entries,
  runs,
  adds_up: violations.length === 0,
  sheet: {
    topups: usd(sheet.topups),
    clawed_back: usd(sheet.clawed_back),
    bonuses: usd(sheet.bonuses),
    refunds: usd(sheet.refunds),
    charged: usd(sheet.charged),
    balances: usd(sheet.balances),
    provider_cost: usd(sheet.provider_cost),
    losses: usd(sheet.losses),
    loss_runs: Number(sheet.loss_runs),
    cost_unknown: Number(sheet.cost_unknown)
  },
  equations: byEquation(violations).map(({ id, title, violations: own }) => ({
    id,
    title,
    violations: own.map(({ subject, detail }) => ({ subject, detail }))
  }))
})

export const OperatorBooksHandlers = HttpApiBuilder.group(
  Api,
  "operatorBooks",
  Effect.fnUntraced(function* (handlers) {
    const asOperator = yield* makeAsOperator
    const auditor = yield* Audit
    const heads = yield* HeadStore
    const watch = yield* BooksWatch
    const audited = yield* costBoundCache(() => auditor.run)
    const allWallets = audited("all wallets")

    return handlers.handleAll({
      get: Effect.fnUntraced(function* () {
        const checks = yield* auditor.checks(checksShown)
        const suspended = yield* watch.suspensions
        return {
          checks: checks.map(checkView),
          suspended: suspended.map(({ org_id, organization, suspended_at }) => ({
            org_id,
            organization,
            since: suspended_at.toISOString()
          })),
          heads: { complete_day: yield* heads.completeDay, due_day: yield* heads.due }
        }
      }),

      audit: () => Effect.map(allWallets, auditView),

      check: Effect.fnUntraced(function* () {
        const report = yield* allWallets
        yield* asOperator(auditor.record(report))
        const { checked_at, wallets, entries, runs } = auditView(report)
        return { checked_at, wallets, entries, runs, violations: report.violations.length }
      })
    })
  })
)
