/** Requests of runs while one of two processes dies: clients ask both, and the survivor once more for everything afterwards. */
import { expect } from "bun:test"
import { slowness } from "../kit/slowness.ts"
import type { Service } from "./processes.ts"
import { leaseSeconds, type World } from "./world.ts"

export const clients = 4
/** The survivor may keep the lane while requests follow each other. So after some rounds they pause for longer than that. */
const roundsInARow = 40
const pauseMillis = 300
/** A process that is not dead by then was never at the point. */
const roundsMillisMax = 60_000 * slowness

/** Clients ask again and again until a process is dead, which must be killed at the point. `ask` gets the number of its client's round. */
export const askUntilDeath = async (
  doomed: Service,
  point: string,
  count: number,
  ask: (round: number) => Promise<unknown>
) => {
  const end = performance.now() + roundsMillisMax
  const client = async () => {
    for (let round = 0; doomed.alive(); round++) {
      if (performance.now() > end) throw new Error(`no death at ${point} in ${round} rounds`)
      if (round >= roundsInARow) await Bun.sleep(pauseMillis)
      await ask(round)
    }
  }
  await Promise.all(Array.from({ length: count }, client))
  expect((await doomed.ended).signal).toBe("SIGKILL")
}

/** A file's points, and the prefix of their keys. */
export const prefixOf = (point: string) => `${point.replace(".", "-")}-`

interface Dying {
  readonly world: World
  readonly survivor: Service
  /** Where the other process dies at the third pass. */
  readonly point: string
  /** The run of a key: `<prefix><round>-<client>`. The wait is added. */
  readonly bodyOf: (key: string) => object
}

/** Returns the keys when all runs have ended. The clients of a round ask at the same time. */
export const askWhileOneDies = async ({ world, survivor, point, bodyOf }: Dying) => {
  const [customer] = world.customers
  if (customer === undefined) throw new Error("open the accounts first")
  const ask = async ({ url }: Service, key: string) => {
    const headers = { authorization: `Bearer ${customer.token}`, "content-type": "application/json" }
    const response = await fetch(`${url}/v1/run`, {
      method: "POST",
      headers: { ...headers, "idempotency-key": key },
      body: JSON.stringify({ ...bodyOf(key), wait_seconds: 2 }),
      signal: AbortSignal.timeout(30_000)
    }).catch(() => null)
    await response?.text().catch(() => "")
  }
  const doomed = await world.start("all", { RUNGATE_CRASH_AT: `${point}:3` })
  const keys: Array<string> = []
  await askUntilDeath(doomed, point, 1, async (round) => {
    const latest = Array.from({ length: clients }, (_, client) => `${prefixOf(point)}${round}-${client}`)
    keys.push(...latest)
    await Promise.all(latest.map((key, client) => ask(client % 2 === 0 ? doomed : survivor, key)))
  })
  for (const key of keys) await ask(survivor, key)
  await world.settled(leaseSeconds + 25)
  return keys
}
