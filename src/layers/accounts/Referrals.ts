/**
 * Stores referral codes and the organizations that signed up with one.
 *
 * Each organization has one code. The sign-up's transaction stores the referral, so an existing organization can't be referred later.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { codeAlphabet, codeLength, type Terms } from "../../schema/wallet/Referral.ts"
import { newId } from "../platform/Ids.ts"
import { oneRowOf, storedAs, textValues } from "../postgres/Rows.ts"

export class ReferralRefused extends Schema.TaggedError<ReferralRefused>()("ReferralRefused", {
  /** `known_person`: the person already has an account here. Codes are for new users, so that nobody can refer themselves. */
  reason: Schema.Literals(["unknown_code", "known_person"])
}) {}

/** A referral as its referrer sees it. */
export const ReferralRow = Schema.Struct({
  referral_id: Schema.String,
  organization: Schema.String,
  created_at: Schema.Date,
  ends_at: Schema.Date,
  bonus_state: Schema.Literals(["pending", "granted", "revoked"]),
  share_bps: Schema.Number,
  net_revenue: Schema.BigInt,
  unpaid: Schema.BigInt
})
export type ReferralRow = typeof ReferralRow.Type
const referralRows = storedAs(ReferralRow.fields)

/** The referral that an organization itself signed up with. */
export const ReferredByRow = Schema.Struct({
  bonus_state: Schema.Literals(["pending", "granted", "revoked"]),
  deposit_min: Schema.BigInt,
  deposit_bonus: Schema.BigInt
})
export type ReferredByRow = typeof ReferredByRow.Type
const referredByRows = storedAs(ReferredByRow.fields)

export const EarningsRow = Schema.Struct({
  referred_count: Schema.BigInt,
  credited: Schema.BigInt,
  /** Earned but not credited yet, because the amount is below the minimum of one credit. */
  pending: Schema.BigInt
})
export type EarningsRow = typeof EarningsRow.Type
const earningsRow = oneRowOf(EarningsRow.fields)

export const ShareCreditRow = Schema.Struct({
  referral_id: Schema.String,
  n: Schema.Number,
  amount: Schema.BigInt,
  created_at: Schema.Date
})
export type ShareCreditRow = typeof ShareCreditRow.Type
const shareCreditRows = storedAs(ShareCreditRow.fields)

export interface Newcomer {
  readonly org_id: string
  /** Null if the address must still be verified. The verification then checks whether the user is new (Passwords.ts). */
  readonly email: string | null
  readonly code: string
  readonly terms: Terms
}

/** Retries if two requests create a code at once, or if a random code is taken. With 30^8 codes the latter is rare. */
const codeTriesMax = 5

const randomCode = (): string => {
  let code = ""
  // The largest multiple of the alphabet's length that fits into a byte. Larger bytes would favor its first letters.
  const fair = 256 - (256 % codeAlphabet.length)
  while (code.length < codeLength) {
    for (const byte of crypto.getRandomValues(new Uint8Array(codeLength)))
      if (byte < fair && code.length < codeLength) code += codeAlphabet.charAt(byte % codeAlphabet.length)
  }
  return code
}

export class Referrals extends Context.Service<
  Referrals,
  {
    /** The organization's code. The first call creates it. */
    readonly code: (org_id: string) => Effect.Effect<string>
    readonly isKnown: (code: string) => Effect.Effect<boolean>
    /**
     * Fails if this person may not sign up with this code. Call it before the expensive password hash. A null address is not checked:
     * it must still be verified, and a refusal would reveal that it has an account.
     */
    readonly admit: (code: string, email: string | null) => Effect.Effect<void, ReferralRefused>
    /** Stores the referral of a new organization on today's terms. Call it in the sign-up's transaction. */
    readonly refer: (newcomer: Newcomer) => Effect.Effect<void, ReferralRefused>
    /** Newest first. */
    readonly referred: (org_id: string, limit: number) => Effect.Effect<ReadonlyArray<ReferralRow>>
    readonly referredBy: (org_id: string) => Effect.Effect<ReferredByRow | null>
    readonly earnings: (org_id: string) => Effect.Effect<EarningsRow>
    /** Newest first. */
    readonly credits: (org_id: string, limit: number) => Effect.Effect<ReadonlyArray<ShareCreditRow>>
  }
>()("rungate/layers/accounts/Referrals") {
  static readonly layer = Layer.effect(
    Referrals,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const code = Effect.fnUntraced(function* (org_id: string) {
        for (let tries = 0; tries < codeTriesMax; tries++) {
          const [existing] = yield* textValues(sql`SELECT code FROM referral_codes WHERE org_id = ${org_id}`)
          if (existing !== undefined) return existing
          yield* sql`INSERT INTO referral_codes ${sql.insert({ org_id, code: randomCode() })} ON CONFLICT DO NOTHING`
        }
        return yield* Effect.die(new Error("no free referral code"))
      }, Effect.orDie)

      const find = (referralCode: string) => sql`SELECT 1 AS existing FROM referral_codes WHERE code = ${referralCode}`

      return Referrals.of({
        code,
        isKnown: (referralCode) => Effect.orDie(Effect.map(find(referralCode), (rows) => rows.length > 0)),
        admit: Effect.fnUntraced(function* (referralCode, email) {
          if ((yield* Effect.orDie(find(referralCode))).length === 0)
            return yield* new ReferralRefused({ reason: "unknown_code" })
          if (email === null) return
          const people = sql`
            SELECT 1 AS existing FROM users WHERE email_identity(email) = email_identity(${email}) AND NOT pending LIMIT 1`
          if ((yield* Effect.orDie(people)).length > 0) return yield* new ReferralRefused({ reason: "known_person" })
        }),
        refer: Effect.fnUntraced(function* ({ org_id, email, code, terms }) {
          const { deposit_min, deposit_bonus, share_bps, months } = terms
          const rows = yield* Effect.orDie(
            Effect.gen(function* () {
              // Serializes two sign-ups with two spellings of one address, so that the second is refused.
              yield* sql`SELECT pg_advisory_xact_lock(hashtextextended('referral ' || email_identity(${email}), 0))`
              // A null address equals no other in SQL, so NOT EXISTS is true for it.
              return yield* sql`
                INSERT INTO referrals (referral_id, referred_org, referrer_org, deposit_min, deposit_bonus, share_bps, ends_at)
                SELECT ${newId("ref")}, ${org_id}, c.org_id, ${deposit_min}, ${deposit_bonus}, ${share_bps},
                       now() + make_interval(months => ${months})
                FROM referral_codes c
                WHERE c.code = ${code} AND NOT EXISTS (
                  SELECT FROM users u WHERE email_identity(u.email) = email_identity(${email}) AND NOT u.pending AND u.org_id <> ${org_id})
                RETURNING 1 AS written`
            })
          )
          if (rows.length === 0) return yield* new ReferralRefused({ reason: "known_person" })
        }),
        referred: (org_id, limit) =>
          referralRows.all(sql`
            SELECT r.referral_id, o.name AS organization, r.created_at, r.ends_at, r.bonus_state, r.share_bps, r.net_revenue, r.unpaid
            FROM referrals r JOIN orgs o ON o.org_id = r.referred_org
            WHERE r.referrer_org = ${org_id} ORDER BY r.referral_id DESC LIMIT ${limit}`),
        referredBy: (org_id) =>
          referredByRows.first(sql`
            SELECT bonus_state, deposit_min, deposit_bonus FROM referrals WHERE referred_org = ${org_id}`),
        earnings: Effect.fnUntraced(function* (org_id) {
          return yield* earningsRow(sql`
            SELECT count(*) AS referred_count, coalesce(sum(credited), 0)::bigint AS credited,
                   coalesce(sum(floor(share_bps * greatest(0, net_revenue - unpaid)::numeric / 10000) - credited), 0)::bigint AS pending
            FROM referrals WHERE referrer_org = ${org_id}`)
        }, Effect.orDie),
        credits: (org_id, limit) =>
          shareCreditRows.all(sql`
            SELECT c.referral_id, c.n, c.amount, c.created_at
            FROM referrals r JOIN referral_credits c ON c.referral_id = r.referral_id
            WHERE r.referrer_org = ${org_id} ORDER BY c.created_at DESC, c.referral_id DESC, c.n DESC LIMIT ${limit}`)
      })
    })
  )
}
