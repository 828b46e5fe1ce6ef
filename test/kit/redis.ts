/**
 * A throwaway Redis for tests: one per `bun test` process, in memory, on a port of its own.
 *
 * `undefined` when this machine has no redis-server: a test then says that it is skipped. TEST_REDIS_URL names another
 * server to use instead.
 */
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterwards, once } from "./process-end.ts"

const startMillisMax = 10_000

const freePort = () =>
  new Promise<number>((resolve, reject) => {
    const probe = createServer()
    probe.once("error", reject)
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address()
      probe.close(() =>
        typeof address === "object" && address !== null ? resolve(address.port) : reject(new Error("no port"))
      )
    })
  })

const launch = async (): Promise<string | undefined> => {
  const dir = mkdtempSync(join(tmpdir(), "rungate-redis-"))
  const port = await freePort()
  const log = join(dir, "redis.log")
  const args = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
  const server = spawn("redis-server", [...args, "--dir", dir, "--logfile", log], { stdio: "ignore", detached: true })
  server.unref()
  let ended = false
  server.once("exit", () => (ended = true)).once("error", () => (ended = true))
  afterwards('kill -KILL "$1"; rm -rf "$2"', String(server.pid), dir)
  for (const end = performance.now() + startMillisMax; performance.now() < end && !ended; await Bun.sleep(5)) {
    const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } }).catch(() => undefined)
    socket?.end()
    if (socket !== undefined && !ended) return `redis://127.0.0.1:${port}`
  }
  if (!ended) throw new Error(`redis-server did not answer on port ${port}: ${readFileSync(log, "utf8")}`)
  return undefined
}

const start = async () => {
  const given = process.env.TEST_REDIS_URL
  if (given !== undefined && given !== "") return given
  if (Bun.which("redis-server") === null) return undefined
  // Another process may take the port between the look and the start.
  return (await launch()) ?? (await launch())
}

/** The URL of the process's Redis server. */
export const startRedis = (): Promise<string | undefined> => once("redis", start)
