/**
 * The number of lanes, and how wallets move to new lanes when it grows.
 *
 * The number never shrinks: a process that has not read it yet may still store commands for the highest lane.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const laneCount = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE lane_count (
      single boolean PRIMARY KEY DEFAULT true CHECK (single),
      lanes smallint NOT NULL CHECK (lanes BETWEEN 1 AND 32),
      -- All wallets are distributed over this many lanes. Smaller than lanes while wallets move.
      spread smallint NOT NULL CHECK (spread BETWEEN 1 AND lanes),
      -- While wallets move: the wallets up to this organization have moved.
      spread_after text NOT NULL DEFAULT ''
    )`
  yield* sql`
    CREATE FUNCTION lane_count_grows() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'the number of lanes never shrinks: % refused', TG_OP USING ERRCODE = 'restrict_violation'; END $$`
  yield* sql`
    CREATE TRIGGER lane_count_grows BEFORE UPDATE ON lane_count FOR EACH ROW WHEN (NEW.lanes < OLD.lanes)
    EXECUTE FUNCTION lane_count_grows()`
  yield* sql`
    CREATE TRIGGER lane_count_stays BEFORE DELETE OR TRUNCATE ON lane_count FOR EACH STATEMENT EXECUTE FUNCTION lane_count_grows()`
  // Moves a page of wallets with their stored commands. False: another process has moved this page, or the number has grown since.
  // The lock waits for the statements that are storing or deciding commands, and lets no other begin. So no command of a moved
  // wallet is left or arrives in its old lane. The new version undoes every turn that has read the wallet before. All of it is one
  // statement, so a process that freezes meanwhile keeps no lock. Whoever waits for the lock blocks others, so the wait is short.
  yield* sql`
    CREATE FUNCTION rungate_move_wallets(orgs text[], new_lanes bigint[], page_after text, page_end text, over bigint)
    RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
    BEGIN
      IF cardinality(orgs) > 0 THEN
        PERFORM set_config('lock_timeout', '100ms', true);
        LOCK TABLE mailbox IN SHARE ROW EXCLUSIVE MODE;
      END IF;
      UPDATE lane_count c SET spread_after = page_end, spread = CASE WHEN page_end = '' THEN c.lanes ELSE c.spread END
      WHERE c.lanes = over AND c.spread < over AND c.spread_after = page_after;
      IF NOT FOUND THEN RETURN false; END IF;
      UPDATE wallets w SET lane = n.lane, version = w.version + 1 FROM unnest(orgs, new_lanes) AS n(org_id, lane)
      WHERE w.org_id = n.org_id AND w.lane <> n.lane;
      UPDATE mailbox m SET lane = n.lane FROM unnest(orgs, new_lanes) AS n(org_id, lane)
      WHERE m.org_id = n.org_id AND m.lane <> n.lane;
      RETURN true;
    END $$`
})
