/**
 * Every setting of the service, once: its variable, its default, what is valid, and what it means.
 *
 * A new setting is a line here; then `bun scripts/settings.ts` writes it into docs/operate.md and .env.example.
 */
import { availableParallelism, totalmem } from "node:os"
import { Redacted } from "effect"
import { cellForm } from "../../../schema/accounts/TokenText.ts"
import { lanesMax } from "../../../schema/wallet/Lane.ts"
import { accountsOf } from "./ProviderSettings.ts"
import { databaseUrlsOf, dnsServersOf, mailOf, redisUrlOf } from "./ServerUrls.ts"
import { printable, secret, type SettingsReader } from "./SettingsReader.ts"
import { moneySettingsOf } from "./moneySettings.ts"
import { openIdOf } from "./openIdSettings.ts"

const onOff = ["on", "off"] as const
const zeroOne = ["0", "1"] as const

/** Settings of sign-up: who may sign up, and whether e-mail addresses are verified. */
const signUpSettingsOf = (read: SettingsReader, production: boolean, publicUrl: string | null) => {
  const signUp = read.oneOf(
    "RUNGATE_SIGN_UP",
    production ? "invite" : "open",
    ["open", "invite", "closed"],
    "who may sign up: `open`, `invite` or `closed`",
    { default: "`open`; production: `invite`" }
  )
  const verification = read.oneOf(
    "RUNGATE_EMAIL_VERIFICATION",
    production ? "on" : "off",
    onOff,
    "whether an organization must verify an address before it creates keys, runs or pays",
    { default: "`off`; production: `on`" }
  )
  const mail = mailOf(read, publicUrl)
  if (production && verification === "on" && mail === null) {
    if (read.textOf("RUNGATE_EMAIL_VERIFICATION") !== undefined) {
      read.problems.push("RUNGATE_EMAIL_VERIFICATION=on needs RUNGATE_SMTP_URL to send verification links")
    } else if (signUp === "open") {
      read.problems.push(
        "RUNGATE_SIGN_UP=open needs RUNGATE_SMTP_URL to send verification links; or set RUNGATE_EMAIL_VERIFICATION=off"
      )
    }
  }
  return { signUp, emailVerification: verification === "on", mail }
}

/** For AES-256. */
export const keyBytes = 32
export type EncryptionKeys = ReadonlyArray<Redacted.Redacted<Uint8Array>>

const base64 = /^[A-Za-z0-9+/_-]+={0,2}$/

/** The first key encrypts. The others only decrypt what was encrypted before a rotation. Empty: secrets are stored as they are. */
const encryptionKeysOf = (read: SettingsReader): EncryptionKeys => {
  const keys = read
    .list(
      "RUNGATE_ENCRYPTION_KEY",
      "encrypts secrets in the database: 32 random bytes in Base64 ([receipts](receipts.md#keys))",
      { secret: true, reloads: true }
    )
    .map((text) => (base64.test(text) ? new Uint8Array(Buffer.from(text, "base64")) : new Uint8Array()))
  if (!keys.every(({ length }) => length === keyBytes))
    read.problems.push(
      `RUNGATE_ENCRYPTION_KEY must be ${keyBytes} random bytes in Base64 (openssl rand -base64 ${keyBytes}); separate an earlier key with a comma`
    )
  return keys.map((key) => Redacted.make(key))
}

/** The collector of traces and logs. Null: nothing is sent. */
const otlpOf = (read: SettingsReader) => {
  const url = read.url(
    "RUNGATE_OTLP_URL",
    ["http", "https"],
    "collector of [traces](#traces) and logs, such as `http://localhost:4318`"
  )
  const pairs = (
    read.text("RUNGATE_OTLP_HEADERS", null, "headers for the collector: `name=value,name=value`", { secret: true }) ??
    ""
  )
    .split(",")
    .filter((pair) => pair.trim() !== "")
  const headers = pairs.flatMap((pair) => {
    const [, key, value] = /^\s*([\w-]+)\s*=\s*([\x20-\x7e]+?)\s*$/.exec(pair) ?? []
    return key === undefined || value === undefined ? [] : [[key, value] as const]
  })
  if (headers.length < pairs.length)
    read.problems.push("RUNGATE_OTLP_HEADERS must be a list such as authorization=Bearer …,x-team=a")
  return url === null ? null : { url, headers: Redacted.make(Object.fromEntries(headers)) }
}

/** `auto`: people who watch a terminal see no line per request; a file or a log collector does. */
const requestLogOf = (read: SettingsReader): boolean => {
  const requestLog = read.oneOf(
    "RUNGATE_REQUEST_LOG",
    "auto",
    ["auto", ...onOff],
    "a [log line per request](#request-log): `on`, `off`, or `auto`, which is off at a terminal"
  )
  return requestLog === "on" || (requestLog === "auto" && process.stdout.isTTY !== true)
}

const metricsTokenMin = 16
const metricsTokenOf = (read: SettingsReader) => {
  const token = read.text(
    "RUNGATE_METRICS_TOKEN",
    null,
    `bearer token for \`/metrics\`, at least ${metricsTokenMin} characters`,
    { secret: true, reloads: true }
  )
  if (token === null) return null
  if (token.length < metricsTokenMin || !printable.test(token))
    read.problems.push(`RUNGATE_METRICS_TOKEN must be at least ${metricsTokenMin} printable characters without spaces`)
  return Redacted.make(token)
}

const mebibyte = 1024 * 1024
/** Two of the largest answers: own accounts may use a half. */
const answerMemoryMinMb = 64
/** An answer needs about six times its bytes while it is parsed and stored: all together need a fifth of the memory. */
const answerMemoryPart = 32

/** What the machine has, or the container. */
const memoryBytes = (): number => {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}

/** A month leaves the tables that turns read two months after its end. */
const retentionMonthsMin = 3
const retentionOf = (read: SettingsReader) => {
  const retentionDays = read.int(
    "RUNGATE_RETENTION_DAYS",
    0,
    [0, 36_500],
    "days after which inputs and results are erased; 0: never"
  )
  const retentionMonths = read.int(
    "RUNGATE_RETENTION_MONTHS",
    0,
    [0, 1_200],
    "whole months of runs and ledger entries that are kept, at least 3; 0: all ([partitions](#partitions))"
  )
  if (retentionMonths > 0 && retentionMonths < retentionMonthsMin)
    read.problems.push(`RUNGATE_RETENTION_MONTHS must be 0 or at least ${retentionMonthsMin}`)
  else if (retentionMonths > 0 && (retentionDays === 0 || retentionDays > retentionMonths * 28))
    read.problems.push(
      `RUNGATE_RETENTION_MONTHS needs RUNGATE_RETENTION_DAYS from 1 to ${retentionMonths * 28}, because only erased runs are dropped`
    )
  return { retentionDays, retentionMonths }
}

/** Null: those that the package ships. */
const actorsOf = (read: SettingsReader): ReadonlyArray<string> | null => {
  const actors = read.list(
    "RUNGATE_ACTORS",
    "marketplace actors that raw runs may start: `owner/name` or `owner/*`, separated by commas",
    { default: "those that ship" }
  )
  if (!actors.every((one) => /^[\w.-]+\/([\w.-]+|\*)$/.test(one)))
    read.problems.push("RUNGATE_ACTORS must be actors such as apify/web-scraper or apify/*, separated by commas")
  return read.textOf("RUNGATE_ACTORS") === undefined ? null : actors
}

/** RUNGATE_CRASH_AT=`point:N` kills the process at the N-th pass of a crash point, `point:N:stop` freezes it. */
export interface CrashAt {
  readonly point: string
  readonly hit: number
  readonly signal: "SIGKILL" | "SIGSTOP"
}

/** For tests only, so it is no setting (CrashPoint.ts). */
export const crashName = "RUNGATE_CRASH_AT"
const crashAtOf = (read: SettingsReader): CrashAt | null => {
  const value = read.textOf(crashName)
  if (value === undefined) return null
  const [, point, hit, stop] = /^([a-z_.]+):([1-9]\d{0,5})(:stop)?$/.exec(value) ?? []
  if (point !== undefined) return { point, hit: Number(hit), signal: stop === undefined ? "SIGKILL" : "SIGSTOP" }
  read.problems.push(`${crashName} must be a crash point and the number of the pass to stop at, such as mail.before:2`)
  return null
}

const cellOf = (read: SettingsReader): string | null => {
  const cell = read.text(
    "RUNGATE_CELL",
    null,
    "this installation's name among several behind one router ([cells](cells.md)): 1 to 12 small letters or digits"
  )
  if (cell === null || cellForm.test(cell)) return cell
  read.problems.push("RUNGATE_CELL must have 1 to 12 small letters or digits")
  return null
}

const directoryUrlOf = (read: SettingsReader, cell: string | null) => {
  const url = read.url(
    "RUNGATE_DIRECTORY_URL",
    ["postgres", "postgresql"],
    "PostgreSQL database with what all cells share: the cell of an e-mail address, and the imported catalog",
    { secret: true }
  )
  if (url !== null && cell === null) read.problems.push("RUNGATE_DIRECTORY_URL needs RUNGATE_CELL")
  return secret(url)
}

const cellSettingsOf = (read: SettingsReader) => {
  const cell = cellOf(read)
  return { cell, directoryUrl: directoryUrlOf(read, cell) }
}

const serverSettingsOf = (read: SettingsReader, production: boolean, publicUrl: string | null) => ({
  ...signUpSettingsOf(read, production, publicUrl),
  openId: openIdOf(read),
  ...cellSettingsOf(read),
  ...databaseUrlsOf(read),
  dataDir: read.text("RUNGATE_DATA_DIR", ".rungate", "files of the embedded PostgreSQL"),
  minFreeDiskMb: read.int(
    "RUNGATE_MIN_FREE_DISK_MB",
    256,
    [0, 100_000_000],
    "free space on the embedded PostgreSQL's disk below which new runs are refused, with a warning at four times that; 0: never"
  ),
  databaseChecks: read.oneOf(
    "RUNGATE_DATABASE_CHECKS",
    production ? "refuse" : "warn",
    ["refuse", "warn"],
    "what to do about a database that may lose payments",
    { default: "`warn`; production: `refuse`" }
  ),
  connections: read.int(
    "RUNGATE_DATABASE_CONNECTIONS",
    Math.max(8, availableParallelism() * 2),
    [2, 500],
    "connections per process",
    { default: "twice the cores, at least 8" }
  ),
  redisUrl: redisUrlOf(read),
  rateLimit: read.int(
    "RUNGATE_RATE_LIMIT",
    50,
    [0, 1_000_000],
    "requests per second per key, or per client address without a key; the burst is twice as many; 0: no limit"
  ),
  webhookAllowPrivate:
    read.oneOf(
      "RUNGATE_WEBHOOK_ALLOW_PRIVATE",
      "0",
      zeroOne,
      "`1` lets webhooks use http and private addresses: for tests and closed networks only"
    ) === "1",
  ownAccountAllowPrivate:
    read.oneOf(
      "RUNGATE_OWN_ACCOUNT_ALLOW_PRIVATE",
      "0",
      zeroOne,
      "`1` lets the `base_url` of own accounts use http and private addresses: for tests and closed networks only"
    ) === "1",
  trustedProxies: read.int(
    "RUNGATE_TRUSTED_PROXIES",
    0,
    [0, 10],
    "number of proxies in front of the service that append to `X-Forwarded-For`"
  ),
  encryptionKeys: encryptionKeysOf(read)
})

const observabilityOf = (read: SettingsReader) => ({
  creditsMinutes: read.int(
    "RUNGATE_CREDITS_MINUTES",
    10,
    [0, 180],
    "how often it is read what your [accounts at providers](#provider-credits) have left; ten times as often if low; `0`: never"
  ),
  auditMinutes: read.int(
    "RUNGATE_AUDIT_MINUTES",
    60,
    [0, 10_080],
    "how often the service [checks the books](#books-losses-and-unknown-outcomes); `0`: never"
  ),
  otlp: otlpOf(read),
  requestLog: requestLogOf(read),
  statusPage:
    read.oneOf(
      "RUNGATE_STATUS_PAGE",
      "off",
      onOff,
      "`on` opens `/status` to everybody: the health of the service and of its providers"
    ) === "on",
  logLevel: read.oneOf(
    "RUNGATE_LOG_LEVEL",
    "info",
    ["debug", "info", "warn", "error"],
    "least severity that the service logs: `debug`, `info`, `warn` or `error`"
  ),
  metricsToken: metricsTokenOf(read),
  metricsPort: read.int("RUNGATE_METRICS_PORT", null, [0, 65_535], "a port of its own for `/metrics`, for workers too"),
  metricsHost: read.text("RUNGATE_METRICS_HOST", "127.0.0.1", "address of that port")
})

/** With the default of RUNGATE_FREE_DAILY_MB, as many runs through own accounts may be open as RUNGATE_ORG_QUEUE allows by default. */
const workSettingsOf = (read: SettingsReader) => {
  const concurrency = read.int("RUNGATE_CONCURRENCY", 500, [1, 100_000], "runs that one worker executes at once")
  return {
    concurrency,
    orgConcurrency: read.int(
      "RUNGATE_ORG_CONCURRENCY",
      Math.max(1, Math.floor(concurrency / 4)),
      [1, 100_000],
      "of these, runs of one organization; with one organization, set it to `RUNGATE_CONCURRENCY`",
      { default: "a quarter of it" }
    ),
    orgQueue: read.int(
      "RUNGATE_ORG_QUEUE",
      1_000,
      [1, 1_000_000],
      "open runs of one organization over all processes; beyond it, `rate_limited`"
    ),
    answerMemoryMb: read.int(
      "RUNGATE_ANSWER_MEMORY_MB",
      Math.max(answerMemoryMinMb, Math.floor(memoryBytes() / answerMemoryPart / mebibyte)),
      [answerMemoryMinMb, 1_000_000],
      "MiB of providers' answers in one process at once, at least 64; further calls wait before they read theirs",
      { default: "a 32nd of the memory" }
    ),
    freeDailyMb: read.int(
      "RUNGATE_FREE_DAILY_MB",
      2_048,
      [0, 1_000_000_000],
      "MiB that free and refused runs and blocked rows of one organization may store in a UTC day; 0: any number"
    ),
    orgStreams: read.int(
      "RUNGATE_ORG_STREAMS",
      100,
      [1, 100_000],
      "open streams of events and results of one organization at one process; beyond it, `rate_limited`"
    ),
    repeatGuard: read.int(
      "RUNGATE_REPEAT_GUARD",
      5,
      [0, 1_000],
      "failures of one input within ten minutes after which an API key may not repeat it; 0: any number"
    ),
    lanes: read.int(
      "RUNGATE_LANES",
      null,
      [1, lanesMax],
      "groups of wallets, each decided by one process at a time; stored, may grow to 32, never shrinks",
      { default: "`2`, or the stored number" }
    ),
    leaseSeconds: read.int("RUNGATE_LEASE_SECONDS", 15, [1, 3600], "after this silence a worker counts as dead"),
    drainSeconds: read.int(
      "RUNGATE_DRAIN_SECONDS",
      20,
      [0, 600],
      "time for running provider calls when a process stops"
    ),
    stopDelaySeconds: read.int(
      "RUNGATE_STOP_DELAY_SECONDS",
      0,
      [0, 600],
      "time between a stop signal and refusing connections"
    ),
    healthSeconds: read.int(
      "RUNGATE_HEALTH_SECONDS",
      5,
      [0, 3600],
      "how often a process reads the health of offers; 0: never"
    )
  }
}

export const readSettings = (read: SettingsReader) => {
  const port = read.int("PORT", 8787, [0, 65_535], "port the service listens on; 0: any free port")
  const host = read.text("HOST", "127.0.0.1", "address the service listens on")
  const web = ["http", "https"]
  const publicUrl =
    read
      .url("RUNGATE_PUBLIC_URL", web, "the address that clients use", { default: "the listening address" })
      ?.replace(/\/+$/, "") ?? null
  const mode = read.oneOf("RUNGATE_MODE", "sandbox", ["sandbox", "production"], "`sandbox` or `production`")
  const production = mode === "production"
  return {
    ...{ port, host, publicUrl, mode },
    ...serverSettingsOf(read, production, publicUrl),
    ...observabilityOf(read),
    ...workSettingsOf(read),
    ...retentionOf(read),
    ...moneySettingsOf(read, production),
    accounts: accountsOf(read),
    actors: actorsOf(read),
    dnsServers: dnsServersOf(read),
    crashAt: crashAtOf(read)
  }
}
