/** Clients of one world that keep asking while a test breaks something, and ask again afterwards. */
import { type Service, until } from "./processes.ts"
import type { Asked, World } from "./world.ts"

/** Clients that keep asking, over one process and another, until `done`. Answers how long each answered request took. */
export const load = (world: World, services: ReadonlyArray<Service>, clients: number, done: () => boolean) => {
  const millis: Array<number> = []
  const runs: Array<Asked> = []
  let refused = 0
  const client = async (number: number) => {
    for (let turn = number; !done(); turn++) {
      const service = services[turn % services.length]
      if (service === undefined) return
      const asked = turn % 4 === 0 ? world.send("Hit") : turn % 4 === 1 ? world.find("Miss") : world.find("Wait50")
      runs.push(asked)
      const began = performance.now()
      const told = await world.submit(service, asked, 1, 8_000)
      if (told === null) {
        refused += 1
        // A client that was refused backs off before it asks again.
        await Bun.sleep(50)
      } else millis.push(performance.now() - began)
    }
  }
  const finished = Promise.all(Array.from({ length: clients }, (_, number) => client(number)))
  return { runs, millis, finished, refused: () => refused }
}

/** Every run once more by its key: what was acknowledged is replayed, the rest is admitted now. */
export const retryAll = async (world: World, service: Service, runs: ReadonlyArray<Asked>) => {
  for (const asked of runs) {
    await until(`an answer for ${asked.key}`, 20_000, async () => (await world.submit(service, asked)) ?? undefined)
  }
}

/** A client that was refused waits so long before it asks again. */
const againMillis = 200

/** Clients that repeat each run with its key until it is answered. Answers when each answered run was asked for first, and when it was answered. */
export const persistentLoad = (
  world: World,
  services: ReadonlyArray<Service>,
  clients: number,
  done: () => boolean
) => {
  const answers: Array<{ readonly began: number; readonly at: number }> = []
  const client = async (number: number) => {
    for (let turn = number; !done(); turn++) {
      const asked = turn % 4 === 0 ? world.send("Hit") : turn % 4 === 1 ? world.find("Miss") : world.find("Wait50")
      const began = performance.now()
      await until(`an answer for ${asked.key}`, 90_000, async () => {
        const service = services[turn % services.length]
        const told = service === undefined ? null : await world.submit(service, asked, 1, 8_000)
        if (told === null) await Bun.sleep(againMillis)
        return told !== null
      })
      answers.push({ began, at: performance.now() })
    }
  }
  const finished = Promise.all(Array.from({ length: clients }, (_, number) => client(number)))
  return { answers, finished }
}
