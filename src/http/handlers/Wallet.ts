/** The wallet: reads of the ledger's tables, and changes of the spend guard. */
import { Effect, Option, Schema, Struct } from "effect"
import { Accounts } from "../../layers/accounts/Accounts.ts"
import { Audit } from "../../layers/audit/Audit.ts"
import { forOwner } from "../../layers/audit/wallet.ts"
import { Books } from "../../layers/ledger/Books.ts"
import type { EntryRow } from "../../layers/ledger/EntryList.ts"
import { Reads } from "../../layers/standby/Reads.ts"
import { Transaction, Wallet, WalletAudit } from "../../schema/nouns/Wallet.ts"
import { problem, refused } from "../../schema/Errors.ts"
import { looksLike } from "../../schema/Ids.ts"
import { plus } from "../../schema/money/Money.ts"
import type { Zones } from "../../schema/money/SpendDay.ts"
import { seesWallet } from "../../schema/accounts/KeyAccess.ts"
import { type KeyBudget, leftIn } from "../../schema/wallet/KeyBudget.ts"
import { type EntryType, entryTypes } from "../../schema/wallet/Wallet.ts"
import { group } from "./group.ts"
import { CurrentCaller } from "../api/shapes/Common.ts"
import { pageOrCsv } from "./CsvPage.ts"
import { makeAsCaller } from "../middleware/Bearer.ts"
import { cut, numberBefore, periodOf } from "./ListPage.ts"
import { makeSpendGuard } from "./SpendGuard.ts"

const noBudget = problem(
  "forbidden",
  'This API key reads its own budget in place of the wallet (allow.read is "own"), and it has no budget. A person gives it one, or allow.read "organization", with PATCH /v1/api-keys/{key_id} or rungate keys update.'
)

/** What is left of a key's budget, and what its open runs hold, in the form of a wallet. */
const currency = "USD" as const
const walletJson = Schema.encodeSync(Wallet)
const transactionJson = Schema.encodeSync(Transaction)
const auditJson = Schema.encodeSync(WalletAudit)

const budgetAsWallet = (budget: KeyBudget, today: string) => {
  const left = leftIn(budget, today)
  return walletJson({ currency, balance: plus(left, budget.reserved), reserved: budget.reserved, available: left })
}

const entryType = (text: string): EntryType => entryTypes.find((type) => type === text) ?? "refund"

const transactionOf = (row: EntryRow) => transactionJson({ ...row, id: row.txn_id, type: entryType(row.type) })

const filterOf = Effect.fnUntraced(function* (
  query: { readonly type?: EntryType; readonly run_id?: string; readonly from?: string; readonly to?: string },
  zones: Zones
) {
  const { type = null, run_id = null } = query
  if (run_id !== null && !looksLike("run", run_id))
    return yield* refused("query.run_id", "is not the id of a run, such as run_01m81nzk95mq351g8pvrxgm8m4")
  return { type, run_id, ...(yield* periodOf(query, zones)) }
})

export const WalletHandlers = group(
  "wallet",
  Effect.fnUntraced(function* (handlers) {
    const books = yield* Books
    const accounts = yield* Accounts
    const reads = yield* Reads
    const auditor = yield* Audit
    const asCaller = yield* makeAsCaller
    const guard = yield* makeSpendGuard

    return handlers.handleAll({
      get: Effect.fnUntraced(function* () {
        const { org_id, key_id, access } = yield* CurrentCaller
        if (!seesWallet(access)) {
          const key = key_id === null ? null : Option.getOrNull(yield* accounts.key(org_id, key_id))
          if (key === null || key.budget === null) return yield* Effect.fail(noBudget)
          return budgetAsWallet(key.budget, key.today)
        }
        const { balance, reserved } = yield* books.wallet(org_id)
        return walletJson({ currency, balance, reserved, available: balance - reserved })
      }),

      transactions: Effect.fnUntraced(function* ({ query }) {
        const { org_id } = yield* CurrentCaller
        const dated = query.from !== undefined || query.to !== undefined
        const filter = yield* filterOf(query, dated ? yield* books.zones(org_id) : [])
        const page = Effect.fnUntraced(function* (cursor: string | null, limit: number) {
          const rows = yield* reads.entries(org_id, yield* numberBefore(cursor), limit + 1, filter)
          return cut(rows, limit, ({ seq }) => String(seq))
        })
        const columns = Struct.keys(Transaction.fields)
        const answer = yield* pageOrCsv({ name: "transactions.csv", columns, cells: transactionOf, query, page })
        if (!("rows" in answer)) return answer
        return { items: answer.rows.map(transactionOf), next_cursor: answer.next }
      }),

      audit: Effect.fnUntraced(function* () {
        const { org_id } = yield* CurrentCaller
        return auditJson({ ...forOwner(yield* auditor.wallet(org_id)), last_full_check: yield* auditor.last })
      }),

      guard: Effect.fnUntraced(function* () {
        const { org_id } = yield* CurrentCaller
        return yield* guard.view(org_id)
      }),

      setGuard: Effect.fnUntraced(function* ({ payload }) {
        const { org_id } = yield* CurrentCaller
        yield* asCaller(guard.change(payload))
        yield* guard.announce(org_id, payload)
        return yield* guard.view(org_id)
      })
    })
  })
)
