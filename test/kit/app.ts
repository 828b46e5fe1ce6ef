/**
 * The whole service in this process: every layer of it, over a database of its own and real HTTP on a free port.
 *
 * Nothing of ours is faked but the providers, which the sandbox simulates itself. Several apps may share one database, as
 * several processes would.
 */
import { afterAll, beforeAll, expect } from "bun:test"
import { Context, Effect, Exit, Layer, Logger, Redacted, Scope } from "effect"
import { Redis } from "ioredis"
import { Pool } from "pg"
import { CommandClient } from "../../src/actors/mailbox/CommandClient.ts"
import { encodeCredit } from "../../src/actors/mailbox/Commands.ts"
import type { Lanes } from "../../src/actors/mailbox/Lanes.ts"
import { LookSeconds } from "../../src/actors/runs/OutcomeLookups.ts"
import { DisputeSeconds } from "../../src/actors/warranty/DisputeWorker.ts"
import { service, worker } from "../../src/App.ts"
import { Server } from "../../src/http/Server.ts"
import { Accounts } from "../../src/layers/accounts/Accounts.ts"
import type { ReferralShares } from "../../src/layers/accounts/ReferralShares.ts"
import { digest } from "../../src/layers/accounts/Secrets.ts"
import { PasswordCost } from "../../src/layers/accounts/Secrets.ts"
import { Audit, type AuditReport } from "../../src/layers/audit/Audit.ts"
import type { WalletLimits } from "../../src/layers/ledger/WalletLimits.ts"
import type { BooksWatch } from "../../src/layers/audit/BooksWatch.ts"
import { CatalogStore } from "../../src/layers/catalog/CatalogStore.ts"
import { Endpoints } from "../../src/layers/catalog/Endpoints.ts"
import { newId } from "../../src/layers/platform/Ids.ts"
import { MailStore } from "../../src/layers/ledger/MailStore.ts"
import { type Role, Settings } from "../../src/layers/platform/Settings.ts"
import type { Signals } from "../../src/layers/queues/Signals.ts"
import type { ProviderDocument } from "../../src/schema/catalog/Endpoint.ts"
import { dollars } from "../../src/schema/money/Money.ts"
import { sampled } from "./input-samples.ts"
import { nonconformance } from "./documented-answers.ts"
import { plans } from "./credit-prices.ts"
import { preparedDatabase } from "./postgres.ts"
import { startRedis } from "./redis.ts"
import { once } from "./process-end.ts"
import { slowness, untilSeconds } from "./slowness.ts"

export type Backend = "postgres" | "redis"

const redis = await startRedis()
if (redis === undefined) {
  once("redis/skipped", () => console.log("redis-server is not installed: the tests run on the Postgres queues only"))
}

/** The queue backends that this machine can test. */
export const backends: ReadonlyArray<Backend> = redis === undefined ? ["postgres"] : ["postgres", "redis"]

/** Those, or one of them in turn, for tests of what the queues hardly touch: see input-samples.ts. */
export const oneBackend = sampled(backends, 1)

const redisDatabases = once("app/redis", () => ({ next: 0 }))

/** An empty key space of its own: Redis has 16, and no file has that many apps alive. */
const freshRedis = async () => {
  redisDatabases.next = (redisDatabases.next + 1) % 16
  const url = `${redis}/${redisDatabases.next}`
  const client = new Redis(url)
  await client.flushdb()
  client.disconnect()
  return url
}

export interface Options {
  readonly backend?: Backend
  readonly role?: Role
  /** Join this app's database and queues, as another process of the same service would. */
  readonly beside?: App
  /** Environment variables. Rate limits are off unless a test sets them. */
  readonly settings?: Readonly<Record<string, string>>
  /** Limits that no environment sets (references), so that a test reaches them. */
  readonly limits?: Layer.Layer<never>
  /** The sandbox's slowest calls last until the test releases them (test/kit/held-provider.ts). */
  readonly held?: { readonly layer: Layer.Layer<never> }
  /** Hash passwords at the cost that production has. Without it, a hash costs a tenth of a millisecond. */
  readonly passwordsAsInProduction?: boolean
}

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as JSON; undefined when it is none. */
  readonly body: ReturnType<typeof JSON.parse>
}

export interface Ask {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as it is, instead of `body`. */
  readonly raw?: string
  readonly signal?: AbortSignal
}

type Services =
  | Accounts
  | Audit
  | BooksWatch
  | CommandClient
  | MailStore
  | CatalogStore
  | Endpoints
  | Lanes
  | ReferralShares
  | Signals
  | WalletLimits
type Everything = Context.Context<Services>

export interface App {
  readonly url: string
  readonly backend: Backend
  readonly settings: Readonly<Record<string, string>>
  readonly databaseUrl: string
  /** Everything this app logged. */
  readonly logs: ReadonlyArray<string>
  readonly context: Everything
  readonly call: (token: string | null, method: string, path: string, ask?: Ask) => Promise<Reply>
  readonly sql: (text: string, values?: ReadonlyArray<unknown>) => Promise<ReadonlyArray<Record<string, unknown>>>
  readonly tenant: (balance?: string) => Promise<Tenant>
  /** Asserts every equation of the books, and that no command is dead-lettered. */
  readonly books: () => Promise<AuditReport>
  /** The text of /metrics, with the token that it needs. */
  readonly metrics: () => Promise<string>
  /** Puts a provider's document into the catalog, as an import does, and has this app see it. */
  readonly catalog: (document: ProviderDocument) => Promise<void>
  readonly stop: () => Promise<void>
}

export interface Tenant {
  readonly org_id: string
  readonly key: string
  readonly key_id: string
  readonly get: (path: string, ask?: Ask) => Promise<Reply>
  readonly post: (path: string, body?: unknown, ask?: Ask) => Promise<Reply>
  readonly run: (body: Record<string, unknown>, headers?: Readonly<Record<string, string>>) => Promise<Reply>
  readonly list: (query?: string) => Promise<Reply>
  readonly wallet: () => Promise<{ balance: string; reserved: string; available: string; currency: string }>
  /** Newest first. */
  readonly ledger: () => Promise<ReadonlyArray<Entry>>
  readonly credit: (amount: string) => Promise<void>
  /** A session token of another owner of the organization, without a sign-up. */
  readonly session: () => Promise<string>
  /** The same organization and key, asked over another app. */
  readonly over: (app: App) => Tenant
}

export interface Entry {
  readonly id: string
  readonly type: string
  readonly amount: string
  readonly balance_after: string
  readonly reference: string
  readonly note: string | null
  readonly created_at: string
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const callUrl = async (
  url: string,
  token: string | null,
  method: string,
  path: string,
  ask: Ask = {}
): Promise<Reply> => {
  const body = ask.raw ?? (ask.body === undefined ? undefined : JSON.stringify(ask.body))
  const response = await fetch(`${url}${path}`, {
    method,
    redirect: "manual",
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...ask.headers
    },
    ...(body === undefined ? {} : { body }),
    ...(ask.signal === undefined ? {} : { signal: ask.signal })
  })
  // A stream of events may never end; test/kit/event-stream.ts reads it.
  const isStream = response.headers.get("content-type") === "text/event-stream"
  if (isStream) await response.body?.cancel()
  const text = isStream ? "" : await response.text()
  const reply: Reply = { status: response.status, headers: response.headers, text, body: parsed(text) }
  // T66: every answer that a test gets is held against the published document.
  const wrong = nonconformance({ method, path, ...reply })
  if (wrong !== null)
    throw new Error(`${method} ${path} answered ${reply.status} against /openapi.json: ${wrong}: ${text.slice(0, 500)}`)
  return reply
}

/** A hash of the default cost takes a quarter of a second. */
const cheapPasswords = { algorithm: "argon2id", memoryCost: 8, timeCost: 1 } as const

const metricsToken = "token-of-the-tests"

const collector = (lines: Array<string>) =>
  Logger.make(({ message, cause, logLevel }) => {
    lines.push(`${logLevel} ${Bun.inspect(message)} ${cause.reasons.length === 0 ? "" : Bun.inspect(cause)}`)
  })

export const startApp = async (options: Options = {}): Promise<App> => {
  const { beside, role = "all" } = options
  const backend = beside?.backend ?? options.backend ?? "postgres"
  const databaseUrl = beside?.databaseUrl ?? (await preparedDatabase())
  const redisUrl = beside?.settings["REDIS_URL"] ?? (backend === "redis" ? await freshRedis() : "")
  const concurrency = options.settings?.["RUNGATE_CONCURRENCY"]
  const settings = {
    PORT: "0",
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    // A database belongs to one mode.
    ...(beside?.settings["RUNGATE_MODE"] === undefined ? {} : { RUNGATE_MODE: beside.settings["RUNGATE_MODE"] }),
    ...plans,
    RUNGATE_RATE_LIMIT: "0",
    RUNGATE_DATABASE_CONNECTIONS: "6",
    RUNGATE_DRAIN_SECONDS: "1",
    RUNGATE_DATABASE_CHECKS: "warn", // the tests' server runs with fsync=off, also for production
    RUNGATE_METRICS_TOKEN: metricsToken,
    RUNGATE_REQUEST_LOG: "off",
    RUNGATE_AUDIT_MINUTES: "0", // a test may damage its books on purpose
    RUNGATE_REPEAT_GUARD: "0", // many tests repeat what fails
    RUNGATE_CREDITS_MINUTES: "0", // a reading would take an answer that a test scripted for a run
    RUNGATE_HEALTH_SECONDS: "0", // what one test measured must not route another one's runs
    // Most tests have one organization: it may use all slots of a test that says how many there are.
    ...(concurrency === undefined ? {} : { RUNGATE_ORG_CONCURRENCY: concurrency }),
    ...options.settings
  }
  const logs: Array<string> = []
  const scope = Scope.makeUnsafe()
  const surroundings = Layer.mergeAll(
    Settings.layerFrom(settings),
    Logger.layer([collector(logs)]),
    options.passwordsAsInProduction === true ? Layer.empty : Layer.succeed(PasswordCost, cheapPasswords),
    // A look-up of an unknown outcome would take the next answer that a test has scripted for its provider.
    options.limits ?? Layer.merge(Layer.succeed(LookSeconds, 3_600), Layer.succeed(DisputeSeconds, 3_600)),
    options.held?.layer ?? Layer.empty
  )
  const build = <A, E>(layer: Layer.Layer<A, E, Settings>) =>
    Effect.runPromise(
      Layer.build(layer.pipe(Layer.provideMerge(surroundings))).pipe(Effect.provide(surroundings), Scope.provide(scope))
    )
  const started = role === "worker" ? { context: await build(worker), url: "" } : await served(build(service(role)))
  const { context, url } = started

  const run = <A, E>(effect: Effect.Effect<A, E, Services>) => Effect.runPromise(Effect.provideContext(effect, context))

  const pool = new Pool({ connectionString: databaseUrl, max: 4 })
  pool.on("error", () => {})

  const app: App = {
    url,
    backend,
    settings,
    databaseUrl,
    logs,
    context,
    call: (token, method, path, ask) => callUrl(url, token, method, path, ask),
    sql: async (text, values = []) => (await pool.query(text, [...values])).rows,
    tenant: async (balance) => {
      const environment = options.settings?.["RUNGATE_MODE"] === "production" ? "live" : "test"
      const made = await run(
        Effect.gen(function* () {
          const accounts = yield* Accounts
          const org_id = yield* accounts.createOrganization("Test", null)
          const { id, token } = yield* accounts.createKey(org_id, "test key", environment)
          return { org_id, key_id: id, key: Redacted.value(token) }
        })
      )
      const tenant = tenantOf(app, run, made)
      if (balance !== undefined) await tenant.credit(balance)
      return tenant
    },
    books: async () => {
      const { report, deadLetters } = await run(
        Effect.gen(function* () {
          return { report: yield* (yield* Audit).run, deadLetters: yield* (yield* MailStore).deadLetters }
        })
      )
      expect(report.violations).toEqual([])
      expect(deadLetters).toBe(0)
      return report
    },
    metrics: async () => (await callUrl(url, settings.RUNGATE_METRICS_TOKEN, "GET", "/metrics")).text,
    catalog: (document) =>
      run(
        Effect.gen(function* () {
          const store = yield* CatalogStore
          const revision = (yield* store.revisions).get(document.provider) ?? null
          expect(yield* store.replace(document, [], revision)).toBe(true)
          yield* (yield* Endpoints).refresh
        })
      ),
    stop: async () => {
      await pool.end()
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }
  return app
}

/**
 * The service for the tests of a file or a `describe`: started before the first of them, and stopped after the last. Options that need
 * what an earlier `beforeAll` made are given by a function.
 */
export const withApp = (options: Options | (() => Options) = {}): App => {
  let started: App | undefined
  beforeAll(async () => {
    started = await startApp(typeof options === "function" ? options() : options)
  })
  afterAll(() => started?.stop())
  return new Proxy({} as App, {
    get: (_, name) => {
      if (started === undefined) throw new Error("withApp() starts the service in beforeAll: use it in hooks and tests")
      return Reflect.get(started, name)
    }
  })
}

const served = async <R>(building: Promise<Context.Context<R | Server>>) => {
  const context = await building
  return { context, url: Context.get(context, Server).url }
}

const tenantOf = (
  app: App,
  run: <A, E>(effect: Effect.Effect<A, E, Services>) => Promise<A>,
  made: { readonly org_id: string; readonly key_id: string; readonly key: string }
): Tenant => {
  const { org_id, key } = made
  const get = (path: string, ask?: Ask) => app.call(key, "GET", path, ask)
  const post = (path: string, body?: unknown, ask?: Ask) => app.call(key, "POST", path, { body, ...ask })
  return {
    ...made,
    get,
    post,
    run: (body, headers = {}) => post("/v1/run", body, { headers }),
    list: (query = "") => get(`/v1/runs${query}`),
    wallet: async () => (await get("/v1/wallet")).body,
    ledger: async () => {
      const entries: Array<Entry> = []
      let cursor: string | null = null
      do {
        const page: Reply = await get(`/v1/wallet/transactions?limit=200${cursor === null ? "" : `&cursor=${cursor}`}`)
        entries.push(...page.body.items)
        cursor = page.body.next_cursor
      } while (cursor !== null)
      return entries
    },
    credit: async (amount) => {
      const reference = newId("cs")
      const payload = encodeCredit({ type: "bonus", amount: dollars(amount), reference, note: "test credit" })
      await run(
        Effect.flatMap(CommandClient, (asking) =>
          asking.ask({ org_id, run_id: null, tag: "Credit", payload, command_id: reference })
        )
      )
    },
    session: async () => {
      const token = `rg_sess_${crypto.randomUUID().replaceAll("-", "")}`
      const user_id = newId("usr")
      await app.sql("INSERT INTO users (user_id, org_id, email, password_hash) VALUES ($1, $2, $3, 'none')", [
        user_id,
        org_id,
        `${user_id}@example.com`
      ])
      await app.sql("UPDATE members SET role = 'owner' WHERE user_id = $1", [user_id])
      await app.sql(
        "INSERT INTO sessions (token_hash, user_id, org_id, expires_at) VALUES ($1, $2, $3, now() + interval '1 hour')",
        [Buffer.from(digest(token)), user_id, org_id]
      )
      return token
    },
    over: (other) => tenantOf(other, run, made)
  }
}

/** Waits for a condition, asking again every few milliseconds; the deadline is a failure, never a way on. A slow machine has longer. */
export const until = async <A>(
  what: string,
  look: () => Promise<A> | A,
  holds: (value: A) => boolean,
  seconds = untilSeconds
): Promise<A> => {
  const patience = Math.round(seconds * slowness)
  const end = performance.now() + patience * 1_000
  for (;;) {
    const value = await look()
    if (holds(value)) return value
    if (performance.now() > end) throw new Error(`not within ${patience} s: ${what}; last seen ${Bun.inspect(value)}`)
    await Bun.sleep(20)
  }
}

/** One line of figures for the reliability report. */
export const figures = (test: string, found: Readonly<Record<string, string | number | boolean>>) =>
  console.log(JSON.stringify({ test, ...found }))

export const percentile = (values: ReadonlyArray<number>, share: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0) * 10) / 10
}

/** Milliseconds that something took, beside what it gave. */
export const timed = async <A>(work: () => Promise<A>): Promise<{ readonly value: A; readonly millis: number }> => {
  const began = performance.now()
  const value = await work()
  return { value, millis: performance.now() - began }
}

/** Inputs of the cheapest everyday run, and of runs that rehearse a scenario. */
export const verify = (local = "jane.doe", domain = "example.com") => ({
  capability: "email.verify",
  input: { email: `${local}@${domain}` }
})
export const rehearse = (word: string) => verify(word, "sandbox.test")
