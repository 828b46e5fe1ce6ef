/**
 * Reports damaged segments: in the log for the operator, and in `history_damage` for the worker, which rebuilds them (Repair.ts).
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { storableText } from "../../../schema/json/StorableText.ts"
import type { SegmentDamaged } from "./SegmentDamaged.ts"

export const damageReports = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  /** Call it outside of the transaction that found the damage, because that one is rolled back. Logs each damaged segment once. */
  const report = Effect.fnUntraced(function* ({ segment, what, message }: SegmentDamaged) {
    const reported = yield* sql`
      INSERT INTO history_damage (segment, org_id, family, what)
      SELECT segment, org_id, family, ${storableText(what)}::text FROM history_segments WHERE segment = ${segment}
      ON CONFLICT (segment) DO NOTHING RETURNING segment`
    if (reported.length === 0) return
    yield* Effect.logError(`${message}. A worker rebuilds it from its runs. Check the disks of the database server.`)
  })

  return { report }
})
