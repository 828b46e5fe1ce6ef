/** One turn of an organization's lane, by a worker that has room for every run. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { decideTurn } from "../../src/actors/wallet/DecideTurn.ts"
import { TurnStore } from "../../src/layers/ledger/TurnStore.ts"
import { newId } from "../../src/layers/platform/Ids.ts"

const names = { txn_id: () => newId("txn"), payment_id: () => newId("pay"), token: () => newId("cmd") }

export const takeTurn = Effect.fnUntraced(function* (org_id: string, workerId = "none") {
  const sql = yield* SqlClient.SqlClient
  const turns = yield* TurnStore
  const [wallet] = yield* sql<{ lane: number }>`SELECT lane FROM wallets WHERE org_id = ${org_id}`
  const lane = wallet?.lane ?? 0
  const turn = yield* turns.turn(lane, 100, [], false, (view) =>
    decideTurn(view, { workerId, tryTake: () => true }, names)
  )
  if (turn === null) throw new Error(`The lane of ${org_id} has no commands.`)
  return turn
})
