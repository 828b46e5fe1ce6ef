/**
 * A soak of one backend: stages of random faults under load, and after each stage the check of everything that must hold.
 *
 * The faults come from the seed (plan.ts), and so do the hostile answers of the providers (hostility.ts). A finding ends the soak at once, and
 * then the database and the logs stay for inspection.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Check, checks as stageChecks, type Finding, findings } from "../chaos/checks.ts"
import { until } from "../chaos/processes.ts"
import { type Proxy, proxyTo } from "../chaos/proxy.ts"
import { breakablePostgres, breakableRedis, type Server, stops } from "../chaos/servers.ts"
import { type Backend, World } from "../chaos/world.ts"
import { inflict, type Stand } from "./faults.ts"
import { hostileBy } from "./hostility.ts"
import { replay, startLoad } from "./load.ts"
import { People } from "./people.ts"
import { type Planned, roles, seedOf, type Stage, stageSeconds, stagesOf, targetsOf, worded } from "./plan.ts"
import { Slots } from "./slots.ts"

export const checks = {
  ...stageChecks,
  processes: "no process ends or refuses by itself, and SIGTERM ends each one with exit code 0"
} as const
export type SoakCheck = Check | "processes"

const auditEverySeconds = 6
/** A hanging provider, the lease of a dead worker, and a busy machine. */
const settleSecondsMax = 180
const healMillisMax = 500_000

export interface Options {
  readonly backend: Backend
  readonly seed: number
  /** The first stage to play, from 1. */
  readonly from: number
  /** Asked before each stage but the first one. */
  readonly more: (played: number) => boolean
  readonly say: (line: string) => void
  /** Ends the soak early. */
  readonly signal?: AbortSignal
}

export interface Outcome {
  readonly backend: Backend
  readonly findings: ReadonlyArray<{ readonly check: SoakCheck; readonly text: string }>
  readonly stages: number
  /** The stage of the findings. */
  readonly stage: number
  readonly seconds: number
  readonly figures: Readonly<Record<string, number>>
  readonly faults: Readonly<Record<string, number>>
  readonly hostile: Readonly<Record<string, number>>
  /** Where the database and the logs are kept, if there are findings. */
  readonly kept: string | null
}

const clock = (millis: number) => {
  const seconds = Math.floor(millis / 1_000)
  return `${String(Math.floor(seconds / 60)).padStart(2, "0")}:${String(seconds % 60).padStart(2, "0")}`
}
const bump = (counts: Record<string, number>, name: string, by = 1) => {
  counts[name] = (counts[name] ?? 0) + by
}

class Soak {
  readonly found: Array<{ check: SoakCheck; text: string }> = []
  readonly figures: Record<string, number> = {}
  readonly faults: Record<string, number> = {}
  readonly hostile: Record<string, number> = {}
  readonly history: Array<string> = []
  readonly began = performance.now()
  stage = 0
  stages = 0
  /** Resolves at the first finding. */
  readonly stopped: Promise<void>
  private stop: () => void = () => {}
  readonly options: Options

  constructor(options: Options) {
    this.options = options
    this.stopped = new Promise((resolve) => {
      this.stop = resolve
    })
    options.signal?.addEventListener("abort", () => this.stop())
  }

  get over(): boolean {
    return this.found.length > 0 || this.options.signal?.aborted === true
  }

  say(text: string): void {
    const line = `[${clock(performance.now() - this.began)} ${this.options.backend} stage ${this.stage}] ${text}`
    this.history.push(line)
    this.options.say(line)
  }

  readonly tell = (text: string) => this.say(text)

  find(check: SoakCheck, text: string): void {
    // Of many alike the first ones say enough.
    if (this.found.length < 20) this.found.push({ check, text })
    this.stop()
  }
  readonly findAll = (all: ReadonlyArray<Finding>) => {
    for (const { check, text } of all) this.find(check, text)
  }
  readonly violate = (text: string) => this.find("processes", text)

  /** Waits, or returns early at a finding. */
  readonly pause = (seconds: number) => Promise.race([Bun.sleep(Math.max(0, seconds) * 1_000), this.stopped])

  /** The books at any moment. A database that is away is asked again later. */
  private async watchBooks(world: World, isOver: () => boolean) {
    while (!isOver() && !this.over) {
      await this.pause(auditEverySeconds)
      if (isOver() || this.over) return
      const wrong = await world.audit()
      bump(this.figures, wrong.length === 0 ? "audits" : "audits_unanswered")
      for (const text of wrong.filter((one) => one.includes("VIOLATION"))) this.find("books", text)
    }
  }

  /** Faults of one target one after the other, all others at their time. */
  private async playFaults(stand: Stand, planned: ReadonlyArray<Planned>) {
    const began = performance.now()
    const busy = new Map<string, Promise<unknown>>()
    for (const { at, fault } of planned) {
      await this.pause(at - (performance.now() - began) / 1_000)
      if (this.over) break
      const targets = targetsOf(fault)
      const free = Promise.all(targets.map((target) => busy.get(target)))
      const done = free
        .then(() => {
          if (this.over) return
          this.say(worded(fault))
          bump(this.faults, fault.kind)
          return inflict(stand, fault)
        })
        .catch((error) => this.violate(`the fault ${worded(fault)} failed: ${error}`))
      for (const target of targets) busy.set(target, done)
    }
    await this.pause(stageSeconds - (performance.now() - began) / 1_000)
    await Promise.race([Promise.all(busy.values()), this.stopped])
  }

  async play(stand: Stand, people: People, { number, faults }: Stage): Promise<void> {
    const { world, slots } = stand
    this.stage = number
    const { backend, seed } = this.options
    await world.credit(`stage${number}_`)
    let over = false
    const books = this.watchBooks(world, () => over)
    const load = startLoad(world, slots, people, seedOf(seed, backend, "load", number), this.violate)
    const stopChanges = people.changing(seedOf(seed, backend, "people", number), this.violate)
    const stopDecisions = people.deciding(seedOf(seed, backend, "people", number), this.violate)
    await this.playFaults(stand, faults)
    over = true
    await Promise.all([load.stop(), stopChanges()])
    await books
    if (this.over) return await stopDecisions()
    const times: Array<string> = []
    let since = performance.now()
    const took = (what: string) => {
      times.push(`${what} ${((performance.now() - since) / 1_000).toFixed(1)} s`)
      since = performance.now()
    }
    const quiet = since
    try {
      await until(
        "a process in each slot",
        healMillisMax,
        () => slots.current.every((one) => one !== undefined) || this.over
      )
      took("processes ready after")
      await replay(world, slots, load.asked)
      took("keys repeated in")
      await world.settled(settleSecondsMax)
      took("settled in")
    } catch (error) {
      this.find("acknowledged", String(error))
    } finally {
      await stopDecisions()
    }
    if (this.over) return
    const settle = (performance.now() - quiet) / 1_000
    this.findAll(await findings(world, new Set([...load.asked].map(({ key }) => key))))
    bump(this.figures, "runs", load.asked.size)
    bump(this.figures, "audits")
    for (const [name, count] of Object.entries(load.counts)) bump(this.figures, name, count)
    this.figures["recovery_s_max"] = Math.max(this.figures["recovery_s_max"] ?? 0, Math.round(settle * 10) / 10)
    this.stages += 1
    const { refused, cancelled } = load.counts
    this.say(
      `checked: ${load.asked.size} runs, ${refused} refused, ${cancelled} cancelled, ${faults.length} faults; ${times.join(", ")}; ${this.found.length} findings`
    )
  }

  async playAll(stand: Stand, people: People): Promise<void> {
    const { seed, backend, from, more } = this.options
    for (const stage of stagesOf(seed, backend)) {
      if (stage.number < from) continue
      if (this.over || (stage.number > from && !more(stage.number - from))) break
      await this.play(stand, people, stage)
    }
    // What a late call or a late settlement changed after its stage had been checked.
    if (!this.over) this.findAll(await findings(stand.world))
  }
}

/** What an inspection needs: the database, stopped, beside what the processes said and the history of faults. */
const keep = async (soak: Soak, { postgres, slots }: Stand): Promise<string> => {
  const { folder } = postgres
  writeFileSync(join(folder, "keep"), "kept for inspection by a soak that found something\n")
  const logs = join(folder, "soak")
  mkdirSync(logs, { recursive: true })
  for (const [name, text] of slots.logs()) writeFileSync(join(logs, name), text)
  const found = soak.found.map(({ check, text }) => `${check}: ${text}`)
  writeFileSync(join(logs, "history.log"), [...soak.history, "", ...found, "", postgres.url, ""].join("\n"))
  return folder
}

export const soak = async (options: Options): Promise<Outcome> => {
  const one = new Soak(options)
  const servers: Array<Server> = []
  const proxies: Array<Proxy> = []
  let kept: string | null = null
  one.say(
    `starting PostgreSQL${options.backend === "redis" ? ", Redis" : ""} and ${roles.length} processes: ${roles.join(", ")}`
  )
  const postgres = await breakablePostgres()
  servers.push(postgres)
  const redis = options.backend === "redis" ? await breakableRedis() : undefined
  if (redis !== undefined) servers.push(redis)
  const world = await World.open({
    backend: options.backend,
    databaseUrl: postgres.url,
    ...(redis === undefined ? {} : { redisUrl: redis.url }),
    // Few, so that runs are queued now and then: a queued run can be cancelled, and any worker may claim it.
    settings: { RUNGATE_CONCURRENCY: "3", RUNGATE_ORG_CONCURRENCY: "2" },
    disturb: hostileBy(seedOf(options.seed, options.backend), (name) => bump(one.hostile, name))
  })
  const between = async (url: string, port: number) => {
    const proxy = await proxyTo(url, port)
    proxies.push(proxy)
    return proxy.url
  }
  const proxied = {
    DATABASE_URL: await between(postgres.url, 5432),
    ...(redis === undefined ? {} : { REDIS_URL: await between(redis.url, 6379) })
  }
  const slots = new Slots(world, proxied, one.tell, one.violate)
  const stand: Stand = { world, postgres, redis, proxies, slots }
  try {
    // The first one migrates.
    for (const slot of roles.keys()) await slots.start(slot)
    await world.openAccounts()
    const people = new People(world, slots)
    await people.begin()
    await one.playAll(stand, people)
    Object.assign(one.figures, await people.figures())
  } catch (error) {
    one.violate(error instanceof Error ? (error.stack ?? String(error)) : String(error))
  } finally {
    slots.close()
    if (one.found.length > 0) kept = await keep(one, stand)
    await world.close()
    for (const proxy of proxies) await proxy.stop()
    await postgres.end(stops.fast)
    for (const server of servers) await server.end("SIGKILL")
  }
  const { found, stages, stage, figures, faults, hostile } = one
  const seconds = Math.round((performance.now() - one.began) / 1_000)
  const acknowledged = world.acknowledged.size
  const calls = world.meter.calls.length
  return {
    backend: options.backend,
    findings: found,
    stages,
    stage,
    seconds,
    figures: { ...figures, acknowledged, calls, failed_starts: slots.failedStarts },
    faults,
    hostile,
    kept
  }
}
