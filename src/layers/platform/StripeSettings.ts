/** Reads the account at Stripe that receives payments. */
import { Redacted } from "effect"
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
export const stripeOf = (read: SettingsReader): StripeAccount | null => {
  const key = read.text("STRIPE_SECRET_KEY")
  const secrets = (read.text("STRIPE_WEBHOOK_SECRET") ?? "").split(",").map((one) => one.trim())
  const webhookSecrets = secrets.filter((one) => one !== "")
  const base = read.url("STRIPE_API_BASE", ["http", "https"])
  if (key === undefined && webhookSecrets.length === 0) return null
  if (key === undefined)
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
