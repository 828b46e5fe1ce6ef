-- Wallets and the ledger. Each money rule of `schema/wallet/Wallet.ts` stands here again as a constraint or a trigger, so that no bug and no
-- operator can write books that do not add up.
--
-- The ledger is a hash chain: each entry's hash covers the hash before it. So an entry that was changed, left out or moved is found by anybody
-- who recomputes the chain, also when whoever did it may switch off every trigger. The turn hashes (layers/ledger/LedgerChain.ts), and
-- `ledger_hash` says the same in SQL, for the auditor.

-- The day that counts spending (`dayAt` in schema/money/SpendDay.ts). `zones` are the changes of a wallet's time zone, oldest first. The day, the
-- week and the month of a change end as the zone before says.
CREATE FUNCTION spend_day_in(zones jsonb, at timestamptz) RETURNS date LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce((
    SELECT greatest(d.changed, least((at AT TIME ZONE (c.change ->> 'zone'))::date, (
             SELECT min(p.last) FROM (VALUES (d.changed), ((date_trunc('week', d.changed::timestamp) + interval '6 days')::date),
               ((date_trunc('month', d.changed::timestamp) + interval '1 month - 1 day')::date)) AS p (last)
             WHERE (at AT TIME ZONE (c.change ->> 'before'))::date <= p.last)))
    FROM jsonb_array_elements(zones) WITH ORDINALITY AS c (change, n), LATERAL (SELECT (c.change ->> 'on')::date AS changed) d
    WHERE (c.change ->> 'since')::bigint <= (extract(epoch FROM at) * 1000000)::bigint ORDER BY c.n DESC LIMIT 1),
  (at AT TIME ZONE 'UTC')::date)
$$;
-- PostgreSQL puts it in the place of its call.
CREATE FUNCTION spend_day(zones jsonb, at timestamptz) RETURNS date LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN zones IS NULL THEN (at AT TIME ZONE 'UTC')::date ELSE spend_day_in(zones, at) END
$$;

-- Whether it is the name of a time zone. PostgreSQL takes a name such as CET for an abbreviation, which has no summer time.
CREATE FUNCTION is_time_zone(zone text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT zone = 'UTC' OR (EXISTS (SELECT FROM pg_timezone_names n WHERE n.name = zone)
                          AND NOT EXISTS (SELECT FROM pg_timezone_abbrevs a WHERE a.abbrev = upper(zone)))
$$;

-- One row for each organization: its balance, what its open runs hold, and its limits. Turns of its lane write it, and people its limits (layers/ledger/WalletLimits.ts).
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
  -- The hash of the newest entry.
  head bytea,
  open_runs bigint NOT NULL DEFAULT 0 CHECK (open_runs >= 0),
  -- It takes no new runs, because its books do not add up. A turn reads the mark with the wallet, so an ordinary run costs nothing more.
  suspended boolean NOT NULL DEFAULT false,
  -- What allowances hold of reserved: the sum of key_budgets.held.
  allowances_held bigint NOT NULL DEFAULT 0,
  -- The changes of the zone whose days count spending (`Zones` in schema/money/SpendDay.ts). Null: always UTC. A turn reads them with the wallet.
  time_zones jsonb,
  -- The labels that have a budget (label_budgets). Null: none has.
  budget_labels text[],
  -- The active rules that say which runs need an approval (approval_rules). Null: there are none. A trigger writes it, and a turn reads it.
  approval_rules jsonb,
  -- The organization is moving to another cell (`cell_moves`). 1: it takes no new runs. 2: nothing of it changes here.
  moving smallint NOT NULL DEFAULT 0 CHECK (moving BETWEEN 0 AND 2),
  CONSTRAINT wallet_head CHECK ((head IS NULL) = (entry_seq = 0) AND length(head) = 32),
  CONSTRAINT wallet_allowances CHECK (allowances_held >= 0 AND allowances_held <= reserved)
) WITH (fillfactor = 50);

-- Available may fall below zero by what was clawed back and by nothing else. Refunds name no run, which leaves one partition.
CREATE FUNCTION wallet_solvent() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE clawed numeric;
BEGIN
  SELECT coalesce(-sum(amount), 0) INTO clawed FROM ledger
  WHERE org_id = NEW.org_id AND seq > OLD.entry_seq AND seq <= NEW.entry_seq AND type = 'refund' AND amount < 0 AND run_id IS NULL;
  IF NEW.balance - NEW.reserved < least(0, OLD.balance - OLD.reserved) - clawed THEN
    RAISE EXCEPTION 'wallet_solvent: % would have % available', NEW.org_id, NEW.balance - NEW.reserved USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER wallet_solvent AFTER UPDATE ON wallets FOR EACH ROW WHEN (NEW.balance < NEW.reserved)
EXECUTE FUNCTION wallet_solvent();

CREATE FUNCTION wallet_is_suspended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the books of % do not add up, so it takes no new runs', NEW.org_id USING ERRCODE = 'check_violation';
END $$;
-- False for every other wallet, which then costs one comparison.
CREATE TRIGGER wallet_is_suspended BEFORE UPDATE ON wallets FOR EACH ROW
WHEN (NEW.suspended AND NEW.reserved > OLD.reserved) EXECUTE FUNCTION wallet_is_suspended();

-- What an organization has is copied to another cell and then deleted here, so a change meanwhile would be lost. The state is that of a server
-- that starts: clients try again.
CREATE FUNCTION organization_is_moving() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE org text := coalesce(NEW.org_id, OLD.org_id);
BEGIN
  IF EXISTS (SELECT FROM wallets w WHERE w.org_id = org AND w.moving = 2) THEN
    RAISE EXCEPTION '% is moving to another cell', org USING ERRCODE = 'cannot_connect_now', CONSTRAINT = 'organization_is_moving';
  END IF;
  RETURN CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
END $$;
CREATE TRIGGER organization_is_moving BEFORE UPDATE ON wallets FOR EACH ROW WHEN (OLD.moving = 2 AND NEW.moving = 2 AND NEW.lane = OLD.lane)
EXECUTE FUNCTION organization_is_moving();

-- The same for how a person signs in, which the copy has too: in whichever of their organizations it moves.
CREATE FUNCTION person_is_moving() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  person text := coalesce(NEW.user_id, OLD.user_id);
  org text := (SELECT w.org_id FROM wallets w WHERE w.moving = 2 AND w.org_id IN
    (SELECT m.org_id FROM members m WHERE m.user_id = person UNION SELECT u.org_id FROM users u WHERE u.user_id = person) LIMIT 1);
BEGIN
  IF org IS NOT NULL THEN
    RAISE EXCEPTION '% is moving to another cell', org USING ERRCODE = 'cannot_connect_now', CONSTRAINT = 'person_is_moving';
  END IF;
  RETURN CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
END $$;

CREATE FUNCTION audit_guard() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  was jsonb := jsonb_build_object('per_run_limit', audit_usd(OLD.per_run_limit), 'daily_limit', audit_usd(OLD.daily_limit),
                                  'time_zone', coalesce(OLD.time_zones -> -1 ->> 'zone', 'UTC'));
  becomes jsonb := jsonb_build_object('per_run_limit', audit_usd(NEW.per_run_limit), 'daily_limit', audit_usd(NEW.daily_limit),
                                      'time_zone', coalesce(NEW.time_zones -> -1 ->> 'zone', 'UTC'));
BEGIN
  PERFORM audit_write(audit_actor(), NEW.org_id, 'spend_guard.changed', NEW.org_id,
                      audit_changed(was, becomes), audit_changed(becomes, was));
  RETURN NULL;
END $$;
CREATE TRIGGER audited_guard AFTER UPDATE ON wallets FOR EACH ROW
WHEN ((OLD.per_run_limit, OLD.daily_limit, OLD.time_zones) IS DISTINCT FROM (NEW.per_run_limit, NEW.daily_limit, NEW.time_zones))
EXECUTE FUNCTION audit_guard();

-- The rule of `withZone` in schema/money/SpendDay.ts: a change is added, or corrects the last one while the day of that one runs. What was counted
-- before keeps its day. A time zone has a name of PostgreSQL's list. The first zone of a label's budget follows the wallet's.
CREATE FUNCTION zone_changes() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  zones jsonb := coalesce(OLD.time_zones, (SELECT w.time_zones FROM wallets w WHERE w.org_id = NEW.org_id));
  was jsonb := OLD.time_zones -> -1;
  becomes jsonb := NEW.time_zones -> -1;
  was_on date := was ->> 'on';
  corrects boolean := coalesce(becomes - 'zone' = was - 'zone', false);
  kept jsonb := CASE WHEN corrects THEN OLD.time_zones - (-1) ELSE coalesce(OLD.time_zones, '[]') END;
BEGIN
  IF (NEW.time_zones = kept || jsonb_build_array(becomes)) IS NOT TRUE
     OR is_time_zone(becomes ->> 'zone') IS NOT TRUE
     OR (CASE WHEN corrects THEN (now() AT TIME ZONE (was ->> 'before'))::date <= was_on
              ELSE becomes ->> 'before' = coalesce(zones -> -1 ->> 'zone', 'UTC')
               AND (becomes ->> 'on')::date = spend_day(zones, 'epoch'::timestamptz + (becomes ->> 'since')::bigint * interval '1 microsecond')
               AND (was IS NULL OR (date_trunc('month', (becomes ->> 'on')::timestamp) > date_trunc('month', was_on::timestamp)
                                    AND date_trunc('week', (becomes ->> 'on')::timestamp) > date_trunc('week', was_on::timestamp))) END) IS NOT TRUE
  THEN
    RAISE EXCEPTION 'the time zone of % may not change like this now', NEW.org_id
      USING ERRCODE = 'check_violation', CONSTRAINT = TG_NAME;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER wallet_zone_changes BEFORE UPDATE ON wallets FOR EACH ROW
WHEN (OLD.time_zones IS DISTINCT FROM NEW.time_zones) EXECUTE FUNCTION zone_changes();
CREATE TRIGGER label_zone_starts BEFORE INSERT ON label_budgets FOR EACH ROW WHEN (NEW.time_zones IS NOT NULL) EXECUTE FUNCTION zone_changes();
CREATE TRIGGER label_zone_changes BEFORE UPDATE ON label_budgets FOR EACH ROW
WHEN (OLD.time_zones IS DISTINCT FROM NEW.time_zones) EXECUTE FUNCTION zone_changes();

-- The zones of a value, whose budget wants a zone now: what it has counted keeps its day, whichever budget counted it. So a change is added, or
-- corrects the last one while the day of that one runs. Null: the wallet's. A value has at most 200 changes, and then keeps its zone: each costs every count of its days.
CREATE FUNCTION value_zones(has jsonb, of_wallet jsonb, wanted jsonb, at timestamptz) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN has IS NULL AND wanted IS NULL THEN NULL WHEN before = zone OR jsonb_array_length(zones) >= 200 THEN zones
    WHEN (at AT TIME ZONE (zones -> -1 ->> 'before'))::date <= (zones -> -1 ->> 'on')::date
      THEN zones - (-1) || jsonb_build_array((zones -> -1) || jsonb_build_object('zone', zone))
    ELSE zones || jsonb_build_array(jsonb_build_object('zone', zone, 'before', before, 'on', spend_day(zones, at),
                                                       'since', (extract(epoch FROM at) * 1000000)::bigint)) END
  FROM (SELECT coalesce(has, of_wallet, '[]') AS zones, coalesce(wanted -> -1 ->> 'zone', of_wallet -> -1 ->> 'zone', 'UTC') AS zone) z,
       LATERAL (SELECT coalesce(z.zones -> -1 ->> 'zone', 'UTC') AS before) b
$$;

-- One row for each reservation, charge, release, deposit and refund of a wallet. Only its turns append, and nobody changes or deletes a row.
--
-- It has one partition for each month, by the ids of the runs that its entries are about (partitions.sql). All entries of a run are in one
-- partition, so "one reserve, one settle and one release per run" stays an index. The rules of its rows are in `ledger_chains` and
-- `ledger_credit_rules`: PostgreSQL parses each stored CHECK again for every statement that writes the table, and a PL/pgSQL function once for
-- each connection.
CREATE TABLE ledger (
  org_id text NOT NULL,
  seq bigint NOT NULL,
  txn_id text NOT NULL,
  type text NOT NULL,
  amount bigint NOT NULL,
  balance_after bigint NOT NULL,
  reserved_after bigint NOT NULL,
  run_id text,
  reference text NOT NULL,
  note text,
  created_at timestamptz NOT NULL DEFAULT now(),
  hash bytea NOT NULL
) PARTITION BY RANGE (run_id);

CREATE FUNCTION ledger_is_immutable() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'the ledger is append-only: % refused', TG_OP USING ERRCODE = 'restrict_violation'; END $$;
CREATE TRIGGER ledger_is_immutable BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger FOR EACH STATEMENT
EXECUTE FUNCTION ledger_is_immutable();

-- One row for each wallet, where its chain stands: makes the numbers of entries unique over all partitions. Only triggers of the owner write it.
CREATE TABLE ledger_heads (
  org_id text PRIMARY KEY,
  -- Of the newest entry. 0 before the first one.
  seq bigint NOT NULL CHECK (seq >= 0),
  balance bigint NOT NULL,
  reserved bigint NOT NULL
) WITH (fillfactor = 50);

CREATE FUNCTION wallet_begins_chain() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT AS $$
BEGIN INSERT INTO ledger_heads (org_id, seq, balance, reserved) VALUES (NEW.org_id, 0, 0, 0); RETURN NULL; END $$;
CREATE TRIGGER wallet_begins_chain AFTER INSERT ON wallets FOR EACH ROW EXECUTE FUNCTION wallet_begins_chain();

CREATE FUNCTION ledger_head_grows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'an entry number of the ledger is used once: % refused', TG_OP USING ERRCODE = 'restrict_violation'; END $$;
CREATE TRIGGER ledger_head_grows BEFORE UPDATE ON ledger_heads FOR EACH ROW
WHEN (NEW.org_id <> OLD.org_id OR NEW.seq <= OLD.seq) EXECUTE FUNCTION ledger_head_grows();
CREATE TRIGGER ledger_head_stays BEFORE DELETE OR TRUNCATE ON ledger_heads FOR EACH STATEMENT EXECUTE FUNCTION ledger_head_grows();

-- Every new entry keeps the rules of a row and continues its wallet's chain, and the wallet equals its newest entry. The entries of a statement
-- are read once, in order. A broken rule is reported by its name, as a CHECK's is. As in a CHECK, a rule that is null holds.
--
-- An index can't make (org_id, seq) unique over all partitions. So an organization's entries must begin where its row in ledger_heads stands,
-- and move it. Of two transactions with the same number, the second one waits for that row and is then refused.
CREATE FUNCTION ledger_chains() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT AS $$
DECLARE
  e record; broken text; last int := 0; changed int; orgs text[]; hashes bytea[];
  first_seqs bigint[]; first_balances bigint[]; first_reserved bigint[]; seqs bigint[]; balances bigint[]; reserved bigint[];
BEGIN
  FOR e IN
    SELECT org_id, seq, balance_after, reserved_after, hash,
           balance_after - CASE WHEN type IN ('reserve', 'release') THEN 0 ELSE amount END AS balance_before,
           reserved_after - CASE WHEN type IN ('reserve', 'release') THEN -amount WHEN type = 'settle' THEN amount ELSE 0 END AS reserved_before,
           CASE
             WHEN NOT (seq > 0) THEN 'ledger_seq_check'
             WHEN NOT (type IN ('reserve', 'settle', 'release', 'topup', 'bonus', 'refund')) THEN 'ledger_type_check'
             WHEN NOT (CASE WHEN type IN ('reserve', 'settle') THEN amount < 0
                            WHEN type IN ('release', 'topup', 'bonus') THEN amount > 0 ELSE amount <> 0 END) THEN 'ledger_sign'
             WHEN NOT (CASE WHEN type = 'settle' THEN run_id IS NOT NULL
                            WHEN type IN ('reserve', 'release') THEN (run_id IS NOT NULL) <> (left(reference, 10) = 'allowance:')
                            ELSE run_id IS NULL END) THEN 'ledger_run'
             WHEN NOT (reserved_after >= 0) THEN 'ledger_reserved_after_check'
             WHEN NOT (length(hash) = 32) THEN 'ledger_hash_length'
             -- Ids stand unquoted in the text that is hashed.
             WHEN NOT (strpos(org_id || txn_id || coalesce(run_id, ''), '|') = 0) THEN 'ledger_ids' END AS rule
    FROM added ORDER BY org_id, seq
  LOOP
    IF e.rule IS NOT NULL THEN
      RAISE EXCEPTION 'a ledger entry breaks the rule %', e.rule
        USING ERRCODE = 'check_violation', CONSTRAINT = e.rule, TABLE = TG_TABLE_NAME;
    END IF;
    IF last = 0 OR orgs[last] <> e.org_id THEN
      last := last + 1;
      orgs[last] := e.org_id; first_seqs[last] := e.seq - 1; first_balances[last] := e.balance_before; first_reserved[last] := e.reserved_before;
    ELSIF seqs[last] <> e.seq - 1 OR balances[last] <> e.balance_before OR reserved[last] <> e.reserved_before THEN
      RAISE EXCEPTION 'the ledger does not continue at % entry %', e.org_id, e.seq USING ERRCODE = 'check_violation';
    END IF;
    seqs[last] := e.seq; balances[last] := e.balance_after; reserved[last] := e.reserved_after; hashes[last] := e.hash;
  END LOOP;
  WITH n AS (
    SELECT * FROM unnest(orgs, first_seqs, first_balances, first_reserved, seqs, balances, reserved, hashes)
           AS n(org_id, first_seq, first_balance, first_reserved, seq, balance, reserved, hash)
  ), moved AS (
    UPDATE ledger_heads h SET seq = n.seq, balance = n.balance, reserved = n.reserved FROM n
    WHERE h.org_id = n.org_id AND h.seq = n.first_seq AND h.balance = n.first_balance AND h.reserved = n.first_reserved
    RETURNING 1
  )
  SELECT (SELECT count(*) FROM moved), min(n.org_id) FILTER (WHERE w.entry_seq <> n.seq OR w.balance <> n.balance OR w.reserved <> n.reserved
         OR w.head IS DISTINCT FROM n.hash) INTO changed, broken FROM n LEFT JOIN wallets w ON w.org_id = n.org_id;
  IF changed <> last THEN
    RAISE EXCEPTION 'the ledger does not continue at %', orgs USING ERRCODE = 'check_violation';
  END IF;
  IF broken IS NOT NULL THEN
    RAISE EXCEPTION 'wallet % does not equal its newest ledger entry', broken USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER ledger_chains AFTER INSERT ON ledger REFERENCING NEW TABLE AS added FOR EACH STATEMENT
EXECUTE FUNCTION ledger_chains();

-- A top-up needs a paid payment of that organization, amount and name; a refund of the warranty needs its decision. Credits by operators are in
-- the audit log. Others are the system's, and the ledger says why.
-- After the statement, which writes the payment or the refund as well.
CREATE FUNCTION ledger_credit_rules() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE who jsonb;
BEGIN
  IF NEW.type = 'topup' THEN
    IF NOT EXISTS (SELECT FROM payments p WHERE p.org_id = NEW.org_id AND p.state = 'paid' AND p.amount = NEW.amount
                     AND coalesce(p.session_id, p.payment_intent, p.payment_id) = NEW.reference) THEN
      RAISE EXCEPTION 'top-up % of % has no paid payment', NEW.reference, NEW.org_id USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
  END IF;
  IF left(NEW.reference, 10) = 'simulated:' AND NEW.type = 'bonus' AND EXISTS (SELECT FROM service_mode WHERE mode = 'production') THEN
    RAISE EXCEPTION 'a production database accepts no simulated money (%)', TG_TABLE_NAME USING ERRCODE = 'check_violation';
  END IF;
  IF NEW.type = 'refund' AND left(NEW.reference, 9) = 'warranty:' AND NOT EXISTS (
    SELECT FROM warranty_refunds x WHERE x.run_id = substr(NEW.reference, 10) AND x.org_id = NEW.org_id AND x.amount = NEW.amount) THEN
    RAISE EXCEPTION 'no refund of the warranty was decided for %', NEW.reference USING ERRCODE = 'check_violation';
  END IF;
  who := audit_command_actor(NEW.org_id, 'Credit', NEW.reference);
  IF who IS NOT NULL THEN
    PERFORM audit_write(who, NEW.org_id, CASE NEW.type WHEN 'bonus' THEN 'wallet.credited' ELSE 'wallet.refunded' END, NEW.txn_id, NULL,
                        jsonb_build_object('amount', audit_usd(NEW.amount), 'note', NEW.note));
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER ledger_credit_rules AFTER INSERT ON ledger FOR EACH ROW WHEN (NEW.type IN ('topup', 'bonus', 'refund'))
EXECUTE FUNCTION ledger_credit_rules();

-- The hash of an entry, which continues the hash before it.
-- Stable, not immutable, is what makes it inline: reading the epoch out of a time counts as looking at the session's zone.
CREATE FUNCTION ledger_hash(previous bytea, e ledger) RETURNS bytea LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT sha256(coalesce(previous, decode(repeat('00', 32), 'hex')) || convert_to(
    e.org_id || '|' || e.seq || '|' || e.txn_id || '|' || e.type || '|' || e.amount || '|' || e.balance_after || '|' ||
    e.reserved_after || '|' || coalesce(e.run_id, '-') || '|' || (extract(epoch FROM e.created_at) * 1000000)::bigint || '|' ||
    octet_length(e.reference) || '|' || e.reference || '|' || coalesce('+' || e.note, '-'), 'UTF8'))
$$;

-- One row for each wallet that a check of the books has suspended, or an operator resumed.
CREATE TABLE wallet_suspensions (
  org_id text PRIMARY KEY REFERENCES orgs,
  -- Equation and subject of each violation that the check found.
  violations text[] NOT NULL,
  suspended_at timestamptz NOT NULL DEFAULT now(),
  -- Null while it is suspended.
  resumed_at timestamptz
);
CREATE TRIGGER audited AFTER INSERT OR UPDATE ON wallet_suspensions FOR EACH ROW
EXECUTE FUNCTION audit_row('wallet_suspension', 'org_id', 'org_id,org_id,created_at', 'all');
