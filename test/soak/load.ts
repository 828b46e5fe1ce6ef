/**
 * The customers of a soak: they find and send e-mails, with labels and conditions (people.ts), wait or not, cancel, and ask again by the same key what was not answered.
 *
 * What a client asks for follows from the seed. How much it asks for follows from how fast it is answered.
 */
import { until } from "../chaos/processes.ts"
import type { Asked, World } from "../chaos/world.ts"
import type { People } from "./people.ts"
import { type Random, randomOf, seedOf } from "./plan.ts"
import type { Slots, Tell } from "./slots.ts"

const clientsCount = 4
const answerMillisMax = 8_000
/** Between two calls of a client, so that the faults meet a service that works and not only one that is late. */
const pauseMillisMax = 60
/** Runs that were acknowledged are asked for again by their key, as many of each stage. */
const replaysMax = 200
const replayMillisMax = 120_000

export interface Load {
  readonly asked: ReadonlySet<Asked>
  readonly counts: { refused: number; cancelled: number; replayed: number }
  readonly stop: () => Promise<void>
}

const next = (world: World, people: People, random: Random): Asked => {
  const kind = random()
  const sends = kind < 0.2
  const more = people.more(random, !sends)
  if (sends) return world.send("Hit", more, people.optOuts.recipient(random))
  if (kind < 0.32) return world.find("Miss", more)
  return world.find(kind < 0.6 ? "Wait300" : kind < 0.65 ? "Wait2500" : "Hit", more)
}

export const startLoad = (world: World, slots: Slots, people: People, seed: number, violate: Tell): Load => {
  const asked = new Set<Asked>()
  const counts = { refused: 0, cancelled: 0, replayed: 0 }
  let over = false
  const client = async (number: number) => {
    const random = randomOf(seedOf(seed, "client", number))
    let one: Asked | undefined
    while (!over) {
      await Bun.sleep(pauseMillisMax * random())
      // Now and then the same key again, whether or not it got an answer.
      one = random() < 0.1 && one !== undefined ? one : next(world, people, random)
      const [choice, cancels, wait] = [random(), random() < 0.15, random() < 0.2 ? 3 : 1]
      const fronts = slots.fronts()
      const service = fronts[Math.floor(choice * fronts.length)]
      asked.add(one)
      // All processes with an address are down: the key is asked for at the end of the stage.
      if (service === undefined) {
        while (!over && slots.fronts().length === 0) await Bun.sleep(200)
        continue
      }
      const told = await world.submit(service, one, cancels ? 0 : wait, answerMillisMax)
      if (told === null) {
        counts.refused += 1
        await Bun.sleep(100)
      } else if (told.replayed) counts.replayed += 1
      if (told !== null && cancels && (await world.cancel(service, one, told.run_id))) counts.cancelled += 1
    }
  }
  const guarded = (number: number) => client(number).catch((error) => violate(String(error)))
  const clients = Promise.all(Array.from({ length: clientsCount }, (_, number) => guarded(number)))
  return {
    asked,
    counts,
    stop: async () => {
      over = true
      await clients
    }
  }
}

/** Every key that got no answer, and many that did, once more: an acknowledged run is named again, the others are admitted now. */
export const replay = async (world: World, slots: Slots, asked: ReadonlySet<Asked>): Promise<void> => {
  const all = [...asked]
  const known = all.filter(({ key }) => world.acknowledged.has(key))
  const step = Math.max(1, Math.ceil(known.length / replaysMax))
  const left = [...all.filter(({ key }) => !world.acknowledged.has(key)), ...known.filter((_, at) => at % step === 0)]
  const again = async (one: Asked) =>
    until(`an answer for ${one.key}`, replayMillisMax, async () => {
      const service = slots.fronts()[0]
      if (service === undefined) return false
      const told = await world.submit(service, one)
      // A key that nothing was promised for may be refused while breakers leave every offer alone.
      return (
        told !== null ||
        (!world.acknowledged.has(one.key) && /"provider_not_available"/.test(world.refusals.at(-1) ?? ""))
      )
    })
  await Promise.all(
    Array.from({ length: clientsCount }, async () => {
      for (let one = left.pop(); one !== undefined; one = left.pop()) await again(one)
    })
  )
}
