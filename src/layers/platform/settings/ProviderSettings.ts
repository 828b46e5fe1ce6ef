/**
 * Reads the operator's accounts at providers, `RUNGATE_PROVIDER_<SLUG>_…`.
 */
import { Redacted } from "effect"
import { printable, type SettingsReader, secret } from "./SettingsReader.ts"

/** The operator's account at a provider: RUNGATE_PROVIDER_<SLUG>_API_KEY, …_BASE_URL, …_CREDIT_USD and …_WEBHOOK_SECRET. */
export interface Account {
  readonly apiKey: Redacted.Redacted | null
  readonly baseUrl: string | null
  /** What the operator's plan pays for a credit, as a decimal string in USD. Null: as in the provider's smallest paid plan. */
  readonly creditUsd: string | null
  /** An event signed with any of these secrets is genuine, so that a secret can be rotated. Empty: no event is taken. */
  readonly webhookSecrets: ReadonlyArray<Redacted.Redacted>
}

const parts = ["API_KEY", "BASE_URL", "CREDIT_USD", "WEBHOOK_SECRET"]
export const accountVariables = (slug: string): ReadonlyArray<string> =>
  parts.map((part) => `RUNGATE_PROVIDER_${slug.toUpperCase()}_${part}`)
export const webhookVariableOf = (slug: string): string => `RUNGATE_PROVIDER_${slug.toUpperCase()}_WEBHOOK_SECRET`
export const accountName = new RegExp(`^RUNGATE_PROVIDER_([A-Z0-9_]+?)_(${parts.join("|")})$`)

/** Whether a variable belongs to an account at a provider. */
export const isOfAccount = (name: string): boolean => accountName.test(name)

/** No provider sells a credit for more. Finer than a microdollar, because credits are sold by the million. */
const creditRange = { above: 0, to: 100, decimals: 9 }
const accountOf = (read: SettingsReader, slug: string): Account => {
  const name = `RUNGATE_PROVIDER_${slug}`
  const rotated = { secret: true, reloads: true }
  const apiKey = read.text(`${name}_API_KEY`, null, "a provider's account; see [providers](providers.md)", rotated)
  const baseUrl = read.url(`${name}_BASE_URL`, ["http", "https"], "another origin for a provider", {
    default: "the provider's",
    reloads: true
  })
  const creditUsd = read.decimal(
    `${name}_CREDIT_USD`,
    null,
    creditRange,
    "what your plan pays for a credit, in USD; see [prices](#prices)",
    { kind: "usd", default: "the smallest paid plan's", reloads: true }
  )
  const secrets = read.list(
    `${name}_WEBHOOK_SECRET`,
    "proves a provider's events about bounces, separated by commas; see [warranty](warranty.md#events-of-resend-and-postmark)",
    rotated
  )
  if (!secrets.every((one) => printable.test(one)))
    read.problems.push(`${name}_WEBHOOK_SECRET must be secrets without spaces, separated by commas`)
  return {
    apiKey: secret(apiKey),
    baseUrl: baseUrl?.replace(/\/+$/, "") ?? null,
    creditUsd,
    webhookSecrets: secrets.map((one) => Redacted.make(one))
  }
}

export const accountsOf = (read: SettingsReader): ReadonlyMap<string, Account> => {
  // It has no value: its lines in the table stand for those of every provider.
  accountOf(read, "<SLUG>")
  const slugs = new Set(Object.keys(read.environment).flatMap((name) => accountName.exec(name)?.[1] ?? []))
  return new Map([...slugs].map((slug) => [slug.toLowerCase(), accountOf(read, slug)]))
}
