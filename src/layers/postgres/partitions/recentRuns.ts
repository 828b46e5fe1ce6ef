/**
 * The table to read runs from by their ids: `runs_recent` while they are young enough to be in it, otherwise `runs`. A generic plan locks every
 * partition of the table that it names. With `runs_recent`, that number stays the same however many months there are.
 */
import type { SqlClient } from "effect/sql"
import { makeId } from "../../../schema/Ids.ts"
import { oldestOf } from "./oldestOf.ts"

/** A month leaves `runs_recent` 62 days after its end at the earliest. Half of that leaves room for wrong clocks. */
const recentMillis = 31 * 86_400_000

export const recentRuns = (
  sql: SqlClient.SqlClient,
  runs: ReadonlyArray<{ readonly run_id: string }>,
  nowMillis: number
) => sql.literal(oldestOf(runs) > makeId("run", Math.max(0, nowMillis - recentMillis)) ? "runs_recent" : "runs")
