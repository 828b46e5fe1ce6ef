/** The flags of `npm run soak`. A wrong one is answered with one sentence that says what is right. */
import { nearest } from "../../src/schema/nearest.ts"
import type { Backend } from "../chaos/world.ts"

export const minutesMin = 2
const minutesMax = 7 * 24 * 60
const seedMax = 2 ** 31 - 1

export interface Flags {
  readonly minutes: number
  readonly seed: number
  /** Null: all that this machine has. */
  readonly backend: Backend | null
  /** Only this stage. Null: from the first one until the time is over. */
  readonly stage: number | null
  /** Installations in one database. With two, each has a schema of its own. */
  readonly schemas: 1 | 2
}

export const usage = `npm run soak -- [--minutes 10] [--seed <number>] [--backend redis|postgres] [--stage <number>] [--schemas 2]

Runs processes of all roles under load and breaks them and their servers by a schedule that follows from the seed. Checks the books
while it runs and after each stage. Stops at the first violation and keeps the database.

  --minutes   how long, from ${minutesMin} to ${minutesMax}; half of it for each backend (default: 10)
  --seed      the schedule, from 0 to ${seedMax} (default: the day's)
  --backend   only this one: redis or postgres (default: both)
  --stage     only this stage of the schedule, whatever --minutes says
  --schemas   2: two installations in two schemas of one database (default: 1)`

const names = ["--minutes", "--seed", "--backend", "--stage", "--schemas", "--help"]
/** A new schedule every day, as for the samples of the tests. */
const seedOfDay = () => Math.floor(Date.now() / 86_400_000)

/** The flags, or the sentence that says what is wrong with them. Null: help was asked for. */
export const flagsOf = (words: ReadonlyArray<string>): Flags | string | null => {
  const values = new Map<string, string>()
  const given = words.flatMap((word) => (word.startsWith("--") ? word.split(/=(.*)/s).slice(0, 2) : [word]))
  for (let at = 0; at < given.length; at += 2) {
    const name = given[at] ?? ""
    const value = given[at + 1]
    if (name === "--help" || name === "-h") return null
    if (!names.includes(name)) {
      const meant = nearest(name, names)
      return `unknown argument ${name}.${meant === null ? "" : ` Did you mean ${meant}?`} The flags are ${names.join(", ")}.`
    }
    if (values.has(name)) return `${name} is given twice.`
    if (value === undefined) return `${name} needs a value, such as ${name} ${name === "--backend" ? "redis" : "7"}.`
    values.set(name, value)
  }
  const whole = (name: string, fallback: number, min: number, max: number): number | string => {
    const text = values.get(name)
    if (text === undefined) return fallback
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
    return value >= min && value <= max ? value : `${name} must be a whole number from ${min} to ${max}, not ${text}.`
  }
  const minutes = whole("--minutes", 10, minutesMin, minutesMax)
  const seed = whole("--seed", seedOfDay(), 0, seedMax)
  const stage = values.has("--stage") ? whole("--stage", 1, 1, 100_000) : null
  const backend = values.get("--backend") ?? null
  const schemas = whole("--schemas", 1, 1, 2)
  for (const value of [minutes, seed, stage, schemas]) if (typeof value === "string") return value
  if (backend !== null && backend !== "redis" && backend !== "postgres")
    return `--backend must be redis or postgres, not ${backend}.`
  return {
    ...{ minutes: Number(minutes), seed: Number(seed), backend, stage: stage === null ? null : Number(stage) },
    schemas: schemas === 2 ? 2 : 1
  }
}
