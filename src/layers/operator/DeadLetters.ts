/**
 * Lanes with their backlog, and commands that are dead-lettered: each failed alone too often, so no turn reads it again until somebody
 * retries it. For operators, because the reason can contain internals.
 */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Lane, OpenRuns } from "../../schema/nouns/operator/Queues.ts"
import { oneRowOf, rowsOf, storedAs } from "../postgres/Rows.ts"

const laneRows = rowsOf(Lane.fields)
const stateRows = storedAs(OpenRuns.fields)

const deadLetterRows = storedAs({
  id: Schema.BigInt,
  lane: Schema.Number,
  org_id: Schema.String,
  organization: Schema.String,
  run_id: Schema.NullOr(Schema.String),
  tag: Schema.String,
  /** Why it failed the last time. */
  why: Schema.String,
  attempts: Schema.Number,
  created_at: Schema.Date
})

const wokenRows = storedAs({ lane: Schema.Number, org_id: Schema.String, tag: Schema.String })
const lanesRow = oneRowOf({ lanes: Schema.Number })

export const makeDeadLetters = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  return {
    /** Every lane in order, also those without commands. */
    lanes: Effect.orDie(
      Effect.gen(function* () {
        const { lanes: count } = yield* lanesRow(sql`SELECT lanes::int AS lanes FROM lane_count`)
        return yield* laneRows(sql`
          SELECT n.lane, count(m.id) FILTER (WHERE m.parked IS NULL) AS commands,
                 count(m.id) FILTER (WHERE m.parked IS NOT NULL) AS dead_letters,
                 extract(epoch FROM now() - min(m.created_at) FILTER (WHERE m.parked IS NULL))::float8 AS oldest_seconds
          FROM generate_series(0, ${count}::int - 1) AS n(lane) LEFT JOIN mailbox m ON m.lane = n.lane
          GROUP BY n.lane ORDER BY n.lane`)
      })
    ),
    /** Open runs by state. */
    runs: stateRows.all(sql`
      SELECT state, count(*) AS runs, extract(epoch FROM now() - min(since))::float8 AS oldest_seconds
      FROM open_runs GROUP BY state ORDER BY state`),
    /** Newest first; only those stored before `before`, when given. */
    list: (before: bigint | null, limit: number) =>
      deadLetterRows.all(sql`
        SELECT m.id, m.lane, m.org_id, o.name AS organization, m.run_id, m.tag, m.parked AS why, m.attempts, m.created_at
        FROM mailbox m JOIN orgs o USING (org_id)
        WHERE m.parked IS NOT NULL AND (${before}::bigint IS NULL OR m.id < ${before}) ORDER BY m.id DESC LIMIT ${limit}`),
    /**
     * Lets the turns of its lane read the command again, with all of its attempts. Null if it is not dead-lettered any more. The caller wakes
     * the lane. Call it on behalf of the operator.
     */
    retry: (id: bigint) =>
      wokenRows.first(sql`
        UPDATE mailbox SET parked = NULL, attempts = 0 WHERE id = ${id} AND parked IS NOT NULL
        RETURNING lane, org_id, tag`)
  }
})
