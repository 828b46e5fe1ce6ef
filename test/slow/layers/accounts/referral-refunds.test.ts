/** What the warranty pays back for a run after a referral's end takes nothing from the share, also when the run's month was dropped. */
import { expect, test } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../../src/layers/accounts/Accounts.ts"
import { ReferralShares } from "../../../../src/layers/accounts/ReferralShares.ts"
import { makeId } from "../../../../src/schema/Ids.ts"
import { withStorage } from "../../../kit/storage.ts"

const run = withStorage()

test("a refund of a run whose ledger entries are gone counts by the time of the run", () =>
  run(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const accounts = yield* Accounts
      const [referrer, referred] = [
        yield* accounts.createOrganization("referrer", null),
        yield* accounts.createOrganization("referred", null)
      ]
      const end = Date.UTC(2025, 5, 15)
      yield* sql`
        INSERT INTO referrals (referral_id, referred_org, referrer_org, deposit_min, deposit_bonus, share_bps, ends_at, accrued_seq)
        VALUES ('ref_1', ${referred}, ${referrer}, 0, 0, 1000, ${new Date(end)}, 0)`
      // As they are left when the months of their runs have been dropped.
      yield* Effect.gen(function* () {
        yield* sql`SET LOCAL session_replication_role = replica`
        yield* sql`UPDATE wallets SET entry_seq = 1, head = sha256('') WHERE org_id = ${referred}`
        for (const [days, amount] of [
          [-1, 1_000n],
          [1, 200_000n]
        ] as const)
          yield* sql`
            INSERT INTO warranty_refunds (run_id, org_id, amount, share_bps)
            VALUES (${makeId("run", end + days * 86_400_000)}, ${referred}, ${amount}, 1000)`
      }).pipe(sql.withTransaction)
      const [moved] = yield* (yield* ReferralShares).moved("", 10)
      expect(String(moved?.refunded)).toBe("1000")
    })
  ))
