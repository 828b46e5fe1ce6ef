/**
 * Wallets and the ledger. Each money rule of `schema/wallet/Wallet.ts` stands here again as a constraint or a trigger, so that no
 * bug and no operator can write books that do not add up.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const money = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE wallets (
      org_id text PRIMARY KEY REFERENCES orgs,
      lane smallint NOT NULL CHECK (lane >= 0),
      -- Counts the turns that touched it: a turn writes only over the version that it read.
      version bigint NOT NULL DEFAULT 0,
      balance bigint NOT NULL DEFAULT 0,
      reserved bigint NOT NULL DEFAULT 0 CHECK (reserved >= 0),
      entry_seq bigint NOT NULL DEFAULT 0 CHECK (entry_seq >= 0),
      per_run_limit bigint CHECK (per_run_limit >= 0),
      daily_limit bigint CHECK (daily_limit >= 0),
      spent_day date NOT NULL DEFAULT '1970-01-01',
      spent bigint NOT NULL DEFAULT 0 CHECK (spent >= 0),
      CONSTRAINT wallet_solvent CHECK (balance - reserved >= 0)
    ) WITH (fillfactor = 50)`
  yield* sql`
    CREATE TABLE ledger (
      org_id text NOT NULL,
      seq bigint NOT NULL CHECK (seq > 0),
      txn_id text NOT NULL,
      type text NOT NULL CHECK (type IN ('reserve', 'settle', 'release', 'topup', 'bonus', 'refund')),
      amount bigint NOT NULL,
      balance_after bigint NOT NULL,
      reserved_after bigint NOT NULL CHECK (reserved_after >= 0),
      run_id text,
      reference text NOT NULL,
      note text,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (org_id, seq),
      CONSTRAINT ledger_sign CHECK (
        CASE WHEN type IN ('reserve', 'settle') THEN amount < 0
             WHEN type IN ('release', 'topup', 'bonus') THEN amount > 0
             ELSE amount <> 0 END),
      CONSTRAINT ledger_run CHECK ((run_id IS NOT NULL) = (type IN ('reserve', 'settle', 'release')))
    )`
  // One reserve, one settle and one release per run; one credit per reference: nothing is paid or credited twice.
  yield* sql`CREATE UNIQUE INDEX ledger_once_per_run ON ledger (run_id, type) WHERE run_id IS NOT NULL`
  yield* sql`CREATE UNIQUE INDEX ledger_once_per_credit ON ledger (org_id, type, reference) WHERE run_id IS NULL`
  yield* sql`
    CREATE FUNCTION ledger_is_immutable() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'the ledger is append-only: % refused', TG_OP USING ERRCODE = 'restrict_violation'; END $$`
  yield* sql`
    CREATE TRIGGER ledger_is_immutable BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger FOR EACH STATEMENT
    EXECUTE FUNCTION ledger_is_immutable()`
  // Every new entry continues its wallet's chain, and the wallet equals its newest entry. Checked once per statement, so a
  // group commit of a hundred runs pays for it once.
  yield* sql`
    CREATE FUNCTION ledger_chains() RETURNS trigger LANGUAGE plpgsql AS $$
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
      LIMIT 1;
      IF broken IS NOT NULL THEN
        RAISE EXCEPTION 'wallet % does not equal its newest ledger entry', broken USING ERRCODE = 'check_violation';
      END IF;
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER ledger_chains AFTER INSERT ON ledger REFERENCING NEW TABLE AS added FOR EACH STATEMENT
    EXECUTE FUNCTION ledger_chains()`
})
