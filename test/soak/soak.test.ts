/** The schedule of a soak follows from its seed, and wrong flags are explained. The soak itself is T68 and `npm run soak`. */
import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { type Flags, flagsOf } from "./flags.ts"
import { hostileBy, hostileShare } from "./hostility.ts"
import { kindsOf, proxiedSlot, roles, type Stage, stageSeconds, stagesOf, targetsOf } from "./plan.ts"

const first = (count: number, seed: number, backend: "postgres" | "redis"): ReadonlyArray<Stage> => {
  const stages: Array<Stage> = []
  for (const stage of stagesOf(seed, backend)) if (stages.push(stage) === count) break
  return stages
}

describe("the schedule", () => {
  test("is the same for the same seed, and another for another seed or backend", () => {
    expect(first(20, 7, "redis")).toEqual(first(20, 7, "redis"))
    expect(first(3, 7, "redis")).toEqual(first(20, 7, "redis").slice(0, 3))
    expect(first(3, 7, "redis")).not.toEqual(first(3, 8, "redis"))
    expect(first(1, 7, "redis")[0]?.faults[0]).not.toEqual(first(1, 7, "postgres")[0]?.faults[0])
  })

  test.each(["postgres", "redis"] as const)(
    "on %s it has every kind of fault, in time, at processes that exist",
    (backend) => {
      for (let seed = 0; seed < 50; seed++) {
        const stages = first(4, seed, backend)
        const faults = stages.flatMap((stage) => stage.faults)
        expect(new Set(faults.map(({ fault }) => fault.kind))).toEqual(new Set(kindsOf(backend)))
        for (const { at, fault } of faults) {
          expect(at).toBeGreaterThan(0)
          expect(at).toBeLessThan(stageSeconds)
          if ("slot" in fault) expect(roles[fault.slot]).toBeDefined()
          // Only this process reaches its servers through proxies.
          if (fault.kind === "partition") expect(fault.slot).toBe(proxiedSlot)
          if (fault.kind !== "end_sessions") expect(targetsOf(fault)).not.toEqual([])
        }
      }
    }
  )
})

test("providers are hostile to the same keys for the same seed", () => {
  const keys = Array.from({ length: 4_000 }, (_, number) => `k${number}`)
  const hostileKeys = (seed: number) => {
    const disturb = hostileBy(seed, () => {})
    return keys.filter((key) => disturb({ key, provider: "leadmagic" }) !== null)
  }
  expect(hostileKeys(7)).toEqual(hostileKeys(7))
  expect(hostileKeys(7)).not.toEqual(hostileKeys(8))
  expect(Math.abs(hostileKeys(7).length / keys.length - hostileShare)).toBeLessThan(0.02)
})

describe("flags", () => {
  test("are read, with and without an equals sign", () => {
    const expected: Flags = { minutes: 60, seed: 7, backend: "redis", stage: 3, schemas: 1 }
    expect(flagsOf(["--minutes", "60", "--seed", "7", "--backend", "redis", "--stage", "3"])).toEqual({
      ...expected
    } as never)
    expect(flagsOf(["--minutes=60", "--seed=7", "--backend=redis", "--stage=3"])).toEqual(expected)
    expect(flagsOf(["--seed", "7"])).toEqual({ minutes: 10, seed: 7, backend: null, stage: null, schemas: 1 })
    expect(flagsOf(["--schemas", "2"])).toMatchObject({ schemas: 2 })
    expect(flagsOf(["--help"])).toBeNull()
  })

  test.each([
    [["--minuts", "3"], /^unknown argument --minuts\. Did you mean --minutes\?/],
    [["--minutes"], /^--minutes needs a value, such as --minutes 7\.$/],
    [["--minutes", "1"], /^--minutes must be a whole number from 2 to \d+, not 1\.$/],
    [["--minutes", "1.5"], /^--minutes must be a whole number/],
    [["--seed", "-1"], /^--seed must be a whole number from 0/],
    [["--seed", "1", "--seed", "2"], /^--seed is given twice\.$/],
    [["--backend", "mysql"], /^--backend must be redis or postgres, not mysql\.$/],
    [["--stage", "0"], /^--stage must be a whole number from 1/],
    [["--schemas", "3"], /^--schemas must be a whole number from 1 to 2, not 3\.$/],
    [["7"], /^unknown argument 7\./]
  ])("%p: one sentence", (words, sentence) => {
    expect(flagsOf(words)).toMatch(sentence)
  })

  test("wrong ones end the command with exit code 2 before anything starts", () => {
    const { exitCode, stdout, stderr } = Bun.spawnSync([
      process.execPath,
      join(import.meta.dir, "run.ts"),
      "--minutes",
      "0"
    ])
    expect([exitCode, String(stdout)]).toEqual([2, ""])
    expect(String(stderr)).toMatch(/^soak: --minutes must be .+ See npm run soak -- --help\n$/)
  })
})
