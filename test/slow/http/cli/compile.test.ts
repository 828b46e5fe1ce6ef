/** `rungate` as an installed package has it, and as one compiled file: both work, and obey nothing that the folder holds where one stands. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { type Tenant, withApp } from "../../../kit/app.ts"
import { compiledCommand } from "../../../kit/compiled-command.ts"
import { dueToday } from "../../../kit/input-samples.ts"
import { preparedDatabase } from "../../../kit/postgres.ts"

const root = join(import.meta.dir, "..", "..", "..", "..")
const folder = mkdtempSync(join(tmpdir(), "rungate-compile-"))
const checkout = mkdtempSync(join(tmpdir(), "rungate-checkout-"))
let org: Tenant
const app = withApp()
beforeAll(async () => {
  org = await app.tenant()
})
afterAll(async () => {
  for (const path of [folder, checkout]) rmSync(path, { recursive: true, force: true })
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
  expect([serve.code, serve.err]).toEqual([1, expect.stringMatching(/^rungate: .*npm start or npx rungate\)\.\n$/)])
})

/** Starts the service without Node and stops it again: from the shell script and the file that is there, it finds the package's other files. */
const servedBy = async (command: ReadonlyArray<string>, file: string) => {
  const made = statSync(file).mtimeMs
  const child = Bun.spawn([...command, "serve"], {
    cwd: folder,
    env: { PATH: `${folder}:/usr/bin:/bin`, HOME: folder, PORT: "0", DATABASE_URL: await preparedDatabase() },
    stdout: "pipe",
    stderr: "inherit"
  })
  let out = ""
  for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) {
    out += part
    if (out.includes("Try:")) break
  }
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(out)?.[0] ?? ""
  const found: { items: ReadonlyArray<{ provider?: string }> } = await fetch(`${url}/v1/discover`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query: "exa search", kind: "endpoint", limit: 1 })
  }).then((response) => response.json())
  child.kill("SIGTERM")
  const exit = await child.exited
  expect(statSync(file).mtimeMs).toBe(made)
  return { endpoint: found.items[0]?.provider, exit }
}

test.if(dueToday(2))(
  "the package's command starts from one file, made anew when the sources change, and obeys nothing of the folder",
  async () => {
    trap()
    for (const name of ["src", "scripts", "docs", "package.json", "package-lock.json", "tsconfig.json"]) {
      cpSync(join(root, name), join(checkout, name), { recursive: true, preserveTimestamps: true })
    }
    symlinkSync(join(root, "node_modules"), join(checkout, "node_modules"))
    symlinkSync(join("..", "..", basename(checkout), "scripts", "rungate"), join(folder, "node_modules", "rungate"))
    const command = join(folder, "node_modules", "rungate")
    const file = join(checkout, "dist", "cli", "rungate.js")
    const address = { RUNGATE_URL: app.url, RUNGATE_API_KEY: org.key }
    const first = await spawned([command, "wallet"], address)
    expect([first.code, first.out]).toEqual([0, `${(await org.get("/v1/wallet")).text}\n`])
    const made = statSync(file).mtimeMs
    // Without Node: nothing but a shell's own tools and the file.
    const nodeless = join(folder, "node")
    writeFileSync(nodeless, "#!/bin/sh\necho node was started >&2; exit 99\n", { mode: 0o755 })
    const operatorFile = join(checkout, "dist", "service", "rungate.js")
    const [second, away, operates] = await Promise.all([
      spawned([command, "wallet"], { ...address, PATH: `${folder}:/usr/bin:/bin` }),
      spawned([command, "doctor"], { RUNGATE_API_KEY: org.key }),
      spawned([command, "--no-color", "audit", "--processor-days", "-1"])
    ])
    expect([second.code, second.out, second.err]).toEqual([0, first.out, ""])
    expect(away.out).not.toMatch(/127\.0\.0\.1:1\b|code of the folder/)
    expect([operates.code, operates.err]).toEqual([5, expect.stringContaining("--processor-days")])
    expect(statSync(file).mtimeMs).toBe(made)
    expect(await servedBy([command], operatorFile)).toEqual({ endpoint: "exa", exit: 0 })
    const manifest = join(checkout, "package.json")
    writeFileSync(manifest, readFileSync(manifest, "utf8").replace(/"version": "[^"]+"/, '"version": "9.9.9"'))
    const changed = await spawned([command, "--version"])
    expect([changed.out, statSync(file).mtimeMs > made]).toEqual(["rungate v9.9.9\n", true])
    // Where it can't be made, the sources run, and say what is wrong with them.
    writeFileSync(join(checkout, "src", "schema", "money", "Money.ts"), "export const broken =")
    const broken = await spawned([command, "--version"])
    expect([broken.code === 0, broken.err]).toEqual([false, expect.stringContaining("Money.ts")])
  },
  120_000
)
