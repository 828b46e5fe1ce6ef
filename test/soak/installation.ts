/**
 * One installation of a soak: its processes, its customers and people, and the checks of what they were told. Two of them may share a
 * PostgreSQL and a Redis, each in a schema of its own.
 */
import { type Check, type Finding, findings } from "../chaos/checks.ts"
import { type Role, until } from "../chaos/processes.ts"
import { type Proxy, proxyTo } from "../chaos/proxy.ts"
import type { Server } from "../chaos/servers.ts"
import { type Backend, World } from "../chaos/world.ts"
import { creditsAtFirst } from "./credits.ts"
import { hostileBy } from "./hostility.ts"
import { replay, startLoad } from "./load.ts"
import { People } from "./people.ts"
import { seedOf } from "./plan.ts"
import { Slots, type Tell } from "./slots.ts"

export const ownChecks = {
  opt_outs: "nobody gets a message of a run that came after the opt-out",
  credits: "no call costs more than the account at its provider has left, and in the end nothing is reserved",
  files: "a configuration file is applied whole, and once",
  processes:
    "no process ends or refuses by itself, SIGTERM ends each one with exit code 0, and people get the answers they should"
} as const
export type SoakCheck = Check | keyof typeof ownChecks
export interface SoakFinding {
  readonly check: SoakCheck
  readonly text: string
}

/** A hanging provider, the lease of a dead worker, and a busy machine. */
const settleSecondsMax = 180
const healMillisMax = 500_000

export interface Given {
  readonly backend: Backend
  readonly seed: number
  readonly postgres: Server
  readonly redis: Server | undefined
  readonly roles: ReadonlyArray<Role>
  /** Null: the database's own. */
  readonly schema: string | null
  readonly say: Tell
  readonly violate: Tell
  readonly hostile: Tell
}

/** What happened in a stage. */
export interface Played {
  readonly runs: number
  readonly counts: Readonly<Record<string, number>>
  readonly recoverySeconds: number
  readonly times: string
  readonly findings: ReadonlyArray<SoakFinding>
}

const as = (check: SoakCheck, texts: ReadonlyArray<string>): ReadonlyArray<SoakFinding> =>
  texts.map((text) => ({ check, text }))

export class Installation {
  readonly world: World
  readonly slots: Slots
  readonly people: People
  readonly proxies: ReadonlyArray<Proxy>
  private readonly given: Given

  private constructor(
    given: Given,
    world: World,
    proxies: ReadonlyArray<Proxy>,
    proxied: Readonly<Record<string, string>>
  ) {
    this.given = given
    this.world = world
    this.proxies = proxies
    const named = (tell: Tell): Tell => (given.schema === null ? tell : (text) => tell(`${given.schema}: ${text}`))
    this.slots = new Slots(world, given.roles, proxied, named(given.say), named(given.violate))
    this.people = new People(world, this.slots)
  }

  static async open(given: Given): Promise<Installation> {
    const { backend, seed, postgres, redis, schema, hostile } = given
    const world = await World.open({
      backend,
      databaseUrl: postgres.url,
      ...(redis === undefined ? {} : { redisUrl: redis.url }),
      settings: {
        // Few, so that runs are queued now and then: a queued run can be cancelled, and any worker may claim it.
        ...{ RUNGATE_CONCURRENCY: "3", RUNGATE_ORG_CONCURRENCY: "2" },
        ...(schema === null ? {} : { RUNGATE_DATABASE_SCHEMA: schema })
      },
      disturb: hostileBy(seedOf(seed, backend, ...(schema === null ? [] : [schema])), hostile),
      credits: creditsAtFirst
    })
    const database = await proxyTo(postgres.url, 5432)
    const queues = redis === undefined ? undefined : await proxyTo(redis.url, 6379)
    const proxies = queues === undefined ? [database] : [database, queues]
    const proxied = { DATABASE_URL: database.url, ...(queues === undefined ? {} : { REDIS_URL: queues.url }) }
    return new Installation(given, world, proxies, proxied)
  }

  async begin(): Promise<void> {
    // The first one migrates.
    for (const slot of this.given.roles.keys()) await this.slots.start(slot)
    await this.world.openAccounts()
    await this.people.begin()
  }

  /** What is wrong at any moment. A database that is away says nothing. */
  async wrongNow(): Promise<ReadonlyArray<SoakFinding>> {
    const { people } = this
    const halves = await people.configurations.wrong(false).catch(() => [])
    return [...as("credits", people.credits.wrong()), ...as("opt_outs", people.wrongMessages()), ...as("files", halves)]
  }

  /** Loads the installation until `faults` have been played, and then checks what happened. Null if the soak stopped before. */
  async play(
    number: number,
    faults: Promise<void>,
    stopped: Promise<void>,
    isOver: () => boolean
  ): Promise<Played | null> {
    const { world, slots, people } = this
    const { backend, seed, schema, violate } = this.given
    const own = (purpose: string) => seedOf(seed, backend, purpose, number, ...(schema === null ? [] : [schema]))
    await world.credit(`stage${number}_`)
    const load = startLoad(world, slots, people, own("load"), violate)
    const stopChanges = people.changing(own("people"), violate)
    const stopDecisions = people.deciding(own("people"), violate)
    await faults
    await Promise.all([load.stop(), stopChanges()])
    const times: Array<string> = []
    const quiet = performance.now()
    let since = quiet
    const took = (what: string) => {
      times.push(`${what} ${((performance.now() - since) / 1_000).toFixed(1)} s`)
      since = performance.now()
    }
    try {
      if (isOver()) return null
      const ready = () => slots.current.every((one) => one !== undefined) || isOver()
      await until("a process in each slot", healMillisMax, ready)
      took("processes ready after")
      await Promise.race([replay(world, slots, load.asked), stopped])
      took("keys repeated in")
      await Promise.race([world.settled(settleSecondsMax), stopped])
      took("settled in")
    } finally {
      await stopDecisions()
    }
    if (isOver()) return null
    const recoverySeconds = (performance.now() - quiet) / 1_000
    const keys = new Set([...load.asked].map(({ key }) => key))
    return {
      ...{ runs: keys.size, counts: load.counts, recoverySeconds, times: times.join(", ") },
      findings: await this.wrong(keys)
    }
  }

  /** What is wrong when no run is open. `keys`: only of these. */
  async wrong(keys: ReadonlySet<string> | null = null): Promise<ReadonlyArray<SoakFinding | Finding>> {
    const files = as("files", await this.people.configurations.wrong(true))
    return [...(await findings(this.world, keys)), ...(await this.wrongNow()), ...files]
  }

  async figures(): Promise<Readonly<Record<string, number>>> {
    const { acknowledged, meter } = this.world
    return {
      ...(await this.people.figures()),
      ...{ acknowledged: acknowledged.size, calls: meter.calls.length, failed_starts: this.slots.failedStarts }
    }
  }

  logs(): ReadonlyArray<readonly [string, string]> {
    const { schema } = this.given
    return this.slots.logs().map(([name, text]) => [schema === null ? name : `${schema}-${name}`, text])
  }

  async close(): Promise<void> {
    await this.world.close()
    for (const proxy of this.proxies) await proxy.stop()
  }
}
