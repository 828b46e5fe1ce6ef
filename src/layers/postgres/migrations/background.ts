/**
 * Changes of many rows that workers make after an upgrade, while the service runs. A new one is a line here: name and `BackgroundMigration`.
 *
 * A name is never used again. Code must be able to read both old and changed rows until a release that requires the end (contracts.ts).
 */
import type { Effect } from "effect"
import type { SqlClient } from "effect/sql"

export interface Batch {
  /** Where the next batch continues, such as the last key that was changed. */
  readonly cursor: string
  /** Rows that this batch visited. */
  readonly rows: number
}

export interface BackgroundMigration {
  /** About how many rows there are, for the progress. Called once, so it may be slow. */
  readonly total: Effect.Effect<number, unknown, SqlClient.SqlClient>
  /** Changes the rows after `cursor` (empty at the start), about a thousand at most. Null when there are none. */
  readonly batch: (cursor: string) => Effect.Effect<Batch | null, unknown, SqlClient.SqlClient>
}

export const background: Readonly<Record<string, BackgroundMigration>> = {}
