import { expect, test } from "bun:test"
import { join } from "node:path"

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
