/**
 * Where faults are planted and tests run: a copy of the tree for each worker, with a PostgreSQL server of its own.
 *
 * The server and its migrated template outlive the test processes, because making them takes longer than most tests. Each worker has its
 * own, so that roles, settings and leftover databases of one fault are not seen by the tests of another.
 */
import { spawn } from "node:child_process"
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statfsSync,
  symlinkSync
} from "node:fs"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Client } from "pg"
import { keptTemplate, newServer } from "../../test/kit/postgres.ts"
import { afterwards } from "../../test/kit/process-end.ts"
import { testMillis } from "../../test/kit/slowness.ts"

const ramDisk = "/dev/shm"
const ramDiskBytesMin = 2 * 1024 ** 3
/** A fault that allocates without end must not take the machine's memory. */
const memoryBytesMax = 4 * 1024 ** 3
const memoryPageBytes = 4096
const watchMillis = 500
/** The end of the output that is kept. */
const outputMax = 200_000
/** Not in the copy: what is made, and what is linked. */
const left = new Set([".git", ".scratch", ".rungate", "node_modules", "dist", "coverage", "bench-results"])

export interface Outcome {
  readonly passed: boolean
  /** Why the process was ended before its tests were. Null if it was not. */
  readonly stopped: "time" | "memory" | null
  readonly millis: number
  readonly output: string
}

const memoryOf = (pid: number) => {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * memoryPageBytes
  } catch {
    return 0
  }
}

/** A folder in memory if it has room. It is removed when this process ends, and so is the folder of the copies. */
export const scratchFolder = (tree: string): string => {
  const free = existsSync(ramDisk) ? statfsSync(ramDisk) : { bavail: 0, bsize: 0 }
  const parent = free.bavail * free.bsize >= ramDiskBytesMin ? ramDisk : tmpdir()
  const folder = mkdtempSync(join(parent, "rungate-mutants-"))
  chmodSync(folder, 0o755) // the database server's account, which is not root's, walks through it
  // More than once, because processes that the tests started may still write while they end.
  afterwards('for try in 1 2 3 4 5; do sleep 1; rm -rf "$1" "$2"; done', folder, tree)
  return folder
}

/** Copies the tree to `<home>/<name>`. */
export const newStage = (root: string, home: string, name: string, scratch: string) => {
  const tree = join(home, name)
  mkdirSync(tree)
  for (const entry of readdirSync(root).filter((name) => !left.has(name)))
    cpSync(join(root, entry), join(tree, entry), { recursive: true })
  symlinkSync(join(root, "node_modules"), join(tree, "node_modules"))
  /** A new one for each run, because processes that the last one left behind may still write into theirs. */
  const temporary = () => {
    const folder = join(scratch, name, String((runs += 1)))
    mkdirSync(folder, { recursive: true })
    for (const path of [join(scratch, name), folder]) chmodSync(path, 0o755)
    return folder
  }
  let runs = 0
  const running = new Set<number>()

  let database: Promise<{ readonly url: string; readonly template: string }> | undefined
  const server = () => (database ??= newServer(scratch).then((url) => ({ url, template: keptTemplate })))

  const run = async (args: ReadonlyArray<string>, millisMax: number, withDatabase: boolean): Promise<Outcome> => {
    const given = withDatabase ? await server() : undefined
    const began = performance.now()
    const child = spawn(process.execPath, ["test", `--timeout=${Math.round(testMillis)}`, ...args], {
      cwd: tree,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        TMPDIR: temporary(),
        // The tests that try a sample of their inputs try the same ones each time.
        TEST_SEED: "1",
        ...(given === undefined ? {} : { TEST_DATABASE_URL: given.url, TEST_DATABASE_TEMPLATE: given.template })
      }
    })
    const { pid } = child
    if (pid === undefined) throw new Error(`${process.execPath} did not start`)
    running.add(pid)
    let output = ""
    let stopped: Outcome["stopped"] = null
    const stop = (why: Outcome["stopped"]) => {
      stopped ??= why
      try {
        process.kill(-pid, "SIGKILL")
      } catch {
        // It has just ended.
      }
    }
    for (const pipe of [child.stdout, child.stderr])
      pipe.setEncoding("utf8").on("data", (text: string) => (output = (output + text).slice(-outputMax)))
    const limit = setTimeout(() => stop("time"), millisMax)
    const watch = setInterval(() => memoryOf(pid) > memoryBytesMax && stop("memory"), watchMillis)
    // Not "close": a process that the tests left behind may keep the pipes open.
    const code = await new Promise<number | null>((done) => child.once("exit", done))
    clearTimeout(limit)
    clearInterval(watch)
    const millis = performance.now() - began
    if (stopped === null) stop(null)
    running.delete(pid)
    return { passed: code === 0 && stopped === null, stopped, millis, output }
  }

  /** Removes the databases and files that tests have left. */
  const clean = async () => {
    await rm(join(scratch, name), { recursive: true, force: true }).catch(() => {})
    if (database === undefined) return
    const { url } = await database
    const client = new Client({ connectionString: url })
    await client.connect()
    const { rows } = await client.query("SELECT datname FROM pg_database WHERE datname LIKE 'rungate_test_%'")
    for (const { datname } of rows) await client.query(`DROP DATABASE IF EXISTS ${datname} WITH (FORCE)`)
    await client.end()
  }

  const stopAll = () => {
    for (const pid of running) {
      try {
        process.kill(-pid, "SIGKILL")
      } catch {
        // It has just ended.
      }
    }
  }
  return { tree, run, clean, stopAll }
}
export type Stage = ReturnType<typeof newStage>
