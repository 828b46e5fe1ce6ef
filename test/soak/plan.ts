/**
 * The schedule of a soak, as a pure function of its seed: which fault happens in which stage, when, and to whom.
 *
 * How long the soak lasts only says how many stages of the schedule are played. So the same seed always begins in the same way, and a
 * stage can be played alone. Each kind of fault happens once before any of them happens again.
 */
import type { Backend } from "../chaos/world.ts"
import type { stops } from "../chaos/servers.ts"
import type { Direction } from "../chaos/proxy.ts"
import type { Role } from "../chaos/processes.ts"

/** The processes of one installation. Clients ask those that have an address; the last one reaches its servers through proxies. */
export const roles: ReadonlyArray<Role> = ["all", "http", "worker", "worker"]
export const proxiedSlot = roles.length - 1
/** Of each of two installations, which have the slots in turn. */
export const rolesOfTwo: ReadonlyArray<Role> = ["all", "worker"]

export const stageSeconds = 40
/** From one fault to the next. Shorter than most faults last, so that faults overlap. */
const gapSeconds = [1, 4] as const
/** Nothing new happens at the end of a stage, so that a stage's last fault is one like the others. */
const tailSeconds = 3

export type Fault =
  | { readonly kind: "kill"; readonly slot: number }
  | { readonly kind: "stop"; readonly slot: number }
  | { readonly kind: "freeze"; readonly slot: number; readonly seconds: number }
  | { readonly kind: "wrong_clock"; readonly slot: number; readonly skew_seconds: number }
  | { readonly kind: "partition"; readonly slot: number; readonly direction: Direction; readonly seconds: number }
  | { readonly kind: "kill_postgres"; readonly seconds: number }
  | { readonly kind: "restart_postgres"; readonly how: keyof typeof stops; readonly seconds: number }
  | { readonly kind: "end_sessions" }
  | { readonly kind: "slow_disk"; readonly pauses: ReadonlyArray<{ readonly slow: number; readonly fast: number }> }
  | { readonly kind: "flush_redis" }
  | { readonly kind: "kill_redis"; readonly seconds: number }
  | { readonly kind: "freeze_redis"; readonly seconds: number }
  | { readonly kind: "start_without_redis"; readonly slot: number; readonly seconds: number }

export type Kind = Fault["kind"]

export interface Planned {
  /** Seconds after the stage began. */
  readonly at: number
  readonly fault: Fault
}

export interface Stage {
  /** From 1. */
  readonly number: number
  readonly faults: ReadonlyArray<Planned>
}

/** What one fault is about. Two faults of one target follow each other; all others may overlap. */
export const targetsOf = (fault: Fault): ReadonlyArray<string> => {
  switch (fault.kind) {
    case "kill_postgres":
    case "restart_postgres":
    case "slow_disk":
      return ["postgres"]
    case "end_sessions":
      return []
    case "flush_redis":
    case "kill_redis":
    case "freeze_redis":
      return ["redis"]
    case "partition":
      return ["network"]
    case "start_without_redis":
      return ["redis", `process ${fault.slot}`]
    default:
      return [`process ${fault.slot}`]
  }
}

export const worded = (fault: Fault): string => {
  const { kind, ...more } = fault
  const words = Object.entries(more).map(([name, value]) =>
    typeof value === "object" ? `${value.length} ${name}` : `${name} ${value}`
  )
  return [kind, ...words].join(" ")
}

/** Mulberry32: small, and the same everywhere. */
export const randomOf = (seed: number) => {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
export type Random = ReturnType<typeof randomOf>

/** A seed for each purpose, so that one of them may draw more numbers without changing the others. */
export const seedOf = (seed: number, ...purpose: ReadonlyArray<string | number>): number =>
  Number(Bun.hash.crc32(`${seed}/${purpose.join("/")}`))

const between = (random: Random, low: number, high: number) => Math.round((low + (high - low) * random()) * 100) / 100
const oneOf = <A>(random: Random, first: A, ...others: ReadonlyArray<A>): A =>
  [first, ...others][Math.floor(random() * (others.length + 1))] ?? first
const slotOf = (random: Random) => Math.floor(random() * roles.length)

const hour = 3_600
const makers: Readonly<Record<Kind, (random: Random) => Fault>> = {
  kill: (random) => ({ kind: "kill", slot: slotOf(random) }),
  stop: (random) => ({ kind: "stop", slot: slotOf(random) }),
  freeze: (random) => ({ kind: "freeze", slot: slotOf(random), seconds: between(random, 1, 7) }),
  wrong_clock: (random) => ({
    kind: "wrong_clock",
    slot: slotOf(random),
    skew_seconds: oneOf(random, 2 * hour, -2 * hour, 26 * hour, 400, -400)
  }),
  partition: (random) => ({
    kind: "partition",
    slot: proxiedSlot,
    direction: oneOf<Direction>(random, "both", "up", "down"),
    seconds: between(random, 2, 7)
  }),
  kill_postgres: (random) => ({ kind: "kill_postgres", seconds: between(random, 0, 2) }),
  restart_postgres: (random) => ({
    kind: "restart_postgres",
    how: oneOf<keyof typeof stops>(random, "fast", "immediate"),
    seconds: between(random, 0, 1)
  }),
  end_sessions: () => ({ kind: "end_sessions" }),
  slow_disk: (random) => ({
    kind: "slow_disk",
    pauses: Array.from({ length: 3 + Math.floor(random() * 6) }, () => ({
      slow: between(random, 0.1, 1.5),
      fast: between(random, 0.05, 0.5)
    }))
  }),
  flush_redis: () => ({ kind: "flush_redis" }),
  kill_redis: (random) => ({ kind: "kill_redis", seconds: between(random, 0.2, 5) }),
  freeze_redis: (random) => ({ kind: "freeze_redis", seconds: between(random, 0.5, 4) }),
  start_without_redis: (random) => ({
    kind: "start_without_redis",
    slot: slotOf(random),
    seconds: between(random, 1, 4)
  })
}
const needsRedis: ReadonlyArray<Kind> = ["flush_redis", "kill_redis", "freeze_redis", "start_without_redis"]

export const kindsOf = (backend: Backend): ReadonlyArray<Kind> => {
  const kinds: ReadonlyArray<Kind> = [
    "kill",
    "stop",
    "freeze",
    "wrong_clock",
    "partition",
    "kill_postgres",
    "restart_postgres",
    "end_sessions",
    "slow_disk",
    ...needsRedis
  ]
  return backend === "redis" ? kinds : kinds.filter((kind) => !needsRedis.includes(kind))
}

/** All stages, one after the other, without end. */
export const stagesOf = function* (seed: number, backend: Backend): Generator<Stage> {
  const random = randomOf(seedOf(seed, backend, "faults"))
  let left: Array<Kind> = []
  const next = (): Fault => {
    if (left.length === 0) left = [...kindsOf(backend)]
    const [kind] = left.splice(Math.floor(random() * left.length), 1)
    return makers[kind ?? "kill"](random)
  }
  for (let number = 1; ; number++) {
    const faults: Array<Planned> = []
    const step = () => between(random, ...gapSeconds)
    for (let at = step(); at < stageSeconds - tailSeconds; at += step())
      faults.push({ at: Math.round(at * 100) / 100, fault: next() })
    yield { number, faults }
  }
}
