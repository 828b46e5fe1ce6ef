import { expect, test } from "bun:test"
import { join } from "node:path"
import { slowness, slownessOf, testMillis, untilSeconds } from "./kit/slowness.ts"

test("a developer's settings reach no test", () => {
  const child = Bun.spawnSync([process.execPath, "test", "./test/preload.test.ts", "-t", "what a test sees"], {
    cwd: join(import.meta.dir, ".."),
    env: { ...process.env, RUNGATE_MODE: "production", DATABASE_URL: "postgres://nowhere", STRIPE_SECRET_KEY: "sk_1" }
  })
  expect([child.exitCode, child.stderr.toString()]).toEqual([0, expect.stringContaining("1 pass")])
})

test("what a test sees", () => {
  const { RUNGATE_MODE, DATABASE_URL, STRIPE_SECRET_KEY } = process.env
  expect([RUNGATE_MODE, DATABASE_URL, STRIPE_SECRET_KEY]).toEqual([undefined, undefined, undefined])
})

test("time limits grow on a slow machine, all alike", () => {
  const slow = (given: string | undefined, measured: number) => slownessOf(given, () => measured)
  expect([0.4, 1, 2.5, 400].map((measured) => slow(undefined, measured))).toEqual([1, 1, 2.5, 4])
  expect([slow("1", 3), slow("8", 1)]).toEqual([1, 8])
  for (const wrong of ["", "0", "-1", "soon", "NaN", "1e9"])
    expect(() => slow(wrong, 1)).toThrow("TEST_SLOWNESS must be")
  expect(process.env["TEST_SLOWNESS"]).toBe(String(slowness))
  expect(untilSeconds * slowness * 1_000).toBeLessThan(testMillis)
  const child = Bun.spawnSync(
    [process.execPath, "-e", 'console.log((await import("./test/kit/slowness.ts")).testMillis)'],
    {
      cwd: join(import.meta.dir, ".."),
      env: { ...process.env, TEST_SLOWNESS: "8" }
    }
  )
  expect(child.stdout.toString().trim()).toBe("1440000")
})
