/**
 * When the books are checked next, and wallets that take no new runs because their books do not add up.
 *
 * The mark is a column of the wallet, so a turn reads it with the wallet and an ordinary run costs nothing more. Processes of older releases
 * do not read it: the trigger refuses their reservations.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { audited } from "./audited.ts"

export const booksWatch = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE wallets ADD COLUMN suspended boolean NOT NULL DEFAULT false`
  yield* sql`
    CREATE FUNCTION wallet_is_suspended() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'the books of % do not add up, so it takes no new runs', NEW.org_id USING ERRCODE = 'check_violation';
    END $$`
  // False for every other wallet, which then costs one comparison.
  yield* sql`
    CREATE TRIGGER wallet_is_suspended BEFORE UPDATE ON wallets FOR EACH ROW
    WHEN (NEW.suspended AND NEW.reserved > OLD.reserved) EXECUTE FUNCTION wallet_is_suspended()`
  yield* sql`
    CREATE TABLE wallet_suspensions (
      org_id text PRIMARY KEY REFERENCES orgs,
      -- Equation and subject of each violation that the check found.
      violations text[] NOT NULL,
      suspended_at timestamptz NOT NULL DEFAULT now(),
      -- Null while it is suspended.
      resumed_at timestamptz
    )`
  yield* audited({
    table: "wallet_suspensions",
    noun: "wallet_suspension",
    id: "org_id",
    hidden: [],
    on: "INSERT OR UPDATE"
  })
  yield* sql`
    CREATE TABLE books_schedule (
      singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
      next_at timestamptz NOT NULL DEFAULT now() + interval '10 minutes'
    )`
  yield* sql`INSERT INTO books_schedule DEFAULT VALUES`
})
