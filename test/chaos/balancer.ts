/**
 * A load balancer as operators have it: every tenth of a second it asks each process whether it is ready, and sends requests to those only.
 * Its clients send runs without a pause, and note what failed.
 */
import { type Service, until } from "./processes.ts"
import type { World } from "./world.ts"

const pollMillis = 100
const clientsCount = 6

interface Look {
  readonly service: Service
  readonly status: number | "refused"
  readonly at: number
}

/** Knows who is ready, as far as its last look goes. */
const balancer = (members: () => ReadonlyArray<Service>) => {
  const ready = new Set<Service>()
  const looks: Array<Look> = []
  let over = false
  const look = async (service: Service) => {
    const answer = await fetch(`${service.url}/readyz`, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined)
    if (answer?.status === 200) ready.add(service)
    else ready.delete(service)
    looks.push({ service, status: answer?.status ?? "refused", at: performance.now() })
  }
  const watching = (async () => {
    while (!over) {
      await Promise.all(members().map(look))
      await Bun.sleep(pollMillis)
    }
  })()
  let turn = 0
  return {
    looks,
    choose: () => [...ready][turn++ % ready.size],
    stop: async () => {
      over = true
      await watching
    }
  }
}

/** Clients of the balancer. One in four sends a mail, and of the rest a third waits for a slow provider. */
export const loadOf = (world: World, members: () => ReadonlyArray<Service>) => {
  const front = balancer(members)
  let over = false
  const millis: Array<number> = []
  const failures: Array<string> = []
  const answers = new Map<Service, number>()
  const client = async (number: number) => {
    for (let turn = number; !over; turn++) {
      const service = front.choose()
      if (service === undefined) {
        await Bun.sleep(20)
        continue
      }
      const asked = turn % 4 === 0 ? world.send("Hit") : world.find(turn % 3 === 0 ? "Wait400" : "Hit")
      const began = performance.now()
      const told = await world.submit(service, asked, 10)
      millis.push(performance.now() - began)
      if (told === null) failures.push(world.refusals.at(-1) ?? "?")
      answers.set(service, (answers.get(service) ?? 0) + 1)
    }
  }
  const clients = Promise.all(Array.from({ length: clientsCount }, (_, number) => client(number)))
  const answered = (service: Service) => answers.get(service) ?? 0
  return {
    looks: front.looks,
    millis,
    failures,
    /** Requests that this process has answered. */
    answered,
    total: () => millis.length,
    /** Waits until this process has answered so many more requests. */
    more: async (service: Service, count: number) => {
      const wanted = answered(service) + count
      await until(`${count} more answers of process ${service.pid}`, 30_000, () => answered(service) >= wanted)
    },
    stop: async () => {
      over = true
      await clients
      await front.stop()
    }
  }
}
