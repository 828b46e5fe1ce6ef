/**
 * A PostgreSQL with a streaming standby, made by pg_basebackup, and an address that can be moved from one to the other.
 *
 * They are the machine's own programs, because the embedded PostgreSQL has no pg_basebackup.
 */
import { type ChildProcess, spawn } from "node:child_process"
import {
  chmodSync,
  chownSync,
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
import { afterwards } from "../undertaker.ts"
import { until } from "./processes.ts"
import { proxyTo } from "./proxy.ts"

const installed = "/usr/lib/postgresql"
const versions = existsSync(installed) ? readdirSync(installed).toSorted((a, b) => Number(a) - Number(b)) : []
const bin = versions
  .map((version) => join(installed, version, "bin"))
  .findLast((dir) => existsSync(join(dir, "pg_basebackup")))

export const hasStandby = bin !== undefined
if (!hasStandby) console.log("PostgreSQL of the system is not installed: the tests of a standby are skipped")

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

export interface Pair {
  /** The address that moves: of the primary until `moveAddress`. */
  readonly url: string
  readonly primaryUrl: string
  readonly standbyUrl: string
  /** Commits wait for the standby from now on. */
  readonly synchronous: () => Promise<void>
  /** The standby gets nothing more, and neither server is told. */
  readonly cutReplication: () => void
  /** `kill -9` of all processes of the primary. */
  readonly killPrimary: () => Promise<void>
  readonly moveAddress: () => void
  readonly promote: () => Promise<void>
  readonly stop: () => Promise<void>
}

const bury = `
  for pid in $(head -qn 1 "$1"/*/postmaster.pid); do kill -QUIT "$pid"; done
  sleep 1
  rm -rf "$1"`

export const startPair = async (given: Readonly<Record<string, string>> = { fsync: "off" }): Promise<Pair> => {
  if (bin === undefined) throw new Error("PostgreSQL of the system is not installed")
  const dir = mkdtempSync(join(tmpdir(), "rungate-chaos-standby-"))
  chmodSync(dir, 0o755)
  const { account } = files.locate(join(dir, "unused"))
  if (account !== undefined) chownSync(dir, account.uid, account.gid)
  const log = join(dir, "log")
  const open = (program: string, args: ReadonlyArray<string>): ChildProcess => {
    const output = openSync(log, "a")
    const env = { PATH: "/usr/bin:/bin", LC_ALL: "C" }
    const child = spawn(join(bin, program), args, {
      stdio: ["ignore", output, output],
      detached: true,
      cwd: "/",
      env,
      ...account
    })
    child.unref()
    return child
  }
  const finish = async (program: string, args: ReadonlyArray<string>) => {
    const child = open(program, args)
    const code = await new Promise((resolve, reject) => child.once("exit", resolve).once("error", reject))
    if (code !== 0) throw new Error(`${program} ended with ${code}: ${readFileSync(log, "utf8").slice(-2_000)}`)
  }
  const password = files.newPassword()
  const secret = join(dir, "password")
  writeFileSync(secret, password)
  chmodSync(secret, 0o644)
  const dataOf = (name: string) => {
    const data = join(dir, name)
    mkdirSync(data, { mode: 0o700 })
    if (account !== undefined) chownSync(data, account.uid, account.gid)
    return data
  }
  const urlOf = (port: number, name = "postgres") => `postgres://rungate:${password}@127.0.0.1:${port}/${name}`
  const start = async (data: string, port: number) => {
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
      if (child.exitCode !== null) throw new Error(`PostgreSQL ended: ${readFileSync(log, "utf8").slice(-2_000)}`)
      return (await sqlAt(urlOf(port), "SELECT 1").catch(() => [])).length === 1
    })
    return child
  }
  const end = async (child: ChildProcess, signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = new Promise((resolve) => child.once("exit", resolve))
    child.kill(signal)
    await gone
  }

  const [primaryPort, standbyPort] = [await files.freePort(0), await files.freePort(0)]
  const [primaryData, standbyData] = [dataOf("primary"), dataOf("standby")]
  afterwards(bury, dir)
  const identity = ["-U", "rungate", "--auth=scram-sha-256", `--pwfile=${secret}`, "-E", "UTF8", "--locale=C.UTF-8"]
  await finish("initdb", ["-D", primaryData, "--no-sync", ...identity])
  const primary = await start(primaryData, primaryPort)
  await sqlAt(urlOf(primaryPort), "CREATE DATABASE rungate")
  const replication = await proxyTo(urlOf(primaryPort), 5432)
  const from = new URL(replication.url)
  // The proxy understands no negotiation of encryption.
  from.search = "?sslmode=disable&gssencmode=disable&application_name=standby"
  await finish("pg_basebackup", ["-D", standbyData, "-R", "-X", "stream", "--no-sync", "-c", "fast", "-d", from.href])
  const standby = await start(standbyData, standbyPort)
  const streaming = (state: string) =>
    until(`a standby that is ${state}`, 20_000, async () => {
      const rows = await sqlAt(
        urlOf(primaryPort),
        "SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming'"
      )
      return rows.some(({ sync_state }) => sync_state === state)
    })
  await streaming("async")
  const address = await proxyTo(urlOf(primaryPort, "rungate"), 5432)

  return {
    url: address.url,
    primaryUrl: urlOf(primaryPort, "rungate"),
    standbyUrl: urlOf(standbyPort, "rungate"),
    synchronous: async () => {
      await sqlAt(urlOf(primaryPort), "ALTER SYSTEM SET synchronous_standby_names = '*'")
      await sqlAt(urlOf(primaryPort), "SELECT pg_reload_conf()")
      await streaming("sync")
    },
    cutReplication: () => replication.silence("both"),
    killPrimary: async () => {
      // The children notice their parent's death and end by themselves.
      await end(primary, "SIGKILL")
      await replication.stop()
    },
    moveAddress: () => address.redirect(urlOf(standbyPort, "rungate")),
    promote: async () => {
      await sqlAt(urlOf(standbyPort), "SELECT pg_promote()")
    },
    stop: async () => {
      await address.stop()
      await replication.stop().catch(() => {})
      await end(primary, "SIGKILL")
      await end(standby, "SIGQUIT")
    }
  }
}
