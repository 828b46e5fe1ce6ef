/**
 * PostgreSQL servers of the machine's own programs in one folder of their own, because the embedded PostgreSQL has no pg_basebackup.
 */
import { type ChildProcess, spawn } from "node:child_process"
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Client } from "pg"
import * as files from "../../src/layers/postgres/embedded/EmbeddedPostgresFiles.ts"
import { afterwards } from "../kit/process-end.ts"
import { until } from "./processes.ts"

const installed = "/usr/lib/postgresql"
const versions = existsSync(installed) ? readdirSync(installed).toSorted((a, b) => Number(a) - Number(b)) : []
const bin = versions
  .map((version) => join(installed, version, "bin"))
  .findLast((dir) => existsSync(join(dir, "pg_basebackup")))

export const hasSystemPostgres = bin !== undefined
if (!hasSystemPostgres) console.log("PostgreSQL of the system is not installed: the tests that need it are skipped")

export const sqlAt = async (url: string, sql: string): Promise<ReadonlyArray<Record<string, unknown>>> => {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  client.on("error", () => {})
  try {
    await client.connect()
    return (await client.query(sql)).rows
  } finally {
    client.end().catch(() => {})
  }
}

export interface SystemPostgres {
  /** An empty folder that the servers' account owns. */
  readonly folder: (name: string) => string
  readonly urlOf: (port: number, database?: string) => string
  /** Where the programs are. */
  readonly bin: string
  /** Starts another program as the servers' account, and kills it after the tests. */
  readonly serve: (program: string, args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) => ChildProcess
  /** The end of what the programs said. */
  readonly said: () => string
  /** Runs a program to its end. Throws what it complained of. */
  readonly finish: (
    program: string,
    args: ReadonlyArray<string>,
    env?: Readonly<Record<string, string>>
  ) => Promise<void>
  /** Makes a cluster in the folder, whose superuser is `rungate`. */
  readonly initdb: (data: string) => Promise<void>
  /** Starts a server and waits until it answers questions. */
  readonly start: (data: string, port: number) => Promise<ChildProcess>
  /** Signals a server and waits for its end. Its children notice their parent's death and end by themselves. */
  readonly end: (server: ChildProcess, signal: NodeJS.Signals) => Promise<void>
}

const bury = `
  for pid in $(head -qn 1 "$1"/*/postmaster.pid); do kill -QUIT "$pid"; done
  sleep 1
  rm -rf "$1"`

/** `given` are settings of every server. What is left of them is killed and removed after the tests. */
export const systemPostgres = (given: Readonly<Record<string, string>>): SystemPostgres => {
  if (bin === undefined) throw new Error("PostgreSQL of the system is not installed")
  const dir = mkdtempSync(join(tmpdir(), "rungate-chaos-system-"))
  chmodSync(dir, 0o755)
  const { account } = files.locate(join(dir, "unused"))
  if (account !== undefined) chownSync(dir, account.uid, account.gid)
  afterwards(bury, dir)
  const log = join(dir, "log")
  const open = (program: string, args: ReadonlyArray<string>, more: Readonly<Record<string, string>> = {}) => {
    const output = openSync(log, "a")
    const env = { PATH: "/usr/bin:/bin", LC_ALL: "C", ...more }
    const child = spawn(program.includes("/") ? program : join(bin, program), args, {
      stdio: ["ignore", output, output],
      detached: true,
      cwd: "/",
      env,
      ...account
    })
    closeSync(output)
    child.unref()
    return child
  }
  const said = () => readFileSync(log, "utf8").slice(-2_000)
  const finish: SystemPostgres["finish"] = async (program, args, env) => {
    const child = open(program, args, env)
    const code = await new Promise((resolve, reject) => child.once("exit", resolve).once("error", reject))
    if (code !== 0) throw new Error(`${program} ended with ${code}: ${said()}`)
  }
  const password = files.newPassword()
  const secret = join(dir, "password")
  writeFileSync(secret, password)
  chmodSync(secret, 0o644)
  const urlOf = (port: number, database = "postgres") => `postgres://rungate:${password}@127.0.0.1:${port}/${database}`

  return {
    bin,
    serve: (program, args, env) => {
      const child = open(program, args, env)
      afterwards('kill -KILL "$1"', String(child.pid))
      return child
    },
    said,
    urlOf,
    finish,
    folder: (name) => {
      const folder = join(dir, name)
      mkdirSync(folder, { mode: 0o700 })
      if (account !== undefined) chownSync(folder, account.uid, account.gid)
      return folder
    },
    initdb: (data) => {
      const identity = ["-U", "rungate", "--auth=scram-sha-256", `--pwfile=${secret}`, "-E", "UTF8", "--locale=C.UTF-8"]
      return finish("initdb", ["-D", data, "--no-sync", ...identity])
    },
    start: async (data, port) => {
      const settings = {
        port,
        max_connections: 200,
        listen_addresses: "127.0.0.1",
        unix_socket_directories: "",
        ...given
      }
      const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
      const child = open("postgres", ["-D", data, ...flags])
      await until("a ready PostgreSQL", 30_000, async () => {
        if (child.exitCode !== null) throw new Error(`PostgreSQL ended: ${said()}`)
        return (await sqlAt(urlOf(port), "SELECT 1").catch(() => [])).length === 1
      })
      return child
    },
    end: async (server, signal) => {
      if (server.exitCode !== null || server.signalCode !== null) return
      const gone = new Promise((resolve) => server.once("exit", resolve))
      server.kill(signal)
      await gone
    }
  }
}
