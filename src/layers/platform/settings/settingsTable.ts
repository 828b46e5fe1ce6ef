/**
 * The settings of the service, each with its kind, its default, what it means, and whether it is a secret.
 *
 * `rungate config print` shows this list, and a test compares docs/operate.md and what the service reads with it. A new setting needs a line here.
 */

export interface Setting {
  /** The variable. `<SLUG>` stands for a provider's slug in capitals. */
  readonly name: string
  readonly kind: "text" | "number" | "decimal" | "usd" | "choice" | "address" | "list"
  /** The value that an unset variable has, or words for one that depends on something else. */
  readonly default: string
  readonly description: string
  /** A secret is never shown, and may come from the file that `<name>_FILE` names. */
  readonly secret: boolean
  /** Whether a running service takes a new value (`rungate admin reload`). Other settings need a restart. */
  readonly reloads: boolean
}

type Line = readonly [
  name: string,
  kind: Setting["kind"],
  otherwise: string,
  description: string,
  ...marks: ReadonlyArray<"secret" | "reloads">
]

const lines: ReadonlyArray<Line> = [
  ["PORT", "number", "8787", "port the service listens on; 0: any free port"],
  ["HOST", "text", "127.0.0.1", "address the service listens on"],
  ["RUNGATE_PUBLIC_URL", "address", "the listening address", "the address that clients use"],
  ["RUNGATE_MODE", "choice", "sandbox", "sandbox or production"],
  ["RUNGATE_SIGN_UP", "choice", "open; production: invite", "who may sign up: open, invite or closed"],
  [
    "RUNGATE_EMAIL_VERIFICATION",
    "choice",
    "off; production: on",
    "whether an organization must verify an address before it creates keys, runs or pays"
  ],
  [
    "RUNGATE_SMTP_URL",
    "address",
    "unset",
    "mail server; unset: no mail is sent; a sandbox prints it to the log",
    "secret",
    "reloads"
  ],
  ["RUNGATE_MAIL_FROM", "text", "no-reply@ the public host", "sender of mails", "reloads"],
  ["DATABASE_URL", "address", "unset: embedded", "PostgreSQL", "secret"],
  [
    "DATABASE_DIRECT_URL",
    "address",
    "unset",
    "the server's own address if DATABASE_URL is a connection pooler",
    "secret"
  ],
  [
    "DATABASE_READ_URL",
    "address",
    "unset",
    "a streaming standby that answers lists and history while it is up to date",
    "secret"
  ],
  ["RUNGATE_DATA_DIR", "text", ".rungate", "files of the embedded PostgreSQL"],
  [
    "RUNGATE_MIN_FREE_DISK_MB",
    "number",
    "256",
    "free space on the embedded PostgreSQL's disk below which new runs are refused, with a warning at four times that; 0: never"
  ],
  [
    "RUNGATE_MIGRATION_DATABASE_URL",
    "address",
    "unset",
    "the schema owner's URL, for rungate migrate; see database roles",
    "secret"
  ],
  [
    "RUNGATE_DATABASE_CHECKS",
    "choice",
    "warn; production: refuse",
    "what to do about a database that may lose payments"
  ],
  ["RUNGATE_DATABASE_CONNECTIONS", "number", "twice the cores, at least 8", "connections per process"],
  ["REDIS_URL", "address", "unset", "Redis: redis://host:port, or a Redis Cluster", "secret"],
  [
    "RUNGATE_RATE_LIMIT",
    "number",
    "50",
    "requests per second per key, or per client address without a key; the burst is twice as many; 0: no limit"
  ],
  [
    "RUNGATE_WEBHOOK_ALLOW_PRIVATE",
    "choice",
    "0",
    "1 lets webhooks use http and private addresses: for tests and closed networks only"
  ],
  [
    "RUNGATE_OWN_ACCOUNT_ALLOW_PRIVATE",
    "choice",
    "0",
    "1 lets the base_url of own accounts use http and private addresses: for tests and closed networks only"
  ],
  [
    "RUNGATE_TRUSTED_PROXIES",
    "number",
    "0",
    "number of proxies in front of the service that append to X-Forwarded-For"
  ],
  [
    "RUNGATE_ENCRYPTION_KEY",
    "list",
    "unset",
    "encrypts secrets in the database: 32 random bytes in Base64 (receipts)",
    "secret",
    "reloads"
  ],
  ["RUNGATE_AUDIT_MINUTES", "number", "60", "how often the service checks the books; 0: never"],
  ["RUNGATE_OTLP_URL", "address", "unset", "collector of traces and logs, such as http://localhost:4318"],
  ["RUNGATE_OTLP_HEADERS", "text", "unset", "headers for the collector: name=value,name=value", "secret"],
  ["RUNGATE_REQUEST_LOG", "choice", "auto", "a log line per request: on, off, or auto, which is off at a terminal"],
  [
    "RUNGATE_STATUS_PAGE",
    "choice",
    "off",
    "on opens /status to everybody: the health of the service and of its providers"
  ],
  ["RUNGATE_LOG_LEVEL", "choice", "info", "least severity that the service logs: debug, info, warn or error"],
  ["RUNGATE_METRICS_TOKEN", "text", "unset", "bearer token for /metrics, at least 16 characters", "secret", "reloads"],
  ["RUNGATE_METRICS_PORT", "number", "unset", "a port of its own for /metrics, for workers too"],
  ["RUNGATE_METRICS_HOST", "text", "127.0.0.1", "address of that port"],
  ["RUNGATE_CONCURRENCY", "number", "500", "runs that one worker executes at once"],
  [
    "RUNGATE_ORG_CONCURRENCY",
    "number",
    "a quarter of it",
    "of these, runs of one organization; with one organization, set it to RUNGATE_CONCURRENCY"
  ],
  ["RUNGATE_ORG_QUEUE", "number", "1000", "open runs of one organization over all processes; beyond it, rate_limited"],
  [
    "RUNGATE_ANSWER_MEMORY_MB",
    "number",
    "a 32nd of the memory",
    "MiB of providers' answers in one process at once, at least 64; further calls wait before they read theirs"
  ],
  [
    "RUNGATE_FREE_DAILY_MB",
    "number",
    "2048",
    "MiB that free and refused runs and blocked rows of one organization may store in a UTC day; 0: any number"
  ],
  [
    "RUNGATE_ORG_STREAMS",
    "number",
    "100",
    "open streams of events and results of one organization at one process; beyond it, rate_limited"
  ],
  [
    "RUNGATE_REPEAT_GUARD",
    "number",
    "5",
    "failures of one input within ten minutes after which an API key may not repeat it; 0: any number"
  ],
  [
    "RUNGATE_LANES",
    "number",
    "2, or the stored number",
    "groups of wallets, each decided by one process at a time; stored, may grow to 32, never shrinks"
  ],
  ["RUNGATE_LEASE_SECONDS", "number", "15", "after this silence a worker counts as dead"],
  ["RUNGATE_DRAIN_SECONDS", "number", "20", "time for running provider calls when a process stops"],
  ["RUNGATE_STOP_DELAY_SECONDS", "number", "0", "time between a stop signal and refusing connections"],
  ["RUNGATE_HEALTH_SECONDS", "number", "5", "how often a process reads the health of offers; 0: never"],
  [
    "RUNGATE_RAW_MIN_CAP",
    "usd",
    "0.10",
    "smallest max_cost of a raw call without published rates, in USD, at most 1.00"
  ],
  ["RUNGATE_RETENTION_DAYS", "number", "0", "days after which inputs and results are erased; 0: never"],
  [
    "RUNGATE_RETENTION_MONTHS",
    "number",
    "0",
    "whole months of runs and ledger entries that are kept, at least 3; 0: all (partitions)"
  ],
  ["STRIPE_SECRET_KEY", "text", "unset", "see payments", "secret", "reloads"],
  ["STRIPE_WEBHOOK_SECRET", "list", "unset", "signing secrets, separated by commas", "secret", "reloads"],
  ["STRIPE_API_BASE", "address", "Stripe", "another origin, for tests", "reloads"],
  ["RUNGATE_AUTO_TOPUP_DAILY_MAX", "usd", "500.00", "most that automatic top-ups charge one organization in a UTC day"],
  ["RUNGATE_RECONCILE_SECONDS", "number", "60", "how often the service asks Stripe for missed payments"],
  ["RUNGATE_REFERRAL_DEPOSIT_MIN", "usd", "10.00", "smallest first deposit that earns a welcome bonus"],
  ["RUNGATE_REFERRAL_DEPOSIT_BONUS", "usd", "1.00", "the welcome bonus"],
  ["RUNGATE_REFERRAL_SHARE_PERCENT", "decimal", "10", "the referrer's share of net revenue"],
  ["RUNGATE_REFERRAL_MONTHS", "number", "12", "how long the share is paid"],
  ["RUNGATE_REFERRAL_SECONDS", "number", "60", "how often shares are credited"],
  ["RUNGATE_PROVIDER_<SLUG>_API_KEY", "text", "unset", "a provider's account; see providers", "secret", "reloads"],
  ["RUNGATE_PROVIDER_<SLUG>_BASE_URL", "address", "the provider's", "another origin for a provider", "reloads"],
  [
    "RUNGATE_PROVIDER_<SLUG>_CREDIT_USD",
    "usd",
    "the smallest paid plan's",
    "what your plan pays for a credit, in USD; see prices",
    "reloads"
  ],
  [
    "RUNGATE_PROVIDER_<SLUG>_WEBHOOK_SECRET",
    "list",
    "unset",
    "proves a provider's events about bounces, separated by commas; see warranty",
    "secret",
    "reloads"
  ],
  ["RUNGATE_MARKUP", "decimal", "1.2", "what a dollar of provider cost is charged, from 1 to 10"],
  [
    "RUNGATE_OWN_ACCOUNT_FEE",
    "usd",
    "0.00",
    "what a run through a customer's own account at a provider is charged, in USD"
  ],
  [
    "RUNGATE_WARRANTY_SHARE",
    "decimal",
    "0",
    "the part of revenue that the outcome warranty may pay back, from 0 to 1; 0 turns it off"
  ],
  [
    "RUNGATE_ACTORS",
    "list",
    "those that ship",
    "marketplace actors that raw runs may start: owner/name or owner/*, separated by commas"
  ],
  ["RUNGATE_DNS_SERVERS", "list", "the system's", "name servers for proofs of sending domains"]
]

export const settingsTable: ReadonlyArray<Setting> = lines.map(([name, kind, otherwise, description, ...marks]) => ({
  name,
  kind,
  default: otherwise,
  description,
  secret: marks.includes("secret"),
  reloads: marks.includes("reloads")
}))

const slugPlace = "<SLUG>"
const patterns = settingsTable
  .filter(({ name }) => name.includes(slugPlace))
  .map((setting) => ({ setting, pattern: new RegExp(`^${setting.name.replace(slugPlace, "[A-Z0-9_]+?")}$`) }))
const byName = new Map(settingsTable.map((setting) => [setting.name, setting]))

/** The line of a variable. Undefined for a variable that is no setting. */
export const settingOf = (name: string): Setting | undefined =>
  byName.get(name) ?? patterns.find(({ pattern }) => pattern.test(name))?.setting

/** Names of settings that are one variable each, so without those of provider accounts. */
export const settingNames: ReadonlyArray<string> = settingsTable
  .map(({ name }) => name)
  .filter((name) => !name.includes(slugPlace))

const fileEnding = "_FILE"
/** The variable that names the file of a secret. */
export const fileVariable = (name: string): string => `${name}${fileEnding}`
/** The secret whose file a variable names. Undefined if it is no such variable. */
export const secretOfFile = (name: string): string | undefined => {
  const secret = name.endsWith(fileEnding) ? name.slice(0, -fileEnding.length) : ""
  return settingOf(secret)?.secret === true ? secret : undefined
}
