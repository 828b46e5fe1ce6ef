/**
 * Half of the warranty's fund is for organizations within their own share: the operator's share of what they were charged themselves. So one
 * whose addresses bounce does not use up what is meant for the others. The rule of schema/wallet/Warranty.ts stands here again.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ownerFunction } from "./ownerFunction.ts"

export const warrantyOwnShare = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE FUNCTION warranty_revenue_of(org text) RETURNS bigint LANGUAGE sql STABLE AS $$
      SELECT coalesce(sum(charged), 0)::bigint FROM usage_days WHERE org_id = org AND name = '' AND day >= warranty_days() $$`
  yield* sql`
    CREATE FUNCTION warranty_refunded_of(org text) RETURNS bigint LANGUAGE sql STABLE AS $$
      SELECT coalesce(sum(amount), 0)::bigint FROM warranty_refunds
      WHERE org_id = org AND created_at >= warranty_days() AT TIME ZONE 'UTC' $$`
  // After warranty_is_owed, which adds the refund to the fund: triggers fire in the order of their names.
  yield* ownerFunction(
    "warranty_own_share() RETURNS trigger",
    `
    DECLARE f record;
    BEGIN
      SELECT * INTO f FROM warranty_fund;
      IF f.refunded::numeric * 2 * 10000 > f.revenue::numeric * f.share_bps
        AND (warranty_refunded_of(NEW.org_id) + NEW.amount)::numeric * 10000 > warranty_revenue_of(NEW.org_id)::numeric * NEW.share_bps THEN
        RAISE EXCEPTION 'half of the fund is used up, and % is above its own share', NEW.org_id USING ERRCODE = 'check_violation';
      END IF;
      RETURN NEW;
    END`
  )
  yield* sql`
    CREATE TRIGGER warranty_own_share BEFORE INSERT ON warranty_refunds FOR EACH ROW EXECUTE FUNCTION warranty_own_share()`
})
