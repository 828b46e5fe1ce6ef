/** Whom the audit log names when somebody runs `rungate admin` on the server. */
import { expect, test } from "bun:test"
import { join } from "node:path"

const output = join(import.meta.dir, "../../../src/http/operator/database.ts")
const script = `
const { Effect } = await import("effect")
const { operator } = await import(${JSON.stringify(output)})
console.log((await Effect.runPromise(operator)).name)`

const nameWith = (env: Record<string, string>) =>
  Bun.spawnSync([process.execPath, "-e", script], { env: { PATH: process.env["PATH"] ?? "", ...env } })
    .stdout.toString()
    .trim()

test("an operator is called by the user's name, without the variable USER too, as after `docker exec`", () => {
  const { stdout } = Bun.spawnSync(["id", "-un"])
  expect(nameWith({})).toBe(stdout.toString().trim())
  expect(nameWith({ USER: "grace" })).toBe("grace")
})
