/** `rungate` as an installed package has it, and as one compiled file: both work, and obey nothing that the folder holds where one stands. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type App, startApp, type Tenant } from "../app.ts"
import { compiledCommand } from "../command.ts"

const root = join(import.meta.dir, "..", "..")
const folder = mkdtempSync(join(tmpdir(), "rungate-compile-"))
let app: App
let org: Tenant
beforeAll(async () => {
  app = await startApp()
  org = await app.tenant()
}, 30_000)
afterAll(async () => {
  await app.stop()
  rmSync(folder, { recursive: true, force: true })
})

const spawned = async (command: ReadonlyArray<string>, environment: Readonly<Record<string, string>> = {}) => {
  const child = Bun.spawn([...command], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, ...environment },
    stdout: "pipe",
    stderr: "pipe"
  })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited
  ])
  return { out, err, code }
}

/** A folder that somebody else filled. */
const trap = () => {
  writeFileSync(join(folder, ".env"), "RUNGATE_URL=http://127.0.0.1:1\n")
  writeFileSync(join(folder, "bunfig.toml"), 'preload = ["./run.ts"]\n')
  writeFileSync(join(folder, "run.ts"), 'console.log("code of the folder")\n')
  const paths = { effect: ["./run.ts"], "effect/*": ["./run.ts"] }
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: { baseUrl: ".", paths } }))
  mkdirSync(join(folder, "node_modules", "effect"), { recursive: true })
}

test("one compiled file: starts, finds, and says what it can't", async () => {
  trap()
  const file = await compiledCommand()
  const address = { RUNGATE_URL: app.url, RUNGATE_API_KEY: org.key }
  const [version, found, wallet, away, serve] = await Promise.all([
    spawned([file, "--version"]),
    spawned([file, "discover", "work", "email"], address),
    spawned([file, "wallet"], address),
    spawned([file, "doctor"], { RUNGATE_API_KEY: org.key }),
    spawned([file, "serve"])
  ])
  expect([version.code, version.out]).toEqual([0, expect.stringMatching(/^rungate v\d/)])
  expect(JSON.parse(found.out).items[0].capability).toBe("email.find")
  expect(wallet.out).toBe(`${(await org.get("/v1/wallet")).text}\n`)
  expect(away.out).not.toMatch(/127\.0\.0\.1:1\b|code of the folder/)
  expect([serve.code, serve.err]).toEqual([1, expect.stringMatching(/^rungate: .*npm start\)\.\n$/)])
}, 60_000)

test("the package's command obeys neither .env nor bunfig.toml of the folder", async () => {
  trap()
  const command = ["node", join(root, "scripts", "rungate.mjs")]
  const [here, away] = await Promise.all([
    spawned([...command, "wallet"], { RUNGATE_URL: app.url, RUNGATE_API_KEY: org.key }),
    spawned([...command, "doctor"], { RUNGATE_API_KEY: org.key })
  ])
  expect([here.code, here.out]).toEqual([0, `${(await org.get("/v1/wallet")).text}\n`])
  expect(away.out).not.toMatch(/127\.0\.0\.1:1\b|code of the folder/)
}, 30_000)
