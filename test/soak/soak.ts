/**
 * A soak of one backend: stages of random faults under load, and after each stage the check of everything that must hold.
 *
 * The faults come from the seed (plan.ts), and so do the hostile answers of the providers (hostility.ts). A finding ends the soak at once, and
 * then the database and the logs stay for inspection.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { checks as stageChecks } from "../chaos/checks.ts"
import { breakablePostgres, breakableRedis, type Server, stops } from "../chaos/servers.ts"
import type { Backend } from "../chaos/world.ts"
import { inflict, type Stand } from "./faults.ts"
import { Installation, ownChecks } from "./installation.ts"
import { type Planned, roles, rolesOfTwo, type Stage, stageSeconds, stagesOf, targetsOf, worded } from "./plan.ts"

export const checks = {
  ...stageChecks,
  ...ownChecks,
  schemas: "installations in two schemas know nothing of each other"
} as const

const auditEverySeconds = 6
const schemaNames = { 1: [null], 2: ["cell_a", "cell_b"] } as const

export interface Found {
  readonly check: keyof typeof checks
  readonly text: string
}

export interface Options {
  readonly backend: Backend
  readonly seed: number
  /** Installations in one database. */
  readonly schemas: 1 | 2
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
  readonly findings: ReadonlyArray<Found>
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

/** What one installation knows of another one in the same database. */
const strangers = async (installations: ReadonlyArray<Installation>): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  for (const { world, slots } of installations)
    for (const { world: other } of installations) {
      if (other === world) continue
      const theirs = [...other.acknowledged.values()]
      const [row] = await world.query<{ runs: number; shared: number }>(
        `SELECT (SELECT count(*) FROM runs WHERE run_id = ANY($1)) AS runs,
                (SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace) AS shared`,
        [theirs]
      )
      if (row?.runs !== 0) found.push(`${row?.runs} runs of the other installation are in this one's schema`)
      if (row?.shared !== 0) found.push(`${row?.shared} tables and indexes are in the schema public`)
      const headers = { authorization: `Bearer ${other.customers[0]?.token}` }
      for (const { url } of slots.fronts()) {
        const { status } = await fetch(`${url}/v1/wallet`, { headers })
        if (status !== 401) found.push(`a key of the other installation was answered ${status}`)
      }
    }
  return found
}

class Soak {
  readonly found: Array<Found> = []
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
  readonly isOver = () => this.over

  readonly say = (text: string): void => {
    const line = `[${clock(performance.now() - this.began)} ${this.options.backend} stage ${this.stage}] ${text}`
    this.history.push(line)
    this.options.say(line)
  }

  find(check: Found["check"], text: string): void {
    // Of many alike the first ones say enough.
    if (this.found.length < 20) {
      this.found.push({ check, text })
      this.say(`found: ${text}`)
    }
    this.stop()
  }
  readonly findAll = (all: ReadonlyArray<Found>) => {
    for (const { check, text } of all) this.find(check, text)
  }
  readonly violate = (text: string) => this.find("processes", text)

  /** Waits, or returns early at a finding. */
  readonly pause = (seconds: number) => Promise.race([Bun.sleep(Math.max(0, seconds) * 1_000), this.stopped])

  /** The books at any moment. A database that is away is asked again later. */
  private async watchBooks({ installations }: Stand, isDone: () => boolean) {
    for (let turn = 0; !isDone() && !this.over; turn++) {
      await this.pause(auditEverySeconds)
      if (isDone() || this.over) return
      const one = installations[turn % installations.length] ?? installations[0]
      const wrong = await one.world.audit()
      bump(this.figures, wrong.length === 0 ? "audits" : "audits_unanswered")
      for (const text of wrong.filter((line) => line.includes("VIOLATION"))) this.find("books", text)
      this.findAll(await one.wrongNow())
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

  private async play(stand: Stand, { number, faults }: Stage): Promise<void> {
    this.stage = number
    let done = false
    const books = this.watchBooks(stand, () => done)
    const played = this.playFaults(stand, faults)
    const stages = stand.installations.map(async (one) => {
      const what = await one
        .play(number, played, this.stopped, this.isOver)
        .catch((error) => this.find("acknowledged", String(error)))
      if (what === undefined || what === null) return
      this.findAll(what.findings)
      bump(this.figures, "runs", what.runs)
      bump(this.figures, "audits")
      for (const [name, count] of Object.entries(what.counts)) bump(this.figures, name, count)
      const { recovery_s_max = 0 } = this.figures
      this.figures["recovery_s_max"] = Math.max(recovery_s_max, Math.round(what.recoverySeconds * 10) / 10)
      const { refused, cancelled } = what.counts
      this.say(
        `checked: ${what.runs} runs, ${refused} refused, ${cancelled} cancelled, ${faults.length} faults; ${what.times}; ${this.found.length} findings`
      )
    })
    await played
    done = true
    await Promise.all([...stages, books])
    if (this.over) return
    this.findAll((await strangers(stand.installations)).map((text) => ({ check: "schemas" as const, text })))
    this.stages += 1
  }

  async playAll(stand: Stand): Promise<void> {
    const { seed, backend, from, more } = this.options
    for (const stage of stagesOf(seed, backend)) {
      if (stage.number < from) continue
      if (this.over || (stage.number > from && !more(stage.number - from))) break
      await this.play(stand, stage)
    }
    for (const { people } of stand.installations)
      if (!this.over) await people.credits.settled(this.isOver).catch((error) => this.find("credits", String(error)))
    // What a late call or a late settlement changed after its stage had been checked.
    for (const one of stand.installations) if (!this.over) this.findAll(await one.wrong())
    for (const one of stand.installations)
      for (const [name, count] of Object.entries(await one.figures())) bump(this.figures, name, count)
  }
}

/** What an inspection needs: the database, stopped, beside what the processes said and the history of faults. */
const keep = (soak: Soak, { folder, url }: Server, installations: ReadonlyArray<Installation>): string => {
  writeFileSync(join(folder, "keep"), "kept for inspection by a soak that found something\n")
  const logs = join(folder, "soak")
  mkdirSync(logs, { recursive: true })
  for (const [name, text] of installations.flatMap((one) => one.logs())) writeFileSync(join(logs, name), text)
  const found = soak.found.map(({ check, text }) => `${check}: ${text}`)
  writeFileSync(join(logs, "history.log"), [...soak.history, "", ...found, "", url, ""].join("\n"))
  return folder
}

export const soak = async (options: Options): Promise<Outcome> => {
  const { backend, seed, schemas } = options
  const one = new Soak(options)
  const installations: Array<Installation> = []
  const own = schemas === 1 ? roles : rolesOfTwo
  const servers = `PostgreSQL${backend === "redis" ? ", Redis" : ""}`
  one.say(
    `starting ${servers} and ${schemas === 1 ? "" : `${schemas} installations of `}${own.length} processes: ${own.join(", ")}`
  )
  const postgres = await breakablePostgres()
  const redis = backend === "redis" ? await breakableRedis() : undefined
  let kept: string | null = null
  try {
    for (const schema of schemaNames[schemas]) {
      const hostile = (name: string) => bump(one.hostile, name)
      const given = { backend, seed, postgres, redis, roles: own, schema, say: one.say, violate: one.violate, hostile }
      installations.push(await Installation.open(given))
    }
    for (const each of installations) await each.begin()
    const [first, ...others] = installations
    if (first === undefined) throw new Error("there is no installation")
    await one.playAll({ postgres, redis, installations: [first, ...others] })
  } catch (error) {
    one.violate(error instanceof Error ? (error.stack ?? String(error)) : String(error))
  } finally {
    for (const { slots } of installations) slots.close()
    if (one.found.length > 0) kept = keep(one, postgres, installations)
    for (const each of installations) await each.close()
    await postgres.end(stops.fast)
    for (const server of [postgres, redis]) await server?.end("SIGKILL")
  }
  const { found, stages, stage, figures, faults, hostile } = one
  const seconds = Math.round((performance.now() - one.began) / 1_000)
  return { backend, findings: found, stages, stage, seconds, figures, faults, hostile, kept }
}
