import { expect, test } from "bun:test"
import { Deadlines, type Due } from "../../src/actors/mailbox/Deadlines.ts"

const setOf = (now: () => number) => {
  const called: Array<number> = []
  const deadlines = new Deadlines(now)
  const entry = (deadline: number): Due => {
    const one: Due = {
      deadline,
      position: -1,
      due: () => {
        expect(one.position).toBe(-1)
        called.push(deadline)
      }
    }
    return one
  }
  return { called, deadlines, entry }
}

/** Deterministic numbers below `most`. */
const numbers = (seed: number) => {
  let state = seed
  return (most: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return state % most
  }
}

test("deadlines that have passed are called in their order, and removed ones are not", async () => {
  let now = 0
  const { called, deadlines, entry } = setOf(() => now)
  const below = numbers(7)
  const entries = Array.from({ length: 1_000 }, () => entry(1 + below(500)))
  for (const one of entries) deadlines.add(one)
  const gone = new Set(entries.filter(() => below(3) === 0))
  for (const one of gone) deadlines.remove(one)
  for (const one of gone) deadlines.remove(one)
  expect(deadlines.size).toBe(1_000 - gone.size)
  const expected = entries.flatMap((one) => (gone.has(one) ? [] : [one.deadline])).sort((a, b) => a - b)
  // The first timer fires now and finds all of them due.
  now = 1_000
  await new Promise<void>((resolve) => deadlines.add({ ...entry(0), deadline: 1_001, due: () => resolve() }))
  expect(called).toEqual(expected)
  expect(deadlines.size).toBe(0)
})

test("an earlier deadline that is added later comes first", async () => {
  const { called, deadlines, entry } = setOf(() => performance.now())
  const base = performance.now()
  const ended = Promise.withResolvers<void>()
  deadlines.add({ ...entry(0), deadline: base + 40, due: () => ended.resolve() })
  deadlines.add(entry(base + 20))
  deadlines.add(entry(base + 10))
  await ended.promise
  expect(called).toEqual([base + 10, base + 20])
})

test("after close nothing is called", async () => {
  const { called, deadlines, entry } = setOf(() => performance.now())
  deadlines.add(entry(performance.now() + 1))
  deadlines.close()
  await Bun.sleep(20)
  expect([called, deadlines.size]).toEqual([[], 0])
})
