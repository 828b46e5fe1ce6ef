/** The tiers of the tests (scripts/tiers.ts) are what they say: `npm test` stays short, and no test is forgotten in the order of the files. */
import { describe, expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { chaosDue, tierOf } from "../scripts/tiers.ts"

const root = join(import.meta.dir, "..")
const files = Array.from(new Bun.Glob("test/**/*.test.{ts,tsx}").scanSync(root))
const timings = readFileSync(join(root, "test", "timings.json"), "utf8")
const millis: Readonly<Record<string, number>> = JSON.parse(timings).files

/** Longer ones would wait for each other at the end of a run. Move such a file to test/slow, or divide it. */
const fastMillisMax = 13_000
/** Of all files of the fast tier, in three processes on two quiet cores: they wait for each other, and 400 s together take about two minutes. */
const fastMillisSumMax = 400_000

describe("test/timings.json", () => {
  test("knows every test file, so that the longest start first: npm test -- <file> --update-timings", () => {
    expect(files.filter((file) => ["fast", "slow"].includes(tierOf(file)) && millis[file] === undefined)).toEqual([])
  })

  test("has no file twice, of which JSON keeps the last time", () => {
    expect([...timings.matchAll(/"(test\/[^"]+)":/g)].map(([, file]) => file)).toEqual(Object.keys(millis))
  })

  test("knows no file that is gone", () => {
    expect(Object.keys(millis).filter((file) => !existsSync(join(root, file)))).toEqual([])
  })

  test("has only short files in the fast tier, and little in all", () => {
    const fast = files.filter((file) => tierOf(file) === "fast").map((file) => ({ file, took: millis[file] ?? 0 }))
    expect(fast.filter(({ took }) => took > fastMillisMax)).toEqual([])
    expect(fast.reduce((sum, { took }) => sum + took, 0)).toBeLessThan(fastMillisSumMax)
  })
})

describe("the files of chaos that are due", () => {
  const chaos = files.filter((file) => tierOf(file) === "chaos").toSorted()

  test("are all but the soak within two days, and one of those that start many servers each day", () => {
    for (const seed of [20_780, 20_781]) {
      const days = [chaosDue(chaos, seed), chaosDue(chaos, seed + 1)]
      expect([...new Set(days.flat())].toSorted()).toEqual(chaos.filter((file) => !file.endsWith("/soak.test.ts")))
      // Also after another file has come between them.
      const more = [...chaos, "test/chaos/q.test.ts"].toSorted()
      for (const day of [...days, chaosDue(more, seed), chaosDue(more, seed + 1)])
        expect(day.filter((file) => /\/(patroni|sentinel)\./.test(file)).length).toBe(1)
    }
  })
})
