/**
 * The ledger as a hash chain (E9), what a run cost the platform, and the auditor's own record.
 *
 * Each entry's hash covers the hash before it, so an entry that was changed, left out or moved is found by anybody who recomputes
 * the chain, also when whoever did it may switch off every trigger. The turn hashes (layers/ledger/LedgerChain.ts); `ledger_hash`
 * says the same in SQL, for the auditor.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const chain = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Stable, not immutable, is what makes it inline: reading the epoch out of a time counts as looking at the session's zone.
  yield* sql`
    CREATE FUNCTION ledger_hash(previous bytea, e ledger) RETURNS bytea LANGUAGE sql STABLE PARALLEL SAFE AS $$
      SELECT sha256(coalesce(previous, decode(repeat('00', 32), 'hex')) || convert_to(
        e.org_id || '|' || e.seq || '|' || e.txn_id || '|' || e.type || '|' || e.amount || '|' || e.balance_after || '|' ||
        e.reserved_after || '|' || coalesce(e.run_id, '-') || '|' || (extract(epoch FROM e.created_at) * 1000000)::bigint || '|' ||
        octet_length(e.reference) || '|' || e.reference || '|' || coalesce('+' || e.note, '-'), 'UTF8'))
    $$`
  yield* sql`ALTER TABLE ledger ADD COLUMN hash bytea`
  yield* sql`ALTER TABLE wallets ADD COLUMN head bytea`
  yield* sql`ALTER TABLE ledger DISABLE TRIGGER ledger_is_immutable`
  yield* sql`
    DO $$
    DECLARE e ledger; org text; previous bytea;
    BEGIN
      FOR e IN SELECT * FROM ledger ORDER BY org_id, seq LOOP
        IF org IS DISTINCT FROM e.org_id THEN previous := NULL; END IF;
        org := e.org_id;
        previous := ledger_hash(previous, e);
        UPDATE ledger SET hash = previous WHERE org_id = e.org_id AND seq = e.seq;
      END LOOP;
    END $$`
  yield* sql`ALTER TABLE ledger ENABLE TRIGGER ledger_is_immutable`
  yield* sql`
    ALTER TABLE ledger ALTER COLUMN hash SET NOT NULL, ADD CONSTRAINT ledger_hash_length CHECK (length(hash) = 32),
      -- Ids stand unquoted in the text that is hashed.
      ADD CONSTRAINT ledger_ids CHECK (strpos(org_id || txn_id || coalesce(run_id, ''), '|') = 0)`
  yield* sql`
    UPDATE wallets w SET head = l.hash FROM ledger l WHERE l.org_id = w.org_id AND l.seq = w.entry_seq`
  yield* sql`
    ALTER TABLE wallets ADD CONSTRAINT wallet_head CHECK ((head IS NULL) = (entry_seq = 0) AND length(head) = 32)`
  // As it was in 0002_money, and the wallet's head is its newest entry's hash.
  yield* sql`
    CREATE OR REPLACE FUNCTION ledger_chains() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE broken text;
    BEGIN
      -- Within the statement each entry follows its neighbour; only a wallet's first one is looked up in the table.
      SELECT n.org_id || ' entry ' || n.seq INTO broken
      FROM (SELECT org_id, seq, type, amount, balance_after, reserved_after, lag(seq) OVER chain AS before,
                   lag(balance_after) OVER chain AS balance_before, lag(reserved_after) OVER chain AS reserved_before
            FROM added WINDOW chain AS (PARTITION BY org_id ORDER BY seq)) n
      LEFT JOIN ledger p ON n.before IS NULL AND p.org_id = n.org_id AND p.seq = n.seq - 1
      WHERE coalesce(n.before, p.seq, 0) <> n.seq - 1
         OR n.balance_after <> coalesce(n.balance_before, p.balance_after, 0)
              + CASE WHEN n.type IN ('reserve', 'release') THEN 0 ELSE n.amount END
         OR n.reserved_after <> coalesce(n.reserved_before, p.reserved_after, 0)
              + CASE WHEN n.type IN ('reserve', 'release') THEN -n.amount WHEN n.type = 'settle' THEN n.amount ELSE 0 END
      LIMIT 1;
      IF broken IS NOT NULL THEN
        RAISE EXCEPTION 'the ledger does not continue at %', broken USING ERRCODE = 'check_violation';
      END IF;
      SELECT w.org_id INTO broken
      FROM (SELECT org_id, max(seq) AS seq FROM added GROUP BY org_id) m
      JOIN added n ON n.org_id = m.org_id AND n.seq = m.seq
      JOIN wallets w ON w.org_id = m.org_id
      WHERE w.entry_seq <> n.seq OR w.balance <> n.balance_after OR w.reserved <> n.reserved_after
         OR w.head IS DISTINCT FROM n.hash
      LIMIT 1;
      IF broken IS NOT NULL THEN
        RAISE EXCEPTION 'wallet % does not equal its newest ledger entry', broken USING ERRCODE = 'check_violation';
      END IF;
      RETURN NULL;
    END $$`
  // What the provider took for the run, whatever its caller was charged; null when no provider named or priced it.
  yield* sql`ALTER TABLE runs ADD COLUMN provider_cost bigint CHECK (provider_cost >= 0)`
  yield* sql`
    CREATE TABLE audit_checks (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      -- Of the snapshot that was read.
      checked_at timestamptz NOT NULL,
      wallets bigint NOT NULL CHECK (wallets >= 0),
      entries bigint NOT NULL CHECK (entries >= 0),
      runs bigint NOT NULL CHECK (runs >= 0),
      violations bigint NOT NULL CHECK (violations >= 0)
    )`
})
