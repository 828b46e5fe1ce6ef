/**
 * Accounts of organizations at providers: the encrypted key, and whether the service's account may be used when the key is refused.
 *
 * A key is never stored as plain text. Older releases ignore the table: their runs go through the service's accounts.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { audited } from "./audited.ts"

export const providerAccounts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE provider_accounts (
      org_id text NOT NULL REFERENCES orgs,
      provider text NOT NULL,
      -- New for each key, so that nothing that was observed with the key before counts for this one.
      account_id text NOT NULL UNIQUE,
      -- Encrypted: see layers/platform/Encryption.ts.
      secret text NOT NULL CHECK (secret ~ '^v1\\.[A-Za-z0-9_-]{8}\\.[A-Za-z0-9_-]{16}\\.[A-Za-z0-9_-]+$'),
      last_four text NOT NULL CHECK (char_length(last_four) = 4),
      base_url text,
      fallback boolean NOT NULL DEFAULT false,
      created_at timestamptz NOT NULL DEFAULT now(),
      -- When the key was set.
      changed_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (org_id, provider)
    )`
  yield* audited({
    table: "provider_accounts",
    noun: "provider_account",
    id: "provider",
    hidden: ["account_id", "secret"]
  })
})
