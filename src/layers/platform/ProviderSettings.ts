/**
 * Reads the operator's accounts at providers, `RUNGATE_PROVIDER_<SLUG>_…`, and the markup on what they cost.
 */
import { Redacted } from "effect"
import { defaultMarkup } from "../../schema/money/Rates.ts"
import { type Environment, listOf, printable, type SettingsReader, secret } from "./SettingsReader.ts"

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
export const keyVariableOf = (slug: string): string => `RUNGATE_PROVIDER_${slug.toUpperCase()}_API_KEY`
export const webhookVariableOf = (slug: string): string => `RUNGATE_PROVIDER_${slug.toUpperCase()}_WEBHOOK_SECRET`
export const accountName = new RegExp(`^RUNGATE_PROVIDER_([A-Z0-9_]+?)_(${parts.join("|")})$`)

/** Whether a variable belongs to an account at a provider. */
export const isOfAccount = (name: string): boolean => accountName.test(name)

/** No provider sells a credit for more. Finer than a microdollar, because credits are sold by the million. */
const creditRange = { above: 0, to: 100, decimals: 9 }
/** Below 1, every run would cost the operator money. */
const markupRange = { from: 1, to: 10, decimals: 4 }

const webhookSecretsOf = (read: SettingsReader, name: string): ReadonlyArray<Redacted.Redacted> => {
  const secrets = listOf(read, name)
  if (!secrets.every((one) => printable.test(one)))
    read.problems.push(`${name} must be secrets without spaces, separated by commas`)
  return secrets.map((one) => Redacted.make(one))
}

export const accountsOf = (environment: Environment, read: SettingsReader): ReadonlyMap<string, Account> => {
  const accounts = new Map<string, Account>()
  for (const name of Object.keys(environment)) {
    const slug = accountName.exec(name)?.[1]
    if (slug === undefined || accounts.has(slug.toLowerCase())) continue
    accounts.set(slug.toLowerCase(), {
      apiKey: secret(read.text(`RUNGATE_PROVIDER_${slug}_API_KEY`)),
      baseUrl: read.url(`RUNGATE_PROVIDER_${slug}_BASE_URL`, ["http", "https"])?.replace(/\/+$/, "") ?? null,
      creditUsd: read.decimal(`RUNGATE_PROVIDER_${slug}_CREDIT_USD`, creditRange),
      webhookSecrets: webhookSecretsOf(read, `RUNGATE_PROVIDER_${slug}_WEBHOOK_SECRET`)
    })
  }
  return accounts
}

export const markupOf = (read: SettingsReader): string => read.decimal("RUNGATE_MARKUP", markupRange) ?? defaultMarkup
