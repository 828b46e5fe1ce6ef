/**
 * A streaming standby of a breakable PostgreSQL, made from a copy of its files: the embedded PostgreSQL has no pg_basebackup.
 * So it also runs on machines without a PostgreSQL of their own, which the pair of standby.ts needs.
 */
import { cpSync, mkdtempSync, chmodSync, rmSync, writeFileSync, chownSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as files from "../../src/layers/postgres/embedded/EmbeddedPostgresFiles.ts"
import { run } from "../../src/layers/postgres/embedded/EmbeddedPostgresPrograms.ts"
import { afterwards } from "../kit/process-end.ts"
import { freePort } from "./ports.ts"
import { until } from "./processes.ts"
import { type Server, stops } from "./servers.ts"
import { sqlAt } from "./system-postgres.ts"

export interface Standby {
  readonly url: string
  readonly start: () => Promise<void>
  readonly stop: () => Promise<void>
  /** Runs one statement on the standby. */
  readonly query: (text: string) => Promise<ReadonlyArray<Record<string, unknown>>>
}

const bury = `
  kill -QUIT "$(head -n 1 "$2/postmaster.pid")"
  for try in 1 2 3 4 5 6 7 8 9 10; do [ -e "$2/postmaster.pid" ] && sleep 0.1; done
  rm -rf "$1"`

/** Stops the primary for the copy, and starts it again. */
export const standbyOf = async (primary: Server): Promise<Standby> => {
  const dataDir = mkdtempSync(join(tmpdir(), "rungate-standby-"))
  chmodSync(dataDir, 0o755) // the server's account, which is not root's, walks through it
  const place = files.locate(dataDir)
  const port = await freePort()
  const { cluster } = files.locate(primary.folder)
  await primary.end(stops.fast)
  cpSync(cluster, place.cluster, { recursive: true, preserveTimestamps: true })
  await primary.start()
  const { uid, gid } = statSync(cluster)
  const own = Bun.spawnSync(["chown", "-R", `${uid}:${gid}`, place.cluster])
  if (own.exitCode !== 0) throw new Error(`chown failed: ${own.stderr.toString()}`)
  chmodSync(place.cluster, 0o700)
  rmSync(join(place.cluster, "postmaster.pid"), { force: true })
  const from = new URL(primary.url)
  const signal = join(place.cluster, "standby.signal")
  writeFileSync(signal, "")
  chownSync(signal, uid, gid)
  afterwards(bury, dataDir, place.cluster)
  const settings = {
    port,
    fsync: "off",
    max_connections: 200,
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    primary_conninfo: `host=127.0.0.1 port=${from.port} user=${from.username} password=${from.password}`
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
  const url = new URL(primary.url)
  url.port = String(port)
  let child: ReturnType<typeof run> | undefined
  const start = async () => {
    const started = run(place, "postgres", ["-D", place.cluster, ...flags])
    child = started
    await until("a standby that answers", 30_000, async () => {
      if (started.exitCode !== null) throw new Error(`the standby ended: ${files.lastComplaint(place)}`)
      return query("SELECT 1").then(
        () => true,
        () => false
      )
    })
  }
  const query = (text: string) => sqlAt(url.toString(), text)
  const stop = async () => {
    const running = child
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return
    const gone = new Promise((resolve) => running.once("exit", resolve))
    running.kill("SIGQUIT")
    await gone
  }
  await start()
  return { url: url.toString(), start, stop, query }
}
