/**
 * Outcomes of calls by offer, kind of input and day. Quotes expect success and cost from them.
 *
 * Processes of older releases neither read nor write it. It names no organization. Kinds of input per offer are limited, see
 * layers/quotes/OfferOutcomes.ts.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const offerOutcomes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE offer_outcomes (
      -- As in attempt_windows.
      subject text NOT NULL,
      -- Names of the given fields; empty for all inputs.
      input_kind text NOT NULL,
      day date NOT NULL,
      succeeded bigint NOT NULL CHECK (succeeded >= 0),
      inconclusive bigint NOT NULL CHECK (inconclusive >= 0),
      no_match bigint NOT NULL CHECK (no_match >= 0),
      failed bigint NOT NULL CHECK (failed >= 0),
      -- Microdollars of charged calls: their maximum prices, and their charges.
      quoted bigint NOT NULL CHECK (quoted >= 0),
      charged bigint NOT NULL CHECK (charged >= 0),
      PRIMARY KEY (subject, input_kind, day)
    ) WITH (fillfactor = 50)`
})
