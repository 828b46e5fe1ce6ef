/**
 * A PostgreSQL and a Redis that a test may break: stopped in every way, and started again on the same port.
 *
 * PostgreSQL keeps its data and runs without fsync, which only a machine that loses power would notice. Redis keeps nothing.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { chmodSync, mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  createCluster,
  ensureDatabase,
  run,
  urlOf
} from "../../src/layers/postgres/embedded/EmbeddedPostgresPrograms.ts"
import * as files from "../../src/layers/postgres/embedded/EmbeddedPostgresFiles.ts"
import { afterwards } from "../kit/process-end.ts"
import { freePort } from "./ports.ts"
import { until } from "./processes.ts"

export interface Server {
  readonly url: string
  /** Its files. A PostgreSQL whose folder has a file `keep` leaves them there. */
  readonly folder: string
  readonly start: () => Promise<void>
  /** Ends it with this signal, or wakes and kills a frozen one, and waits until it is gone. */
  readonly end: (signal: NodeJS.Signals) => Promise<void>
  readonly signal: (signal: NodeJS.Signals) => void
}

/** PostgreSQL's own words for the ways it stops. */
export const stops = { fast: "SIGINT", immediate: "SIGQUIT" } as const

const gone = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null

const ender = (current: () => ChildProcess | undefined) => async (signal: NodeJS.Signals) => {
  const child = current()
  if (child === undefined || gone(child)) return
  const exit = new Promise((resolve) => child.once("exit", resolve))
  child.kill(signal)
  await exit
}

const buryPostgres = `
  kill -QUIT "$(head -n 1 "$2/postmaster.pid")"
  for try in 1 2 3 4 5 6 7 8 9 10; do [ -e "$2/postmaster.pid" ] && sleep 0.1; done
  [ -e "$1/keep" ] || rm -rf "$1" "$2"`

export const breakablePostgres = async (
  given: Readonly<Record<string, string>> = { fsync: "off" },
  folder = tmpdir()
): Promise<Server> => {
  const dataDir = mkdtempSync(join(folder, "rungate-chaos-"))
  chmodSync(dataDir, 0o755) // the server's account, which is not root's, walks through it
  const place = files.locate(dataDir)
  const state = { port: await freePort(), password: files.newPassword() }
  await createCluster(place, state.password, false)
  afterwards(buryPostgres, dataDir, place.cluster)
  const settings = {
    port: state.port,
    ...given,
    max_connections: 200,
    listen_addresses: "127.0.0.1",
    unix_socket_directories: ""
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
  let child: ChildProcess | undefined
  const server: Server = {
    url: urlOf(state),
    folder: dataDir,
    start: async () => {
      // The processes of a killed server notice its death within moments. Until then no other one starts on their data.
      await until("a ready PostgreSQL", 60_000, async () => {
        const started = run(place, "postgres", ["-D", place.cluster, ...flags])
        child = started
        return until("its first answer", 60_000, () => {
          if (gone(started)) {
            const complaint = files.lastComplaint(place)
            if (/still in use|already exists/.test(complaint)) return "again" as const
            throw new Error(`PostgreSQL ended: ${complaint}`)
          }
          const noted = files.readPostmaster(place.cluster)
          return noted?.pid === started.pid && noted?.ready && ("ready" as const)
        }).then(async (how) => how === "ready" || (await Bun.sleep(100), false))
      })
    },
    end: ender(() => child),
    signal: (signal) => void child?.kill(signal)
  }
  await server.start()
  await ensureDatabase(state)
  return server
}

/** Undefined when this machine has no redis-server. */
export const breakableRedis = async (): Promise<Server | undefined> => {
  if (Bun.which("redis-server") === null) return undefined
  const dir = mkdtempSync(join(tmpdir(), "rungate-chaos-redis-"))
  const port = await freePort()
  const log = join(dir, "redis.log")
  const pidFile = join(dir, "redis.pid")
  const args = [
    "--port",
    `${port}`,
    "--bind",
    "127.0.0.1",
    "--save",
    "",
    "--appendonly",
    "no",
    "--dir",
    dir,
    "--logfile",
    log
  ]
  afterwards('kill -KILL "$(cat "$1/pid")"; rm -rf "$1"', dir)
  let child: ChildProcess | undefined
  const server: Server = {
    url: `redis://127.0.0.1:${port}`,
    folder: dir,
    start: async () => {
      const started = spawn("redis-server", [...args, "--pidfile", pidFile], { stdio: "ignore", detached: true })
      started.unref()
      child = started
      await Bun.write(join(dir, "pid"), `${started.pid}`)
      await until("a ready Redis", 10_000, async () => {
        if (gone(started)) throw new Error(`redis-server ended: ${readFileSync(log, "utf8")}`)
        const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } }).catch(() => undefined)
        socket?.end()
        return socket !== undefined
      })
    },
    end: async (signal) => {
      await ender(() => child)(signal)
      await Bun.write(join(dir, "pid"), "")
    },
    signal: (signal) => void child?.kill(signal)
  }
  await server.start()
  return server
}
