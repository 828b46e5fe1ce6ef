/** Turns of an organization's lane, by a worker that has room for every run or for none, and what they are given to decide. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { encodeCredit, encodeSettle } from "../../src/actors/mailbox/Commands.ts"
import { decideTurn } from "../../src/actors/wallet/DecideTurn.ts"
import { MailStore } from "../../src/layers/ledger/MailStore.ts"
import { TurnStore } from "../../src/layers/ledger/TurnStore.ts"
import { newId } from "../../src/layers/platform/Ids.ts"
import { dollars, zero } from "../../src/schema/money/Money.ts"
import type { SettleReport } from "../../src/schema/runs/SettleReport.ts"

const names = { txn_id: () => newId("txn"), payment_id: () => newId("pay"), token: () => newId("cmd") }

export const takeTurn = Effect.fnUntraced(function* (org_id: string, workerId = "none", hasRoom = true) {
  const sql = yield* SqlClient.SqlClient
  const turns = yield* TurnStore
  const [wallet] = yield* sql<{ lane: number }>`SELECT lane FROM wallets WHERE org_id = ${org_id}`
  const lane = wallet?.lane ?? 0
  const turn = yield* turns.turn(lane, 100, [], false, (view) =>
    decideTurn(view, { workerId, tryTake: () => hasRoom }, names)
  )
  if (turn === null) throw new Error(`The lane of ${org_id} has no commands.`)
  return turn
})

/** Enqueues a credit, which the next turn books. Gives its reference. */
export const credit = Effect.fnUntraced(function* (
  org_id: string,
  amount: string,
  changed: { readonly type?: "bonus" | "refund"; readonly reference?: string; readonly note?: string } = {}
) {
  const { type = "bonus", reference = newId("cmd"), note = "test" } = changed
  const payload = encodeCredit({ type, amount: dollars(amount), reference, note })
  yield* (yield* MailStore).enqueue({
    command_id: reference,
    org_id,
    run_id: null,
    tag: "Credit",
    payload,
    result: null
  })
  return reference
})

interface Leased {
  readonly org_id: string
  readonly run_id: string
  readonly lease_token: string
}

/** Enqueues the end of a run, which the next turn settles: without `changed`, a success that costs nothing. */
export const report = Effect.fnUntraced(function* (
  { org_id, run_id, lease_token }: Leased,
  changed: Partial<SettleReport> = {},
  result: string | null = "{}"
) {
  const plain = { status: "succeeded", charge: zero, billed: false, provider: "hunter" } as const
  const payload = encodeSettle({ lease_token, ...plain, attempts: [], hints: [], error: null, ...changed })
  yield* (yield* MailStore).enqueue({ command_id: null, org_id, run_id, tag: "Settle", payload, result })
})
