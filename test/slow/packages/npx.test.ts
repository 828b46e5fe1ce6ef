/**
 * The package `rungate` as people get it: what its tarball holds, and `npx rungate` on a machine that has Node and npm only.
 *
 * The second needs the registry and a minute, so it runs on one day of four (`dueToday`). Its home and its folder are empty; it shares npm's cache
 * with this machine.
 */
import { afterAll, describe, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import { join } from "node:path"
import packageJson from "../../../package.json" with { type: "json" }
import { dueToday } from "../../kit/input-samples.ts"

const root = join(import.meta.dir, "..", "..", "..")
const folder = mkdtempSync(join(tmpdir(), "rungate-npx-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const packedMax = 30_000_000

const settings = Object.fromEntries(Object.entries(process.env).filter(([name]) => /^npm_config_/i.test(name)))
const userconfig = process.env["npm_config_userconfig"] ?? join(homedir(), ".npmrc")
const cache = process.env["npm_config_cache"] ?? join(homedir(), ".npm")
const home = join(folder, "home")
const cwd = join(folder, "work")
/** A new user's environment, with this machine's way to the registry. */
const environment = {
  ...settings,
  // Without the project's own folders of programs.
  PATH: (process.env["PATH"] ?? "")
    .split(":")
    .filter((one) => !one.includes("node_modules"))
    .join(":"),
  HOME: home,
  npm_config_cache: cache,
  npm_config_userconfig: userconfig,
  npm_config_prefer_offline: "true",
  npm_config_loglevel: "error"
}

const ran = async (
  words: ReadonlyArray<string>,
  more: { readonly cwd: string; readonly env?: object; readonly stdin?: string }
) => {
  const child = Bun.spawn([...words], {
    cwd: more.cwd,
    env: { ...environment, ...more.env },
    stdin: new Blob([more.stdin ?? ""]),
    stdout: "pipe",
    stderr: "pipe"
  })
  const [out, err, exit] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited
  ])
  return { out, err, exit }
}

interface Packed {
  readonly filename: string
  readonly size: number
  readonly files: ReadonlyArray<{ readonly path: string }>
}

const pack = async (...flags: ReadonlyArray<string>): Promise<Packed> => {
  const path = `${join(root, "node_modules", ".bin")}:${environment.PATH}`
  const { out, err, exit } = await ran(["npm", "pack", "--json", ...flags], {
    cwd: root,
    env: { PATH: path, HOME: homedir() }
  })
  expect([exit, exit === 0 ? "" : err]).toEqual([0, ""])
  // What `prepack` prints comes first.
  return JSON.parse(out.slice(out.search(/^\[/m)))[0]
}

/** Only these belong to a user. */
const rooms =
  /^(src|scripts|docs|deploy|dist\/(cli|console|service))\/|^(dist\/)?THIRD_PARTY_NOTICES$|^dist\/client\.js$|^(package\.json|README\.md|LICENSE|CHANGELOG\.md)$/
const never = /(^|\/)(test|fixtures|\.env|\.rungate|\.git|node_modules|coverage)(\/|$)|\.(tgz|pem|log)$|\.test\.tsx?$/

const expectedOf = (files: Packed["files"]) => {
  const paths = files.map(({ path }) => path)
  expect(paths.filter((path) => !rooms.test(path))).toEqual([])
  expect(paths.filter((path) => never.test(path))).toEqual([])
  return paths
}

test("the tarball holds what a user needs, and no tests", async () => {
  const paths = expectedOf((await pack("--dry-run", "--ignore-scripts")).files)
  expect(paths).toEqual(
    expect.arrayContaining([
      "scripts/rungate",
      "scripts/rungate.mjs",
      "src/main.ts",
      "docs/quickstart.md",
      "deploy/systemd/rungate.service"
    ])
  )
  expect(Object.keys(packageJson)).not.toContain("private")
})

describe.if(dueToday(3))("npx rungate", () => {
  test("serves, signs in and runs from the packed tarball, and stops without a trace", async () => {
    const { filename, size, files } = await pack("--pack-destination", folder)
    const paths = expectedOf(files)
    expect(size).toBeLessThan(packedMax)
    for (const path of [
      "dist/console/manifest.json",
      "dist/console/shell.html.br",
      "dist/cli/rungate.js",
      "dist/service/rungate.js",
      "dist/client.js"
    ])
      expect(paths).toContain(path)
    for (const one of [home, cwd]) mkdirSync(one)
    const npx = ["npx", "--yes", `--package=${join(folder, filename)}`, "rungate"]

    const service = Bun.spawn([...npx, "serve"], {
      cwd,
      env: { ...environment, PORT: "0" },
      stdout: "pipe",
      stderr: "inherit"
    })
    let log = ""
    for await (const chunk of service.stdout.pipeThrough(new TextDecoderStream())) {
      log += chunk
      if (/rg_test_\w+/.test(log) && log.includes("Try:")) break
    }
    const url = /listens on (http:\/\/\S+)/.exec(log)?.[1] ?? ""
    const key = /rg_test_\w+/.exec(log)?.[0] ?? ""
    expect(log).toContain(`Rungate ${packageJson.version} (sandbox) listens on`)

    const env = { RUNGATE_URL: url }
    expect((await ran([...npx, "login", "--with-token"], { cwd, env, stdin: key })).exit).toBe(0)
    const input = JSON.stringify({ email: "ada@example.com" })
    const run = await ran([...npx, "run", "email.verify", "-i", input, "--max-cost", "0.05"], { cwd, env })
    expect([run.exit, JSON.parse(run.out).status]).toEqual([0, "succeeded"])
    const page = await fetch(`${url}/`, { headers: { accept: "text/html" } })
    expect(await page.text()).toContain('<div id="root">')

    // Everything of a user is in their home and in the folder where the service was started.
    expect(readdirSync(cwd)).toEqual([".rungate"])
    const secret = readdirSync(home, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter((file) => readFileSync(file, "utf8").includes(key))
    expect(secret.map((file) => statSync(file).mode & 0o777)).toEqual([0o600])
    service.kill("SIGTERM")
    await service.exited
    // npx does not wait for its child.
    const answers = () =>
      fetch(`${url}/livez`).then(
        () => true,
        () => false
      )
    const end = performance.now() + 30_000
    while (performance.now() < end && (await answers())) await Bun.sleep(100)
    expect(await answers()).toBe(false)
  }, 600_000)

  test("the line that installs it on one machine works on the packed tarball", async () => {
    const page = readFileSync(join(root, "docs", "operate.md"), "utf8")
    const line = /^sudo (npm install --global \S+)$/m.exec(page)?.[1] ?? ""
    const prefix = join(folder, "global")
    const place = join(folder, "release")
    mkdirSync(place)
    await pack("--ignore-scripts", "--pack-destination", place)
    const installed = await ran(["sh", "-c", line], { cwd: place, env: { npm_config_prefix: prefix } })
    expect([line, installed.exit, installed.exit === 0 ? "" : installed.err]).toEqual([line, 0, ""])
    const said = await ran([join(prefix, "bin", "rungate"), "--version"], { cwd: place })
    expect([said.exit, said.out]).toEqual([0, expect.stringContaining(packageJson.version)])
  }, 600_000)
})
