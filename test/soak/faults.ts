/**
 * Does what a planned fault says, and undoes it. What a fault breaks is whole again when it returns, or the next stage could not be checked.
 */
import { Redis } from "ioredis"
import { bent, canBend } from "../chaos/clock.ts"
import { until } from "../chaos/processes.ts"
import { type Server, stops } from "../chaos/servers.ts"
import type { Installation } from "./installation.ts"
import type { Fault } from "./plan.ts"
import type { Slots } from "./slots.ts"

export interface Stand {
  readonly postgres: Server
  readonly redis: Server | undefined
  /** At least one. The slots of the schedule are theirs in turn. */
  readonly installations: readonly [Installation, ...ReadonlyArray<Installation>]
}

interface Place {
  readonly slots: Slots
  readonly slot: number
}
const placeOf = ({ installations }: Stand, slot: number): Place => {
  const { length } = installations
  return { slots: (installations[slot % length] ?? installations[0]).slots, slot: Math.floor(slot / length) }
}

/** A busy machine takes long to start a process, and PostgreSQL may be away meanwhile. */
const waitMillisMax = 120_000

const sleep = (seconds: number) => Bun.sleep(seconds * 1_000)

/**
 * A disk that is slow to write: every commit waits, and reads go on. Without the rights of root no disk can be slowed down, so PostgreSQL
 * waits for a standby that does not exist, which holds a commit at the same point as a slow flush of its log.
 */
const slowCommits = async ({ installations: [{ world }] }: Stand, slow: boolean) => {
  const setting = slow ? "SET synchronous_standby_names = 'nobody'" : "RESET synchronous_standby_names"
  await world.query(`ALTER SYSTEM ${setting}`)
  await world.query("SELECT pg_reload_conf()")
}
const fastCommits = (stand: Stand) =>
  until("a PostgreSQL whose commits are fast again", 60_000, () =>
    slowCommits(stand, false).then(
      () => true,
      () => Bun.sleep(200).then(() => false)
    )
  )

const slowDisk = async (stand: Stand, pauses: ReadonlyArray<{ readonly slow: number; readonly fast: number }>) => {
  for (const { slow, fast } of pauses) {
    await slowCommits(stand, true)
    await sleep(slow)
    await slowCommits(stand, false)
    await sleep(fast)
  }
}

const withRedis = async ({ redis }: Stand, use: (redis: Server) => Promise<void>) => {
  if (redis !== undefined) await use(redis)
}

const killRedis = (stand: Stand, during: () => Promise<void>) =>
  withRedis(stand, async (redis) => {
    await redis.end("SIGKILL")
    try {
      await during()
    } finally {
      await redis.start()
    }
  })

export const inflict = async (stand: Stand, fault: Fault): Promise<void> => {
  const { postgres, installations } = stand
  const { slots, slot } = placeOf(stand, "slot" in fault ? fault.slot : 0)
  const proxies = installations.flatMap((one) => one.proxies)
  switch (fault.kind) {
    case "kill":
      await slots.kill(slot)
      return slots.start(slot)
    case "stop":
      await slots.stop(slot)
      return slots.start(slot)
    case "freeze": {
      const service = slots.current[slot]
      service?.signal("SIGSTOP")
      await sleep(fault.seconds)
      service?.signal("SIGCONT")
      return
    }
    case "wrong_clock":
      await slots.kill(slot)
      return slots.start(slot, canBend ? bent(fault.skew_seconds) : {})
    case "partition":
      for (const proxy of proxies) proxy.silence(fault.direction)
      await sleep(fault.seconds)
      for (const proxy of proxies) proxy.heal()
      return
    case "kill_postgres":
      await postgres.end("SIGKILL")
      await sleep(fault.seconds)
      return postgres.start()
    case "restart_postgres":
      await postgres.end(stops[fault.how])
      await sleep(fault.seconds)
      return postgres.start()
    case "end_sessions":
      await installations[0].world
        .query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'rungate'")
        .catch(() => {})
      return
    case "slow_disk":
      await slowDisk(stand, fault.pauses).catch(() => {})
      await fastCommits(stand)
      return
    case "flush_redis":
      return withRedis(stand, async ({ url }) => {
        const client = new Redis(url)
        await client.flushall()
        client.disconnect()
      })
    case "kill_redis":
      return killRedis(stand, () => sleep(fault.seconds))
    case "freeze_redis":
      return withRedis(stand, async (redis) => {
        redis.signal("SIGSTOP")
        await sleep(fault.seconds)
        redis.signal("SIGCONT")
      })
    case "start_without_redis": {
      let started: Promise<void> | undefined
      await killRedis(stand, async () => {
        await slots.kill(slot)
        slots.output[slot] = () => ""
        started = slots.start(slot)
        const waits = () => slots.output[slot]?.().includes("Waiting for Redis")
        await until("a start that waits for Redis", waitMillisMax, () => waits() || slots.failed)
        await sleep(fault.seconds)
      })
      return started
    }
  }
}
