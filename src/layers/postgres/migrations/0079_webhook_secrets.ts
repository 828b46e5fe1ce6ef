/**
 * Signing secrets of webhooks may be encrypted. A text that is neither encrypted nor a secret is still refused.
 *
 * Release 0.1.0 has no webhooks. Workers encrypt the secrets at their start (actors/AccountsWorker.ts).
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const webhookSecrets = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const form = "'^(whsec_|v1\\.[A-Za-z0-9_-]{8}\\.[A-Za-z0-9_-]{16}\\.[A-Za-z0-9_-]+$)'"
  yield* sql.unsafe(`
    ALTER TABLE webhook_endpoints
      DROP CONSTRAINT webhook_endpoints_secret_check,
      ADD CONSTRAINT webhook_secret CHECK (secret ~ ${form}) NOT VALID,
      ADD CONSTRAINT webhook_previous_secret CHECK (previous_secret ~ ${form}) NOT VALID`)
})
