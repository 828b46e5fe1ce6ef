-- Organizations, their people, sign-in sessions, and the mails that people get. Secrets are stored as SHA-256 digests only.

-- The characters of `isPrintable` in schema/json/StorableText.ts. Only changes are checked, so a row with an older name can still be changed
-- otherwise.
CREATE FUNCTION name_is_printable() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.name ~ '[\u0001-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]'
     AND (TG_OP = 'INSERT' OR NEW.name IS DISTINCT FROM OLD.name) THEN
    RAISE EXCEPTION 'a name must be one line of printable characters'
      USING ERRCODE = 'check_violation', CONSTRAINT = 'name_is_printable';
  END IF;
  RETURN NEW;
END $$;

-- One row for each organization: the owner of keys, a wallet and runs. Sign-up writes it.
CREATE TABLE orgs (
  org_id text PRIMARY KEY,
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TRIGGER name_is_printable BEFORE INSERT OR UPDATE ON orgs FOR EACH ROW EXECUTE FUNCTION name_is_printable();

-- Who a person is, as far as an e-mail address tells: no case, no +tag, no dots at Gmail, which ignores them.
CREATE FUNCTION email_identity(email text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN domain IN ('gmail.com', 'googlemail.com') THEN replace(name, '.', '') || '@gmail.com' ELSE name || '@' || domain END
  FROM (SELECT coalesce(nullif(split_part(local, '+', 1), ''), local) AS name, domain
        FROM (SELECT split_part(lower(email), '@', 1) AS local, rtrim(split_part(lower(email), '@', 2), '.') AS domain) parts) named $$;

-- One row for each person who may sign in. Sign-up and invitations write it.
CREATE TABLE users (
  user_id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  email text NOT NULL,
  password_hash text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- A pending user has signed up and has not verified the address yet. Any number of pending users may have one address, so that a sign-up
  -- does not tell whether the address has an account.
  pending boolean NOT NULL DEFAULT false,
  email_verified_at timestamptz,
  -- When the last challenge of a passkey was made that this person has used, in milliseconds.
  last_challenge bigint NOT NULL DEFAULT 0,
  CONSTRAINT user_verified CHECK (NOT (pending AND email_verified_at IS NOT NULL))
);
CREATE UNIQUE INDEX users_email ON users (lower(email)) WHERE NOT pending;
CREATE INDEX users_address ON users (lower(email), user_id);
CREATE INDEX users_org ON users (org_id);
CREATE INDEX users_identity ON users (email_identity(email));

-- Passwords and sessions are in the audit log as what happened, without any value.
-- A user may be in several organizations. Each of them has the entry, and so has the service if there is none.
CREATE FUNCTION audit_password() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  who jsonb := CASE WHEN audit_actor() ->> 'kind' = 'link' THEN audit_actor() || jsonb_build_object('kind', 'person', 'id', NEW.user_id)
                    ELSE audit_actor() END;
BEGIN
  PERFORM audit_write(who, m.org_id, 'password.changed', NEW.user_id, NULL, NULL)
  FROM (SELECT 1) AS always LEFT JOIN members m ON m.user_id = NEW.user_id;
  RETURN NULL;
END $$;
CREATE TRIGGER audited_password AFTER UPDATE ON users FOR EACH ROW
WHEN (OLD.password_hash IS DISTINCT FROM NEW.password_hash) EXECUTE FUNCTION audit_password();

-- Other ways to sign in are in the audit log of each organization of the user. Arguments: what a row is called in an action, columns that
-- the log must not show, and the verb if it is neither created nor removed. Who has verified the address also gets a mail of each action that
-- `mails` has as a kind, once in a transaction.
CREATE FUNCTION audit_sign_in_way() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  any_row jsonb := CASE TG_OP WHEN 'DELETE' THEN to_jsonb(OLD) ELSE to_jsonb(NEW) END;
  shown jsonb := any_row - string_to_array(TG_ARGV[1], ',');
  removed boolean := TG_OP = 'DELETE';
  action text := TG_ARGV[0] || '.' || coalesce(TG_ARGV[2], CASE WHEN removed THEN 'removed' ELSE 'created' END);
BEGIN
  PERFORM audit_write(audit_actor(), m.org_id, action, any_row ->> 'user_id', CASE WHEN removed THEN shown END, CASE WHEN NOT removed THEN shown END)
  FROM (SELECT 1) AS always LEFT JOIN members m ON m.user_id = any_row ->> 'user_id';
  INSERT INTO mails (kind, address, user_id) SELECT action, u.email, u.user_id FROM users u
  WHERE u.user_id = any_row ->> 'user_id' AND NOT u.pending AND action NOT IN ('identity.created', 'identity.removed', 'passkey.renamed')
    AND NOT EXISTS (SELECT FROM mails m WHERE m.user_id = u.user_id AND m.kind = action AND m.created_at = now());
  RETURN NULL;
END $$;

-- One row for each person of the OpenID provider who has signed in. The first sign-in writes it, and nobody changes it.
CREATE TABLE identities (
  issuer text NOT NULL,
  subject text NOT NULL CHECK (length(subject) BETWEEN 1 AND 255),
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (issuer, subject),
  -- The next owner of an e-mail address does not get the account.
  CONSTRAINT identity_is_only_one UNIQUE (user_id, issuer)
);
CREATE TRIGGER audited AFTER INSERT OR DELETE ON identities FOR EACH ROW EXECUTE FUNCTION audit_sign_in_way('identity', 'user_id,created_at');

-- Somebody else may have signed up with an address that was never verified.
CREATE FUNCTION identity_is_of_verified_user() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM users WHERE user_id = NEW.user_id AND NOT pending AND email_verified_at IS NOT NULL) THEN
    RAISE EXCEPTION '% has not verified the e-mail address', NEW.user_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'identity_is_of_verified_user';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER identity_is_of_verified_user BEFORE INSERT OR UPDATE ON identities FOR EACH ROW
EXECUTE FUNCTION identity_is_of_verified_user();

-- One row for each person with a second factor. Its owner writes it, and each sign-in with a code.
CREATE TABLE second_factors (
  user_id text PRIMARY KEY REFERENCES users ON DELETE CASCADE,
  -- Encrypted with RUNGATE_ENCRYPTION_KEY.
  secret text NOT NULL CHECK (secret ~ '^v1\.[A-Za-z0-9_-]{8}\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]+$'),
  -- Null until a code of the secret was given. Until then it does not count.
  confirmed_at timestamptz,
  -- The time step of the last code.
  last_step bigint NOT NULL DEFAULT 0,
  -- Digests of the recovery codes that were not used.
  recovery_codes text[] NOT NULL DEFAULT '{}'
);
CREATE TRIGGER audited AFTER DELETE ON second_factors FOR EACH ROW WHEN (OLD.confirmed_at IS NOT NULL)
EXECUTE FUNCTION audit_sign_in_way('second_factor', 'user_id,secret,last_step,recovery_codes');
CREATE TRIGGER audited_confirmation AFTER UPDATE ON second_factors FOR EACH ROW WHEN (OLD.confirmed_at IS DISTINCT FROM NEW.confirmed_at)
EXECUTE FUNCTION audit_sign_in_way('second_factor', 'user_id,secret,last_step,recovery_codes');
CREATE TRIGGER audited_recovery AFTER UPDATE ON second_factors FOR EACH ROW
WHEN (OLD.confirmed_at IS NOT NULL AND OLD.recovery_codes IS DISTINCT FROM NEW.recovery_codes)
EXECUTE FUNCTION audit_sign_in_way('recovery_code', 'user_id,secret,last_step,recovery_codes,confirmed_at', 'used');

-- No code works twice.
CREATE FUNCTION second_factor_goes_on() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.confirmed_at IS NULL OR NEW.last_step < OLD.last_step OR NOT NEW.recovery_codes <@ OLD.recovery_codes THEN
    RAISE EXCEPTION 'the codes of % go on and never come back', OLD.user_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'second_factor_goes_on';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER second_factor_goes_on BEFORE UPDATE ON second_factors FOR EACH ROW WHEN (OLD.confirmed_at IS NOT NULL)
EXECUTE FUNCTION second_factor_goes_on();

-- One row for each passkey of a person (WebAuthn). Its owner writes it, and each sign-in with it.
CREATE TABLE passkeys (
  passkey_id text PRIMARY KEY,
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  -- Base64url of at most 1,023 bytes, as browsers write it.
  credential_id text NOT NULL UNIQUE CHECK (credential_id ~ '^[A-Za-z0-9_-]+$' AND length(credential_id) <= 1364),
  public_key bytea NOT NULL CHECK (length(public_key) BETWEEN 1 AND 2000),
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  -- The last count of the authenticator. 0 if it does not count.
  counter bigint NOT NULL CHECK (counter >= 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz
);
CREATE INDEX passkeys_user ON passkeys (user_id);
CREATE TRIGGER name_is_printable BEFORE INSERT OR UPDATE ON passkeys FOR EACH ROW EXECUTE FUNCTION name_is_printable();
CREATE TRIGGER audited AFTER INSERT OR DELETE ON passkeys FOR EACH ROW
EXECUTE FUNCTION audit_sign_in_way('passkey', 'user_id,credential_id,public_key,counter,created_at,last_used_at');
CREATE TRIGGER audited_name AFTER UPDATE ON passkeys FOR EACH ROW WHEN (OLD.name IS DISTINCT FROM NEW.name)
EXECUTE FUNCTION audit_sign_in_way('passkey', 'user_id,credential_id,public_key,counter,created_at,last_used_at', 'renamed');

-- No challenge works twice, and no count of an authenticator comes back, which a copy of it would send.
CREATE FUNCTION passkey_goes_on() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the challenges and counts of % go on and never come back', OLD.user_id
    USING ERRCODE = 'check_violation', CONSTRAINT = 'passkey_goes_on';
END $$;
CREATE TRIGGER passkey_goes_on BEFORE UPDATE ON passkeys FOR EACH ROW
WHEN (NEW.counter < OLD.counter OR (NEW.user_id, NEW.credential_id, NEW.public_key) IS DISTINCT FROM (OLD.user_id, OLD.credential_id, OLD.public_key))
EXECUTE FUNCTION passkey_goes_on();
CREATE TRIGGER challenge_goes_on BEFORE UPDATE ON users FOR EACH ROW WHEN (NEW.last_challenge < OLD.last_challenge)
EXECUTE FUNCTION passkey_goes_on();

-- One row for each sign-in of a person in the web console. Signing in and out writes it.
CREATE TABLE sessions (
  token_hash bytea PRIMARY KEY CHECK (length(token_hash) = 32),
  user_id text NOT NULL REFERENCES users,
  org_id text NOT NULL REFERENCES orgs,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  ended_at timestamptz
);
CREATE INDEX sessions_user ON sessions (user_id) WHERE ended_at IS NULL;

CREATE FUNCTION audit_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM audit_write(
    CASE WHEN audit_actor() ->> 'kind' = 'link' THEN audit_actor() || jsonb_build_object('kind', 'person', 'id', n.user_id) ELSE audit_actor() END,
    n.org_id, 'sessions.ended', n.user_id, NULL, jsonb_build_object('sessions', count(*)))
  FROM new_sessions n JOIN old_sessions o USING (token_hash)
  WHERE o.ended_at IS NULL AND n.ended_at IS NOT NULL GROUP BY n.org_id, n.user_id;
  RETURN NULL;
END $$;
CREATE TRIGGER audited_sessions AFTER UPDATE ON sessions REFERENCING OLD TABLE AS old_sessions NEW TABLE AS new_sessions
FOR EACH STATEMENT EXECUTE FUNCTION audit_sessions();

-- The addresses from which a person has signed in. A sign-in writes it.
-- `address` is a digest of the user and the client address, so the table does not show from where somebody signed in.
CREATE TABLE sign_in_addresses (
  user_id text NOT NULL REFERENCES users,
  address bytea NOT NULL CHECK (length(address) = 32),
  seen_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, address)
);

-- Invitations by the operator to sign up. An operator's command writes them.
CREATE TABLE invitations (
  token_hash bytea PRIMARY KEY CHECK (length(token_hash) = 32),
  email text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  used_at timestamptz,
  org_id text REFERENCES orgs,
  CONSTRAINT invitation_used CHECK ((used_at IS NULL) = (org_id IS NULL))
);
CREATE TRIGGER audited AFTER INSERT ON invitations FOR EACH ROW
EXECUTE FUNCTION audit_row('sign_up_invitation', 'email', 'email,org_id,created_at,token_hash,used_at', 'all');

-- Links that were sent by mail. Using one deletes it.
CREATE TABLE mail_tokens (
  token_hash bytea PRIMARY KEY CHECK (length(token_hash) = 32),
  purpose text NOT NULL CHECK (purpose IN ('verify_email', 'reset_password')),
  user_id text NOT NULL REFERENCES users,
  expires_at timestamptz NOT NULL
);
CREATE INDEX mail_tokens_user ON mail_tokens (user_id, purpose);

-- Mails that are to be sent: written with what they are about, sent by workers after its commit. What is in a mail is decided when it is sent.
-- A kind with a dot is an action of the audit log.
CREATE TABLE mails (
  mail_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('sign_up', 'reset_password', 'passkey.created', 'passkey.removed', 'second_factor.created',
    'second_factor.removed', 'recovery_code.used')),
  address text NOT NULL,
  user_id text REFERENCES users,
  created_at timestamptz NOT NULL DEFAULT now(),
  send_at timestamptz NOT NULL DEFAULT now(),
  attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  ended_at timestamptz,
  outcome text CHECK (outcome IN ('sent', 'dropped', 'failed')),
  CONSTRAINT mail_about CHECK ((kind <> 'reset_password') = (user_id IS NOT NULL)),
  CONSTRAINT mail_ended CHECK ((ended_at IS NULL) = (outcome IS NULL))
);
CREATE INDEX mails_due ON mails (send_at) WHERE ended_at IS NULL;
CREATE INDEX mails_address ON mails (lower(address), ended_at);
