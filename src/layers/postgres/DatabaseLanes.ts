/**
 * The stored number of lanes. The first service that starts on a database stores it, and later ones may raise it with RUNGATE_LANES.
 *
 * It is stored because every process must agree on it. A process reads it again while it runs, so it follows a raised number.
 */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { lanesDefault } from "../../schema/wallet/Lane.ts"
import { Settings } from "../platform/Settings.ts"
import { DatabaseRefused } from "./DatabaseSchema.ts"
import { rowsOf } from "./Rows.ts"

const countRows = rowsOf({ lanes: Schema.Number })

/** The default until a service has started on the database. */
export const storedLanes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* countRows(sql`SELECT lanes::int AS lanes FROM lane_count`)
  return row?.lanes ?? lanesDefault
})

/** Stores the number of lanes, or raises it. Fails when RUNGATE_LANES is below the stored number. */
export const claimLanes = Effect.fnUntraced(function* (place: string) {
  const sql = yield* SqlClient.SqlClient
  const { lanes } = yield* Settings
  // Earlier versions stored no number. Their wallets are distributed over two lanes, by the same rule.
  yield* sql`
    INSERT INTO lane_count (lanes, spread)
    SELECT n.lanes, least(n.lanes, ${lanesDefault}::int)
    FROM (SELECT greatest(${lanes ?? lanesDefault}::int, (SELECT coalesce(max(lane), 0) + 1 FROM wallets)) AS lanes) n
    WHERE NOT EXISTS (SELECT FROM lane_count) ON CONFLICT DO NOTHING`
  if (lanes === null) return
  yield* sql`UPDATE lane_count SET lanes = ${lanes}, spread_after = '' WHERE lanes < ${lanes}`
  const stored = yield* storedLanes
  if (lanes < stored) {
    return yield* new DatabaseRefused({
      message: `RUNGATE_LANES is ${lanes}, but the database at ${place} has ${stored} lanes, and their number can't shrink. Set RUNGATE_LANES to ${stored} or more, or leave it unset.`
    })
  }
})
