/** The books of all wallets, recomputed. One audit at a time runs in a process, however many operators ask for it. */
import { Effect, Schema } from "effect"
import { Audit, type AuditReport } from "../../../layers/audit/Audit.ts"
import { BooksWatch } from "../../../layers/audit/BooksWatch.ts"
import { byEquation } from "../../../layers/audit/titles.ts"
import { costBoundCache } from "../../../layers/platform/costBoundCache.ts"
import { HeadStore } from "../../../layers/receipts/HeadStore.ts"
import { Books, BooksAudit, BooksCheck } from "../../../schema/nouns/operator/Books.ts"
import { makeAsOperator } from "../../access/OperatorCookie.ts"
import { group } from "../group.ts"

const checksShown = 10

const booksJson = Schema.encodeSync(Books)
const checkJson = Schema.encodeSync(BooksCheck)
const auditJson = Schema.encodeSync(BooksAudit)
const auditView = (report: AuditReport) =>
  auditJson({
    ...report,
    adds_up: report.violations.length === 0,
    equations: byEquation(report.violations)
  })

export const OperatorBooksHandlers = group(
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
        const suspended = yield* watch.suspensions
        return booksJson({
          checks: yield* auditor.checks(checksShown),
          suspended: suspended.map((row) => ({ ...row, since: row.suspended_at })),
          heads: { complete_day: yield* heads.completeDay, due_day: yield* heads.due }
        })
      }),

      audit: () => Effect.map(allWallets, auditView),

      check: Effect.fnUntraced(function* () {
        return checkJson(yield* asOperator(auditor.record(yield* allWallets)))
      })
    })
  })
)
