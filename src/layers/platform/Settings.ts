/**
 * Reads the service's settings from environment variables, once, and reports all invalid ones together.
 *
 * Secrets stay `Redacted` until they are used, and no message contains a value. No other module reads the environment.
 */
import { availableParallelism } from "node:os"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import type { EncryptionKeys } from "./Encryption.ts"
import { encryptionKeysOf } from "./EncryptionSettings.ts"
import { observabilityOf, type ObservabilitySettings } from "./ObservabilitySettings.ts"
import { type Account, accountsOf, markupOf } from "./ProviderSettings.ts"
import { dollars, type MicroUsd, min, usd } from "../../schema/money/Money.ts"
import { lanesDefault, lanesMax } from "../../schema/wallet/Lane.ts"
import { bonusMax, bpsOf, percentOf, type Terms } from "../../schema/wallet/Referral.ts"
import { type Environment, listOf, printable, reader, type SettingsReader } from "./SettingsReader.ts"
import { type AnswerSettings, answerSettingsOf } from "./settings/answerSettings.ts"
import { environmentOf } from "./settings/environmentFile.ts"
import { type Checked, reloading, type Reloaded } from "./settings/reloading.ts"
import { type Resolved, withSecretFiles } from "./settings/secretFiles.ts"
import { fileVariable, settingNames, settingOf } from "./settings/settingsTable.ts"
import { type StripeAccount, stripeOf } from "./StripeSettings.ts"
import { databaseUrlsOf, dnsServersOf, type MailServer, mailOf, redisUrlOf } from "./ServerUrls.ts"

export type Role = "all" | "http" | "worker"
export type Mode = "sandbox" | "production"

/** The least severity that is logged. */
export type LogLevel = "debug" | "info" | "warn" | "error"

/** Who may sign up: everybody, people with an invitation, or nobody. */
export type SignUp = "open" | "invite" | "closed"

/** RUNGATE_CRASH_AT=`point:N` kills the process at the N-th pass of a crash point, `point:N:stop` freezes it. */
export interface CrashAt {
  readonly point: string
  readonly hit: number
  readonly signal: "SIGKILL" | "SIGSTOP"
}

export interface SettingsShape extends ObservabilitySettings, AnswerSettings {
  readonly port: number
  readonly host: string
  readonly mode: Mode
  /** The URL that clients use, without a trailing slash. Null means the address that the service listens on. */
  readonly publicUrl: string | null
  readonly databaseUrl: Redacted.Redacted | null
  /** The server's own address if `databaseUrl` is that of a connection pooler. Null: there is no pooler. */
  readonly databaseDirectUrl: Redacted.Redacted | null
  /** A standby that lists and history are read from. Null: they are read from the primary. */
  readonly databaseReadUrl: Redacted.Redacted | null
  /** The schema owner's URL, for `rungate migrate`. Null if the service's own role owns the schema. */
  readonly migrationDatabaseUrl: Redacted.Redacted | null
  /** Whether the service refuses or warns of a database that may lose commits, or a pooler that loses session state. */
  readonly databaseChecks: "refuse" | "warn"
  readonly redisUrl: Redacted.Redacted | null
  readonly dataDir: string
  /** Free space on the embedded database's disk below which new runs are refused. 0: they never are. */
  readonly minFreeDiskMb: number
  readonly signUp: SignUp
  /** Whether a new user must verify the e-mail address before using the service. */
  readonly emailVerification: boolean
  /** Null: e-mails are written to the log and not sent. */
  readonly mail: MailServer | null
  /** Requests per second and key. 0 turns every rate limit off. */
  readonly rateLimit: number
  /** Number of proxies in front of the service that append to X-Forwarded-For. 0: clients connect directly. */
  readonly trustedProxies: number
  /** Webhooks may be sent over http and to private addresses. */
  readonly webhookAllowPrivate: boolean
  readonly ownAccountAllowPrivate: boolean
  readonly logLevel: LogLevel
  /** The bearer token that opens /metrics. Null: no token does. */
  readonly metricsToken: Redacted.Redacted | null
  /** A separate port for /metrics, or 0 for any free port. Null: no separate port. */
  readonly metricsPort: number | null
  readonly metricsHost: string
  /** Runs that one worker process executes at once. */
  readonly concurrency: number
  /** Runs of one organization that one worker process executes at once. */
  readonly orgConcurrency: number
  /** Runs of one organization that have not ended. Beyond this number, new runs are refused. */
  readonly orgQueue: number
  /** Failures of one input after which a caller may not repeat it. 0: any number. */
  readonly repeatGuard: number
  /** Event streams of one organization that are open at this process. */
  readonly orgStreams: number
  /** Lanes that wallets are distributed over. Null: the stored number, which is 2 unless a service has stored another. */
  readonly lanes: number | null
  /** Seconds after which a worker that stopped renewing its lease counts as dead. */
  readonly leaseSeconds: number
  /** Seconds that a stopping process waits for its running provider calls. */
  readonly drainSeconds: number
  /** Seconds between a stop signal, which turns /readyz to 503, and the end of accepting connections. */
  readonly stopDelaySeconds: number
  /** Seconds between two measurements of the offers' health. 0: never, and every offer counts as unmeasured. */
  readonly healthSeconds: number
  /** The terms of new referrals. */
  readonly referral: Terms
  /** Seconds between two computations of what referrers have earned. */
  readonly referralSeconds: number
  /** Postgres connections of one process. */
  readonly connections: number
  /** The operator's accounts by provider slug. */
  readonly accounts: ReadonlyMap<string, Account>
  /** What a dollar of provider cost is charged, as a decimal string. At least 1. */
  readonly markup: string
  /** Null in the sandbox, even if the environment has Stripe settings, because sandbox payments are simulated. */
  readonly stripe: StripeAccount | null
  /** The most that automatic top-ups may charge one organization in 24 hours. */
  readonly autoTopupDailyMax: MicroUsd
  /** The smallest cap of a raw call whose provider publishes no rates. */
  readonly rawMinCap: MicroUsd
  /** What a run through the customer's own account at a provider is charged. */
  readonly ownAccountFee: MicroUsd
  /** The part of the revenue of 30 days that outcome warranties may pay back, in basis points. 0: there is no warranty. */
  readonly warrantyShareBps: number
  /** Seconds between two polls of the payment processor for events whose webhook did not arrive. */
  readonly reconcileSeconds: number
  /** Encrypt secrets in the database. The first one encrypts, all decrypt. Empty: secrets are stored as they are. */
  readonly encryptionKeys: EncryptionKeys
  /** Name servers that verify sending domains, as `ip` or `ip:port`. Empty: the system's name servers. */
  readonly dnsServers: ReadonlyArray<string>
  /** Marketplace actors that raw runs may start: `owner/name` or `owner/*`. Null: those that the package ships. */
  readonly actors: ReadonlyArray<string> | null
  /** Days for which inputs and results of runs are kept. 0: forever. */
  readonly retentionDays: number
  /** Whole months of runs and their ledger entries that are kept. 0: all. */
  readonly retentionMonths: number
  /** `given`: variables of the environment that begin with RUNGATE_. `existing`: all settings that exist, without provider accounts. */
  readonly names: { readonly given: ReadonlyArray<string>; readonly existing: ReadonlyArray<string> }
  /** For tests only: where this process is killed or frozen (CrashPoint.ts). */
  readonly crashAt: CrashAt | null
}

/** The URL of this service for links in e-mails and messages. */
export const addressOf = ({ publicUrl, host, port }: Pick<SettingsShape, "publicUrl" | "host" | "port">): string =>
  publicUrl ?? `http://${host === "0.0.0.0" ? "127.0.0.1" : host}:${port}`

/** The settings that a reload may change. */
type ReloadedKey = "accounts" | "encryptionKeys" | "mail" | "metricsToken" | "stripe"

export interface LiveSettings extends Omit<SettingsShape, ReloadedKey> {
  /** The settings that a reload may change, as they are now. Read them when they are used, and don't keep them. */
  readonly current: () => Pick<SettingsShape, ReloadedKey>
  /** Reads the settings again. Fails, and changes nothing, if one of them has a mistake. */
  readonly reload: Effect.Effect<Reloaded, SettingsInvalid>
  /** Has `listener` called with the names of settings that a reload changed. */
  readonly onReload: (listener: (changed: ReadonlyArray<string>) => Effect.Effect<void>) => void
}

export type { Account } from "./ProviderSettings.ts"
export type { Environment } from "./SettingsReader.ts"
export type { MailServer } from "./ServerUrls.ts"
export type { StripeAccount } from "./StripeSettings.ts"

export class SettingsInvalid extends Schema.TaggedError<SettingsInvalid>()("SettingsInvalid", {
  message: Schema.String
}) {}

/** Of a deposit of $10.00 the platform earns about $1.50 after the referrer's share. The card processor takes about $0.60 of that. */
const bonusDefault = "1.00"

const referralOf = (read: SettingsReader): Terms => {
  const percent = read.text("RUNGATE_REFERRAL_SHARE_PERCENT") ?? "10"
  const share_bps = bpsOf(percent)
  if (share_bps === null)
    read.problems.push("RUNGATE_REFERRAL_SHARE_PERCENT must be a percentage from 0 to 100, with at most two decimals")
  const deposit_min = read.usd("RUNGATE_REFERRAL_DEPOSIT_MIN", "10.00", "0")
  const highest = bonusMax(deposit_min, share_bps ?? 0)
  const given = read.text("RUNGATE_REFERRAL_DEPOSIT_BONUS")
  const bonus = read.usd("RUNGATE_REFERRAL_DEPOSIT_BONUS", bonusDefault, "0")
  if (given !== undefined && bonus > highest) {
    read.problems.push(
      `RUNGATE_REFERRAL_DEPOSIT_BONUS must be at most ${usd(highest)}, which is what a deposit of ${usd(deposit_min)} earns after the referrer's share of ${percentOf(share_bps ?? 0)} %`
    )
  }
  return {
    deposit_min,
    deposit_bonus: min(bonus, highest),
    share_bps: share_bps ?? 0,
    months: read.int("RUNGATE_REFERRAL_MONTHS", 12, 0, 120)
  }
}

/** A call without published rates holds $1.00. A minimum cap above that would allow no cap at all. */
const rawMinCapMax = dollars("1.00")

const rawMinCapOf = (read: SettingsReader): MicroUsd => {
  const minCap = read.usd("RUNGATE_RAW_MIN_CAP", "0.10")
  if (minCap > rawMinCapMax) read.problems.push("RUNGATE_RAW_MIN_CAP must be at most 1.00")
  return minCap
}

/** For tests only, so it is in no list. */
const testName = "RUNGATE_CRASH_AT"
/** Variables that the client's commands read. They are no unknown settings if an operator has them in the same environment. */
const clientNames = ["RUNGATE_URL", "RUNGATE_API_KEY", "RUNGATE_PROFILE", "RUNGATE_MAX_COST"]

const namesOf = (environment: Environment): SettingsShape["names"] => ({
  given: Object.keys(environment).filter((name) => name.startsWith("RUNGATE_")),
  existing: [
    ...clientNames,
    ...settingNames.flatMap((name) => (settingOf(name)?.secret === true ? [name, fileVariable(name)] : [name])),
    testName
  ].filter((name) => name.startsWith("RUNGATE_"))
})

/** Settings of sign-up: who may sign up, and whether e-mail addresses are verified. */
const signUpSettingsOf = (read: SettingsReader, mode: Mode, publicUrl: string | null) => {
  const production = mode === "production"
  const signUp = read.oneOf("RUNGATE_SIGN_UP", production ? "invite" : "open", ["open", "invite", "closed"])
  const verification = read.oneOf("RUNGATE_EMAIL_VERIFICATION", production ? "on" : "off", ["on", "off"])
  const mail = mailOf(read, publicUrl)
  if (production && verification === "on" && mail === null) {
    if (read.text("RUNGATE_EMAIL_VERIFICATION") !== undefined) {
      read.problems.push("RUNGATE_EMAIL_VERIFICATION=on needs RUNGATE_SMTP_URL to send verification links")
    } else if (signUp === "open") {
      read.problems.push(
        "RUNGATE_SIGN_UP=open needs RUNGATE_SMTP_URL to send verification links; or set RUNGATE_EMAIL_VERIFICATION=off"
      )
    }
  }
  return { signUp, emailVerification: verification === "on", mail }
}

const actorsOf = (read: SettingsReader): ReadonlyArray<string> | null => {
  if (read.text("RUNGATE_ACTORS") === undefined) return null
  const actors = listOf(read, "RUNGATE_ACTORS")
  if (!actors.every((one) => /^[\w.-]+\/([\w.-]+|\*)$/.test(one)))
    read.problems.push("RUNGATE_ACTORS must be actors such as apify/web-scraper or apify/*, separated by commas")
  return actors
}

const metricsTokenMin = 16
const metricsTokenOf = (read: SettingsReader) => {
  const token = read.text("RUNGATE_METRICS_TOKEN")
  if (token === undefined) return null
  if (token.length < metricsTokenMin || !printable.test(token))
    read.problems.push(`RUNGATE_METRICS_TOKEN must be at least ${metricsTokenMin} printable characters without spaces`)
  return Redacted.make(token)
}

/** A month leaves the tables that turns read two months after its end. */
const retentionMonthsMin = 3
const retentionOf = (read: SettingsReader) => {
  const retentionDays = read.int("RUNGATE_RETENTION_DAYS", 0, 0, 36_500)
  const retentionMonths = read.int("RUNGATE_RETENTION_MONTHS", 0, 0, 1_200)
  if (retentionMonths > 0 && retentionMonths < retentionMonthsMin)
    read.problems.push(`RUNGATE_RETENTION_MONTHS must be 0 or at least ${retentionMonthsMin}`)
  else if (retentionMonths > 0 && (retentionDays === 0 || retentionDays > retentionMonths * 28))
    read.problems.push(
      `RUNGATE_RETENTION_MONTHS needs RUNGATE_RETENTION_DAYS from 1 to ${retentionMonths * 28}, because only erased runs are dropped`
    )
  return { retentionDays, retentionMonths }
}

const crashAtOf = (read: SettingsReader): CrashAt | null => {
  const value = read.text("RUNGATE_CRASH_AT")
  if (value === undefined) return null
  const [, point, hit, stop] = /^([a-z_.]+):([1-9]\d{0,5})(:stop)?$/.exec(value) ?? []
  if (point !== undefined) return { point, hit: Number(hit), signal: stop === undefined ? "SIGKILL" : "SIGSTOP" }
  read.problems.push(
    "RUNGATE_CRASH_AT must be a crash point and the number of the pass to stop at, such as mail.before:2"
  )
  return null
}

/** A share such as 0.02, in basis points. */
const warrantyShareOf = (read: SettingsReader): number =>
  Math.round(Number(read.decimal("RUNGATE_WARRANTY_SHARE", { from: 0, to: 1, decimals: 4 }) ?? "0") * 10_000)

const readSettings = (environment: Environment, read: SettingsReader): Omit<SettingsShape, "names"> => {
  const port = read.int("PORT", 8787, 0, 65535)
  const mode = read.oneOf("RUNGATE_MODE", "sandbox", ["sandbox", "production"])
  const publicUrl = read.url("RUNGATE_PUBLIC_URL", ["http", "https"])?.replace(/\/+$/, "") ?? null
  const concurrency = read.int("RUNGATE_CONCURRENCY", 500, 1, 100_000)
  return {
    port,
    host: read.text("HOST") ?? "127.0.0.1",
    mode,
    publicUrl,
    ...signUpSettingsOf(read, mode, publicUrl),
    ...databaseUrlsOf(read),
    databaseChecks: read.oneOf("RUNGATE_DATABASE_CHECKS", mode === "production" ? "refuse" : "warn", [
      "refuse",
      "warn"
    ]),
    redisUrl: redisUrlOf(read),
    dataDir: read.text("RUNGATE_DATA_DIR") ?? ".rungate",
    minFreeDiskMb: read.int("RUNGATE_MIN_FREE_DISK_MB", 256, 0, 100_000_000),
    rateLimit: read.int("RUNGATE_RATE_LIMIT", 50, 0, 1_000_000),
    trustedProxies: read.int("RUNGATE_TRUSTED_PROXIES", 0, 0, 10),
    webhookAllowPrivate: read.oneOf("RUNGATE_WEBHOOK_ALLOW_PRIVATE", "0", ["0", "1"]) === "1",
    ownAccountAllowPrivate: read.oneOf("RUNGATE_OWN_ACCOUNT_ALLOW_PRIVATE", "0", ["0", "1"]) === "1",
    logLevel: read.oneOf("RUNGATE_LOG_LEVEL", "info", ["debug", "info", "warn", "error"]),
    metricsToken: metricsTokenOf(read),
    metricsPort: read.text("RUNGATE_METRICS_PORT") === undefined ? null : read.int("RUNGATE_METRICS_PORT", 0, 0, 65535),
    metricsHost: read.text("RUNGATE_METRICS_HOST") ?? "127.0.0.1",
    ...observabilityOf(read, process.stdout.isTTY === true),
    concurrency,
    orgConcurrency: read.int("RUNGATE_ORG_CONCURRENCY", Math.max(1, Math.floor(concurrency / 4)), 1, 100_000),
    orgQueue: read.int("RUNGATE_ORG_QUEUE", 1_000, 1, 1_000_000),
    ...answerSettingsOf(read.int),
    repeatGuard: read.int("RUNGATE_REPEAT_GUARD", 5, 0, 1_000),
    orgStreams: read.int("RUNGATE_ORG_STREAMS", 100, 1, 100_000),
    lanes: read.text("RUNGATE_LANES") === undefined ? null : read.int("RUNGATE_LANES", lanesDefault, 1, lanesMax),
    leaseSeconds: read.int("RUNGATE_LEASE_SECONDS", 15, 1, 3600),
    drainSeconds: read.int("RUNGATE_DRAIN_SECONDS", 20, 0, 600),
    stopDelaySeconds: read.int("RUNGATE_STOP_DELAY_SECONDS", 0, 0, 600),
    healthSeconds: read.int("RUNGATE_HEALTH_SECONDS", 5, 0, 3600),
    referral: referralOf(read),
    referralSeconds: read.int("RUNGATE_REFERRAL_SECONDS", 60, 1, 86_400),
    connections: read.int("RUNGATE_DATABASE_CONNECTIONS", Math.max(8, availableParallelism() * 2), 2, 500),
    accounts: accountsOf(environment, read),
    markup: markupOf(read),
    stripe: mode === "sandbox" ? null : stripeOf(read),
    autoTopupDailyMax: read.usd("RUNGATE_AUTO_TOPUP_DAILY_MAX", "500.00"),
    rawMinCap: rawMinCapOf(read),
    ownAccountFee: read.usd("RUNGATE_OWN_ACCOUNT_FEE", "0.00", "0"),
    warrantyShareBps: warrantyShareOf(read),
    ...retentionOf(read),
    reconcileSeconds: read.int("RUNGATE_RECONCILE_SECONDS", 60, 1, 86_400),
    encryptionKeys: encryptionKeysOf(read),
    dnsServers: dnsServersOf(read),
    actors: actorsOf(read),
    crashAt: crashAtOf(read)
  }
}

/** What the environment says, mistakes included. `names` are all variables that the service reads. */
export interface Reading extends Checked<SettingsShape>, Pick<Resolved, "files" | "problems" | "warnings"> {
  readonly names: ReadonlySet<string>
}

export const readingOf = (environment: Environment): Reading => {
  const { variables, files, problems, warnings } = withSecretFiles(environment)
  const read = reader(variables)
  const settings = { ...readSettings(variables, read), names: namesOf(environment) }
  const values = Object.entries(variables).flatMap(([name, value]) => {
    const text = value?.trim() ?? ""
    return settingOf(name) === undefined || text === "" ? [] : [[name, text] as const]
  })
  return {
    settings,
    values: new Map(values),
    files,
    problems: [...problems, ...read.problems],
    warnings,
    names: read.namesRead
  }
}

const checkedOf = (environment: Environment): Effect.Effect<Checked<SettingsShape>, SettingsInvalid> =>
  Effect.suspend(() => {
    const reading = readingOf(environment)
    if (reading.problems.length === 0) return Effect.succeed(reading)
    return Effect.fail(new SettingsInvalid({ message: `Bad settings: ${reading.problems.join("; ")}.` }))
  })

export const settingsOf = (environment: Environment): Effect.Effect<SettingsShape, SettingsInvalid> =>
  Effect.map(checkedOf(environment), ({ settings }) => settings)

/** The layers of payments are chosen at the start. So an account at Stripe may change, but not appear or vanish. */
const isSamePayments = (running: SettingsShape, next: SettingsShape): boolean =>
  (running.stripe === null) === (next.stripe === null)

const liveSettings = (environment: () => Environment): Effect.Effect<LiveSettings, SettingsInvalid> =>
  Effect.map(
    reloading(
      Effect.suspend(() => checkedOf(environment())),
      (running, next, name) => name.startsWith("STRIPE_") && !isSamePayments(running, next),
      (running, { accounts, encryptionKeys, mail, metricsToken, stripe }: SettingsShape) => ({
        ...running,
        accounts,
        encryptionKeys,
        mail,
        metricsToken,
        stripe: (running.stripe === null) === (stripe === null) ? stripe : running.stripe
      })
    ),
    ({ first, current, reload, onReload }) => ({ ...first, current, reload, onReload })
  )

/** The variables of this process, and of its environment file. */
export const processEnvironment = () => environmentOf(process.env)

export class Settings extends Context.Service<Settings, LiveSettings>()("rungate/layers/platform/Settings") {
  static readonly layerFrom = (environment: Environment) =>
    Layer.effect(
      Settings,
      liveSettings(() => environment)
    )
  static readonly layer = Layer.effect(
    Settings,
    Effect.suspend(() => {
      const environment = processEnvironment()
      return liveSettings(() => environment().variables)
    })
  )
}
