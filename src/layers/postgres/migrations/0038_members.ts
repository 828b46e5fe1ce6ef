/**
 * Members of organizations with roles, and invitations to join an organization.
 *
 * A user who exists already keeps what they could do: the first user of an organization becomes its owner, further ones become admins. A
 * process of an older release knows no members. A trigger makes the users it creates members, and another one keeps it from opening a
 * session for somebody who is no member any more.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const membersTable = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE members (
      org_id text NOT NULL REFERENCES orgs,
      user_id text NOT NULL REFERENCES users,
      role text NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (org_id, user_id)
    )`
  yield* sql`CREATE INDEX members_user ON members (user_id)`
  // rungate.member_role is set by the transaction that redeems an invitation.
  yield* sql`
    CREATE FUNCTION user_becomes_member() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO members (org_id, user_id, role, created_at)
      VALUES (NEW.org_id, NEW.user_id,
              coalesce(nullif(current_setting('rungate.member_role', true), ''),
                       CASE WHEN EXISTS (SELECT FROM members WHERE org_id = NEW.org_id) THEN 'admin' ELSE 'owner' END), NEW.created_at);
      RETURN NULL;
    END $$`
  yield* sql`CREATE TRIGGER user_becomes_member AFTER INSERT ON users FOR EACH ROW EXECUTE FUNCTION user_becomes_member()`
  yield* sql`
    INSERT INTO members (org_id, user_id, role, created_at)
    SELECT org_id, user_id, CASE WHEN row_number() OVER (PARTITION BY org_id ORDER BY user_id) = 1 THEN 'owner' ELSE 'admin' END, created_at
    FROM users`
})

/** The lock on the organization's row makes two changes wait for each other, so each counts the other's owner. */
const lastOwner = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE FUNCTION organization_keeps_owner() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM 1 FROM orgs WHERE org_id = OLD.org_id FOR NO KEY UPDATE;
      IF NOT EXISTS (SELECT FROM members WHERE org_id = OLD.org_id AND role = 'owner' AND user_id <> OLD.user_id) THEN
        RAISE EXCEPTION '% is the only owner of %', OLD.user_id, OLD.org_id
          USING ERRCODE = 'check_violation', CONSTRAINT = 'organization_keeps_owner';
      END IF;
      RETURN CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
    END $$`
  yield* sql`
    CREATE TRIGGER organization_keeps_owner_update BEFORE UPDATE ON members FOR EACH ROW
    WHEN (OLD.role = 'owner' AND NEW.role <> 'owner') EXECUTE FUNCTION organization_keeps_owner()`
  yield* sql`
    CREATE TRIGGER organization_keeps_owner_delete BEFORE DELETE ON members FOR EACH ROW
    WHEN (OLD.role = 'owner') EXECUTE FUNCTION organization_keeps_owner()`
})

/** A session needs a membership. The row lock makes a sign-in and a removal wait for each other. */
const sessionsOfMembers = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE FUNCTION session_is_of_member() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM 1 FROM members WHERE org_id = NEW.org_id AND user_id = NEW.user_id FOR KEY SHARE;
      RETURN CASE WHEN FOUND THEN NEW END;
    END $$`
  yield* sql`
    CREATE TRIGGER session_is_of_member BEFORE INSERT ON sessions FOR EACH ROW EXECUTE FUNCTION session_is_of_member()`
  yield* sql`
    CREATE FUNCTION removed_member_is_signed_out() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE sessions SET ended_at = now() WHERE user_id = OLD.user_id AND org_id = OLD.org_id AND ended_at IS NULL;
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER removed_member_is_signed_out AFTER DELETE ON members FOR EACH ROW
    EXECUTE FUNCTION removed_member_is_signed_out()`
})

const invitationsTable = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
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
    )`
  yield* sql`
    CREATE UNIQUE INDEX member_invitations_open ON member_invitations (org_id, lower(email))
    WHERE accepted_at IS NULL AND withdrawn_at IS NULL`
  yield* sql`CREATE INDEX member_invitations_org ON member_invitations (org_id, invitation_id)`
  yield* sql`CREATE INDEX member_invitations_due ON member_invitations (send_at) WHERE send_at IS NOT NULL`
  yield* sql`CREATE INDEX member_invitations_address ON member_invitations (lower(email), sent_at)`
})

export const members = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* membersTable
  yield* lastOwner
  yield* sessionsOfMembers
  yield* invitationsTable
  // The person on whose behalf the transaction changes something (layers/auditlog/AuditLog.ts). Null for a key, an operator or nobody.
  yield* sql`
    CREATE FUNCTION rungate_person() RETURNS text LANGUAGE sql STABLE AS $$
      SELECT CASE WHEN actor ->> 'kind' = 'person' THEN actor ->> 'id' END
      FROM (SELECT nullif(current_setting('rungate.actor', true), '')::jsonb AS actor) AS known $$`
  // The person who created the key. Null for keys of older releases and of operators.
  yield* sql`ALTER TABLE api_keys ADD COLUMN created_by text`
  yield* sql`ALTER TABLE api_keys ALTER COLUMN created_by SET DEFAULT rungate_person()`
})
