/** Background migration: the alerts of daily limits that organizations had before alerts existed. A part that was reached before is no news. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { BackgroundMigration } from "./background.ts"

const batchMax = 1_000

const decodeCount = Schema.decodeUnknownSync(Schema.Tuple([Schema.Struct({ count: Schema.Int })]))
const decodeBatch = Schema.decodeUnknownSync(
  Schema.Tuple([Schema.Struct({ last: Schema.NullOr(Schema.String), rows: Schema.Int })])
)

export const eventHeadsOfLimits: BackgroundMigration = {
  total: Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(sql`SELECT count(*)::int AS count FROM wallets`, (rows) => decodeCount(rows)[0].count)
  ),
  batch: Effect.fnUntraced(function* (cursor: string) {
    const sql = yield* SqlClient.SqlClient
    const answer = yield* sql`
      WITH visited AS (
        SELECT org_id, entry_seq, daily_limit, spent_day, spent FROM wallets WHERE org_id > ${cursor} ORDER BY org_id LIMIT ${batchMax}
      ), made AS (
        INSERT INTO event_heads (org_id, ledger_seq, spent_day, spent, reached_of, reached)
        SELECT org_id, entry_seq, spent_day, spent, daily_limit,
               CASE WHEN daily_limit = 0 THEN 0 WHEN spent >= daily_limit THEN 100 WHEN spent * 5 >= daily_limit * 4 THEN 80
                    WHEN spent * 2 >= daily_limit THEN 50 ELSE 0 END
        FROM visited WHERE daily_limit IS NOT NULL
        ON CONFLICT (org_id) DO NOTHING
      )
      SELECT max(org_id) AS last, count(*)::int AS rows FROM visited`
    const [{ last, rows }] = decodeBatch(answer)
    return last === null ? null : { cursor: last, rows }
  })
}
