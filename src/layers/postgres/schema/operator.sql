-- Operators: their sign-in to the web console, what they look into, and checks of all books.
--
-- They share no table with customers' sessions, so no query can take one for the other.

-- One row for each sign-in link. `rungate admin` writes it. A link opens one session, soon after it was printed.
CREATE TABLE operator_links (
  link_id text PRIMARY KEY,
  token_hash bytea NOT NULL UNIQUE CHECK (length(token_hash) = 32),
  -- The user of the operating system who printed the link. Null if the system has no name for it.
  operator text,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  used_at timestamptz,
  CONSTRAINT operator_link_is_short CHECK (expires_at > created_at AND expires_at <= created_at + interval '1 hour'),
  CONSTRAINT operator_link_was_valid CHECK (used_at <= expires_at)
);
CREATE TRIGGER audited AFTER INSERT ON operator_links FOR EACH ROW
EXECUTE FUNCTION audit_row('operator_link', 'link_id', 'link_id,org_id,created_at,token_hash,used_at', 'all');

-- One row for each session of an operator. Signing in and out writes it.
CREATE TABLE operator_sessions (
  session_id text PRIMARY KEY,
  -- Unique: a link opens one session.
  link_id text NOT NULL UNIQUE REFERENCES operator_links,
  token_hash bytea NOT NULL UNIQUE CHECK (length(token_hash) = 32),
  operator text,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  ended_at timestamptz,
  CONSTRAINT operator_session_is_short CHECK (expires_at > created_at AND expires_at <= created_at + interval '1 day')
);
CREATE TRIGGER audited AFTER INSERT OR UPDATE ON operator_sessions FOR EACH ROW
EXECUTE FUNCTION audit_row('operator_session', 'session_id', 'session_id,org_id,created_at,token_hash', 'all');

-- One row for each look of an operator into an organization's runs. The console writes it.
CREATE TABLE operator_impersonations (
  impersonation_id text PRIMARY KEY,
  session_id text NOT NULL REFERENCES operator_sessions ON DELETE CASCADE,
  org_id text NOT NULL REFERENCES orgs,
  reason text NOT NULL CHECK (length(reason) BETWEEN 1 AND 500),
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  CONSTRAINT impersonation_is_short CHECK (expires_at > created_at AND expires_at <= created_at + interval '1 hour')
);
CREATE INDEX operator_impersonations_session ON operator_impersonations (session_id, org_id);
CREATE TRIGGER audited AFTER INSERT ON operator_impersonations FOR EACH ROW
EXECUTE FUNCTION audit_row('impersonation', 'org_id', 'org_id,org_id,created_at,impersonation_id,session_id', 'all');

-- One row for each check of all books, the auditor's own record. `rungate audit` and the workers append it.
CREATE TABLE audit_checks (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Of the snapshot that was read.
  checked_at timestamptz NOT NULL,
  wallets bigint NOT NULL CHECK (wallets >= 0),
  entries bigint NOT NULL CHECK (entries >= 0),
  runs bigint NOT NULL CHECK (runs >= 0),
  violations bigint NOT NULL CHECK (violations >= 0)
);
CREATE TRIGGER audited AFTER INSERT ON audit_checks FOR EACH ROW
EXECUTE FUNCTION audit_row('books_check', 'id', 'id,org_id,created_at', 'known');

-- One row: when the books are checked next. Workers write it.
CREATE TABLE books_schedule (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  next_at timestamptz NOT NULL DEFAULT now() + interval '10 minutes'
);
INSERT INTO books_schedule DEFAULT VALUES;

-- What the operator's accounts at providers have left. Amounts are millionths of the unit.
--
-- A reservation raises `reserved` and adds a row in one function, under the lock of the account's row. So calls never reserve more than is left.

-- One row for each account whose credits are read, set by hand, or were refused as empty. The reader of balances and operators write it.
CREATE TABLE provider_credits (
  provider text PRIMARY KEY CHECK (provider ~ '^[a-z0-9_]{1,64}$'),
  unit text NOT NULL DEFAULT 'credit' CHECK (unit IN ('credit', 'USD')),
  -- Null before the first reading.
  balance bigint CHECK (balance >= 0),
  source text NOT NULL DEFAULT 'read' CHECK (source IN ('read', 'set')),
  read_at timestamptz,
  -- The sum of provider_credit_holds.
  reserved bigint NOT NULL DEFAULT 0 CHECK (reserved >= 0),
  burn_per_day bigint NOT NULL DEFAULT 0 CHECK (burn_per_day >= 0),
  -- The balance that the use per day was last computed from, and when.
  burn_balance bigint,
  burn_at timestamptz,
  low_below bigint CHECK (low_below >= 0),
  expires_at timestamptz,
  -- The plan gives new credits at expires_at.
  renews boolean NOT NULL DEFAULT false,
  -- The provider refused a call because the account is empty.
  empty_until timestamptz,
  -- Why the last reading failed.
  read_error text CHECK (length(read_error) <= 300),
  next_read_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT balance_was_given CHECK (source = 'read' OR balance IS NOT NULL)
);
CREATE TRIGGER audited AFTER INSERT OR UPDATE OR DELETE ON provider_credits FOR EACH ROW
EXECUTE FUNCTION audit_row('provider_credits', 'provider', 'provider,org_id,created_at,next_read_at,reserved', 'known');

-- One row for each call that an account with few credits reserved, and for what was spent since the balance was read. Workers write it.
CREATE TABLE provider_credit_holds (
  -- The run and the number of its attempt, or the sum that a process spent.
  hold_id text PRIMARY KEY CHECK (length(hold_id) <= 100),
  provider text NOT NULL REFERENCES provider_credits,
  -- The run of an attempt.
  run_id text,
  amount bigint NOT NULL CHECK (amount >= 0),
  -- Null while the call may still be made. Then what it spent, until a reading that began later contains it. A sum that the balance contains
  -- stays for an hour, with the amount 0, so that it counts once.
  ended_at timestamptz
);
CREATE INDEX provider_credit_holds_provider ON provider_credit_holds (provider, ended_at);

-- Reserves the cost of a call. False if less is left. An attempt that is resumed has its reservation already.
CREATE FUNCTION reserve_credits(account text, hold text, run text, cost bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM provider_credits WHERE provider = account FOR UPDATE;
  IF EXISTS (SELECT FROM provider_credit_holds WHERE hold_id = hold) THEN RETURN true; END IF;
  UPDATE provider_credits SET reserved = reserved + cost
  WHERE provider = account AND balance - reserved >= cost AND (empty_until IS NULL OR empty_until <= now());
  IF NOT FOUND THEN RETURN false; END IF;
  INSERT INTO provider_credit_holds (hold_id, provider, run_id, amount) VALUES (hold, account, run, cost);
  RETURN true;
END $$;

-- Ends a reservation, and counts what was spent: in a balance that was set by hand at once, and otherwise until the balance is read again.
CREATE FUNCTION spend_credits(account text, hold text, spent bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  held bigint;
  by_hand boolean;
  -- Until a reading contains it.
  kept bigint;
BEGIN
  SELECT source = 'set' INTO by_hand FROM provider_credits WHERE provider = account FOR UPDATE;
  IF by_hand IS NULL OR EXISTS (SELECT FROM provider_credit_holds WHERE hold_id = hold AND ended_at IS NOT NULL) THEN RETURN; END IF;
  DELETE FROM provider_credit_holds WHERE hold_id = hold RETURNING amount INTO held;
  -- Only a sum has no reservation. Another one that is gone was ended before.
  IF held IS NULL AND hold NOT LIKE 'sum\_%' THEN RETURN; END IF;
  kept := CASE WHEN by_hand THEN 0 ELSE spent END;
  UPDATE provider_credits SET reserved = reserved - coalesce(held, 0) + kept,
    balance = CASE WHEN by_hand THEN greatest(0, balance - spent) ELSE balance END
  WHERE provider = account;
  -- A process whose answer is lost sends its sum again within seconds.
  DELETE FROM provider_credit_holds WHERE provider = account AND amount = 0 AND ended_at < clock_timestamp() - interval '1 hour';
  IF held IS NULL OR kept > 0 THEN
    INSERT INTO provider_credit_holds (hold_id, provider, amount, ended_at) VALUES (hold, account, kept, clock_timestamp());
  END IF;
END $$;

-- Drops what was spent before a reading began, which the balance contains. Calls that were under way meanwhile stay reserved.
CREATE FUNCTION drop_spent_credits(account text, before timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  dropped bigint;
BEGIN
  PERFORM FROM provider_credits WHERE provider = account FOR UPDATE;
  SELECT coalesce(sum(amount), 0) INTO dropped FROM provider_credit_holds WHERE provider = account AND ended_at < before;
  DELETE FROM provider_credit_holds WHERE provider = account AND ended_at < before AND hold_id NOT LIKE 'sum\_%';
  UPDATE provider_credit_holds SET amount = 0 WHERE provider = account AND ended_at < before AND amount > 0;
  UPDATE provider_credits SET reserved = reserved - dropped WHERE provider = account AND dropped > 0;
END $$;

-- One row for each organization that is leaving this cell, has left it, or came from another one. `rungate admin cells move` writes it.
CREATE TABLE cell_moves (
  org_id text PRIMARY KEY,
  -- The other cell.
  cell text NOT NULL CHECK (length(cell) BETWEEN 1 AND 40),
  -- draining: its open runs end. fenced: it is being copied. moved: its rows are there and no longer here. arrived: it came from there.
  state text NOT NULL CHECK (state IN ('draining', 'fenced', 'moved', 'arrived')),
  -- The database that the copy goes to, so that an interrupted move can't be settled with another one.
  database text,
  changed_at timestamptz NOT NULL DEFAULT now()
);
CREATE TRIGGER audited AFTER INSERT OR UPDATE OR DELETE ON cell_moves FOR EACH ROW
EXECUTE FUNCTION audit_row('cell_move', 'org_id', 'changed_at', 'all');

-- The API keys and sessions of organizations that have left, by their digests, so that a request with one learns where they are.
CREATE TABLE moved_tokens (
  token_hash bytea PRIMARY KEY CHECK (length(token_hash) = 32),
  org_id text NOT NULL REFERENCES cell_moves ON DELETE CASCADE
);

-- What people, strangers and workers write of an organization without a turn of its wallet, which refuses by itself. Tables whose rows workers
-- update while nobody asks have it for new and deleted rows only.
DO $$
DECLARE it text;
BEGIN
  FOREACH it IN ARRAY ARRAY['members', 'sessions', 'member_invitations', 'oauth_codes', 'oauth_grants', 'api_keys', 'allowances', 'label_budgets',
    'approval_rules', 'opt_outs', 'contact_guards', 'senders', 'owned_resources', 'provider_accounts', 'webhook_endpoints', 'payments', 'batches',
    'warranty_disputes', 'warranty_refunds', 'referral_codes']
  LOOP
    EXECUTE format('CREATE TRIGGER organization_is_moving BEFORE INSERT%s%s ON %I FOR EACH ROW EXECUTE FUNCTION organization_is_moving()',
      -- A pass of background work deletes old rows of all organizations together.
      CASE WHEN it IN ('member_invitations', 'batches') THEN '' ELSE ' OR DELETE' END,
      CASE WHEN it IN ('sessions', 'member_invitations', 'api_keys', 'webhook_endpoints', 'payments', 'batches') THEN '' ELSE ' OR UPDATE' END, it);
  END LOOP;
END $$;
-- A password that is reset, a way to sign in that is removed, or a session that is ended, must not live on in the copy.
CREATE TRIGGER person_is_moving BEFORE UPDATE OF password_hash, email, pending ON users FOR EACH ROW EXECUTE FUNCTION person_is_moving();
CREATE TRIGGER person_is_moving BEFORE INSERT OR DELETE ON passkeys FOR EACH ROW EXECUTE FUNCTION person_is_moving();
CREATE TRIGGER person_is_moving BEFORE INSERT OR DELETE ON identities FOR EACH ROW EXECUTE FUNCTION person_is_moving();
CREATE TRIGGER person_is_moving BEFORE INSERT OR DELETE OR UPDATE OF confirmed_at, recovery_codes ON second_factors FOR EACH ROW
EXECUTE FUNCTION person_is_moving();
CREATE TRIGGER organization_is_moving_end BEFORE UPDATE OF ended_at ON sessions FOR EACH ROW EXECUTE FUNCTION organization_is_moving();
CREATE TRIGGER organization_is_moving_batch BEFORE UPDATE ON batches FOR EACH ROW WHEN (NEW.status = 'cancelling' AND OLD.status <> 'cancelling')
EXECUTE FUNCTION organization_is_moving();
CREATE TRIGGER organization_is_moving_key BEFORE UPDATE ON api_keys FOR EACH ROW WHEN (OLD.last_used_at IS NOT DISTINCT FROM NEW.last_used_at)
EXECUTE FUNCTION organization_is_moving();
