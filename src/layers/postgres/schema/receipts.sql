-- Keys that sign receipts and ledger heads, and the signed heads.
--
-- Public keys are kept for ever, so old receipts can be verified. Only the newest private key is kept. `receipt_secrets` is readable by the owner
-- only. The service gets the key from a function, so a copy of the tables that its role can read, and a role that only reads, have no private key.

-- One row for each public key. Only `keep_receipt_key` writes it.
CREATE TABLE receipt_keys (
  -- The thumbprint of the public key (RFC 7638).
  key_id text PRIMARY KEY CHECK (length(key_id) = 43),
  -- A JWK.
  public_key json NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Null for the key that signs.
  retired_at timestamptz
);
CREATE UNIQUE INDEX receipt_keys_signing ON receipt_keys ((true)) WHERE retired_at IS NULL;
CREATE TRIGGER audited AFTER INSERT OR UPDATE OR DELETE ON receipt_keys FOR EACH ROW
EXECUTE FUNCTION audit_row('receipt_key', 'key_id', 'key_id,org_id,created_at,public_key', 'known');

-- A key can be retired, and never changed: receipts that it has signed must stay valid.
CREATE FUNCTION receipt_key_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.retired_at IS NULL AND NEW.retired_at IS NOT NULL AND NEW.key_id = OLD.key_id
     AND NEW.public_key::text = OLD.public_key::text THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'a key of receipts is kept for ever: % refused', TG_OP USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER receipt_key_stays BEFORE UPDATE OR DELETE ON receipt_keys FOR EACH ROW EXECUTE FUNCTION receipt_key_stays();

-- One row: the private key that signs. Only the functions below write and read it.
CREATE TABLE receipt_secrets (
  key_id text PRIMARY KEY REFERENCES receipt_keys,
  -- Encrypted if RUNGATE_ENCRYPTION_KEY is set.
  secret text NOT NULL
);

CREATE FUNCTION receipt_secret(wanted text) RETURNS text LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT AS $$ BEGIN RETURN (SELECT s.secret FROM receipt_secrets s WHERE s.key_id = wanted); END $$;

-- Replaces the key that signs, if that is still the one which the caller knows. False: another process was faster.
CREATE FUNCTION keep_receipt_key(new_id text, new_key json, new_secret text, replaced text) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT AS $$
BEGIN
  UPDATE receipt_keys SET retired_at = now() WHERE key_id = replaced AND retired_at IS NULL;
  IF replaced IS NOT NULL AND NOT FOUND THEN RETURN false; END IF;
  INSERT INTO receipt_keys (key_id, public_key) VALUES (new_id, new_key) ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN RETURN false; END IF;
  DELETE FROM receipt_secrets;
  INSERT INTO receipt_secrets (key_id, secret) VALUES (new_id, new_secret);
  RETURN true;
END $$;

CREATE FUNCTION seal_receipt_secret(wanted text, sealed text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT AS $$ BEGIN UPDATE receipt_secrets SET secret = sealed WHERE key_id = wanted; END $$;
REVOKE EXECUTE ON FUNCTION receipt_secret(text), keep_receipt_key(text, json, text, text), seal_receipt_secret(text, text) FROM PUBLIC;

-- Default privileges may have opened the tables. Roles that may write wallets are those of services.
DO $$
DECLARE given record; made text;
BEGIN
  FOR given IN SELECT DISTINCT a.grantee::regrole::text AS role FROM pg_class c, aclexplode(c.relacl) a
               WHERE c.oid = 'receipt_secrets'::regclass AND a.grantee NOT IN (0, c.relowner) LOOP
    EXECUTE format('REVOKE ALL ON receipt_secrets FROM %s', given.role);
  END LOOP;
  REVOKE ALL ON receipt_secrets FROM PUBLIC;
  FOR given IN SELECT DISTINCT a.grantee::regrole::text AS role FROM pg_class c, aclexplode(c.relacl) a
               WHERE c.oid = 'wallets'::regclass AND a.grantee NOT IN (0, c.relowner) AND a.privilege_type = 'UPDATE' LOOP
    EXECUTE format('REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON receipt_keys FROM %s', given.role);
    FOREACH made IN ARRAY ARRAY['receipt_secret(text)', 'keep_receipt_key(text, json, text, text)', 'seal_receipt_secret(text, text)'] LOOP
      EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %s', made, given.role);
    END LOOP;
  END LOOP;
END $$;

-- Signed heads of the ledger: for each organization and day, the number and the hash of the newest entry of that day, with a signature. The
-- receipt worker writes it. A customer who keeps one can prove that the ledger up to it was not rewritten later, even by the owner of the database.
CREATE TABLE wallet_heads (
  org_id text NOT NULL,
  -- UTC. A day without entries has no head.
  day date NOT NULL,
  -- Of the newest entry of that day.
  seq bigint NOT NULL CHECK (seq > 0),
  hash bytea NOT NULL CHECK (length(hash) = 32),
  -- The JWS in its compact form.
  head text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, day)
);
CREATE TRIGGER wallet_heads_are_immutable BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_heads FOR EACH STATEMENT
EXECUTE FUNCTION ledger_is_immutable();

-- One row: the newest day whose heads are complete. The receipt worker writes it.
CREATE TABLE wallet_head_days (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  day date NOT NULL
);
