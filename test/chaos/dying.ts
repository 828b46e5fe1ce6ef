/** Requests of runs while one of two processes dies: clients ask both, and the survivor once more for everything afterwards. */
import { expect } from "bun:test"
import { type Service, until } from "./processes.ts"
import { leaseSeconds, type World } from "./world.ts"

export const clients = 4

/** A file's points, and the prefix of their keys. */
export const prefixOf = (point: string) => `${point.replace(".", "-")}-`

interface Dying {
  readonly world: World
  readonly survivor: Service
  /** Where the other process dies at the third pass. */
  readonly point: string
  /** A process that is not dead by then was never at the point. */
  readonly roundsMax: number
  /** The run of a key: `<prefix><round>-<client>`. The wait is added. */
  readonly bodyOf: (key: string) => object
}

/** Returns the keys when all runs have ended. The clients of a round ask at the same time. */
export const askWhileOneDies = async ({ world, survivor, point, roundsMax, bodyOf }: Dying) => {
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
  for (let round = 0; doomed.alive() && round < roundsMax; round++) {
    const latest = Array.from({ length: clients }, (_, client) => `${prefixOf(point)}${round}-${client}`)
    keys.push(...latest)
    await Promise.all(latest.map((key, client) => ask(client % 2 === 0 ? doomed : survivor, key)))
  }
  await until(`death at ${point}`, 5_000, () => !doomed.alive())
  expect((await doomed.ended).signal).toBe("SIGKILL")
  for (const key of keys) await ask(survivor, key)
  await world.settled(leaseSeconds + 25)
  return keys
}
