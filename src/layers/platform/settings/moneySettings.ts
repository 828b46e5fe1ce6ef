/** Settings of money: the account at Stripe that receives payments, top-ups, referrals and prices. */
import { Redacted } from "effect"
import { dollars, type MicroUsd, min, usd } from "../../../schema/money/Money.ts"
import { defaultMarkup } from "../../../schema/money/Pricing.ts"
import { bonusMax, bpsOf, percentOf, type Terms } from "../../../schema/wallet/Referral.ts"
import { printable, type SettingsReader } from "./SettingsReader.ts"

/** The Stripe account that receives payments. */
export interface StripeAccount {
  readonly secretKey: Redacted.Redacted
  /** A webhook signed with any of these secrets is valid, so that a secret can be rotated. Never empty. */
  readonly webhookSecrets: ReadonlyArray<Redacted.Redacted>
  /** An origin that replaces Stripe's API, for tests. Null means Stripe's own. */
  readonly apiBase: string | null
}

/** Requires the key and the webhook secret together. With the key alone, customers could pay without being credited. */
const stripeOf = (read: SettingsReader): StripeAccount | null => {
  const rotated = { secret: true, reloads: true }
  const key = read.text("STRIPE_SECRET_KEY", null, "see [payments](payments.md)", rotated)
  const webhookSecrets = read.list("STRIPE_WEBHOOK_SECRET", "signing secrets, separated by commas", rotated)
  const base = read.url("STRIPE_API_BASE", ["http", "https"], "another origin, for tests", {
    default: "Stripe",
    reloads: true
  })
  if (key === null && webhookSecrets.length === 0) return null
  if (key === null)
    read.problems.push("STRIPE_SECRET_KEY is missing, but STRIPE_WEBHOOK_SECRET is set: set both or none")
  else if (!/^(sk|rk)_(test|live)_\w+$/.test(key)) {
    read.problems.push(
      "STRIPE_SECRET_KEY must be a secret or restricted key: sk_test_…, sk_live_…, rk_test_… or rk_live_…"
    )
  }
  if (webhookSecrets.length === 0) {
    read.problems.push(
      "STRIPE_WEBHOOK_SECRET is missing, but STRIPE_SECRET_KEY is set: without it no payment would be credited"
    )
  } else if (!webhookSecrets.every((one) => printable.test(one))) {
    read.problems.push("STRIPE_WEBHOOK_SECRET must be signing secrets without spaces, separated by commas")
  }
  if (base !== null && new URL(base).href !== `${new URL(base).origin}/`) {
    read.problems.push("STRIPE_API_BASE must be an origin without path, user and query")
  }
  return {
    secretKey: Redacted.make(key ?? ""),
    webhookSecrets: webhookSecrets.map((one) => Redacted.make(one)),
    apiBase: base === null ? null : new URL(base).origin
  }
}

/** Of a deposit of $10.00 the platform earns about $1.50 after the referrer's share. The card processor takes about $0.60 of that. */
const bonusDefault = "1.00"

/** The terms of new referrals. */
const referralOf = (read: SettingsReader): Terms => {
  const deposit_min = read.usd(
    "RUNGATE_REFERRAL_DEPOSIT_MIN",
    "10.00",
    "0",
    "smallest first deposit that earns a welcome bonus"
  )
  const bonus = read.usd(
    "RUNGATE_REFERRAL_DEPOSIT_BONUS",
    bonusDefault,
    "0",
    "the welcome bonus; at most what the smallest deposit earns after the referrer's share"
  )
  const share_bps = bpsOf(
    read.text("RUNGATE_REFERRAL_SHARE_PERCENT", "10", "the referrer's share of net revenue", { kind: "decimal" })
  )
  if (share_bps === null)
    read.problems.push("RUNGATE_REFERRAL_SHARE_PERCENT must be a percentage from 0 to 100, with at most two decimals")
  const highest = bonusMax(deposit_min, share_bps ?? 0)
  if (read.textOf("RUNGATE_REFERRAL_DEPOSIT_BONUS") !== undefined && bonus > highest) {
    read.problems.push(
      `RUNGATE_REFERRAL_DEPOSIT_BONUS must be at most ${usd(highest)}, which is what a deposit of ${usd(deposit_min)} earns after the referrer's share of ${percentOf(share_bps ?? 0)} %`
    )
  }
  return {
    deposit_min,
    deposit_bonus: min(bonus, highest),
    share_bps: share_bps ?? 0,
    months: read.int("RUNGATE_REFERRAL_MONTHS", 12, [0, 120], "how long the share is paid")
  }
}

/** A call without published rates holds $1.00. A minimum cap above that would allow no cap at all. */
const rawMinCapMax = dollars("1.00")
const rawMinCapOf = (read: SettingsReader): MicroUsd => {
  const minCap = read.usd(
    "RUNGATE_RAW_MIN_CAP",
    "0.10",
    "above 0",
    "smallest `max_cost` of a raw call without published rates, in USD, at most 1.00"
  )
  if (minCap > rawMinCapMax) read.problems.push("RUNGATE_RAW_MIN_CAP must be at most 1.00")
  return minCap
}

export const moneySettingsOf = (read: SettingsReader, production: boolean) => ({
  /** Null in the sandbox, even if the environment has Stripe settings, because sandbox payments are simulated. */
  stripe: production ? stripeOf(read) : null,
  autoTopupDailyMax: read.usd(
    "RUNGATE_AUTO_TOPUP_DAILY_MAX",
    "500.00",
    "above 0",
    "most that automatic top-ups charge one organization in a UTC day"
  ),
  reconcileSeconds: read.int(
    "RUNGATE_RECONCILE_SECONDS",
    60,
    [1, 86_400],
    "how often the service asks Stripe for missed payments"
  ),
  referral: referralOf(read),
  referralSeconds: read.int("RUNGATE_REFERRAL_SECONDS", 60, [1, 86_400], "how often shares are credited"),
  // Below 1, every run would cost the operator money.
  markup: read.decimal(
    "RUNGATE_MARKUP",
    defaultMarkup,
    { from: 1, to: 10, decimals: 4 },
    "what a dollar of provider cost is charged, from 1 to 10"
  ),
  ownAccountFee: read.usd(
    "RUNGATE_OWN_ACCOUNT_FEE",
    "0.00",
    "0",
    "what a run through a customer's [own account](own-accounts.md) at a provider is charged, in USD"
  ),
  /** A share such as 0.02, in basis points. */
  warrantyShareBps: Math.round(
    10_000 *
      Number(
        read.decimal(
          "RUNGATE_WARRANTY_SHARE",
          "0",
          { from: 0, to: 1, decimals: 4 },
          "the part of revenue that the [outcome warranty](warranty.md) may pay back, from 0 to 1; 0 turns it off"
        )
      )
  ),
  rawMinCap: rawMinCapOf(read)
})
