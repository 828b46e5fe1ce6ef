/**
 * What the operator configured: the environment, decoded once, all mistakes reported together.
 *
 * Secrets stay `Redacted` until the place that sends them, and no message repeats a value, which may be one. Nothing else
 * in the project reads the environment.
 */
import { availableParallelism } from "node:os"
import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { dollars, type MicroUsd, Usd } from "../schema/Money.ts"
import { bpsOf, type Terms } from "../schema/Referral.ts"

export type Role = "all" | "http" | "worker"
export type Mode = "sandbox" | "production"

/** A provider's account: what RUNGATE_PROVIDER_<SLUG>_API_KEY and …_BASE_URL say. */
export interface Account {
  readonly apiKey: Redacted.Redacted | null
  readonly baseUrl: string | null
}

/** The account at Stripe that takes the money. */
export interface StripeAccount {
  readonly secretKey: Redacted.Redacted
  /** Several while one replaces another: a webhook signed with any of them is Stripe's. Never empty. */
  readonly webhookSecrets: ReadonlyArray<Redacted.Redacted>
  /** An origin that takes the place of Stripe's own; null in earnest. */
  readonly apiBase: string | null
}

/** RUNGATE_CRASH_AT=`point:N` kills the process at the N-th pass of a crash point, `point:N:stop` freezes it. */
export interface CrashAt {
  readonly point: string
  readonly hit: number
  readonly signal: "SIGKILL" | "SIGSTOP"
}

export interface SettingsShape {
  readonly port: number
  readonly host: string
  readonly mode: Mode
  /** The address clients use, without a trailing slash; null means the one we listen on. */
  readonly publicUrl: string | null
  readonly databaseUrl: Redacted.Redacted | null
  readonly redisUrl: Redacted.Redacted | null
  readonly dataDir: string
  /** Requests per second and key; 0 lifts every limit. */
  readonly rateLimit: number
  /** Runs executed at once by one worker process. */
  readonly concurrency: number
  /** Seconds after which a worker that stopped renewing its lease counts as dead. */
  readonly leaseSeconds: number
  /** Seconds that a stopping process gives its running provider calls. */
  readonly drainSeconds: number
  /** Seconds between a stop signal, which turns /readyz to 503, and the moment at which connections are refused. */
  readonly stopDelaySeconds: number
  /** Seconds between two looks at how offers do; 0: none, and every offer counts as unmeasured. */
  readonly healthSeconds: number
  /** What a referral promises that is made today. */
  readonly referral: Terms
  /** Seconds between two looks at what referrals have earned. */
  readonly referralSeconds: number
  /** Postgres connections of one process. */
  readonly connections: number
  /** By provider slug. */
  readonly accounts: ReadonlyMap<string, Account>
  /** Null in the sandbox, whatever the environment says: there is no processor there. */
  readonly stripe: StripeAccount | null
  /** The most that automatic top-ups may charge one organization in 24 hours. */
  readonly autoTopupDailyMax: MicroUsd
  /** Seconds between two looks at what the payment processor knows and we don't. */
  readonly reconcileSeconds: number
  /** Days for which inputs and results of runs are kept; 0: for ever. */
  readonly retentionDays: number
  /** For tests only: where this process is to die; see CrashPoint. */
  readonly crashAt: CrashAt | null
}

/** Where people and clients find this service. */
export const addressOf = ({ publicUrl, host, port }: Pick<SettingsShape, "publicUrl" | "host" | "port">): string =>
  publicUrl ?? `http://${host === "0.0.0.0" ? "127.0.0.1" : host}:${port}`

export class SettingsInvalid extends Schema.TaggedError<SettingsInvalid>()("SettingsInvalid", {
  message: Schema.String
}) {}

export type Environment = Readonly<Record<string, string | undefined>>

/** Reads one variable; an empty one counts as unset. Mistakes gather in `problems`. */
const reader = (environment: Environment) => {
  const problems: Array<string> = []
  const text = (name: string) => (environment[name]?.trim() === "" ? undefined : environment[name]?.trim())
  return {
    problems,
    text,
    int: (name: string, fallback: number, min: number, max: number) => {
      const value = text(name)
      if (value === undefined) return fallback
      const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN
      if (number >= min && number <= max) return number
      problems.push(`${name} must be a whole number from ${min} to ${max}`)
      return fallback
    },
    oneOf: <A extends string>(name: string, fallback: A, values: ReadonlyArray<A>) => {
      const value = text(name)
      const found = value === undefined ? fallback : values.find((one) => one === value)
      if (found === undefined) problems.push(`${name} must be ${values.join(" or ")}`)
      return found ?? fallback
    },
    usd: (name: string, fallback: string, least: "0" | "above 0" = "above 0") => {
      const amount = Schema.decodeOption(Usd)(text(name) ?? fallback)
      if (Option.isSome(amount) && (amount.value > 0n || least === "0")) return amount.value
      problems.push(`${name} must be an amount in USD${least === "0" ? "" : " above 0"}, such as ${fallback}`)
      return dollars(fallback)
    },
    url: (name: string, protocols: ReadonlyArray<string>) => {
      const value = text(name)
      if (value === undefined) return null
      if (protocols.some((protocol) => value.startsWith(`${protocol}://`)) && URL.canParse(value)) return value
      problems.push(`${name} must be an address that starts with ${protocols.map((one) => `${one}://`).join(" or ")}`)
      return null
    }
  }
}

const referralOf = (read: ReturnType<typeof reader>): Terms => {
  const percent = read.text("RUNGATE_REFERRAL_SHARE_PERCENT") ?? "10"
  const share_bps = bpsOf(percent)
  if (share_bps === null)
    read.problems.push("RUNGATE_REFERRAL_SHARE_PERCENT must be a percentage from 0 to 100, with at most two decimals")
  return {
    deposit_min: read.usd("RUNGATE_REFERRAL_DEPOSIT_MIN", "10.00", "0"),
    deposit_bonus: read.usd("RUNGATE_REFERRAL_DEPOSIT_BONUS", "5.00", "0"),
    share_bps: share_bps ?? 0,
    months: read.int("RUNGATE_REFERRAL_MONTHS", 12, 0, 120)
  }
}

const secret = (text: string | null | undefined) => (text === null || text === undefined ? null : Redacted.make(text))

/** `RUNGATE_PROVIDER_<SLUG>_API_KEY`: the slug in capitals. */
const accountsOf = (environment: Environment, read: ReturnType<typeof reader>) => {
  const accounts = new Map<string, Account>()
  for (const name of Object.keys(environment)) {
    const slug = /^RUNGATE_PROVIDER_([A-Z0-9_]+?)_(API_KEY|BASE_URL)$/.exec(name)?.[1]
    if (slug === undefined) continue
    accounts.set(slug.toLowerCase(), {
      apiKey: secret(read.text(`RUNGATE_PROVIDER_${slug}_API_KEY`)),
      baseUrl: read.url(`RUNGATE_PROVIDER_${slug}_BASE_URL`, ["http", "https"])?.replace(/\/+$/, "") ?? null
    })
  }
  return accounts
}

/** What may stand in a header; a line break in a secret is a slip of a copying hand. */
const printable = /^[\x21-\x7e]+$/

/** Half of it would take money that nobody ever credits, so both halves are asked for. */
const stripeOf = (read: ReturnType<typeof reader>): StripeAccount | null => {
  const key = read.text("STRIPE_SECRET_KEY")
  const secrets = (read.text("STRIPE_WEBHOOK_SECRET") ?? "").split(",").map((one) => one.trim())
  const webhookSecrets = secrets.filter((one) => one !== "")
  const base = read.url("STRIPE_API_BASE", ["http", "https"])
  if (key === undefined && webhookSecrets.length === 0) return null
  if (key === undefined) read.problems.push("STRIPE_SECRET_KEY is missing, while STRIPE_WEBHOOK_SECRET is set")
  else if (!/^(sk|rk)_(test|live)_\w+$/.test(key)) {
    read.problems.push(
      "STRIPE_SECRET_KEY must be a secret or restricted key: sk_test_…, sk_live_…, rk_test_… or rk_live_…"
    )
  }
  if (webhookSecrets.length === 0) {
    read.problems.push("STRIPE_WEBHOOK_SECRET is missing, while STRIPE_SECRET_KEY is set: no payment would be credited")
  } else if (!webhookSecrets.every((one) => printable.test(one))) {
    read.problems.push("STRIPE_WEBHOOK_SECRET must be signing secrets without spaces, separated by commas")
  }
  if (base !== null && new URL(base).href !== `${new URL(base).origin}/`) {
    read.problems.push("STRIPE_API_BASE must be an origin: no path, no user, no query")
  }
  return {
    secretKey: Redacted.make(key ?? ""),
    webhookSecrets: webhookSecrets.map((one) => Redacted.make(one)),
    apiBase: base === null ? null : new URL(base).origin
  }
}

const crashAtOf = (read: ReturnType<typeof reader>): CrashAt | null => {
  const value = read.text("RUNGATE_CRASH_AT")
  if (value === undefined) return null
  const [, point, hit, stop] = /^([a-z_.]+):([1-9]\d{0,5})(:stop)?$/.exec(value) ?? []
  if (point !== undefined) return { point, hit: Number(hit), signal: stop === undefined ? "SIGKILL" : "SIGSTOP" }
  read.problems.push("RUNGATE_CRASH_AT must be a crash point and the pass at which to die, such as mail.before:2")
  return null
}

export const settingsOf = (environment: Environment): Effect.Effect<SettingsShape, SettingsInvalid> =>
  Effect.suspend(() => {
    const read = reader(environment)
    const port = read.int("PORT", 8787, 0, 65535)
    const mode = read.oneOf("RUNGATE_MODE", "sandbox", ["sandbox", "production"])
    const settings: SettingsShape = {
      port,
      host: read.text("HOST") ?? "127.0.0.1",
      mode,
      publicUrl: read.url("RUNGATE_PUBLIC_URL", ["http", "https"])?.replace(/\/+$/, "") ?? null,
      databaseUrl: secret(read.url("DATABASE_URL", ["postgres", "postgresql"])),
      redisUrl: secret(read.url("REDIS_URL", ["redis", "rediss"])),
      dataDir: read.text("RUNGATE_DATA_DIR") ?? ".rungate",
      rateLimit: read.int("RUNGATE_RATE_LIMIT", 50, 0, 1_000_000),
      concurrency: read.int("RUNGATE_CONCURRENCY", 500, 1, 100_000),
      leaseSeconds: read.int("RUNGATE_LEASE_SECONDS", 15, 1, 3600),
      drainSeconds: read.int("RUNGATE_DRAIN_SECONDS", 20, 0, 600),
      stopDelaySeconds: read.int("RUNGATE_STOP_DELAY_SECONDS", 0, 0, 600),
      healthSeconds: read.int("RUNGATE_HEALTH_SECONDS", 5, 0, 3600),
      referral: referralOf(read),
      referralSeconds: read.int("RUNGATE_REFERRAL_SECONDS", 60, 1, 86_400),
      connections: read.int("RUNGATE_DATABASE_CONNECTIONS", Math.max(8, availableParallelism() * 2), 2, 500),
      accounts: accountsOf(environment, read),
      stripe: mode === "sandbox" ? null : stripeOf(read),
      autoTopupDailyMax: read.usd("RUNGATE_AUTO_TOPUP_DAILY_MAX", "500.00"),
      retentionDays: read.int("RUNGATE_RETENTION_DAYS", 0, 0, 36_500),
      reconcileSeconds: read.int("RUNGATE_RECONCILE_SECONDS", 60, 1, 86_400),
      crashAt: crashAtOf(read)
    }
    if (read.problems.length === 0) return Effect.succeed(settings)
    return Effect.fail(new SettingsInvalid({ message: `Bad settings: ${read.problems.join("; ")}.` }))
  })

export class Settings extends Context.Service<Settings, SettingsShape>()("rungate/layers/Settings") {
  static readonly layerFrom = (environment: Environment) => Layer.effect(Settings, settingsOf(environment))
  static readonly layer = Layer.effect(
    Settings,
    Effect.suspend(() => settingsOf(process.env))
  )
}
