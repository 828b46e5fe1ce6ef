/**
 * E-mail verification, invitations, password reset, and referral bonuses that cost the operator nothing.
 *
 * Users of before count as verified. Referrals of before keep their bonus, share and end; a bonus that was not granted yet needs a deposit
 * that pays for it.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const verification = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // A pending user has signed up and not shown that the address is theirs. It claims the address of nobody: any number of pending
  // users may name one address, so that a sign-up does not tell whether the address has an account.
  yield* sql`
    ALTER TABLE users ADD COLUMN pending boolean NOT NULL DEFAULT false, ADD COLUMN email_verified_at timestamptz,
      ADD CONSTRAINT user_verified CHECK (NOT (pending AND email_verified_at IS NOT NULL))`
  yield* sql`DROP INDEX users_email`
  yield* sql`CREATE UNIQUE INDEX users_email ON users (lower(email)) WHERE NOT pending`
  yield* sql`CREATE INDEX users_address ON users (lower(email), user_id)`
  yield* sql`CREATE INDEX users_org ON users (org_id)`
  yield* sql`CREATE INDEX sessions_user ON sessions (user_id) WHERE ended_at IS NULL`
  yield* sql`
    CREATE TABLE invitations (
      token_hash bytea PRIMARY KEY CHECK (length(token_hash) = 32),
      email text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      used_at timestamptz,
      org_id text REFERENCES orgs,
      CONSTRAINT invitation_used CHECK ((used_at IS NULL) = (org_id IS NULL))
    )`
  // Links that were sent by mail. Using one deletes it.
  yield* sql`
    CREATE TABLE mail_tokens (
      token_hash bytea PRIMARY KEY CHECK (length(token_hash) = 32),
      purpose text NOT NULL CHECK (purpose IN ('verify_email', 'reset_password')),
      user_id text NOT NULL REFERENCES users,
      expires_at timestamptz NOT NULL
    )`
  yield* sql`CREATE INDEX mail_tokens_user ON mail_tokens (user_id, purpose)`
  // Mails that are to be sent: written with what they are about, sent after its commit. What is in a mail is decided when it is sent.
  yield* sql`
    CREATE TABLE mails (
      mail_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      kind text NOT NULL CHECK (kind IN ('sign_up', 'reset_password')),
      address text NOT NULL,
      user_id text REFERENCES users,
      created_at timestamptz NOT NULL DEFAULT now(),
      send_at timestamptz NOT NULL DEFAULT now(),
      attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
      ended_at timestamptz,
      outcome text CHECK (outcome IN ('sent', 'dropped', 'failed')),
      CONSTRAINT mail_about CHECK ((kind = 'sign_up') = (user_id IS NOT NULL)),
      CONSTRAINT mail_ended CHECK ((ended_at IS NULL) = (outcome IS NULL))
    )`
  yield* sql`CREATE INDEX mails_due ON mails (send_at) WHERE ended_at IS NULL`
  yield* sql`CREATE INDEX mails_address ON mails (lower(address), ended_at)`

  // One bonus per card, whatever the service believes.
  yield* sql`ALTER TABLE payments ADD COLUMN card text`
  yield* sql`ALTER TABLE referrals ADD COLUMN bonus_card text UNIQUE`
  // The lowest deposit that pays for the promised bonus: $33.34 for $5.00 beside a share of 10 %.
  yield* sql`ALTER TABLE referrals DISABLE TRIGGER referral_is_promised`
  yield* sql`
    UPDATE referrals SET deposit_bonus = CASE WHEN share_bps = 10000 THEN 0 ELSE deposit_bonus END,
           deposit_min = CASE WHEN share_bps = 10000 THEN deposit_min ELSE
             greatest(deposit_min, (ceil(deposit_bonus::numeric * 60000 / (10000 - share_bps) / 10000) * 10000)::bigint) END
    WHERE bonus_state = 'pending'`
  yield* sql`ALTER TABLE referrals ENABLE TRIGGER referral_is_promised`
  yield* sql`
    ALTER TABLE referrals ADD CONSTRAINT referral_bonus_is_earned
      CHECK (bonus_state <> 'pending' OR deposit_bonus::numeric * 60000 <= deposit_min::numeric * (10000 - share_bps))`
})
