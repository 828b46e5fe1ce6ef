/**
 * One installation under fire: a database, maybe a Redis, the fake providers, four customers (one on every lane), and
 * whichever processes a test starts. It remembers what clients were told and compares that with the books and the meter.
 */
import { expect } from "bun:test"
import { Pool, types } from "pg"
import { encodeCredit } from "../../src/actors/mailbox/Commands.ts"
import { digest } from "../../src/layers/accounts/Secrets.ts"
import { dollars } from "../../src/schema/money/Money.ts"
import { lanesDefault } from "../../src/schema/wallet/Lane.ts"
import { freshDatabase } from "../kit/postgres.ts"
import { exhaustive, sampleSeed } from "../kit/input-samples.ts"
import { startRedis } from "../kit/redis.ts"
import { slowness } from "../kit/slowness.ts"
import { ended, finals, findings, type RunState } from "./checks.ts"
import { type Disturb, type Manner, type Meter, startMeter } from "./meter.ts"
import { type Command, type Role, runMain, type Service, type Start, startService, until } from "./processes.ts"

export type Backend = "postgres" | "redis"
/** The queue backends that this machine can test. */
export const installedBackends: ReadonlyArray<Backend> =
  (await startRedis()) === undefined ? ["postgres"] : ["postgres", "redis"]
/** One of them for two days each, because files of chaos go by turns of two days (scripts/tiers.ts). */
export const backends = exhaustive
  ? installedBackends
  : installedBackends.filter((_, at) => at === Math.floor(sampleSeed / 2) % installedBackends.length)

export const leaseSeconds = 2
const creditEach = "1000.00"
/** On a busy machine the command takes half a minute to start. */
const auditMillisMax = 120_000 * slowness

types.setTypeParser(20, Number)

export interface Customer {
  readonly org_id: string
  readonly token: string
  readonly lane: number
}

export interface Asked {
  readonly key: string
  readonly customer: Customer
  readonly body: { readonly capability: "email.find" | "email.send"; readonly input: Readonly<Record<string, string>> }
  readonly more: More
  /** Before the first request, as `performance.now()` tells. */
  readonly at: number
}

/** Further members of a request, and another key of its customer. */
export interface More {
  readonly body?: Readonly<Record<string, unknown>>
  readonly token?: (customer: Customer) => string
}

/** What a client was told; null when the connection broke or the service had to refuse. */
export interface Told {
  readonly status: number
  readonly run_id: string
  readonly run_status: string
  readonly replayed: boolean
}

/** The parts of a run's answer that are compared with the books. */
interface RunAnswer {
  readonly status: string
  readonly done: boolean
  readonly billing: { readonly charged: string | null }
}

export interface Given {
  readonly backend: Backend
  readonly databaseUrl?: string
  readonly redisUrl?: string
  readonly settings?: Readonly<Record<string, string>>
  /** Hostile answers of the providers. */
  readonly disturb?: Disturb
  /** What the account at LeadMagic has left at first. Without it, nobody counts. */
  readonly credits?: number
}

let worlds = 0

export const percentile = (values: ReadonlyArray<number>, share: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)
}

/** One line of the reliability report. */
export const report = (line: Readonly<Record<string, unknown>>) => console.log(JSON.stringify(line))

export class World {
  readonly services: Array<Service> = []
  readonly asked = new Map<string, Asked>()
  /** By idempotency key: the run that some answer named. */
  readonly acknowledged = new Map<string, string>()
  readonly customers: Array<Customer> = []
  /** By run: what answers said of ended runs, as `ended` writes it. */
  readonly told = new Map<string, Set<string>>()
  /** Why clients got no run, newest last. */
  readonly refusals: Array<string> = []
  readonly meter: Meter
  readonly backend: Backend
  readonly env: Readonly<Record<string, string>>
  readonly pool: Pool
  private next = 0

  private constructor({ backend, disturb, credits, settings }: Given, env: Readonly<Record<string, string>>) {
    this.meter = startMeter(disturb, credits)
    this.backend = backend
    this.env = env
    const schema = settings?.["RUNGATE_DATABASE_SCHEMA"]
    this.pool = new Pool({
      connectionString: env["DATABASE_URL"],
      max: 3,
      connectionTimeoutMillis: 2_000,
      ...(schema === undefined ? {} : { options: `-c search_path=${schema}` })
    })
    this.pool.on("error", () => {})
  }

  static async open(given: Given): Promise<World> {
    const { backend, databaseUrl, redisUrl, settings } = given
    worlds += 1
    const redis = backend === "redis" ? (redisUrl ?? `${await startRedis()}/${worlds % 16}`) : undefined
    const url = databaseUrl ?? (await freshDatabase())
    const own = { DATABASE_URL: url, ...(redis === undefined ? {} : { REDIS_URL: redis }) }
    const meterless = new World(given, own)
    const accounts = ["LEADMAGIC", "HUNTER", "RESEND"].flatMap((slug) => [
      [`RUNGATE_PROVIDER_${slug}_API_KEY`, `key-of-${slug}`],
      [`RUNGATE_PROVIDER_${slug}_BASE_URL`, meterless.meter.url]
    ])
    Object.assign(meterless.env, {
      RUNGATE_MODE: "production",
      RUNGATE_LEASE_SECONDS: `${leaseSeconds}`,
      RUNGATE_RATE_LIMIT: "0",
      RUNGATE_REPEAT_GUARD: "0", // they repeat what fails
      RUNGATE_DATABASE_CONNECTIONS: "4",
      ...Object.fromEntries(accounts),
      ...settings
    })
    return meterless
  }

  async start(role: Role, extra: Readonly<Record<string, string>> = {}, how: Start = {}): Promise<Service> {
    const service = await startService(role, { ...this.env, ...extra }, how)
    this.services.push(service)
    return service
  }

  /** A process that ended though no test killed it: somebody else's signal, or the worst of bugs. */
  expectAlive(services: ReadonlyArray<Service>): void {
    for (const service of services) {
      if (!service.alive())
        throw new Error(`process ${service.pid} ${service.how()}: ${service.output().slice(-2_000)}`)
    }
  }

  async query<Row extends Record<string, unknown>>(
    text: string,
    values: ReadonlyArray<unknown> = []
  ): Promise<ReadonlyArray<Row>> {
    return (await this.pool.query<Row>(text, [...values])).rows
  }

  /** Needs a database that a process has migrated, and a worker that applies the credit. */
  async openAccounts(): Promise<void> {
    for (let lane = 0; lane < lanesDefault; lane++) {
      // As long as every id of an organization, which links for opting out need.
      const org_id = `org_chaos${lane}`.padEnd(30, "0")
      const token = `rg_live_${crypto.randomUUID().replaceAll("-", "")}`
      await this.query("INSERT INTO orgs (org_id, name) VALUES ($1, 'Chaos')", [org_id])
      await this.query("INSERT INTO wallets (org_id, lane) VALUES ($1, $2)", [org_id, lane])
      await this.query(
        "INSERT INTO api_keys (key_id, org_id, name, environment, key_hash, display) VALUES ($1, $2, 'chaos', 'live', $3, 'x')",
        [`key_chaos${lane}`, org_id, digest(token)]
      )
      // E-mails leave from here.
      await this.query("INSERT INTO owned_resources (kind, resource_id, org_id) VALUES ('sender', 'example.com', $1)", [
        org_id
      ])
      this.customers.push({ org_id, token, lane })
    }
    await this.credit("chaos")
    await until("credit for every customer", 20_000, async () => {
      const [row] = await this.query<{ poor: number }>("SELECT count(*) AS poor FROM wallets WHERE balance = 0")
      return row?.poor === 0
    })
  }

  /** $1,000 for every customer, once for each `name`. A worker applies it. */
  async credit(name: string): Promise<void> {
    for (const { org_id, lane } of this.customers) {
      const reference = `cs_${name}${lane}`
      const payload = encodeCredit({ type: "bonus", amount: dollars(creditEach), reference, note: name })
      await this.query(
        "INSERT INTO mailbox (lane, command_id, org_id, tag, payload) VALUES ($1, $2, $3, 'Credit', $4)",
        [lane, reference, org_id, payload]
      )
    }
  }

  /** A new session token of an owner of the customer's organization, without a sign-up. */
  async session({ org_id }: Pick<Customer, "org_id">): Promise<string> {
    const token = `rg_sess_${crypto.randomUUID().replaceAll("-", "")}`
    const user_id = `usr_${org_id}`
    await this.query(
      "INSERT INTO users (user_id, org_id, email, password_hash) VALUES ($1, $2, $3, 'none') ON CONFLICT DO NOTHING",
      [user_id, org_id, `${org_id}@example.com`]
    )
    await this.query(
      "INSERT INTO sessions (token_hash, user_id, org_id, expires_at) VALUES ($1, $2, $3, now() + interval '30 days')",
      [digest(token), user_id, org_id]
    )
    return token
  }

  private ask(body: Asked["body"], key: string, more: More): Asked {
    const customer = this.customers[this.next % this.customers.length]
    if (customer === undefined) throw new Error("open the accounts first")
    const asked = { key, customer, body, more, at: performance.now() }
    this.asked.set(key, asked)
    return asked
  }

  private newKey(): string {
    this.next += 1
    return `k${this.next}`
  }

  find(manner: Manner, more: More = {}): Asked {
    const key = this.newKey()
    const input = { first_name: manner, last_name: key, company_domain: "example.com" }
    return this.ask({ capability: "email.find", input }, key, more)
  }

  send(manner: Manner, more: More = {}, to = "jane@example.com"): Asked {
    const key = this.newKey()
    const input = { from: "hello@example.com", to, subject: key, text: manner }
    return this.ask({ capability: "email.send", input }, key, more)
  }

  /** Sends, or sends again, a run with its key. */
  async submit(
    service: Service,
    { key, customer, body, more }: Asked,
    waitSeconds = 0,
    millisMax = 30_000
  ): Promise<Told | null> {
    try {
      const response = await fetch(`${service.url}/v1/run`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${more.token?.(customer) ?? customer.token}`,
          "content-type": "application/json",
          "idempotency-key": key
        },
        body: JSON.stringify({ ...body, ...more.body, wait_seconds: waitSeconds }),
        signal: AbortSignal.timeout(millisMax)
      })
      const run_id = response.headers.get("run-id")
      const text = await response.text()
      if (run_id === null) {
        // 5xx is a refusal that may be tried again, and so are full queues and offers that breakers leave alone for a while. Anything
        // else is a mistake of the test.
        const again = response.status === 429 || text.includes('"provider_not_available"')
        if (response.status < 500 && !again) throw new TypeError(`${response.status} ${text}`)
        this.refusals.push(`${response.status} ${text}`)
        return null
      }
      const before = this.acknowledged.get(key)
      if (before !== undefined && before !== run_id) throw new TypeError(`key ${key} is now ${run_id}, was ${before}`)
      this.acknowledged.set(key, run_id)
      const { status: run_status, done, billing }: RunAnswer = JSON.parse(text)
      if (done) {
        const charged = billing.charged === null ? null : Math.round(Number(billing.charged) * 1_000_000)
        this.told.set(run_id, (this.told.get(run_id) ?? new Set()).add(ended(run_status, charged)))
      }
      return {
        status: response.status,
        run_id,
        run_status,
        replayed: response.headers.get("idempotent-replay") === "true"
      }
    } catch (error) {
      if (error instanceof TypeError && /^(\d{3}|key) /.test(error.message)) throw error
      this.refusals.push(String(error))
      return null
    }
  }

  /** True when the service answered that the run is cancelled. */
  async cancel(service: Service, { customer }: Asked, run_id: string): Promise<boolean> {
    const headers = { authorization: `Bearer ${customer.token}` }
    const signal = AbortSignal.timeout(20_000)
    const response = await fetch(`${service.url}/v1/runs/${run_id}/cancel`, { method: "POST", headers, signal }).catch(
      () => undefined
    )
    return response?.status === 200
  }

  async runs(): Promise<ReadonlyArray<RunState>> {
    return this.query<RunState & Record<string, unknown>>(
      "SELECT org_id, run_id, idempotency_key AS key, status, capability, charged, coalesce(attempts, '[]') AS attempts FROM runs"
    )
  }

  async unfinished(): Promise<number> {
    const [row] = await this.query<{ count: number }>("SELECT count(*) AS count FROM runs WHERE NOT status = ANY($1)", [
      finals
    ])
    return row?.count ?? 0
  }

  /** Waits until no run is unfinished and answers how many seconds that took; tells what is stuck when it does not happen. */
  async settled(secondsMax: number): Promise<number> {
    const began = performance.now()
    try {
      await until("every run final", secondsMax * 1000, async () => (await this.unfinished().catch(() => 1)) === 0)
    } catch (error) {
      const stuck = await this.query(
        `SELECT r.run_id, r.status, o.state, o.worker_id, o.attempts::text, w.expires_at > now() AS worker_alive,
                (SELECT count(*) FROM mailbox m WHERE m.run_id = r.run_id) AS mail
         FROM runs r LEFT JOIN open_runs o USING (run_id) LEFT JOIN workers w ON w.worker_id = o.worker_id
         WHERE NOT r.status = ANY($1) LIMIT 5`,
        [finals]
      )
      throw new Error(`${await this.unfinished()} runs are stuck, such as ${JSON.stringify(stuck)}`, { cause: error })
    }
    return (performance.now() - began) / 1000
  }

  /** Everything that must hold of a quiet installation, as sentences about what does not. */
  async violations(): Promise<ReadonlyArray<string>> {
    return (await findings(this)).map(({ text }) => text)
  }

  /** `rungate audit`, as an operator would run it, of the sources or of another release. */
  async audit(command?: Command): Promise<ReadonlyArray<string>> {
    const { child, output, errors, ended } = runMain(["audit"], this.env, command)
    const timer = setTimeout(() => child.kill("SIGKILL"), auditMillisMax)
    const { code } = await ended
    clearTimeout(timer)
    return code === 0 ? [] : [`audit ended with ${code}: ${output()}${errors()}`.slice(0, 2_000)]
  }

  async expectSound(): Promise<void> {
    expect(await this.violations()).toEqual([])
  }

  async close(): Promise<void> {
    await Promise.all(this.services.map((service) => service.kill()))
    await this.pool.end().catch(() => {})
    await this.meter.stop()
  }
}
