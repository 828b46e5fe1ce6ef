/**
 * When a provider may next be asked about a dispute of the outcome warranty, and how often it was asked.
 *
 * Older releases write neither column: their questions count from the next one on.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { audited } from "./audited.ts"

export const disputeAsks = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    ALTER TABLE warranty_disputes
      ADD COLUMN asks int NOT NULL DEFAULT 0,
      ADD COLUMN ask_after timestamptz,
      ADD CONSTRAINT warranty_disputes_asks CHECK (asks >= 0) NOT VALID`
  // Runs about which an organization had providers asked in the last hour. No row fits yet, so that it is made in one short scan.
  yield* sql`CREATE INDEX warranty_disputes_asked ON warranty_disputes (org_id, asked_at) WHERE asks > 0`
  yield* sql`DROP TRIGGER audited ON warranty_disputes`
  yield* audited({
    table: "warranty_disputes",
    noun: "dispute",
    id: "run_id",
    hidden: ["evidence", "asked_at", "refund_of", "asks", "ask_after"],
    on: "INSERT OR UPDATE",
    known: true
  })
})
