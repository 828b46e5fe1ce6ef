/**
 * Referral codes and referred workspaces: what a workspace sees of the program, and what its sign-up writes.
 *
 * Each workspace has one code. A referral is written in the transaction of the sign-up, so an existing workspace can't be referred later.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { codeAlphabet, codeLength, type Terms } from "../../schema/wallet/Referral.ts"
import { newId } from "../platform/Ids.ts"
import { oneRowOf, rowsOf } from "../postgres/Rows.ts"

export class ReferralRefused extends Schema.TaggedError<ReferralRefused>()("ReferralRefused", {
  /** `known_person`: a code is for people who have no account here, which also keeps them from referring themselves. */
  reason: Schema.Literals(["unknown_code", "known_person"])
}) {}

/** A referral as its referrer reads it. */
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
const referralRows = rowsOf(ReferralRow.fields)

/** How a workspace came here itself. */
export const ReferredByRow = Schema.Struct({
  bonus_state: Schema.Literals(["pending", "granted", "revoked"]),
  deposit_min: Schema.BigInt,
  deposit_bonus: Schema.BigInt
})
export type ReferredByRow = typeof ReferredByRow.Type
const referredByRows = rowsOf(ReferredByRow.fields)

export const EarningsRow = Schema.Struct({
  referred_count: Schema.BigInt,
  credited: Schema.BigInt,
  /** Earned, and too little yet for an entry of its own. */
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
const shareCreditRows = rowsOf(ShareCreditRow.fields)

export interface Newcomer {
  readonly org_id: string
  /** Null while it is to be verified: then the verification decides whether the person is new (Passwords.ts). */
  readonly email: string | null
  readonly code: string
  readonly terms: Terms
}

/** Two mint at once, or a code is taken: then once more. With 30^8 codes the second hardly ever happens. */
const mintTriesMax = 5

const randomCode = (): string => {
  let code = ""
  // The largest multiple of the alphabet's length in a byte: beyond it its first letters would come more often.
  const fair = 256 - (256 % codeAlphabet.length)
  while (code.length < codeLength) {
    for (const byte of crypto.getRandomValues(new Uint8Array(codeLength)))
      if (byte < fair && code.length < codeLength) code += codeAlphabet.charAt(byte % codeAlphabet.length)
  }
  return code
}

const codeRows = rowsOf({ code: Schema.String })

export class Referrals extends Context.Service<
  Referrals,
  {
    /** The workspace's code, minted by the first call. */
    readonly code: (org_id: string) => Effect.Effect<string>
    readonly isKnown: (code: string) => Effect.Effect<boolean>
    /**
     * Whether this person may sign up with this code: a look that costs no password. A null address is not looked up: it is to be verified, and
     * until then nobody is told whether it has an account.
     */
    readonly admit: (code: string, email: string | null) => Effect.Effect<void, ReferralRefused>
    /** Writes the referral of a workspace that is just being made, on the terms of now. Call it in the sign-up's transaction. */
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
        for (let tries = 0; tries < mintTriesMax; tries++) {
          const [known] = yield* codeRows(sql`SELECT code FROM referral_codes WHERE org_id = ${org_id}`)
          if (known !== undefined) return known.code
          yield* sql`INSERT INTO referral_codes ${sql.insert({ org_id, code: randomCode() })} ON CONFLICT DO NOTHING`
        }
        return yield* Effect.die(new Error("no free referral code was found"))
      }, Effect.orDie)

      const find = (wanted: string) => sql`SELECT 1 AS known FROM referral_codes WHERE code = ${wanted}`

      const admit = Effect.fnUntraced(function* (wanted: string, email: string | null) {
        if ((yield* Effect.orDie(find(wanted))).length === 0)
          return yield* new ReferralRefused({ reason: "unknown_code" })
        if (email === null) return
        const people = sql`
          SELECT 1 AS known FROM users WHERE email_identity(email) = email_identity(${email}) AND NOT pending LIMIT 1`
        if ((yield* Effect.orDie(people)).length > 0) return yield* new ReferralRefused({ reason: "known_person" })
      })

      const refer = Effect.fnUntraced(function* ({ org_id, email, code, terms }: Newcomer) {
        const { deposit_min, deposit_bonus, share_bps, months } = terms
        const rows = yield* Effect.orDie(
          Effect.gen(function* () {
            // The same person twice at once, under two spellings of one address: the second waits and is seen.
            yield* sql`SELECT pg_advisory_xact_lock(hashtextextended('referral ' || email_identity(${email}), 0))`
            // A null address is like no other.
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
      })

      const referred = (org_id: string, limit: number) =>
        referralRows(sql`
        SELECT r.referral_id, o.name AS organization, r.created_at, r.ends_at, r.bonus_state, r.share_bps, r.net_revenue, r.unpaid
        FROM referrals r JOIN orgs o ON o.org_id = r.referred_org
        WHERE r.referrer_org = ${org_id} ORDER BY r.referral_id DESC LIMIT ${limit}`)

      const referredBy = (org_id: string) =>
        referredByRows(sql`
        SELECT bonus_state, deposit_min, deposit_bonus FROM referrals WHERE referred_org = ${org_id}`)

      const earnings = Effect.fnUntraced(function* (org_id: string) {
        return yield* earningsRow(sql`
          SELECT count(*) AS referred_count, coalesce(sum(credited), 0)::bigint AS credited,
                 coalesce(sum(floor(share_bps * greatest(0, net_revenue - unpaid)::numeric / 10000) - credited), 0)::bigint AS pending
          FROM referrals WHERE referrer_org = ${org_id}`)
      }, Effect.orDie)

      const credits = (org_id: string, limit: number) =>
        shareCreditRows(sql`
        SELECT c.referral_id, c.n, c.amount, c.created_at
        FROM referrals r JOIN referral_credits c ON c.referral_id = r.referral_id
        WHERE r.referrer_org = ${org_id} ORDER BY c.created_at DESC, c.referral_id DESC, c.n DESC LIMIT ${limit}`)

      return Referrals.of({
        code,
        isKnown: (wanted) => Effect.orDie(Effect.map(find(wanted), (rows) => rows.length > 0)),
        admit,
        refer,
        referred: (org_id, limit) => Effect.orDie(referred(org_id, limit)),
        referredBy: (org_id) => Effect.orDie(Effect.map(referredBy(org_id), (rows) => rows[0] ?? null)),
        earnings,
        credits: (org_id, limit) => Effect.orDie(credits(org_id, limit))
      })
    })
  )
}
