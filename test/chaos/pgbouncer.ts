/** A PgBouncer in front of a PostgreSQL, in session or transaction mode. Undefined when this machine has none. */
import { type ChildProcess, spawn } from "node:child_process"
import { chmodSync, mkdtempSync, openSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Client } from "pg"
import { afterwards } from "../kit/process-end.ts"
import { freePort } from "./ports.ts"
import { until } from "./processes.ts"

/** Debian keeps it where only root's PATH leads. */
const program = Bun.which("pgbouncer") ?? Bun.which("pgbouncer", { PATH: "/usr/sbin:/sbin" })

export const hasPgbouncer = program !== null
if (!hasPgbouncer) console.log("pgbouncer is not installed: the tests of a connection pooler are skipped")

export interface Pgbouncer {
  /** The address of this database behind the pooler. */
  readonly urlOf: (databaseUrl: string) => string
  readonly start: () => Promise<void>
  readonly kill: () => Promise<void>
  /** One command of its console, such as RECONNECT. */
  readonly console: (command: string) => Promise<ReadonlyArray<Record<string, unknown>>>
}

export const startPgbouncer = async (
  serverUrl: string,
  settings: Readonly<Record<string, string>>
): Promise<Pgbouncer> => {
  if (program === null) throw new Error("pgbouncer is not installed")
  const dir = mkdtempSync(join(tmpdir(), "rungate-pgbouncer-"))
  chmodSync(dir, 0o755) // PgBouncer gives up root's rights
  const server = new URL(serverUrl)
  const port = await freePort()
  const lines = {
    listen_addr: "127.0.0.1",
    listen_port: `${port}`,
    unix_socket_dir: "",
    auth_type: "scram-sha-256",
    auth_file: join(dir, "users"),
    admin_users: server.username,
    max_client_conn: "300",
    ...settings
  }
  const config = [
    "[databases]",
    `* = host=${server.hostname} port=${server.port}`,
    "[pgbouncer]",
    ...Object.entries(lines).map(([name, value]) => `${name} = ${value}`)
  ]
  writeFileSync(join(dir, "pgbouncer.ini"), `${config.join("\n")}\n`)
  writeFileSync(join(dir, "users"), `"${server.username}" "${server.password}"\n`)
  const log = join(dir, "log")
  afterwards('kill -KILL "$(cat "$1/pid")"; rm -rf "$1"', dir)
  let child: ChildProcess | undefined
  const urlOf = (databaseUrl: string) => {
    const url = new URL(databaseUrl)
    url.hostname = "127.0.0.1"
    url.port = `${port}`
    return url.toString()
  }
  const bouncer: Pgbouncer = {
    urlOf,
    start: async () => {
      const account = process.getuid?.() === 0 ? ["-u", "nobody"] : []
      const output = openSync(log, "a")
      const started = spawn(program, [...account, join(dir, "pgbouncer.ini")], {
        stdio: ["ignore", output, output],
        detached: true
      })
      started.unref()
      child = started
      writeFileSync(join(dir, "pid"), `${started.pid}`)
      await until("a ready PgBouncer", 10_000, async () => {
        if (started.exitCode !== null) throw new Error(`pgbouncer ended: ${readFileSync(log, "utf8")}`)
        return bouncer.console("SHOW VERSION").catch(() => undefined)
      })
    },
    kill: async () => {
      const gone = new Promise((resolve) => child?.once("exit", resolve))
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
      child.kill("SIGKILL")
      await gone
      writeFileSync(join(dir, "pid"), "")
    },
    console: async (command) => {
      const url = new URL(urlOf(serverUrl))
      url.pathname = "/pgbouncer"
      const client = new Client({ connectionString: url.toString() })
      client.on("error", () => {})
      await client.connect()
      try {
        return (await client.query(command)).rows
      } finally {
        client.end().catch(() => {})
      }
    }
  }
  await bouncer.start()
  return bouncer
}
