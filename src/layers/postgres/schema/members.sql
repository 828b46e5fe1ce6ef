-- Members of organizations with roles, and invitations to join an organization.

-- One row for each person in an organization. Sign-up, invitations and owners write it.
CREATE TABLE members (
  org_id text NOT NULL REFERENCES orgs,
  user_id text NOT NULL REFERENCES users,
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, user_id)
);
CREATE INDEX members_user ON members (user_id);
CREATE TRIGGER audited AFTER INSERT OR UPDATE OR DELETE ON members FOR EACH ROW
EXECUTE FUNCTION audit_row('member', 'user_id', 'user_id,org_id,created_at', 'all');

-- The first user of an organization becomes its owner.
-- rungate.member_role is set by the transaction that redeems an invitation.
CREATE FUNCTION user_becomes_member() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO members (org_id, user_id, role, created_at)
  VALUES (NEW.org_id, NEW.user_id,
          coalesce(nullif(current_setting('rungate.member_role', true), ''),
                   CASE WHEN EXISTS (SELECT FROM members WHERE org_id = NEW.org_id) THEN 'admin' ELSE 'owner' END), NEW.created_at);
  RETURN NULL;
END $$;
CREATE TRIGGER user_becomes_member AFTER INSERT ON users FOR EACH ROW EXECUTE FUNCTION user_becomes_member();

-- The lock on the organization's row makes two changes wait for each other, so each counts the other's owner.
CREATE FUNCTION organization_keeps_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM orgs WHERE org_id = OLD.org_id FOR NO KEY UPDATE;
  IF NOT EXISTS (SELECT FROM members WHERE org_id = OLD.org_id AND role = 'owner' AND user_id <> OLD.user_id) THEN
    RAISE EXCEPTION '% is the only owner of %', OLD.user_id, OLD.org_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'organization_keeps_owner';
  END IF;
  RETURN CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
END $$;
CREATE TRIGGER organization_keeps_owner_update BEFORE UPDATE ON members FOR EACH ROW
WHEN (OLD.role = 'owner' AND NEW.role <> 'owner') EXECUTE FUNCTION organization_keeps_owner();
CREATE TRIGGER organization_keeps_owner_delete BEFORE DELETE ON members FOR EACH ROW
WHEN (OLD.role = 'owner') EXECUTE FUNCTION organization_keeps_owner();

-- A session needs a membership. The row lock makes a sign-in and a removal wait for each other.
CREATE FUNCTION session_is_of_member() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM members WHERE org_id = NEW.org_id AND user_id = NEW.user_id FOR KEY SHARE;
  RETURN CASE WHEN FOUND THEN NEW END;
END $$;
CREATE TRIGGER session_is_of_member BEFORE INSERT ON sessions FOR EACH ROW EXECUTE FUNCTION session_is_of_member();

CREATE FUNCTION removed_member_is_signed_out() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE sessions SET ended_at = now() WHERE user_id = OLD.user_id AND org_id = OLD.org_id AND ended_at IS NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER removed_member_is_signed_out AFTER DELETE ON members FOR EACH ROW
EXECUTE FUNCTION removed_member_is_signed_out();

-- One row for each invitation of an address to an organization. Owners and admins write it, and the worker that sends its e-mail.
CREATE TABLE member_invitations (
  invitation_id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  email text NOT NULL CHECK (length(email) <= 254),
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
  invited_by text NOT NULL REFERENCES users,
  -- Null until the e-mail with the link is sent.
  token_hash bytea UNIQUE CHECK (length(token_hash) = 32),
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  accepted_at timestamptz,
  -- Withdrawn, or replaced by another invitation of the same address.
  withdrawn_at timestamptz,
  -- When the e-mail is sent or tried again. Null: there is none, or it was sent, or it failed too often.
  send_at timestamptz,
  attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  sent_at timestamptz,
  CONSTRAINT invitation_ends_once CHECK (accepted_at IS NULL OR withdrawn_at IS NULL)
);
CREATE UNIQUE INDEX member_invitations_open ON member_invitations (org_id, lower(email))
WHERE accepted_at IS NULL AND withdrawn_at IS NULL;
CREATE INDEX member_invitations_org ON member_invitations (org_id, invitation_id);
CREATE INDEX member_invitations_due ON member_invitations (send_at) WHERE send_at IS NOT NULL;
CREATE INDEX member_invitations_address ON member_invitations (lower(email), sent_at);
CREATE TRIGGER audited AFTER INSERT OR UPDATE ON member_invitations FOR EACH ROW
EXECUTE FUNCTION audit_row('invitation', 'invitation_id', 'invitation_id,org_id,created_at,invited_by,token_hash,send_at,attempts,sent_at', 'all');
