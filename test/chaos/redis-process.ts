/** A redis-server of these settings, which a test can kill: a node of a cluster, a replica, or a Sentinel. It keeps nothing. */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Redis } from "ioredis"
import { afterwards } from "../kit/process-end.ts"
import { until } from "./processes.ts"

export interface RedisProcess {
  readonly port: number
  readonly client: Redis
  readonly alive: () => boolean
  readonly kill: () => Promise<void>
}

interface RedisSettings {
  readonly port: number
  readonly password?: string
  /** Lines of its configuration. */
  readonly lines: ReadonlyArray<string>
  readonly flags?: ReadonlyArray<string>
}

export const startRedisProcess = async ({
  port,
  password,
  lines,
  flags = []
}: RedisSettings): Promise<RedisProcess> => {
  const dir = mkdtempSync(join(tmpdir(), "rungate-chaos-redis-"))
  const log = join(dir, "log")
  const config = join(dir, "redis.conf")
  const secret = password === undefined ? [] : [`requirepass ${password}`]
  writeFileSync(
    config,
    [`port ${port}`, "bind 127.0.0.1", `dir ${dir}`, `logfile ${log}`, ...secret, ...lines, ""].join("\n")
  )
  const child: ChildProcess = spawn("redis-server", [config, ...flags], { stdio: "ignore", detached: true })
  child.unref()
  afterwards('kill -KILL "$1"; rm -rf "$2"', String(child.pid), dir)
  const client = new Redis({
    port,
    host: "127.0.0.1",
    ...(password === undefined ? {} : { password }),
    retryStrategy: () => 50,
    maxRetriesPerRequest: null
  })
  client.on("error", () => {})
  await until(`a ready Redis on port ${port}`, 10_000, async () => {
    if (child.exitCode !== null) throw new Error(`redis-server ended: ${readFileSync(log, "utf8")}`)
    return client.status === "ready"
  })
  const alive = () => child.exitCode === null && child.signalCode === null
  return {
    port,
    client,
    alive,
    kill: async () => {
      client.disconnect()
      if (!alive()) return
      const gone = new Promise((resolve) => child.once("exit", resolve))
      child.kill("SIGKILL")
      await gone
    }
  }
}
